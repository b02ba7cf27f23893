// lockstep: a table of commands. Each command lives in the folder whose work it is.
#include <stdio.h>
#include <string.h>

#include "calibrate/training/training.h"
#include "results/answer/answer.h"
#include "results/answer/last.h"
#include "results/answer/question.h"
#include "results/terminal.h"
#include "scenarios/commands/completion.h"
#include "scenarios/import/import.h"
#include "scenarios/study/study_anchors.h"
#include "sim/base/problem.h"
#include "sim/base/version.h"
#include "sim/data/answer.h"
#include "sim/system/process.h"
#include "sim/system/wall.h"
#include "sim/system/watch.h"

typedef int CommandRun(int argc, char **argv);
CommandRun command_run, command_plan, command_report, command_diff, command_check, command_export, command_explain,
    command_trace, command_sweep, command_merge, command_doctor, command_memory, command_flops, command_params,
    command_hw, command_model, command_job, command_topo, command_collective, command_packets, command_goodput,
    command_constants, command_cost, command_power, command_queue, command_lesson, command_calibrate, command_validate,
    command_step;
static int command_completion(int argc, char **argv);

typedef const OptionSpec *OptionRows(Arena *arena, int *count);
OptionRows run_option_rows, plan_option_rows, explain_option_rows, check_option_rows, export_option_rows,
    trace_option_rows, sweep_option_rows, memory_option_rows, collective_option_rows, goodput_option_rows,
    cost_option_rows, power_option_rows, queue_question_rows, flops_option_rows, packets_option_rows, step_option_rows,
    step_collective_option_rows;

enum { BAD_USAGE = 2, BAD_INPUT = 4 };

typedef struct Command {
    const char *name, *help;
    CommandRun *run;
} Command;

static const Command commands[] = {
    {"run", "simulate a scenario written in Lua", command_run},
    {"plan", "which cluster and layout: how many GPUs, what cost, by when", command_plan},
    {"report", "the answer of run, plan, goodput, queue or lesson as one HTML file that needs nothing else",
     command_report},
    {"diff", "two answers beside each other: what differs, and which setting made it", command_diff},
    {"check", "a measured run beside its prediction: inside the range, why not, what it lost", command_check},
    {"export", "a job as scripts that run it, for Megatron-LM, torchtitan and others", command_export},
    {"explain", "why a step takes what it takes, and what would help", command_explain},
    {"trace", "a step as a timeline: for Perfetto and Chrome, as text", command_trace},
    {"step", "a run event by event, forward and back: collectives, pipelines, deadlocks", command_step},
    {"sweep", "simulate many points in many processes, resumable, into a SQLite file", command_sweep},
    {"merge", "join the files of a sweep's shards", command_merge},
    {"memory", "memory per GPU of a training job, by class", command_memory},
    {"flops", "FLOPs of a model per sample and step", command_flops},
    {"params", "parameters of a model, by part", command_params},
    {"hw", "the hardware catalogue: list, show, check", command_hw},
    {"constants", "the fitted and assumed numbers of the models, and what they rest on", command_constants},
    {"model", "the model library: list, show", command_model},
    {"job", "what may be said of a training job: fields, software, strategies", command_job},
    {"topo", "a node's topology as nvidia-smi prints it, or as DOT", command_topo},
    {"collective", "nccl-tests' table for a simulated cluster", command_collective},
    {"packets", "flows as packets: queues, marks, pauses, losses, by transport and routing", command_packets},
    {"goodput", "how much of a long job's time is training when machines fail", command_goodput},
    {"cost", "what a cluster costs to rent or to own, and which is cheaper", command_cost},
    {"power", "what a cluster draws: machines, racks, breakers, energy, carbon, power limits", command_power},
    {"queue", "jobs on a shared cluster: waiting, utilisation, fairness, how many GPUs", command_queue},
    {"lesson", "the course: guess, change a scenario, see why", command_lesson},
    {"calibrate", "measure, import, fit and show: from measurements to a profile", command_calibrate},
    {"validate", "predictions against published measurements", command_validate},
    {"ask", "a question in JSON, answered in JSON: for programs and agents", command_ask},
    {"schema", "JSON Schema of what --json answers, and of what may be asked", command_schema},
    {"doctor", "what the program finds on this machine, and what is missing", command_doctor},
    {"completion", "what a shell offers at TAB: bash, zsh, fish", command_completion},
};
enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

static void print_help(FILE *out) {
    fprintf(out, "lockstep simulates GPU clusters and distributed training.\n\n"
                 "  lockstep run scenarios/examples/scaling_efficiency.lua --plot\n"
                 "  lockstep memory --model gpt3-175b --gpu A100 --tp 8 --pp 8 --micro-batch 1\n"
                 "  lockstep hw show H100\n\nCommands:\n");
    for (int i = 0; i < COMMAND_COUNT; i++) fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].help);
    fprintf(out, "\nlockstep COMMAND --help says more. Exit codes: 0 done, 1 failed, 2 usage, 3 the answer is no, 4 "
                 "bad input.\n");
}

static int run_command(int argc, char **argv) {
    if (argc < 2) {
        print_help(stderr);
        return 2;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        print_help(stdout);
        return 0;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("lockstep %s\n", program_version());
        return 0;
    }
    const char *names[COMMAND_COUNT];
    answer_begin(argc, argv);
    for (int i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(argv[1], commands[i].name) == 0) return commands[i].run(argc - 1, argv + 1);
        names[i] = commands[i].name;
    }
    const char *near = nearest_name(argv[1], names, COMMAND_COUNT);
    fprintf(stderr, "error: no command is called \"%s\"\n", argv[1]);
    if (near)
        fprintf(stderr, "  hint: did you mean \"%s\"?\n", near);
    else
        fprintf(stderr, "  hint: lockstep --help lists them\n");
    return 2;
}

// The commands whose words may come from a file.
static const struct {
    const char *command;
    OptionRows *rows;
} asked_again[] = {
    {"run", run_option_rows},         {"plan", plan_option_rows},     {"explain", explain_option_rows},
    {"check", check_option_rows},     {"export", export_option_rows}, {"trace", trace_option_rows},
    {"sweep", sweep_option_rows},     {"memory", memory_option_rows}, {"collective", collective_option_rows},
    {"goodput", goodput_option_rows}, {"cost", cost_option_rows},     {"power", power_option_rows},
    {"queue", queue_question_rows},   {"flops", flops_option_rows},   {"params", flops_option_rows},
    {"packets", packets_option_rows}, {"step", step_option_rows},     {"step collective", step_collective_option_rows},
};
enum { ASKED_AGAIN = sizeof asked_again / sizeof *asked_again };

static int asked_row(const char *name) {
    for (int i = 0; i < ASKED_AGAIN; i++)
        if (strcmp(asked_again[i].command, name) == 0) return i;
    return -1;
}

// `explain queue` reads what queue does, and a command may have rows of its own behind a first word.
static const OptionSpec *rows_asked_again(Arena *arena, const char *command, const char *first, int *count) {
    bool explains = first && strcmp(command, "explain") == 0;
    int own = asked_row(command),
        both = !first ? -1 : asked_row(explains ? first : arena_printf(arena, "%s %s", command, first));
    int found = both >= 0 ? both : own;
    return found < 0 ? NULL : asked_again[found].rows(arena, count);
}

// "queue", "cost, power and 3 more".
static const char *owners_of_option(Arena *arena, const char *name, const OptionSpec **row) {
    enum { NAMED = 3 };
    const char *list = "", *word = arena_printf(arena, "--%s", name), *attached;
    int found = 0;
    for (int i = 0; i < ASKED_AGAIN; i++) {
        int count;
        const OptionSpec *rows = asked_again[i].rows(arena, &count);
        const OptionSpec *own = option_row_of(rows, count, word, &attached);
        if (!own) continue;
        if (!found && row) *row = own;
        if (found++ < NAMED) list = arena_printf(arena, "%s%s%s", list, *list ? ", " : "", asked_again[i].command);
    }
    if (found > NAMED) list = arena_printf(arena, "%s and %d more", list, found - NAMED);
    return found ? list : NULL;
}

// A launch script or a configuration in place of options.
static bool read_subject(Arena *arena, int *argc, char ***argv, Problems *problems) {
    int count = 0;
    const OptionSpec *rows = *argc > 2 ? rows_asked_again(arena, (*argv)[1], NULL, &count) : NULL;
    return !rows || import_subject(arena, argc, argv, rows, count, problems);
}

static int command_completion(int argc, char **argv) {
    const char *names[COMMAND_COUNT];
    for (int i = 0; i < COMMAND_COUNT; i++) names[i] = commands[i].name;
    return completion_command(argc, argv, &(CommandNames){names, COMMAND_COUNT, run_command});
}

int main(int argc, char **argv) {
    program_begin();
    simulation_memory_limit(0);
    anchors_reader = anchors_read;
    watch_screen = progress_of_watch;
    watch_permit_clock();
    question_rows = rows_asked_again;
    options_look_elsewhere(owners_of_option);
    wall_permit();
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    bool known = last_repeat(arena, &argc, &argv, problems);
    bool readable = known && ask_in_json(arena, &argc, &argv, problems) && read_subject(arena, &argc, &argv, problems);
    envelope_command_line(argc, argv);
    int status = readable ? answer_end(run_command(argc, argv))
                 : known  ? problems_status(problems, BAD_INPUT)
                          : BAD_USAGE;
    problems_print(problems, stderr);
    arena_close(arena);
    return program_end(status);
}
