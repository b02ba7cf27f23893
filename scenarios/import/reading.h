// What the files of this folder share while one import is read.
#pragma once

#include "scenarios/import/formats.h"
#include "scenarios/import/import.h"
#include "scenarios/import/shell.h"
#include "sim/system/gate.h"

enum { LARGEST_FILE = 4 << 20 };

typedef struct Machines { // 0: not said
    double nodes, per_node, tasks, tasks_per_node, gpus;
    const char *gpu;
    bool gpu_perhaps; // a constraint or a partition, which may be a GPU's name
    Where where;
} Machines;

// What is started: by whom, with which of his options, and the program with its own.
typedef struct Launcher Launcher; // launch.c
typedef struct Launch {
    const Launcher *launcher;
    const char *program; // its file or module
    SaidList own, arguments;
    ShellWords words;         // the same arguments as they stand there
    SaidList step;            // what stood before it: srun's and mpirun's, and sbatch's
    const Machines *machines; // of the job that is submitted; NULL: those of the file
    Where where;
    int weight;
} Launch;

typedef struct Host { // of a hostfile
    const char *name;
    double slots; // 0: not said
} Host;

typedef struct Heard { // what the options of the software come to, in our words
    const char *key, *value;
    Where where;
} Heard;

typedef struct ReadText {
    const char *file, *text;
} ReadText;

typedef struct Reading {
    Arena *arena;
    Problems *problems;
    const ReadGate *gate; // NULL: no other file may be read
    const ImportAsked *asked;
    Import *import;
    const char *file;
    SaidList said;    // of the software, weakest first
    SaidList machine; // of launchers, schedulers, manifests
    SaidList environment;
    SaidList used;    // options whose value the program itself hands on
    SaidList imports; // of programs in Python that are in sight
    SaidList step;    // of srun and mpirun around what is being read
    Machines machines;
    struct {
        Host *items;
        int count, room;
    } hosts;
    struct {
        Launch *items;
        int count, room;
    } launches;
    struct {
        Heard *items;
        int count, room;
    } heard;
    struct {
        ReadText *items;
        int count, room;
    } texts; // of all files, in the order in which they were read
    const char *program;
    const char *folder; // below the file's, in which the job runs; or NULL
    Shell *shell;
    const ShellWords *given; // words of the program's command line; NULL: nobody started it
    const SaidList *choices; // of the program's command line: which of a configuration's parts (Hydra's groups)
    SaidList groups;         // of these the ones that were such a choice
    const char *below;       // in which part of a configuration a file stands; or NULL
    bool lists_all;          // a log, of all settings
    int files;               // that were read
    int prints;              // programs of Python whose output was asked for
    int bases;               // configurations within each other
    int above; // folders above the file's own that are of its project, in which paths are looked for as well
} Reading;

void hear(Reading *r, const char *key, const char *value, Where where);
const Heard *heard(const Reading *r, const char *key); // NULL: not said
double heard_number(const Reading *r, const char *key, double fallback);
const char *heard_text(const Reading *r, const char *key);
void unhear(Reading *r, const char *key);
void list_line(Reading *r, ImportLines *lines, const char *name, const char *value, const char *why, Where where);
void not_read(Reading *r, const char *why, Where where); // a limit, said once

// Another file that the first one names, below its folder or, where it is not, those above it up to that of its
// project; NULL where it may not be read or is none.
const char *reading_file(Reading *r, const char *path, Where where, size_t *bytes, const char **shown);
// The same; where the path is absolute, or its beginning is not known, also by as much of its end as lies beside,
// at least so many folders and the name.
const char *reading_near_in(Reading *r, const char *path, int folders, Where where, size_t *bytes, const char **shown);
const char *reading_near(Reading *r, const char *path, Where where, size_t *bytes, const char **shown); // by its name
// "../_base_/x.py" as configs/a/b.py names it: configs/_base_/x.py.
const char *reading_path_from(Reading *r, const char *file, const char *path);
enum { READING_BASES = 6 }; // configurations upon each other
// A configuration by its name: said with that strength. False: it was not read.
bool reading_config(Reading *r, const char *path, Where where);
void reading_config_text(Reading *r, const char *shown, const char *text, size_t bytes);

// Files of jobs, as Kubernetes and services take them. False after problems.
bool reading_jobs(Reading *r, const char *name, const char *text, size_t bytes, Problems *problems);

bool is_log(const char *path, const char *text); // read_log.c
void read_log(Reading *r, const char *file, const char *text, size_t bytes);
void read_shell(Reading *r, const char *file, const char *text, size_t bytes);    // launch.c
void read_python(Reading *r, const char *file, const char *text, size_t bytes);   // python/read_python.c: a launcher
void read_notebook(Reading *r, const char *file, const char *text, size_t bytes); // the program of its cells
// What a program says in its own text beside what it is told; and what it says alone, as a configuration.
void read_python_program(Reading *r, const char *file, const char *text, size_t bytes, const SaidList *arguments);
void read_python_settings(Reading *r, const char *file, const char *text, size_t bytes);
const char *read_python_prints(Reading *r, const char *text); // what a few lines print; NULL: it is not known
bool is_makefile(const char *path);                           // read_make.c
void read_make(Reading *r, const char *file, const char *text, size_t bytes);
Shell *reading_shell(Reading *r);                            // launch.c: the only one of an import
void set_number(Reading *r, const char *name, double value); // machines.c: a variable, where the number is known
void launch_words(Reading *r, const ShellWords *words, Where where); // launch.c
// launch.c: the same of sbatch, cd, kubectl too; input: what it reads, or NULL
void launch_command(Reading *r, const ShellWords *words, const char *input, Where where);
// launch.c: "--name value …", "--name=value", "key=value"; from `at` on
void read_options(Reading *r, const ShellWords *words, int at, SaidList *list, Where where, bool configs);
void launch_choose(Reading *r);                                // launch.c
double visible_gpus(Reading *r);                               // machines.c: by CUDA_VISIBLE_DEVICES; 0: it is not said
void read_hostfile(Reading *r, const char *path, Where where); // machines.c
void take_ray_environment(Reading *r, const char *text, Where where);    // manifests.c: env_vars of a runtime_env
void read_manifest(Reading *r, const char *file, const Json *documents); // manifests.c
struct NodeType;
const struct NodeType *node_of_instance(Reading *r, const char *type); // settle.c: "ml.p4d.24xlarge"; or NULL
const char *node_said(Reading *r, const char *said);     // settle.c: a node with the GPU that is called so; or NULL
const char *remarked_gpu(Reading *r, Where *where);      // remarks.c: by comments of one file; or NULL
void settle(Reading *r, const ImportSoftware *software); // settle.c
