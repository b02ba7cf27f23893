// A path is resolved component by component, and no component outside the permitted folders is looked at: answers do
// not reveal whether it exists. The file is then opened along the resolved path without following links: a path
// changed meanwhile is refused.
#include "sim/system/gate.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/base/digest.h"
#include "sim/system/file.h"

#define MOST_LINKS 40

typedef struct Root {
    const char *named; // absolute, as the user wrote it; NULL: the scenario's folder
    const char *real;  // absolute, all links followed; "" is the whole machine
    bool but_hidden;   // names that begin with a dot are outside
} Root;

struct ReadGate {
    Arena *arena;
    const char *written; // the scenario's folder as the user wrote it, with a '/' behind, or ""
    const char *folder;  // the same as in Root.real; NULL: it has none
    Root *roots;
    int root_count;
    bool any_allowed, of_question;
    uint64_t *digest;
};

// ---- The roots.

static bool begins_with(const char *path, const char *folder) {
    size_t length = strlen(folder);
    return strncmp(path, folder, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

// NULL when there is no such folder.
static const char *real_folder(Arena *arena, const char *path) {
    struct stat about;
    char *real = realpath(path, NULL), *kept = NULL;
    if (real && stat(real, &about) == 0 && S_ISDIR(about.st_mode))
        kept = arena_copy_text(arena, strcmp(real, "/") == 0 ? "" : real);
    free(real);
    return kept;
}

static const char *absolute(Arena *arena, const char *path) {
    char here[PATH_MAX];
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') length--;
    if (path[0] == '/') return arena_printf(arena, "%.*s", (int)length, path);
    return getcwd(here, sizeof here) ? arena_printf(arena, "%s/%.*s", here, (int)length, path) : path;
}

// A script from a pipe or a descriptor has no folder: /dev/stdin must not open up /dev.
static const char *folder_of(Arena *arena, const char *scenario) {
    struct stat about;
    const char *slash = strrchr(scenario, '/');
    const char *written = !slash              ? "."
                          : slash == scenario ? "/"
                                              : arena_printf(arena, "%.*s", (int)(slash - scenario), scenario);
    if (stat(scenario, &about) == 0 && !S_ISREG(about.st_mode)) return NULL;
    const char *real = real_folder(arena, written);
    bool system = real && (begins_with(real, "/proc") || strcmp(real, "/dev") == 0);
    return system ? NULL : real;
}

static void add_folder(ReadGate *gate, const char *path, Problems *problems) {
    const char *real = real_folder(gate->arena, path);
    if (real) {
        gate->roots[gate->root_count++] = (Root){.named = absolute(gate->arena, path), .real = real};
        return;
    }
    problem_add(problems, (Where){0}, "--allow-read %.200s is no folder", path);
    problem_hint(problems, "name the folder that holds what %s reads",
                 gate->of_question ? "the question" : "the scenario");
}

ReadGate *gate_create(Arena *arena, const char *scenario, const char *const *allowed, int allowed_count,
                      uint64_t *digest, Problems *problems) {
    ReadGate *gate = ARENA_NEW(arena, ReadGate);
    *gate = (ReadGate){.arena = arena, .folder = folder_of(arena, scenario)};
    gate->digest = digest;
    const char *slash = strrchr(scenario, '/');
    gate->written = slash ? arena_printf(arena, "%.*s", (int)(slash + 1 - scenario), scenario) : "";
    gate->roots = ARENA_ARRAY(arena, Root, allowed_count + 2); // its own folder, and that of its project
    gate->any_allowed = allowed_count > 0;
    if (gate->folder) gate->roots[gate->root_count++] = (Root){.real = gate->folder};
    for (int i = 0; i < allowed_count; i++) add_folder(gate, allowed[i], problems);
    return gate;
}

ReadGate *gate_of_question(Arena *arena, const char *const *folders, int count, Problems *problems) {
    ReadGate *gate = ARENA_NEW(arena, ReadGate);
    *gate = (ReadGate){.arena = arena, .written = "", .folder = real_folder(arena, "."), .of_question = true};
    gate->roots = ARENA_ARRAY(arena, Root, count + 1);
    if (gate->folder && *gate->folder) gate->roots[gate->root_count++] = (Root){.real = gate->folder};
    for (int i = 0; i < count; i++) add_folder(gate, folders[i], problems);
    return gate;
}

// ---- The project of a launch script.

static bool is_of(const char *path, uid_t user, bool or_file) {
    struct stat about;
    return lstat(path, &about) == 0 && about.st_uid == user &&
           (S_ISDIR(about.st_mode) || (or_file && S_ISREG(about.st_mode)));
}

const char *gate_project(Arena *arena, const char *script) {
    struct stat about;
    char here[PATH_MAX];
    const char *folder = folder_of(arena, script);
    if (!folder || !*folder || stat(folder, &about) != 0) return NULL;
    for (char *at = arena_copy_text(arena, folder); *at; *strrchr(at, '/') = '\0') {
        // A `.git` above that another user owns, for example in /tmp, opens nothing up.
        bool is_own = is_of(at, about.st_uid, false);
        if (is_own && is_of(arena_printf(arena, "%s/.git", at), about.st_uid, true)) return at;
    }
    bool below = getcwd(here, sizeof here) && strcmp(here, "/") != 0 && begins_with(folder, here);
    return below ? arena_copy_text(arena, here) : NULL;
}

int gate_widen(ReadGate *gate, const char *project) {
    int above = 0;
    if (!project || !gate->folder) return 0;
    gate->roots[gate->root_count++] = (Root){.named = project, .real = project, .but_hidden = true};
    for (const char *at = gate->folder + strlen(project); *at; at++) above += *at == '/';
    return above;
}

// ---- The way.

typedef enum Side { OUTSIDE, ABOVE, INSIDE } Side;

// ABOVE: on the way down to a root, where there is nothing to look at.
static Side side_of(const ReadGate *gate, const char *path) {
    Side side = OUTSIDE;
    for (int i = 0; i < gate->root_count; i++) {
        const Root *root = &gate->roots[i];
        if (begins_with(path, root->real) && !(root->but_hidden && strstr(path + strlen(root->real), "/.")))
            return INSIDE;
        if (begins_with(gate->roots[i].real, path)) side = ABOVE;
    }
    return side;
}

typedef struct Walk {
    const ReadGate *gate;
    char at[PATH_MAX];   // absolute, without links; "" is the root of the machine
    char left[PATH_MAX]; // names still to go
    int links;
} Walk;

static bool put(char text[PATH_MAX], const char *first, const char *second, const char *third) {
    char whole[3 * PATH_MAX];
    int length = snprintf(whole, sizeof whole, "%s%s%s", first, second, third);
    if (length < 0 || length >= PATH_MAX) return false;
    memcpy(text, whole, (size_t)length + 1);
    return true;
}

// Where a path begins. A folder that the user named is found under that name too.
static bool start(Walk *walk, const char *path) {
    const ReadGate *gate = walk->gate;
    const char *at = gate->folder;
    if (path[0] == '/') {
        at = "";
        for (int i = 0; i < gate->root_count && !*at; i++) {
            const Root *root = &gate->roots[i];
            if (!root->named || !begins_with(path, root->named)) continue;
            at = root->real;
            path += strlen(root->named);
        }
    }
    return at && put(walk->at, at, "", "") && put(walk->left, path, "", "");
}

static void step_up(Walk *walk) {
    char *slash = strrchr(walk->at, '/');
    if (slash) *slash = '\0';
}

static bool follow_link(Walk *walk) {
    char target[PATH_MAX], rest[PATH_MAX];
    ssize_t length = readlink(walk->at, target, sizeof target - 1);
    if (length <= 0 || ++walk->links > MOST_LINKS) return false;
    target[length] = '\0';
    if (!put(rest, target, "/", walk->left)) return false;
    if (target[0] == '/') return start(walk, rest);
    step_up(walk);
    return put(walk->left, rest, "", "");
}

// One name on; false: outside, or nothing is there.
static bool step(Walk *walk) {
    char name[PATH_MAX];
    struct stat about;
    const char *rest = walk->left + strspn(walk->left, "/");
    size_t length = strcspn(rest, "/");
    memcpy(name, rest, length);
    name[length] = '\0';
    memmove(walk->left, rest + length, strlen(rest + length) + 1);
    if (length == 0 || strcmp(name, ".") == 0) return true;
    if (strcmp(name, "..") == 0) {
        step_up(walk);
        return side_of(walk->gate, walk->at) != OUTSIDE;
    }
    if (!put(walk->at, walk->at, "/", name)) return false;
    Side side = side_of(walk->gate, walk->at);
    if (side != INSIDE) return side == ABOVE;
    if (lstat(walk->at, &about) != 0) return false;
    return !S_ISLNK(about.st_mode) || follow_link(walk);
}

static bool find_way(Walk *walk, const char *path) {
    if (!start(walk, path)) return false;
    while (*walk->left)
        if (!step(walk)) return false;
    return side_of(walk->gate, walk->at) == INSIDE;
}

// ---- Opening.

static const char *root_of(const ReadGate *gate, const char *path) {
    int i = 0;
    while (!begins_with(path, gate->roots[i].real)) i++; // any root above it: permission was checked before
    return gate->roots[i].real;
}

// Opens a path from the root down, name by name; -1: errno has the reason.
static int open_along(const ReadGate *gate, const char *path) {
    const char *root = root_of(gate, path), *left = path + strlen(root);
    int folder = open(*root ? root : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    while (folder >= 0) {
        char name[PATH_MAX];
        left += strspn(left, "/");
        size_t length = strcspn(left, "/");
        memcpy(name, left, length);
        name[length] = '\0';
        left += length;
        bool last = *left == '\0';
        int flags = last ? O_RDONLY | O_NONBLOCK | O_NOCTTY : O_PATH | O_DIRECTORY;
        int next = openat(folder, length ? name : ".", flags | O_NOFOLLOW | O_CLOEXEC), why = errno;
        close(folder);
        errno = why;
        if (last) return next;
        folder = next;
    }
    return -1;
}

static void refuse(const ReadGate *gate, const char *path, Where where, Problems *problems) {
    if (gate->of_question) {
        problem_add(problems, where, "\"%.60s\", which a question in a file names, is no file here or beside it", path);
        problem_hint(problems, "allow its folder if you trust the file: --allow-read DIR; or name it yourself");
        return;
    }
    problem_add(problems, where, "\"%.60s\" is no file in the scenario's folder%s", path,
                gate->any_allowed ? " or in one of --allow-read" : "");
    problem_hint(problems, "save it beside the scenario and give its name, or allow its folder: --allow-read DIR");
}

static bool is_regular(int file) {
    struct stat about;
    return fstat(file, &about) == 0 && S_ISREG(about.st_mode);
}

bool gate_holds(const ReadGate *gate, const char *path) {
    Walk walk = {.gate = gate};
    return find_way(&walk, path);
}

int gate_open(const ReadGate *gate, const char *path, Where where, Problems *problems) {
    Walk walk = {.gate = gate};
    if (!find_way(&walk, path)) {
        refuse(gate, path, where, problems);
        return -1;
    }
    int file = open_along(gate, walk.at), why = errno;
    if (file >= 0 && is_regular(file)) return file;
    if (file >= 0) close(file);
    const char *reader = gate->of_question ? "a question in a file" : "a scenario";
    problem_add(problems, where, "\"%.60s\" cannot be read: %s", path,
                file < 0 && why != ENXIO
                    ? strerror(why)
                    : arena_printf(gate->arena, "%s reads regular files, no folders or pipes", reader));
    problem_hint(problems, "name a file that can be read");
    return -1;
}

char *gate_read(const ReadGate *gate, const char *path, size_t limit_bytes, size_t *bytes, Where where,
                Problems *problems) {
    int file = gate_open(gate, path, where, problems);
    if (file < 0) return NULL;
    char *text =
        file_read_open(gate->arena, file, gate_shown_path(gate, gate->arena, path), limit_bytes, bytes, problems);
    if (text && gate->digest) *gate->digest = digest_bytes(*gate->digest, text, *bytes);
    return text;
}

const char *gate_shown_path(const ReadGate *gate, Arena *arena, const char *path) {
    return gate && path[0] != '/' ? arena_printf(arena, "%s%s", gate->written, path) : path;
}

char *gate_read_or_free(const ReadGate *gate, Arena *arena, const char *path, size_t limit_bytes, size_t *bytes,
                        Where where, Problems *problems) {
    return gate ? gate_read(gate, path, limit_bytes, bytes, where, problems)
                : file_read(arena, path, limit_bytes, bytes, problems);
}
