// Jobs as services and launch tools have them, that are none of Kubernetes: a file says machines, environment and the
// command. Each has its own words for the same few things.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "models/hardware/hardware.h"
#include "scenarios/import/reading.h"

const char *gpu_of_text(Reading *r, const char *text, double *count) {
    const char *model = NULL;
    for (const char *at = text; at && *at; at += strcspn(at, ":") + (at[strcspn(at, ":")] == ':')) {
        const char *part = arena_printf(r->arena, "%.*s", (int)strcspn(at, ":"), at);
        bool number = part[strspn(part, "0123456789.")] == '\0', memory = isdigit((unsigned char)*part) && !number;
        if (number)
            *count = atof(part);
        else if (memory && model)
            model = arena_printf(r->arena, "%s-%s", model, part);
        else if (strcasecmp(part, "nvidia") != 0 && strcasecmp(part, "amd") != 0)
            model = part;
    }
    return model;
}

static void set_environment(Reading *r, const Json *tree) {
    for (int i = 0; tree && (tree->kind == JSON_OBJECT || tree->kind == JSON_LIST) && i < tree->count; i++) {
        const Json *item = &tree->items[i];
        const char *name = tree->kind == JSON_OBJECT ? item->key : text_at(r, item, "name"),
                   *value = tree->kind == JSON_OBJECT ? tree_text(r->arena, item) : text_at(r, item, "value");
        const char *pair = tree_text(r->arena, item), *equals = pair ? strchr(pair, '=') : NULL;
        if (!name && equals) name = arena_printf(r->arena, "%.*s", (int)(equals - pair), pair), value = equals + 1;
        if (name && value) shell_set(reading_shell(r), name, value, item->where, true);
    }
}

// {{.NAME}}, {{.NAME | default "8"}}, as the shell has it.
static const char *recipe_text(Reading *r, const char *text) {
    const char *out = "";
    for (const char *open, *close; (open = strstr(text, "{{")) && (close = strstr(open, "}}")); text = close + 2) {
        const char *name = open + 2 + strspn(open + 2, " ."), *usual = strstr(name, "default ");
        if (usual) usual += 8, usual += strspn(usual, " \"'");
        bool has = usual && usual < close;
        out = arena_printf(r->arena, "%s%.*s${%.*s%s%.*s}", out, (int)(open - text), text, (int)strcspn(name, " |}"),
                           name, has ? ":-" : "", has ? (int)strcspn(usual, " \"'}") : 0, has ? usual : "");
    }
    return arena_printf(r->arena, "%s%s", out, text);
}

static void set_variables(Reading *r, const Json *tree) { // values may name earlier ones
    for (int i = 0; tree && tree->kind == JSON_OBJECT && i < tree->count; i++) {
        const char *value = tree_text(r->arena, &tree->items[i]), *command = text_at(r, &tree->items[i], "sh");
        if (command) value = arena_printf(r->arena, "$(%s)", command);
        if (value)
            shell_run_words(reading_shell(r),
                            arena_printf(r->arena, "%s=\"%s\"", tree->items[i].key, recipe_text(r, value)),
                            tree->items[i].where);
    }
}

// A text is a script, a list its lines, or the words of one command.
static void run(Reading *r, const char *file, const Json *command, bool of_words) {
    ShellText text = {0};
    Shell *shell = reading_shell(r);
    if (!command) return;
    if (tree_is_list_of_plain(command) && of_words) {
        launch_words(r, words_of_lists(r, command, NULL), command->where);
        return;
    }
    for (int i = 0; tree_is_list_of_plain(command) && i < command->count; i++) {
        const char *line = tree_text(r->arena, &command->items[i]);
        shell_put(shell, &text, line, strlen(line));
        shell_put(shell, &text, "\n", 1);
    }
    const char *script = tree_text(r->arena, command) ? tree_text(r->arena, command) : shell_letters(&text);
    if (script) read_shell(r, file, script, strlen(script));
}

static void one_rank_a_gpu(Reading *r, double nodes, double per_node, const Json *at) {
    if (nodes > 0 && per_node > 0) note(r, "mpi_ranks", arena_printf(r->arena, "%.0f", nodes * per_node), at);
}

static double own_gpus(Reading *r, const char *instance) {
    const NodeType *node = instance ? node_of_instance(r, instance) : NULL;
    return node ? node->gpu_count : 0;
}

static void note_plain(Reading *r, const Json *task) { // what is said of it beside
    for (int i = 0; i < task->count; i++)
        if (task->items[i].key) note(r, task->items[i].key, tree_text(r->arena, &task->items[i]), &task->items[i]);
}

// dstack: a list of commands, run on each node.
static void read_dstack(Reading *r, const char *file, const Json *task) {
    const Json *gpu = tree_at(task, "resources.gpu");
    double nodes = number_at(r, task, "nodes", 1), per_node = 1;
    const char *text = tree_text(r->arena, gpu), *model = text ? gpu_of_text(r, text, &per_node) : NULL;
    if (gpu && gpu->kind == JSON_OBJECT) {
        const char *memory = text_at(r, gpu, "memory"), *name = text_at(r, gpu, "name");
        per_node = number_at(r, gpu, "count", 1);
        model =
            name && memory && isdigit((unsigned char)*memory) ? arena_printf(r->arena, "%s-%s", name, memory) : name;
    }
    reserve(r, nodes, gpu ? per_node : 0, model, task);
    set_number(r, "DSTACK_NODES_NUM", nodes), set_number(r, "DSTACK_GPUS_PER_NODE", per_node);
    set_number(r, "DSTACK_GPUS_NUM", nodes * per_node);
    set_environment(r, tree_get(task, "env"));
    note_plain(r, task);
    run(r, file, tree_get(task, "commands"), false);
}

// ${{inputs.NAME}} of an Azure ML job; others are not known.
static const char *with_inputs(Reading *r, const Json *job, const char *text) {
    ShellText out = {0};
    Shell *shell = reading_shell(r);
    for (const char *open; (open = strstr(text, "${{")) != NULL;) {
        const char *close = strstr(open, "}}"), *name = open + 3 + strspn(open + 3, " ");
        if (!close) break;
        const char *path = arena_printf(r->arena, "%.*s", (int)(close - name), name);
        path = arena_printf(r->arena, "%.*s", (int)strcspn(path, " "), path);
        const Json *input = tree_at(job, path);
        const char *value = input ? tree_text(r->arena, input) : NULL;
        if (!value && input) value = text_at(r, input, "default");
        if (!value) value = "/mnt"; // a folder that is mounted there
        shell_put(shell, &out, text, (size_t)(open - text));
        shell_put(shell, &out, value, strlen(value));
        text = close + 2;
    }
    shell_put(shell, &out, text, strlen(text));
    const char *letters = shell_letters(&out);
    return letters ? letters : "";
}

static void read_azure(Reading *r, const char *file, const Json *job) {
    const char *command = text_at(r, job, "command"), *instance = text_at(r, job, "resources.instance_type");
    double nodes = number_at(r, job, "resources.instance_count", 1),
           per_node = number_at(r, job, "distribution.process_count_per_instance", 0);
    if (per_node <= 0) per_node = own_gpus(r, instance);
    reserve(r, nodes, per_node, instance, job);
    set_environment(r, tree_get(job, "environment_variables"));
    note_plain(r, job);
    r->folder = text_at(r, job, "code");
    if (command) command = with_inputs(r, job, command), read_shell(r, file, command, strlen(command));
    if (tree_get(job, "distribution")) one_rank_a_gpu(r, nodes, per_node, job);
}

// Determined: slots are GPUs, of machines that are not said.
static void read_determined(Reading *r, const char *file, const Json *task) {
    double slots = number_at(r, task, "resources.slots_per_trial", number_at(r, task, "resources.slots", 1));
    r->machines.gpus = slots, r->machines.where = task->where;
    note(r, "gpus", arena_printf(r->arena, "%.0f", slots), task);
    set_environment(r, tree_at(task, "environment.environment_variables"));
    note_plain(r, task);
    const Json *own = tree_get(task, "hyperparameters"), *entry = tree_get(task, "entrypoint");
    if (own) said_of_tree(r->arena, &r->said, own, BY_FILE, r->problems);
    run(r, file, entry, true);
    one_rank_a_gpu(r, 1, slots, task);
}

// Vertex AI: pools of workers, the first of which starts it.
static void read_vertex(Reading *r, const char *file, const Json *job) {
    const Json *pools = tree_get(job, "workerPoolSpecs");
    if (!pools) pools = tree_at(job, "jobSpec.workerPoolSpecs");
    double nodes = 0, per_node = 0;
    const char *gpu = NULL;
    (void)file;
    for (int i = 0; pools && pools->kind == JSON_LIST && i < pools->count; i++) {
        const Json *pool = &pools->items[i];
        const char *machine = text_at(r, pool, "machineSpec.machineType");
        double own = own_gpus(r, machine);
        nodes += number_at(r, pool, "replicaCount", 1);
        per_node = number_at(r, pool, "machineSpec.acceleratorCount", own);
        gpu = own > 0 ? machine : text_at(r, pool, "machineSpec.acceleratorType");
    }
    if (!pools || pools->kind != JSON_LIST || !pools->count) return;
    reserve(r, nodes, per_node, gpu, job);
    const Json *container = tree_get(&pools->items[0], "containerSpec");
    set_environment(r, tree_get(container, "env"));
    if (container) take_command(r, container);
    default_ranks(r, nodes, per_node, job);
}

// MosaicML's mcli: a command, machines, and a configuration within.
static void read_mcli(Reading *r, const char *file, const Json *task) {
    const char *gpu = text_at(r, task, "compute.gpu_type");
    double gpus = number_at(r, task, "compute.gpus", number_at(r, task, "gpu_num", 0)), per_node = gpus < 8 ? gpus : 8;
    if (!gpu) gpu = text_at(r, task, "gpu_type");
    reserve(r, per_node > 0 ? gpus / per_node : 0, per_node, gpu, task);
    set_environment(r, tree_get(task, "env_variables"));
    note_plain(r, task);
    const Json *parameters = tree_get(task, "parameters");
    SaidList list = {0};
    if (parameters) said_of_tree(r->arena, &list, parameters, BY_FILE, r->problems);
    said_resolve(r->arena, &list);
    for (int i = 0; i < list.count; i++)
        said_add(r->arena, &r->said, list.items[i].name, list.items[i].value, list.items[i].where, BY_FILE);
    run(r, file, tree_get(task, "command"), false);
}

// NAME=VALUE lines of .env, as compose puts them for $NAME in its own file; containers do not see them.
static void read_env_file(Reading *r, Where where) {
    size_t bytes = 0;
    const char *shown, *text = reading_file(r, ".env", where, &bytes, &shown);
    int line = 1;
    for (const char *at = text; at && *at; at += strcspn(at, "\n"), at += *at == '\n', line++) {
        const char *begin = at + strspn(at, " \t"), *equals = strpbrk(begin, "=\n#");
        size_t length = strcspn(begin, "\r\n");
        if (!equals || *equals != '=' || equals == begin) continue;
        const char *value = arena_printf(r->arena, "%.*s", (int)(begin + length - equals - 1), equals + 1);
        size_t quoted = *value && strchr("'\"", *value) && value[strlen(value) - 1] == *value ? 1 : 0;
        value = arena_printf(r->arena, "%.*s", (int)(strlen(value) - 2 * quoted), value + quoted);
        shell_set(reading_shell(r), arena_printf(r->arena, "%.*s", (int)(equals - begin), begin), value,
                  (Where){shown, line}, false);
    }
}

// Docker Compose: the first service with a command that starts a training.
static void read_compose(Reading *r, const char *file, const Json *whole) {
    const Json *services = tree_get(whole, "services");
    read_env_file(r, whole->where);
    for (int i = 0; services && services->kind == JSON_OBJECT && i < services->count; i++) {
        const Json *service = &services->items[i], *devices = tree_at(service, "deploy.resources.reservations.devices");
        const Json *device = devices && devices->kind == JSON_LIST && devices->count ? &devices->items[0] : NULL;
        const Json *ids = tree_get(device, "device_ids");
        double per_node = number_at(r, device, "count", ids && ids->kind == JSON_LIST ? ids->count : 0);
        if (device) reserve(r, number_at(r, service, "deploy.replicas", 1), per_node, NULL, service);
        set_environment(r, tree_get(service, "environment"));
        const Json *command = tree_get(service, "command");
        if (!command) command = tree_get(service, "entrypoint");
        run(r, file, command, true);
    }
}

// Beaker: tasks of a container each, so many times.
static void read_beaker(Reading *r, const char *file, const Json *whole) {
    const Json *tasks = tree_get(whole, "tasks"),
               *task = tasks && tasks->kind == JSON_LIST && tasks->count ? &tasks->items[0] : NULL;
    double nodes = number_at(r, task, "replicas", 1), per_node = number_at(r, task, "resources.gpuCount", 0);
    (void)file;
    if (!task) return;
    reserve(r, nodes, per_node, NULL, task);
    set_number(r, "BEAKER_REPLICA_COUNT", nodes), set_number(r, "BEAKER_ASSIGNED_GPU_COUNT", per_node);
    set_environment(r, tree_get(task, "envVars"));
    launch_words(r, words_of_lists(r, tree_get(task, "command"), tree_get(task, "arguments")), task->where);
}

// SageMaker's request for a job of training.
static void read_sagemaker(Reading *r, const char *file, const Json *job) {
    const char *instance = text_at(r, job, "ResourceConfig.InstanceType");
    double nodes = number_at(r, job, "ResourceConfig.InstanceCount", 1), per_node = own_gpus(r, instance);
    const Json *own = tree_get(job, "HyperParameters"),
               *command = tree_at(job, "AlgorithmSpecification.ContainerEntrypoint");
    reserve(r, nodes, per_node, instance, job);
    set_environment(r, tree_get(job, "Environment"));
    if (own) said_of_tree(r->arena, &r->said, own, BY_FILE, r->problems);
    run(r, file, command, true);
    default_ranks(r, nodes, per_node, job);
}

// Taskfile: commands of a task, those of others where they are called, {{.NAME}} in them. Its first task, or the first
// that starts a training.
static void run_task(Reading *r, const char *file, const Json *tasks, const Json *task, int depth) {
    static const char *const lists[] = {"deps", "cmds"};
    set_environment(r, tree_get(task, "env"));
    for (int k = 0; k < 2; k++) {
        const Json *list = task->kind == JSON_LIST && k ? task : tree_get(task, lists[k]);
        for (int i = 0; list && list->kind == JSON_LIST && i < list->count; i++) {
            const Json *item = &list->items[i], *cmd = item->kind == JSON_OBJECT ? tree_get(item, "cmd") : item;
            const char *text = cmd ? tree_text(r->arena, cmd) : NULL, *other = k ? text_at(r, item, "task") : text;
            if (item->kind == JSON_OBJECT) set_variables(r, tree_get(item, "vars"));
            if (other && depth < 8 && tree_get(tasks, other))
                run_task(r, file, tasks, tree_get(tasks, other), depth + 1);
            if (k && text) shell_run_words(reading_shell(r), recipe_text(r, text), item->where);
        }
    }
}

static void read_taskfile(Reading *r, const char *file, const Json *whole) {
    const Json *tasks = tree_get(whole, "tasks"), *usual = tree_get(tasks, "default");
    set_variables(r, tree_get(whole, "vars"));
    set_environment(r, tree_get(whole, "env"));
    if (usual) run_task(r, file, tasks, usual, 0);
    for (int i = 0; tasks && tasks->kind == JSON_OBJECT && i < tasks->count && r->launches.count == 0; i++) {
        set_variables(r, tree_get(&tasks->items[i], "vars"));
        run_task(r, file, tasks, &tasks->items[i], 0);
    }
}

static const struct {
    const char *marks; // all of them stand at the beginning of a line
    void (*read)(Reading *r, const char *file, const Json *task);
} kinds[] = {
    {"commands:|resources:", read_dstack},
    {"command:|distribution:", read_azure},
    {"command:|compute: azureml", read_azure},
    {"entrypoint:|searcher:", read_determined},
    {"entrypoint:|resources:", read_determined},
    {"workerPoolSpecs:", read_vertex},
    {"jobSpec:", read_vertex},
    {"command:|compute:", read_mcli},
    {"command:|gpu_num:", read_mcli},
    {"services:", read_compose},
    {"tasks:|version: '3", read_taskfile},
    {"tasks:|version: \"3", read_taskfile},
    {"tasks:|version: 3", read_taskfile},
    {"tasks:|budget:", read_beaker},
    {"tasks:|version: v2", read_beaker},
    {"ResourceConfig:", read_sagemaker},
};

static bool has_line_with(const char *text, const char *begin, size_t length) {
    for (const char *at = text; at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL)
        if (strncmp(at, begin, length) == 0) return true;
    return false;
}

static int kind_of(const char *text) {
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        bool all = true;
        for (const char *at = kinds[k].marks; *at && all;) {
            size_t length = strcspn(at, "|");
            all = has_line_with(text, at, length);
            at += length + (at[length] == '|');
        }
        if (all) return (int)k;
    }
    return -1;
}

bool is_task(const char *text) { return kind_of(text) >= 0; }

bool read_task(Reading *r, const char *file, const char *text, const Json *documents) {
    int kind = kind_of(text);
    if (kind < 0 || documents->count == 0) return false;
    kinds[kind].read(r, file, &documents->items[0]);
    return true;
}
