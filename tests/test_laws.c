// Laws on drawn studies, some hundred here and 20,000 with make laws (LAWS=N); LAWS_FROM=N begins at another seed.
// A process of its own judges them, so that a study on which the program ends is found too.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/base/check.h"
#include "sim/base/random.h"
#include "tests/laws_internal.h"
#include "tests/test.h"

#define USUAL_RUNS 3000
#define PROCESSES 2
#define SHOWN 5 // violations that are made small and printed, of each process

const Law laws[] = {
    {"a faster part never slows a step down", law_faster_parts},
    {"more of a setting never slows a step down", law_more_of_a_setting},
    {"a faster fabric of its family never slows a step down", law_faster_fabric},
    {"a further node never makes a collective shorter", law_further_node},
    {"contention costs no more than all bytes on their links", law_contention},
    {"no step is shorter than its arithmetic, its memory and its wires allow", law_bounds},
    {"what ranks send is what links carry", law_bytes},
    {"what is alike may change places", law_alike},
    {"twice the work takes at most twice as long", law_twice},
    {"each stage of ZeRO needs less memory", law_zero},
    {"who shares with more ranks holds less", law_shards},
    {"recomputing more holds less", law_recompute},
    {"smaller micro-batches hold less", law_micro_batch},
    {"more failures do not help, spares do not hurt", law_life},
};
const int law_count = sizeof laws / sizeof *laws;

static uint64_t seed_of_run(int run) {
    RandomStream stream = random_stream((uint64_t)run, "law", 0);
    return random_bits(&stream) >> 20;
}

typedef struct Count {
    int verdicts[LAW_BROKEN + 1];
} Count;

typedef struct Tally { // of one process, seen by its parent
    int next;
    Count laws[32];
} Tally;

static void judge_run(Tally *tally, int run) {
    int number = run % law_count;
    const Law *law = &laws[number];
    DrawnStudy study = law_study((uint64_t)run);
    Finding finding = {0};
    Verdict verdict = law->judge(&study, seed_of_run(run), &finding);
    int *count = &tally->laws[number].verdicts[verdict];
    if (++*count > SHOWN || verdict != LAW_BROKEN) return;
    DrawnStudy small = law_shrink(law, &study, seed_of_run(run));
    printf("-- run %d\n", run);
    law_print(law, &small, seed_of_run(run), stdout);
}

// Those runs from `first` to `end` that are this process's, with a new child where one has ended on its own.
static void judge_runs(Tally *tally, int first, int end) {
    for (tally->next = first; tally->next < end;) {
        fflush(stdout);
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            for (; tally->next < end; tally->next += PROCESSES) judge_run(tally, tally->next);
            fflush(stdout);
            _exit(0);
        }
        int status;
        waitpid(child, &status, 0);
        if (tally->next >= end) break;
        DrawnStudy study = law_study((uint64_t)tally->next);
        printf("-- run %d ends the program (status %d)\n", tally->next, status);
        drawn_write(&study, stdout);
        tally->laws[tally->next % law_count].verdicts[LAW_BROKEN]++;
        tally->next += PROCESSES;
    }
}

static Tally *shared_tallies(void) {
    void *shared = mmap(NULL, PROCESSES * sizeof(Tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED);
    return shared;
}

static int asked(const char *name, int usual) {
    const char *value = getenv(name);
    return value ? atoi(value) : usual;
}

LONG_TEST(5, laws_hold_on_drawn_studies) {
    int runs = asked("LAWS", USUAL_RUNS), first = asked("LAWS_FROM", 1), held = 0;
    Tally *tallies = shared_tallies();
    pid_t others[PROCESSES] = {0};
    fflush(stdout);
    for (int p = 1; p < PROCESSES; p++)
        if ((others[p] = fork()) == 0) {
            judge_runs(&tallies[p], first + p, first + runs);
            fflush(stdout);
            _exit(0);
        }
    judge_runs(&tallies[0], first, first + runs);
    for (int p = 1; p < PROCESSES; p++) waitpid(others[p], NULL, 0);
    for (int l = 0; l < law_count; l++) {
        Count sum = {0};
        for (int p = 0; p < PROCESSES; p++)
            for (int v = 0; v <= LAW_BROKEN; v++) sum.verdicts[v] += tallies[p].laws[l].verdicts[v];
        held += sum.verdicts[LAW_HOLDS];
        if (getenv("LAWS"))
            printf("%-72s holds %6d, silent %6d, broken %4d\n", laws[l].name, sum.verdicts[LAW_HOLDS],
                   sum.verdicts[LAW_SILENT], sum.verdicts[LAW_BROKEN]);
        if (sum.verdicts[LAW_BROKEN]) test_fail(__FILE__, __LINE__, "\"%s\" is broken", laws[l].name);
        if (sum.verdicts[LAW_HOLDS] == 0 && runs >= USUAL_RUNS)
            test_fail(__FILE__, __LINE__, "\"%s\" is never asked", laws[l].name);
    }
    EXPECT(held > runs / 2);
    munmap(tallies, PROCESSES * sizeof(Tally));
}

// A forged second run, ten times as long as it was (and as large), breaks every law that compares two.
TEST(a_forged_result_breaks_each_law_and_shrinks_to_a_scenario_that_runs) {
    for (int l = 0; l < law_count; l++) {
        bool broken = false;
        for (int run = l; run < 60 * law_count && !broken; run += law_count) {
            DrawnStudy study = law_study((uint64_t)run);
            Finding finding = {0};
            law_forgery = 0;
            if (laws[l].judge(&study, seed_of_run(run), &finding) != LAW_HOLDS) continue;
            law_forgery = 1e6;
            broken = laws[l].judge(&study, seed_of_run(run), &finding) == LAW_BROKEN;
            if (!broken) continue;
            DrawnStudy small = law_shrink(&laws[l], &study, seed_of_run(run));
            EXPECT(small.count <= study.count);
            EXPECT(laws[l].judge(&small, seed_of_run(run), &finding) == LAW_BROKEN);
            law_forgery = 0;
            if (laws[l].judge == law_life || laws[l].judge == law_further_node || laws[l].judge == law_shards)
                continue; // which set more themselves
            Answer answer = law_answer_of(&small, "", (AnswerOptions){0});
            EXPECT(answer.lowered != NULL);
            law_answer_close(&answer);
        }
        law_forgery = 0;
        if (!broken) test_fail(__FILE__, __LINE__, "\"%s\" cannot be broken", laws[l].name);
    }
}
