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
    machines_of_colossalai, machines_of_llamafactory;

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
    {"axolotl", "axolotl", A_WORD, NULL},
    {"automodel", "automodel", A_WORD, NULL},
    {"lightning", "lightning", A_WORD, NULL},
    {"fabric", "lightning", A_WORD, NULL},
    {"tune", "torchtune", A_WORD, machines_of_torchrun},
    {"litgpt", "litgpt", A_WORD, NULL},
    {"srun", "srun", A_COMMAND, NULL},
    {"mpirun", "mpirun", A_COMMAND, NULL},
    {"mpiexec", "mpirun", A_COMMAND, NULL},
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

static bool is_config(const char *word) {
    return file_ends_in(word, ".yaml") || file_ends_in(word, ".yml") || file_ends_in(word, ".toml") ||
           file_ends_in(word, ".json");
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
                   !(values && strchr(words->items[at].text, '=')) && values < 12) {
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
    if (r->launches.count < 64) LIST_PUSH(r->arena, &r->launches, launch);
}

static void read_srun(Reading *r, const ShellWords *words, int begin, int end, Where where) {
    static const struct {
        const char *letter, *name;
    } letters[] = {{"-N", "--nodes"}, {"-n", "--ntasks"}, {"-G", "--gpus"}, {"-np", "--ntasks"}};
    SaidList own = {0};
    ShellWords part = {words->items, end, end};
    said_add(r->arena, &r->machine, "by_srun", "true", where, BY_COMMAND);
    read_options(r, &part, begin, &own, where, false);
    for (int i = 0; i < own.count; i++) {
        const char *name = own.items[i].name;
        for (int k = 0; k < 4; k++)
            if (strcmp(name, letters[k].letter) == 0) name = letters[k].name;
        said_add(r->arena, &r->machine, name, own.items[i].value, own.items[i].where, BY_COMMAND);
    }
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
    for (int i = begin; i + 1 < end; i++) {
        const char *option = words->items[i].text, *value = words->items[i + 1].text;
        if (strcmp(option, "-np") == 0 || strcmp(option, "-n") == 0 || strcmp(option, "--np") == 0)
            said_add(r->arena, &r->machine, "mpi_ranks", value, where, BY_COMMAND);
        if (strcmp(option, "-H") == 0) said_add(r->arena, &r->machine, "mpi_hosts", value, where, BY_COMMAND);
        if (strcmp(option, "--hostfile") == 0) read_hostfile(r, value, where);
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
        } else if (strcmp(base_name(word), "ssh") == 0 && at == 0) {
            shell_run_words(r->shell, shell_joined(r->shell, words, 2), where);
            return;
        } else if (is_python(word)) {
            if (at + 1 < words->count && strcmp(words->items[at + 1].text, "-c") == 0) return;
            for (int i = at + 1; i < words->count; i++) {
                const char *option = words->items[i].text;
                launcher = launcher_named(option);
                if (launcher || option[0] != '-') break;
            }
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
    launch_from(r, words, where);
}

// ---- The machines of a launch.

static double number_or(const char *text, double fallback) {
    char *end;
    double number = text ? strtod(text, &end) : fallback;
    return text && *text && (!*end || *end == ':') ? number : fallback;
}

static double number_of(const SaidList *list, const char *name) { return number_or(said_value(list, name), 0); }

// "node01 slots=8", "node[1-4]" a line; comments.
void read_hostfile(Reading *r, const char *path, Where where) {
    size_t bytes = 0;
    const char *shown, *text = is_known(path) ? reading_file(r, path, where, &bytes, &shown) : NULL;
    double hosts = 0, slots = 0;
    if (!text) return;
    for (const char *at = text; *at;) {
        size_t length = strcspn(at, "\n"), blanks = strspn(at, " \t");
        const char *slot = memmem(at, length, "slots", 5);
        if (blanks < length && at[blanks] != '#') {
            hosts++;
            if (slot && strpbrk(slot, "=")) slots += atof(strpbrk(slot, "=") + 1);
        }
        at += length + (at[length] == '\n');
    }
    r->machines.nodes = hosts;
    if (slots > 0) r->machines.gpus = slots, r->machines.per_node = slots / hosts;
    r->machines.where = (Where){shown, 0};
    list_line(r, &r->import->taken, "hostfile", path, "its machines", where);
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

// --include node1:0,2@node2
static void include_machines(Machines *m, const char *include) {
    double nodes = 0, gpus = 0;
    for (const char *at = include; *at; at += strcspn(at, "@") + (at[strcspn(at, "@")] == '@')) {
        const char *colon = memchr(at, ':', strcspn(at, "@"));
        nodes++, gpus += colon ? items_of(colon, "@") : m->per_node;
    }
    if (nodes > 0) m->nodes = nodes, m->gpus = gpus, m->per_node = gpus / nodes;
}

static void machines_of_deepspeed(Reading *r, const Launch *launch) {
    Machines *m = &r->machines;
    const char *hosts = said_value(&launch->own, "hostfile"), *include = said_value(&launch->own, "include");
    double nodes = number_of(&launch->own, "num_nodes"), gpus = number_of(&launch->own, "num_gpus");
    if (hosts) read_hostfile(r, hosts, launch->where);
    if (include) include_machines(m, include);
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
    m->gpus = world > 0 ? world : ranks;
    if (ranks > 0) m->per_node = ranks, m->nodes = m->gpus / ranks;
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

// Its options are a table's, as those of its configuration.
static void machines_of_accelerate(Reading *r, const Launch *launch) {
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
    double ranks = number_of(&r->machine, "mpi_ranks");
    if (launch->launcher != &python) return;
    if (ranks > 0) m->gpus = ranks;
    if (ranks > 0 && m->per_node > 0) m->nodes = ranks / m->per_node;
    if (!said_find(&r->machine, "by_srun")) return;
    double tasks = m->tasks > 0 ? m->tasks : m->nodes * m->tasks_per_node;
    if (tasks > 1 && m->tasks_per_node != 1) m->gpus = tasks;
    if (tasks > 1 && m->nodes > 0 && m->tasks_per_node != 1) m->per_node = tasks / m->nodes;
}

// ---- Its configurations and its arguments.

static bool names_config(const char *name) {
    static const char *const names[] = {"config",          "config_file", "deepspeed",   "deepspeed_config",
                                        "job.config_file", "c",           "fsdp_config", "hparams_file"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (same_word(name, names[i])) return true;
    return false;
}

static void take_configs(Reading *r, const SaidList *list) {
    for (int i = 0; i < list->count; i++) {
        const Said *said = &list->items[i];
        if (names_config(said->name) && is_config(said->value) && is_known(said->value))
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
    machines_of_scheduler(r);
    if (!best) return;
    r->program = arena_printf(r->arena, "%s %s", best->launcher->title, best->program);
    machines_of_tasks(r, best);
    take_configs(r, &best->own);
    take_neox(r, best);
    r->machines.where = best->where;
    if (best->launcher->machines) best->launcher->machines(r, best);
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

static void on_command(void *context, Shell *shell, const ShellCommand *command) {
    Reading *r = context;
    const ShellWords *words = command->words;
    if (command->input && words->count > 0 && is_shell(words->items[words->count - 1].text))
        shell_run_words(shell, command->input, command->where);
    launch_words(r, words, command->where);
}

static const char *read_beside(void *context, const char *path, Where where, size_t *bytes) {
    const char *shown;
    return reading_file(context, path, where, bytes, &shown);
}

Shell *reading_shell(Reading *r) {
    if (!r->shell) r->shell = shell_create(r->arena, (ShellHooks){r, on_command, read_beside});
    return r->shell;
}

void set_number(Reading *r, const char *name, double value) {
    if (value > 0) shell_set(reading_shell(r), name, arena_printf(r->arena, "%.0f", value), (Where){0}, false);
}

static void read_directives(Reading *r, const char *file, const char *text) {
    static const struct {
        const char *letter, *name;
    } letters[] = {{"-N", "nodes"},    {"-n", "ntasks"}, {"-G", "gpus"},    {"-C", "constraint"}, {"-p", "partition"},
                   {"-J", "job-name"}, {"-t", "time"},   {"-A", "account"}, {"-o", "output"}};
    int line = 1;
    for (const char *at = text; *at; line++) {
        size_t length = strcspn(at, "\n");
        if (strncmp(at, "#SBATCH", 7) == 0) {
            const char *rest = arena_printf(r->arena, "%.*s", (int)(length > 500 ? 493 : length - 7), at + 7);
            const char *comment = strstr(rest, " #");
            ShellWords words = {0};
            shell_expand_words(r->shell, rest, comment ? comment : rest + strlen(rest), line, &words);
            SaidList list = {0};
            read_options(r, &words, 0, &list, (Where){file, line}, false);
            for (int i = 0; i < list.count; i++) {
                const char *name = list.items[i].name;
                for (size_t k = 0; k < sizeof letters / sizeof *letters; k++)
                    if (strcmp(name, letters[k].letter) == 0) name = letters[k].name;
                said_add(r->arena, &r->machine, name, list.items[i].value, list.items[i].where, BY_MACHINES);
            }
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
        if (named && variables[i].exported && variables[i].words.count)
            said_add(r->arena, &r->environment, variables[i].name, variables[i].words.items[0].text, variables[i].where,
                     BY_ENVIRONMENT);
    }
}

void read_shell(Reading *r, const char *file, const char *text, size_t bytes) {
    reading_shell(r);
    read_directives(r, file, text);
    set_slurm(r);
    shell_run(r->shell, file, text, bytes);
    take_environment(r);
}
