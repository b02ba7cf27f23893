// What the files of this folder share while one import is read.
#pragma once

#include "models/workload/model/model.h"
#include "scenarios/import/import.h"
#include "scenarios/import/said.h"
#include "scenarios/import/shell.h"
#include "sim/base/list.h"
#include "sim/data/json.h"
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
    LIST_OF(Host) hosts;
    LIST_OF(Launch) launches;
    LIST_OF(Heard) heard;
    LIST_OF(ReadText) texts; // of all files, in the order in which they were read
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
const char *remarked_gpu(Reading *r, Where *where);      // machines.c: by comments of one file; or NULL
void settle(Reading *r, const ImportSoftware *software); // settle.c

// ---- Machines.

// By a launcher's own options.
typedef void MachinesOf(Reading *r, const Launch *launch);
MachinesOf machines_of_torchrun, machines_of_deepspeed, machines_of_accelerate, machines_of_composer,
    machines_of_colossalai, machines_of_llamafactory, machines_of_axolotl, machines_of_trl, machines_of_ranks;
void machines_of_scheduler(Reading *r); // sbatch and srun: what they reserve
void machines_of_tasks(Reading *r);     // a task a GPU, where nobody else starts ranks

void read_slurm(Reading *r, const ShellWords *words, int begin, int end, SaidList *list, Where where, SaidBy by);
void read_directives(Reading *r, const char *file, const char *text); // #SBATCH, #PBS
void set_slurm(Reading *r);                                           // the variables that the scheduler sets
// Of "a,b,c", up to one of the letters.
int items_of(const char *text, const char *until);

// ---- Files of jobs.

const char *text_at(Reading *r, const Json *tree, const char *path); // of a plain value; NULL: there is none
double number_at(Reading *r, const Json *tree, const char *path, double fallback);
void note(Reading *r, const char *name, const char *value, const Json *at); // for the lists
void reserve(Reading *r, double nodes, double per_node, const char *gpu, const Json *at);
void take_command(Reading *r, const Json *container); // "command" and "args"
// The words of one or two lists of them; NULL is none.
ShellWords *words_of_lists(Reading *r, const Json *first, const Json *second);
// torchrun takes both from the environment there.
void default_ranks(Reading *r, double nodes, double per_node, const Json *job);

// "nvidia:A100:80GB:8", "H100:8", "A100-80GB": the model, and how many where that is said.
const char *gpu_of_text(Reading *r, const char *text, double *count);
bool is_task(const char *text);
bool read_task(Reading *r, const char *file, const char *text, const Json *documents); // false: it is none of these

// ---- Making options of ours of what is heard.

const char *number_text(Reading *r, double number);
void hear_number(Reading *r, const char *key, double number, Where where); // what is not above 0 is not said
void ask_for(Reading *r, const char *what, const char *why);               // for the list of what is left open

double layout_of(const Reading *r); // GPUs of a replica: tp x pp x cp
double world_of(const Reading *r);
void settle_offload(Reading *r); // of optimizer and, with ZeRO 3, parameters, where one word says both

// What a software does to what is heard, by the name that software.options has for it; NULL: there is none.
ImportRule *settle_rule(const char *name);

// What comes to nothing beside the rest is listed as of no effect, not as taken.
void set_aside(Reading *r, const char *key, const char *why);
void set_open(Reading *r, const char *key, const char *why); // what cannot be simulated, as not understood

const Model *model_called(Reading *r, const char *name); // of the library; or NULL
void settle_shape(Reading *r);                           // sizes that follow from others, as the software has it
void settle_model(Reading *r);

// ---- A launch file with some of its options changed, byte for byte the same otherwise.

bool change_is_none(const char *value); // what is not said at all: "none", "false", "0", "1" of a degree
// Whether an option goes because one of these does that it only goes with.
bool change_goes_with(const char *option, const ImportWord *words, int count);
// Of counts of machines that were to become so many times as many, the first that is not, with why; NULL: all are.
const char *change_not_scaled(Arena *arena, const Json *before, const Json *after, double by);
// `imported`: what the file was found to say (subject.c). NULL after problems.
const char *change_text(Arena *arena, const char *path, const Json *imported, const ImportWord *words, int count,
                        Problems *problems);
