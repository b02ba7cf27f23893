// How output looks here: colour, width and alphabet of the place it goes to.
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "results/results.h"
#include "sim/system/letters_out.h"

static bool is_set(const char *name) {
    const char *value = getenv(name);
    return value && *value;
}

static const char *preferred = "auto";

void style_prefer(const char *color_mode) { preferred = color_mode; }

// https://no-color.org: set and not empty.
static bool wants_color(FILE *out, const char *mode) {
    if (!mode || strcmp(mode, "auto") == 0) mode = preferred;
    if (strcmp(mode, "always") == 0) return true;
    if (strcmp(mode, "never") == 0) return false;
    const char *terminal = getenv("TERM");
    return isatty(letters_out_descriptor(out)) && !is_set("NO_COLOR") && terminal && *terminal &&
           strcmp(terminal, "dumb") != 0;
}

// The first of these that is set decides, as in POSIX.
static bool locale_is_utf8(void) {
    const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (int i = 0; i < 3; i++) {
        if (!is_set(names[i])) continue;
        const char *locale = getenv(names[i]);
        return strcasestr(locale, "utf-8") || strcasestr(locale, "utf8");
    }
    return false;
}

static int terminal_width(FILE *out) {
    struct winsize size;
    int descriptor = letters_out_descriptor(out);
    if (isatty(descriptor) && ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
    int columns = is_set("COLUMNS") ? atoi(getenv("COLUMNS")) : 0;
    return columns >= 40 && columns <= 1000 ? columns : 0;
}

Style style_for(FILE *out, const char *color_mode, bool plain) {
    return (Style){
        .color = !plain && wants_color(out, color_mode),
        .plain = plain,
        .unicode = locale_is_utf8(),
        .width = terminal_width(out),
    };
}
