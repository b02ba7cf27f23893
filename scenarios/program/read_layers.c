// Reader of layer files, one line each, of ASTRA-sim 1 (chakra's text_converter.py) and SimAI (aliyun/SimAI,
// Workload.cc): times and exchanges of forward, input gradients and weight gradients. All ranks do the same.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/program/program.h"
#include "sim/base/text.h"

#define LAYERS_MOST 1000000
#define OPS_MOST 20000000
#define BYTES_MOST 1e15
#define NANOSECONDS_MOST 1e15
#define COLUMNS 12

// Who exchanges: the ranks that share tensors, replicas, experts, or the replicas of the same experts.
typedef enum Axis { AXIS_TENSOR, AXIS_DATA, AXIS_EXPERTS, AXIS_DATA_OF_EXPERTS, AXIS_COUNT } Axis;

typedef struct Exchange {
    int op; // CollectiveOp, or -1: none
    Axis axis;
    double bytes;
} Exchange;

typedef struct Pass {
    SimTime time;
    Exchange exchange;
} Pass;

typedef struct Layer {
    Pass forward, inputs, weights; // inputs, weights: of their gradients
    SimTime update;
    int label;
    bool checkpoint, again; // again: forward from the last checkpoint is repeated before its gradients
} Layer;

// A parallelism of the first line. beside: input gradients are exchanged during the weight gradients' computation.
typedef struct Policy {
    const char *name;
    bool tensor, data, beside, whole; // whole: SimAI counts an all-gather by its output
} Policy;

static const Policy policies[] = {
    {"MICRO", .data = true},
    {"DATA", .data = true},
    {"MODEL", .tensor = true, .beside = true},
    {"HYBRID_DATA_MODEL", .tensor = true, .data = true, .beside = true},
    {"HYBRID_MODEL_DATA", .tensor = true, .data = true, .beside = true},
    {"HYBRID_TRANSFORMER", .tensor = true, .data = true, .whole = true},
    {"HYBRID_TRANSFORMER_FWD_IN_BCKWD", .tensor = true, .data = true, .whole = true},
};
enum { POLICIES = sizeof policies / sizeof *policies };

typedef struct LayerReading {
    Arena *arena;
    Problems *problems;
    ProgramSpec *program;
    Where where;
    const Policy *policy;
    double tensor, experts, stages, world; // 0: unspecified
    int *checkpoints, checkpoint_count, *again, again_count, layers_said;
    LIST_OF(Layer) layers;
    LIST_OF(Label) labels;
    LIST_OF(RankGroup) groups;
    int *group_of[AXIS_COUNT]; // [rank] of ProgramSpec.groups; -1: of one rank, which exchanges nothing
} LayerReading;

static bool refuse(LayerReading *r, const char *hint, const char *format, ...) __attribute__((format(printf, 3, 4)));
static bool refuse(LayerReading *r, const char *hint, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char *text = arena_vprintf(r->arena, format, arguments);
    va_end(arguments);
    problem_add(r->problems, r->where, "%s", letters_make_harmless(text, ""));
    return problem_hint(r->problems, "%s", hint);
}

static const Policy *policy_of(const char *word, size_t length) {
    for (int i = 0; i < POLICIES; i++)
        if (strlen(policies[i].name) == length && strncmp(word, policies[i].name, length) == 0) return &policies[i];
    return NULL;
}

bool is_layer_text(const char *text) {
    text += strspn(text, " \t\r\n");
    size_t length = strcspn(text, " \t\r\n");
    return policy_of(text, length) || strncmp(text, "HYBRID_", 7) == 0;
}

static bool whole(const char *word, double most, double *value) {
    if (!word || !isdigit((unsigned char)*word)) return false;
    char *end;
    *value = strtod(word, &end);
    return *end == '\0' && *value <= most;
}

// ---- The first line: a policy, and names with numbers.
static bool take_list(LayerReading *r, char **rest, int **list, int *count) {
    double number = 0;
    if (!whole(strtok_r(NULL, " \t\r", rest), LAYERS_MOST, &number))
        return refuse(r, "for example: checkpoints: 2 0 8", "this list does not say how many layers it names");
    *list = ARENA_ARRAY(r->arena, int, (size_t)number);
    for (; *count < (int)number; ++*count) {
        double layer = 0;
        if (!whole(strtok_r(NULL, " \t\r", rest), LAYERS_MOST, &layer))
            return refuse(r, "for example: checkpoints: 2 0 8", "this list names fewer layers than it says");
        (*list)[*count] = (int)layer;
    }
    return true;
}

static bool take_word(LayerReading *r, char *word, char **rest) {
    double ignored = 0;
    const struct {
        const char *name;
        double *value, most;
    } numbers[] = {{"model_parallel_NPU_group", &r->tensor, 1e6},
                   {"ep", &r->experts, 1e6},
                   {"pp", &r->stages, 1e6},
                   {"vpp", &ignored, 1e6},
                   {"ga", &ignored, 1e9},
                   {"all_gpus", &r->world, 1e9},
                   {"pp_comm", &ignored, BYTES_MOST}};
    char *colon = strchr(word, ':');
    if (colon) *colon = '\0';
    if (strcmp(word, "checkpoints") == 0) return take_list(r, rest, &r->checkpoints, &r->checkpoint_count);
    if (strcmp(word, "checkpoint_initiates") == 0) return take_list(r, rest, &r->again, &r->again_count);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (strcmp(word, numbers[i].name) != 0) continue;
        const char *value = colon && colon[1] ? colon + 1 : strtok_r(NULL, " \t\r", rest);
        return whole(value, numbers[i].most, numbers[i].value) ||
               refuse(r, "for example: model_parallel_NPU_group: 8", "%s is no number", numbers[i].name);
    }
    return refuse(r,
                  "known: model_parallel_NPU_group:, ep:, pp:, vpp:, ga:, all_gpus:, pp_comm, checkpoints:, "
                  "checkpoint_initiates:",
                  "\"%.40s\" is not understood here", word);
}

static bool take_policy(LayerReading *r, char *line) {
    static const char hint[] = "known: MICRO, DATA, MODEL, HYBRID_DATA_MODEL, HYBRID_MODEL_DATA, HYBRID_TRANSFORMER, "
                               "HYBRID_TRANSFORMER_FWD_IN_BCKWD";
    char *rest = NULL, *word = strtok_r(line, " \t\r", &rest);
    r->policy = policy_of(word, strlen(word));
    if (!r->policy) return refuse(r, hint, "layers that train as %.40s are not known", word);
    while ((word = strtok_r(NULL, " \t\r", &rest)))
        if (!take_word(r, word, &rest)) return false;
    return true;
}

// ---- Communication groups: tensor ranks are neighbours, stages the furthest apart.
typedef struct Members {
    int base, stride, count;
} Members;

static Members members_of(const LayerReading *r, Axis axis, int rank) {
    int tensor = (int)r->tensor, experts = (int)r->experts;
    int data = r->program->cluster->gpu_count / (tensor * (int)r->stages), stage = tensor * data;
    int tp = rank % tensor, replica = rank % stage / tensor, first = rank - rank % stage + tp;
    const Members members[AXIS_COUNT] = {
        [AXIS_TENSOR] = {rank - tp, 1, tensor},
        [AXIS_DATA] = {first, tensor, data},
        [AXIS_EXPERTS] = {first + tensor * (replica - replica % experts), tensor, experts},
        [AXIS_DATA_OF_EXPERTS] = {first + tensor * (replica % experts), tensor * experts, data / experts},
    };
    return members[axis];
}

static void make_groups(LayerReading *r) {
    int world = r->program->cluster->gpu_count;
    for (int axis = 0; axis < AXIS_COUNT; axis++) {
        r->group_of[axis] = ARENA_ARRAY(r->arena, int, world);
        for (int rank = 0; rank < world; rank++) {
            Members members = members_of(r, (Axis)axis, rank);
            r->group_of[axis][rank] = members.count == 1 ? -1 : r->group_of[axis][members.base];
            if (members.count == 1 || rank != members.base) continue;
            int *ranks = ARENA_ARRAY(r->arena, int, members.count);
            for (int i = 0; i < members.count; i++) ranks[i] = members.base + i * members.stride;
            r->group_of[axis][rank] = r->groups.count;
            LIST_PUSH(r->arena, &r->groups, ((RankGroup){ranks, ranks, members.count}));
        }
    }
}

static bool settle_ranks(LayerReading *r) {
    int world = r->program->cluster->gpu_count;
    if (r->world > 0 && r->world != world)
        return refuse(r, "give the cluster as many GPUs as the file says",
                      "the file is of %.0f GPUs, the cluster has %d", r->world, world);
    if (!r->tensor && r->policy->tensor && r->policy->data)
        return refuse(r, "for example: HYBRID_DATA_MODEL model_parallel_NPU_group: 8",
                      "this line does not say how many ranks share a model");
    if (!r->tensor) r->tensor = r->policy->tensor ? world : 1;
    if (!r->experts) r->experts = 1;
    if (!r->stages) r->stages = 1;
    if (world % (int)(r->tensor * r->stages) != 0 || world / (int)(r->tensor * r->stages) % (int)r->experts != 0)
        return refuse(r, "model_parallel_NPU_group x pp divides the GPUs, and ep what is left of them",
                      "%d GPUs are not divided by %.0f x %.0f and then by %.0f", world, r->tensor, r->stages,
                      r->experts);
    make_groups(r);
    return true;
}

// ---- Layers.
static bool take_exchange(LayerReading *r, char **words, Axis usual, Exchange *exchange) {
    static const struct {
        const char *name;
        CollectiveOp op;
    } ops[] = {{"ALLREDUCE", COLLECTIVE_ALL_REDUCE},
               {"ALLTOALL", COLLECTIVE_ALL_TO_ALL},
               {"ALLGATHER", COLLECTIVE_ALL_GATHER},
               {"REDUCESCATTER", COLLECTIVE_REDUCE_SCATTER}};
    static const struct {
        const char *suffix;
        Axis axis;
    } axes[] = {{"_EP", AXIS_EXPERTS}, {"_DP_EP", AXIS_DATA_OF_EXPERTS}};
    const char *word = words[0], *suffix = word + strcspn(word, "_");
    *exchange = (Exchange){.op = -1, .axis = usual};
    if (!whole(words[1], BYTES_MOST, &exchange->bytes))
        return refuse(r, "columns 5, 8 and 11 are bytes", "\"%.40s\" is no number of bytes", words[1]);
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (strlen(ops[i].name) == (size_t)(suffix - word) && strncmp(word, ops[i].name, (size_t)(suffix - word)) == 0)
            exchange->op = (int)ops[i].op;
    bool known = !*suffix;
    for (size_t i = 0; i < sizeof axes / sizeof *axes; i++)
        if (strcmp(suffix, axes[i].suffix) == 0) exchange->axis = axes[i].axis, known = true;
    if (strncmp(word, "NONE", 4) == 0) return true;
    if (exchange->op < 0 || !known)
        return refuse(r, "known: NONE, ALLREDUCE, ALLTOALL, ALLGATHER, REDUCESCATTER; behind it _EP or _DP_EP",
                      "\"%.40s\" is no collective that is known", word);
    return program_supports(r->program, (CollectiveOp)exchange->op, r->where, r->problems);
}

static bool take_time(LayerReading *r, const char *word, SimTime *time) {
    double nanoseconds = 0;
    if (!whole(word, NANOSECONDS_MOST, &nanoseconds))
        return refuse(r, "columns 3, 6, 9 and 12 are nanoseconds", "\"%.40s\" is no time", word);
    const SimTime ticks = TICKS_PER_SECOND_STEP / 1000000000; // of a nanosecond
    *time = (SimTime)(nanoseconds * (double)ticks);
    return true;
}

static bool take_layer(LayerReading *r, char *line) {
    char *words[COLUMNS], *rest = NULL;
    int count = 0;
    for (char *word = strtok_r(line, " \t\r", &rest); word; word = strtok_r(NULL, " \t\r", &rest)) {
        if (count == COLUMNS) return refuse(r, "a layer is a line", "this line has more than %d columns", COLUMNS);
        words[count++] = word;
    }
    if (count < COLUMNS)
        return refuse(r,
                      "name, -1, forward: ns collective bytes, gradients of inputs: the same, of weights: the same, "
                      "update: ns",
                      "this line has %d columns; a layer has %d", count, COLUMNS);
    Layer layer = {.label = r->labels.count};
    if (!take_time(r, words[2], &layer.forward.time) || !take_time(r, words[5], &layer.inputs.time) ||
        !take_time(r, words[8], &layer.weights.time) || !take_time(r, words[11], &layer.update) ||
        !take_exchange(r, words + 3, AXIS_TENSOR, &layer.forward.exchange) ||
        !take_exchange(r, words + 6, AXIS_TENSOR, &layer.inputs.exchange) ||
        !take_exchange(r, words + 9, AXIS_DATA, &layer.weights.exchange))
        return false;
    const char *name = letters_make_harmless(arena_printf(r->arena, "%.60s", words[0]), "");
    LIST_PUSH(r->arena, &r->labels, ((Label){name, r->where.file, r->where.line}));
    LIST_PUSH(r->arena, &r->layers, layer);
    return true;
}

static bool take_lines(LayerReading *r, char *text) {
    double said = 0;
    int filled = 0; // lines with anything in them
    for (char *at = text; *at;) {
        char *end = at + strcspn(at, "\n"), *from = at + strspn(at, " \t\r");
        bool more = *end;
        *end = '\0';
        r->where.line++;
        at = end + more;
        if (!*from) continue;
        from[strcspn(from, "\r")] = '\0';
        bool sound = filled == 0 ? take_policy(r, from) && settle_ranks(r)
                     : filled == 1
                         ? whole(from, LAYERS_MOST, &said) ||
                               refuse(r, "for example: 32", "the second line does not say how many layers there are")
                         : take_layer(r, from);
        if (!sound) return false;
        filled++;
    }
    r->layers_said = (int)said;
    return (filled > 1 && r->layers.count == r->layers_said) ||
           refuse(r, "a layer is a line", "the file says %d layers and has %d", r->layers_said, r->layers.count);
}

static bool mark_layers(LayerReading *r) {
    for (int list = 0; list < 2; list++)
        for (int i = 0; i < (list ? r->again_count : r->checkpoint_count); i++) {
            int at = list ? r->again[i] : r->checkpoints[i];
            if (at >= r->layers.count)
                return refuse(r, "layers count from 0", "there is no layer %d for a checkpoint", at);
            *(list ? &r->layers.items[at].again : &r->layers.items[at].checkpoint) = true;
        }
    return true;
}

// ---- A rank.
typedef struct Writing {
    const LayerReading *reading;
    Arena *scratch;
    OpGraph graph;
    int rank, most; // most: operations
    int behind[2];  // the operations that the next one waits for; -1: none
    int *last;      // [group] 1 + its last collective
} Writing;

static int add_op(Writing *w, RecordedOp op) {
    int number = w->graph.ops.count;
    LIST_PUSH(w->scratch, &w->graph.ops, op);
    for (int i = 0; i < 2; i++)
        if (w->behind[i] >= 0) LIST_PUSH(w->scratch, &w->graph.edges, ((GraphEdge){w->behind[i], number, false}));
    return number;
}

static void wait_for(Writing *w, int op, int other) {
    w->behind[0] = op;
    w->behind[1] = other;
}

static void add_work(Writing *w, const Layer *layer, SimTime time) {
    if (time > 0) wait_for(w, add_op(w, (RecordedOp){.cause = CAUSE_GEMM, .label = layer->label, .time = time}), -1);
}

// Its number, or -1 where there is nothing to exchange. Who comes next does not wait for it.
static int add_exchange(Writing *w, const Layer *layer, const Exchange *exchange) {
    static const uint8_t causes[] = {CAUSE_TP, CAUSE_DP, CAUSE_EP, CAUSE_DP};
    int group = exchange->op < 0 || exchange->bytes <= 0 ? -1 : w->reading->group_of[exchange->axis][w->rank];
    if (group < 0) return -1;
    bool gather = exchange->op == COLLECTIVE_ALL_GATHER && !w->reading->policy->whole;
    int number =
        add_op(w, (RecordedOp){.kind = RECORDED_COLLECTIVE,
                               .cause = causes[exchange->axis],
                               .op = (uint8_t)exchange->op,
                               .label = layer->label,
                               .group = group,
                               .bytes = exchange->bytes * (gather ? w->reading->groups.items[group].count : 1)});
    if (w->last[group]) LIST_PUSH(w->scratch, &w->graph.edges, ((GraphEdge){w->last[group] - 1, number, false}));
    w->last[group] = number + 1;
    return number;
}

static void add_forward(Writing *w, const Layer *layer) {
    add_work(w, layer, layer->forward.time);
    int exchanged = add_exchange(w, layer, &layer->forward.exchange);
    if (exchanged >= 0) wait_for(w, exchanged, -1);
}

static int add_weights(Writing *w, const Layer *layer) {
    add_work(w, layer, layer->weights.time);
    return add_exchange(w, layer, &layer->weights.exchange);
}

// Gradients of weights are on their way until the update; those of inputs are waited for.
static int add_backward(Writing *w, const Layer *layer) {
    bool beside = w->reading->policy->beside;
    int weights = beside ? -1 : add_weights(w, layer);
    add_work(w, layer, layer->inputs.time);
    int inputs = add_exchange(w, layer, &layer->inputs.exchange);
    if (beside) weights = add_weights(w, layer);
    if (inputs >= 0) wait_for(w, inputs, beside ? w->behind[0] : -1);
    return weights;
}

static void add_again(Writing *w, int at) {
    const Layer *layers = w->reading->layers.items;
    int from = at;
    while (from > 0 && !layers[from].checkpoint) from--;
    for (int i = from; i < at && w->graph.ops.count <= w->most; i++) add_forward(w, &layers[i]);
}

static bool write_rank(LayerReading *r, int rank) {
    Writing w = {.reading = r,
                 .scratch = arena_open(),
                 .rank = rank,
                 .most = OPS_MOST / r->program->cluster->gpu_count,
                 .behind = {-1, -1}};
    int count = r->layers.count, stuck = 0, *sent = ARENA_ARRAY(w.scratch, int, count);
    w.last = ARENA_ARRAY(w.scratch, int, r->groups.count);
    for (int i = 0; i < count; i++) add_forward(&w, &r->layers.items[i]);
    for (int i = count - 1; i >= 0; i--) {
        if (r->layers.items[i].again) add_again(&w, i);
        sent[i] = add_backward(&w, &r->layers.items[i]);
    }
    for (int i = count - 1; i >= 0; i--) {
        if (sent[i] >= 0) w.behind[1] = sent[i];
        add_work(&w, &r->layers.items[i], r->layers.items[i].update);
    }
    bool sound =
        w.graph.ops.count <= w.most && program_graph_record(r->arena, &w.graph, &r->program->ranks[rank], &stuck);
    arena_close(w.scratch);
    return sound || refuse(r, "take fewer layers or ranks", "there are more than %d operations in all ranks", OPS_MOST);
}

static void note_stages(const LayerReading *r) {
    ProgramSpec *program = r->program;
    const char **notes = ARENA_ARRAY(r->arena, const char *, program->note_count + 1);
    for (int i = 0; i < program->note_count; i++) notes[i] = program->notes[i];
    notes[program->note_count++] =
        arena_printf(r->arena,
                     "Each rank does the layers of its stage; %s says nothing of when %.0f stages wait for each "
                     "other and what they send.",
                     r->where.file, r->stages);
    program->notes = notes;
}

bool program_read_layers(Arena *arena, const char *path, char *text, ProgramSpec *program, Problems *problems) {
    LayerReading r = {.arena = arena, .problems = problems, .program = program, .where = {path, 0}};
    LIST_PUSH(arena, &r.labels, ((Label){"", NULL, 0}));
    for (int i = 0; i < program->group_count; i++) LIST_PUSH(arena, &r.groups, program->groups[i]);
    bool sound = take_lines(&r, text) && mark_layers(&r);
    for (int rank = 0; sound && rank < program->cluster->gpu_count; rank++) sound = write_rank(&r, rank);
    if (sound && r.stages > 1) note_stages(&r);
    program->groups = r.groups.items;
    program->group_count = r.groups.count;
    program->labels = r.labels.items;
    program->label_count = r.labels.count;
    return sound;
}
