// A job as a script that runs: the rows by which launch files are read (scenarios/import/software.h), taken the other
// way. What goes out is read in again before it is given, so that nothing of it is lost unsaid.
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
    ExportWords lost;        // what it cannot say
    RecordPoint again;       // the job that it says, where that is another; else ran is false
} ExportFile;

typedef struct ExportFiles {
    ExportFile *items;
    int count, room;
} ExportFiles;

// `kinds`: "sbatch,megatron"; or "change": the launch file that the command line named, where `said`, the job's
// options, differ from it. False after problems.
bool export_job(Arena *arena, const StudySpec *study, const Options *said, const char *kinds, ExportFiles *files,
                Problems *problems);
// Into a folder, which is made; never over a file that is there.
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
