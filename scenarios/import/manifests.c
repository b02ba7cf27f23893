// Jobs of Kubernetes and SkyPilot: how many machines with which GPUs, and the command that they start.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "models/hardware/hardware.h"
#include "scenarios/import/reading.h"

const char *text_at(Reading *r, const Json *tree, const char *path) {
    const char *text = tree_text(r->arena, tree_at(tree, path));
    return text && strcmp(text, "null") != 0 ? text : NULL;
}

double number_at(Reading *r, const Json *tree, const char *path, double fallback) {
    const char *text = text_at(r, tree, path);
    char *end;
    double number = text ? strtod(text, &end) : fallback;
    return text && end != text ? number : fallback;
}

void note(Reading *r, const char *name, const char *value, const Json *at) {
    if (value && at) said_add(r->arena, &r->machine, name, value, at->where, BY_MACHINES);
}

// ---- Pods.

// 0: none are asked for.
static double gpus_of(Reading *r, const Json *resources) {
    static const char *const folders[] = {"limits", "requests"};
    for (int f = 0; f < 2; f++) {
        const Json *limits = tree_get(resources, folders[f]);
        for (int i = 0; limits && limits->kind == JSON_OBJECT && i < limits->count; i++)
            if (strstr(limits->items[i].key, ".com/gpu") || strstr(limits->items[i].key, "gpu.com/")) {
                const char *text = tree_text(r->arena, &limits->items[i]);
                return text ? atof(text) : 0;
            }
    }
    return 0;
}

static double pod_gpus(Reading *r, const Json *pod) {
    const Json *containers = tree_get(pod, "containers");
    for (int i = 0; containers && containers->kind == JSON_LIST && i < containers->count; i++) {
        double gpus = gpus_of(r, tree_get(&containers->items[i], "resources"));
        if (gpus > 0) return gpus;
    }
    return 0;
}

// By its key, or because its value is one's name: "node.acme.ai/type: h200".
static bool names_gpu(Reading *r, const char *key, const char *value) {
    bool named = value[strcspn(value, "0123456789")] && isalpha((unsigned char)*value) && node_said(r, value);
    return named || strstr(key, "gpu.product") || strstr(key, "accelerator") || strstr(key, "instance-type");
}

// nodeAffinity: matchExpressions of whatever depth.
static const char *affine_gpu(Reading *r, const Json *tree, int depth, int *left) {
    const char *key = text_at(r, tree, "key"), *found = NULL;
    const Json *values = tree_get(tree, "values");
    const char *first =
        values && values->kind == JSON_LIST && values->count ? tree_text(r->arena, &values->items[0]) : NULL;
    if (key && first && names_gpu(r, key, first)) return first;
    bool within = tree && (tree->kind == JSON_LIST || tree->kind == JSON_OBJECT) && depth < 6;
    for (int i = 0; within && i < tree->count && !found && --*left > 0; i++)
        found = affine_gpu(r, &tree->items[i], depth + 1, left);
    return found;
}

static const char *pod_gpu(Reading *r, const Json *pod) {
    const Json *selector = tree_get(pod, "nodeSelector");
    for (int i = 0; selector && selector->kind == JSON_OBJECT && i < selector->count; i++) {
        const char *key = selector->items[i].key, *value = tree_text(r->arena, &selector->items[i]);
        if (value && names_gpu(r, key, value)) return value;
    }
    int left = 1000; // aliases may stand for one place many times
    return affine_gpu(r, tree_at(pod, "affinity.nodeAffinity"), 0, &left);
}

static void take_environment(Reading *r, const Json *container, const Json *documents) {
    const Json *env = tree_get(container, "env"), *from = tree_get(container, "envFrom");
    for (int i = 0; env && env->kind == JSON_LIST && i < env->count; i++) {
        const char *name = text_at(r, &env->items[i], "name"), *value = text_at(r, &env->items[i], "value");
        if (!name || !value) continue;
        shell_set(reading_shell(r), name, value, env->items[i].where, true);
        said_add(r->arena, &r->environment, name, value, env->items[i].where, BY_ENVIRONMENT);
    }
    for (int i = 0; from && from->kind == JSON_LIST && i < from->count; i++) {
        const char *name = text_at(r, &from->items[i], "configMapRef.name");
        for (int d = 0; name && d < documents->count; d++) {
            const Json *document = &documents->items[d], *data = tree_get(document, "data");
            const char *own = text_at(r, document, "metadata.name");
            for (int k = 0; own && strcmp(own, name) == 0 && data && k < data->count; k++)
                said_add(r->arena, &r->environment, data->items[k].key, tree_text(r->arena, &data->items[k]),
                         data->items[k].where, BY_ENVIRONMENT);
        }
    }
}

// $(NAME) of what stands in the environment there; what is none of it stays.
static const char *with_variables(Reading *r, const char *text) {
    ShellText out = {0};
    Shell *shell = reading_shell(r);
    for (const char *open; (open = strstr(text, "$(")) != NULL;) {
        size_t length = strspn(open + 2, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
        const char *name = arena_printf(r->arena, "%.*s", (int)length, open + 2);
        const char *value = open[2 + length] == ')' ? shell_value(shell, name) : NULL;
        shell_put(shell, &out, text, (size_t)(open - text));
        shell_put(shell, &out, value ? value : "$(", strlen(value ? value : "$("));
        text = open + 2 + (value ? length + 1 : 0);
    }
    shell_put(shell, &out, text, strlen(text));
    const char *letters = shell_letters(&out);
    if (!letters) not_read(r, "a command is longer than is followed", (Where){0});
    return letters ? letters : "";
}

ShellWords *words_of_lists(Reading *r, const Json *first, const Json *second) {
    ShellWords *words = ARENA_NEW(r->arena, ShellWords);
    const Json *lists[] = {first, second};
    for (int k = 0; k < 2; k++)
        for (int i = 0; tree_is_list_of_plain(lists[k]) && i < lists[k]->count && i < 2000; i++) {
            const Json *item = &lists[k]->items[i];
            LIST_PUSH(r->arena, words, ((ShellWord){tree_text(r->arena, item), item->where.line}));
        }
    return words;
}

// "command" and "args" are words as they are; of "sh -c TEXT" the text is a script.
void take_command(Reading *r, const Json *container) {
    const Json *command = tree_get(container, "command"), *arguments = tree_get(container, "args");
    ShellWords *words = words_of_lists(r, command, arguments);
    for (int i = 0; i < words->count; i++) words->items[i].text = with_variables(r, words->items[i].text);
    const Json *last = tree_is_list_of_plain(arguments) && arguments->count ? arguments : command;
    launch_words(r, words, words->count ? last->items[0].where : container->where);
}

static void take_pod(Reading *r, const Json *pod, const Json *documents) {
    const Json *containers = tree_get(pod, "containers");
    for (int i = 0; containers && containers->kind == JSON_LIST && i < containers->count; i++) {
        take_environment(r, &containers->items[i], documents);
        note(r, "imagePullPolicy", text_at(r, &containers->items[i], "imagePullPolicy"), &containers->items[i]);
        take_command(r, &containers->items[i]);
    }
}

// ---- Kinds of job.

void reserve(Reading *r, double nodes, double per_node, const char *gpu, const Json *at) {
    if (nodes > 0) note(r, "nodes", arena_printf(r->arena, "%.0f", nodes), at);
    if (per_node > 0) note(r, "gpus_per_node", arena_printf(r->arena, "%.0f", per_node), at);
    r->machines.nodes = nodes, r->machines.per_node = per_node, r->machines.gpus = nodes * per_node;
    r->machines.where = at->where;
    if (gpu) r->machines.gpu = gpu;
}

static const Json *pod_of(const Json *replica) { return tree_at(replica, "template.spec"); }

void default_ranks(Reading *r, double nodes, double per_node, const Json *job) {
    for (int i = 0; i < r->launches.count; i++) {
        Launch *launch = &r->launches.items[i];
        if (!said_find(&launch->own, "nnodes"))
            said_add(r->arena, &launch->own, "nnodes", arena_printf(r->arena, "%.0f", nodes), job->where, BY_MACHINES);
        if (!said_find(&launch->own, "nproc_per_node"))
            said_add(r->arena, &launch->own, "nproc_per_node", arena_printf(r->arena, "%.0f", per_node), job->where,
                     BY_MACHINES);
    }
}

static void read_pytorch_job(Reading *r, const Json *job, const Json *documents) {
    const Json *master = tree_at(job, "spec.pytorchReplicaSpecs.Master"),
               *worker = tree_at(job, "spec.pytorchReplicaSpecs.Worker");
    const Json *pod = pod_of(worker ? worker : master), *first = pod_of(master ? master : worker);
    if (!pod) return;
    double nodes =
        (master ? number_at(r, master, "replicas", 1) : 0) + (worker ? number_at(r, worker, "replicas", 1) : 0);
    double own = number_at(r, job, "spec.nprocPerNode", number_at(r, job, "spec.elasticPolicy.nProcPerNode", 0)),
           per_node = own > 0 ? own : pod_gpus(r, pod);
    reserve(r, nodes, per_node, pod_gpu(r, pod), job);
    set_number(r, "WORLD_SIZE", nodes), set_number(r, "PET_NNODES", nodes),
        set_number(r, "PET_NPROC_PER_NODE", per_node);
    take_pod(r, first, documents);
    default_ranks(r, nodes, per_node, job);
}

static void read_train_job(Reading *r, const Json *job, const Json *documents) {
    const Json *trainer = tree_at(job, "spec.trainer");
    if (!trainer) return;
    double nodes = number_at(r, trainer, "numNodes", 1), per_node = number_at(r, trainer, "numProcPerNode", 0);
    if (per_node <= 0) per_node = gpus_of(r, tree_get(trainer, "resourcesPerNode"));
    const Json *overrides = tree_at(job, "spec.podTemplateOverrides"), *pod = NULL;
    if (overrides && overrides->kind == JSON_LIST && overrides->count) pod = tree_get(&overrides->items[0], "spec");
    reserve(r, nodes, per_node, pod ? pod_gpu(r, pod) : NULL, job);
    set_number(r, "PET_NNODES", nodes), set_number(r, "PET_NPROC_PER_NODE", per_node);
    take_environment(r, trainer, documents);
    take_command(r, trainer);
    default_ranks(r, nodes, per_node, job);
}

static void read_job_set(Reading *r, const Json *set_, const Json *documents) {
    const Json *jobs = tree_at(set_, "spec.replicatedJobs");
    for (int i = 0; jobs && jobs->kind == JSON_LIST && i < jobs->count; i++) {
        const Json *job = &jobs->items[i], *pod = tree_at(job, "template.spec.template.spec");
        double per_node = pod ? pod_gpus(r, pod) : 0;
        if (per_node <= 0) continue;
        double nodes = number_at(r, job, "replicas", 1) * number_at(r, job, "template.spec.parallelism", 1);
        reserve(r, nodes, per_node, pod_gpu(r, pod), job);
        note(r, "backoffLimit", text_at(r, job, "template.spec.backoffLimit"), job);
        take_pod(r, pod, documents);
        default_ranks(r, nodes, per_node, job);
    }
}

static void read_plain_job(Reading *r, const Json *job, const Json *documents) {
    const Json *pod = tree_at(job, "spec.template.spec");
    if (!pod) pod = tree_get(job, "spec");
    double nodes = number_at(r, job, "spec.parallelism", 1), per_node = pod_gpus(r, pod);
    reserve(r, nodes, per_node, pod_gpu(r, pod), job);
    take_pod(r, pod, documents);
    default_ranks(r, nodes, per_node, job);
}

static void read_mpi_job(Reading *r, const Json *job, const Json *documents) {
    const Json *worker = tree_at(job, "spec.mpiReplicaSpecs.Worker"),
               *launcher = tree_at(job, "spec.mpiReplicaSpecs.Launcher");
    if (!worker || !launcher) return;
    double nodes = number_at(r, worker, "replicas", 1), slots = number_at(r, job, "spec.slotsPerWorker", 0);
    if (slots <= 0) slots = pod_gpus(r, pod_of(worker));
    reserve(r, nodes, slots, pod_gpu(r, pod_of(worker)), job);
    take_pod(r, pod_of(launcher), documents);
    bool said = false; // by mpirun itself
    for (int i = 0; i < r->launches.count; i++) said = said || said_find(&r->launches.items[i].step, "mpi_ranks");
    if (!said) note(r, "mpi_ranks", arena_printf(r->arena, "%.0f", nodes * slots), job);
}

void take_ray_environment(Reading *r, const char *text, Where where) {
    const Json *whole = json_or_yaml_read(r->arena, r->file, text, strlen(text), problems_create(r->arena));
    const Json *variables =
        tree_get(whole && whole->kind == JSON_LIST && whole->count ? &whole->items[0] : whole, "env_vars");
    for (int i = 0; variables && variables->kind == JSON_OBJECT && i < variables->count; i++) {
        const char *value = tree_text(r->arena, &variables->items[i]);
        if (value) shell_set(reading_shell(r), variables->items[i].key, value, where, true);
    }
}

static void read_ray_job(Reading *r, const Json *job, const Json *documents) {
    (void)documents;
    const Json *groups = tree_at(job, "spec.rayClusterSpec.workerGroupSpecs");
    double nodes = 0, per_node = 0;
    const char *gpu = NULL;
    for (int i = 0; groups && groups->kind == JSON_LIST && i < groups->count; i++) {
        const Json *pod = pod_of(&groups->items[i]);
        if (!pod || pod_gpus(r, pod) <= 0) continue;
        nodes += number_at(r, &groups->items[i], "replicas", 1);
        per_node = pod_gpus(r, pod);
        gpu = pod_gpu(r, pod);
    }
    reserve(r, nodes, per_node, gpu, job);
    const char *own = text_at(r, job, "spec.runtimeEnvYAML");
    if (own) take_ray_environment(r, own, job->where);
    const char *line = text_at(r, job, "spec.entrypoint");
    if (line) shell_run_words(reading_shell(r), line, tree_at(job, "spec.entrypoint")->where);
}

// A group of a leader and its workers; LWS_GROUP_SIZE of them.
static void read_leader_set(Reading *r, const Json *set_, const Json *documents) {
    const Json *template = tree_at(set_, "spec.leaderWorkerTemplate"),
               *worker = tree_at(template, "workerTemplate.spec"), *leader = tree_at(template, "leaderTemplate.spec");
    double nodes = number_at(r, template, "size", 1), per_node = worker ? pod_gpus(r, worker) : 0;
    if (!worker) return;
    if (per_node <= 0 && leader) per_node = pod_gpus(r, leader);
    reserve(r, nodes, per_node, pod_gpu(r, worker), set_);
    set_number(r, "LWS_GROUP_SIZE", nodes);
    take_pod(r, leader ? leader : worker, documents);
    default_ranks(r, nodes, per_node, set_);
}

// Volcano: tasks that start together; those with GPUs count.
static void read_volcano_job(Reading *r, const Json *job, const Json *documents) {
    const Json *tasks = tree_at(job, "spec.tasks"), *first = NULL;
    double nodes = 0, per_node = 0;
    const char *gpu = NULL;
    for (int i = 0; tasks && tasks->kind == JSON_LIST && i < tasks->count; i++) {
        const Json *pod = pod_of(&tasks->items[i]);
        double gpus = pod ? pod_gpus(r, pod) : 0;
        if (!first) first = pod; // the one that starts it, be it without GPUs
        if (gpus <= 0) continue;
        nodes += number_at(r, &tasks->items[i], "replicas", 1);
        per_node = gpus;
        if (!gpu) gpu = pod_gpu(r, pod);
    }
    if (!first) return;
    reserve(r, nodes, per_node, gpu, job);
    set_number(r, "WORLD_SIZE", tree_at(job, "spec.plugins.pytorch") ? nodes : 0);
    set_number(r, "VC_WORKER_NUM", nodes), set_number(r, "VC_TASK_NUM", nodes);
    take_pod(r, first, documents);
    default_ranks(r, nodes, per_node, job);
}

static void take_policies(Reading *r, const Json *job) {
    static const char names[] =
        "spec.failurePolicy.maxRestarts spec.network.enableDNSHostnames spec.suspend spec.schedulerName spec.maxRetry "
        "spec.queue spec.minAvailable spec.leaderWorkerTemplate.restartPolicy spec.elasticPolicy.maxRestarts "
        "spec.runPolicy.cleanPodPolicy spec.runPolicy.backoffLimit spec.runPolicy.ttlSecondsAfterFinished "
        "spec.backoffLimit spec.ttlSecondsAfterFinished metadata.name";
    for (const char *at = names; *at; at += strspn(at, " ")) {
        const char *name = arena_printf(r->arena, "%.*s", (int)strcspn(at, " "), at);
        note(r, strrchr(name, '.') + 1, text_at(r, job, name), tree_at(job, name));
        at += strlen(name);
    }
}

// SkyPilot: "A100-80GB:8", or {A100-80GB: 8}.
static void read_sky(Reading *r, const char *file, const Json *task) {
    const Json *accelerators = tree_at(task, "resources.accelerators"), *run = tree_get(task, "run"),
               *envs = tree_get(task, "envs");
    const char *text = tree_text(r->arena, accelerators);
    double nodes = number_at(r, task, "num_nodes", 1), per_node = 1;
    const char *gpu = text;
    if (accelerators && accelerators->kind == JSON_OBJECT && accelerators->count) {
        gpu = accelerators->items[0].key;
        text = tree_text(r->arena, &accelerators->items[0]);
        per_node = text ? atof(text) : 1;
    } else if (text && strchr(text, ':')) {
        gpu = arena_printf(r->arena, "%.*s", (int)strcspn(text, ":"), text);
        per_node = atof(strchr(text, ':') + 1);
    }
    if (!accelerators) {
        per_node = 0;
        gpu = text_at(r, task, "resources.instance_type");
    }
    reserve(r, nodes, per_node, gpu, task);
    if (gpu && !accelerators) {
        const NodeType *node = node_of_instance(r, gpu);
        if (node) r->machines.per_node = per_node = node->gpu_count, r->machines.gpus = nodes * per_node;
    }
    r->folder = text_at(r, task, "workdir");
    set_number(r, "SKYPILOT_NUM_NODES", nodes), set_number(r, "SKYPILOT_NUM_GPUS_PER_NODE", per_node);
    for (int i = 0; envs && envs->kind == JSON_OBJECT && i < envs->count; i++) {
        const char *value = tree_text(r->arena, &envs->items[i]);
        if (value) shell_set(reading_shell(r), envs->items[i].key, value, envs->items[i].where, true);
    }
    const Json *resources = tree_get(task, "resources");
    for (int i = 0; resources && resources->kind == JSON_OBJECT && i < resources->count; i++)
        if (strcmp(resources->items[i].key, "accelerators") != 0)
            note(r, resources->items[i].key, tree_text(r->arena, &resources->items[i]), &resources->items[i]);
    const char *script = tree_text(r->arena, run);
    if (script) read_shell(r, file, script, strlen(script));
}

// What ConfigMaps hold are files where they are mounted; they are found by their names.
static void keep_files(Reading *r, const Json *documents) {
    for (int d = 0; d < documents->count; d++) {
        const char *kind = text_at(r, &documents->items[d], "kind");
        const Json *data = tree_get(&documents->items[d], "data");
        bool holds = kind && strcmp(kind, "ConfigMap") == 0 && data && data->kind == JSON_OBJECT;
        for (int i = 0; holds && i < data->count; i++) {
            const char *text = tree_text(r->arena, &data->items[i]);
            if (text && strchr(data->items[i].key, '.'))
                shell_keep(reading_shell(r), data->items[i].key, text, data->items[i].where);
        }
    }
}

void read_manifest(Reading *r, const char *file, const Json *documents) {
    static const struct {
        const char *kind;
        void (*read)(Reading *r, const Json *job, const Json *documents);
    } kinds[] = {{"PyTorchJob", read_pytorch_job}, {"TrainJob", read_train_job},
                 {"JobSet", read_job_set},         {"MPIJob", read_mpi_job},
                 {"RayJob", read_ray_job},         {"Job", read_plain_job},
                 {"Pod", read_plain_job},          {"LeaderWorkerSet", read_leader_set}};
    keep_files(r, documents);
    for (int i = 0; i < documents->count; i++) {
        const Json *job = &documents->items[i];
        const char *kind = text_at(r, job, "kind");
        if (!kind && tree_get(job, "run")) read_sky(r, file, job);
        if (kind && strcmp(kind, "Job") == 0 && tree_at(job, "spec.tasks")) {
            read_volcano_job(r, job, documents);
            take_policies(r, job);
            continue;
        }
        for (size_t k = 0; kind && k < sizeof kinds / sizeof *kinds; k++)
            if (strcmp(kind, kinds[k].kind) == 0) {
                kinds[k].read(r, job, documents);
                take_policies(r, job);
            }
    }
}
