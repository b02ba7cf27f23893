// Cost of one design's run, from `lockstep run` in a child process: a script's sandbox holds for that process alone,
// and two designs are simulated concurrently on two cores.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scenarios/commands/command_run.h"
#include "scenarios/questions/cost_compare.h"
#include "sim/base/list.h"

#define HOUR 3600.0

// ---- From a point of a record.

static void put_text(char *into, const char *text) { snprintf(into, DESIGN_TEXT, "%s", text ? text : ""); }

static void add_row(DesignRows *rows, const char *name, const char *title, double value) {
    if (rows->count == DESIGN_ROWS) return;
    DesignRow *row = &rows->items[rows->count++];
    put_text(row->name, name);
    put_text(row->title, title ? title : name);
    row->value = value;
}

static void add_settings(Design *design, const RecordPoint *point) {
    const struct {
        const char *name;
        double value;
    } rows[] = {{"GPUs", point->gpu_count},
                {"nodes", point->node_count},
                {"tp", point->tp},
                {"pp", point->pp},
                {"vpp", point->vpp},
                {"dp", point->dp},
                {"cp", point->cp},
                {"ep", point->ep},
                {"zero", point->zero},
                {"micro-batch", point->micro_batch},
                {"global batch", point->global_batch}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        add_row(&design->settings, rows[i].name, NULL, rows[i].value);
}

static double sum_of(const DesignRows *rows) {
    double sum = 0;
    for (int i = 0; i < rows->count; i++) sum += rows->items[i].value;
    return sum;
}

// Parts of a step are means over GPUs; a difference from the step is reported, too.
static void add_seconds(Design *design, const RecordPoint *point) {
    double per_sample = point->gpu_count / point->global_batch;
    for (int i = 0; i < point->exposed_count; i++)
        add_row(&design->seconds, point->exposed[i].name, point->exposed[i].title,
                point->exposed[i].value * per_sample);
    double all = point->step_p50_s * per_sample, missing = all - sum_of(&design->seconds);
    if (fabs(missing) > 1e-9 * all) add_row(&design->seconds, "other", "Anything else", missing);
}

static void set_design(Design *design, const RecordPoint *point) {
    double work_s = point->steps * point->step_p50_s, hours = point->days * 24;
    snprintf(design->currency, sizeof design->currency, "%s", point->currency ? point->currency : "USD");
    design->samples = point->steps * point->global_batch;
    double longer = hours * HOUR / work_s;
    design->longer = fabs(longer - 1) < 1e-9 ? 1 : longer;
    design->days = point->days;
    design->gpus = point->gpu_count;
    design->cost = point->cost_per_run;
    add_seconds(design, point);
    for (int i = 0; i < point->cost_line_count; i++)
        add_row(&design->prices, point->cost_lines[i].name, point->cost_lines[i].title,
                point->cost_lines[i].value / point->gpu_count);
    double hourly = design->samples * design->longer * sum_of(&design->seconds) / HOUR * sum_of(&design->prices);
    design->rest = design->cost - hourly;
    if (fabs(design->rest) < 1e-9 * fabs(design->cost)) design->rest = 0;
    add_settings(design, point);
}

// ---- The run.

typedef struct DesignResult {
    Design design;
    char why_not[512], hint[256]; // "" where there is a design
} DesignResult;

typedef struct Asked {
    DesignResult *result;
} Asked;

static void refuse(DesignResult *result, const char *why_not, const char *hint) {
    snprintf(result->why_not, sizeof result->why_not, "%s", why_not);
    snprintf(result->hint, sizeof result->hint, "%s", hint);
}

static bool take_point(void *context, const Asking *asking) {
    const RunAnswer *answer = asking->found;
    DesignResult *result = ((Asked *)context)->result;
    int points = 0;
    const RecordPoint *point = NULL;
    for (int i = 0; i < answer->record_count; i++)
        for (int k = 0; k < answer->records[i]->point_count; k++, points++) point = &answer->records[i]->points[k];
    if (points != 1)
        refuse(result, arena_printf(asking->arena, "it has %d configurations, and one is compared", points),
               "name one of them: leave out what it varies");
    else if (!point->ran)
        refuse(result, arena_printf(asking->arena, "it does not run: %s", point->why_not), "lockstep memory says more");
    else if (!isfinite(point->days) || point->days <= 0)
        refuse(result, "it does not say how long its run is", "add --tokens 1T, or samples and epochs");
    else if (!isfinite(point->cost_per_run))
        refuse(result, "nobody says what its machines cost", "add --price 2.49, --provider NAME or --terms on_demand");
    else
        set_design(&result->design, point);
    return true;
}

typedef struct Words {
    char **items;
    int count, room;
} Words;

// "run", then the words between spaces.
static Words words_of(Arena *arena, const char *text) {
    Words words = {0};
    LIST_PUSH(arena, &words, arena_copy_text(arena, "run"));
    for (const char *at = text + strspn(text, " \t\n"); *at; at += strspn(at, " \t\n")) {
        size_t length = strcspn(at, " \t\n");
        LIST_PUSH(arena, &words, arena_printf(arena, "%.*s", (int)length, at));
        at += length;
    }
    LIST_PUSH(arena, &words, NULL);
    words.count--;
    return words;
}

static int run_in_child(const Words *words, FILE *into) {
    DesignResult *result = calloc(1, sizeof *result);
    if (!result) return EXIT_FAILED;
    Asked asked = {result};
    int status = frame_show(&run_question, words->count, words->items, take_point, &asked);
    bool answered = status == EXIT_DONE || status == EXIT_NO; // EXIT_NO: it does not run, which is an answer
    bool written = !answered || fwrite(result, sizeof *result, 1, into) == 1;
    free(result);
    return fflush(into) == 0 && written ? status : EXIT_FAILED;
}

bool design_simulate(Arena *arena, const char *words, Design *design, int *status, Problems *problems) {
    Words list = words_of(arena, words);
    FILE *answer = tmpfile();
    DesignResult *result = ARENA_NEW(arena, DesignResult);
    *status = EXIT_FAILED;
    if (!answer) {
        problem_add(problems, (Where){0}, "no temporary file can be opened");
        return false;
    }
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) _exit(run_in_child(&list, answer));
    int ended = 0;
    bool sound = child > 0 && waitpid(child, &ended, 0) == child && WIFEXITED(ended);
    *status = sound ? WEXITSTATUS(ended) : EXIT_FAILED;
    rewind(answer);
    bool is_complete = (*status == EXIT_DONE || *status == EXIT_NO) && fread(result, sizeof *result, 1, answer) == 1;
    fclose(answer);
    if (!is_complete) {
        problem_add(problems, (Where){0}, "the design \"%s\" was not simulated", words);
        problem_hint(problems, "try it alone: lockstep run %s", words);
        if (*status == EXIT_DONE || *status == EXIT_NO) *status = EXIT_FAILED;
        return false;
    }
    *design = result->design;
    if (!result->why_not[0]) return true;
    *status = EXIT_BAD_INPUT;
    problem_add(problems, (Where){0}, "the design \"%s\" cannot be compared: %s", words, result->why_not);
    problem_hint(problems, "%s", result->hint);
    return false;
}
