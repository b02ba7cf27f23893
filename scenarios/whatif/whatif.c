#include "scenarios/whatif/whatif.h"

#include <math.h>

#include "sim/base/text.h"

#define FEW 3
#define LIKELY 0.8

const char *const move_kind_names[MOVE_KIND_COUNT] = {"resource", "setting", "fault"};

const Move *move_of_resource(Arena *arena, const Resource *resource) {
    Move *move = ARENA_NEW(arena, Move);
    *move = (Move){.kind = MOVE_RESOURCE,
                   .name = resource->name,
                   .value = resource->is_time ? "/ 2" : "x 2",
                   .title = arena_printf(arena, resource->is_time ? "half the %s" : "twice the %s", resource->title),
                   .resource = resource};
    return move;
}

static int by_gain(const WhatIf *one, const WhatIf *other) {
    if (one->ran != other->ran) return one->ran ? -1 : 1;
    if (one->ran && one->gain.mean != other->gain.mean) return one->gain.mean < other->gain.mean ? 1 : -1;
    return (one->move->kind > other->move->kind) - (one->move->kind < other->move->kind);
}

void whatif_rank(WhatIfs *list) {
    list->ran = 0;
    for (int i = 0; i < list->count; i++) {
        WhatIf moved = list->items[i];
        int at = i;
        for (; at > 0 && by_gain(&list->items[at - 1], &moved) > 0; at--) list->items[at] = list->items[at - 1];
        list->items[at] = moved;
        list->ran += moved.ran;
    }
}

Verdict whatif_verdict(const Move *move, const Gain *gain, double matters) {
    double half = isnan(gain->half) ? 0 : gain->half;
    if (gain->mean == 0 && half == 0) return VERDICT_SAME;
    if (gain->mean < -half) return VERDICT_WORSE;
    if (gain->mean <= half) return gain->mean >= matters && gain->chance >= LIKELY ? VERDICT_MAYBE : VERDICT_CHANCE;
    if (gain->mean < matters) return VERDICT_LITTLE;
    return move->given ? VERDICT_IF : move->but ? VERDICT_BUT : VERDICT_HELPS;
}

static bool is_machine(const WhatIf *whatif) { return whatif->move->kind == MOVE_RESOURCE; }

const WhatIf *whatif_first(const WhatIfs *list, bool machines) {
    for (int i = 0; i < list->count; i++)
        if (is_machine(&list->items[i]) == machines && list->items[i].verdict == VERDICT_HELPS) return &list->items[i];
    return NULL;
}

// ---- In words.

void whatif_add_others(Answer *answer, Arena *arena, const WhatIfs *list, bool machines, WhatIfSays *then) {
    const WhatIf *first = whatif_first(list, false);
    const char *text = "";
    for (int i = 0, listed = 0; i < list->count && listed < FEW; i++) {
        const WhatIf *whatif = &list->items[i];
        if (is_machine(whatif) != machines || whatif == first || whatif->verdict != VERDICT_HELPS) continue;
        text = arena_printf(arena, "%s%s%s %s", text, *text ? "; " : "",
                            whatif->move->option ? whatif->move->option : whatif->title, then(arena, whatif->then));
        listed++;
    }
    if (*text) answer_say(answer, machines ? "Machines" : "Or", "%s (each alone)", text);
}

const char *whatif_saves(Arena *arena, const WhatIfs *list, double whole, int most) {
    const char *text = "";
    for (int i = 0, listed = 0; i < list->ran && listed < most; i++) {
        const WhatIf *whatif = &list->items[i];
        if (!is_machine(whatif) || whatif->gain.mean < WHATIF_MATTERS * whole) continue;
        text = arena_printf(arena, "%s%s%s saves %s (%s)", text, *text ? ", " : "", whatif->title,
                            text_time(arena, whatif->gain.mean), text_percent(arena, whatif->gain.mean / whole));
        listed++;
    }
    return text;
}

const char *whatif_below(Arena *arena, const WhatIfs *list, double whole) {
    const char *text = "";
    for (int i = 0; i < list->ran; i++)
        if (is_machine(&list->items[i]) && list->items[i].gain.mean < WHATIF_MATTERS * whole)
            text = text_listed(arena, text, list->items[i].title);
    return text;
}

void whatif_add_useless(Answer *answer, Arena *arena, const WhatIfs *list, const char *const says[VERDICT_COUNT]) {
    const char *text = "";
    for (int verdict = 0; verdict < VERDICT_COUNT; verdict++) {
        const char *titles = "";
        for (int i = 0; i < list->count && says[verdict]; i++)
            if (list->items[i].verdict == (Verdict)verdict)
                titles = arena_printf(arena, "%s%s%s", titles, *titles ? "; " : "", list->items[i].title);
        if (*titles) text = arena_printf(arena, "%s%s%s: %s", text, *text ? ". " : "", says[verdict], titles);
    }
    answer_open(answer, NULL, NULL);
    answer_detail(answer, FOR_VERBOSE);
    if (*text) answer_say(answer, "No help", "%s", text);
    answer_close(answer);
}

void whatif_add_cells(Answer *answer, const WhatIf *whatif) {
    static const char *const names[VERDICT_COUNT] = {
        [VERDICT_HELPS] = "helps",       [VERDICT_IF] = "helps, if",     [VERDICT_BUT] = "not advised",
        [VERDICT_HARMS] = "not advised", [VERDICT_MAYBE] = "perhaps",    [VERDICT_SAME] = "the same",
        [VERDICT_FREES] = "pays less",   [VERDICT_CHANCE] = "by chance", [VERDICT_LITTLE] = "too little",
        [VERDICT_DEARER] = "too dear",   [VERDICT_WORSE] = "worse"};
    const Move *move = whatif->move;
    ANSWER_CELLS(answer, move->name, whatif->title, move->option ? move->value : whatif->title,
                 move->option ? move->option : "", names[whatif->verdict]);
}
