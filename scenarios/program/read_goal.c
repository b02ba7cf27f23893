// Reader of GOAL, the language of LogGOPSim (Hoefler, Schneider and Lumsdaine, 2010; spcl/LogGOPSim, txt2bin): each
// rank's sends, receives and calculations, and their dependencies. The attributes cpu and nic are read but have no
// effect: unordered operations are concurrent, and transfers share the links of the cluster.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/program/program.h"
#include "sim/base/list.h"
#include "sim/base/text.h"

#define WORDS_MOST 12
#define OPS_MOST 20000000
#define BYTES_MOST 1e15
#define NANOSECONDS_MOST 1e15

typedef struct GoalReading {
    Arena *arena, *scratch; // scratch: of the rank that is read
    Problems *problems;
    ProgramSpec *program;
    const char *path;
    int line, ranks_said, rank, op_count; // rank -1: between ranks; ranks_said 0: not yet known
    int next_rank;
    OpGraph graph;
    NameIndex *names; // of the rank's labels
    LIST_OF(Label) labels;
    bool stopped;
} GoalReading;

static bool refuse(GoalReading *r, const char *hint, const char *format, ...) __attribute__((format(printf, 3, 4)));
static bool refuse(GoalReading *r, const char *hint, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char *text = arena_vprintf(r->arena, format, arguments);
    va_end(arguments);
    problem_add(r->problems, (Where){r->path, r->line}, "%s", letters_make_harmless(text, ""));
    problem_hint(r->problems, "%s", hint);
    r->stopped = true;
    return false;
}

// An integer with an optional unit ("b" of bytes).
static bool whole(const char *word, const char *unit, double most, double *value) {
    char *end;
    if (!word || !isdigit((unsigned char)*word)) return false;
    *value = strtod(word, &end);
    return strspn(word, "0123456789") == (size_t)(end - word) && strcmp(end, unit) == 0 && *value <= most;
}

// ---- Statements.
static void start_rank(GoalReading *r, int rank) {
    r->rank = rank;
    r->scratch = arena_open();
    r->graph = (OpGraph){0};
    r->names = name_index_create(r->scratch, strcmp);
}

static bool end_rank(GoalReading *r) {
    int stuck = 0, rank = r->rank;
    bool ok = program_graph_record(r->arena, &r->graph, &r->program->ranks[rank], &stuck);
    int line = ok || stuck < 0 ? r->line : r->labels.items[r->graph.ops.items[stuck].label].line;
    arena_close(r->scratch);
    r->rank = -1;
    if (ok) return true;
    r->line = line;
    return stuck < 0 ? refuse(r, "order them by requires", "rank %d does more than %d things side by side", rank,
                              GRAPH_STREAMS_MOST)
                     : refuse(r, "its requires and irequires go round in a circle",
                              "what rank %d does here comes before itself", rank);
}

// [tag T] [cpu C] [nic N], in this order.
static bool take_options(GoalReading *r, char **words, int count, bool transfer, RecordedOp *op) {
    static const char *const names[] = {"tag", "cpu", "nic"};
    int at = 0;
    for (int i = transfer ? 0 : 1; i < (transfer ? 3 : 2); i++) {
        double number;
        if (at >= count || strcmp(words[at], names[i]) != 0) continue;
        if (i == 0 && at + 1 < count && (strcmp(words[at + 1], "-1") == 0 || strcmp(words[at + 1], "4294967295") == 0))
            return refuse(r, "give sends and receives the same tag",
                          "a receive of any tag is not known before the run, and not read");
        if (at + 1 >= count || !whole(words[at + 1], "", 4294967295.0, &number))
            return refuse(r, "for example: tag 5", "%s takes a whole number", names[i]);
        if (i == 0) op->tag = (int64_t)number;
        at += 2;
    }
    return at == count || refuse(r, "expected [tag T] [cpu C] [nic N], in this order, and the end of the line",
                                 "\"%.40s\" is not understood here", words[at]);
}

static bool take_transfer(GoalReading *r, char **words, int count, RecordedOp *op) {
    bool send = op->kind == RECORDED_SEND;
    const char *hint = send ? "for example: l1: send 1024b to 3 tag 5" : "for example: l1: recv 1024b from 3 tag 5";
    double peer;
    if (count < 4 || !whole(words[1], "b", BYTES_MOST, &op->bytes) || strcmp(words[2], send ? "to" : "from") != 0)
        return refuse(r, hint, "this %s does not say its bytes and the other rank", words[0]);
    if (strcmp(words[3], "-1") == 0 || strcmp(words[3], "4294967295") == 0)
        return refuse(r, "name the rank that sends",
                      "a receive from any rank is not known before the run, and not read");
    if (!whole(words[3], "", 1e9, &peer) || peer >= r->ranks_said)
        return refuse(r, "ranks count from 0", "there is no rank %.20s: num_ranks is %d", words[3], r->ranks_said);
    op->peer = (int32_t)peer;
    if (op->peer == r->rank) return refuse(r, "leave it out", "rank %d would send to itself", r->rank);
    return take_options(r, words + 4, count - 4, true, op);
}

static bool take_op(GoalReading *r, const char *label, char **words, int count) {
    bool calc = strcmp(words[0], "calc") == 0, send = strcmp(words[0], "send") == 0;
    RecordedOp op = {.kind = calc   ? RECORDED_WORK
                             : send ? RECORDED_SEND
                                    : RECORDED_RECV,
                     .cause = calc ? CAUSE_GEMM : CAUSE_PP,
                     .label = r->labels.count};
    double nanoseconds;
    if (r->op_count++ == OPS_MOST)
        return refuse(r, "take fewer ranks", "the file has more than %d operations", OPS_MOST);
    if (calc && (count < 2 || !whole(words[1], "", NANOSECONDS_MOST, &nanoseconds)))
        return refuse(r, "for example: l2: calc 1500", "this calc does not say how many nanoseconds it takes");
    if (calc) op.time = (SimTime)nanoseconds * (TICKS_PER_SECOND_STEP / 1000000000);
    if (!(calc ? take_options(r, words + 2, count - 2, false, &op) : take_transfer(r, words, count, &op))) return false;
    const char *name = label ? arena_copy_text(r->scratch, label) : NULL;
    if (name && name_index_add(r->names, name, r->graph.ops.count) >= 0)
        return refuse(r, "a label stands for one operation of its rank", "rank %d has a label \"%.40s\" already",
                      r->rank, label);
    LIST_PUSH(r->arena, &r->labels, ((Label){calc ? "calc" : send ? "send" : "recv", r->path, r->line}));
    LIST_PUSH(r->scratch, &r->graph.ops, op);
    return true;
}

static bool take_edge(GoalReading *r, char **words) {
    int ends[2];
    for (int i = 0; i < 2; i++) {
        ends[i] = name_index_find(r->names, words[2 * i]);
        if (ends[i] < 0)
            return refuse(r, "a label is defined before it is used: l1: calc 100",
                          "rank %d has no label \"%.40s\" so far", r->rank, words[2 * i]);
    }
    GraphEdge edge = {ends[1], ends[0], words[1][0] == 'i'};
    LIST_PUSH(r->scratch, &r->graph.edges, edge);
    return true;
}

static bool take_ranks(GoalReading *r, const char *word) {
    double number;
    int gpus = r->program->cluster->gpu_count;
    if (r->ranks_said) return refuse(r, "it stands once, before all ranks", "num_ranks is said twice");
    if (!whole(word, "", 1e6, &number) || number < 1)
        return refuse(r, "for example: num_ranks 8", "num_ranks is \"%.20s\"; expected 1 to 1,000,000", word);
    if ((int)number != gpus)
        return refuse(r, "give the cluster as many GPUs as the file has ranks",
                      "the file has %.0f ranks, and the cluster %d GPUs", number, gpus);
    r->ranks_said = (int)number;
    return true;
}

static bool take_rank(GoalReading *r, const char *word) {
    double number;
    if (!r->ranks_said) return refuse(r, "for example: num_ranks 8", "num_ranks does not stand before the ranks");
    if (!whole(word, "", 1e6, &number) || (int)number != r->next_rank || r->next_rank >= r->ranks_said)
        return refuse(r, "ranks stand in rising order, each once: rank 0 { … }",
                      "expected rank %d of %d, and not \"%.20s\"", r->next_rank, r->ranks_said, word);
    r->next_rank++;
    start_rank(r, (int)number);
    return true;
}

static bool is_op(const char *word) {
    return strcmp(word, "send") == 0 || strcmp(word, "recv") == 0 || strcmp(word, "calc") == 0;
}

static bool take_statement(GoalReading *r, char **words, int count) {
    static const char known[] =
        "known: num_ranks N, rank R {, [label:] send, recv or calc, A requires B, A irequires B, }";
    bool within = r->rank >= 0;
    size_t length = strlen(words[0]);
    if (within && count == 1 && strcmp(words[0], "}") == 0) return end_rank(r);
    if (within && count > 1 && words[0][length - 1] == ':' && is_op(words[1])) {
        words[0][length - 1] = '\0';
        return take_op(r, words[0], words + 1, count - 1);
    }
    if (within && is_op(words[0])) return take_op(r, NULL, words, count);
    if (within && count == 3 && (strcmp(words[1], "requires") == 0 || strcmp(words[1], "irequires") == 0))
        return take_edge(r, words);
    if (!within && count == 2 && strcmp(words[0], "num_ranks") == 0) return take_ranks(r, words[1]);
    if (!within && count == 3 && strcmp(words[0], "rank") == 0 && strcmp(words[2], "{") == 0)
        return take_rank(r, words[1]);
    return refuse(r, known, "\"%.40s\" is not understood %s", words[0], within ? "within a rank" : "between ranks");
}

// ---- Lines. Comments are allowed where a statement could begin.
static void take_line(GoalReading *r, char *line) {
    char *words[WORDS_MOST], *rest = NULL;
    int count = 0;
    for (char *word = strtok_r(line, " \t\r", &rest); word; word = strtok_r(NULL, " \t\r", &rest)) {
        if (count == 0 && strncmp(word, "//", 2) == 0) return;
        if (count == WORDS_MOST) {
            refuse(r, "one statement stands on a line", "this line has more than %d words", WORDS_MOST);
            return;
        }
        words[count++] = word;
    }
    if (count > 0) take_statement(r, words, count);
}

static void take_lines(GoalReading *r, char *text) {
    bool comment = false;
    for (char *at = text; *at && !r->stopped;) {
        char *end = at + strcspn(at, "\n"), *from = at + strspn(at, " \t\r");
        bool more = *end;
        *end = '\0';
        r->line++;
        if (!comment && strncmp(from, "/*", 2) == 0) comment = true;
        char *close = comment ? strstr(from, "*/") : NULL;
        if (close) from = close + 2;
        if (!comment || close) take_line(r, from);
        comment = comment && !close;
        at = end + more;
    }
}

bool program_read_goal(Arena *arena, const char *path, char *text, ProgramSpec *program, Problems *problems) {
    int before = problems_added(problems), world = program->cluster->gpu_count;
    GoalReading r = {.arena = arena, .problems = problems, .program = program, .path = path, .rank = -1};
    LIST_PUSH(arena, &r.labels, ((Label){"", NULL, 0}));
    take_lines(&r, text);
    if (r.rank >= 0) arena_close(r.scratch);
    if (!r.stopped && r.rank >= 0)
        refuse(&r, "a } ends it", "the file ends within rank %d", r.rank);
    else if (!r.stopped && r.next_rank < world)
        refuse(&r, "write rank R { } for one that does nothing", "the file says nothing of rank %d", r.next_rank);
    program->labels = r.labels.items;
    program->label_count = r.labels.count;
    return problems_added(problems) == before;
}
