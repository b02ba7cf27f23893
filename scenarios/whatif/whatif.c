#include "scenarios/whatif/whatif.h"

const char *const move_kind_names[MOVE_KIND_COUNT] = {"resource", "setting", "fault"};

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
