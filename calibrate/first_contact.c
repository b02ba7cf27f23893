// lockstep validate first-contact: a batch of measurements that nobody who wrote the program has seen, predicted once,
// as a section of docs/first-contact.md that stays as it is whatever is learned from the batch afterwards.
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calibrate/command_validate.h"
#include "sim/base/date.h"
#include "sim/base/letters.h"
#include "sim/base/options.h"
#include "sim/base/version.h"
#include "sim/system/file.h"
#include "sim/system/letters_out.h"

#define EXIT_USAGE 2
#define EXIT_INPUT 4
#define LARGEST_PAGE ((size_t)16 << 20)

static const OptionSpec specs[] = {
    {.name = "append",
     .kind = OPTION_TEXT,
     .metavar = "FILE.md",
     .help = "add the section to this page; refused where it has one of this batch and version already"},
    {.name = "date", .kind = OPTION_TEXT, .metavar = "YYYY-MM-DD", .help = "instead of today"},
};
#define SPEC_COUNT ((int)(sizeof specs / sizeof *specs))

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
} Contact;

// ---- What a command prints, as text; NULL after a problem.

static char *read_back(Contact *contact, FILE *kept) {
    long length = ftell(kept);
    char *text = ARENA_ARRAY(contact->arena, char, length + 1);
    rewind(kept);
    text[fread(text, 1, (size_t)length, kept)] = '\0';
    return text;
}

static char *printed_by(Contact *contact, int (*command)(int, char **), int argc, char **argv) {
    FILE *kept = tmpfile();
    fflush(stdout);
    int out = dup(STDOUT_FILENO);
    if (!kept || out < 0 || dup2(fileno(kept), STDOUT_FILENO) < 0) {
        problem_add(contact->problems, (Where){0}, "what is printed cannot be kept: %s", strerror(errno));
        return NULL;
    }
    int status = command(argc, argv);
    fflush(stdout);
    dup2(out, STDOUT_FILENO);
    close(out);
    fseek(kept, 0, SEEK_END);
    char *text = read_back(contact, kept);
    fclose(kept);
    if (status == 0) return text;
    problem_add(contact->problems, (Where){contact->folder, 0}, "validate %s ended with %d", argv[0], status);
    return NULL;
}

// From the line on that has the words.
static void cut_at(char *text, const char *words) {
    char *found = strstr(text, words);
    while (found && found > text && found[-1] != '\n') found--;
    if (found) *(found > text ? found - 1 : found) = '\0';
}

// As Markdown quotes it: between lines of more backticks than stand in it anywhere (CommonMark 0.31, 4.5).
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

// ---- The two kinds of measurements. argv is the command's own name, what comes first, then files.

static char *predicted(Contact *contact, int (*command)(int, char **), const char *kind, const char *pattern,
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
        text = printed_by(contact, command, argc, argv);
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

static int show(Contact *contact, const Options *options) {
    Date date = date_or_today(option_text(options, "date", NULL), contact->problems);
    const char *page_path = option_text(options, "append", NULL);
    char *page = arena_copy_text(contact->arena, "");
    size_t bytes;
    if (!date.day && !problem_count(contact->problems))
        problem_add(contact->problems, (Where){0}, "--date names no day");
    if (problem_count(contact->problems)) return EXIT_INPUT;
    if (page_path) page = file_read(contact->arena, page_path, LARGEST_PAGE, &bytes, contact->problems);
    char *heading = arena_printf(contact->arena, "## %s, by version %s", contact->name, program_version());
    if (!page || heading_there(contact, page, heading)) return EXIT_INPUT;

    char *training = predicted(contact, validate_training, "training", "training/*.csv", NULL);
    char *collectives =
        training ? predicted(contact, validate_collectives, "collectives", "nccl/*.txt", "nccl/clusters.csv") : NULL;
    if (!collectives) return EXIT_INPUT;
    if (!*training && !*collectives) {
        problem_add(contact->problems, (Where){contact->folder, 0},
                    "there is no training/*.csv and no nccl/*.txt in it");
        return EXIT_INPUT;
    }
    cut_at(training, "worst rows\n");
    cut_at(collectives, "The worst ");
    OutputFile file;
    if (page_path && !file_create(contact->arena, page_path, &file, contact->problems)) return 1;
    FILE *out = page_path ? file.stream : stdout;
    letters_out_as_is(out, page); // what others wrote there stays
    fprintf(out, "%s%s\n\nPredicted on %04d-%02d-%02d, before anything was learned from it.\n\n", *page ? "\n" : "",
            heading, date.year, date.month, date.day);
    write_code(out,
               arena_printf(contact->arena, "%s%s%s", training, *training && *collectives ? "\n" : "", collectives));
    return !page_path || file_commit(&file, contact->problems) ? 0 : 1;
}

int validate_first_contact(int argc, char **argv) {
    Arena *arena = arena_open();
    Contact contact = {.arena = arena, .problems = problems_create(arena)};
    Options *options = options_parse(arena, specs, SPEC_COUNT, argc, argv, contact.problems);
    int code = EXIT_USAGE;
    options_refuse_positional(options, 1, contact.problems);
    if (option_help(options)) {
        options_print_help(specs, SPEC_COUNT, usage, about, stdout);
        code = 0;
    } else if (option_positional_count(options) == 0) {
        problem_add(contact.problems, (Where){0}, "no folder of measurements");
        problem_hint(contact.problems, "usage: %s", usage);
    } else if (problem_count(contact.problems) == 0) {
        contact.folder = option_positional(options, 0);
        char *folder = arena_copy_text(arena, contact.folder);
        for (size_t length = strlen(folder); length > 1 && folder[length - 1] == '/';) folder[--length] = '\0';
        char *slash = strrchr(folder, '/');
        contact.name = letters_make_harmless(slash ? slash + 1 : folder, "");
        code = show(&contact, options);
    }
    problems_print(contact.problems, stderr);
    arena_close(arena);
    return code;
}
