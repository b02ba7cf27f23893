#include "sim/data/hostlist.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MOST 256

typedef struct Walk {
    HostVisit *visit;
    void *context;
    const char *why;
    char name[NAME_MOST];
} Walk;

static bool refuse(Walk *walk, const char *why) {
    walk->why = why;
    return false;
}

static bool add(Walk *walk, size_t *length, const char *text, size_t bytes) {
    if (*length + bytes >= NAME_MOST) return refuse(walk, "a name has more than 255 letters");
    memcpy(walk->name + *length, text, bytes);
    *length += bytes;
    return true;
}

static bool expand(Walk *walk, size_t length, const char *at, const char *end);

// "3", "0-15": each number followed by the text after the bracket.
static bool expand_range(Walk *walk, size_t length, const char *range, const char *range_end, const char *rest,
                         const char *end) {
    char *behind = NULL;
    if (!isdigit((unsigned char)*range)) return refuse(walk, "a bracket holds no numbers");
    uint64_t low = strtoull(range, &behind, 10), high = low;
    int width = (int)(behind - range);
    if (*behind == '-' && isdigit((unsigned char)behind[1])) high = strtoull(behind + 1, &behind, 10);
    if (behind != range_end || width > 18) return refuse(walk, "a bracket holds no numbers and ranges such as 0-15");
    if (high < low) return refuse(walk, "a range ends before it begins");
    for (uint64_t number = low;; number++) {
        char digits[24];
        size_t longer = length;
        int count = snprintf(digits, sizeof digits, "%0*llu", width, (unsigned long long)number);
        if (!add(walk, &longer, digits, (size_t)count) || !expand(walk, longer, rest, end)) return false;
        if (number == high) return true;
    }
}

static bool expand(Walk *walk, size_t length, const char *at, const char *end) {
    const char *open = memchr(at, '[', (size_t)(end - at));
    if (!add(walk, &length, at, (size_t)((open ? open : end) - at))) return false;
    walk->name[length] = '\0';
    if (!open) return walk->visit(walk->context, walk->name);
    const char *close = memchr(open, ']', (size_t)(end - open));
    if (!close) return refuse(walk, "a [ has no ]");
    for (const char *range = open + 1;; range++) {
        const char *comma = memchr(range, ',', (size_t)(close - range)), *range_end = comma ? comma : close;
        if (!expand_range(walk, length, range, range_end, close + 1, end)) return false;
        range = range_end;
        if (range == close) return true;
    }
}

bool hostlist_walk(const char *list, HostVisit *visit, void *context, const char **why) {
    Walk walk = {.visit = visit, .context = context};
    bool done = true;
    for (const char *at = list; done;) {
        const char *end = at;
        for (bool inside = false; *end && (inside || *end != ','); end++)
            inside = *end == '[' || (inside && *end != ']');
        done = end > at ? expand(&walk, 0, at, end) : refuse(&walk, "a name is empty");
        if (!*end) break;
        at = end + 1;
    }
    *why = walk.why;
    return done;
}
