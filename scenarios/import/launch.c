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

typedef void MachinesOf(Reading *r, const Launch *launch);
static MachinesOf machines_of_torchrun, machines_of_deepspeed, machines_of_accelerate, machines_of_composer,
    machines_of_colossalai, machines_of_llamafactory, machines_of_axolotl;

typedef enum WhatFollows { A_COMMAND, A_SCRIPT, A_WORD } WhatFollows; // A_SCRIPT: a .py file, or behind -m

struct Launcher {
    const char *name, *title;
    WhatFollows follows;
    MachinesOf *machines; // NULL: as the scheduler says
};

static const Launcher launchers[] = {
    {"torchrun", "torchrun", A_SCRIPT, machines_of_torchrun},
    {"torch.distributed.run", "torchrun", A_SCRIPT, machines_of_torchrun},
    {"torch.distributed.launch", "torchrun", A_SCRIPT, machines_of_torchrun},
    {"deepspeed", "deepspeed", A_SCRIPT, machines_of_deepspeed},
    {"accelerate", "accelerate", A_SCRIPT, machines_of_accelerate},
    {"accelerate-launch", "accelerate", A_SCRIPT, machines_of_accelerate},
    {"composer", "composer", A_SCRIPT, machines_of_composer},
    {"colossalai", "colossalai", A_SCRIPT, machines_of_colossalai},
    {"llamafactory-cli", "llamafactory-cli", A_WORD, machines_of_llamafactory},
    {"axolotl", "axolotl", A_WORD, machines_of_axolotl},
    {"trl", "trl", A_WORD, machines_of_axolotl},
    {"automodel", "automodel", A_WORD, NULL},
    {"lightning", "lightning", A_WORD, NULL},
    {"fabric", "lightning", A_WORD, NULL},
    {"tune", "torchtune", A_WORD, machines_of_torchrun},
    {"litgpt", "litgpt", A_WORD, NULL},
    {"nemo", "nemo", A_WORD, NULL},
    {"srun", "srun", A_COMMAND, NULL},
    {"mpirun", "mpirun", A_COMMAND, NULL},
    {"mpiexec", "mpirun", A_COMMAND, NULL},
    {"mpiexec.hydra", "mpirun", A_COMMAND, NULL},
    {"aprun", "mpirun", A_COMMAND, NULL},
    {"jsrun", "mpirun", A_COMMAND, NULL},
    {"horovodrun", "horovodrun", A_COMMAND, NULL},
};
enum { LAUNCHERS = sizeof launchers / sizeof *launchers };
static const Launcher python = {"python", "python", A_SCRIPT, NULL};

static const Launcher *launcher_named(const char *word) {
    for (int i = 0; i < LAUNCHERS; i++)
        if (strcmp(base_name(word), launchers[i].name) == 0) return &launchers[i];
    return NULL;
}

static bool is_python(const char *word) {
    const char *name = base_name(word);
    return strncmp(name, "python", 6) == 0 && strspn(name + 6, "0123456789.") == strlen(name + 6);
}

static bool is_shell(const char *word) {
    const char *name = base_name(word);
    return strcmp(name, "bash") == 0 || strcmp(name, "sh") == 0 || strcmp(name, "zsh") == 0;
}

static bool is_xpk(const char *word) {
    return strcmp(base_name(word), "xpk") == 0 || strcmp(base_name(word), "xpk.py") == 0;
}

static bool is_config(const char *word) {
    return file_ends_in(word, ".yaml") || file_ends_in(word, ".yml") || file_ends_in(word, ".toml") ||
           file_ends_in(word, ".json") || file_ends_in(word, ".py");
}

// ---- Options of whatever program.

static void add_word(Reading *r, SaidList *list, const char *name, const char *value, int line, Where where) {
    said_add(r->arena, list, name, value, (Where){where.file, line ? line : where.line}, BY_COMMAND);
}

// Of "a,b,c", up to one of the letters.
static int items_of(const char *text, const char *until) {
    int count = 1;
    for (; *text && !strchr(until, *text); text++) count += *text == ',';
    return count;
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

// "--name value …", "--name=value", "key=value"; from `at` on.
static void read_options(Reading *r, const ShellWords *words, int at, SaidList *list, Where where, bool configs) {
    while (at < words->count) {
        const ShellWord *word = &words->items[at++];
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
                   values < 12) {
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

// Options of Slurm by their long names; "-N4" is "-N 4".
static void read_slurm(Reading *r, const ShellWords *words, int begin, int end, SaidList *list, Where where,
                       SaidBy by) {
    static const struct {
        const char *letter, *name;
    } letters[] = {{"-N", "nodes"},     {"-n", "ntasks"},   {"-G", "gpus"},         {"-C", "constraint"},
                   {"-p", "partition"}, {"-J", "job-name"}, {"-t", "time"},         {"-A", "account"},
                   {"-o", "output"},    {"-np", "ntasks"},  {"-c", "cpus-per-task"}};
    SaidList own = {0};
    ShellWords part = {words->items, end, end};
    read_options(r, &part, begin, &own, where, false);
    for (int i = 0; i < own.count; i++) {
        const char *name = own.items[i].name, *value = own.items[i].value;
        bool joined = name[0] == '-' && isalpha((unsigned char)name[1]) && isdigit((unsigned char)name[2]);
        if (joined) value = name + 2, name = arena_printf(r->arena, "%.2s", name);
        for (size_t k = 0; k < sizeof letters / sizeof *letters; k++)
            if (strcmp(name, letters[k].letter) == 0) name = letters[k].name;
        said_add(r->arena, list, name, value, own.items[i].where, by);
    }
}

static void read_srun(Reading *r, const ShellWords *words, int begin, int end, Where where) {
    said_add(r->arena, &r->step, "by_srun", "true", where, BY_COMMAND);
    read_slurm(r, words, begin, end, &r->step, where, BY_COMMAND);
}

// mpirun -x NAME=VALUE, docker -e NAME=VALUE.
static void read_environment(Reading *r, const ShellWords *words, int end, Where where) {
    for (int i = 1; i < end; i++) {
        const char *before = words->items[i - 1].text, *equals = strchr(words->items[i].text, '=');
        bool names = strcmp(before, "-x") == 0 || strcmp(before, "-e") == 0 || strcmp(before, "--env") == 0;
        if (!names || !equals) continue;
        const char *name = arena_printf(r->arena, "%.*s", (int)(equals - words->items[i].text), words->items[i].text);
        said_add(r->arena, &r->environment, name, equals + 1, (Where){where.file, words->items[i].line},
                 BY_ENVIRONMENT);
    }
}

static void read_mpirun(Reading *r, const ShellWords *words, int begin, int end, Where where) {
    static const char *const ranks[] = {"-np", "-n", "--np", "--ntasks"}, *const per_node[] = {"-ppn", "--ppn",
                                                                                               "-npernode",
                                                                                               "--npernode", "-N"};
    for (int i = begin; i + 1 < end; i++) {
        const char *option = words->items[i].text, *value = words->items[i + 1].text;
        for (int k = 0; k < 4; k++)
            if (strcmp(option, ranks[k]) == 0) said_add(r->arena, &r->step, "mpi_ranks", value, where, BY_COMMAND);
        for (int k = 0; k < 5; k++)
            if (strcmp(option, per_node[k]) == 0)
                said_add(r->arena, &r->step, "ranks_per_node", value, where, BY_COMMAND);
        if (strncmp(value, "ppr:", 4) == 0 && strstr(value, ":node"))
            said_add(r->arena, &r->step, "ranks_per_node", arena_printf(r->arena, "%d", atoi(value + 4)), where,
                     BY_COMMAND);
        if (strcmp(option, "-H") == 0 || strcmp(option, "--host") == 0)
            said_add(r->arena, &r->step, "mpi_hosts", value, where, BY_COMMAND);
        if (strcmp(option, "--hostfile") == 0 || strcmp(option, "-hostfile") == 0 ||
            strcmp(option, "-machinefile") == 0 || strcmp(option, "-f") == 0)
            read_hostfile(r, value, where);
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

// The script at words[at], with what stands behind it.
static void run_script(Reading *r, const ShellWords *words, int at, Where where) {
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

// torchx run -s slurm dist.ddp -j 4x8 --script train.py -- OPTIONS
static void read_torchx(Reading *r, const ShellWords *words, Where where) {
    ShellWords *torchrun = ARENA_NEW(r->arena, ShellWords);
    const char *layout = "1x1", *program = NULL;
    int at = 1;
    for (; at + 1 < words->count && strcmp(words->items[at].text, "--") != 0; at++) {
        if (strcmp(words->items[at].text, "-j") == 0) layout = words->items[at + 1].text;
        if (strcmp(words->items[at].text, "--script") == 0) program = words->items[at + 1].text;
    }
    if (!program) return;
    const char *x = strchr(layout, 'x');
    const char *const first[] = {
        "torchrun",         "--nnodes",         arena_printf(r->arena, "%d", x ? atoi(layout) : 1),
        "--nproc_per_node", x ? x + 1 : layout, program};
    for (int i = 0; i < 6; i++) {
        ShellWord word = {first[i], words->items[0].line};
        LIST_PUSH(r->arena, torchrun, word);
    }
    for (at++; at < words->count; at++) LIST_PUSH(r->arena, torchrun, words->items[at]);
    launch_words(r, torchrun, where);
}

// Words of a command, from `at`: launchers and wrappers are peeled off one by one.
static void launch_from(Reading *r, const ShellWords *words, Where where) {
    for (int at = 0; at < words->count; at++) {
        const char *word = words->items[at].text;
        ShellWords rest = {words->items + at, words->count - at, words->count - at};
        const Launcher *launcher = launcher_named(word);
        if (launcher && launcher->follows != A_COMMAND) {
            int program = find_program(&rest, 1, launcher);
            add_launch(r, launcher, &rest, 1, program, where);
            return;
        }
        if (launcher) {
            int stop = next_command(words, at + 1);
            if (strcmp(launcher->name, "srun") == 0)
                read_srun(r, words, at + 1, stop, where);
            else
                read_mpirun(r, words, at + 1, stop, where);
        } else if (strcmp(base_name(word), "docker") == 0 || strcmp(base_name(word), "podman") == 0) {
            read_environment(r, words, words->count, where);
            read_docker_gpus(r, words, words->count, where);
        } else if (is_shell(word)) {
            for (int i = at + 1; i < words->count; i++) {
                const char *option = words->items[i].text;
                if (option[0] == '-' && option[1] != '-' && strchr(option, 'c') && i + 1 < words->count) {
                    shell_run_words(r->shell, words->items[i + 1].text, where);
                    return;
                }
                if (option[0] == '-') continue;
                run_script(r, words, i, where);
                return;
            }
        } else if (at == 0 && file_ends_in(word, ".sh")) {
            run_script(r, words, at, where);
            return;
        } else if (at == 0 && (strcmp(base_name(word), "ssh") == 0 || strcmp(base_name(word), "pdsh") == 0)) {
            read_remote(r, words, strcmp(base_name(word), "pdsh") == 0, where);
            return;
        } else if (is_xpk(word)) {
            read_xpk(r, words, at + 1, where);
            return;
        } else if (at == 0 && strcmp(base_name(word), "torchx") == 0) {
            read_torchx(r, words, where);
            return;
        } else if (is_python(word)) {
            if (at + 1 < words->count && strcmp(words->items[at + 1].text, "-c") == 0) return;
            for (int i = at + 1; i < words->count; i++) {
                const char *option = words->items[i].text;
                launcher = launcher_named(option);
                if (launcher || option[0] != '-') break;
            }
            if (at + 1 < words->count && is_xpk(words->items[at + 1].text)) continue;
            if (launcher) continue; // -m torch.distributed.run
            add_launch(r, &python, &rest, 1, find_program(&rest, 1, &python), where);
            return;
        } else if (at == 0 && file_ends_in(word, ".py")) {
            add_launch(r, &python, words, at, at, where);
            return;
        }
    }
}

void launch_words(Reading *r, const ShellWords *words, Where where) {
    static const char *const shows[] = {"echo", "printf", "cat",      "mkdir",  "ls",    "grep",    "cp",
                                        "rm",   "pip",    "pip3",     "touch",  "which", "command", "module",
                                        "ml",   "cd",     "set",      "ulimit", "trap",  "ln",      "curl",
                                        "wget", "git",    "hostname", "conda",  "tee",   "chmod",   "sleep"};
    if (words->count == 0) return;
    reading_shell(r);
    for (size_t i = 0; i < sizeof shows / sizeof *shows; i++)
        if (strcmp(base_name(words->items[0].text), shows[i]) == 0) return;
    SaidList outer = r->step;
    launch_from(r, words, where);
    r->step = outer;
}

// ---- The machines of a launch.

static double number_or(const char *text, double fallback) {
    char *end;
    double number = text ? strtod(text, &end) : fallback;
    return text && *text && (!*end || *end == ':') ? number : fallback;
}

static double number_of(const SaidList *list, const char *name) { return number_or(said_value(list, name), 0); }

enum { MOST_HOSTS = 50000, MOST_CHOSEN = 4096 };

// "node01 slots=8", "node[1-4]" a line; comments.
void read_hostfile(Reading *r, const char *path, Where where) {
    size_t bytes = 0;
    const char *shown, *text = reading_near(r, path, where, &bytes, &shown);
    double slots = 0;
    if (!text) return;
    r->hosts.count = 0;
    for (const char *at = text; *at;) {
        if (r->hosts.count >= MOST_HOSTS) {
            not_read(r, "a file of hosts has more than 50000 of them", where);
            break;
        }
        size_t length = strcspn(at, "\n"), blanks = strspn(at, " \t");
        const char *slot = memmem(at, length, "slots", 5);
        if (!slot) slot = memmem(at, length, ":", 1); // MPICH
        if (blanks < length && at[blanks] != '#' && at[blanks] != '\r') {
            const char *name = at + blanks, *number = slot;
            while (number && number < at + length && *number != '=' && *number != ':') number++;
            Host host = {arena_printf(r->arena, "%.*s", (int)strcspn(name, " \t\r\n:"), name),
                         number && number < at + length ? atof(number + 1) : 0};
            slots += host.slots;
            LIST_PUSH(r->arena, &r->hosts, host);
        }
        at += length + (at[length] == '\n');
    }
    r->machines.nodes = r->hosts.count;
    if (slots > 0) r->machines.gpus = slots, r->machines.per_node = slots / r->hosts.count;
    r->machines.where = (Where){shown, 0};
    list_line(r, &r->import->taken, "hostfile", path, "its machines", where);
}

static double slots_of(const Reading *r, const char *name, size_t length) {
    for (int i = 0; i < r->hosts.count; i++)
        if (strncmp(r->hosts.items[i].name, name, length) == 0 && !r->hosts.items[i].name[length] &&
            r->hosts.items[i].slots > 0)
            return r->hosts.items[i].slots;
    return r->machines.per_node;
}

static void machines_of_torchrun(Reading *r, const Launch *launch) {
    Machines *m = &r->machines;
    double nodes = number_of(&launch->own, "nnodes"), per_node = number_of(&launch->own, "nproc_per_node");
    if (said_find(&launch->own, "standalone") || (!said_find(&launch->own, "nnodes") && !m->nodes)) nodes = 1;
    if (nodes > 0) m->nodes = nodes;
    if (per_node > 0) m->per_node = per_node;
    if (!said_find(&launch->own, "nproc_per_node") && (m->per_node <= 0 || m->nodes <= 1)) m->per_node = 1;
    m->gpus = m->nodes * m->per_node;
}

// --include node1:0,2@node2: these; --exclude: all but these.
static void choose_machines(Reading *r, const char *chosen, bool are_left_out) {
    Machines *m = &r->machines;
    double nodes = 0, gpus = 0;
    int left = MOST_CHOSEN;
    for (const char *at = chosen; *at && left-- > 0; at += strcspn(at, "@") + (at[strcspn(at, "@")] == '@')) {
        size_t length = strcspn(at, "@"), name = strcspn(at, ":@");
        const char *colon = memchr(at, ':', length);
        nodes += !are_left_out || !colon;
        gpus += colon ? items_of(colon, "@") : slots_of(r, at, name);
    }
    if (left < 0) not_read(r, "more than 4096 machines are chosen by their names", m->where);
    if (are_left_out) nodes = m->nodes - nodes, gpus = m->nodes * m->per_node - gpus;
    if (nodes > 0 && gpus > 0) m->nodes = nodes, m->gpus = gpus, m->per_node = gpus / nodes;
}

static void machines_of_deepspeed(Reading *r, const Launch *launch) {
    Machines *m = &r->machines;
    const char *hosts = said_value(&launch->own, "hostfile"), *include = said_value(&launch->own, "include");
    double nodes = number_of(&launch->own, "num_nodes"), gpus = number_of(&launch->own, "num_gpus");
    if (hosts) read_hostfile(r, hosts, launch->where);
    const char *exclude = said_value(&launch->own, "exclude");
    if (include && is_known(include)) choose_machines(r, include, false);
    if (exclude && is_known(exclude)) choose_machines(r, exclude, true);
    if (nodes > 0) m->nodes = nodes;
    if (gpus > 0) m->per_node = gpus;
    if (!m->nodes) m->nodes = 1;
    const char *visible = shell_value(r->shell, "CUDA_VISIBLE_DEVICES");
    if (visible && is_known(visible) && !hosts && !gpus) m->per_node = items_of(visible, "");
    m->gpus = m->nodes * m->per_node;
}

static void machines_of_composer(Reading *r, const Launch *launch) {
    Machines *m = &r->machines;
    double world = number_of(&launch->own, "world_size"), ranks = number_of(&launch->own, "nproc|n");
    if (world > 0 || ranks > 0) m->gpus = world > 0 ? world : ranks;
    if (ranks > 0) m->per_node = ranks, m->nodes = m->gpus / ranks;
    if (m->nodes <= 0) m->nodes = 1; // all GPUs of this machine
}

static void machines_of_colossalai(Reading *r, const Launch *launch) {
    Machines *m = &r->machines;
    const char *hosts = said_value(&launch->own, "hostfile"), *host = said_value(&launch->own, "host");
    double per_node = number_of(&launch->own, "nproc_per_node");
    if (hosts) read_hostfile(r, hosts, launch->where);
    if (host) m->nodes = items_of(host, "");
    if (per_node > 0) m->per_node = per_node;
    if (!m->nodes) m->nodes = 1;
    m->gpus = m->nodes * m->per_node;
}

static void machines_of_llamafactory(Reading *r, const Launch *launch) {
    (void)launch;
    Machines *m = &r->machines;
    double nodes = number_or(shell_value(r->shell, "NNODES"), 0),
           per_node = number_or(shell_value(r->shell, "NPROC_PER_NODE"), 0);
    m->nodes = nodes > 0 ? nodes : m->nodes > 0 ? m->nodes : 1;
    if (per_node > 0) m->per_node = per_node;
    m->gpus = m->nodes * m->per_node;
}

// axolotl train FILE --launcher torchrun -- --nnodes 2 --nproc_per_node 8
static void machines_of_axolotl(Reading *r, const Launch *launch) {
    Machines *m = &r->machines;
    double nodes = number_of(&launch->arguments, "nnodes|num_machines"),
           per_node = number_of(&launch->arguments, "nproc_per_node"),
           all = number_of(&launch->arguments, "num_processes");
    if (nodes > 0) m->nodes = nodes;
    if (m->nodes <= 0) m->nodes = 1;
    if (per_node > 0) m->per_node = per_node;
    if (all > 0) m->per_node = all / m->nodes;
    m->gpus = m->nodes * m->per_node;
}

// Its options are a table's, as those of its configuration.
static void machines_of_accelerate(Reading *r, const Launch *launch) {
    if (r->machines.nodes <= 0 && !said_find(&r->said, "num_processes") && !said_find(&launch->own, "num_processes"))
        r->machines.nodes = 1;
    for (int i = 0; i < launch->own.count; i++) {
        const Said *said = &launch->own.items[i];
        said_add(r->arena, &r->said, said->name, said->value, said->where, BY_COMMAND);
    }
}

// sbatch and srun: what they reserve; a task a GPU where nobody else starts ranks.
static void machines_of_scheduler(Reading *r) {
    static const char *const words[] = {"gpus_per_node", "gres", "gpus", "gpus_per_task", "constraint", "partition"};
    Machines *m = &r->machines;
    const Said *nodes = said_find(&r->machine, "nodes"), *tasks = said_find(&r->machine, "ntasks_per_node");
    if (nodes) m->nodes = number_or(nodes->value, m->nodes);
    if (tasks) m->tasks_per_node = number_or(tasks->value, 0);
    m->tasks = number_of(&r->machine, "ntasks");
    for (int i = 0; i < 6; i++) {
        const Said *said = said_find(&r->machine, words[i]);
        if (!said || !is_known(said->value)) continue;
        const char *value = said->value, *gres = strstr(value, "gpu");
        if (i == 1 && !gres) continue;
        if (i < 4) {
            const char *colon = strrchr(value, ':');
            double count = number_or(colon ? colon + 1 : value, 0);
            if (i == 2 && count > 0)
                m->gpus = count;
            else if (i == 3 && count > 0 && m->tasks_per_node > 0)
                m->per_node = count * m->tasks_per_node;
            else if (i == 3 && count > 0 && m->tasks > 0 && m->nodes > 0)
                m->per_node = count * m->tasks / m->nodes;
            else if (count > 0)
                m->per_node = count;
            const char *type = i == 1 ? (gres[3] == ':' ? gres + 4 : NULL) : (colon ? value : NULL);
            if (type && !isdigit((unsigned char)*type))
                m->gpu = arena_printf(r->arena, "%.*s", (int)strcspn(type, ":,"), type);
        } else if (!m->gpu) {
            m->gpu = value;
        }
    }
    if (m->tasks > 0 && m->tasks_per_node > 0 && !nodes) m->nodes = m->tasks / m->tasks_per_node;
    if (m->nodes > 0 && m->per_node > 0)
        m->gpus = m->nodes * m->per_node;
    else if (m->gpus > 0 && m->nodes > 0)
        m->per_node = m->gpus / m->nodes;
}

static void machines_of_tasks(Reading *r, const Launch *launch) {
    Machines *m = &r->machines;
    double ranks = number_of(&r->machine, "mpi_ranks"), per_node = number_of(&r->machine, "ranks_per_node");
    const char *hosts = said_value(&r->machine, "mpi_hosts");
    if (launch->launcher != &python) return;
    if (per_node > 0) m->per_node = per_node;
    if (hosts && is_known(hosts)) m->nodes = items_of(hosts, "");
    if (hosts && ranks > 0 && m->nodes > 0) m->per_node = ranks / m->nodes;
    if (ranks > 0) m->gpus = ranks;
    if (ranks > 0 && m->per_node > 0) m->nodes = ranks / m->per_node;
    if (!said_find(&r->machine, "by_srun")) return;
    double tasks = m->tasks > 0 ? m->tasks : m->nodes * m->tasks_per_node;
    if (tasks == m->nodes && m->per_node > 1) return; // one a machine, which starts the rest or has all of its GPUs
    if (tasks > 1 && m->tasks_per_node != 1) m->gpus = tasks;
    if (tasks > 1 && m->nodes > 0 && m->tasks_per_node != 1) m->per_node = tasks / m->nodes;
}

// ---- Its configurations and its arguments.

static bool names_config(const char *name) {
    static const char *const names[] = {"config",
                                        "config_file",
                                        "deepspeed",
                                        "deepspeed_config",
                                        "job.config_file",
                                        "c",
                                        "fsdp_config",
                                        "hparams_file",
                                        "yaml",
                                        "config-path",
                                        "cfg",
                                        "train_config",
                                        "ds_config",
                                        "deepspeed_config_file",
                                        "recipe_file"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (same_word(name, names[i])) return true;
    return false;
}

static void take_configs(Reading *r, const SaidList *list) {
    for (int i = 0; i < list->count; i++) {
        const Said *said = &list->items[i];
        if (names_config(said->name) && is_config(said->value)) reading_config(r, said->value, said->where);
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
    static const char *const prefixes[] = {"NCCL_", "HOROVOD_", "TORCH_", "CUDA_", "OMP_NUM", "PYTORCH_",
                                           "NVTE_", "MASTER_",  "FI_",    "UCX_",  "RCCL_",   "XLA_"};
    int count;
    const ShellVariable *variables = shell_variables(r->shell, &count);
    for (int i = 0; i < count; i++) {
        bool named = false;
        for (size_t p = 0; p < sizeof prefixes / sizeof *prefixes; p++)
            named = named || strncmp(variables[i].name, prefixes[p], strlen(prefixes[p])) == 0;
        const Said *there = said_find(&r->environment, variables[i].name);
        bool again = there && variables[i].words.count && strcmp(there->value, variables[i].words.items[0].text) == 0;
        if (named && variables[i].exported && variables[i].words.count && !again)
            said_add(r->arena, &r->environment, variables[i].name, variables[i].words.items[0].text, variables[i].where,
                     BY_ENVIRONMENT);
    }
}

// What the program that is started says in its own text, where that lies beside: weaker than what it is told.
static void take_program(Reading *r, const Launch *launch) {
    size_t bytes = 0;
    const char *shown;
    bool is_file = file_ends_in(launch->program, ".py") && strcmp(launch->program, r->file) != 0;
    const char *text = is_file ? reading_near(r, launch->program, launch->where, &bytes, &shown) : NULL;
    if (text) read_python_program(r, shown, text, bytes, &launch->arguments);
}

static void list_notes(Reading *r) {
    int count = 0;
    const ShellNote *notes = r->shell ? shell_notes(r->shell, &count) : NULL;
    for (int i = 0; i < count; i++) list_line(r, &r->import->missing, "not known", NULL, notes[i].text, notes[i].where);
}

void launch_choose(Reading *r) {
    const Launch *best = NULL;
    list_notes(r);
    for (int i = 0; i < r->launches.count; i++)
        if (!best || r->launches.items[i].weight > best->weight) best = &r->launches.items[i];
    if (best && best->machines) r->machines = *best->machines;
    for (int i = 0; best && i < best->step.count; i++) LIST_PUSH(r->arena, &r->machine, best->step.items[i]);
    machines_of_scheduler(r);
    if (r->shell) take_environment(r);
    if (!best) return;
    r->program = arena_printf(r->arena, "%s %s", best->launcher->title, best->program);
    take_program(r, best);
    machines_of_tasks(r, best);
    take_configs(r, &best->own);
    take_neox(r, best);
    r->machines.where = best->where;
    if (best->launcher->machines) best->launcher->machines(r, best);
    bool configures = strcmp(best->launcher->title, "accelerate") == 0; // its own options are a configuration's
    for (int i = 0; i < best->own.count && !configures; i++)
        if (!names_config(best->own.items[i].name)) LIST_PUSH(r->arena, &r->machine, best->own.items[i]);
    if (!strstr(best->program, "deepy.py")) take_configs(r, &best->arguments);
    for (int i = 0; i < best->arguments.count; i++) {
        const Said *said = &best->arguments.items[i];
        said_add(r->arena, &r->said, said->name, said->value, said->where, BY_COMMAND);
    }
    if (r->launches.count > 1 && best->weight < 20)
        list_line(r, &r->import->missing, "program", NULL,
                  "several programs are started; this is taken to be the training", best->where);
}

// ---- The script.

static void read_directives(Reading *r, const char *file, const char *text);
static void set_slurm(Reading *r);

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

static void on_command(void *context, Shell *shell, const ShellCommand *command) {
    Reading *r = context;
    const ShellWords *words = command->words;
    const char *first = words->count ? base_name(words->items[0].text) : "";
    if (strcmp(first, "sbatch") == 0) {
        submit(r, command);
        return;
    }
    if (command->input && words->count > 0 && is_shell(words->items[words->count - 1].text)) {
        SaidList outer = r->step;
        for (int i = 0; i < words->count; i++) // what stands before it: srun's
            if (strcmp(base_name(words->items[i].text), "srun") == 0)
                read_srun(r, words, i + 1, words->count - 1, command->where);
        shell_run_words(shell, command->input, command->where);
        r->step = outer;
    }
    launch_words(r, words, command->where);
}

static const char *read_beside(void *context, const char *path, Where where, size_t *bytes) {
    const char *shown;
    return reading_near(context, path, where, bytes, &shown);
}

Shell *reading_shell(Reading *r) {
    if (!r->shell) r->shell = shell_create(r->arena, (ShellHooks){r, on_command, read_beside});
    return r->shell;
}

void set_number(Reading *r, const char *name, double value) {
    if (value > 0) shell_set(reading_shell(r), name, arena_printf(r->arena, "%.0f", value), (Where){0}, false);
}

// #PBS -l select=4:ncpus=64:ngpus=8, -l nodes=4:ppn=8:gpus=8
static void read_pbs(Reading *r, const char *line, Where where) {
    static const struct {
        const char *head, *name;
    } parts[] = {{"select=", "nodes"}, {"nodes=", "nodes"}, {":ngpus=", "gpus-per-node"}, {":gpus=", "gpus-per-node"}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const char *at = strstr(line, parts[i].head);
        int number = at ? atoi(at + strlen(parts[i].head)) : 0;
        if (number > 0)
            said_add(r->arena, &r->machine, parts[i].name, arena_printf(r->arena, "%d", number), where, BY_MACHINES);
    }
    const char *type = strstr(line, "gpu_type=");
    if (type)
        said_add(r->arena, &r->machine, "constraint",
                 arena_printf(r->arena, "%.*s", (int)strcspn(type + 9, ": \t"), type + 9), where, BY_MACHINES);
}

// They stand before the first command.
static void read_directives(Reading *r, const char *file, const char *text) {
    int line = 1;
    for (const char *at = text; *at && strchr("#\n", at[strspn(at, " \t\r")]); line++) {
        size_t length = strcspn(at, "\n");
        bool pbs = strncmp(at, "#PBS", 4) == 0;
        if (strncmp(at, "#SBATCH", 7) == 0 || pbs) {
            const char *rest =
                arena_printf(r->arena, "%.*s", (int)(length > 500 ? 493 : length - (pbs ? 4 : 7)), at + (pbs ? 4 : 7));
            const char *comment = strstr(rest, " #");
            ShellWords words = {0};
            shell_expand_words(r->shell, rest, comment ? comment : rest + strlen(rest), line, &words);
            if (strncmp(rest + strspn(rest, " \t"), "hetjob", 6) == 0 ||
                strncmp(rest + strspn(rest, " \t"), "packjob", 7) == 0)
                break; // the first part has the ranks
            if (pbs)
                read_pbs(r, rest, (Where){file, line});
            else
                read_slurm(r, &words, 0, words.count, &r->machine, (Where){file, line}, BY_MACHINES);
        }
        at += length + (at[length] == '\n');
    }
}

static void set_slurm(Reading *r) {
    machines_of_scheduler(r);
    Machines *m = &r->machines;
    if (r->machine.count == 0) return;
    double tasks = m->tasks > 0 ? m->tasks : m->nodes * (m->tasks_per_node > 0 ? m->tasks_per_node : 1);
    set_number(r, "SLURM_NNODES", m->nodes);
    set_number(r, "SLURM_JOB_NUM_NODES", m->nodes);
    set_number(r, "SLURM_NTASKS", tasks);
    set_number(r, "SLURM_NPROCS", tasks);
    set_number(r, "SLURM_NTASKS_PER_NODE", m->tasks_per_node);
    set_number(r, "SLURM_GPUS_ON_NODE", m->per_node);
    set_number(r, "SLURM_GPUS_PER_NODE", m->per_node);
    set_number(r, "SLURM_GPUS", m->gpus);
    set_number(r, "SLURM_TASKS_PER_NODE", m->tasks_per_node);
    set_number(r, "PBS_NUM_NODES", m->nodes);
}

void read_shell(Reading *r, const char *file, const char *text, size_t bytes) {
    reading_shell(r);
    read_directives(r, file, text);
    set_slurm(r);
    shell_run(r->shell, file, text, bytes);
}
