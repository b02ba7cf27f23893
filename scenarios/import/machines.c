// How many machines with how many GPUs: by what schedulers reserve, files of hosts, launchers' own options, and, of a
// GPU that nothing else names, comments.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "models/hardware/hardware.h"
#include "scenarios/import/reading.h"
#include "sim/base/list.h"

int items_of(const char *text, const char *until) {
    int count = 1;
    for (; *text && !strchr(until, *text); text++) count += *text == ',';
    return count;
}

// Options of Slurm by their long names; "-N4" is "-N 4".
void read_slurm(Reading *r, const ShellWords *words, int begin, int end, SaidList *list, Where where, SaidBy by) {
    static const struct {
        const char *letter, *name;
    } letters[] = {{"-N", "nodes"},         {"-n", "ntasks"},        {"-G", "gpus"},
                   {"-C", "constraint"},    {"-p", "partition"},     {"-J", "job-name"},
                   {"-t", "time"},          {"-A", "account"},       {"-o", "output"},
                   {"-np", "ntasks"},       {"-c", "cpus-per-task"}, {"--tasks-per-node", "ntasks-per-node"},
                   {"-g", "gpus-per-task"}, {"-a", "array"}};
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
    bool known = true; // a script that writes a line for each machine of the scheduler's
    for (int i = 0; i < r->hosts.count; i++) known = known && is_known(r->hosts.items[i].name);
    double each = r->hosts.count > 0 ? slots / r->hosts.count : 0;
    if (known || r->machines.nodes <= 0) r->machines.nodes = r->hosts.count;
    if (slots > 0) r->machines.gpus = r->machines.nodes * each, r->machines.per_node = each;
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

double visible_gpus(Reading *r) {
    const char *visible = r->shell ? shell_value(r->shell, "CUDA_VISIBLE_DEVICES") : NULL;
    return visible && *visible && is_known(visible) ? items_of(visible, "") : 0;
}

// More than the scheduler reserves, or than is visible, cannot start.
static void check_reserved(Reading *r, double nodes, double per_node, Where where) {
    const struct {
        double wanted, there;
        const char *what, *option;
    } limits[] = {
        {nodes, number_or(shell_value(r->shell, "SLURM_NNODES"), 0), "machines", "--nnodes"},
        {per_node, number_or(shell_value(r->shell, "SLURM_GPUS_ON_NODE"), 0), "GPUs a machine", "--nproc_per_node"},
        {per_node, visible_gpus(r), "GPUs by CUDA_VISIBLE_DEVICES", "--nproc_per_node"}};
    for (int i = 0; i < 3 && !r->asked->gpus; i++) {
        if (limits[i].there <= 0 || limits[i].wanted <= limits[i].there) continue;
        problem_add(r->problems, where, "%s is %.0f, and there are %.0f %s: it cannot start", limits[i].option,
                    limits[i].wanted, limits[i].there, limits[i].what);
        problem_hint(r->problems, "numbers must agree; --gpus N says how many there are");
    }
}

void machines_of_torchrun(Reading *r, const Launch *launch) {
    Machines *m = &r->machines;
    double nodes = number_of(&launch->own, "nnodes"), per_node = number_of(&launch->own, "nproc_per_node");
    check_reserved(r, nodes, per_node, launch->where);
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

void machines_of_deepspeed(Reading *r, const Launch *launch) {
    Machines *m = &r->machines;
    const char *hosts = said_value(&launch->own, "hostfile"), *include = said_value(&launch->own, "include");
    double nodes = number_of(&launch->own, "num_nodes"), gpus = number_of(&launch->own, "num_gpus");
    if (hosts) read_hostfile(r, hosts, launch->where);
    const char *exclude = said_value(&launch->own, "exclude");
    if (include && is_known(include)) choose_machines(r, include, false);
    if (exclude && is_known(exclude)) choose_machines(r, exclude, true);
    if (nodes > 0 && (r->hosts.count == 0 || nodes < r->hosts.count)) m->nodes = nodes; // the first of them
    if (gpus > 0) m->per_node = gpus;
    if (!m->nodes) m->nodes = 1;
    m->gpus = m->nodes * m->per_node;
}

void machines_of_composer(Reading *r, const Launch *launch) {
    Machines *m = &r->machines;
    double world = number_of(&launch->own, "world_size"), ranks = number_of(&launch->own, "nproc|n");
    if (world > 0 || ranks > 0) m->gpus = world > 0 ? world : ranks;
    if (ranks > 0) m->per_node = ranks, m->nodes = m->gpus / ranks;
    if (m->nodes <= 0) m->nodes = 1; // all GPUs of this machine
}

void machines_of_colossalai(Reading *r, const Launch *launch) {
    Machines *m = &r->machines;
    const char *hosts = said_value(&launch->own, "hostfile"), *host = said_value(&launch->own, "host");
    double per_node = number_of(&launch->own, "nproc_per_node");
    if (hosts) read_hostfile(r, hosts, launch->where);
    if (host) m->nodes = items_of(host, "");
    if (per_node > 0) m->per_node = per_node;
    if (!m->nodes) m->nodes = 1;
    m->gpus = m->nodes * m->per_node;
}

// One rank a GPU: the scheduler's, or all of this machine that are visible.
void machines_of_ranks(Reading *r, const Launch *launch) {
    Machines *m = &r->machines;
    (void)launch;
    machines_of_tasks(r);
    if (m->nodes <= 0) m->nodes = 1;
    if (m->per_node > 0 && m->gpus <= 0) m->gpus = m->nodes * m->per_node;
}

void machines_of_llamafactory(Reading *r, const Launch *launch) {
    (void)launch;
    Machines *m = &r->machines;
    double nodes = number_or(shell_value(r->shell, "NNODES"), 0),
           per_node = number_or(shell_value(r->shell, "NPROC_PER_NODE"), 0);
    m->nodes = nodes > 0 ? nodes : m->nodes > 0 ? m->nodes : 1;
    if (per_node > 0) m->per_node = per_node;
    m->gpus = m->nodes * m->per_node;
}

// axolotl train FILE --launcher torchrun -- --nnodes 2 --nproc_per_node 8
void machines_of_axolotl(Reading *r, const Launch *launch) {
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

// "trl dpo": how it is trained is the word behind the program.
void machines_of_trl(Reading *r, const Launch *launch) {
    machines_of_axolotl(r, launch);
    said_add(r->arena, &r->said, "training_arguments", launch->program, launch->where, BY_COMMAND);
}

// Its options are a table's, as those of its configuration.
void machines_of_accelerate(Reading *r, const Launch *launch) {
    if (r->machines.nodes <= 0 && !said_find(&r->said, "num_processes") && !said_find(&launch->own, "num_processes"))
        r->machines.nodes = 1;
    for (int i = 0; i < launch->own.count; i++) {
        const Said *said = &launch->own.items[i];
        said_add(r->arena, &r->said, said->name, said->value, said->where, BY_COMMAND);
    }
}

// sbatch and srun: what they reserve; a task a GPU where nobody else starts ranks.
void machines_of_scheduler(Reading *r) {
    static const char *const words[] = {"gpus_per_node|slurm_gpus_per_node", "gres|slurm_gres", "gpus", "gpus_per_task",
                                        "constraint|slurm_constraint",       "partition"};
    Machines *m = &r->machines;
    const Said *nodes = said_find(&r->machine, "nodes"),
               *tasks = said_find(&r->machine, "ntasks_per_node|tasks_per_node|slurm_ntasks_per_node");
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
            if (type && isalpha((unsigned char)type[strspn(type, "0123456789")]))
                m->gpu = arena_printf(r->arena, "%.*s", (int)strcspn(type, ":,"), type), m->gpu_perhaps = false;
        } else if (!m->gpu || m->gpu_perhaps) {
            const char *other = m->gpu_perhaps ? m->gpu : NULL; // the partition beside the constraint
            m->gpu = other && strcmp(other, value) != 0 ? arena_printf(r->arena, "%.200s,%.200s", other, value) : value;
            m->gpu_perhaps = true;
        }
    }
    if (m->tasks > 0 && m->tasks_per_node > 0 && !nodes) m->nodes = m->tasks / m->tasks_per_node;
    if (m->nodes <= 0 && m->gpus > 0 && m->per_node > 0) m->nodes = m->gpus / m->per_node;
    if (m->nodes > 0 && m->per_node > 0)
        m->gpus = m->nodes * m->per_node;
    else if (m->gpus > 0 && m->nodes > 0)
        m->per_node = m->gpus / m->nodes;
}

void machines_of_tasks(Reading *r) {
    Machines *m = &r->machines;
    double ranks = number_of(&r->machine, "mpi_ranks"), per_node = number_of(&r->machine, "ranks_per_node");
    const char *hosts = said_value(&r->machine, "mpi_hosts");
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

// ---- What scripts reserve.

void set_number(Reading *r, const char *name, double value) {
    if (value > 0) shell_set(reading_shell(r), name, arena_printf(r->arena, "%.0f", value), (Where){0}, false);
}

// Schedulers that are no Slurm: what their lines say, by the words that stand before a number, or a GPU's name.
static const struct Scheduler {
    const char *mark;
    struct {
        const char *head, *name;
    } numbers[8];
    const char *types[5];
} schedulers[] = {
    {"#PBS", // -l select=4:ncpus=64:ngpus=8:gpu_model=a100, -l nodes=4:ppn=8:gpus=8, -J 1-6
     {{"select=", "nodes"},
      {"nodes=", "nodes"},
      {":ngpus=", "gpus-per-node"},
      {":gpus=", "gpus-per-node"},
      {"-J ", "array"},
      {"-t ", "array"}},
     {"gpu_type=", "gpu_model=", "gputype=", "accelerator", "system="}},
    {"#BSUB", // -n 16 -R "span[ptile=4]" -gpu "num=4:gmodel=NVIDIAA100", -nnodes 6
     {{"-nnodes ", "nodes"}, {"ptile=", "ntasks-per-node"}, {"num=", "gpus-per-node"}, {"-n ", "ntasks"}},
     {"gmodel=", "gpu_model0==", "gpu_model=="}},
    {"#COBALT", {{"-n ", "nodes"}}, {NULL}},
    {"#PJM", {{"node=", "nodes"}, {"gpu=", "gpus-per-node"}}, {NULL}},                              // -L node=4
    {"#OAR", {{"host=", "nodes"}, {"nodes=", "nodes"}, {"gpu=", "gpus-per-node"}}, {"gpu_model="}}, // -l host=2/gpu=4
    {"#$ ", {{"gpu=", "gpus-per-node"}, {"gpus=", "gpus-per-node"}, {"-t ", "array"}}, {"gpu_type=", "gpu_c="}},
};
enum { SCHEDULERS = sizeof schedulers / sizeof *schedulers };

static void read_scheduler(Reading *r, const struct Scheduler *scheduler, const char *line, Where where) {
    for (int i = 0; i < 8 && scheduler->numbers[i].head; i++) {
        const char *at = strstr(line, scheduler->numbers[i].head);
        int number = at ? atoi(at + strlen(scheduler->numbers[i].head)) : 0;
        if (number > 0)
            said_add(r->arena, &r->machine, scheduler->numbers[i].name, arena_printf(r->arena, "%d", number), where,
                     BY_MACHINES);
    }
    for (int i = 0; i < 5 && scheduler->types[i]; i++) {
        const char *type = strstr(line, scheduler->types[i]);
        if (!type) continue;
        type += strcspn(type, "=");
        type += strspn(type, "=\"' ");
        if (isalpha((unsigned char)*type))
            said_add(r->arena, &r->machine, "constraint",
                     arena_printf(r->arena, "%.*s", (int)strcspn(type, ":\"',] \t"), type), where, BY_MACHINES);
    }
}

// They stand before the first command.
// Of a job in parts the first that asks for GPUs has the ranks; where none does, the first.
static bool asks_for_gpus(const SaidList *list, int from) {
    for (int i = from; i < list->count; i++)
        if (strcasestr(list->items[i].name, "gpu") || strcasestr(list->items[i].value, "gpu")) return true;
    return false;
}

void read_directives(Reading *r, const char *file, const char *text) {
    int line = 1, before = r->machine.count;
    bool more = strstr(text, "hetjob") || strstr(text, "packjob");
    for (const char *at = text; *at && strchr("#\n", at[strspn(at, " \t\r")]); line++) {
        size_t length = strcspn(at, "\n");
        int other = 0;
        while (other < SCHEDULERS && strncmp(at, schedulers[other].mark, strlen(schedulers[other].mark)) != 0) other++;
        size_t head = other < SCHEDULERS                  ? strlen(schedulers[other].mark)
                      : strncmp(at, "#SBATCH", 7) == 0    ? 7
                      : strncasecmp(at, "#flux:", 6) == 0 ? 6
                                                          : 0;
        if (head) {
            const char *rest = arena_printf(r->arena, "%.*s", (int)(length > 500 ? 493 : length - head), at + head);
            const char *comment = strstr(rest, " #");
            ShellWords words = {0};
            shell_expand_words(r->shell, rest, comment ? comment : rest + strlen(rest), line, &words);
            bool part_ends = more && (strncmp(rest + strspn(rest, " \t"), "hetjob", 6) == 0 ||
                                      strncmp(rest + strspn(rest, " \t"), "packjob", 7) == 0);
            if (part_ends && asks_for_gpus(&r->machine, before)) break;
            if (part_ends) r->machine.count = before;
            if (other < SCHEDULERS)
                read_scheduler(r, &schedulers[other], rest, (Where){file, line});
            else
                read_slurm(r, &words, 0, words.count, &r->machine, (Where){file, line}, BY_MACHINES);
        }
        at += length + (at[length] == '\n');
    }
}

void set_slurm(Reading *r) {
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
    set_number(r, "LSB_NODES", m->nodes);
    const char *array = said_value(&r->machine, "array"); // the first of its tasks
    static const char *const indices[] = {"SLURM_ARRAY_TASK_ID", "PBS_ARRAY_INDEX", "SGE_TASK_ID"};
    for (int i = 0; array && i < 3; i++)
        shell_set(reading_shell(r), indices[i], arena_printf(r->arena, "%d", atoi(array)), (Where){0}, false);
    static const char *const ranks[] = {"SLURM_PROCID", "SLURM_LOCALID", "SLURM_NODEID"}; // of the script itself
    for (int i = 0; i < 3; i++)
        if (!shell_value(reading_shell(r), ranks[i])) shell_set(reading_shell(r), ranks[i], "0", (Where){0}, false);
}

// ---- Comments.

enum { BYTES_READ = 64 << 10, LONGEST_WORD = 40 }; // of each file

typedef struct Remark {
    const char *gpu; // as it is written, with its memory; NULL: none was found
    size_t core;     // letters that name its type
    Where where;
    bool contradicted; // by another type
} Remark;

static size_t core_length(const char *name) { return strcspn(name, "-_"); }

static bool is_gpu(const Catalogue *catalogue, const char *word) {
    size_t core = core_length(word);
    for (int i = 0; i < catalogue->gpu_count; i++) {
        const char *name = catalogue->gpus[i].name;
        if (core_length(name) == core && strncasecmp(name, word, core) == 0 && strcspn(word, "0123456789") < core)
            return true;
    }
    return false;
}

// "8xA100s," is A100.
static const char *bare_word(Reading *r, const char *at, size_t length) {
    size_t digits = strspn(at, "0123456789");
    if (digits > 0 && digits + 1 < length && at[digits] == 'x') at += digits + 1, length -= digits + 1;
    while (length > 0 && strchr(".-_", at[length - 1])) length--;
    if (length > 1 && at[length - 1] == 's' && isdigit((unsigned char)at[length - 2])) length--;
    return arena_printf(r->arena, "%.*s", (int)(length < LONGEST_WORD ? length : LONGEST_WORD), at);
}

static bool is_memory(const char *word) {
    size_t digits = strspn(word, "0123456789");
    return digits > 0 && (strcasecmp(word + digits, "GB") == 0 || strcasecmp(word + digits, "G") == 0);
}

static void take(Remark *remark, const char *gpu, Where where) {
    size_t core = core_length(gpu);
    if (!remark->gpu)
        *remark = (Remark){gpu, core, where, false};
    else if (core != remark->core || strncasecmp(gpu, remark->gpu, core) != 0)
        remark->contradicted = true;
}

// "RTX 3090" is one word, and so is "A100 80GB". Names of two letters are those of much else.
static void read_comment(Reading *r, const Catalogue *catalogue, const char *at, const char *end, Where where,
                         Remark *remark) {
    const char *gpu = NULL, *series = "";
    while (at < end) {
        size_t length = 0;
        while (at + length < end && (isalnum((unsigned char)at[length]) || strchr(".-_", at[length]))) length++;
        if (length == 0) {
            at++;
            continue;
        }
        const char *word = bare_word(r, at, length), *whole = arena_printf(r->arena, "%s%s", series, word);
        at += length;
        if (gpu && is_memory(word)) gpu = arena_printf(r->arena, "%s-%s", gpu, word);
        if (gpu) take(remark, gpu, where);
        gpu = NULL;
        if (strlen(whole) > 2 && is_gpu(catalogue, whole))
            gpu = whole;
        else if (node_of_instance(r, word))
            take(remark, word, where);
        series = strcasecmp(word, "RTX") == 0 || strcasecmp(word, "GTX") == 0 ? word : "";
    }
    if (gpu) take(remark, gpu, where);
}

static void read_comments(Reading *r, const Catalogue *catalogue, const char *file, const char *text, Remark *remark) {
    int line = 1;
    for (const char *at = text; *at && at - text < BYTES_READ; line++) {
        const char *end = at + strcspn(at, "\n");
        bool opens = at == text && strncmp(at, "\"\"\"", 3) == 0; // of a program in Python the first line
        for (const char *mark = at; mark < end; mark++)
            if (opens || (*mark == '#' && mark[1] != '!' && (mark == at || isblank((unsigned char)mark[-1])))) {
                read_comment(r, catalogue, mark + 1, end, (Where){file, line}, remark);
                break;
            }
        at = end + (*end == '\n');
    }
}

const char *remarked_gpu(Reading *r, Where *where) {
    const Catalogue *catalogue = catalogue_builtin(r->arena);
    for (int i = 0; i < r->texts.count; i++) {
        Remark remark = {0};
        read_comments(r, catalogue, r->texts.items[i].file, r->texts.items[i].text, &remark);
        if (!remark.gpu) continue;
        *where = remark.where;
        return remark.contradicted ? NULL : remark.gpu;
    }
    return NULL;
}
