// A job as a launch script: the rows by which launch files are read (scenarios/import/software.h), in reverse. The
// output is read in again before it is written, so that every loss is reported.
#pragma once

#include "scenarios/study/study.h"
#include "sim/base/options.h"

const char *export_kinds_text(Arena *arena); // software and launchers, as --export has them

typedef struct ExportWord { // of import.h's words
    const char *key, *value;
} ExportWord;

typedef struct ExportWords {
    ExportWord *items;
    int count, room;
} ExportWords;

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

typedef struct ExportFiles {
    ExportFile *items;
    int count, room;
} ExportFiles;

// `kinds`: "sbatch,megatron"; or "change": the launch file that the command line named, with the differing job
// options in `said`. False after problems.
bool export_job(Arena *arena, const StudySpec *study, const Options *said, const char *kinds, ExportFiles *files,
                Problems *problems);
// Writes into a folder, which is created; never overwrites a file.
bool export_write(Arena *arena, const char *folder, const ExportFiles *files, Problems *problems);

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
