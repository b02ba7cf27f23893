// A test is a function whose name is the claim it checks. All tests live in one program, found by themselves:
//     TEST(events_at_the_same_time_fire_in_scheduling_order) { EXPECT(…); }
//     TEST(the_queue_agrees_with_a_plain_list) { FOR_SEEDS(seed, 1, 40) { … } }
// tests/run [WORD…] runs those whose file or name contains a word; the last line is "N passed, N failed".
// --slowest N shows what takes the processors longest; what takes seconds is a LONG_TEST(seconds, name).
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Test {
    const char *file, *name;
    void (*run)(void);
    double cpu_seconds; // about, of those that take long: they begin first, so that no core waits for one at the end
    struct Test *next;
} Test;

void test_register(Test *test);
void test_fail(const char *file, int line, const char *format, ...) __attribute__((format(printf, 3, 4)));
void test_fail_whole(const char *file, int line, const char *what, uint64_t actual, uint64_t expected);
void test_fail_real(const char *file, int line, const char *what, double actual, double expected);

// for (uint64_t seed = first; seed <= last; seed++), and what fails within says which seed it was.
#define FOR_SEEDS(seed, first, last) for (uint64_t seed = (first); test_draws(seed, last); seed++)
bool test_draws(uint64_t seed, uint64_t last);

#define TEST(name_) LONG_TEST(0, name_)
#define LONG_TEST(cpu_seconds_, name_)                                                                                 \
    static void name_(void);                                                                                           \
    __attribute__((constructor)) static void register_##name_(void) {                                                  \
        static Test test = {__FILE__, #name_, name_, cpu_seconds_, NULL};                                              \
        test_register(&test);                                                                                          \
    }                                                                                                                  \
    static void name_(void)

#define EXPECT(condition)                                                                                              \
    do {                                                                                                               \
        if (!(condition)) test_fail(__FILE__, __LINE__, "%s", #condition);                                             \
    } while (0)

#define EXPECT_INT(actual, expected)                                                                                   \
    do {                                                                                                               \
        long long actual_ = (long long)(actual), expected_ = (long long)(expected);                                    \
        if (actual_ != expected_)                                                                                      \
            test_fail(__FILE__, __LINE__, "%s is %lld, expected %lld", #actual, actual_, expected_);                   \
    } while (0)

// Equal numbers of any kind: digests, ticks, and reals to the last bit.
#define EXPECT_SAME(actual, expected)                                                                                  \
    do {                                                                                                               \
        const __typeof__(actual) actual_ = (actual);                                                                   \
        if (!(actual_ == (expected)))                                                                                  \
            _Generic(actual_, double                                                                                   \
                     : test_fail_real, float                                                                           \
                     : test_fail_real, default                                                                         \
                     : test_fail_whole)(__FILE__, __LINE__, #actual, actual_, expected);                               \
    } while (0)

// Within a relative tolerance (of the expected value; absolute when that is 0).
#define EXPECT_NEAR(actual, expected, tolerance)                                                                       \
    do {                                                                                                               \
        double actual_ = (actual), expected_ = (expected);                                                             \
        double scale_ = expected_ != 0 ? fabs(expected_) : 1;                                                          \
        if (!(fabs(actual_ - expected_) <= (tolerance)*scale_))                                                        \
            test_fail(__FILE__, __LINE__, "%s is %.17g, expected %.17g", #actual, actual_, expected_);                 \
    } while (0)

#define EXPECT_TEXT(actual, expected)                                                                                  \
    do {                                                                                                               \
        const char *actual_ = (actual), *expected_ = (expected);                                                       \
        if (!actual_ || strcmp(actual_, expected_) != 0)                                                               \
            test_fail(__FILE__, __LINE__, "%s is \"%s\", expected \"%s\"", #actual, actual_ ? actual_ : "(null)",      \
                      expected_);                                                                                      \
    } while (0)

#define EXPECT_CONTAINS(actual, part)                                                                                  \
    do {                                                                                                               \
        const char *actual_ = (actual), *part_ = (part);                                                               \
        if (!actual_ || !strstr(actual_, part_))                                                                       \
            test_fail(__FILE__, __LINE__, "%s is \"%s\", which lacks \"%s\"", #actual, actual_ ? actual_ : "(null)",   \
                      part_);                                                                                          \
    } while (0)

// Runs a command line through the shell and returns its exit status; output (stdout and stderr together) lands in
// `output`, cut at output_bytes. "$LOCKSTEP" in the line is the program under test.
int test_shell(const char *command, char *output, size_t output_bytes);
// Runs every line of a page that begins with "build/lockstep "; each must succeed and print `holds`. How many there
// are.
int test_page(const char *path, const char *holds);
