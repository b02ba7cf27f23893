// Studies drawn at random, each loaded, simulated, printed and held to laws in a process that may die.
//     LOCKSTEP_STUDIES=10000 LOCKSTEP_STUDIES_FROM=1 build/tests/run drawn_studies
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scenarios/fields.h"
#include "sim/check.h"
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
        ended[i] = (char)(1 + drawn_run(&study, true));
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

TEST(drawn_studies_run_or_are_refused_and_keep_the_laws_of_answers) {
    uint64_t count = number_of("LOCKSTEP_STUDIES", 96), first = number_of("LOCKSTEP_STUDIES_FROM", 1);
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
    EXPECT(ends[DRAWN_RAN] >= count * 6 / 10); // else the draws are of little use
}

// A field that no draw reaches is one that nobody thought of here.
TEST(drawn_studies_use_nearly_every_field_that_set_reaches) {
    static const ObjectId studied[] = {OBJECT_CLUSTER,    OBJECT_PRICE,      OBJECT_OWN,      OBJECT_FAULTS,
                                       OBJECT_TRAINING,   OBJECT_BATCH,      OBJECT_PARALLEL, OBJECT_OVERLAP,
                                       OBJECT_CHECKPOINT, OBJECT_STUDY,      OBJECT_DATA,     OBJECT_FABRIC,
                                       OBJECT_VARY,       OBJECT_TRANSFORMER};
    static bool used[OBJECT_COUNT][FIELDS_MOST];
    int missing = 0, count = 0;
    for (uint64_t seed = 1; seed <= 3000; seed++) {
        DrawnStudy study = draw_study(seed);
        for (int s = 0; s < study.count; s++)
            for (size_t o = 0; o < sizeof studied / sizeof *studied; o++) {
                const char *dot = strrchr(study.settings[s].path, '.'), *object = object_types[studied[o]].name;
                if (strncmp(object, study.settings[s].path, strlen(object)) != 0) continue;
                if (strlen(object) != (size_t)(dot - study.settings[s].path)) continue;
                used[studied[o]][field_index(studied[o], dot + 1)] = true;
            }
    }
    for (size_t o = 0; o < sizeof studied / sizeof *studied; o++)
        for (int f = 0; f < object_types[studied[o]].field_count; f++) {
            FieldKind kind = object_types[studied[o]].fields[f].kind;
            if (kind == FIELD_TABLE || kind == FIELD_VALUE || kind == FIELD_FUNCTION) continue;
            count++;
            if (used[studied[o]][f]) continue;
            missing++;
            printf("never drawn: %s.%s\n", object_types[studied[o]].name, object_types[studied[o]].fields[f].name);
        }
    EXPECT(missing * 10 <= count);
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
    EXPECT_INT(drawn_run(&study, true), DRAWN_RAN);
}
