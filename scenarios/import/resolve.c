// "${a.b}" within values, as OmegaConf and Hydra have it: the value of that name, "${.b}" one beside; and "<a>", as
// HyperPyYAML has it behind !ref, where that is the whole.
#include <string.h>

#include "scenarios/import/formats.h"

enum { ROUNDS = 6, LONGEST = 4096 };
static const char unknown[] = {NOT_KNOWN, '\0'};

static const char *value_of(Arena *arena, const SaidList *list, const Said *said, const char *name) {
    const char *dot = strrchr(said->name, '.');
    if (*name == '.') name = dot ? arena_printf(arena, "%.*s%s", (int)(dot - said->name), said->name, name) : name + 1;
    for (int i = list->count - 1; i >= 0; i--)
        if (same_word(list->items[i].name, name)) return list->items[i].value;
    return NULL;
}

static bool resolve(Arena *arena, const SaidList *list, Said *said) {
    size_t letters = strlen(said->value);
    if (letters > 2 && said->value[0] == '<' && strcspn(said->value, ">") == letters - 1) {
        const char *other = value_of(arena, list, said, arena_printf(arena, "%.*s", (int)letters - 2, said->value + 1));
        if (other) said->value = other;
        return other && *other == '<';
    }
    const char *open = strstr(said->value, "${"), *close = open ? strchr(open, '}') : NULL;
    if (!close) return false;
    const char *name = arena_printf(arena, "%.*s", (int)(close - open - 2), open + 2);
    const char *value = value_of(arena, list, said, name);
    if (!value || value == said->value || strlen(value) + strlen(said->value) > LONGEST) value = unknown;
    said->value = arena_printf(arena, "%.*s%s%s", (int)(open - said->value), said->value, value, close + 1);
    return true;
}

void said_resolve(Arena *arena, SaidList *list) {
    for (int i = 0; i < list->count; i++)
        for (int round = 0; round < ROUNDS && resolve(arena, list, &list->items[i]);) round++;
}
