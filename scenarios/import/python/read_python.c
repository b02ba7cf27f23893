// Programs, launchers and configurations in Python, and notebooks: what the evaluator found in them, as a list of what
// is said.
#include <ctype.h>
#include <string.h>

#include "scenarios/import/python/python.h"
#include "sim/base/list.h"
#include "sim/system/file.h"

// A function that nobody in sight calls: a framework does.
static void run_idle(Python *p, int i) {
    Value function = p->functions.items[i];
    bool seen = false;
    for (int k = 0; k < p->called.count && !seen; k++) seen = p->called.items[k] == function.node;
    if (seen) return;
    if (function.self) { // a method: of some instance
        Value self = python_object(p, function.self->made_by, NULL);
        self.fields->outer = function.self;
        for (int k = 0; k < p->instances.count; k++)
            for (const Fields *of = p->instances.items[k]; of; of = of->outer)
                if (of == function.self) self.fields = p->instances.items[k];
        function.owner = function.self, function.self = self.fields;
    }
    python_run(p, &function, &(Fields){0}, function.node->line);
}

// The program, then what nobody in it calls.
static Python *read_all(Reading *r, const char *file, const char *text, size_t bytes, const SaidList *arguments) {
    Python *p = ARENA_NEW(r->arena, Python);
    *p = (Python){.r = r, .file = file, .arguments = arguments};
    p->configures = arguments && memmem(text, bytes, "configurator.py", 15);
    python_program(p, file, text, bytes);
    p->ends = true;
    for (int i = 0; i < p->classes.count; i++)
        if (!p->classes.items[i]->is_made) python_tell_class(p, p->classes.items[i]);
    for (int i = 0; i < p->functions.count; i++) // where it begins: that calls others
        if (p->functions.items[i].node->text && strcmp(p->functions.items[i].node->text, "main") == 0) run_idle(p, i);
    for (int i = 0; i < p->functions.count; i++) run_idle(p, i);
    return p;
}

static bool of_executor(const Said *told) { return strncmp(told->name, "executor.", 9) == 0; }

// What is told to whom it asks for machines: submitit's executor, NeMo-Run's.
static void say_executor(Reading *r, const Python *p) {
    const SaidList *lists[] = {&p->idly, &p->told};
    for (int l = 0; l < 2; l++)
        for (int i = 0; i < lists[l]->count; i++) {
            const Said *told = &lists[l]->items[i];
            if (of_executor(told))
                said_add(r->arena, &r->machine, told->name + 9, told->value, told->where, BY_MACHINES);
        }
}

static void say_told(Reading *r, const Python *p) {
    const SaidList *lists[] = {&p->idly, &p->told};
    for (int i = 0; i < p->unsure.count; i++)
        if (!said_find(&p->told, p->unsure.items[i].name) && !said_find(&p->idly, p->unsure.items[i].name))
            LIST_PUSH(r->arena, &r->said, p->unsure.items[i]);
    for (int l = 0; l < 2; l++)
        for (int i = 0; i < lists[l]->count; i++) {
            const Said *told = &lists[l]->items[i];
            if (of_executor(told)) continue;
            said_add(r->arena, &r->said, told->name, told->value, told->where, BY_FILE);
            if (same_word(told->name, "deepspeed") && strstr(told->value, ".json"))
                reading_config(r, told->value, told->where);
        }
}

// WIDTH = 1536: constants of a program, as weak as what it says by itself.
static void say_constants(Reading *r, Python *p) {
    for (int m = p->modules.count - 1; m >= 0; m--)
        for (int i = 0; i < p->modules.items[m]->count; i++) {
            const Field *field = &p->modules.items[m]->items[i];
            bool named = isupper((unsigned char)field->key[0]) || strlen(field->key) > 2; // "b" is anything
            if (field->value.kind != IS_NUMBER || field->value.number < 1 || !named) continue;
            char *lower = arena_copy_text(r->arena, field->key);
            for (char *at = lower; *at; at++) *at = (char)tolower((unsigned char)*at);
            said_add(r->arena, &r->said, lower, python_shown(p, &field->value),
                     (Where){p->modules.items[m]->file, field->line}, BY_PROGRAM);
        }
}

static void say_names(Reading *r, Python *p, bool only_known) {
    const Fields *names = p->modules.items[0];
    for (int i = 0; i < names->count; i++) {
        const Field *field = &names->items[i];
        const char *value = python_shown(p, &field->value);
        ShellWords pairs = {0};
        Where where = {p->file, field->line};
        bool plain = field->value.kind != IS_FUNCTION && field->value.kind != IS_CLASS && field->value.kind != IS_NAMED;
        if (!only_known && field->value.kind == IS_DICT) python_words(p, &field->value, &pairs);
        for (int k = 0; k < pairs.count; k++) {
            const char *text = pairs.items[k].text, *equals = strchr(text, '=');
            if (equals)
                said_add(r->arena, &r->said,
                         arena_printf(r->arena, "%.100s.%.*s", field->key, (int)(equals - text), text), equals + 1,
                         (Where){p->file, pairs.items[k].line}, BY_FILE);
        }
        if (plain && !pairs.count && field->key[0] != '_' && (!only_known || is_known(value)))
            said_add(r->arena, &r->said, field->key, value, where, BY_FILE);
    }
}

// OpenMMLab's: _base_ = ['../_base_/models/mask-rcnn_r50_fpn.py', …] are read first; of what does not lie beside the
// name says the model.
static void read_bases(Reading *r, Python *p, const char *file) {
    const Field *bases = python_field(p->modules.items[0], "_base_");
    ShellWords words = {0};
    if (bases) python_words(p, &bases->value, &words);
    for (int i = 0; i < words.count && r->bases < READING_BASES; i++) {
        const ShellWord *word = &words.items[i];
        Where where = {file, word->line ? word->line : bases->line};
        r->bases++;
        bool read = is_known(word->text) && !strstr(word->text, "::") &&
                    reading_config(r, reading_path_from(r, file, word->text), where);
        r->bases--;
        if (!read && strstr(word->text, "models/")) said_add(r->arena, &r->said, "_base_", word->text, where, BY_FILE);
    }
}

void read_python_settings(Reading *r, const char *file, const char *text, size_t bytes) {
    Python *p = read_all(r, file, text, bytes, NULL);
    read_bases(r, p, file);
    say_names(r, p, false);
}

void read_python_program(Reading *r, const char *file, const char *text, size_t bytes, const SaidList *arguments) {
    Python *p = read_all(r, file, text, bytes, arguments);
    say_told(r, p);
    say_executor(r, p);
    if (p->configures)
        say_names(r, p, true);
    else
        say_constants(r, p);
}

const char *read_python_prints(Reading *r, const char *text) {
    if (r->prints > 50) return NULL;
    r->prints++;
    Python *p = ARENA_NEW(r->arena, Python);
    *p = (Python){.r = r, .printed = ""};
    python_program(p, r->file, text, strlen(text));
    return *p->printed && is_known(p->printed) ? p->printed : NULL;
}

void read_python(Reading *r, const char *file, const char *text, size_t bytes) {
    Python *p = read_all(r, file, text, bytes, NULL);
    say_executor(r, p);
    for (int i = 0; i < p->lists.count && !r->launches.count; i++) {
        Value list = {.kind = IS_LIST, .fields = p->lists.items[i]};
        ShellWords words = {0};
        python_words(p, &list, &words);
        if (words.count > 2) launch_words(r, &words, (Where){file, words.items[0].line});
    }
    if (r->launches.count || !p->calls) return;
    say_told(r, p);
    say_constants(r, p);
    ShellWords *itself = ARENA_NEW(r->arena, ShellWords);
    ShellWord word = {file_ends_in(file, ".py") ? file : arena_printf(r->arena, "%s.py", file), 1};
    LIST_PUSH(r->arena, itself, word);
    launch_words(r, itself, (Where){file, 1});
}

// ---- Notebooks.

static void put_text(Reading *r, ShellText *out, const char *text) {
    shell_put(reading_shell(r), out, text, strlen(text));
}

// As a text of Python says it.
static void put_quoted(Reading *r, ShellText *out, const char *text) {
    put_text(r, out, "\"");
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') put_text(r, out, "\\");
        shell_put(reading_shell(r), out, *text == '\n' ? "\\n" : text, *text == '\n' ? 2 : 1);
    }
    put_text(r, out, "\"");
}

// "%%bash", "%%writefile NAME": a cell that is no Python, as Jupyter itself writes that down.
static void put_cell(Reading *r, ShellText *out, const char *text) {
    size_t line = strcspn(text, "\n"), word = strcspn(text, " \n");
    if (strncmp(text, "%%", 2) != 0 || strncmp(text, "%%time", 6) == 0 || strncmp(text, "%%capture", 9) == 0) {
        put_text(r, out, *text == '%' && text[1] == '%' ? text + line : text);
        put_text(r, out, "\n");
        return;
    }
    const char *const parts[] = {arena_printf(r->arena, "%.*s", (int)word - 2, text + 2),
                                 arena_printf(r->arena, "%.*s", (int)(line - word), text + word),
                                 text + line + (text[line] != '\0')};
    put_text(r, out, "get_ipython().run_cell_magic(");
    for (int i = 0; i < 3; i++) put_quoted(r, out, parts[i]), put_text(r, out, i < 2 ? "," : ")\n");
}

void read_notebook(Reading *r, const char *file, const char *text, size_t bytes) {
    const Json *tree = json_or_yaml_read(r->arena, file, text, bytes, r->problems), *cells = tree_get(tree, "cells");
    const char *gpu = tree_text(r->arena, tree_at(tree, "metadata.colab.gpuType")); // of Colab
    if (gpu)
        r->machines.gpu = gpu, r->machines.where = (Where){file, tree_at(tree, "metadata.colab.gpuType")->where.line};
    ShellText program = {0};
    for (int i = 0; cells && cells->kind == JSON_LIST && i < cells->count; i++) {
        const Json *source = tree_get(&cells->items[i], "source");
        const char *kind = tree_text(r->arena, tree_get(&cells->items[i], "cell_type"));
        ShellText cell = {0};
        if (!source || !kind || strcmp(kind, "code") != 0) continue;
        for (int k = 0; source->kind == JSON_LIST && k < source->count; k++)
            if (tree_text(r->arena, &source->items[k])) put_text(r, &cell, tree_text(r->arena, &source->items[k]));
        if (source->kind != JSON_LIST && tree_text(r->arena, source)) put_text(r, &cell, tree_text(r->arena, source));
        if (shell_letters(&cell)) put_cell(r, &program, shell_letters(&cell));
    }
    const char *letters = shell_letters(&program);
    if (letters) read_python(r, file, letters, strlen(letters));
}
