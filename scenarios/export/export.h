// A job as a launch script: the rows by which launch files are read (scenarios/import/software.h), in reverse. The
// output is read in again before it is written, so that every loss is reported.
#pragma once

#include "models/workload/cluster/cluster.h"
#include "models/workload/job/layout.h"
#include "scenarios/study/study.h"
#include "sim/base/list.h"
#include "sim/base/options.h"
#include "sim/data/question.h"

typedef struct ExportWord { // of import.h's words
    const char *key, *value;
} ExportWord;

typedef LIST_OF(ExportWord) ExportWords;

// software NULL: it is the user's own
typedef struct ExportFile {
    const char *name, *text; // "megatron.sbatch"
    const char *software;    // "Megatron-LM core 0.20"
    const char *stack;       // as --software has it
    RecordPoint point;       // the job in that software
    ExportWords lost;        // not expressible in it
    ExportWords beside;      // of machines and data, which no file says and which change the step
    RecordPoint again;       // the job as read in again, memory or not, if it differs; else ran is false
} ExportFile;

typedef LIST_OF(ExportFile) ExportFiles;

// `kinds`: "sbatch,megatron"; or "change": the launch file that the command line named, with the differing job
// options in `said`. False after problems.
bool export_job(Arena *arena, const StudySpec *study, const Options *said, const char *kinds, ExportFiles *files,
                Problems *problems);

#define EXPORT_OPTIONS                                                                                                 \
    {.name = "export",                                                                                                 \
     .kind = OPTION_TEXT,                                                                                              \
     .of = OF_FORM,                                                                                                    \
     .metavar = "KINDS",                                                                                               \
     .help = "write scripts that run it: megatron, bridge, nemo, torchtitan, deepspeed, accelerate; torchrun, "        \
             "sbatch, k8s, "                                                                                           \
             "skypilot; "                                                                                              \
             "or change: your own file"},                                                                              \
    {                                                                                                                  \
        .name = "into", .kind = OPTION_TEXT, .of = OF_FORM, .metavar = "DIR",                                          \
        .help = "the folder for them, made if it is not there (default lockstep-export)"                               \
    }

// ---- The written files, as part of an answer.

// Writes the kinds of --export into the folder of --into, and reports them in the answer; `said`: the job's options.
// brief: a sentence on the screen, the table in JSON. Returns the exit status, after problems if not EXIT_DONE.
int export_asked(Asking *asking, const StudySpec *study, const Options *said, bool brief);

// ---- What the files of this folder share.

typedef struct Export {
    Arena *arena;
    const struct ExportTarget *target;
    const Cluster *cluster;
    const TrainingSpec *training;
    const JobSaid *said; // or NULL
    bool own_model;      // one of the user's own, that no software knows by its name
    Resolved resolved;
    int gpus, nodes, per_node;
    const char *node, *gpu, *fabric; // fabric NULL: unspecified
    RecordPoint point;
    double checkpoint_s;
    ExportWords words;   // must be read back unchanged
    ExportWords counted; // the same in the software's units
} Export;

// Overrides are arguments of the form name=value.
typedef enum ExportForm { EXPORT_ARGUMENTS, EXPORT_OVERRIDES, EXPORT_JSON, EXPORT_YAML, EXPORT_TOML } ExportForm;

typedef struct ExportPart {
    ExportForm form;
    int table;         // of those of the software (import_software)
    const char *file;  // that holds it, written by the script; NULL: arguments
    const char *avoid; // names that this part does not use
    const char *fixed; // "--name value" of arguments, "name=value" of files, by blanks; %S%: steps between checkpoints
} ExportPart;

typedef struct ExportTarget {
    const char *name, *title;
    const char *software; // of import_software
    const char *stack;    // as --software has it
    const char *program;  // and its own words before the arguments
    const char *setting;  // of the environment, or NULL
    bool accelerates;     // accelerate starts it, else torchrun
    bool by_flavor;       // it knows models by its own names alone
    bool dashes;          // options have dashes within, and flags no value
    ExportPart parts[2];  // the second may have no fixed words and no table: form EXPORT_ARGUMENTS, file NULL
    const char *anew;     // words that it counts otherwise, with blanks round each, or NULL
    void (*count)(Export *e);
} ExportTarget;

typedef struct ExportLauncher {
    const char *name, *ending;
    const char *(*write)(const Export *e); // the whole file
} ExportLauncher;

extern const ExportTarget export_targets[];
extern const int export_target_count;
extern const ExportLauncher export_launchers[];
extern const int export_launcher_count;

bool export_is_usual(const ExportWord *word);              // equals the software's default
const char *export_word(const Export *e, const char *key); // or NULL
bool export_asks_for_model(const Export *e);               // its script takes a folder with config.json
void export_count(Export *e, const char *key, const char *value);
void export_count_number(Export *e, const char *key, double number);
