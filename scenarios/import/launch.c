// What a script starts: through srun, containers and shells to torchrun, deepspeed, accelerate and others, and from
// these to the program and its options.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/import/reading.h"
#include "sim/base/list.h"
#include "sim/system/file.h"

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

// ---- What starts what.

// A_SCRIPT: a .py file, or behind -m; ITSELF: it is the program, and all its words are options.
typedef enum WhatFollows { A_COMMAND, A_SCRIPT, A_WORD, ITSELF } WhatFollows;

struct Launcher {
    const char *name, *title;
    WhatFollows follows;
    MachinesOf *machines; // NULL: as the scheduler says
};

static const Launcher launchers[] = {
    {"torchrun", "torchrun", A_SCRIPT, machines_of_torchrun},
    {"torch.distributed.run", "torchrun", A_SCRIPT, machines_of_torchrun},
    {"torch.distributed.launch", "torchrun", A_SCRIPT, machines_of_torchrun},
    {"determined.launch.torch_distributed", "torchrun", A_SCRIPT, machines_of_ranks},
    {"determined.launch.deepspeed", "deepspeed", A_SCRIPT, machines_of_ranks},
    {"multiproc.py", "torchrun", A_SCRIPT, machines_of_torchrun}, // of DeepLearningExamples
    {"torchrun_jsc", "torchrun", A_SCRIPT, machines_of_torchrun},
    {"deepspeed", "deepspeed", A_SCRIPT, machines_of_deepspeed},
    {"accelerate", "accelerate", A_SCRIPT, machines_of_accelerate},
    {"accelerate-launch", "accelerate", A_SCRIPT, machines_of_accelerate},
    {"composer", "composer", A_SCRIPT, machines_of_composer},
    {"colossalai", "colossalai", A_SCRIPT, machines_of_colossalai},
    {"llamafactory-cli", "llamafactory-cli", A_WORD, machines_of_llamafactory},
    {"axolotl", "axolotl", A_WORD, machines_of_axolotl},
    {"trl", "trl", A_WORD, machines_of_trl},
    {"automodel", "automodel", A_WORD, NULL},
    {"lightning", "lightning", A_WORD, NULL},
    {"fabric", "lightning", A_WORD, NULL},
    {"tune", "torchtune", A_WORD, machines_of_torchrun},
    {"litgpt", "litgpt", A_WORD, NULL},
    {"nemo", "nemo", A_WORD, NULL},
    {"swift", "swift", A_WORD, machines_of_llamafactory},
    {"fairseq-train", "fairseq", ITSELF, machines_of_ranks},
    {"fairseq-hydra-train", "fairseq", ITSELF, machines_of_ranks},
    {"srun", "srun", A_COMMAND, NULL},
    {"flux", "srun", A_COMMAND, NULL},
    {"lrun", "srun", A_COMMAND, NULL},
    {"mpirun", "mpirun", A_COMMAND, NULL},
    {"mpiexec", "mpirun", A_COMMAND, NULL},
    {"mpiexec.hydra", "mpirun", A_COMMAND, NULL},
    {"mpirun_rsh", "mpirun", A_COMMAND, NULL},
    {"ibrun", "mpirun", A_COMMAND, NULL},
    {"aprun", "mpirun", A_COMMAND, NULL},
    {"jsrun", "mpirun", A_COMMAND, NULL},
    {"horovodrun", "horovodrun", A_COMMAND, NULL},
};
enum { LAUNCHERS = sizeof launchers / sizeof *launchers };
static const Launcher python = {"python", "python", A_SCRIPT, NULL};

static const Launcher *launcher_named(const char *word) {
    if (strpbrk(word, "=:")) return NULL; // "target=/workspace/axolotl", of a container
    for (int i = 0; i < LAUNCHERS; i++)
        if (strcmp(base_name(word), launchers[i].name) == 0) return &launchers[i];
    return NULL;
}

static bool is_python(const char *word) {
    const char *name = base_name(word);
    return strncmp(name, "python", 6) == 0 && strspn(name + 6, "0123456789.") == strlen(name + 6);
}

static bool is_shell(const char *word) { return one_of(base_name(word), "bash sh zsh"); }

static bool is_xpk(const char *word) { return one_of(base_name(word), "xpk xpk.py"); }

static bool is_config(const char *word) {
    return file_ends_in(word, ".yaml") || file_ends_in(word, ".yml") || file_ends_in(word, ".toml") ||
           file_ends_in(word, ".json") || file_ends_in(word, ".py");
}

// ---- Options of whatever program.

static void add_word(Reading *r, SaidList *list, const char *name, const char *value, int line, Where where) {
    said_add(r->arena, list, name, value, (Where){where.file, line ? line : where.line}, BY_COMMAND);
}

static bool is_number(const char *word) {
    char *end;
    strtod(word, &end);
    return *word && !*end;
}

// "a.b=c", "+a=c": by itself, not the value of the option before it.
static bool is_setting(const char *word) {
    word += strspn(word, "+~");
    size_t length = strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.");
    return length > 0 && !isdigit((unsigned char)*word) && word[length] == '=' && memchr(word, '.', length);
}

// "SOLVER.BASE_LR 0.01", as yacs has it: a key of capitals, its value behind it. Without a dot only among others.
static bool is_yacs_key(const char *word, bool among) {
    return word[strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.")] == '\0' && isupper((unsigned char)*word) &&
           strlen(word) > 4 && (strchr(word, '.') || among);
}

// "--name value …", "--name=value", "key=value", "KEY.NAME value"; from `at` on.
void read_options(Reading *r, const ShellWords *words, int at, SaidList *list, Where where, bool configs) {
    bool pairs = false;
    while (at < words->count) {
        const ShellWord *word = &words->items[at++];
        bool is_key = is_yacs_key(word->text, pairs) && at < words->count;
        pairs = is_key;
        if (is_key) {
            add_word(r, list, word->text, words->items[at].text, word->line, where);
            at++;
            continue;
        }
        const char *equals = strchr(word->text, '=');
        bool is_option = word->text[0] == '-' && word->text[1] && !is_number(word->text);
        if (equals && equals > word->text) {
            add_word(r, list, arena_printf(r->arena, "%.*s", (int)(equals - word->text), word->text), equals + 1,
                     word->line, where);
        } else if (is_option) {
            const char *value = NULL;
            int values = 0;
            while (at < words->count && (words->items[at].text[0] != '-' || is_number(words->items[at].text)) &&
                   !(strchr(words->items[at].text, '=') && (values || is_setting(words->items[at].text))) &&
                   !is_yacs_key(words->items[at].text, false) && values < 12) {
                value = value ? arena_printf(r->arena, "%.400s,%.200s", value, words->items[at].text)
                              : words->items[at].text;
                at++, values++;
            }
            add_word(r, list, word->text, value, word->line, where);
        } else if (configs && is_config(word->text)) {
            add_word(r, list, "config", word->text, word->line, where);
        }
    }
}

// ---- Launchers.

// The word at which the program stands.
static int find_program(const ShellWords *words, int at, const Launcher *launcher) {
    bool by_module = false;
    if (launcher->follows == ITSELF) return 0;
    for (; at < words->count; at++) {
        const char *word = words->items[at].text;
        if (strcmp(word, "-m") == 0 || strcmp(word, "--module") == 0) by_module = true;
        if (file_ends_in(word, ".py") || file_ends_in(word, ".pyz")) return at;
        if (by_module && word[0] != '-') return at;
        bool plain = word[0] != '-' &&
                     (at == 0 || words->items[at - 1].text[0] != '-' || strchr(words->items[at - 1].text, '='));
        bool runs = strcmp(launcher->name, "tune") == 0 && strcmp(word, "run") == 0;
        if (launcher->follows == A_WORD && plain && !runs && at > 0) return at;
    }
    return at;
}

static void add_launch(Reading *r, const Launcher *launcher, const ShellWords *words, int begin, int program,
                       Where where) {
    Launch launch = {.launcher = launcher, .where = where, .program = ""};
    ShellWords own = {words->items, program, program}, rest = {words->items, words->count, words->count};
    read_options(r, &own, begin, &launch.own, where, false);
    if (program < words->count) {
        launch.program = words->items[program].text;
        launch.words = (ShellWords){words->items + program + 1, words->count - program - 1, words->count - program - 1};
        const char *behind = program + 1 < words->count ? words->items[program + 1].text : "-";
        bool model = strcmp(launcher->name, "litgpt") == 0 && *behind != '-' && !is_config(behind); // "finetune NAME"
        if (model) add_word(r, &launch.arguments, "checkpoint_dir", behind, words->items[program + 1].line, where);
        read_options(r, &rest, program + 1, &launch.arguments, where, true);
    }
    launch.weight = launch.arguments.count + (launcher == &python ? 0 : 40);
    static const char *const trains[] = {"train", "pretrain", "finetune", "sft", "run_", "main"};
    for (size_t i = 0; i < sizeof trains / sizeof *trains; i++)
        if (strstr(launch.program, trains[i])) launch.weight += 20;
    for (int i = 0; i < r->step.count; i++) LIST_PUSH(r->arena, &launch.step, r->step.items[i]);
    if (r->launches.count < 64)
        LIST_PUSH(r->arena, &r->launches, launch);
    else
        not_read(r, "more than 64 programs are started", where);
}

static void read_srun(Reading *r, const ShellWords *words, int begin, int end, Where where) {
    said_add(r->arena, &r->step, "by_srun", "true", where, BY_COMMAND);
    read_slurm(r, words, begin, end, &r->step, where, BY_COMMAND);
}

// mpirun -x NAME=VALUE, docker -e NAME=VALUE.
static void read_environment(Reading *r, const ShellWords *words, int end, Where where) {
    for (int i = 1; i < end; i++) {
        const char *before = words->items[i - 1].text, *equals = strchr(words->items[i].text, '=');
        if (!one_of(before, "-x -e --env") || !equals) continue;
        const char *name = arena_printf(r->arena, "%.*s", (int)(equals - words->items[i].text), words->items[i].text);
        Where at = {where.file, words->items[i].line};
        said_add(r->arena, &r->environment, name, equals + 1, at, BY_ENVIRONMENT);
        shell_set(reading_shell(r), name, equals + 1, at, true);
    }
}

static void read_mpirun(Reading *r, const ShellWords *words, int begin, int end, Where where) {
    int each = 1; // of jsrun's resource sets
    for (int i = begin; i < end; i++)
        if (strncmp(words->items[i].text, "-a", 2) == 0)
            each = atoi(words->items[i].text[2] || i + 1 == end ? words->items[i].text + 2 : words->items[i + 1].text);
    for (int i = begin; i < end; i++) {
        const char *option = words->items[i].text, *value = i + 1 < end ? words->items[i + 1].text : "";
        if (option[0] == '-' && strchr("nr", option[1]) && isdigit((unsigned char)option[2])) // "-n8", "-r1"
            value = option + 2, option = option[1] == 'n' ? "-n" : "-r";
        if (each > 1 && strchr("nr", option[1]) && !option[2]) value = arena_printf(r->arena, "%d", each * atoi(value));
        if (one_of(option, "-np -n --np --ntasks")) said_add(r->arena, &r->step, "mpi_ranks", value, where, BY_COMMAND);
        if (one_of(option, "-ppn --ppn -r --rs_per_host -npernode --npernode -N"))
            said_add(r->arena, &r->step, "ranks_per_node", value, where, BY_COMMAND);
        if (strncmp(value, "ppr:", 4) == 0 && strstr(value, ":node"))
            said_add(r->arena, &r->step, "ranks_per_node", arena_printf(r->arena, "%d", atoi(value + 4)), where,
                     BY_COMMAND);
        if (one_of(option, "-H --host")) said_add(r->arena, &r->step, "mpi_hosts", value, where, BY_COMMAND);
        if (one_of(option, "--hostfile -hostfile -machinefile -f")) read_hostfile(r, value, where);
        if (one_of(option, "--fusion-threshold-mb --cycle-time-ms --cache-capacity --num-nccl-streams") && *value)
            said_add(r->arena, &r->environment, option, value, where, BY_ENVIRONMENT);
    }
    read_environment(r, words, end, where);
}

// Behind a launcher's own words.
static int next_command(const ShellWords *words, int at) {
    for (; at < words->count; at++) {
        const char *word = words->items[at].text;
        if (launcher_named(word) || is_python(word) || is_shell(word) || file_ends_in(word, ".sh")) break;
    }
    return at;
}

static void read_docker_gpus(Reading *r, const ShellWords *words, int end, Where where) {
    for (int i = 1; i < end; i++) {
        const char *text = words->items[i].text;
        if (strcmp(words->items[i - 1].text, "--gpus") != 0) continue;
        if (strstr(text, "device="))
            r->machines.per_node = items_of(text, "");
        else if (is_number(text))
            r->machines.per_node = atof(text);
        r->machines.where = where;
    }
}

// Scripts of projects that everybody has and few keep beside: "distributed_train.sh 8 …" of timm, OpenMMLab's
// "dist_train.sh CONFIG 8 …" and "slurm_train.sh PARTITION NAME CONFIG …". False: it is none of them.
static bool run_known_script(Reading *r, const ShellWords *words, int at, Where where) {
    static const struct {
        const char *name, *program;
        int config, gpus, rest; // words behind the name; 0: not said there
    } known[] = {{"distributed_train.sh", "train.py", 0, 1, 2},
                 {"dist_train.sh", "tools/train.py", 1, 2, 3},
                 {"slurm_train.sh", "tools/train.py", 3, 0, 5}};
    const char *base = base_name(words->items[at].text);
    size_t bytes = 0, k = 0;
    const char *shown;
    while (k < sizeof known / sizeof *known && strcmp(known[k].name, base) != 0) k++;
    if (k == sizeof known / sizeof *known || reading_near(r, words->items[at].text, where, &bytes, &shown))
        return false;
    ShellWords *own = ARENA_NEW(r->arena, ShellWords);
    const char *gpus = known[k].gpus && at + known[k].gpus < words->count ? words->items[at + known[k].gpus].text
                                                                          : shell_value(r->shell, "GPUS_PER_NODE");
    const char *const head[] = {"torchrun", "--nproc_per_node", gpus ? gpus : "8", known[k].program};
    for (int i = 0; i < 4; i++) LIST_PUSH(r->arena, own, ((ShellWord){head[i], words->items[at].line}));
    if (known[k].config && at + known[k].config < words->count)
        LIST_PUSH(r->arena, own, words->items[at + known[k].config]);
    for (int i = at + known[k].rest; i < words->count; i++) LIST_PUSH(r->arena, own, words->items[i]);
    launch_words(r, own, where);
    return true;
}

// The script at words[at], with what stands behind it.
static void run_script(Reading *r, const ShellWords *words, int at, Where where) {
    if (run_known_script(r, words, at, where)) return;
    ShellWords *arguments = ARENA_NEW(r->arena, ShellWords);
    *arguments = (ShellWords){words->items + at + 1, words->count - at - 1, words->count - at - 1};
    shell_run_file(r->shell, words->items[at].text, arguments, where);
}

// ssh HOST COMMAND, pdsh -w HOSTS COMMAND: options first.
static void read_remote(Reading *r, const ShellWords *words, bool many, Where where) {
    const char *with_value = many ? "wxgXRMtulf" : "BbcDEeFIiJLlmOopQRSWw";
    int at = 1;
    for (; at < words->count && words->items[at].text[0] == '-'; at++) {
        const char *letter = words->items[at].text + 1;
        at += *letter && !letter[1] && strchr(with_value, *letter);
    }
    shell_run_words(r->shell, shell_joined(r->shell, words, many ? at : at + 1), where);
}

// xpk workload create --device-type h100-mega-80gb-8 --num-nodes 4 --command TEXT
static void read_xpk(Reading *r, const ShellWords *words, int at, Where where) {
    SaidList own = {0};
    read_options(r, words, at, &own, where, false);
    const char *device = said_value(&own, "device-type"), *command = said_value(&own, "command"),
               *nodes = said_value(&own, "num-nodes|num-slices");
    const char *dash = device && is_known(device) ? strrchr(device, '-') : NULL;
    if (nodes) said_add(r->arena, &r->step, "nodes", nodes, where, BY_COMMAND);
    if (dash && atoi(dash + 1) > 0)
        said_add(r->arena, &r->step, "gpus-per-node",
                 arena_printf(r->arena, "%.*s:%d", (int)(dash - device), device, atoi(dash + 1)), where, BY_COMMAND);
    if (command) shell_run_words(r->shell, command, where);
}

// "a=b,c=d" into a list.
static void read_pairs(Reading *r, const char *text, SaidList *list, Where where, SaidBy by) {
    for (const char *at = text; *at; at += strcspn(at, ","), at += *at == ',') {
        size_t length = strcspn(at, ",="), all = strcspn(at, ",");
        if (at[length] == '=')
            said_add(r->arena, list, arena_printf(r->arena, "%.*s", (int)length, at),
                     arena_printf(r->arena, "%.*s", (int)(all - length - 1), at + length + 1), where, by);
    }
}

// torchx run -s slurm -cfg constraint=h100 dist.ddp -j 4x8 --env A=1,B=2 --script train.py -- OPTIONS, or -m MODULE
static void read_torchx(Reading *r, const ShellWords *words, Where where) {
    ShellWords *torchrun = ARENA_NEW(r->arena, ShellWords);
    const char *layout = "1x1", *program = NULL;
    int at = 1;
    for (; at + 1 < words->count && strcmp(words->items[at].text, "--") != 0; at++) {
        const char *word = words->items[at].text, *value = words->items[at + 1].text;
        if (strcmp(word, "-j") == 0) layout = value;
        if (strcmp(word, "--script") == 0 || strcmp(word, "-m") == 0) program = value;
        if (strcmp(word, "-cfg") == 0 || strcmp(word, "--scheduler_args") == 0)
            read_pairs(r, value, &r->step, where, BY_MACHINES);
        if (strcmp(word, "--env") == 0) read_pairs(r, value, &r->environment, where, BY_ENVIRONMENT);
    }
    if (!program) return;
    const char *x = strchr(layout, 'x');
    const char *const first[] = {"torchrun",
                                 "--nnodes",
                                 arena_printf(r->arena, "%d", x ? atoi(layout) : 1),
                                 "--nproc_per_node",
                                 x ? x + 1 : layout,
                                 "-m",
                                 program};
    for (int i = 0; i < 7; i++) {
        ShellWord word = {first[i], words->items[0].line};
        LIST_PUSH(r->arena, torchrun, word);
    }
    for (at++; at < words->count; at++) LIST_PUSH(r->arena, torchrun, words->items[at]);
    launch_words(r, torchrun, where);
}

// "--name axolotl" of a container or a job: what follows is no launcher.
static bool names_something(const char *option) {
    return one_of(option, "--name --job-name -J --container-name --hostname --network --project --queue --experiment "
                          "--image --tag");
}

// "bash -c TEXT", "bash SCRIPT …". False: it names neither.
static bool launch_shell(Reading *r, const ShellWords *words, int at, Where where) {
    for (int i = at + 1; i < words->count; i++) {
        const char *option = words->items[i].text;
        if (option[0] == '-' && option[1] != '-' && strchr(option, 'c') && i + 1 < words->count) {
            ShellWords *told = ARENA_NEW(r->arena, ShellWords);
            for (int k = i + 3; k < words->count; k++) LIST_PUSH(r->arena, told, words->items[k]);
            shell_run_told(r->shell, words->items[i + 1].text, told, where);
            return true;
        }
        if (option[0] == '-') continue;
        run_script(r, words, i, where);
        return true;
    }
    return false;
}

// A program, unless what stands behind Python is a launcher (-m torch.distributed.run): false.
static bool launch_python(Reading *r, const ShellWords *words, int at, Where where) {
    ShellWords rest = {words->items + at, words->count - at, words->count - at};
    const char *next = at + 1 < words->count ? words->items[at + 1].text : "";
    const Launcher *launcher = NULL;
    if (strcmp(next, "-c") == 0) return true;
    for (int i = at + 1; i < words->count; i++) {
        launcher = launcher_named(words->items[i].text);
        if (launcher || words->items[i].text[0] != '-') break;
    }
    if (launcher || is_xpk(next)) return false;
    add_launch(r, &python, &rest, 1, find_program(&rest, 1, &python), where);
    return true;
}

// ray job submit --working-dir DIR --runtime-env-json TEXT -- COMMAND
static void read_ray(Reading *r, const ShellWords *words, Where where) {
    int at = 2;
    for (; at < words->count && strcmp(words->items[at].text, "--") != 0; at++) {
        const char *word = words->items[at].text, *equals = strchr(word, '=');
        const char *value = equals ? equals + 1 : at + 1 < words->count ? words->items[at + 1].text : "", *shown;
        size_t bytes = 0;
        if (strncmp(word, "--runtime-env-json", 18) == 0) take_ray_environment(r, value, where);
        if (strcmp(word, "--runtime-env") == 0) value = reading_near(r, value, where, &bytes, &shown);
        if (strcmp(word, "--runtime-env") == 0 && value) take_ray_environment(r, value, where);
    }
    if (at == words->count) at = next_command(words, 2) - 1;
    ShellWords rest = {words->items + at + 1, words->count - at - 1, words->count - at - 1};
    if (at + 1 < words->count) launch_words(r, &rest, where);
}

// What starts something on machines elsewhere, or in a way of its own.
static bool launch_elsewhere(Reading *r, const ShellWords *words, int at, Where where) {
    const char *base = base_name(words->items[at].text);
    bool first = at == 0, remote = strcmp(base, "ssh") == 0 || strcmp(base, "pdsh") == 0;
    if (first && remote)
        read_remote(r, words, strcmp(base, "pdsh") == 0, where);
    else if (is_xpk(words->items[at].text))
        read_xpk(r, words, at + 1, where);
    else if (first && strcmp(base, "ray") == 0 && words->count > 2 && strcmp(words->items[1].text, "job") == 0)
        read_ray(r, words, where);
    else if (first && strcmp(base, "torchx") == 0)
        read_torchx(r, words, where);
    else
        return false;
    return true;
}

// Words of a command, from `at`: launchers and wrappers are peeled off one by one.
static void launch_from(Reading *r, const ShellWords *words, Where where) {
    int behind = 0; // a launcher's own words
    for (int at = 0; at < words->count; at++) {
        const char *word = words->items[at].text, *base = base_name(word);
        ShellWords rest = {words->items + at, words->count - at, words->count - at};
        const Launcher *launcher = at > 0 && names_something(words->items[at - 1].text) ? NULL : launcher_named(word);
        if (launcher && launcher->follows != A_COMMAND) {
            add_launch(r, launcher, &rest, 1, find_program(&rest, 1, launcher), where);
            return;
        }
        if (launcher) {
            int stop = behind = next_command(words, at + 1);
            if (strcmp(launcher->title, "srun") == 0)
                read_srun(r, words, at + 1, stop, where);
            else
                read_mpirun(r, words, at + 1, stop, where);
        } else if (strcmp(base, "docker") == 0 || strcmp(base, "podman") == 0) {
            read_environment(r, words, words->count, where);
            read_docker_gpus(r, words, words->count, where);
        } else if (is_shell(word)) {
            if (launch_shell(r, words, at, where)) return;
        } else if (file_ends_in(word, ".sh") && (at == 0 || at == behind || strncmp(word, "./", 2) == 0)) {
            int launches = r->launches.count;
            run_script(r, words, at, where);
            if (at == 0 || r->launches.count > launches) return; // else it starts what stands behind it
        } else if (launch_elsewhere(r, words, at, where)) {
            return;
        } else if (is_python(word)) {
            if (launch_python(r, words, at, where)) return;
        } else if ((at == 0 || behind > 0) && file_ends_in(word, ".py")) { // by whatever wraps it
            add_launch(r, &python, &rest, 0, 0, where);
            return;
        }
    }
}

void launch_words(Reading *r, const ShellWords *words, Where where) {
    static const char shows[] = "echo printf cat mkdir ls grep cp rm pip pip3 touch which command module ml cd set "
                                "ulimit trap ln curl wget git hostname conda tee chmod sleep";
    if (words->count == 0) return;
    reading_shell(r);
    bool runs = words->count > 1 && strcmp(words->items[1].text, "run") == 0; // "conda run"
    if (!runs && one_of(base_name(words->items[0].text), shows)) return;
    SaidList outer = r->step;
    launch_from(r, words, where);
    r->step = outer;
}

// ---- Its configurations and its arguments.

static bool names_config(const char *name) {
    return same_one_of(name, "config config_file deepspeed deepspeed_config job.config_file c fsdp_config hparams_file "
                             "yaml config_path cfg train_config ds_config deepspeed_config_file recipe_file");
}

static void take_configs(Reading *r, const SaidList *list) {
    for (int i = 0; i < list->count; i++) {
        const Said *said = &list->items[i];
        bool of_deepspeed = strstr(said->name, "deepspeed") || strstr(said->name, "ds_config"); // whatever its ending
        bool is_path = strpbrk(said->value, "./") && strcmp(said->value, "true") != 0;
        if (names_config(said->name) && (is_config(said->value) || (of_deepspeed && is_path)))
            reading_config(r, said->value, said->where);
    }
    // Hydra: --config-path DIR --config-name NAME
    const Said *path = said_find(list, "config-path"), *name = said_find(list, "config-name");
    if (name) {
        const char *file =
            file_ends_in(name->value, ".yaml") ? name->value : arena_printf(r->arena, "%s.yaml", name->value);
        bool found = path && is_known(path->value) && path->value[0] != '/' &&
                     reading_config(r, arena_printf(r->arena, "%s/%s", path->value, file), name->where);
        if (!found && !reading_config(r, file, name->where))
            reading_config(r, arena_printf(r->arena, "conf/%s", file), name->where);
    }
}

// GPT-NeoX: deepy.py train.py -d DIR one.yml two.yml
static void take_neox(Reading *r, const Launch *launch) {
    if (!strstr(launch->program, "deepy.py")) return;
    const Said *folder = NULL;
    for (int i = 0; i < launch->arguments.count; i++) {
        const Said *said = &launch->arguments.items[i];
        if (strcmp(said->name, "-d") == 0 || strcmp(said->name, "--conf_dir") == 0) folder = said;
    }
    const char *list = folder ? folder->value : NULL;
    if (folder) said_add(r->arena, &r->used, folder->name + 1, list, folder->where, folder->by);
    const char *comma = list ? strchr(list, ',') : NULL;
    const char *dir = comma ? arena_printf(r->arena, "%.*s", (int)(comma - list), list) : list ? list : ".";
    for (const char *at = comma ? comma + 1 : NULL; at && *at;) {
        size_t length = strcspn(at, ",");
        const char *name = arena_printf(r->arena, "%.*s", (int)length, at);
        if (!file_ends_in(name, ".yml") && !file_ends_in(name, ".yaml")) name = arena_printf(r->arena, "%s.yml", name);
        reading_config(r, arena_printf(r->arena, "%s/%s", dir, name), folder->where);
        at += length + (at[length] == ',');
    }
    for (int i = 0; i < launch->arguments.count; i++)
        if (strcmp(launch->arguments.items[i].name, "config") == 0) {
            if (!reading_config(r, arena_printf(r->arena, "%s/%s", dir, launch->arguments.items[i].value),
                                launch->where))
                reading_config(r, launch->arguments.items[i].value, launch->where);
        }
}

static void take_environment(Reading *r) {
    static const char *const prefixes[] = {"NCCL_", "HOROVOD_", "TORCH_", "CUDA_",  "PYTORCH_", "NVTE_",   "FI_",
                                           "UCX_",  "RCCL_",    "XLA_",   "MPICH_", "OMPI_",    "NVSHMEM_"};
    int count;
    const ShellVariable *variables = shell_variables(r->shell, &count);
    for (int i = 0; i < count; i++) {
        bool named = false;
        for (const ImportOption *row = import_tables()->environment; row->spelling && !named; row++)
            named = spelling_means(row->spelling, variables[i].name);
        for (size_t p = 0; p < sizeof prefixes / sizeof *prefixes; p++)
            named = named || strncmp(variables[i].name, prefixes[p], strlen(prefixes[p])) == 0;
        const Said *there = said_find(&r->environment, variables[i].name);
        bool again = there && variables[i].words.count && strcmp(there->value, variables[i].words.items[0].text) == 0;
        if (named && variables[i].exported && variables[i].words.count && !again)
            said_add(r->arena, &r->environment, variables[i].name, variables[i].words.items[0].text, variables[i].where,
                     BY_ENVIRONMENT);
    }
}

// "scripts.base_train", behind -m: its file; NULL: it is no such name.
static const char *module_file(Reading *r, const char *program) {
    size_t length = strspn(program, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.");
    if (!*program || program[length] || length > 200 || strstr(program, "..") || file_ends_in(program, ".py"))
        return NULL;
    char *path = arena_printf(r->arena, "%s.py", program);
    for (char *at = path; at < path + length; at++)
        if (*at == '.') *at = '/';
    return path;
}

// What the program that is started says in its own text, where that lies beside: weaker than what it is told.
static void take_program(Reading *r, const Launch *launch) {
    size_t bytes = 0;
    const char *shown;
    bool is_file = file_ends_in(launch->program, ".py") && strcmp(launch->program, r->file) != 0;
    const char *path = is_file ? launch->program : module_file(r, launch->program);
    const char *text = path ? reading_near(r, path, launch->where, &bytes, &shown) : NULL;
    r->choices = &launch->arguments, r->given = &launch->words;
    if (!text) return;
    read_python_program(r, shown, text, bytes, &launch->arguments);
}

static void list_notes(Reading *r) {
    int count = 0;
    const ShellNote *notes = r->shell ? shell_notes(r->shell, &count) : NULL;
    for (int i = 0; i < count; i++) list_line(r, &r->import->missing, "not known", NULL, notes[i].text, notes[i].where);
}

// --fsdp_config '{"activation_checkpointing": true}': its settings by their names. False: it is no such thing.
static bool take_object(Reading *r, const Said *said) {
    SaidList list = {0};
    Problems *aside = problems_create(r->arena);
    if (said->value[0] != '{' || !is_known(said->value)) return false;
    const Json *tree =
        json_or_yaml_read(r->arena, said->where.file ? said->where.file : "", said->value, strlen(said->value), aside);
    if (!tree || tree->kind != JSON_OBJECT || !said_of_tree(r->arena, &list, tree, BY_COMMAND, aside)) return false;
    bool whole = same_word(said->name, "deepspeed") || same_word(said->name, "deepspeed_config");
    for (int i = 0; i < list.count; i++) {
        const char *own = said->name + strspn(said->name, "-+");
        const char *name =
            whole ? list.items[i].name : arena_printf(r->arena, "%.100s.%.200s", own, list.items[i].name);
        said_add(r->arena, &r->said, name, list.items[i].value, said->where, BY_COMMAND);
    }
    return list.count > 0;
}

static const Launch *best_launch(const Reading *r, int from) {
    const Launch *best = NULL;
    for (int i = from; i < r->launches.count; i++)
        if (!best || r->launches.items[i].weight > best->weight) best = &r->launches.items[i];
    return best;
}

void launch_choose(Reading *r) {
    const Launch *best = best_launch(r, 0);
    list_notes(r);
    if (best && best->machines) r->machines = *best->machines;
    for (int i = 0; best && i < best->step.count; i++) LIST_PUSH(r->arena, &r->machine, best->step.items[i]);
    machines_of_scheduler(r);
    if (r->shell) take_environment(r);
    if (!best) return;
    int before = r->machine.count, launches = r->launches.count;
    take_program(r, best);
    const Launch *started = best->launcher == &python ? best_launch(r, launches) : NULL;
    if (started && started->launcher != &python) { // a program that only starts another
        best = started;
        take_program(r, best);
    }
    r->program = arena_printf(r->arena, "%s %s", best->launcher->title, best->program);
    if (r->machine.count > before) machines_of_scheduler(r); // submitit's executor
    if (best->launcher == &python) machines_of_tasks(r);
    take_configs(r, &best->own);
    take_neox(r, best);
    r->machines.where = best->where;
    if (best->launcher->machines && visible_gpus(r) > 0) r->machines.per_node = visible_gpus(r);
    if (best->launcher->machines) best->launcher->machines(r, best);
    bool configures = strcmp(best->launcher->title, "accelerate") == 0; // its own options are a configuration's
    for (int i = 0; i < best->own.count && !configures; i++)
        if (!names_config(best->own.items[i].name)) LIST_PUSH(r->arena, &r->machine, best->own.items[i]);
    if (!strstr(best->program, "deepy.py")) take_configs(r, &best->arguments);
    for (int i = 0; i < best->arguments.count; i++) {
        const Said *said = &best->arguments.items[i];
        if (said_find(&r->groups, said->name)) continue;
        if (!take_object(r, said)) said_add(r->arena, &r->said, said->name, said->value, said->where, BY_COMMAND);
    }
    if (r->launches.count > 1 && best->weight < 20)
        list_line(r, &r->import->missing, "program", NULL,
                  "several programs are started; this is taken to be the training", best->where);
}

// ---- The script.

// "--nodes 4", "-N 4", but not "--nodes=4" or "-N4".
static bool wants_value(const char *option) {
    bool joined = option[0] == '-' && isalpha((unsigned char)option[1]) && isdigit((unsigned char)option[2]);
    return option[0] == '-' && !strchr(option, '=') && !joined;
}

// What a job reserves is its own: the launches from `first` on have what was said since `said`.
static void keep_job(Reading *r, int first, int said) {
    Machines *machines = ARENA_NEW(r->arena, Machines);
    *machines = r->machines;
    for (int i = first; i < r->launches.count; i++) {
        SaidList step = {0}, *own = &r->launches.items[i].step;
        for (int k = said; k < r->machine.count; k++) LIST_PUSH(r->arena, &step, r->machine.items[k]);
        for (int k = 0; k < own->count; k++) LIST_PUSH(r->arena, &step, own->items[k]);
        *own = step;
        if (!r->launches.items[i].machines) r->launches.items[i].machines = machines;
    }
}

// sbatch OPTIONS SCRIPT, sbatch <<EOT, sbatch --wrap TEXT: its options beat those within.
static void submit(Reading *r, const ShellCommand *command) {
    const ShellWords *words = command->words;
    int at = 1, launches = r->launches.count, said = r->machine.count;
    Machines outer = r->machines;
    while (at < words->count && (words->items[at].text[0] == '-' || wants_value(words->items[at - 1].text))) {
        bool is_script = file_ends_in(words->items[at].text, ".sh") || file_ends_in(words->items[at].text, ".sbatch") ||
                         file_ends_in(words->items[at].text, ".slurm");
        if (is_script && words->items[at].text[0] != '-') break;
        at++;
    }
    SaidList own = {0};
    read_slurm(r, words, 1, at, &own, command->where, BY_COMMAND);
    const char *wrap = said_value(&own, "wrap"), *text = command->input ? command->input : wrap, *shown = "";
    const char *script = at < words->count ? words->items[at].text : NULL;
    size_t bytes = 0;
    if (script) text = reading_near(r, script, command->where, &bytes, &shown);
    if (text) read_directives(r, script ? shown : command->where.file, text);
    for (int i = 0; i < own.count; i++)
        if (!same_word(own.items[i].name, "wrap")) LIST_PUSH(r->arena, &r->machine, own.items[i]);
    set_slurm(r);
    if (script && text)
        run_script(r, words, at, command->where);
    else if (text)
        shell_run_words(r->shell, text, command->where);
    keep_job(r, launches, said);
    r->machine.count = said, r->machines = outer;
    set_slurm(r);
}

// cd DIR: files are then looked for in a folder of that name as well.
static void go_to(Reading *r, const char *folder) {
    const char *name = base_name(folder);
    if (is_known(name) && isalnum((unsigned char)*name) && strlen(name) < 100)
        r->folder = arena_copy_text(r->arena, name);
}

// "bash", "bash -s": the word of a shell whose script stands in a here-document; -1: there is none.
static int shell_that_reads(const ShellWords *words) {
    int at = words->count - 1;
    while (at > 0 && words->items[at].text[0] == '-' && !strchr(words->items[at].text, 'c')) at--;
    return at >= 0 && is_shell(words->items[at].text) ? at : -1;
}

// kubectl apply -f FILE, kubectl apply -f -, sky launch FILE, docker compose up: the file of a job, which others start.
static bool hands_over(Reading *r, const ShellCommand *command) {
    static const char *const tools[][3] = {{"kubectl", "apply", "create"}, {"oc", "apply", "create"},
                                           {"sky", "launch", "exec"},      {"dstack", "apply", "run"},
                                           {"mcli", "run", "run"},         {"docker", "compose", "compose"},
                                           {"det", "experiment", "e"},     {"beaker", "experiment", "create"},
                                           {"docker-compose", "up", "run"}};
    enum { TOOLS = sizeof tools / sizeof *tools };
    const ShellWords *words = command->words;
    const char *path = NULL, *text = NULL, *shown = command->where.file, *first = base_name(words->items[0].text);
    size_t bytes = 0;
    int tool = 0;
    bool does = false;
    while (tool < TOOLS && strcmp(tools[tool][0], first) != 0) tool++;
    for (int i = 1; i < words->count && tool < TOOLS; i++) {
        const char *word = words->items[i].text;
        does = does || strcmp(word, tools[tool][1]) == 0 || strcmp(word, tools[tool][2]) == 0;
        if (strncmp(word, "--filename=", 11) == 0) word += 11;
        if (does && strcmp(word, "-") == 0) text = command->input;
        if (does && !path && (file_ends_in(word, ".yaml") || file_ends_in(word, ".yml") || file_ends_in(word, ".json")))
            path = word;
    }
    if (!does) return false;
    if (!path && strncmp(first, "docker", 6) == 0) path = "docker-compose.yaml";
    if (path) text = reading_near(r, path, command->where, &bytes, &shown);
    if (!text) return false;
    list_line(r, &r->import->taken, first, path ? shown : "-", "what it says", command->where);
    return reading_jobs(r, shown, text, strlen(text), problems_create(r->arena));
}

static void on_command(void *context, Shell *shell, const ShellCommand *command) {
    Reading *r = context;
    const ShellWords *words = command->words;
    const char *first = words->count ? base_name(words->items[0].text) : "";
    if (strcmp(first, "sbatch") == 0) {
        submit(r, command);
        return;
    }
    if (strcmp(first, "cd") == 0 && words->count > 1) go_to(r, words->items[words->count - 1].text);
    if (words->count && hands_over(r, command)) return;
    launch_words(r, words, command->where);
    int reader = command->input ? shell_that_reads(words) : -1;
    if (reader >= 0) {
        SaidList outer = r->step;
        for (int i = 0; i < reader; i++) // what stands before it: srun's
            if (strcmp(base_name(words->items[i].text), "srun") == 0)
                read_srun(r, words, i + 1, reader, command->where);
        shell_run_words(shell, command->input, command->where);
        r->step = outer;
    }
}

void launch_command(Reading *r, const ShellWords *words, const char *input, Where where) {
    on_command(r, reading_shell(r), &(ShellCommand){words, input, where});
}

static const char *read_beside(void *context, const char *path, Where where, size_t *bytes) {
    const char *shown;
    return reading_near(context, path, where, bytes, &shown);
}

static const char *printed_by_python(void *context, const char *text) { return read_python_prints(context, text); }

Shell *reading_shell(Reading *r) {
    if (!r->shell) r->shell = shell_create(r->arena, (ShellHooks){r, on_command, read_beside, printed_by_python});
    return r->shell;
}

void read_shell(Reading *r, const char *file, const char *text, size_t bytes) {
    reading_shell(r);
    read_directives(r, file, text);
    set_slurm(r);
    shell_run(r->shell, file, text, bytes);
}
