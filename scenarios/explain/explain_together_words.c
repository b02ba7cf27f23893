// Combined changes: a sentence and a table of their joint gain.
#include <math.h>
#include <string.h>

#include "scenarios/explain/explain.h"
#include "sim/base/text.h"

static const Combination *best_of(const JobNow *now, int count) {
    for (int i = 0; i < now->together.count; i++)
        if (now->together.items[i].count == count) return &now->together.items[i];
    return NULL;
}

static const char *more_than_one(Arena *arena, const JobNow *now, const Combination *pair) {
    if (!now->first) return "";
    return arena_printf(arena, ", %s more than %s alone",
                        text_time(arena, pair->whole.gain.mean - now->first->gain.mean), now->first->title);
}

static const char *third_of(Arena *arena, const JobNow *now, const Combination *pair) {
    const Combination *three = best_of(now, TOGETHER_MOST);
    if (!three || three->whole.gain.mean - pair->whole.gain.mean < WHATIF_MATTERS * now->point.step_p50_s) return "";
    if (three->parts[0] == pair->parts[0] && three->parts[1] == pair->parts[1])
        return arena_printf(arena, " A third, %s, adds %s.", three->parts[TOGETHER_MOST - 1]->title,
                            text_time(arena, three->adds_s[TOGETHER_MOST - 1]));
    return arena_printf(arena, " Three, %s, save %s.", three->whole.title, text_time(arena, three->whole.gain.mean));
}

// Of a job that is not sure to fit: where no change alone makes it fit, or several do at less cost.
static void add_what_fits(Answer *answer, Arena *arena, const JobNow *now) {
    const Combination *some = fitting_together(now);
    const WhatIf *alone = now->fitting;
    const char *less = "";
    if (!some) return;
    if (alone && fits_surely(alone->step->chance_to_run_out))
        less = arena_printf(arena, "; that is %s less than with %s alone",
                            text_time(arena, some->whole.gain.mean - alone->gain.mean), alone->title);
    answer_say(answer, "Together",
               "%s make it fit, %s: memory then runs out with a chance of %s, and a step takes %s%s",
               some->count == 2 ? "two" : "three", some->whole.title,
               text_percent(arena, some->whole.step->chance_to_run_out), step_becomes(arena, now, &some->whole), less);
}

void explain_add_together(Answer *answer, Arena *arena, const JobNow *now) {
    const Combination *pair = best_of(now, 2);
    double step = now->point.step_p50_s;
    if (now->must_fit) {
        add_what_fits(answer, arena, now);
        return;
    }
    if (!pair || pair->whole.gain.mean - (now->first ? now->first->gain.mean : 0) < WHATIF_MATTERS * step) return;
    const WhatIf *whole = &pair->whole;
    answer_say(answer, "Together", "two, %s, save %s (%s; 90 %% range %s to %s)%s%s.%s", whole->title,
               text_time(arena, whole->gain.mean), text_percent(arena, whole->gain.mean / step),
               text_time(arena, whole->gain.low), text_time(arena, whole->gain.high), more_than_one(arena, now, pair),
               step_risk(arena, now, whole), third_of(arena, now, pair));
}

static const AnswerColumn columns[] = {
    {"change", "together", AS_TEXT, 0},
    {"step_s", NULL, AS_SECONDS, 0},
    {"gain_s", "saves", AS_SECONDS, 0},
    {"gain_share", NULL, AS_SHARE, 0},
    {"gain_p5_s", NULL, AS_SECONDS, 0},
    {"gain_p95_s", NULL, AS_SECONDS, 0},
    {"first_alone_s", NULL, AS_SECONDS, 0},
    {"second_adds_s", "second adds", AS_SECONDS, 1},
    {"third_adds_s", "third adds", AS_SECONDS, 2},
    {"cost_per_step", NULL, AS_MONEY, 0},
    {"memory_gib", NULL, AS_NUMBER, 0},
    {"chance_to_run_out", "OOM risk", AS_SHARE, 0},
};

void explain_add_together_table(Answer *answer, const JobNow *now) {
    answer_table(answer, "together", "What would help together: changes simulated as one", COLUMNS(columns));
    for (int k = 0; k < now->together.count; k++) {
        const Combination *one = &now->together.items[k];
        const WhatIf *whole = &one->whole;
        ANSWER_CELLS(answer, whole->title, answer_of(AS_SECONDS, whole->then), answer_of(AS_SECONDS, whole->gain.mean),
                     answer_of(AS_SHARE, whole->gain.mean / now->point.step_p50_s),
                     answer_of(AS_SECONDS, whole->gain.low), answer_of(AS_SECONDS, whole->gain.high));
        for (int i = 0; i < TOGETHER_MOST; i++)
            answer_cell(answer, answer_of(AS_SECONDS, i < one->count ? one->adds_s[i] : NAN));
        ANSWER_CELLS(answer, answer_of(AS_MONEY, whole->cost),
                     answer_of(AS_NUMBER, whole->step->memory_bytes / 1073741824.0),
                     answer_of(AS_SHARE, whole->step->chance_to_run_out));
    }
    answer_note(
        answer,
        "Saves: all of them, of the step, at the same global batch. Second adds: that less what the first saves "
        "or costs alone (a dash: it does not run alone); third adds: that less what the first two give; what "
        "only makes room in memory may add less than nothing. OOM risk: the chance that memory of the fullest "
        "GPU runs out.");
}
