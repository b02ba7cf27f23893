// Studies drawn at random, each loaded, simulated, printed and held to laws in a process that may die.
//     LOCKSTEP_STUDIES=10000 LOCKSTEP_STUDIES_FROM=1 build/tests/run drawn_studies
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scenarios/fields/fields.h"
#include "sim/base/check.h"
#include "tests/drawn_run.h"
#include "tests/test.h"

#define BATCH 64       // studies of one process
#define CPU_SECONDS 10 // of one study: no drawn study may hang

static uint64_t number_of(const char *variable, uint64_t usual) {
    const char *text = getenv(variable);
    return text ? strtoull(text, NULL, 10) : usual;
}

static void limit_time(void) {
    const struct itimerval timer = {.it_value.tv_sec = CPU_SECONDS};
    CHECK(setitimer(ITIMER_PROF, &timer, NULL) == 0);
}

// The process of a batch: how each study ended, until one ends the process.
static void run_batch(uint64_t first, int count, char *ended) {
    signal(SIGPROF, SIG_DFL);
    for (int i = 0; i < count; i++) {
        DrawnStudy study = draw_study(first + (uint64_t)i);
        limit_time();
        ended[i] = (char)(1 + drawn_run(&study, true, DRAWN_MOST_EVENTS));
    }
}

static int finished(const char *ended, int count) {
    int done = 0;
    while (done < count && ended[done]) done++;
    return done;
}

static void report_death(uint64_t seed, int status) {
    DrawnStudy study = draw_study(seed);
    bool hung = WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF;
    test_fail(__FILE__, __LINE__, "the study drawn from seed %llu %s (%s %d):", (unsigned long long)seed,
              hung ? "takes too long" : "ends the program", WIFSIGNALED(status) ? "signal" : "exit",
              WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    drawn_write(&study, stdout);
}

// How many studies of the batch were done with, one that ended the process among them.
static int try_batch(uint64_t first, int count, char *ended) {
    memset(ended, 0, BATCH);
    fflush(NULL);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        run_batch(first, count, ended);
        exit(0); // so that a sanitizer looks for leaks
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    int done = finished(ended, count);
    if (status == 0) return count;
    report_death(first + (uint64_t)(done < count ? done : count - 1), status);
    return done < count ? done + 1 : count;
}

LONG_TEST(2, drawn_studies_run_or_are_refused_and_keep_the_laws_of_answers) {
    uint64_t count = number_of("LOCKSTEP_STUDIES", 300), first = number_of("LOCKSTEP_STUDIES_FROM", 1);
    char *ended = mmap(NULL, BATCH, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    uint64_t ends[DRAWN_ENDS] = {0};
    CHECK(ended != MAP_FAILED);
    for (uint64_t done = 0; done < count;) {
        int batch = count - done < BATCH ? (int)(count - done) : BATCH;
        int tried = try_batch(first + done, batch, ended);
        for (int i = 0; i < tried; i++)
            if (ended[i]) ends[ended[i] - 1]++;
        done += (uint64_t)tried;
    }
    munmap(ended, BATCH);
    if (getenv("LOCKSTEP_STUDIES"))
        printf("%llu drawn studies from seed %llu: %llu ran, %llu refused\n", (unsigned long long)count,
               (unsigned long long)first, (unsigned long long)ends[DRAWN_RAN], (unsigned long long)ends[DRAWN_REFUSED]);
    EXPECT(ends[DRAWN_RAN] >= count * 55 / 100); // else the draws are of little use
}

static bool is_set_of(const DrawnSetting *setting, const ObjectType *type, const Field *field) {
    size_t length = strlen(type->name);
    return strncmp(setting->path, type->name, length) == 0 && setting->path[length] == '.' &&
           strcmp(setting->path + length + 1, field->name) == 0;
}

static void mark_used(const DrawnStudy *study, ObjectId object, bool used[FIELDS_MOST]) {
    const ObjectType *type = object_type(object);
    for (int s = 0; s < study->count; s++)
        for (int f = 0; f < type->field_count; f++)
            used[f] = used[f] || is_set_of(&study->settings[s], type, &type->fields[f]);
}

// One that no draw reaches is one that nobody thought of there.
TEST(drawn_studies_use_every_field_that_set_reaches) {
    static const ObjectId studied[] = {OBJECT_CLUSTER,    OBJECT_PRICE,      OBJECT_OWN,      OBJECT_FAULTS,
                                       OBJECT_TRAINING,   OBJECT_BATCH,      OBJECT_PARALLEL, OBJECT_OVERLAP,
                                       OBJECT_CHECKPOINT, OBJECT_STUDY,      OBJECT_DATA,     OBJECT_FABRIC,
                                       OBJECT_VARY,       OBJECT_TRANSFORMER};
    enum { STUDIED = sizeof studied / sizeof *studied };
    bool used[STUDIED][FIELDS_MOST] = {0};
    FOR_SEEDS (seed, 1, 9000) {
        DrawnStudy study = draw_study(seed);
        for (int o = 0; o < STUDIED; o++) mark_used(&study, studied[o], used[o]);
    }
    for (int o = 0; o < STUDIED; o++) {
        const ObjectType *type = object_type(studied[o]);
        for (int f = 0; f < type->field_count; f++) {
            FieldKind kind = type->fields[f].kind;
            bool settable = kind != FIELD_TABLE && kind != FIELD_VALUE && kind != FIELD_FUNCTION;
            if (settable && !used[o][f])
                test_fail(__FILE__, __LINE__, "no study has %s.%s", type->name, type->fields[f].name);
        }
    }
}

TEST(a_drawn_study_is_the_same_for_the_same_seed_and_a_list_that_can_be_changed) {
    DrawnStudy a = draw_study(7), b = draw_study(7);
    EXPECT_INT(a.count, b.count);
    for (int i = 0; i < a.count; i++) EXPECT_TEXT(a.settings[i].value, b.settings[i].value);
    drawn_set(&a, "training.zero", "2");
    EXPECT_TEXT(drawn_value(&a, "training.zero"), "2");
    drawn_set(&a, "training.zero", NULL);
    EXPECT(!drawn_value(&a, "training.zero"));
}

TEST(bytes_that_are_used_up_draw_the_plainest_study) {
    DrawnStudy study = draw_study_from(NULL, 0);
    EXPECT_TEXT(drawn_value(&study, "training.model"), "\"gpt2-124m\"");
    EXPECT_INT(drawn_run(&study, true, DRAWN_MOST_EVENTS), DRAWN_RAN);
}
