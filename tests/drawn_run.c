#include "tests/drawn_run.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/answer/record_answer.h"
#include "scenarios/lua/scenario.h"
#include "sim/base/check.h"
#include "sim/data/json.h"
#include "sim/system/watch.h"
#include "tests/fuzz/folder.h"
#include "tests/fuzz/kept.h"

#define WHOLE_GPUS 32      // so many are simulated rank by rank too
#define WHOLE_EVENTS 20000 // of the folded run, at most

static const char *write_study(const DrawnStudy *study) {
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    CHECK(out);
    drawn_write(study, out);
    fclose(out);
    const char *path = fuzz_file("study.lua", text, bytes);
    free(text);
    return path;
}

// ---- What must be so of any answer.

static void check_problems(const Problems *problems) {
    for (int i = 0; i < problem_count(problems); i++) CHECK(*problem_at(problems, i)->text);
}

static bool is_share(double value) { return isnan(value) || (value >= 0 && value <= 1); }

static void check_times(const RecordPoint *point) {
    double seconds = 0;
    CHECK(isfinite(point->step_p50_s) && point->step_p50_s > 0);
    CHECK(point->step_p5_s <= point->step_p50_s && point->step_p50_s <= point->step_p95_s);
    for (int i = 0; i < point->exposed_count; i++) {
        CHECK(point->exposed[i].value >= 0);
        seconds += point->exposed[i].value;
    }
    CHECK(isfinite(seconds));
}

static void check_point(const RecordPoint *point) {
    if (!point->ran) {
        CHECK(point->why_not && *point->why_not);
        return;
    }
    check_times(point);
    CHECK(is_share(point->mfu) && is_share(point->hfu) && is_share(point->goodput));
    CHECK(isfinite(point->memory_peak_bytes) && point->memory_peak_bytes > 0);
    CHECK(isfinite(point->samples_per_s) && point->samples_per_s > 0);
    CHECK(isnan(point->cost_per_hour) || (isfinite(point->cost_per_hour) && point->cost_per_hour >= 0));
}

static bool is_word(const char *text, const char *at, size_t length) {
    return (at == text || !isalnum((unsigned char)at[-1])) && !isalnum((unsigned char)at[length]);
}

// A number that nobody knows is left out or "-"; it is never printed as one.
static void check_text(const char *text) {
    static const char *const words[] = {"nan", "inf"};
    for (size_t w = 0; w < sizeof words / sizeof *words; w++)
        for (const char *at = text; (at = strstr(at, words[w])) != NULL; at++)
            CHECK(!is_word(text, at, strlen(words[w])));
}

static void check_forms(Arena *arena, const Record *record) {
    const Style plain = {.plain = true}, screen = {.color = true, .unicode = true, .width = 100};
    for (int form = 0; form < 4; form++) {
        char *text = NULL;
        size_t bytes = 0;
        FILE *out = open_memstream(&text, &bytes);
        CHECK(out);
        static const AnswerForm forms[] = {ANSWER_CSV, ANSWER_JSON, ANSWER_SCREEN, ANSWER_SCREEN};
        record_write(out, record, forms[form], form == 2 ? &plain : &screen, true);
        fclose(out);
        CHECK(bytes > 0);
        check_text(text);
        if (form == 1) CHECK(json_read_text(arena, "record", text, bytes, problems_create(arena)));
        free(text);
    }
}

// ---- Running.

static const Record *run(Arena *arena, const StudySpec *study, bool whole) {
    StudySpec asked = *study;
    asked.unfolded = whole;
    Problems *problems = problems_create(arena);
    const Record *record = study_run(arena, &asked, problems);
    CHECK(record || problem_count(problems) > 0);
    check_problems(problems);
    return record;
}

static bool is_small(const Record *record) {
    int64_t events = 0;
    for (int i = 0; i < record->point_count; i++) {
        events += record->points[i].event_count;
        if (record->points[i].gpu_count > WHOLE_GPUS) return false;
    }
    return events <= WHOLE_EVENTS;
}

static void check_same_times(const Record *folded, const Record *whole) {
    CHECK(whole && whole->point_count == folded->point_count);
    for (int i = 0; i < folded->point_count; i++) {
        const RecordPoint *a = &folded->points[i], *b = &whole->points[i];
        if (!a->ran) continue; // by the limit of events, which is wider for the whole
        CHECK(b->ran);
        CHECK(a->step_p50_s == b->step_p50_s);
    }
}

static bool draws_by_class(const StudySpec *study) {
    bool draws = study->training.jitter > 0, by_class = study->training.jitter_by == JITTER_BY_CLASS;
    for (int i = 0; i < study->vary_count; i++) {
        draws = draws || strcmp(study->vary[i].name, "jitter") == 0;
        by_class = by_class || strcmp(study->vary[i].name, "jitter_by") == 0;
    }
    return draws && by_class;
}

static DrawnEnd run_study(Arena *arena, const StudySpec *study, bool twins, double most_events) {
    const Record *record = run(arena, study, false);
    if (!record) return DRAWN_REFUSED;
    DrawnEnd end = DRAWN_REFUSED;
    for (int i = 0; i < record->point_count; i++) {
        check_point(&record->points[i]);
        if (record->points[i].ran) end = DRAWN_RAN;
    }
    check_forms(arena, record);
    if (!twins || !is_small(record)) return end;
    const Record *again = run(arena, study, false);
    CHECK(again && again->digest == record->digest);
    if (draws_by_class(study)) return end; // whole: by GPU
    watch_open(&(WatchLimits){.events = most_events * WHOLE_GPUS});
    check_same_times(record, run(arena, study, true));
    watch_open(&(WatchLimits){.events = most_events});
    return end;
}

DrawnEnd drawn_run(const DrawnStudy *study, bool twins, double most_events) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    ScenarioRequest request = {.file = write_study(study), .seed = 1};
    const Scenario *scenario = scenario_load(arena, kept_catalogue(), &request, problems, problems_create(arena));
    CHECK(!scenario == (problem_count(problems) > 0));
    check_problems(problems);
    DrawnEnd end = DRAWN_REFUSED;
    watch_open(&(WatchLimits){.events = most_events});
    for (int i = 0; scenario && i < scenario->item_count; i++)
        end = run_study(arena, scenario->items[i].study, twins, most_events);
    watch_close();
    arena_close(arena);
    return end;
}
