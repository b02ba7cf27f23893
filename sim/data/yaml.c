// YAML as a tree: events of libyaml, with a stack of open nodes. An alias is a pointer to its anchor's tree, not a
// copy, so that aliases of aliases cost nothing here; code that walks the tree limits its size (said.c).
#include "sim/data/json.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "sim/base/list.h"
#include "sim/base/quantity.h"

enum { DEEPEST = 64, MOST_NODES = 200000, MOST_MEMBERS = 4096, LONGEST_MERGE = 16 };

typedef LIST_OF(Json) Items;

typedef struct Open { // a list or an object that has begun
    Json node;
    const char *anchor, *key; // key: of the member whose value comes next
    Items items;
    bool has_key;
} Open;

typedef struct Anchor {
    const char *name;
    Json node;
    bool whole; // it has ended: a node inside itself never does
} Anchor;

typedef struct YamlReader {
    Arena *arena;
    const char *name;
    Problems *problems;
    Open open[DEEPEST];
    int depth, nodes;
    LIST_OF(Anchor) anchors;
    Items documents;
} YamlReader;

// NOT_KNOWN is forbidden in YAML: while parsed it is replaced by this private-use character.
#define PRIVATE "\xee\x80\x81" // U+E001

// In place: each `sign` a NOT_KNOWN.
static char *with_unknown(char *text, const char *sign) {
    size_t length = strlen(sign);
    char *to = text;
    for (const char *at = text; *at;) {
        bool is_sign = strncmp(at, sign, length) == 0;
        *to++ = is_sign ? NOT_KNOWN : *at;
        at += is_sign ? length : 1;
    }
    *to = '\0';
    return text;
}

static const char *without_unknown(Arena *arena, const char *text, size_t *bytes) {
    size_t signs = 0, length = strlen(PRIVATE);
    for (size_t i = 0; i < *bytes; i++) signs += text[i] == NOT_KNOWN;
    if (!signs) return text;
    char *copy = arena_alloc(arena, *bytes + signs * length + 1), *to = copy;
    for (size_t i = 0; i < *bytes; i++) {
        if (text[i] == NOT_KNOWN)
            memcpy(to, PRIVATE, length), to += length;
        else
            *to++ = text[i];
    }
    *to = '\0';
    *bytes = (size_t)(to - copy);
    return copy;
}

// What a plain scalar is by YAML 1.1's core: a null, a truth, a number, else a text. Its text is kept.
static Json scalar(YamlReader *r, const yaml_event_t *event, Where where) {
    static const char *const nulls[] = {"", "~", "null", "Null", "NULL"};
    static const char *const yes[] = {"true", "True", "TRUE", "yes", "Yes", "on"};
    static const char *const no[] = {"false", "False", "FALSE", "no", "No", "off"};
    const char *text = with_unknown(arena_copy_text(r->arena, (const char *)event->data.scalar.value), PRIVATE);
    Json node = {.kind = JSON_TEXT, .where = where, .text = text};
    if (event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE) return node;
    char *end;
    double number = strtod(text, &end);
    if (name_is_among(nulls, 5, text)) {
        node.kind = JSON_NULL, node.text = "null";
    } else if (name_is_among(yes, 6, text) || name_is_among(no, 6, text)) {
        node.kind = JSON_BOOL, node.boolean = name_is_among(yes, 6, text);
        node.text = node.boolean ? "true" : "false";
    } else if (*end == '\0') {
        node.kind = JSON_NUMBER, node.number = number;
    }
    return node;
}

static void merge_members(YamlReader *r, Items *into, const Json *from) {
    for (int i = 0; from->kind == JSON_LIST && i < from->count && i < LONGEST_MERGE; i++)
        if (from->items[i].kind == JSON_OBJECT) merge_members(r, into, &from->items[i]);
    for (int i = 0; from->kind == JSON_OBJECT && i < from->count && into->count < MOST_MEMBERS; i++) {
        bool there = false;
        for (int k = 0; k < into->count; k++) there = there || strcmp(into->items[k].key, from->items[i].key) == 0;
        if (!there) LIST_PUSH(r->arena, into, from->items[i]);
    }
}

// Members of its own come before those of "<<".
static void close_object(YamlReader *r, Open *open) {
    Items own = {0};
    for (int i = 0; i < open->items.count; i++)
        if (strcmp(open->items.items[i].key, "<<") != 0) LIST_PUSH(r->arena, &own, open->items.items[i]);
    for (int i = 0; i < open->items.count; i++)
        if (strcmp(open->items.items[i].key, "<<") == 0) merge_members(r, &own, &open->items.items[i]);
    open->items = own;
}

static bool fail(YamlReader *r, Where where, const char *what, const char *hint) {
    problem_add(r->problems, where, "%s", what);
    return problem_hint(r->problems, "%s", hint);
}

// A complete node is added to the open one, as a key, as a value, or as an element.
static bool put(YamlReader *r, Json node) {
    if (r->depth == 0) {
        LIST_PUSH(r->arena, &r->documents, node);
        return true;
    }
    Open *open = &r->open[r->depth - 1];
    if (open->node.kind == JSON_LIST) {
        LIST_PUSH(r->arena, &open->items, node);
    } else if (!open->has_key) {
        open->key = node.text ? node.text : "?";
        open->has_key = true;
    } else {
        node.key = open->key;
        open->has_key = false;
        if (open->items.count >= MOST_MEMBERS)
            return fail(r, node.where, "more than 4,096 members stand in one object", "no configuration has so many");
        LIST_PUSH(r->arena, &open->items, node);
    }
    return true;
}

static void name_anchor(YamlReader *r, const char *name, Json node, bool whole) {
    Anchor anchor = {name, node, whole};
    for (int i = 0; i < r->anchors.count; i++)
        if (strcmp(r->anchors.items[i].name, name) == 0) {
            r->anchors.items[i] = anchor;
            return;
        }
    if (r->anchors.count < MOST_MEMBERS) LIST_PUSH(r->arena, &r->anchors, anchor);
}

static bool begin(YamlReader *r, JsonKind kind, const yaml_char_t *anchor, Where where) {
    if (r->depth == DEEPEST) return fail(r, where, "this lies more than 64 deep", "no configuration does");
    const char *name = anchor ? arena_copy_text(r->arena, (const char *)anchor) : NULL;
    r->open[r->depth++] = (Open){.node = {.kind = kind, .where = where}, .anchor = name};
    if (name) name_anchor(r, name, (Json){.kind = JSON_NULL, .where = where}, false);
    return true;
}

static bool end(YamlReader *r) {
    Open *open = &r->open[r->depth - 1];
    if (open->node.kind == JSON_OBJECT) close_object(r, open);
    open->node.items = open->items.items;
    open->node.count = open->items.count;
    r->depth--;
    if (open->anchor) name_anchor(r, open->anchor, open->node, true);
    return put(r, open->node);
}

static bool put_alias(YamlReader *r, const char *name, Where where) {
    for (int i = 0; i < r->anchors.count; i++) {
        if (strcmp(r->anchors.items[i].name, name) != 0) continue;
        if (!r->anchors.items[i].whole)
            return fail(r, where, "an anchor stands within itself", "write out what is meant");
        Json node = r->anchors.items[i].node;
        node.key = NULL;
        return put(r, node);
    }
    return fail(r, where, "an alias names no anchor before it", "write out what is meant");
}

static bool take(YamlReader *r, const yaml_event_t *event) {
    Where where = {r->name, (int)event->start_mark.line + 1};
    if (++r->nodes > MOST_NODES) return fail(r, where, "this goes on without end", "no configuration is so long");
    switch (event->type) {
    case YAML_ALIAS_EVENT:
        return put_alias(r, (const char *)event->data.alias.anchor, where);
    case YAML_SCALAR_EVENT: {
        Json node = scalar(r, event, where);
        const yaml_char_t *anchor = event->data.scalar.anchor;
        if (anchor) name_anchor(r, arena_copy_text(r->arena, (const char *)anchor), node, true);
        return put(r, node);
    }
    case YAML_SEQUENCE_START_EVENT:
        return begin(r, JSON_LIST, event->data.sequence_start.anchor, where);
    case YAML_MAPPING_START_EVENT:
        return begin(r, JSON_OBJECT, event->data.mapping_start.anchor, where);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        return end(r);
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_STREAM_END_EVENT:
    case YAML_DOCUMENT_START_EVENT:
    case YAML_DOCUMENT_END_EVENT:
        return true;
    }
    return true;
}

static bool parse(YamlReader *r, yaml_parser_t *parser) {
    for (bool over = false; !over;) {
        yaml_event_t event;
        if (!yaml_parser_parse(parser, &event)) {
            Where where = {r->name, (int)parser->problem_mark.line + 1};
            problem_add(r->problems, where, "this is no YAML: %s", parser->problem ? parser->problem : "it breaks off");
            return problem_hint(r->problems, "indent by blanks, and quote what holds \": \" or \" #\"");
        }
        over = event.type == YAML_STREAM_END_EVENT;
        bool sound = take(r, &event);
        yaml_event_delete(&event);
        if (!sound) return false;
    }
    return true;
}

const Json *yaml_read(Arena *arena, const char *name, const char *text, size_t bytes, Problems *problems) {
    YamlReader *r = ARENA_NEW(arena, YamlReader);
    *r = (YamlReader){.arena = arena, .name = name, .problems = problems};
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser)) out_of_memory(sizeof parser);
    text = without_unknown(arena, text, &bytes);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, bytes);
    bool sound = parse(r, &parser);
    yaml_parser_delete(&parser);
    if (!sound) return NULL;
    Json *all = ARENA_NEW(arena, Json);
    *all = (Json){.kind = JSON_LIST, .where = {name, 1}, .items = r->documents.items, .count = r->documents.count};
    return all;
}

const Json *json_or_yaml_read(Arena *arena, const char *name, const char *text, size_t bytes, Problems *problems) {
    Problems *strict = problems_create(arena), *loose = problems_create(arena);
    const Json *json = json_read_text(arena, name, text, bytes, strict);
    if (json) return json;
    const Json *documents = yaml_read(arena, name, text, bytes, loose);
    if (documents && documents->count == 1) return &documents->items[0];
    return json_read_text(arena, name, text, bytes, problems);
}
