// From what the options of a software say to options of ours: how many GPUs, which replicas, which batch. The rules are
// the software's own (docs/import.md says whose they are).
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/hardware/hardware.h"
#include "models/workload/job/job.h"
#include "scenarios/import/reading.h"
#include "sim/base/list.h"

const char *number_text(Reading *r, double number) { return arena_printf(r->arena, "%.10g", number); }

void hear_number(Reading *r, const char *key, double number, Where where) {
    if (number > 0) hear(r, key, number_text(r, number), where);
}

void ask_for(Reading *r, const char *what, const char *why) {
    list_line(r, &r->import->missing, what, NULL, why, (Where){0});
}

// ---- Machines.

double layout_of(const Reading *r) {
    return fmax(heard_number(r, "tp", 1), 1) * fmax(heard_number(r, "pp", 1), 1) * fmax(heard_number(r, "cp", 1), 1);
}

static bool letters_within(const char *name, const char *whole) {
    const char *at = name;
    for (; *whole && *at; whole++) {
        while (*at && !isalnum((unsigned char)*at)) at++;
        if (!*at) break;
        if (!isalnum((unsigned char)*whole)) continue;
        if (tolower((unsigned char)*whole) == tolower((unsigned char)*at))
            at++;
        else
            return false;
    }
    while (*at && !isalnum((unsigned char)*at)) at++;
    return !*at;
}

// "TeslaV100", "NVIDIA-H200": behind the maker; "volta32gb" by its generation: V100-32gb.
static const char *bare_gpu(Reading *r, const char *name) {
    static const char *const makers[] = {"nvidia", "tesla", "amd", "geforce", "instinct", "quadro", "gpu"};
    static const struct {
        const char *word, *gpu;
    } generations[] = {{"pascal", "P100"}, {"volta", "V100"},    {"ampere", "A100"},
                       {"hopper", "H100"}, {"lovelace", "L40S"}, {"blackwell", "B200"}};
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++)
        if (strncasecmp(name, makers[i], strlen(makers[i])) == 0)
            name += strlen(makers[i]), name += strspn(name, "-_ ");
    for (size_t i = 0; i < sizeof generations / sizeof *generations; i++) {
        size_t length = strlen(generations[i].word);
        if (strncasecmp(name, generations[i].word, length) == 0)
            return arena_printf(r->arena, "%s-%.40s", generations[i].gpu, name + length);
    }
    return strspn(name, "0123456789") == 4 ? arena_printf(r->arena, "RTX%.40s", name) : name;
}

static const char *core_of(Reading *r, const char *name) {
    return arena_printf(r->arena, "%.*s", (int)strcspn(name, "-_ "), name);
}

// A machine of so many cards, where no node of the catalogue has that many of them: "8x A6000"; or NULL.
static const char *node_of_cards(Reading *r, const char *gpu, double per_node) {
    enum { MOST_CARDS = 16 };
    const Catalogue *catalogue = catalogue_builtin(r->arena);
    const char *core = core_of(r, bare_gpu(r, gpu));
    for (int i = 0; i < catalogue->gpu_count && *core && per_node <= MOST_CARDS; i++)
        if (letters_within(core, catalogue->gpus[i].name))
            return arena_printf(r->arena, "%.0fx %s", fmax(1, per_node), catalogue->gpus[i].name);
    return NULL;
}

// Of what the scheduler or the cluster calls a GPU ("a100-80g", "NVIDIA-H200", "Tesla-V100-SXM2-16GB") the nodes that
// have it, in the catalogue's order; so many to a node where that is known.
static const char *node_with(Reading *r, const char *gpu, double per_node, const char **its_gpu) {
    const Catalogue *catalogue = catalogue_builtin(r->arena);
    const char *name = bare_gpu(r, gpu);
    if (!*name) return NULL;
    const char *size = strpbrk(name, "0123456789");
    for (const char *at = name; *at; at++) // "80g", "80GB": of the memory
        if ((at == name || !isalnum((unsigned char)at[-1])) && isdigit((unsigned char)*at)) size = at;
    double memory = size ? atof(size) : 0;
    const char *core = core_of(r, name);
    const char *rough = NULL;
    for (int pass = 0; pass < 3; pass++) // so many, joined fast; so many; more
        for (int i = 0; i < catalogue->node_count; i++) {
            const NodeType *node = &catalogue->nodes[i];
            const char *type = node->gpu_name_count ? node->gpu_names[0] : NULL;
            if (!type || !letters_within(core, type)) continue;
            if (per_node > 0 && node->gpu_count != (int)per_node && !(pass == 2 && node->gpu_count > per_node))
                continue;
            const char *sized = memory > 0 ? arena_printf(r->arena, "-%.0fGB", memory) : "";
            if (r->machines.nodes > 1 && node->nic_bytes_per_second * node->nic_count < (pass == 0 ? 10e9 : 1))
                continue;
            if (memory >= 8 && size != core && strcasestr(type, "GB") && !strcasestr(type, sized)) {
                if (!rough) rough = node->name;
                continue;
            }
            *its_gpu = type;
            return node->name;
        }
    return rough;
}

// "ml.p4d.24xlarge", "Standard_ND96asr_v4", "a3-highgpu-8g": a node of the catalogue by what its provider calls it.
const NodeType *node_of_instance(Reading *r, const char *type) {
    static const char *const heads[] = {"ml.", "Standard_"};
    const Catalogue *catalogue = catalogue_builtin(r->arena);
    for (int i = 0; i < 2; i++)
        if (strncasecmp(type, heads[i], strlen(heads[i])) == 0) type += strlen(heads[i]);
    for (int i = 0; i < catalogue->node_count && strpbrk(type, "0123456789"); i++) {
        const char *name = strchr(catalogue->nodes[i].name, '-');
        if (name && strlen(type) > 4 && strlen(name + 1) == strlen(type) && letters_within(type, name + 1))
            return &catalogue->nodes[i];
    }
    return NULL;
}

// Partitions and machines of centres that have one type of GPU, by their names there.
static const char *gpu_of_site(const char *word) {
    static const char *const sites[][2] = {
        {"polaris", "A100-40GB"}, {"perlmutter", "A100-40GB"}, {"gpuvolta", "V100-32GB"}, {"summit", "V100-16GB"},
        {"standard-g", "MI250X"}, {"small-g", "MI250X"},       {"frontier", "MI250X"}};
    for (size_t i = 0; i < sizeof sites / sizeof *sites; i++)
        if (strcasecmp(word, sites[i][0]) == 0) return sites[i][1];
    return word;
}

// Of "a100|h100" the first that is known.
const char *node_said(Reading *r, const char *said) {
    const char *node = NULL, *gpu = NULL;
    for (int cards = 0; cards < 2 && said && !node; cards++)
        for (const char *at = said; *at && !node; at += strcspn(at, "&|,[]()!* "), at += !!*at) {
            const char *word = gpu_of_site(arena_printf(r->arena, "%.*s", (int)strcspn(at, "&|,[]()!* "), at));
            if (*word)
                node = cards ? node_of_cards(r, word, r->machines.per_node)
                             : node_with(r, word, r->machines.per_node, &gpu);
        }
    return node;
}

static void settle_machines(Reading *r) {
    Machines *m = &r->machines;
    const char *remarked = NULL;
    if (heard(r, "instance")) m->gpu = heard_text(r, "instance");
    if (!r->asked->node && (!m->gpu || (m->gpu_perhaps && !node_of_instance(r, m->gpu) && !node_said(r, m->gpu))))
        remarked = remarked_gpu(r, &m->where);
    if (remarked) m->gpu = remarked;
    double nodes = heard_number(r, "nodes", 0), per_node = heard_number(r, "per_node", 0),
           gpus = heard_number(r, "gpus", 0);
    Where where = m->where;
    const NodeType *instance = m->gpu ? node_of_instance(r, m->gpu) : NULL;
    if (instance && m->per_node <= 0 && per_node <= 0) m->per_node = instance->gpu_count;
    if (r->asked->node) {
        const NodeType *node =
            find_node(r->arena, catalogue_builtin(r->arena), r->asked->node, (Where){0}, problems_create(r->arena));
        if (node && m->per_node <= 0 && per_node <= 0) m->per_node = node->gpu_count;
    }
    if (per_node > 0) m->per_node = per_node;
    if (nodes > 0) m->nodes = nodes;
    if (gpus > 0) {
        m->gpus = gpus;
        if (m->nodes > 0) m->per_node = gpus / m->nodes;
        if (nodes > 0 && fmod(gpus, nodes) != 0) {
            problem_add(r->problems, heard(r, "gpus")->where, "%g processes do not divide by %g machines", gpus, nodes);
            problem_hint(r->problems, "numbers must agree");
        }
    } else if ((per_node > 0 || nodes > 0) && m->per_node > 0) {
        m->gpus = (m->nodes > 0 ? m->nodes : 1) * m->per_node;
    }
    if (m->gpus <= 0 && m->nodes <= 0 && heard(r, "replicas")) m->gpus = heard_number(r, "replicas", 1) * layout_of(r);
    if (heard(r, "ray_workers") && m->gpus <= 0) m->gpus = heard_number(r, "ray_workers", 0);
    if (m->gpus <= 0 && m->nodes > 0 && m->per_node > 0) m->gpus = m->nodes * m->per_node;
    if (r->asked->gpus && atof(r->asked->gpus) > 0) {
        m->gpus = atof(r->asked->gpus);
        if (m->per_node > 0) m->nodes = ceil(m->gpus / m->per_node);
    }
    double said = heard(r, "replicas") ? heard_number(r, "replicas", 1) * layout_of(r) : 0;
    if (said > 0 && m->gpus > 0 && said != m->gpus) {
        problem_add(r->problems, heard(r, "replicas")->where,
                    "%s replicas x %s (tp x pp x cp) are %s GPUs, and %s are started: it refuses to run",
                    heard_text(r, "replicas"), number_text(r, layout_of(r)), number_text(r, said),
                    number_text(r, m->gpus));
        problem_hint(r->problems, "numbers must agree");
    }
    bool alone = m->gpus <= 0 && r->program && strncmp(r->program, "python ", 7) == 0;
    const char *every = said_value(&r->said, "every_gpu"), *theirs = every && m->gpu ? node_said(r, m->gpu) : NULL;
    if (alone && every && !r->asked->no_machines) {
        const NodeType *node =
            theirs ? find_node(r->arena, catalogue_builtin(r->arena), theirs, (Where){0}, problems_create(r->arena))
                   : NULL;
        m->gpus = m->per_node = m->per_node > 0 ? m->per_node : node ? node->gpu_count : 8, m->nodes = 1;
        list_line(r, &r->import->missing, "GPUs", number_text(r, m->gpus),
                  "all of a machine, whose number nothing says", where);
    } else if (alone && visible_gpus(r) > 1 && !r->asked->no_machines) {
        m->gpus = m->per_node = visible_gpus(r), m->nodes = 1;
        list_line(r, &r->import->missing, "GPUs", number_text(r, m->gpus), "those of CUDA_VISIBLE_DEVICES", where);
    } else if (alone && !r->asked->no_machines) {
        m->nodes = m->per_node = m->gpus = 1;
        list_line(r, &r->import->missing, "GPUs", "1", "nothing says how many, and python alone starts one process",
                  where);
    }
    hear_number(r, "gpus", m->gpus, where);
    if (!r->asked->gpus && m->gpus <= 0 && !r->asked->no_machines) {
        problem_add(r->problems, where, "how many GPUs? Nothing here says it");
        problem_hint(r->problems, "say --gpus N");
        problem_is_usage(r->problems);
    }
    if (r->asked->node) return;
    const char *gpu = NULL, *node = instance ? instance->name : node_said(r, m->gpu);
    bool named = m->gpu && (!m->gpu_perhaps || node);
    if (!named && !r->asked->no_machines) {
        node = node_with(r, "H100", m->per_node > 0 ? m->per_node : 8, &gpu);
        list_line(r, &r->import->missing, "node type", node,
                  "nothing says which GPUs they have; taken as these, --node says otherwise", where);
    }
    if (node) {
        hear(r, "node", node, where);
        if (named && (!instance || remarked))
            list_line(r, &r->import->missing, "node type", node,
                      arena_printf(r->arena, "%.40s is said%s; taken as these, --node says otherwise", m->gpu,
                                   remarked ? " in a comment" : ""),
                      where);
    } else if (!r->asked->no_machines) {
        problem_add(r->problems, where, "which machines? Of \"%.40s\" none is known", m->gpu);
        problem_hint(r->problems, "say --node NAME (lockstep hw list node)");
        problem_is_usage(r->problems);
    }
}

// ---- Batches and layouts, as each software counts them.

double world_of(const Reading *r) { return r->machines.gpus; }

// "ds_z3_offload_config.json", "zero2.json" of projects that everybody has and few keep beside: by their names.
static void settle_deepspeed_by_name(Reading *r) {
    static const char *const marks[] = {"zero", "stage", "_z"};
    const Said *said = said_find(&r->said, "deepspeed|deepspeed_config|deepspeed_config_file");
    const char *slash = said ? strrchr(said->value, '/') : NULL, *name = slash ? slash + 1 : said ? said->value : "";
    if (!strstr(name, ".json") || heard(r, "zero") || !is_known(name)) return;
    for (int i = 0; i < 3 && !heard(r, "zero"); i++) {
        const char *at = strcasestr(name, marks[i]), *digit = at ? at + strlen(marks[i]) : "";
        digit += strspn(digit, "-_");
        if (*digit < '0' || *digit > '3') continue;
        hear(r, "zero", arena_printf(r->arena, "%.1s", digit), said->where);
        if (strcasestr(name, "offload")) hear(r, "offload_both", "host", said->where);
        list_line(r, &r->import->missing, said->name, said->value,
                  arena_printf(r->arena, "it is not beside; taken as ZeRO %.1s by its name", digit), said->where);
    }
}

void settle_offload(Reading *r) {
    const Heard *both = heard(r, "offload_both");
    const char *zero = heard_text(r, "zero");
    if (!both) return;
    hear(r, "offload-optimizer", "host", both->where);
    if (zero && *zero == '3') hear(r, "offload-parameters", "host", both->where);
}

static void settle_sharding(Reading *r, Where where) {
    if (heard(r, "megatron_fsdp")) { // counts, whatever the optimizer's option says
        const char *strategy = heard_text(r, "fsdp_strategy");
        hear(r, "zero", strategy ? strategy : "3", where);
    }
    double instances = heard_number(r, "optimizer_instances", 1); // each of which has the state whole
    if (instances > 1)
        hear_number(r, "zero-shard", floor(world_of(r) / layout_of(r) * fmax(1, heard_number(r, "cp", 1)) / instances),
                    heard(r, "optimizer_instances")->where);
    static const struct {
        const char *word, *zero;
        bool hybrid;
    } strategies[] = {{"FULL_SHARD", "3", false},
                      {"SHARD_GRAD_OP", "2", false},
                      {"NO_SHARD", "0", false},
                      {"HYBRID_SHARD", "3", true},
                      {"HYBRID_SHARD_ZERO2", "2", true},
                      {"_HYBRID_SHARD_ZERO2", "2", true},
                      {"1", "3", false},
                      {"2", "2", false},
                      {"3", "0", false},
                      {"4", "3", true},
                      {"5", "2", true}};
    const char *fsdp = heard_text(r, "fsdp");
    if (fsdp && *fsdp) {
        const char *word = strstr(fsdp, "hybrid_shard")    ? "HYBRID_SHARD"
                           : strstr(fsdp, "shard_grad_op") ? "SHARD_GRAD_OP"
                                                           : "FULL_SHARD";
        hear(r, "sharding", word, heard(r, "fsdp")->where);
        if (strstr(fsdp, "offload")) hear(r, "offload_both", "host", where);
    }
    const char *said = heard_text(r, "sharding"), *dot = said ? strrchr(said, '.') : NULL;
    if (dot) said = dot + 1;
    for (size_t i = 0; said && i < sizeof strategies / sizeof *strategies; i++) {
        if (!same_word(said, strategies[i].word)) continue;
        hear(r, "zero", strategies[i].zero, heard(r, "sharding")->where);
        if (strategies[i].hybrid) hear_number(r, "zero-shard", r->machines.per_node, where);
    }
    const char *distributed = said_value(&r->said, "distributed_type");
    if (distributed && strcmp(distributed, "FSDP") == 0 && !heard(r, "zero")) hear(r, "zero", "3", where);
    settle_deepspeed_by_name(r);
    settle_offload(r);
}

// The option by which the files said it.
static const char *name_of_key(const Reading *r, const char *key) {
    const ImportLines *taken = &r->import->taken;
    for (int i = taken->count - 1; i >= 0; i--)
        if (taken->items[i].why && strcmp(taken->items[i].why, key) == 0) return taken->items[i].name;
    return key;
}

static void settle_deepspeed(Reading *r, Where where) {
    double micro = heard_number(r, "ds_micro", 0), all = heard_number(r, "ds_batch", 0),
           accumulation = heard_number(r, "ds_accumulation", 0);
    const char *own = heard(r, "micro-batch") ? "micro-batch" : NULL;
    if (micro > 0 && own && heard_number(r, own, micro) != micro) {
        problem_add(r->problems, heard(r, "ds_micro")->where,
                    "train_micro_batch_size_per_gpu is %s here, and %s is %s: DeepSpeed refuses to start",
                    number_text(r, micro), name_of_key(r, own), heard_text(r, own));
        problem_hint(r->problems, "write \"auto\", or the same number");
    }
    const Said *steps_said[2] = {NULL}; // by DeepSpeed's file, and by the trainer
    for (int i = 0; i < r->said.count; i++)
        if (same_word(r->said.items[i].name, "gradient_accumulation_steps"))
            steps_said[r->said.items[i].by == BY_COMMAND] = &r->said.items[i];
    bool of_deepspeed = steps_said[0] && steps_said[0]->where.file && strstr(steps_said[0]->where.file, ".json");
    if (of_deepspeed && steps_said[1] && atof(steps_said[0]->value) > 0 &&
        atof(steps_said[0]->value) != atof(steps_said[1]->value)) {
        problem_add(r->problems, steps_said[0]->where,
                    "gradient_accumulation_steps is %s here, and %s in the command: DeepSpeed refuses to start",
                    steps_said[0]->value, steps_said[1]->value);
        problem_hint(r->problems, "write \"auto\", or the same number");
    }
    if (micro > 0) hear_number(r, "micro-batch", micro, heard(r, "ds_micro")->where);
    if (accumulation > 0) hear_number(r, "grad-accumulation", accumulation, heard(r, "ds_accumulation")->where);
    double replicas = floor(world_of(r) / layout_of(r)), each = heard_number(r, "micro-batch", 0);
    double steps = heard_number(r, "grad-accumulation", 0);
    if (all <= 0) return;
    if (each <= 0 && replicas > 0 && fmod(all, fmax(1, steps) * replicas) == 0) { // it follows
        each = all / fmax(1, steps) / replicas;
        hear_number(r, "micro-batch", each, heard(r, "ds_batch")->where);
    }
    bool whole = heard(r, "global-batch") != NULL;
    if (each > 0 && steps > 0 && replicas > 0 && each * steps * replicas != all) {
        problem_add(r->problems, heard(r, "ds_batch")->where,
                    "a batch of %s is said, but %s x %s x %s (samples of a GPU x accumulated x replicas) are %s: "
                    "DeepSpeed refuses to start",
                    number_text(r, all), number_text(r, each), number_text(r, steps), number_text(r, replicas),
                    number_text(r, each * steps * replicas));
        problem_hint(r->problems, "write \"train_batch_size\": \"auto\", or numbers that agree");
    } else if (whole && heard_number(r, "global-batch", all) != all) {
        problem_add(r->problems, heard(r, "ds_batch")->where,
                    "a batch of %s is said here and %s in the command: DeepSpeed refuses to start", number_text(r, all),
                    heard_text(r, "global-batch"));
        problem_hint(r->problems, "numbers must agree");
    }
    if (!whole) hear_number(r, "global-batch", all, where);
}

// What is said and comes to nothing beside the rest, or cannot be simulated, is no longer listed as taken.
static void move_to(Reading *r, ImportLines *lines, const char *key, const char *why) {
    ImportLines *taken = &r->import->taken;
    int kept = 0;
    unhear(r, key);
    for (int i = 0; i < taken->count; i++) {
        ImportLine line = taken->items[i];
        if (line.why && strcmp(line.why, key) == 0)
            list_line(r, lines, line.name, line.value, why, line.where);
        else
            taken->items[kept++] = line;
    }
    taken->count = kept;
}

void set_aside(Reading *r, const char *key, const char *why) { move_to(r, &r->import->idle, key, why); }

void set_open(Reading *r, const char *key, const char *why) { move_to(r, &r->import->open, key, why); }

// Layers of the first and of the last stage of a pipeline, between which the rest is even: as numbers for each chunk,
// in the model's order (Megatron's decoder_first_pipeline_num_layers). What does not divide is not understood.
static void settle_ends(Reading *r, double layers, double pp) {
    const Heard *ends[] = {heard(r, "first_stage"), heard(r, "last_stage")};
    double first = heard_number(r, "first_stage", 0), last = heard_number(r, "last_stage", 0),
           vpp = fmax(1, heard_number(r, "vpp", 1)), middle = pp - (first > 0) - (last > 0);
    if (!ends[0] && !ends[1]) return;
    double each = middle > 0 ? (layers - first - last) / middle : 0;
    bool whole = layers > 0 && pp > 1 && pp * vpp <= 1000 && each > 0 && fmod(each, vpp) == 0 &&
                 fmod(first, vpp) == 0 && fmod(last, vpp) == 0;
    const char *list = "";
    for (int chunk = 0; whole && chunk < (int)(pp * vpp); chunk++) {
        int stage = chunk % (int)pp;
        double of = stage == 0 && first > 0 ? first : stage == (int)pp - 1 && last > 0 ? last : each;
        list = arena_printf(r->arena, "%s%s%.0f", list, chunk ? "," : "", of / vpp);
    }
    if (whole)
        hear(r, "stage-layers", list, ends[0] ? ends[0]->where : ends[1]->where);
    else
        set_open(r, "first_stage", "it does not divide the layers"),
            set_open(r, "last_stage", "it does not divide the layers");
}

static void settle_pipeline(Reading *r, Where where) {
    double pp = heard_number(r, "pp", 1), each = heard_number(r, "layers_per_virtual_stage", 0),
           layers = heard_number(r, "layers", 0);
    if (heard(r, "pp") && pp < 1) hear(r, "pp", "1", where);
    const Model *model = heard(r, "model") ? model_called(r, heard_text(r, "model")) : NULL;
    if (layers <= 0 && model) layers = model->layers;
    if (each > 0 && layers > 0 && pp > 1 && fmod(layers / pp, each) != 0) {
        problem_add(r->problems, heard(r, "layers_per_virtual_stage")->where,
                    "%g layers of a stage (%g over %g) do not divide into parts of %g", layers / pp, layers, pp, each);
        problem_hint(r->problems, "say as many layers of a virtual stage as divide those");
    }
    if (each > 0 && layers > 0 && pp > 1) hear_number(r, "vpp", fmax(1, floor(layers / pp / each)), where);
    settle_ends(r, layers, pp);
    static const char uneven[] = "pp_partition_method|pipeline_model_parallel_layout|standalone_embedding_stage|"
                                 "account_for_embedding_in_pipeline_split|account_for_loss_in_pipeline_split|"
                                 "encoder_num_layers";
    bool megatron = strcmp(r->import->software, "Megatron-LM") == 0;
    if (megatron && heard(r, "layers") && pp > 1 && fmod(layers, pp) != 0 && !heard(r, "stage-layers") &&
        !said_find(&r->said, uneven)) {
        problem_add(r->problems, heard(r, "layers")->where,
                    "%g layers do not divide by %g stages of the pipeline: Megatron refuses to start", layers, pp);
        problem_hint(r->problems, "use another pp, or say how many the first and the last stage have "
                                  "(--decoder-first-pipeline-num-layers)");
    }
    const char *partition = heard_text(r, "partition");
    if (partition && strcmp(partition, "ends") == 0) {
        hear(r, "account-for-embedding-in-pipeline-split", "true", where);
        hear(r, "account-for-loss-in-pipeline-split", "true", where);
    }
}

static bool refuses_both(const Reading *r) {
    static const char those[] = "|Hugging Face Trainer|LLaMA-Factory|Megatron-LM|Megatron-DeepSpeed|DeepSpeed|";
    return strstr(those, arena_printf(r->arena, "|%s|", r->import->software)) != NULL;
}

static void settle_precision(Reading *r, Where where) {
    const char *mixed = said_value(&r->said, "mixed_precision|trainer.plugins"),
               *type = said_value(&r->said, "torch_dtype|dtype|trainer.mp");
    if (!heard(r, "precision") && type && (strstr(type, "bfloat16") || strcmp(type, "bf16") == 0))
        hear(r, "precision", "bf16", said_find(&r->said, "torch_dtype|dtype|trainer.mp")->where);
    const Said *kind = said_find(&r->said, "dtype");
    if (!heard(r, "precision") && kind && (same_word(kind->value, "fp16") || same_word(kind->value, "float16")))
        hear(r, "precision", "fp16", kind->where);
    const Said *engine = said_find(&r->said, "fp8_format|fp8_hybrid|fp8_e4m3"); // Transformer Engine's own words
    const Said *sort = said_find(&r->said, "fp16.type");                        // GPT-NeoX's: 16 bits of which kind
    if (sort && strstr(sort->value, "bfloat")) hear(r, "precision", "bf16", sort->where);
    const Said *half = said_find(&r->said, "fp16|fp16.enabled"), *brain = said_find(&r->said, "bf16|bf16.enabled");
    if (half && brain && says_yes(half->value) && says_yes(brain->value) && refuses_both(r)) {
        problem_add(r->problems, brain->where, "%s and %s are both on: it refuses to start", half->name, brain->name);
        problem_hint(r->problems, "one precision can be");
    }
    if (heard(r, "fp8")) hear(r, "precision", "fp8", heard(r, "fp8")->where);
    if (heard(r, "fp8") && engine && !heard(r, "fp8-recipe")) hear(r, "fp8-recipe", "delayed", engine->where);
    if (mixed && strstr(mixed, "fp8") && strncmp(mixed, "bf16_with", 9) == 0)
        hear(r, "fp8-recipe",
             strstr(mixed, "current")      ? "tensorwise"
             : strstr(mixed, "mxfp8")      ? "mxfp8"
             : strstr(mixed, "subchannel") ? "blockwise"
                                           : "delayed",
             where);
}

// "a:x,b:y": what holds where the files say nothing.
static void hear_unsaid(Reading *r, const char *pairs, Where where) {
    for (const char *at = pairs; *at;) {
        size_t key = strcspn(at, ":"), whole = strcspn(at, ",");
        const char *name = arena_printf(r->arena, "%.*s", (int)key, at);
        if (!heard(r, name)) hear(r, name, arena_printf(r->arena, "%.*s", (int)(whole - key - 1), at + key + 1), where);
        at += whole + (at[whole] == ',');
    }
}

// Batches that are said in tokens.
static void settle_tokens(Reading *r) {
    static const char *const keys[][2] = {{"micro_tokens", "micro-batch"}, {"global_tokens", "global-batch"}};
    double seq = heard_number(r, "seq", 0);
    for (int i = 0; i < 2; i++) {
        const Heard *tokens = heard(r, keys[i][0]);
        if (tokens && seq > 0 && !heard(r, keys[i][1]))
            hear_number(r, keys[i][1], fmax(1, floor(heard_number(r, keys[i][0], 0) / seq)), tokens->where);
    }
}

// Of what is recomputed only parts that the model as it is read has.
static void settle_modules(Reading *r) {
    const Heard *modules = heard(r, "recompute-modules"), *model = heard(r, "model");
    bool spelt = model && strncmp(model->value, "transformer:", 12) == 0, mixture = heard(r, "experts") != NULL;
    const char *kept = "";
    if (!modules || !spelt) return;
    for (const char *at = modules->value; *at; at += strspn(at, ", ")) {
        const char *word = arena_printf(r->arena, "%.*s", (int)strcspn(at, ", "), at);
        at += strcspn(at, ", ");
        bool of_experts = strncmp(word, "moe", 3) == 0 || strcmp(word, "shared_experts") == 0;
        if ((!heard(r, "kv_lora_rank") && strcmp(word, "mla_up_proj") == 0) || (of_experts && !mixture))
            list_line(r, &r->import->open, "recompute_modules", word, "a part that the model as it is read has not",
                      modules->where);
        else
            kept = arena_printf(r->arena, "%s%s%.60s", kept, *kept ? "," : "", word);
    }
    if (*kept)
        hear(r, "recompute-modules", kept, modules->where);
    else
        unhear(r, "recompute-modules");
}

// Trainers whose FSDP recomputes leave their own switch off.
static void settle_wrapped(Reading *r) {
    const char *value = said_value(&r->said, "fsdp_config.fsdp_activation_checkpointing|fsdp_activation_checkpointing|"
                                             "fsdp_config.activation_checkpointing");
    if (value && says_yes(value)) hear(r, "recompute", "full", r->machines.where);
}

static void settle_software(Reading *r, const ImportSoftware *software) {
    Where where = r->machines.where;
    settle_sharding(r, where);
    if (software->rule) software->rule(r, where);
    settle_tokens(r);
    if (heard(r, "cycle_ms"))
        hear(r, "horovod-cycle", arena_printf(r->arena, "%s ms", heard_text(r, "cycle_ms")), where);
    if (heard(r, "fusion_mb"))
        hear(r, "horovod-fusion", arena_printf(r->arena, "%s MiB", heard_text(r, "fusion_mb")), where);
    if (heard(r, "fusion_bytes"))
        hear(r, "horovod-fusion", arena_printf(r->arena, "%s B", heard_text(r, "fusion_bytes")), where);
    if (heard_number(r, "bucket_elements", 0) > 0) // of 16 bits
        hear(r, "bucket", arena_printf(r->arena, "%.0f B", 2 * heard_number(r, "bucket_elements", 0)), where);
    settle_deepspeed(r, where);
    settle_pipeline(r, where);
    settle_precision(r, where);
    hear_unsaid(r, software->unsaid, where);
    settle_offload(r); // of weights too, where they are spread unsaid
    if (software->stack) hear(r, "software", software->stack, where);
    if (heard(r, "nf4-weights") && !heard(r, "lora-rank")) hear(r, "lora-rank", "8", where);
    if (!heard(r, "lora-rank")) set_aside(r, "lora-everywhere", "there is no LoRA");
    if (heard(r, "global-batch") && heard(r, "micro-batch")) unhear(r, "grad-accumulation");
    double steps = heard_number(r, "steps", 0), batch = heard_number(r, "global-batch", 0);
    if (steps > 0 && batch > 0 && heard(r, "seq") && !heard(r, "samples"))
        hear_number(r, "tokens", steps * batch * heard_number(r, "seq", 0), heard(r, "steps")->where);
    if (heard(r, "samples") && heard(r, "seq")) { // sequences that are read once
        hear_number(r, "tokens", heard_number(r, "samples", 0) * heard_number(r, "seq", 0), heard(r, "samples")->where);
        unhear(r, "samples");
    }
    const Model *model = heard(r, "model") ? model_called(r, heard_text(r, "model")) : NULL;
    settle_wrapped(r);
    const char *again = heard_text(r, "recompute");
    bool can = !model || names_parts(model) || (convolves(model) && again && strcmp(again, "full") == 0);
    if (!can && again && strcmp(again, "none") != 0)
        set_open(r, "recompute", "such recomputation of what is no transformer is not simulated");
    const char *method = heard_text(r, "recompute_method");
    if (method && strcmp(method, "uniform") == 0)
        set_aside(r, "recompute-num-layers", "all layers are recomputed, by so many at a time");
    settle_modules(r);
    if (heard_number(r, "zero", 0) < 3) set_aside(r, "offload-parameters", "only with ZeRO 3");
}

// ---- Options of ours.

static void add_option(Reading *r, const char *option, const Heard *h) {
    ImportWord word = {option, h->value};
    LIST_PUSH(r->arena, &r->import->words, word);
}

static const char *typed_word(const Reading *r, const char *option) {
    for (int i = 0; option && i < r->asked->typed_count; i++)
        if (strcmp(r->asked->typed[i].option, option) == 0 && *r->asked->typed[i].value)
            return r->asked->typed[i].value;
    return NULL;
}

static void add_job_options(Reading *r) {
    for (int o = 0; o < JOB_OBJECT_COUNT; o++)
        for (int i = 0; i < job_objects[o].field_count; i++) {
            const Field *field = &job_objects[o].fields[i];
            const Heard *h = field->flag ? heard(r, field->flag) : NULL;
            const char *typed = typed_word(r, field->flag);
            const char *name = o == JOB_PARALLEL || !field->varied ? field->name : field->varied;
            if (o == JOB_OVERLAP) name = arena_printf(r->arena, "overlap_%s", field->name);
            if (typed) list_line(r, &r->import->job, name, typed, NULL, (Where){0});
            if (!h) continue;
            FieldReader reader = {.arena = r->arena, .problems = r->problems, .catalogue = catalogue_builtin(r->arena)};
            Value value = {.given = true, .written = true, .where = h->where, .number = NAN};
            bool sound = field->list
                             ? field_list_from_text(&reader, field, job_objects[o].name, h->value, h->where, &value)
                             : field_from_text(&reader, field, job_objects[o].name, h->value, h->where, &value);
            if (!sound) continue;
            add_option(r, field->flag, h);
            if (!typed) list_line(r, &r->import->job, name, h->value, NULL, h->where);
        }
}

// The library's name; where the files call it otherwise, as they do, and the library's.
static const char *model_in_job(Reading *r) {
    const char *ours = r->asked->model ? r->asked->model : heard_text(r, "model"), *said = NULL;
    for (int i = 0; i < r->import->taken.count; i++)
        if (r->import->taken.items[i].why && strcmp(r->import->taken.items[i].why, "model") == 0)
            said = r->import->taken.items[i].value;
    const char *slash = said ? strrchr(said, '/') : NULL;
    if (slash && slash[1]) said = slash + 1;
    bool same = !said || !ours || r->asked->model || strpbrk(ours, "/:") || !is_known(said);
    for (const char *at = said; at && *at && !same; at++) same = letters_within(ours, at);
    return same ? ours : arena_printf(r->arena, "%.80s, as %s", said, ours);
}

static void list_model(Reading *r) {
    const char *name = r->asked->model ? r->asked->model : heard_text(r, "model");
    Where where = heard(r, "model") ? heard(r, "model")->where : (Where){0};
    const Model *model = name ? model_named(r->arena, name, NULL, problems_create(r->arena)) : NULL;
    if (!model || !counts_tokens(model)) return;
    const struct {
        const char *name;
        int value;
    } sizes[] = {{"layers", model->layers},
                 {"hidden", model->hidden},
                 {"heads", model->heads},
                 {"kv_heads", model->kv_heads},
                 {"ffn", model->ffn},
                 {"vocab", model->vocab},
                 {"experts", model->experts.count},
                 {"top_k", model->experts.per_token}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i].value > 0)
            list_line(r, &r->import->job, sizes[i].name, number_text(r, sizes[i].value), NULL, where);
}

static void list_gpu(Reading *r) {
    const char *name = r->asked->node ? r->asked->node : heard_text(r, "node");
    const NodeType *node =
        name ? find_node(r->arena, catalogue_builtin(r->arena), name, (Where){0}, problems_create(r->arena)) : NULL;
    if (node && node->gpu_name_count) list_line(r, &r->import->job, "gpu", node->gpu_names[0], NULL, r->machines.where);
    double nodes = r->machines.nodes;
    if (nodes <= 0 && node) nodes = ceil(world_of(r) / node->gpu_count);
    if (nodes > 0) list_line(r, &r->import->job, "nodes", number_text(r, nodes), NULL, r->machines.where);
}

// The range is wider for each of those.
static void count_unread(Reading *r) {
    const ImportLines *open = &r->import->open;
    int count = 0;
    for (int i = 0; i < open->count; i++) {
        bool again = false;
        for (int k = 0; k < i; k++) again = again || strcmp(open->items[k].name, open->items[i].name) == 0;
        count += !again;
    }
    if (count > 0) hear_number(r, "unread-options", count, open->items[0].where);
}

void settle(Reading *r, const ImportSoftware *software) {
    static const char *const first[] = {"model", "node", "gpus", "fabric"};
    settle_machines(r);
    settle_shape(r);
    settle_model(r);
    settle_software(r, software);
    if (problem_count(r->problems)) return;
    count_unread(r);
    if (model_in_job(r)) list_line(r, &r->import->job, "model", model_in_job(r), NULL, (Where){0});
    for (int i = 0; i < 4; i++)
        if (heard(r, first[i])) {
            add_option(r, first[i], heard(r, first[i]));
            if (i == 2)
                list_line(r, &r->import->job, first[i], heard_text(r, first[i]), NULL, heard(r, first[i])->where);
        }
    list_gpu(r);
    add_job_options(r);
    if (!heard(r, "recompute")) list_line(r, &r->import->job, "recompute", "none", NULL, r->machines.where);
    if (heard_number(r, "zero", 0) >= 3 && !heard(r, "zero-shard") && world_of(r) > 0)
        list_line(r, &r->import->job, "shard",
                  number_text(r, fmax(1, floor(world_of(r) / layout_of(r))) * fmax(1, heard_number(r, "cp", 1))), NULL,
                  heard(r, "zero")->where);
    list_model(r);
    if (!heard(r, "fabric"))
        ask_for(r, "network", "--fabric NAME says it; else what such machines usually have is taken");
}
