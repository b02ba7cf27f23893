// JSON: what is read and where it stood, what is refused and why, and the way back.
#include <unistd.h>

#include "sim/base/random.h"
#include "sim/data/json.h"
#include "tests/test.h"

static const Json *read_bytes(Arena *arena, const char *text, size_t bytes, Problems *problems) {
    char *exact = malloc(bytes ? bytes : 1); // no zero at the end: reading one byte too far shows under ASan
    memcpy(exact, text, bytes);
    const Json *json = json_read_text(arena, "t.json", exact, bytes, problems);
    free(exact);
    return json;
}

// The first problem of a text as it is printed, hint and all; "(read)" when there is none.
static const char *refusal_of(Arena *arena, const char *text, size_t bytes) {
    Problems *problems = problems_create(arena);
    const Json *json = read_bytes(arena, text, bytes, problems);
    if (json) return problem_count(problems) ? "(read, with problems)" : "(read)";
    if (problem_count(problems) == 0) return "(refused without a reason)";
    const Problem *first = problem_at(problems, 0);
    const char *hint = first->hint ? arena_printf(arena, " | %s", first->hint) : "";
    return arena_printf(arena, "%s:%d: %s%s", first->where.file, first->where.line, first->text, hint);
}

static const char *refusal(Arena *arena, const char *text) { return refusal_of(arena, text, strlen(text)); }

TEST(every_kind_of_value_is_read_with_its_line) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    static const char text[] = "{\n"
                               "  \"name\": \"H100\\u0020\\uD83D\\uDE00\\n\",\n"
                               "  \"watts\": -7.5e2, \"here\": true,\n"
                               "  \"list\": [\n"
                               "    1,\n"
                               "    {\"deep\":\r\n"
                               "       null}, false\n"
                               "  ],\n"
                               "  \"none\": {}, \"no\": []\n"
                               "}\n";
    const Json *json = read_bytes(arena, text, sizeof text - 1, problems);
    EXPECT(json && json->kind == JSON_OBJECT && json->count == 6);
    EXPECT_INT(problem_count(problems), 0);
    if (!json) return;
    EXPECT_TEXT(json->where.file, "t.json");
    EXPECT_INT(json->where.line, 1);
    EXPECT(json->key == NULL);

    const Json *name = json_get(json, "name"), *watts = json_get(json, "watts"), *list = json_get(json, "list");
    EXPECT_TEXT(name->text, "H100 \xf0\x9f\x98\x80\n");
    EXPECT_INT(name->where.line, 2);
    EXPECT(watts->kind == JSON_NUMBER && watts->number == -750);
    EXPECT_INT(watts->where.line, 3);
    EXPECT(json_get(json, "here")->kind == JSON_BOOL && json_get(json, "here")->boolean);
    EXPECT(list->kind == JSON_LIST && list->count == 3);
    EXPECT_INT(list->where.line, 4);
    EXPECT_INT(list->items[0].where.line, 5);
    EXPECT_INT(list->items[1].where.line, 6);
    EXPECT_INT(json_get(&list->items[1], "deep")->where.line, 7);
    EXPECT(json_get(&list->items[1], "deep")->kind == JSON_NULL);
    EXPECT(list->items[2].kind == JSON_BOOL && !list->items[2].boolean);
    EXPECT(json_get(json, "none")->count == 0 && json_get(json, "no")->kind == JSON_LIST);
    EXPECT_INT(json_get(json, "no")->where.line, 9);
    EXPECT(json_get(json, "Name") == NULL);
    EXPECT(json_get(list, "name") == NULL && json_get(NULL, "name") == NULL);
    arena_close(arena);
}

TEST(members_keep_their_order_and_keys) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    const Json *json = read_bytes(arena, "{\"z\":1,\"a\":2,\"\":3}", 18, problems);
    EXPECT(json && json->count == 3);
    if (json) EXPECT_TEXT(json->items[0].key, "z");
    if (json) EXPECT_TEXT(json->items[1].key, "a");
    if (json) EXPECT_TEXT(json->items[2].key, "");
    arena_close(arena);
}

typedef struct Refused {
    const char *text, *why;
} Refused;

TEST(what_is_no_json_is_refused_with_line_and_reason) {
    static const Refused refused[] = {
        {"", "t.json:1: expected a value, but the text ends"},
        {" \n\n ", "t.json:3: expected a value, but the text ends"},
        {"{\n\"a\": 1,\n\"b\": 2,\n\"a\": 3}", "t.json:4: \"a\" is there twice | the other one is in line 2"},
        {"{\"a\":1,\"\\u0061\":2}", "\"a\" is there twice"},
        {"[{\"x\":{\"a\":1,\"a\":2}}]", "\"a\" is there twice"},
        {"[1,\n2,\n]", "t.json:3: nothing follows the last comma | take the comma away"},
        {"{\"a\":1,}", "nothing follows the last comma"},
        {"[1 2]", "expected \",\" or \"]\", not \"2\""},
        {"[1", "expected \",\" or \"]\", but the text ends"},
        {"[,1]", "expected a value, not \",\""},
        {"{\"a\" 1}", "expected \":\" after the key, not \"1\""},
        {"{a:1}", "expected a key in quotes, not \"a\""},
        {"{'a':1}", "JSON quotes with"},
        {"{1:1}", "expected a key in quotes"},
        {"{\"a\":1 \"b\":2}", "expected \",\" or \"}\", not \"\"\""},
        {"[1}", "expected \",\" or \"]\", not \"}\""},
        {"{}\n{}", "t.json:2: expected the end of the text, not \"{\""},
        {"1 x", "expected the end of the text"},
        {"// note\n1", "JSON has no comments"},
        {"[1, # note\n2]", "JSON has no comments"},
        {"01", "a number starts with 0 | write 1, not 01"},
        {"-012", "a number starts with 0"},
        {"+1", "numbers look like"},
        {".5", "numbers look like"},
        {"5.", "expected a digit after the point, but the text ends"},
        {"[5.e1]", "expected a digit after the point"},
        {"-", "expected a digit, but the text ends"},
        {"1e", "expected a digit in the exponent"},
        {"1e+-2", "expected a digit in the exponent"},
        {"0x10", "expected the end of the text, not \"x\""},
        {"1e999", "a number is too large"},
        {"-1e999", "a number is too large"},
        {"NaN", "no NaN and no infinity"},
        {"Infinity", "no NaN and no infinity"},
        {"-Infinity", "expected a digit, not \"I\""},
        {"nan", "expected a value, not \"n\""},
        {"nul", "expected a value"},
        {"True", "expected a value, not \"T\""},
        {"truex", "expected the end of the text, not \"x\""},
        {"\"a", "a text has no closing quote"},
        {"\"a\\", "unknown escape"},
        {"\"a\nb\"", "a text contains a control character"},
        {"\"\\x41\"", "unknown escape"},
        {"\"\\u12g4\"", "four hexadecimal digits"},
        {"\"\\u12", "four hexadecimal digits"},
        {"\"\\u0000\"", "\\u0000"},
        {"\"\\ud800\"", "half of a surrogate pair"},
        {"\"\\ud800\\n\"", "half of a surrogate pair"},
        {"\"\\ud800\\u0041\"", "half of a surrogate pair"},
        {"\"\\udc00\\ud800\"", "half of a surrogate pair"},
        {"\xef\xbb\xbf{}", "byte order mark"},
        {"\xc2\xa0"
         "1",
         "not the byte 0xc2"},
        {"\x0b"
         "1",
         "not the byte 0x0b"},
        {"\"\xff\"", "not valid UTF-8"},
        {"\"\xc0\x80\"", "not valid UTF-8"},         // zero, the long way
        {"\"\xe0\x80\xaf\"", "not valid UTF-8"},     // too long
        {"\"\xed\xa0\x80\"", "not valid UTF-8"},     // a surrogate
        {"\"\xf4\x90\x80\x80\"", "not valid UTF-8"}, // beyond U+10FFFF
        {"\"\xe2\x82\"", "not valid UTF-8"},         // cut short
    };
    Arena *arena = arena_open();
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        EXPECT_CONTAINS(refusal(arena, refused[i].text), refused[i].why);
    arena_close(arena);
}

TEST(every_equal_key_is_reported_even_after_fifty_other_problems) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    static const char text[] = "{\"a\":1,\"b\":2,\"a\":3,\"b\":4,\"a\":5}";
    EXPECT(read_bytes(arena, text, sizeof text - 1, problems) == NULL);
    EXPECT_INT(problem_count(problems), 2); // the two of "a" are the same sentence in the same line
    for (int i = 0; i < 60; i++) problem_add(problems, (Where){"x", i + 1}, "wrong");
    EXPECT(read_bytes(arena, text, sizeof text - 1, problems) == NULL);
    arena_close(arena);
}

TEST(zero_bytes_are_refused_wherever_they_are) {
    Arena *arena = arena_open();
    EXPECT_CONTAINS(refusal_of(arena, "{}\0", 3), "expected the end of the text, not the byte 0x00");
    EXPECT_CONTAINS(refusal_of(arena, "\0{}", 3), "expected a value, not the byte 0x00");
    EXPECT_CONTAINS(refusal_of(arena, "\"a\0b\"", 5), "control character");
    EXPECT_CONTAINS(refusal_of(arena, "\"\\\0\"", 4), "unknown escape");
    arena_close(arena);
}

TEST(a_hundred_levels_are_read_and_one_more_refused) {
    Arena *arena = arena_open();
    char text[300];
    memset(text, '[', 101);
    memset(text + 101, ']', 101);
    EXPECT_CONTAINS(refusal_of(arena, text, 202), "more than 100 lists and objects");
    EXPECT_TEXT(refusal_of(arena, text + 1, 200), "(read)");
    char *deep = malloc(1000000);
    memset(deep, '[', 1000000);
    EXPECT_CONTAINS(refusal_of(arena, deep, 1000000), "more than 100 lists and objects");
    free(deep);
    EXPECT_TEXT(refusal(arena, "[[[]],[[]],[[]]]"), "(read)"); // breadth is no depth
    arena_close(arena);
}

TEST(numbers_are_read_to_the_last_bit_and_refused_when_cjson_would_cut_them) {
    static const char *const numbers[] = {"0",
                                          "-0",
                                          "0.1",
                                          "1e-400",
                                          "4.9e-324",
                                          "1.7976931348623157e308",
                                          "9007199254740991",
                                          "1E5",
                                          "1e+5",
                                          "123456789012345678901234567890123456789012345678901234567890"};
    Arena *arena = arena_open();
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        Problems *problems = problems_create(arena);
        const Json *json = read_bytes(arena, numbers[i], strlen(numbers[i]), problems);
        EXPECT(json && json->kind == JSON_NUMBER && json->number == strtod(numbers[i], NULL));
    }
    EXPECT_CONTAINS(refusal(arena, "0.1000000000000000000000000000000000000000000000000000000000000001"),
                    "more than 60 characters");
    arena_close(arena);
}

TEST(a_large_object_is_read_and_its_equal_keys_found) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    fprintf(out, "{");
    for (int i = 0; i < 50000; i++) fprintf(out, "\"key%d\": %d,\n", (i * 7919) % 50000, i);
    fprintf(out, "\"key31337\": 0}");
    fclose(out);
    EXPECT(read_bytes(arena, text, bytes, problems) == NULL);
    EXPECT_INT(problem_count(problems), 1);
    EXPECT_TEXT(problem_at(problems, 0)->text, "\"key31337\" is there twice");
    EXPECT_INT(problem_at(problems, 0)->where.line, 50001);
    free(text);
    arena_close(arena);
}

TEST(typed_access_says_what_is_missing_or_of_another_kind) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    static const char text[] = "{\n\"watts\": 700,\n\"name\": \"H100\",\n\"list\": []}";
    const Json *json = read_bytes(arena, text, sizeof text - 1, problems);
    EXPECT(json != NULL);
    if (!json) return;
    EXPECT_NEAR(json_number(json, "watts", problems), 700, 0);
    EXPECT_TEXT(json_text(json, "name", problems), "H100");
    EXPECT_INT(problem_count(problems), 0);

    EXPECT_NEAR(json_number(json, "name", problems), 0, 0);
    EXPECT_TEXT(problem_at(problems, 0)->text, "\"name\" is a number, not a text");
    EXPECT_INT(problem_at(problems, 0)->where.line, 3);
    EXPECT_TEXT(json_text(json, "list", problems), "");
    EXPECT_NEAR(json_number(json, "clock", problems), 0, 0);
    EXPECT_TEXT(problem_at(problems, 2)->text, "\"clock\" is missing; it is a number");
    EXPECT_INT(problem_at(problems, 2)->where.line, 1);
    EXPECT_TEXT(json_text(json_get(json, "list"), "name", problems), "");
    EXPECT_TEXT(problem_at(problems, 3)->text, "expected an object, not a list");
    EXPECT_INT(problem_count(problems), 4);
    arena_close(arena);
}

TEST(unknown_keys_are_problems_with_the_nearest_name) {
    static const char *const names[] = {"watts", "memory_bytes"};
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    static const char text[] = "{\"watts\": 1,\n\"memory_byte\": 2,\n\"colour\": 3}";
    const Json *json = read_bytes(arena, text, sizeof text - 1, problems);
    json_known_keys(json, names, 2, problems);
    EXPECT_INT(problem_count(problems), 2);
    EXPECT_TEXT(problem_at(problems, 0)->text, "nothing is called \"memory_byte\" here");
    EXPECT_TEXT(problem_at(problems, 0)->hint, "did you mean \"memory_bytes\"?");
    EXPECT_INT(problem_at(problems, 0)->where.line, 2);
    EXPECT_TEXT(problem_at(problems, 1)->hint, "known: watts, memory_bytes");
    arena_close(arena);
}

TEST(files_are_read_under_their_path) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    char path[] = "/tmp/lockstep-json-test-XXXXXX";
    int descriptor = mkstemp(path);
    EXPECT_SAME(write(descriptor, "[1,\n2]", 6), 6);
    close(descriptor);
    const Json *json = json_read_file(arena, path, problems);
    EXPECT(json && json->count == 2 && json->items[1].where.line == 2);
    if (json) EXPECT_TEXT(json->where.file, path);
    unlink(path);
    EXPECT(json_read_file(arena, path, problems) == NULL);
    EXPECT_INT(problem_count(problems), 1);
    EXPECT_TEXT(problem_at(problems, 0)->text, "cannot be read: No such file or directory");
    arena_close(arena);
}

// ---- Writing.

typedef struct Memory {
    JsonWriter writer;
    char *text;
    size_t bytes;
} Memory;

static void memory_open(Memory *memory, int indent) {
    memory->writer = json_writer(open_memstream(&memory->text, &memory->bytes), indent);
}

static void expect_written(Memory *memory, const char *expected) {
    fclose(memory->writer.out);
    EXPECT_TEXT(memory->text, expected);
    free(memory->text);
}

static void write_sample(JsonWriter *writer) {
    json_begin_object(writer);
    json_key(writer, "a");
    json_write_integer(writer, INT64_MIN);
    json_key(writer, "list");
    json_begin_list(writer);
    json_write_bool(writer, true);
    json_write_text(writer, NULL);
    json_begin_object(writer);
    json_end_object(writer);
    json_begin_list(writer);
    json_end_list(writer);
    json_end_list(writer);
    json_key(writer, "b");
    json_begin_object(writer);
    json_key(writer, "x");
    json_write_bool(writer, false);
    json_end_object(writer);
    json_end_object(writer);
}

TEST(without_indent_everything_is_on_one_line) {
    Memory memory;
    memory_open(&memory, 0);
    write_sample(&memory.writer);
    expect_written(&memory, "{\"a\":-9223372036854775808,\"list\":[true,null,{},[]],\"b\":{\"x\":false}}");
}

TEST(with_indent_every_item_has_its_line) {
    Memory memory;
    memory_open(&memory, 2);
    write_sample(&memory.writer);
    expect_written(&memory, "{\n"
                            "  \"a\": -9223372036854775808,\n"
                            "  \"list\": [\n"
                            "    true,\n"
                            "    null,\n"
                            "    {},\n"
                            "    []\n"
                            "  ],\n"
                            "  \"b\": {\n"
                            "    \"x\": false\n"
                            "  }\n"
                            "}");
}

TEST(texts_are_escaped_and_bad_utf8_is_replaced) {
    Memory memory;
    memory_open(&memory, 0);
    json_write_text(&memory.writer, "\"\\/\b\f\n\r\t\x01\x7f \xc3\xa9 \xf0\x9f\x98\x80 \xff \xe2\x82");
    expect_written(
        &memory,
        "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u007f \xc3\xa9 \xf0\x9f\x98\x80 \xef\xbf\xbd \xef\xbf\xbd\xef\xbf\xbd\"");
}

static void expect_number(double number, const char *expected) {
    Memory memory;
    memory_open(&memory, 0);
    json_write_number(&memory.writer, number);
    expect_written(&memory, expected);
}

TEST(numbers_are_as_short_as_can_be) {
    expect_number(0.1, "0.1");
    expect_number(1.0 / 3, "0.3333333333333333");
    expect_number(0.1 + 0.2, "0.30000000000000004");
    expect_number(100, "100");
    expect_number(-0.0, "-0");
    expect_number(9007199254740992, "9007199254740992");
    expect_number(NAN, "null");
    expect_number(INFINITY, "null");
    expect_number(-INFINITY, "null");
}

TEST(any_number_written_reads_back_equal) {
    Arena *arena = arena_open();
    RandomStream random = random_stream(1, "json test", 0);
    int differences = 0;
    for (int i = 0; i < 5000; i++) {
        uint64_t bits = random_bits(&random);
        double number;
        memcpy(&number, &bits, sizeof number);
        if (!isfinite(number)) continue;
        Memory memory;
        memory_open(&memory, 0);
        json_write_number(&memory.writer, number);
        fclose(memory.writer.out);
        const Json *json = read_bytes(arena, memory.text, memory.bytes, problems_create(arena));
        differences += !json || json->number != number;
        free(memory.text);
    }
    EXPECT_INT(differences, 0);
    arena_close(arena);
}
