// The test runner: runs every registered test in file and name order and counts.
#include <stdarg.h>
#include <sys/wait.h>

#include "tests/test.h"

static Test *tests;
static int failures_in_test;

static int order(const Test *a, const Test *b) {
    int by_file = strcmp(a->file, b->file);
    return by_file ? by_file : strcmp(a->name, b->name);
}

void test_register(Test *test) {
    Test **place = &tests;
    while (*place && order(*place, test) < 0) place = &(*place)->next;
    test->next = *place;
    *place = test;
}

void test_fail(const char *file, int line, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (failures_in_test++ < 20) {
        printf("%s:%d: ", file, line);
        vprintf(format, arguments);
        printf("\n");
    }
    va_end(arguments);
}

int test_shell(const char *command, char *output, size_t output_bytes) {
    char line[8192];
    snprintf(line, sizeof line, "(%s) 2>&1", command);
    FILE *pipe = popen(line, "r");
    if (!pipe) return -1;
    size_t length = 0, got;
    char spill[4096];
    while (length + 1 < output_bytes && (got = fread(output + length, 1, output_bytes - 1 - length, pipe)) > 0)
        length += got;
    output[length] = '\0';
    while (fread(spill, 1, sizeof spill, pipe) > 0) {}
    int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int test_page(const char *path, const char *holds) {
    static char text[65536], output[1 << 16];
    FILE *file = fopen(path, "r");
    size_t bytes = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file) fclose(file);
    text[bytes] = '\0';
    int count = 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        char command[1024];
        if (strncmp(line, "build/lockstep ", 15) != 0) continue;
        snprintf(command, sizeof command, "$LOCKSTEP %.*s", (int)strcspn(line + 15, "#"), line + 15);
        int status = test_shell(command, output, sizeof output);
        if (status != 0) test_fail(__FILE__, __LINE__, "%s: exit %d: %.500s", line, status, output);
        if (!strstr(output, holds)) test_fail(__FILE__, __LINE__, "%s: prints no \"%s\"", line, holds);
        count++;
    }
    return count;
}

static bool wanted(const Test *test, int word_count, char **words) {
    if (word_count == 0) return true;
    for (int i = 0; i < word_count; i++)
        if (strstr(test->name, words[i]) || strstr(test->file, words[i])) return true;
    return false;
}

int main(int argc, char **argv) {
    int passed = 0, failed = 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!getenv("LOCKSTEP")) setenv("LOCKSTEP", "build/lockstep", 1);
    for (Test *test = tests; test; test = test->next) {
        if (!wanted(test, argc - 1, argv + 1)) continue;
        failures_in_test = 0;
        test->run();
        if (failures_in_test) {
            printf("FAILED %s: %s\n", test->file, test->name);
            failed++;
        } else {
            passed++;
        }
    }
    printf("%d passed, %d failed\n", passed, failed);
    return failed || passed + failed == 0 ? 1 : 0;
}
