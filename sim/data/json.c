// Strict JSON in two passes over the text: a scanner checks the grammar (RFC 8259) and notes the line of every value
// in document order, then cJSON builds its tree, which is copied with those lines in the same order.
#include "sim/data/json.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/check.h"
#include "sim/base/list.h"
#include "sim/base/text.h"
#include "sim/system/file.h"

#define LARGEST_FILE_BYTES ((size_t)256 << 20)
#define DEEPEST 100
#define LONGEST_NUMBER 60 // cJSON cuts numbers at 63 characters

// Bytes of the well-formed UTF-8 character at `at`, or 0 (Unicode 15, table 3-7).
static int utf8_bytes(const unsigned char *at, const unsigned char *end) {
    unsigned char first = *at, least = 0x80, most = 0xbf;
    if (first < 0x80) return 1;
    int bytes = first >= 0xc2 && first <= 0xdf   ? 2
                : first >= 0xe0 && first <= 0xef ? 3
                : first >= 0xf0 && first <= 0xf4 ? 4
                                                 : 0;
    if (bytes == 0 || end - at < bytes) return 0;
    if (first == 0xe0) least = 0xa0; // longer than need be
    if (first == 0xed) most = 0x9f;  // surrogates
    if (first == 0xf0) least = 0x90; // longer than need be
    if (first == 0xf4) most = 0x8f;  // beyond U+10FFFF
    if (at[1] < least || at[1] > most) return 0;
    for (int i = 2; i < bytes; i++)
        if (at[i] < 0x80 || at[i] > 0xbf) return 0;
    return bytes;
}

// ---- The scanner.

typedef LIST_OF(int) Lines;

typedef struct Scanner {
    const char *at, *end, *file;
    int line, depth;
    Lines lines; // where each value starts, in document order
    Arena *arena;
    Problems *problems;
} Scanner;

static bool scan_value(Scanner *scanner);

static Where here(const Scanner *scanner) { return (Where){scanner->file, scanner->line}; }

static bool wrong(Scanner *scanner, const char *text, const char *hint) {
    problem_add(scanner->problems, here(scanner), "%s", text);
    if (hint) problem_hint(scanner->problems, "%s", hint);
    return false;
}

// The next character, or -1 at the end.
static int next(const Scanner *scanner) { return scanner->at < scanner->end ? (unsigned char)*scanner->at : -1; }

static bool skip(Scanner *scanner, char c) {
    if (next(scanner) != c) return false;
    scanner->at++;
    return true;
}

static void skip_space(Scanner *scanner) {
    for (; scanner->at < scanner->end && strchr(" \t\r\n", *scanner->at) && *scanner->at; scanner->at++)
        scanner->line += *scanner->at == '\n';
}

static bool unexpected(Scanner *scanner, const char *expected) {
    int c = next(scanner);
    const char *hint = NULL;
    if (c == '/' || c == '#') hint = "JSON has no comments";
    if (c == '\'') hint = "JSON quotes with \", not '";
    if (c == '+' || c == '.') hint = "numbers look like 12, -0.5 or 1e9";
    if (c == 'N' || c == 'I') hint = "JSON has no NaN and no infinity; null says that a value is not known";
    if (c < 0)
        problem_add(scanner->problems, here(scanner), "expected %s, but the text ends", expected);
    else if (c > ' ' && c < 0x7f)
        problem_add(scanner->problems, here(scanner), "expected %s, not \"%c\"", expected, c);
    else
        problem_add(scanner->problems, here(scanner), "expected %s, not the byte 0x%02x", expected, c);
    if (hint) problem_hint(scanner->problems, "%s", hint);
    return false;
}

static bool scan_word(Scanner *scanner, const char *word) {
    size_t length = strlen(word);
    if ((size_t)(scanner->end - scanner->at) < length || memcmp(scanner->at, word, length) != 0)
        return unexpected(scanner, "a value");
    scanner->at += length;
    return true;
}

static bool scan_digits(Scanner *scanner) {
    const char *start = scanner->at;
    while (next(scanner) >= '0' && next(scanner) <= '9') scanner->at++;
    return scanner->at > start;
}

static bool scan_number(Scanner *scanner) {
    const char *start = scanner->at;
    skip(scanner, '-');
    const char *whole = scanner->at;
    if (!scan_digits(scanner)) return unexpected(scanner, "a digit");
    if (*whole == '0' && scanner->at - whole > 1) return wrong(scanner, "a number starts with 0", "write 1, not 01");
    if (skip(scanner, '.') && !scan_digits(scanner)) return unexpected(scanner, "a digit after the point");
    if (skip(scanner, 'e') || skip(scanner, 'E')) {
        if (!skip(scanner, '+')) skip(scanner, '-');
        if (!scan_digits(scanner)) return unexpected(scanner, "a digit in the exponent");
    }

    char number[LONGEST_NUMBER + 1] = "";
    if (scanner->at - start > LONGEST_NUMBER)
        return wrong(scanner, "a number has more than 60 characters", "17 digits are all that count; use an exponent");
    memcpy(number, start, (size_t)(scanner->at - start));
    if (!isfinite(strtod(number, NULL))) return wrong(scanner, "a number is too large", "the largest is about 1.8e308");
    return true;
}

// Four hex digits, or -1.
static int scan_hex(Scanner *scanner) {
    int code = 0;
    for (int i = 0; i < 4; i++, scanner->at++) {
        int c = next(scanner);
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0) return -1;
        code = 16 * code + digit;
    }
    return code;
}

static bool scan_unicode_escape(Scanner *scanner) {
    int code = scan_hex(scanner);
    if (code < 0) return wrong(scanner, "\\u needs four hexadecimal digits", NULL);
    if (code == 0) return wrong(scanner, "a text contains \\u0000", "texts end at a zero byte here; leave it out");
    if (code < 0xd800 || code > 0xdfff) return true;
    // Beyond 16 bits a character is two escapes: a high surrogate, then a low one.
    if (code <= 0xdbff && skip(scanner, '\\') && skip(scanner, 'u')) {
        int low = scan_hex(scanner);
        if (low >= 0xdc00 && low <= 0xdfff) return true;
    }
    return wrong(scanner, "half of a surrogate pair", "write the character itself, in UTF-8");
}

static bool scan_text(Scanner *scanner) {
    if (!skip(scanner, '"')) return unexpected(scanner, "a text in quotes");
    for (;;) {
        int c = next(scanner);
        if (c < 0) return wrong(scanner, "a text has no closing quote", NULL);
        if (c < ' ') return wrong(scanner, "a text contains a control character", "write \\n, \\t or \\u00XX");
        if (c == '"') return skip(scanner, '"');
        if (c == '\\') {
            scanner->at++;
            if (skip(scanner, 'u')) {
                if (!scan_unicode_escape(scanner)) return false;
                continue;
            }
            if (next(scanner) < ' ' || !strchr("\"\\/bfnrt", next(scanner)))
                return wrong(scanner, "a text contains an unknown escape",
                             "known: \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX");
            scanner->at++;
            continue;
        }
        int bytes = utf8_bytes((const unsigned char *)scanner->at, (const unsigned char *)scanner->end);
        if (bytes == 0) return wrong(scanner, "a text is not valid UTF-8", "save the file as UTF-8");
        scanner->at += bytes;
    }
}

static bool scan_member(Scanner *scanner) {
    skip_space(scanner);
    if (next(scanner) != '"') return unexpected(scanner, "a key in quotes");
    if (!scan_text(scanner)) return false;
    skip_space(scanner);
    if (!skip(scanner, ':')) return unexpected(scanner, "\":\" after the key");
    return scan_value(scanner);
}

// Members or elements up to the closing bracket, commas between them.
static bool scan_items(Scanner *scanner, char close, bool (*scan_item)(Scanner *)) {
    if (++scanner->depth > DEEPEST) return wrong(scanner, "more than 100 lists and objects inside each other", NULL);
    scanner->at++;
    skip_space(scanner);
    if (!skip(scanner, close)) {
        for (;;) {
            if (!scan_item(scanner)) return false;
            skip_space(scanner);
            if (skip(scanner, close)) break;
            if (!skip(scanner, ',')) return unexpected(scanner, close == '}' ? "\",\" or \"}\"" : "\",\" or \"]\"");
            skip_space(scanner);
            if (next(scanner) == close) return wrong(scanner, "nothing follows the last comma", "take the comma away");
        }
    }
    scanner->depth--;
    return true;
}

static bool scan_value(Scanner *scanner) {
    skip_space(scanner);
    LIST_PUSH(scanner->arena, &scanner->lines, scanner->line);
    switch (next(scanner)) {
    case '{':
        return scan_items(scanner, '}', scan_member);
    case '[':
        return scan_items(scanner, ']', scan_value);
    case '"':
        return scan_text(scanner);
    case 't':
        return scan_word(scanner, "true");
    case 'f':
        return scan_word(scanner, "false");
    case 'n':
        return scan_word(scanner, "null");
    case '-':
    case '0':
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
    case '7':
    case '8':
    case '9':
        return scan_number(scanner);
    default:
        return unexpected(scanner, "a value");
    }
}

static bool scan_document(Scanner *scanner) {
    if (scanner->end - scanner->at >= 3 && memcmp(scanner->at, "\xef\xbb\xbf", 3) == 0)
        return wrong(scanner, "the text starts with a byte order mark", "save the file as UTF-8 without BOM");
    if (!scan_value(scanner)) return false;
    skip_space(scanner);
    return scanner->at == scanner->end || unexpected(scanner, "the end of the text");
}

// ---- The tree.

typedef struct Builder {
    Arena *arena;
    const char *file;
    const int *lines;
    int value_count; // built so far
    bool has_equal_keys;
    Problems *problems;
} Builder;

static int by_key(const void *a, const void *b) {
    const Json *const *left = a, *const *right = b;
    int order = strcmp((*left)->key, (*right)->key);
    return order ? order : (*left > *right) - (*left < *right); // members of one array: by index
}

static void sort_keys(Builder *builder, Json *object) {
    const Json **sorted = ARENA_ARRAY(builder->arena, const Json *, object->count);
    for (int i = 0; i < object->count; i++) sorted[i] = &object->items[i];
    qsort(sorted, (size_t)object->count, sizeof *sorted, by_key);
    object->by_key = sorted;
    for (int i = 1; i < object->count; i++) {
        if (strcmp(sorted[i - 1]->key, sorted[i]->key) != 0) continue;
        builder->has_equal_keys = true;
        problem_add(builder->problems, sorted[i]->where, "\"%s\" is there twice", sorted[i]->key);
        problem_hint(builder->problems, "the other one is in line %d", sorted[i - 1]->where.line);
    }
}

static JsonKind kind_of(const cJSON *node) {
    if (cJSON_IsNull(node)) return JSON_NULL;
    if (cJSON_IsBool(node)) return JSON_BOOL;
    if (cJSON_IsNumber(node)) return JSON_NUMBER;
    if (cJSON_IsString(node)) return JSON_TEXT;
    return cJSON_IsArray(node) ? JSON_LIST : JSON_OBJECT;
}

static void build(Builder *builder, const cJSON *node, Json *json) {
    json->kind = kind_of(node);
    json->where = (Where){builder->file, builder->lines[builder->value_count++]};
    json->key = arena_copy_text(builder->arena, node->string);
    if (json->kind == JSON_BOOL) json->boolean = cJSON_IsTrue(node);
    if (json->kind == JSON_NUMBER) json->number = node->valuedouble;
    if (json->kind == JSON_TEXT) json->text = arena_copy_text(builder->arena, node->valuestring);
    if (json->kind != JSON_LIST && json->kind != JSON_OBJECT) return;

    Json *items = ARENA_ARRAY(builder->arena, Json, cJSON_GetArraySize(node));
    json->items = items;
    for (const cJSON *child = node->child; child; child = child->next) build(builder, child, &items[json->count++]);
    if (json->kind == JSON_OBJECT) sort_keys(builder, json);
}

const Json *json_read_text(Arena *arena, const char *name, const char *text, size_t bytes, Problems *problems) {
    const char *file = arena_copy_text(arena, name);
    Scanner scanner = {.at = text, .end = text + bytes, .file = file, .line = 1, .arena = arena, .problems = problems};
    if (!scan_document(&scanner)) return NULL;

    cJSON_InitHooks(&(cJSON_Hooks){memory_or_end, free});
    cJSON *tree = cJSON_ParseWithLength(text, bytes);
    if (!tree) {
        problem_add(problems, (Where){file, 0}, "the JSON library found no sense in this text");
        return NULL;
    }
    Builder builder = {.arena = arena, .file = file, .lines = scanner.lines.items, .problems = problems};
    Json *json = ARENA_NEW(arena, Json);
    build(&builder, tree, json);
    cJSON_Delete(tree);
    CHECK(builder.value_count == scanner.lines.count);
    return builder.has_equal_keys ? NULL : json;
}

bool json_texts_are_names(const Json *json, Problems *problems) {
    bool sound = problem_unless_one_line(problems, json->where, "a key", json->key);
    if (json->kind == JSON_TEXT)
        sound = problem_unless_one_line(problems, json->where, json->key ? json->key : "a text", json->text) && sound;
    for (int i = 0; i < json->count; i++) sound = json_texts_are_names(&json->items[i], problems) && sound;
    return sound;
}

const Json *json_read_loose(Arena *arena, const ReadGate *gate, const char *path, Where where, Problems *problems) {
    size_t bytes;
    const char *text = gate_read_or_free(gate, arena, path, LARGEST_FILE_BYTES, &bytes, where, problems);
    return text ? json_read_text(arena, gate_shown_path(gate, arena, path), text, bytes, problems) : NULL;
}

const Json *json_read_gated(Arena *arena, const ReadGate *gate, const char *path, Where where, Problems *problems) {
    const Json *json = json_read_loose(arena, gate, path, where, problems);
    return json && json_texts_are_names(json, problems) ? json : NULL;
}

const Json *json_read_file(Arena *arena, const char *path, Problems *problems) {
    return json_read_gated(arena, NULL, path, (Where){0}, problems);
}

// ---- Access.

static const char *const kind_names[] = {
    [JSON_NULL] = "null",   [JSON_BOOL] = "true or false", [JSON_NUMBER] = "a number",
    [JSON_TEXT] = "a text", [JSON_LIST] = "a list",        [JSON_OBJECT] = "an object",
};

static bool is_object(const Json *json, Problems *problems) {
    if (json->kind == JSON_OBJECT) return true;
    return problem_add(problems, json->where, "expected an object, not %s", kind_names[json->kind]);
}

const Json *json_get(const Json *object, const char *key) {
    if (!object || object->kind != JSON_OBJECT) return NULL;
    for (int i = 0; !object->by_key && i < object->count; i++) // YAML's
        if (object->items[i].key && strcmp(object->items[i].key, key) == 0) return &object->items[i];
    int first = 0, behind = object->by_key ? object->count : 0;
    while (first < behind) {
        int middle = first + (behind - first) / 2, order = strcmp(key, object->by_key[middle]->key);
        if (order == 0) return object->by_key[middle];
        if (order < 0)
            behind = middle;
        else
            first = middle + 1;
    }
    return NULL;
}

// The member of that key and kind, or NULL after a problem.
static const Json *get_kind(const Json *object, const char *key, JsonKind kind, Problems *problems) {
    if (!is_object(object, problems)) return NULL;
    const Json *member = json_get(object, key);
    if (!member)
        problem_add(problems, object->where, "\"%s\" is missing; it is %s", key, kind_names[kind]);
    else if (member->kind != kind)
        problem_add(problems, member->where, "\"%s\" is %s, not %s", key, kind_names[kind], kind_names[member->kind]);
    return member && member->kind == kind ? member : NULL;
}

double json_number(const Json *object, const char *key, Problems *problems) {
    const Json *member = get_kind(object, key, JSON_NUMBER, problems);
    return member ? member->number : 0;
}

const char *json_text(const Json *object, const char *key, Problems *problems) {
    const Json *member = get_kind(object, key, JSON_TEXT, problems);
    return member ? member->text : "";
}

void json_known_keys(const Json *object, const char *const *names, int name_count, Problems *problems) {
    if (!is_object(object, problems)) return;
    for (int i = 0; i < object->count; i++) {
        const Json *member = &object->items[i];
        bool known = false;
        for (int j = 0; j < name_count && !known; j++) known = strcmp(member->key, names[j]) == 0;
        if (known) continue;
        problem_add(problems, member->where, "nothing is called \"%s\" here", member->key);
        problem_hint_names(problems, member->key, names, name_count);
    }
}

// ---- Writing.

JsonWriter json_writer(FILE *out, int indent) { return (JsonWriter){.out = out, .indent = indent, .first = {true}}; }

static void break_line(JsonWriter *writer) {
    if (writer->indent) fprintf(writer->out, "\n%*s", writer->depth * writer->indent, "");
}

// Separator between the last thing written and the next key or element.
static void separate(JsonWriter *writer) {
    if (writer->depth == 0) return;
    if (!writer->first[writer->depth]) putc(',', writer->out);
    writer->first[writer->depth] = false;
    break_line(writer);
}

static void begin_value(JsonWriter *writer) {
    if (!writer->after_key) separate(writer);
    writer->after_key = false;
}

static void begin(JsonWriter *writer, char open) {
    begin_value(writer);
    putc(open, writer->out);
    writer->depth++;
    CHECK(writer->depth < (int)(sizeof writer->first / sizeof *writer->first));
    writer->first[writer->depth] = true;
}

static void end(JsonWriter *writer, char close) {
    CHECK(writer->depth > 0 && !writer->after_key);
    bool empty = writer->first[writer->depth--];
    if (!empty) break_line(writer);
    putc(close, writer->out);
}

void json_begin_object(JsonWriter *writer) { begin(writer, '{'); }
void json_end_object(JsonWriter *writer) { end(writer, '}'); }
void json_begin_list(JsonWriter *writer) { begin(writer, '['); }
void json_end_list(JsonWriter *writer) { end(writer, ']'); }

// Beyond 16 bits a letter is two escapes: a high surrogate, then a low one.
static void write_escaped(FILE *out, unsigned letter) {
    if (letter < 0x10000)
        fprintf(out, "\\u%04x", letter);
    else
        fprintf(out, "\\u%04x\\u%04x", 0xd7c0 + (letter >> 10), 0xdc00 + (letter & 0x3ff));
}

static void write_character(FILE *out, const unsigned char *at, int bytes) {
    static const char escaped[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    const char *escape = bytes == 1 ? strchr(escaped, *at) : NULL;
    const unsigned char *next = at;
    int32_t letter = letter_next(&next);
    if (bytes == 0)
        fputs("\xef\xbf\xbd", out); // U+FFFD
    else if (escape)
        fprintf(out, "\\%c", letters[escape - escaped]);
    else if (letter_commands_terminal(letter))
        write_escaped(out, (unsigned)letter);
    else
        fwrite(at, 1, (size_t)bytes, out);
}

static void write_quoted(FILE *out, const char *text) {
    const unsigned char *at = (const unsigned char *)text, *stop = at + strlen(text);
    putc('"', out);
    while (at < stop) {
        int bytes = utf8_bytes(at, stop);
        write_character(out, at, bytes);
        at += bytes ? bytes : 1;
    }
    putc('"', out);
}

void json_key(JsonWriter *writer, const char *key) {
    CHECK(writer->depth > 0 && !writer->after_key);
    separate(writer);
    write_quoted(writer->out, key);
    fputs(writer->indent ? ": " : ":", writer->out);
    writer->after_key = true;
}

void json_write_text(JsonWriter *writer, const char *text) {
    begin_value(writer);
    if (text)
        write_quoted(writer->out, text);
    else
        fputs("null", writer->out);
}

void json_write_number(JsonWriter *writer, double number) {
    begin_value(writer);
    if (!isfinite(number)) {
        fputs("null", writer->out);
        return;
    }
    char text[32];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, number);
        if (strtod(text, NULL) == number) break;
    }
    fputs(text, writer->out);
}

void json_write_integer(JsonWriter *writer, int64_t number) {
    begin_value(writer);
    fprintf(writer->out, "%lld", (long long)number);
}

void json_write_bool(JsonWriter *writer, bool value) {
    begin_value(writer);
    fputs(value ? "true" : "false", writer->out);
}

void json_write_tree(JsonWriter *writer, const Json *value) {
    switch (value->kind) {
    case JSON_NULL:
        json_write_text(writer, NULL);
        break;
    case JSON_BOOL:
        json_write_bool(writer, value->boolean);
        break;
    case JSON_NUMBER:
        json_write_number(writer, value->number);
        break;
    case JSON_TEXT:
        json_write_text(writer, value->text);
        break;
    case JSON_LIST:
        json_begin_list(writer);
        for (int i = 0; i < value->count; i++) json_write_tree(writer, &value->items[i]);
        json_end_list(writer);
        break;
    case JSON_OBJECT:
        json_begin_object(writer);
        for (int i = 0; i < value->count; i++) {
            json_key(writer, value->items[i].key);
            json_write_tree(writer, &value->items[i]);
        }
        json_end_object(writer);
        break;
    }
}
