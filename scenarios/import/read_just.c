// Files of recipes with {{…}} in them: justfiles, and Taskfiles by their commands. Each becomes a script of as many
// lines, a function a recipe, of which the first is called, or the first that starts a training.
#include <ctype.h>
#include <string.h>

#include "scenarios/import/reading.h"
#include "sim/base/list.h"
#include "sim/system/file.h"

typedef struct Recipes {
    Reading *r;
    ShellText out;
    struct {
        const char **items;
        int count, room;
    } names;
    bool open, others; // within a recipe; within one of another language than the shell's
    bool goes_on;      // the line before ended in "\\"
} Recipes;

bool is_justfile(const char *path) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    return strcasecmp(name, "justfile") == 0 || strcasecmp(name, ".justfile") == 0 || file_ends_in(path, ".just");
}

static void put(Recipes *j, const char *text) { shell_put(reading_shell(j->r), &j->out, text, strlen(text)); }

static const char *part(const Recipes *j, const char *begin, const char *end) {
    while (begin < end && isspace((unsigned char)*begin)) begin++;
    while (end > begin && isspace((unsigned char)end[-1])) end--;
    return arena_printf(j->r->arena, "%.*s", (int)(end - begin), begin);
}

static size_t name_length(const char *at) {
    size_t length = 0;
    while (isalnum((unsigned char)at[length]) || at[length] == '_' || (length && at[length] == '-')) length++;
    return length;
}

// "gpu-count", as the shell may have it.
static const char *shell_name(const Recipes *j, const char *at, size_t length) {
    char *name = arena_printf(j->r->arena, "%.*s", (int)length, at);
    for (char *letter = name; *letter; letter++)
        if (*letter == '-') *letter = '_';
    return name;
}

// 'text', "text", `command`, behind the mark, up to the next like it.
static const char *quoted(const char **at) {
    const char mark = **at, *begin = ++*at;
    while (**at && **at != mark) (*at)++;
    *at += **at == mark;
    return begin;
}

// env('X', 'd'), env_var_or_default("X", "d"), env("X"); num_cpus() and others are not known.
static void put_call(Recipes *j, const char *name, const char **at) {
    const char *words[2] = {NULL, NULL};
    int count = 0;
    for (; **at && **at != ')'; (*at) += **at && **at != ')' && !strchr("'\"", **at))
        if (strchr("'\"", **at)) {
            const char *begin = quoted(at), *end = *at - 1;
            if (count < 2) words[count++] = part(j, begin, end);
            (*at)--;
        }
    *at += **at == ')';
    bool of_environment = strncmp(name, "env", 3) == 0 && words[0];
    put(j,
        !of_environment ? "$(just)" : arena_printf(j->r->arena, words[1] ? "${%s:-%s}" : "${%s}", words[0], words[1]));
}

// What just or task puts for an expression, as the shell would say it: "a/" + b is a/${b}; .NAME is Task's.
static void put_expression(Recipes *j, const char *text) {
    for (const char *at = text; *at;) {
        size_t length = name_length(at + (*at == '.'));
        if (strchr("'\"`", *at)) {
            bool command = *at == '`';
            const char *begin = quoted(&at), *own = part(j, begin, at - (at > begin && strchr("'\"`", at[-1])));
            put(j, command ? arena_printf(j->r->arena, "$(%s)", own) : own);
        } else if (length) {
            const char *name = shell_name(j, at + (*at == '.'), length);
            at += length + (*at == '.');
            const char *next = at + strspn(at, " ");
            const char *usual = *next == '|' && strncmp(next + 1 + strspn(next + 1, " "), "default ", 8) == 0
                                    ? strstr(next, "default ") + 8
                                    : NULL;
            if (*at == '(') {
                at++;
                put_call(j, name, &at);
            } else if (usual) {
                usual += strspn(usual, " \"'");
                put(j, arena_printf(j->r->arena, "${%s:-%.*s}", name, (int)strcspn(usual, " \"'"), usual));
                return;
            } else {
                put(j, strcmp(name, "if") == 0 ? "$(just)" : arena_printf(j->r->arena, "${%s}", name));
                if (strcmp(name, "if") == 0) return;
            }
        } else {
            if (*at == '/') put(j, "/");
            at++;
        }
    }
}

// Text with {{…}}.
static void put_text(Recipes *j, const char *text) {
    for (const char *open; (open = strstr(text, "{{")) != NULL;) {
        const char *close = strstr(open, "}}");
        if (!close) break;
        shell_put(reading_shell(j->r), &j->out, text, (size_t)(open - text));
        put_expression(j, part(j, open + 2, close));
        text = close + 2;
    }
    put(j, text);
}

const char *recipe_text(Reading *r, const char *text) {
    Recipes j = {.r = r};
    put_text(&j, text);
    const char *letters = shell_letters(&j.out);
    return letters ? letters : "";
}

// ---- A justfile, line by line.

static void put_setting(Recipes *j, const char *name, size_t length, const char *value) {
    put(j, arena_printf(j->r->arena, "%s=\"", shell_name(j, name, length)));
    put_expression(j, value);
    put(j, "\"");
}

// NAME gpus="8" *rest: needs (other "4")
static void put_head(Recipes *j, const char *line, const char *colon) {
    size_t length = name_length(line);
    const char *name = shell_name(j, line, length);
    LIST_PUSH(j->r->arena, &j->names, name);
    put(j, arena_printf(j->r->arena, "%s() { ", name));
    int place = 0;
    for (const char *at = line + length; (at += strspn(at, " *+$")) < colon;) {
        size_t own = name_length(at);
        if (!own) break;
        const char *parameter = shell_name(j, at, own);
        at += own;
        put(j, arena_printf(j->r->arena, "%s=${%d-", parameter, ++place));
        if (*at == '=') {
            const char *begin = ++at;
            if (strchr("'\"`", *at))
                quoted(&at);
            else
                at += strcspn(at, " :");
            put_expression(j, part(j, begin, at));
        }
        put(j, "}; ");
    }
    put(j, ":");
    for (const char *at = colon + 1; *(at += strspn(at, " ()&"));) {
        size_t own = strcspn(at, " ()&");
        const char *word = arena_printf(j->r->arena, "%.*s", (int)own, at);
        put(j, strchr("'\"", *at) ? " " : "; ");
        put(j, strchr("'\"", *at) ? word : shell_name(j, word, own));
        at += own;
    }
    put(j, ";");
    j->open = true;
}

static void take_line(Recipes *j, const char *line) {
    bool body = j->open && isblank((unsigned char)*line);
    const char *text = line + strspn(line, " \t"), *end = text + strlen(text);
    if (body || !*text) {
        if (strncmp(text, "#!", 2) == 0) j->others = !strstr(text, "sh");
        while (!j->goes_on && (*text == '@' || *text == '-')) text++;
        j->goes_on = end > text && end[-1] == '\\';
        if (strncmp(text, "just ", 5) == 0) text += 5; // another of its recipes
        if (!j->others) put_text(j, text);
        return;
    }
    if (j->open) put(j, "}; ");
    j->open = j->others = false;
    bool exported = strncmp(text, "export ", 7) == 0;
    text += exported ? 7 : *text == '@';
    const char *colon = text + name_length(text);
    while (*colon && *colon != ':')
        if (strchr("'\"`", *colon))
            quoted(&colon);
        else
            colon++;
    if (name_length(text) == 0 || strncmp(text, "set ", 4) == 0 || strncmp(text, "alias ", 6) == 0 || !*colon) return;
    if (exported) put(j, "export ");
    if (colon[1] == '=')
        put_setting(j, text, name_length(text), part(j, colon + 2, end));
    else
        put_head(j, text, colon);
}

void read_just(Reading *r, const char *file, const char *text, size_t bytes) {
    Recipes j = {.r = r};
    (void)bytes;
    for (const char *at = text; *at;) {
        size_t length = strcspn(at, "\n");
        bool goes_on = length && at[length - 1] == '\\' && !j.open;
        take_line(&j, arena_printf(r->arena, "%.*s", (int)(length - goes_on), at));
        put(&j, "\n");
        at += length + (at[length] == '\n');
    }
    if (j.open) put(&j, "}\n");
    const char *script = shell_letters(&j.out);
    if (!script) return;
    read_shell(r, file, script, strlen(script));
    for (int i = 0; i < j.names.count && r->launches.count == 0; i++)
        shell_run_words(reading_shell(r), j.names.items[i], (Where){file, 1});
}
