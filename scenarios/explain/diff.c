// Parts of a difference. Causes that one side does not separate are one part of both sides.
#include "scenarios/explain/diff.h"

#include <math.h>
#include <string.h>

#include "models/workload/cost/cost.h"
#include "sim/base/list.h"

#define ALL_CAUSES ((UINT32_C(1) << CAUSE_COUNT) - 1)

DiffSide diff_side_named(const char *name) {
    return (DiffSide){.name = name,
                      .step_s = NAN,
                      .samples = NAN,
                      .memory_bytes = NAN,
                      .cost_per_step = NAN,
                      .power_watts = NAN,
                      .joules_per_step = NAN,
                      .days = NAN,
                      .cost_per_run = NAN,
                      .energy_kwh = NAN,
                      .carbon_kg = NAN,
                      .currency = "",
                      .published_step_s = NAN};
}

void diff_close_side(Arena *arena, DiffSide *side) {
    double sum = 0;
    uint32_t known = 0;
    for (int i = 0; i < side->cause_count; i++) {
        sum += side->causes[i].seconds;
        known |= side->causes[i].covers;
    }
    double rest = side->step_s - sum;
    if (side->cause_count > 0 && fabs(rest) <= 1e-9 * side->step_s) return;
    uint32_t unknown = ALL_CAUSES & ~known;
    DiffCause *causes = ARENA_ARRAY(arena, DiffCause, side->cause_count + 1);
    for (int i = 0; i < side->cause_count; i++) causes[i] = side->causes[i];
    causes[side->cause_count++] =
        (DiffCause){"not_told_apart", unknown ? "Not told apart" : "Of no cause that was told", rest, unknown};
    side->causes = causes;
}

#define LEAST_STEP_S 1e-15
#define LARGEST_FIGURE 1e30

static bool is_workable(double value) { return isnan(value) || fabs(value) <= LARGEST_FIGURE; }

static bool refuse_figure(const char *what, double value, Where where, Problems *problems) {
    problem_add(problems, where, "%.80s is %g here, which cannot be compared with anything", what, value);
    problem_hint(problems, "seconds, bytes, watts and money are bare numbers; steps take %g s or more", LEAST_STEP_S);
    return false;
}

bool diff_check_side(DiffSide *side, Where where, Problems *problems) {
    const struct {
        const char *what;
        double value;
    } figures[] = {{"the step's time", side->step_s},
                   {"its number of samples", side->samples},
                   {"the peak of memory", side->memory_bytes},
                   {"what a step costs", side->cost_per_step},
                   {"power", side->power_watts},
                   {"a step's energy", side->joules_per_step},
                   {"the number of days", side->days},
                   {"what the run costs", side->cost_per_run},
                   {"the run's energy", side->energy_kwh},
                   {"the run's carbon", side->carbon_kg}};
    if (side->step_s < LEAST_STEP_S) return refuse_figure(figures[0].what, side->step_s, where, problems);
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        if (!is_workable(figures[i].value)) return refuse_figure(figures[i].what, figures[i].value, where, problems);
    for (int i = 0; i < side->cause_count; i++)
        if (!is_workable(side->causes[i].seconds))
            return refuse_figure(side->causes[i].title, side->causes[i].seconds, where, problems);
    for (int i = 0; i < side->memory_count; i++)
        if (!is_workable(side->memory[i].value))
            return refuse_figure(side->memory[i].title, side->memory[i].value, where, problems);
    if (!(side->samples > 0)) side->samples = NAN;
    return true;
}

// ---- Parts of the time.

// Joins causes that are one part on either side: the group of each, a bit for each cause.
static void group_causes(const DiffSide *side, uint32_t groups[CAUSE_COUNT]) {
    for (int i = 0; i < side->cause_count; i++) {
        uint32_t together = 0, covers = side->causes[i].covers;
        for (int c = 0; c < CAUSE_COUNT; c++)
            if (covers >> c & 1) together |= groups[c];
        for (int c = 0; c < CAUSE_COUNT; c++)
            if (together >> c & 1) groups[c] = together;
    }
}

static double seconds_in(const DiffSide *side, uint32_t group) {
    double sum = 0;
    for (int i = 0; i < side->cause_count; i++)
        if (side->causes[i].covers & group) sum += side->causes[i].seconds;
    return sum;
}

// As the side calls it that has just this stretch.
static DiffPart part_of_group(const DiffSide *a, const DiffSide *b, uint32_t group) {
    DiffPart part = {"not_told_apart", "Not told apart", seconds_in(a, group), seconds_in(b, group), group};
    const DiffSide *sides[] = {a, b};
    for (int s = 0; s < 2; s++)
        for (int i = 0; i < sides[s]->cause_count; i++)
            if (sides[s]->causes[i].covers == group)
                part.name = sides[s]->causes[i].name, part.title = sides[s]->causes[i].title;
    return part;
}

typedef struct PartList {
    DiffPart *items;
    int count, room;
} PartList;

// What has a name that this program does not know, of one side or of both.
static void add_unknown(Arena *arena, const DiffSide *side, bool is_b, PartList *list) {
    for (int i = 0; i < side->cause_count; i++) {
        const DiffCause *cause = &side->causes[i];
        if (cause->covers) continue;
        int at = 0;
        while (at < list->count && (list->items[at].covers || strcmp(list->items[at].name, cause->name) != 0)) at++;
        if (at == list->count) LIST_PUSH(arena, list, ((DiffPart){cause->name, cause->title, 0, 0, 0}));
        *(is_b ? &list->items[at].b : &list->items[at].a) += cause->seconds;
    }
}

static PartList time_parts(Arena *arena, const DiffSide *a, const DiffSide *b) {
    PartList list = {0};
    uint32_t groups[CAUSE_COUNT];
    for (int c = 0; c < CAUSE_COUNT; c++) groups[c] = UINT32_C(1) << c;
    group_causes(a, groups);
    group_causes(b, groups);
    for (int c = 0; c < CAUSE_COUNT; c++)
        if ((groups[c] & ((UINT32_C(1) << c) - 1)) == 0) LIST_PUSH(arena, &list, part_of_group(a, b, groups[c]));
    add_unknown(arena, a, false, &list);
    add_unknown(arena, b, true, &list);
    return list;
}

// ---- Parts of the memory.

static double value_named(const NamedValue *list, int count, const char *name) {
    for (int i = 0; i < count; i++)
        if (strcmp(list[i].name, name) == 0) return list[i].value;
    return NAN;
}

// A part missing on one side counts as 0 there, since parts sum to the whole. A side without parts cannot be compared
// by parts.
static PartList memory_parts(Arena *arena, const DiffSide *a, const DiffSide *b) {
    PartList list = {0};
    if (a->memory_count == 0 || b->memory_count == 0) return list;
    for (int i = 0; i < a->memory_count; i++) {
        double other = value_named(b->memory, b->memory_count, a->memory[i].name);
        LIST_PUSH(arena, &list,
                  ((DiffPart){a->memory[i].name, a->memory[i].title, a->memory[i].value, isnan(other) ? 0 : other, 0}));
    }
    for (int i = 0; i < b->memory_count; i++)
        if (isnan(value_named(a->memory, a->memory_count, b->memory[i].name)))
            LIST_PUSH(arena, &list, ((DiffPart){b->memory[i].name, b->memory[i].title, 0, b->memory[i].value, 0}));
    return list;
}

DiffRates diff_rates(double step_a, double per_step_a, double step_b, double per_step_b) {
    double rate_a = per_step_a / step_a, rate_b = per_step_b / step_b;
    return (DiffRates){(rate_a + rate_b) / 2, (rate_b - rate_a) * (step_a + step_b) / 2};
}

// ---- Settings of answers that cannot be simulated again: those that differ.

typedef struct SettingList {
    DiffSetting *items;
    int count, room;
} SettingList;

static const char *setting_named(const DiffSide *side, const char *name) {
    for (int i = 0; i < side->setting_count; i++)
        if (strcmp(side->settings[i].name, name) == 0) return side->settings[i].text;
    return NULL;
}

#define NOT_SAID "not said"

// "H100-SXM5-80GB launch_time" beside "A100-SXM4-80GB launch_time" on the other side: a number of another part, which
// differs with the part's name.
static bool is_of_another_part(const DiffSide *other, const char *name) {
    const char *what = strchr(name, ' ');
    for (int i = 0; what && i < other->setting_count; i++) {
        const char *same = strchr(other->settings[i].name, ' ');
        if (same && strcmp(same, what) == 0) return true;
    }
    return false;
}

static void compare_settings(Arena *arena, Diff *diff) {
    const DiffSide *a = diff->a, *b = diff->b;
    SettingList list = {0};
    bool both = a->is_answer && b->is_answer;
    for (int i = 0; i < a->setting_count; i++) {
        const DiffText *said = &a->settings[i];
        const char *other = setting_named(b, said->name);
        if (!other && is_of_another_part(b, said->name)) continue;
        if (other ? strcmp(said->text, other) != 0 : both)
            LIST_PUSH(arena, &list, ((DiffSetting){said->name, said->text, other ? other : NOT_SAID, NAN}));
    }
    for (int i = 0; both && i < b->setting_count; i++)
        if (!setting_named(a, b->settings[i].name) && !is_of_another_part(a, b->settings[i].name))
            LIST_PUSH(arena, &list, ((DiffSetting){b->settings[i].name, NOT_SAID, b->settings[i].text, NAN}));
    diff->settings = list.items;
    diff->setting_count = list.count;
}

Diff diff_sides(Arena *arena, const DiffSide *a, const DiffSide *b, Problems *problems) {
    Diff diff = {.a = a, .b = b};
    PartList time = time_parts(arena, a, b), memory = memory_parts(arena, a, b);
    diff.time = time.items;
    diff.time_count = time.count;
    diff.memory = memory.items;
    diff.memory_count = memory.count;
    if (a->study && b->study)
        attribute_settings(arena, &diff, problems);
    else
        compare_settings(arena, &diff);
    return diff;
}
