// What files and programs a command may use, and when the sandbox is enabled. System calls: wall_linux.c.
#include "sim/system/wall.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/base/check.h"
#include "sim/base/list.h"
#include "sim/system/file.h"

const char *const wall_modes[] = {"auto", "on", "off"};

static bool permitted;

void wall_permit(void) { permitted = true; }

// ---- Rules.

void wall_allow(Arena *arena, WallRules *rules, WallRight right, const char *path) {
    WallPath item = {right, arena_copy_text(arena, path)};
    LIST_PUSH(arena, rules, item);
}

// What a question in a file names opens the wall for what that may read, and nothing else.
static void allow_named(Arena *arena, WallRules *rules, const char *path) {
    if (file_may_read(path)) wall_allow(arena, rules, WALL_READ, path);
}

// Words between quotes, commas, colons and equals signs; those that are no files add no rule.
void wall_allow_setting(Arena *arena, WallRules *rules, const char *setting) {
    static const char between[] = "=:,\"' {}";
    while (*setting) {
        size_t length = strcspn(setting, between);
        const char *word = arena_printf(arena, "%.*s", (int)length, setting);
        struct stat about;
        if (length > 0 && stat(word, &about) == 0 && !S_ISDIR(about.st_mode)) allow_named(arena, rules, word);
        setting += length + (setting[length] != '\0');
    }
}

// What comes through a pipe (/dev/stdin) has no folder.
void wall_allow_script(Arena *arena, WallRules *rules, const char *file) {
    struct stat about;
    allow_named(arena, rules, file);
    if (stat(file, &about) == 0 && S_ISREG(about.st_mode)) allow_named(arena, rules, file_folder(arena, file));
}

void wall_allow_output(Arena *arena, WallRules *rules, WallRight right, const char *file) {
    struct stat about;
    char target[PATH_MAX];
    if (strcmp(file, "-") == 0) return;
    if (stat(file, &about) == 0 && !S_ISREG(about.st_mode)) {
        wall_allow(arena, rules, WALL_WRITE, file);
        return;
    }
    wall_allow(arena, rules, right, file_folder(arena, file));
    if (realpath(file, target)) wall_allow(arena, rules, right, file_folder(arena, target));
}

void wall_allow_texts(Arena *arena, WallRules *rules, const Options *options, const char *name) {
    int count = 0;
    const char *const *texts = option_texts(options, name, &count);
    for (int i = 0; i < count; i++) allow_named(arena, rules, texts[i]);
}

void wall_allow_settings(Arena *arena, WallRules *rules, const Options *options, const char *name) {
    int count = 0;
    const char *const *texts = option_texts(options, name, &count);
    for (int i = 0; i < count; i++) wall_allow_setting(arena, rules, texts[i]);
}

WallMode wall_mode_said(const Options *options) {
    bool quiet = option_known(options, "quiet") && option_flag(options, "quiet"); // one of those that answers share
    return (WallMode)option_choice(options, "wall", quiet ? WALL_SILENT : WALL_AUTO);
}

static struct {
    WallRight right;
    const char *file;
} kept[4];
static int kept_count;

void wall_keep_output(WallRight right, const char *file) {
    CHECK(kept_count < (int)(sizeof kept / sizeof *kept));
    kept[kept_count].right = right;
    kept[kept_count++].file = file;
}

void wall_keep_nothing(void) { kept_count = 0; }

static void allow_folders(Arena *arena, WallRules *rules, const char *list) {
    while (list && *list) {
        size_t length = strcspn(list, ":");
        if (length > 0) wall_allow(arena, rules, WALL_READ, arena_printf(arena, "%.*s", (int)length, list));
        list += length + (list[length] == ':');
    }
}

static void allow_one_program(Arena *arena, WallRules *rules, const char *path) {
    char target[PATH_MAX];
    wall_allow(arena, rules, WALL_START, path);
    if (!realpath(path, target)) return;
    const char *prefix = file_folder(arena, file_folder(arena, target));
    if (strcmp(prefix, "/") != 0)
        allow_folders(arena, rules, arena_printf(arena, "%s/lib:%s/lib64:%s/share", prefix, prefix, prefix));
}

// Allows all of that name in PATH: exec takes the first that can be started.
void wall_allow_program(Arena *arena, WallRules *rules, const char *name) {
    const char *list = getenv("PATH");
    while (list && *list) {
        size_t length = strcspn(list, ":");
        const char *path = arena_printf(arena, "%.*s/%s", (int)length, list, name);
        if (length > 0 && (access(path, F_OK) == 0 || errno == EACCES)) allow_one_program(arena, rules, path);
        list += length + (list[length] == ':');
    }
    // No folder of programs: the loader would start whatever it can read.
    allow_folders(arena, rules,
                  "/lib:/lib64:/usr/lib:/usr/lib64:/usr/share:/usr/local/lib:/usr/local/share:"
                  "/etc/fonts:/etc/ld.so.cache:/etc/gnuplot:/var/cache/fontconfig");
    allow_folders(arena, rules, getenv("LD_LIBRARY_PATH"));
}

// ---- Raising.

bool wall_raise(Arena *arena, const WallRules *rules, WallMode mode, Problems *problems) {
    if (!permitted || mode == WALL_OFF) return true;
    WallRules all = {0};
    for (int i = 0; i < rules->count; i++) LIST_PUSH(arena, &all, rules->items[i]);
    for (int i = 0; i < kept_count; i++) wall_allow_output(arena, &all, kept[i].right, kept[i].file);
    const char *files = wall_guard_files(arena, &all), *calls = wall_guard_calls(arena, &all);
    if ((!files && !calls) || mode == WALL_SILENT) return true;
    const char *missing =
        arena_printf(arena, "%s%s%s", files ? files : "", files && calls ? "; " : "", calls ? calls : "");
    if (mode == WALL_AUTO) {
        fprintf(stderr, "! No second wall round the script: %s. --wall=off says that you know.\n", missing);
        return true;
    }
    problem_add(problems, (Where){0}, "the second wall round the script cannot be raised: %s", missing);
    return problem_hint(problems, "--wall=auto runs without it");
}
