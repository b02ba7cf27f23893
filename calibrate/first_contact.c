// lockstep validate first-contact: a batch of measurements unseen during development is predicted once, as a section
// of docs/first-contact.md that is never changed afterwards, whatever is learned from the batch.
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/command_validate.h"
#include "results/answer/answer.h"
#include "results/answer/frame.h"
#include "sim/base/quantity.h"
#include "sim/base/text.h"
#include "sim/base/version.h"
#include "sim/system/file.h"
#include "sim/system/letters_out.h"

#define PAGE_WIDTH 120
#define LARGEST_PAGE ((size_t)16 << 20)

static const OptionSpec specs[] = {
    {"append", OPTION_TEXT, "FILE.md",
     .help = "add the section to this page; refused where it has one of this batch and version already"},
    {"date", OPTION_TEXT, "YYYY-MM-DD", .help = "instead of today"},
};

static const char usage[] = "lockstep validate first-contact DIR [--append docs/first-contact.md]";
static const char about[] = "Predicts a batch of new measurements as the program stands: DIR/training/*.csv (columns:\n"
                            "calibrate/measurements/training/README.md) and DIR/nccl/*.txt beside "
                            "DIR/nccl/clusters.csv, or one of the two. Prints\n"
                            "a dated section with the version and the tables of validate training and validate "
                            "collectives. Do it before anything\n"
                            "is learned from the batch, and keep the page.";

typedef struct Contact {
    Arena *arena;
    Problems *problems;
    const char *folder, *name;
    char *text; // of the last answer
} Contact;

// ---- What a question answers, as text; NULL after a problem.

static bool keep_text(void *context, const Asking *asking) {
    Contact *contact = context;
    size_t bytes;
    char *text = NULL;
    FILE *out = open_memstream(&text, &bytes);
    if (!out) out_of_memory(LARGEST_PAGE);
    answer_as_text(asking->arena, out, asking->answer, &(Style){.width = PAGE_WIDTH, .unicode = true}, true);
    fclose(out);
    contact->text = arena_copy_text(contact->arena, text);
    free(text);
    return true;
}

static char *answered(Contact *contact, const Question *question, int argc, char **argv) {
    contact->text = NULL;
    int status = frame_show(question, argc, argv, keep_text, contact);
    if (status == EXIT_DONE && contact->text) return contact->text;
    problem_add(contact->problems, (Where){contact->folder, 0}, "validate %s ended with %d", argv[0], status);
    return NULL;
}

// From the line on that has the words.
static void cut_at(char *text, const char *words) {
    char *found = strstr(text, words);
    while (found && found > text && found[-1] != '\n') found--;
    if (found) *(found > text ? found - 1 : found) = '\0';
}

// As a Markdown code block: between lines of more backticks than it contains anywhere (CommonMark 0.31, 4.5).
static void write_code(FILE *out, const char *text) {
    int most = 2;
    for (const char *at = text; *at;) {
        int ticks = (int)strspn(at, "`");
        if (ticks > most) most = ticks;
        at += ticks ? ticks : (int)strcspn(at, "`");
    }
    char *fence = memory_or_end((size_t)most + 2);
    memset(fence, '`', (size_t)most + 1);
    fence[most + 1] = '\0';
    fprintf(out, "%s\n%s%s\n", fence, text, fence);
    free(fence);
}

// ---- The two kinds of measurements. argv is the command's own name, leading words, then files.

static char *predicted(Contact *contact, const Question *question, const char *kind, const char *pattern,
                       const char *clusters) {
    glob_t found = {0};
    const char *all = arena_printf(contact->arena, "%s/%s", contact->folder, pattern);
    char *text = arena_copy_text(contact->arena, "");
    if (glob(all, 0, NULL, &found) == 0) {
        char **argv = ARENA_ARRAY(contact->arena, char *, found.gl_pathc + 4);
        int argc = 0;
        argv[argc++] = arena_copy_text(contact->arena, kind);
        if (clusters) {
            argv[argc++] = arena_copy_text(contact->arena, "--clusters");
            argv[argc++] = arena_printf(contact->arena, "%s/%s", contact->folder, clusters);
        }
        for (size_t i = 0; i < found.gl_pathc; i++) argv[argc++] = found.gl_pathv[i];
        text = answered(contact, question, argc, argv);
    }
    globfree(&found);
    return text;
}

static bool heading_there(Contact *contact, const char *page, const char *heading) {
    if (!strstr(page, heading)) return false;
    problem_add(contact->problems, (Where){contact->folder, 0}, "this version has met %s before: \"%s\" is there",
                contact->name, heading);
    problem_hint(contact->problems,
                 "a first contact is only one; validate training and validate collectives show today's");
    return true;
}

static int show(Contact *contact, Asking *asking) {
    Date date = date_or_today(option_text(asking->options, "date", NULL), contact->problems);
    const char *page_path = option_text(asking->options, "append", NULL);
    char *page = arena_copy_text(contact->arena, "");
    size_t bytes;
    if (!date.day && !problem_count(contact->problems))
        problem_add(contact->problems, (Where){0}, "--date names no day");
    if (problem_count(contact->problems)) return EXIT_BAD_INPUT;
    if (page_path) page = file_read(contact->arena, page_path, LARGEST_PAGE, &bytes, contact->problems);
    char *heading = arena_printf(contact->arena, "## %s, by version %s", contact->name, program_version());
    if (!page || heading_there(contact, page, heading)) return EXIT_BAD_INPUT;

    char *training = predicted(contact, &validate_training_question, "training", "training/*.csv", NULL);
    char *collectives =
        training ? predicted(contact, &validate_collectives_question, "collectives", "nccl/*.txt", "nccl/clusters.csv")
                 : NULL;
    if (!collectives) return EXIT_BAD_INPUT;
    if (!*training && !*collectives) {
        problem_add(contact->problems, (Where){contact->folder, 0},
                    "there is no training/*.csv and no nccl/*.txt in it");
        return EXIT_BAD_INPUT;
    }
    cut_at(training, "The worst rows\n");
    cut_at(collectives, "worst from ");
    OutputFile file;
    if (!file_create(contact->arena, page_path ? page_path : "-", &file, contact->problems)) return EXIT_FAILED;
    letters_out_as_is(file.stream, page); // what others wrote there stays
    fprintf(file.stream, "%s%s\n\nPredicted on %04d-%02d-%02d, before anything was learned from it.\n\n",
            *page ? "\n" : "", heading, date.year, date.month, date.day);
    write_code(file.stream,
               arena_printf(contact->arena, "%s%s%s", training, *training && *collectives ? "\n" : "", collectives));
    asking->silent = true;
    return file_commit(&file, contact->problems) ? EXIT_DONE : EXIT_FAILED;
}

static int ask(Asking *asking) {
    Contact contact = {.arena = asking->arena, .problems = asking->problems};
    if (option_positional_count(asking->options) == 0) {
        problem_add(contact.problems, (Where){0}, "no folder of measurements");
        problem_hint(contact.problems, "usage: %s; DIR as calibrate/measurements: training/*.csv, nccl/*.txt", usage);
        return EXIT_USAGE;
    }
    contact.folder = option_positional(asking->options, 0);
    char *folder = arena_copy_text(asking->arena, contact.folder);
    for (size_t length = strlen(folder); length > 1 && folder[length - 1] == '/';) folder[--length] = '\0';
    char *slash = strrchr(folder, '/');
    contact.name = letters_make_harmless(slash ? slash + 1 : folder, "");
    return show(&contact, asking);
}

const Question validate_first_contact_question = {.name = "validate-first-contact",
                                                  .usage = usage,
                                                  .about = about,
                                                  .own = specs,
                                                  .own_count = sizeof specs / sizeof *specs,
                                                  .positional = 1,
                                                  .ask = ask};
