// The answer of a trace: tables of the recorded spans.
#include "scenarios/trace/trace_answer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/base/text.h"

#define ROWS_SHOWN 12 // of a rank
#define FIRST_ROWS 14 // of all
#define MOST_LINES 32 // ranks; all with -v
#define WIDEST 200
#define LEAST_WIDE 20

static AnswerValue seconds(Arena *arena, double value) {
    return answer_shown(AS_SECONDS, value, text_time(arena, value));
}

static AnswerValue share(double value) { return answer_of(AS_SHARE, value); }

// ---- What took longest.

static int by_total(const void *a, const void *b) {
    const SpanSum *one = a, *other = b;
    if (one->process != other->process) return one->process < other->process ? -1 : 1;
    if (one->main != other->main) return one->main ? -1 : 1;
    if (one->total != other->total) return one->total < other->total ? 1 : -1;
    return (one->name > other->name) - (one->name < other->name);
}

// The first rows of every rank on the first screen.
static void add_operations(Answer *answer, Arena *arena, const SpanSet *set) {
    static const AnswerColumn columns[] = {
        {"rank", "rank", AS_WHOLE, 0},          {"stream", "stream", AS_TEXT, 3},
        {"operation", "operation", AS_TEXT, 0}, {"cause", "cause", AS_TEXT, 2},
        {"count", "count", AS_COUNT, 0},        {"total_s", "total", AS_SECONDS, 0},
        {"mean_s", "mean", AS_SECONDS, 1},      {"longest_s", "longest", AS_SECONDS, 1},
        {"share", "of the step", AS_SHARE, 0},
    };
    SpanSum *sums = ARENA_ARRAY(arena, SpanSum, set->sum_count);
    for (int i = 0; i < set->sum_count; i++) sums[i] = set->sums[i];
    qsort(sums, (size_t)set->sum_count, sizeof *sums, by_total);
    answer_table(answer, "operations", "What takes longest, by rank", COLUMNS(columns));
    for (int i = 0, of_rank = 0; i < set->sum_count; i++) {
        const SpanSum *sum = &sums[i];
        double total = step_seconds(sum->total);
        of_rank = i > 0 && sum->process == sums[i - 1].process ? of_rank + 1 : 0;
        ANSWER_ROW(answer, set->processes[sum->process].id, sum->main ? "main" : "beside", set->names[sum->name],
                   set->categories[sum->category], (double)sum->count, seconds(arena, total),
                   seconds(arena, total / (double)sum->count), seconds(arena, step_seconds(sum->longest)),
                   share(total / step_seconds(set->end)));
        if (of_rank >= ROWS_SHOWN) answer_row_detail(answer, FOR_VERBOSE);
    }
    answer_first_rows(answer, FIRST_ROWS);
}

// ---- GPU activity as defined by Holistic Trace Analysis (facebookresearch/HolisticTraceAnalysis,
// hta/analyzers/breakdown_analysis.py and communication_analysis.py): communication overlapped by computation is
// computation, exposed communication is "non compute", the rest idle.

static void add_breakdown(Answer *answer, Arena *arena, const SpanSet *set) {
    static const AnswerColumn columns[] = {
        {"rank", "rank", AS_WHOLE, 0},
        {"compute_s", "compute", AS_SECONDS, 0},
        {"compute_share", "of the step", AS_SHARE, 0},
        {"exposed_communication_s", "exposed communication", AS_SECONDS, 0},
        {"exposed_communication_share", "of the step", AS_SHARE, 0},
        {"exposed_memory_s", "exposed copies", AS_SECONDS, 0},
        {"idle_host_s", "idle, host", AS_SECONDS, 0},
        {"idle_other_s", "idle, other", AS_SECONDS, 0},
        {"idle_share", "of the step", AS_SHARE, 0},
        {"communication_s", "communication", AS_SECONDS, 0},
        {"overlap_share", "overlapped", AS_SHARE, 0},
    };
    answer_table(answer, "breakdown", "What GPUs had resident (Holistic Trace Analysis)", COLUMNS(columns));
    for (int p = 0; p < set->process_count; p++) {
        const SpanBreakdown *b = &set->breakdowns[p];
        double end = step_seconds(set->end), compute = step_seconds(b->compute), host = step_seconds(b->idle_host),
               other = step_seconds(b->idle_other), exposed = step_seconds(b->exposed_communication),
               communication = step_seconds(b->communication);
        ANSWER_ROW(answer, set->processes[p].id, seconds(arena, compute), share(compute / end), seconds(arena, exposed),
                   share(exposed / end), seconds(arena, step_seconds(b->exposed_memory)), seconds(arena, host),
                   seconds(arena, other), share((host + other) / end), seconds(arena, communication),
                   share(communication > 0 ? step_seconds(b->overlap) / communication : NAN));
    }
}

// ---- The step as lines of letters, one for each rank: a column is a stretch of time, its letter what most of it went
// to.

// Main activity in a column's time span; partial bins count by their overlap with it. -1: nothing recorded.
static int kind_in(const SpanSet *set, const SpanLane *lane, SimTime start, SimTime end) {
    int best = -1;
    double most = 0;
    for (int k = 0; k < set->kind_count; k++) {
        double spent = 0;
        for (int64_t b = start / lane->width; b < lane->bin_count && b * lane->width < end; b++) {
            SimTime from = b * lane->width > start ? b * lane->width : start;
            SimTime to = (b + 1) * lane->width < end ? (b + 1) * lane->width : end;
            spent += (double)lane->spent[b * set->kind_count + k] * (double)(to - from) / (double)lane->width;
        }
        if (spent <= most) continue;
        most = spent;
        best = k;
    }
    return best;
}

static const char *lane_text(Arena *arena, const SpanSet *set, const SpanLane *lane, int columns) {
    char *text = arena_alloc(arena, (size_t)columns + 1);
    for (int c = 0; c < columns; c++) {
        int kind = kind_in(set, lane, (SimTime)((double)set->end * c / columns),
                           (SimTime)((double)set->end * (c + 1) / columns));
        text[c] = ' ';
        if (kind >= 0) text[c] = set->kinds[kind].letter;
    }
    text[columns] = '\0';
    return text;
}

static void add_lanes(Answer *answer, Arena *arena, const SpanSet *set, int from, int to, int name_width, int columns) {
    size_t longest = (size_t)(name_width + columns) + 32, at = 0; // of a line
    char *text = arena_alloc(arena, (size_t)(to > from ? to - from : 0) * longest + 1);
    for (int p = from; p < to; p++) {
        const char *name = arena_printf(arena, "rank %d", set->processes[p].id);
        at += (size_t)snprintf(text + at, longest, "%-*s  %s|\n", name_width, name,
                               lane_text(arena, set, &set->lanes[p], columns));
    }
    if (from < to) answer_verbatim(answer, text);
}

// "F  forward, 31 %": of the time of all ranks.
static void add_legend(Answer *answer, Arena *arena, const SpanSet *set) {
    double all = (double)set->end * set->process_count, *spent = ARENA_ARRAY(arena, double, set->kind_count);
    const char *text = "";
    for (int p = 0; p < set->process_count; p++)
        for (int b = 0; b < set->lanes[p].bin_count; b++)
            for (int k = 0; k < set->kind_count; k++) spent[k] += (double)set->lanes[p].spent[b * set->kind_count + k];
    for (int k = 0; k < set->kind_count; k++)
        if (spent[k] > 0)
            text = arena_printf(arena, "%s  %c  %s, %.1f %%\n", text, set->kinds[k].letter, set->kinds[k].name,
                                100 * spent[k] / all);
    answer_verbatim(answer, text);
}

static void add_lines(Answer *answer, Arena *arena, const SpanSet *set, int width) {
    int first = set->process_count < MOST_LINES ? set->process_count : MOST_LINES, name_width = 0;
    for (int p = 0; p < set->process_count; p++) {
        int length = snprintf(NULL, 0, "rank %d", set->processes[p].id);
        if (length > name_width) name_width = length;
    }
    int columns = (width < WIDEST ? width : WIDEST) - name_width - 3;
    if (columns < LEAST_WIDE) columns = LEAST_WIDE;
    answer_say(answer, NULL, "What each rank is at; a column is %s",
               text_time(arena, step_seconds(set->end) / columns));
    add_lanes(answer, arena, set, 0, first, name_width, columns);
    answer_open(answer, NULL, NULL);
    answer_detail(answer, FOR_VERBOSE);
    add_lanes(answer, arena, set, first, set->process_count, name_width, columns);
    answer_close(answer);
    add_legend(answer, arena, set);
}

// ---- The answer.

static void add_facts(Answer *answer, const SpanSet *set, const char *why_not) {
    answer_title(answer, set->title);
    answer_bool(answer, "ran", NULL, !why_not);
    if (why_not) answer_text(answer, "why_not", NULL, why_not);
    answer_number(answer, "step_s", NULL, AS_SECONDS, why_not ? NAN : step_seconds(set->end));
    answer_number(answer, "operation_count", NULL, AS_WHOLE, (double)set->seen);
}

void trace_answer(Answer *answer, Arena *arena, const SpanSet *set, const TraceAnswer *wanted) {
    answer_say(answer, NULL, "%s: a step of %s%s", set->title, text_time(arena, step_seconds(set->end)),
               set->beside_end ? set->beside_end : "");
    add_facts(answer, set, NULL);
    if (wanted->width > 0) add_lines(answer, arena, set, wanted->width);
    answer_open(answer, NULL, NULL);
    if (!wanted->top) answer_detail(answer, FOR_PROGRAMS);
    add_operations(answer, arena, set);
    answer_close(answer);
    answer_open(answer, NULL, NULL);
    if (!wanted->breakdown) answer_detail(answer, FOR_PROGRAMS);
    if (wanted->breakdown || wanted->all) add_breakdown(answer, arena, set);
    answer_close(answer);
    answer_main_called(answer, wanted->top || !wanted->breakdown ? "operations" : "breakdown");
}

void trace_answer_refusal(Answer *answer, Arena *arena, const char *title, const char *why_not) {
    const SpanSet none = {.title = title};
    add_facts(answer, &none, why_not);
    add_operations(answer, arena, &none);
    add_breakdown(answer, arena, &none);
}
