// The checksum of the engine: which changes of the source count.
#include <string.h>

#include "sim/base/version.h"
#include "tests/test.h"

static void engine_text(const char *source, char *text, size_t bytes) {
    char command[512];
    snprintf(command, sizeof command, "printf '%%b' '%s' | awk -f sim/engine_text.awk", source);
    EXPECT_INT(test_shell(command, text, bytes), 0);
}

TEST(comments_and_blank_lines_do_not_make_another_engine) {
    char plain[256], commented[256];
    engine_text("int a = 1; \nint b;\n", plain, sizeof plain);
    engine_text("// what it is\n\n  int a = 1; // one\n/* two\n lines */int b;\n", commented, sizeof commented);
    EXPECT_TEXT(commented, plain);
}

TEST(code_and_texts_make_another_engine) {
    char first[256], second[256];
    engine_text("double rate = 1e9; // of a link\n", first, sizeof first);
    engine_text("double rate = 2e9; // of a link\n", second, sizeof second);
    EXPECT(strcmp(first, second) != 0);
    engine_text("text(\"//a\", 1);\n", first, sizeof first);
    engine_text("text(\"//a\", 2);\n", second, sizeof second);
    EXPECT(strcmp(first, second) != 0);
    EXPECT_CONTAINS(first, "//a");
}

// A store knows by it which engine a point comes from: without it all engines would be one.
TEST(the_program_knows_its_engine) {
    const char *engine = strchr(engine_version(), '+');
    EXPECT(engine && strlen(engine) == 1 + 12 && strspn(engine + 1, "0123456789abcdef") == 12);
}
