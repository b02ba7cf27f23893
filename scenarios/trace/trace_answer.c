// The answer of a trace: tables of what was recorded.
#include "scenarios/trace/trace_answer.h"

#include <math.h>
#include <stdlib.h>

#include "results/answer/as.h"
#include "sim/base/text.h"

#define ROWS_SHOWN 12 // of a rank

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
        ANSWER_ROW(answer, answer_of(AS_WHOLE, set->processes[sum->process].id),
                   answer_of_text(sum->main ? "main" : "beside"), answer_of_text(set->names[sum->name]),
                   answer_of_text(set->categories[sum->category]), answer_of(AS_COUNT, (double)sum->count),
                   seconds(arena, total), seconds(arena, total / (double)sum->count),
                   seconds(arena, step_seconds(sum->longest)), share(total / step_seconds(set->end)));
        if (of_rank >= ROWS_SHOWN) answer_row_detail(answer, FOR_VERBOSE);
    }
}

// ---- What is resident, in the terms of Holistic Trace Analysis (facebookresearch/HolisticTraceAnalysis,
// hta/analyzers/breakdown_analysis.py and communication_analysis.py): communication beside computation is computation,
// what is exposed of it is "non compute", the rest idle.

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
        ANSWER_ROW(answer, answer_of(AS_WHOLE, set->processes[p].id), seconds(arena, compute), share(compute / end),
                   seconds(arena, exposed), share(exposed / end), seconds(arena, step_seconds(b->exposed_memory)),
                   seconds(arena, host), seconds(arena, other), share((host + other) / end),
                   seconds(arena, communication),
                   share(communication > 0 ? step_seconds(b->overlap) / communication : NAN));
    }
}

// ---- The answer.

// why_not NULL: it runs.
static Answer *answer_for(Arena *arena, const SpanSet *set, const char *why_not) {
    Answer *answer = answer_create(arena, NULL);
    answer_title(answer, set->title);
    answer_bool(answer, "ran", NULL, !why_not);
    if (why_not) answer_text(answer, "why_not", NULL, why_not);
    answer_number(answer, "step_s", NULL, AS_SECONDS, why_not ? NAN : step_seconds(set->end));
    answer_number(answer, "operation_count", NULL, AS_WHOLE, (double)set->seen);
    return answer;
}

void trace_print(Arena *arena, FILE *out, const SpanSet *set, const TraceAnswer *wanted) {
    const Style *style = &wanted->style;
    bool all = wanted->form == ANSWER_JSON;
    Answer *answer = answer_for(arena, set, NULL);
    if (wanted->top || all) add_operations(answer, arena, set);
    if (wanted->breakdown || all) add_breakdown(answer, arena, set);
    if (wanted->form == ANSWER_SCREEN)
        fprintf(out, "%s: a step of %s\n", text_clean(arena, set->title, style->unicode),
                text_time(arena, step_seconds(set->end)));
    if (wanted->lines) trace_print_lines(arena, out, set, wanted);
    if (wanted->form == ANSWER_SCREEN && (wanted->top || wanted->breakdown)) fputc('\n', out);
    answer_give(arena, out, answer, wanted->form, style, wanted->verbose);
}

void trace_print_refusal(Arena *arena, FILE *out, const char *title, const char *why_not) {
    const SpanSet none = {.title = title};
    Answer *answer = answer_for(arena, &none, why_not);
    add_operations(answer, arena, &none);
    add_breakdown(answer, arena, &none);
    answer_as_json(out, answer);
}
