// The test runner: runs every registered test once, in as many processes as there are cores, and counts.
//
//     tests/run [-j N] [-v] [--list] [--slowest N] [--shuffle SEED] [--until-failure FILE] [WORD…] [^WORD…]
//
// Workers take the next test from a counter that they share: the long ones first, then in file and name order, or
// shuffled. ^WORD leaves out what contains it. With --until-failure they are those that FILE has, a line each, in its
// order; before the name stands how many seconds of processor time it may take, and no more begin once one has failed.
// One that dies fails the test it was in, and another takes its place. What a test prints is kept and shown only when
// it fails, or with -v.
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sim/base/random.h"
#include "tests/fuzz/kept.h"
#include "tests/test.h"

static Test *tests;
static int failures_in_test;
static uint64_t seed_in_test; // 0: none

static int order(const Test *a, const Test *b) {
    if (a->cpu_seconds != b->cpu_seconds) return a->cpu_seconds > b->cpu_seconds ? -1 : 1;
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
        if (seed_in_test) printf(" (seed %llu)", (unsigned long long)seed_in_test);
        printf("\n");
    }
    va_end(arguments);
}

void test_fail_whole(const char *file, int line, const char *what, uint64_t actual, uint64_t expected) {
    if ((actual | expected) >> 48) // a digest, or below zero
        test_fail(file, line, "%s is %lld (%llx), expected %lld (%llx)", what, (long long)actual,
                  (unsigned long long)actual, (long long)expected, (unsigned long long)expected);
    else
        test_fail(file, line, "%s is %lld, expected %lld", what, (long long)actual, (long long)expected);
}

void test_fail_real(const char *file, int line, const char *what, double actual, double expected) {
    test_fail(file, line, "%s is %.17g, expected %.17g", what, actual, expected);
}

bool test_draws(uint64_t seed, uint64_t last) {
    seed_in_test = seed <= last ? seed : 0;
    return seed <= last;
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

// ---- What workers and the parent share.

typedef enum Outcome { NOT_RUN, RUNNING, PASSED, FAILED } Outcome;

typedef struct Result {
    _Atomic int outcome;
    double seconds, cpu_seconds; // the latter with those of processes that it waited for
} Result;

typedef struct Board {
    atomic_int next;
    Result results[]; // of each wanted test
} Board;

typedef struct Worker {
    pid_t process;
    int printed;        // a file in memory: what the test under way has printed
    _Atomic int *under; // shared: the test under way
} Worker;

enum { MOST_WORKERS = 256 };

typedef struct Suite {
    const Test **tests;
    int count;
    Board *board;
    bool verbose;
    int slowest_shown;
    int *most_seconds; // of processor time for each test, the first that fails being the last; NULL: any, and all run
    int screen;        // standard output, while a worker's own is a file in memory
} Suite;

static void *shared(size_t bytes) {
    void *room = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED) {
        perror("tests: mmap");
        exit(1);
    }
    return room;
}

static bool wanted(const Test *test, int word_count, char **words) {
    bool found = true, asked = false;
    for (int i = 0; i < word_count; i++) {
        bool without = words[i][0] == '^';
        const char *word = words[i] + without;
        bool holds = strstr(test->name, word) || strstr(test->file, word);
        if (without && holds) return false;
        if (!without) found = (asked && found) || holds;
        asked = asked || !without;
    }
    return found;
}

static Suite suite_of(int word_count, char **words) {
    Suite suite = {.screen = dup(STDOUT_FILENO)};
    int all = 0;
    for (const Test *test = tests; test; test = test->next) all++;
    suite.tests = calloc((size_t)all + 1, sizeof *suite.tests);
    for (const Test *test = tests; test; test = test->next)
        if (wanted(test, word_count, words)) suite.tests[suite.count++] = test;
    suite.board = shared(sizeof(Board) + (size_t)suite.count * sizeof(Result));
    return suite;
}

// The same tests in another order, by the seed.
static void shuffle(Suite *suite, uint64_t seed) {
    RandomStream stream = random_stream(seed, "order of tests", 0);
    for (int i = suite->count - 1; i > 0; i--) {
        int j = (int)random_below(&stream, (uint64_t)i + 1);
        const Test *test = suite->tests[i];
        suite->tests[i] = suite->tests[j];
        suite->tests[j] = test;
    }
}

static const Test *test_called(const char *name) {
    for (const Test *test = tests; test; test = test->next)
        if (strcmp(test->name, name) == 0) return test;
    return NULL;
}

// Only the tests of the file, in its order.
static void read_until_failure(Suite *suite, const char *path) {
    char name[256];
    int seconds, all = suite->count;
    FILE *file = fopen(path, "r");
    suite->most_seconds = calloc((size_t)all + 1, sizeof *suite->most_seconds);
    suite->count = 0;
    while (file && suite->count < all && fscanf(file, "%d %255s", &seconds, name) == 2) {
        const Test *test = test_called(name);
        if (!test) continue;
        suite->most_seconds[suite->count] = seconds;
        suite->tests[suite->count++] = test;
    }
    if (file) fclose(file);
    setenv("LOCKSTEP_UNTIL_FAILURE", "1", 1); // a long test may end at its first failure
}

// ---- A worker.

// Copies what was printed to the screen in one piece, so that two workers' words do not mix.
static void show_printed(const Suite *suite, const Worker *worker, const Test *failed) {
    off_t length = lseek(worker->printed, 0, SEEK_END);
    size_t room = (size_t)(length > 0 ? length : 0), head = 0;
    char *text = malloc(room + 512);
    if (!text) return;
    if (pread(worker->printed, text, room, 0) != (ssize_t)room) room = 0;
    if (failed) head = (size_t)snprintf(text + room, 512, "FAILED %s: %s\n", failed->file, failed->name);
    (void)!write(suite->screen, text, room + head);
    free(text);
}

static void forget_printed(const Worker *worker) {
    (void)!ftruncate(worker->printed, 0);
    lseek(worker->printed, 0, SEEK_SET);
}

static double now_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double cpu_seconds_of(int who) {
    struct rusage usage;
    getrusage(who, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}
static double cpu_seconds(void) { return cpu_seconds_of(RUSAGE_SELF) + cpu_seconds_of(RUSAGE_CHILDREN); }

// Ends this worker by a signal if it, or a process that it starts, goes on for longer.
static void limit_time(int seconds) {
    struct rlimit limit;
    getrlimit(RLIMIT_CPU, &limit);
    limit.rlim_cur = (rlim_t)cpu_seconds_of(RUSAGE_SELF) + (rlim_t)seconds + 1;
    setrlimit(RLIMIT_CPU, &limit);
}

static void run_test(const Suite *suite, const Worker *worker, int index) {
    const Test *test = suite->tests[index];
    Result *result = &suite->board->results[index];
    double begin = now_seconds(), cpu_begin = cpu_seconds();

    *worker->under = index;
    result->outcome = RUNNING;
    failures_in_test = 0;
    seed_in_test = 0;
    if (suite->most_seconds) limit_time(suite->most_seconds[index]);
    test->run();
    fflush(stdout);
    fflush(stderr);
    bool failed = failures_in_test > 0;
    if (failed || suite->verbose) show_printed(suite, worker, failed ? test : NULL);
    forget_printed(worker);
    result->seconds = now_seconds() - begin;
    result->cpu_seconds = cpu_seconds() - cpu_begin;
    result->outcome = failed ? FAILED : PASSED;
    if (failed && suite->most_seconds) suite->board->next = suite->count;
}

static void start_worker(const Suite *suite, Worker *worker) {
    fflush(stdout);
    worker->process = fork();
    if (worker->process < 0) {
        perror("tests: fork");
        exit(1);
    }
    if (worker->process > 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL); // a runner that is ended leaves nobody behind
    dup2(worker->printed, STDOUT_FILENO);
    dup2(worker->printed, STDERR_FILENO);
    for (int index; (index = atomic_fetch_add(&suite->board->next, 1)) < suite->count;) run_test(suite, worker, index);
    *worker->under = -1;
    exit(0); // here sanitizers look for leaks
}

// ---- The parent.

static const char *how_it_ended(int status, char *text, size_t bytes) {
    if (WIFSIGNALED(status))
        snprintf(text, bytes, "signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        snprintf(text, bytes, "exit status %d", WEXITSTATUS(status));
    return text;
}

// A worker that ended well has no test under way. One that leaked fails after its last test.
static bool settle(const Suite *suite, const Worker *worker, int status) {
    char how[128];
    if (status == 0 && *worker->under < 0) return true;
    const Test *test = *worker->under >= 0 ? suite->tests[*worker->under] : NULL;
    show_printed(suite, worker, test);
    forget_printed(worker);
    printf("a worker of the tests ended with %s %s\n", how_it_ended(status, how, sizeof how),
           test ? "in the test above" : "after its last test");
    if (test) suite->board->results[*worker->under].outcome = FAILED;
    return test != NULL;
}

// False when a worker ended badly outside of any test.
static bool run_all(const Suite *suite, int worker_count) {
    Worker workers[MOST_WORKERS];
    _Atomic int *under = shared((size_t)worker_count * sizeof *under);
    bool sound = true;
    for (int i = 0; i < worker_count; i++) {
        under[i] = -1;
        workers[i] = (Worker){.printed = memfd_create("printed", MFD_CLOEXEC), .under = &under[i]};
        start_worker(suite, &workers[i]);
    }
    for (int busy = worker_count; busy > 0;) {
        int status;
        pid_t ended = wait(&status);
        if (ended < 0) break;
        for (int i = 0; i < worker_count; i++) {
            if (workers[i].process != ended) continue;
            sound = settle(suite, &workers[i], status) && sound;
            busy--;
            if (*workers[i].under >= 0) {
                if (suite->most_seconds) suite->board->next = suite->count;
                *workers[i].under = -1;
                start_worker(suite, &workers[i]);
                busy++;
            }
        }
    }
    return sound;
}

static const Result *results_to_compare; // qsort hands nothing on
static int slower(const void *a, const void *b) {
    double x = results_to_compare[*(const int *)a].cpu_seconds, y = results_to_compare[*(const int *)b].cpu_seconds;
    return (x < y) - (x > y);
}

// By the processors' time: the clock's is that of whatever else runs.
static void print_slowest(const Suite *suite) {
    int *indices = calloc((size_t)suite->count + 1, sizeof *indices);
    for (int i = 0; i < suite->count; i++) indices[i] = i;
    results_to_compare = suite->board->results;
    qsort(indices, (size_t)suite->count, sizeof *indices, slower);
    for (int n = 0; n < suite->slowest_shown && n < suite->count; n++) {
        const Result *result = &suite->board->results[indices[n]];
        const Test *test = suite->tests[indices[n]];
        printf("%8.2f s of CPU, %8.2f s  %s: %s\n", result->cpu_seconds, result->seconds, test->file, test->name);
    }
    free(indices);
}

// A test that no worker came to counts as failed, but after the one failure that was asked for.
static int count_and_print(const Suite *suite, bool sound) {
    int passed = 0, failed = sound ? 0 : 1;
    for (int i = 0; i < suite->count; i++) {
        if (suite->most_seconds && suite->board->results[i].outcome == NOT_RUN) continue;
        if (suite->board->results[i].outcome == PASSED)
            passed++;
        else
            failed++;
    }
    printf("%d passed, %d failed\n", passed, failed);
    return failed || passed + failed == 0 ? 1 : 0;
}

typedef struct Asked {
    long jobs, slowest;
    const char *seed, *until_failure; // of the order; a file; or NULL
    bool list, verbose;
    int words; // index of the first
} Asked;

static Asked read_arguments(int argc, char **argv) {
    Asked asked = {.jobs = sysconf(_SC_NPROCESSORS_ONLN), .slowest = 5, .words = 1};
    for (; asked.words < argc && argv[asked.words][0] == '-'; asked.words++) {
        const char *option = argv[asked.words], *value = argv[asked.words + 1];
        if (strcmp(option, "--list") == 0)
            asked.list = true;
        else if (strcmp(option, "-v") == 0)
            asked.verbose = true;
        else if (strcmp(option, "-j") == 0 && value)
            asked.jobs = strtol(argv[++asked.words], NULL, 10);
        else if (strcmp(option, "--slowest") == 0 && value)
            asked.slowest = strtol(argv[++asked.words], NULL, 10);
        else if (strcmp(option, "--shuffle") == 0 && value)
            asked.seed = argv[++asked.words];
        else if (strcmp(option, "--until-failure") == 0 && value)
            asked.until_failure = argv[++asked.words];
        else {
            fprintf(stderr,
                    "usage: %s [-j N] [-v] [--list] [--slowest N] [--shuffle SEED] [--until-failure FILE] [WORD…] "
                    "[^WORD…]\n",
                    argv[0]);
            exit(2);
        }
    }
    return asked;
}

int main(int argc, char **argv) {
    Asked asked = read_arguments(argc, argv);
    setvbuf(stdout, NULL, _IOLBF, 0);
    signal(SIGINT, SIG_DFL); // a shell's background commands ignore it, and tests ask what it does
    if (!getenv("LOCKSTEP")) setenv("LOCKSTEP", "build/lockstep", 1);
    setenv("LOCKSTEP_LAST", "never", 0); // questions of tests are nobody's last ones
    setenv("LC_ALL", "C.UTF-8", 1);      // letters beyond ASCII are shown, wherever tests run

    Suite suite = suite_of(argc - asked.words, argv + asked.words);
    suite.verbose = asked.verbose;
    suite.slowest_shown = (int)asked.slowest;
    if (asked.until_failure) read_until_failure(&suite, asked.until_failure);
    if (asked.seed) shuffle(&suite, strtoull(asked.seed, NULL, 10));
    if (asked.list) {
        for (int i = 0; i < suite.count; i++) printf("%s: %s\n", suite.tests[i]->file, suite.tests[i]->name);
        return 0;
    }
    if (asked.seed) printf("in the order of --shuffle %s\n", asked.seed);
    long jobs = asked.jobs < suite.count ? asked.jobs : suite.count;
    jobs = jobs < 1 ? 1 : jobs > MOST_WORKERS ? MOST_WORKERS : jobs;
    kept_catalogue(); // here once, not in every process
    bool sound = run_all(&suite, (int)jobs);
    print_slowest(&suite);
    int status = count_and_print(&suite, sound);
    free(suite.tests);
    free(suite.most_seconds);
    return status;
}
