// What more GPUs are measured against: the fewest replicas that run, and hold as surely as the job itself. Those that
// may run out of memory are left without simulating them; here they are simulated, and left for what comes out.
#include "scenarios/study/study.h"
#include "tests/jobs.h"
#include "tests/test.h"

static const int zeros[] = {0, 1, 3};
enum { MICRO_BATCH_MOST = 8, JOBS = 3 * 2 * 4 * 3 * 2 };

// By turns of a number: 2, 4 or 8 replicas of two or four GPUs, from memory to spare to none.
static void open_drawn(Case *c, StudySpec *study, int number) {
    int replicas = 2 << number % 3, tp = 2 << number / 3 % 2, micro_batch = 1 << number / 6 % 4;
    case_open_on(c, "dgx-h100", "ib-ndr400", replicas * tp, "llama-2-7b");
    c->training.layout = (Layout){.tp = tp, .pp = 1, .vpp = 1, .zero = zeros[number / 24 % 3]};
    c->training.recompute = number / 72 ? RECOMPUTE_FULL : RECOMPUTE_NONE;
    c->training.seq_len = 4096;
    c->training.micro_batch = micro_batch;
    c->training.global_batch = (double)(replicas * MICRO_BATCH_MOST);
    *study = (StudySpec){.catalogue = c->catalogue, .cluster = &c->spec, .training = c->training};
}

static RecordPoint simulated(Case *c, const StudySpec *study, bool surely) {
    StudySpec asked = *study;
    asked.surely_fits = surely;
    return simulate_training(c->arena, c->cluster, &c->training, &asked, c->problems);
}

static bool is_sure(const RecordPoint *point) { return point->chance_to_run_out <= 1 - MEMORY_FITS; }

TEST(steps_that_surely_fit_are_those_that_run_with_a_chance_to_run_out_of_a_twentieth) {
    int sure = 0, unsure = 0, beyond = 0;
    for (int number = 0; number < JOBS; number++) {
        Case c;
        StudySpec study;
        open_drawn(&c, &study, number);
        RecordPoint any = simulated(&c, &study, false), surely = simulated(&c, &study, true);
        EXPECT_INT(surely.ran, any.ran && is_sure(&any));
        EXPECT_SAME(surely.chance_to_run_out, any.chance_to_run_out);
        if (surely.ran) EXPECT_SAME(surely.digest, any.digest);
        if (surely.ran) EXPECT_SAME(surely.samples_per_s, any.samples_per_s);
        sure += surely.ran;
        unsure += any.ran && !surely.ran;
        beyond += !any.ran;
        arena_close(c.arena);
    }
    EXPECT(sure >= 5 && unsure >= 5 && beyond >= 5);
}

// The slow way: each number of replicas is simulated. `passed_over`: of those that run, how many do not count.
static RecordPoint fewest(const StudySpec *study, const RecordPoint *whole, int tp, int *passed_over) {
    RecordPoint none = {0};
    for (int gpus = tp; gpus < whole->gpu_count; gpus *= 2) {
        Case c;
        case_open_on(&c, "dgx-h100", "ib-ndr400", gpus, "llama-2-7b");
        c.training = study->training;
        c.training.global_batch = study->training.global_batch / whole->dp * (gpus / tp);
        RecordPoint point = simulated(&c, study, false);
        arena_close(c.arena);
        if (point.ran && (is_sure(&point) || !is_sure(whole))) return point;
        *passed_over += point.ran;
    }
    return none;
}

TEST(what_more_gpus_are_measured_against_is_found_by_simulating_all_numbers_too) {
    int found = 0, unsure = 0, passed_over = 0;
    for (int number = 0; number < JOBS; number++) {
        Case c;
        StudySpec study;
        open_drawn(&c, &study, number);
        RecordPoint whole = simulated(&c, &study, false);
        if (whole.ran) {
            RecordPoint slow = fewest(&study, &whole, c.training.layout.tp, &passed_over);
            study_set_baseline(c.arena, &study, &whole, c.problems);
            EXPECT_INT(whole.baseline_gpus, slow.gpu_count);
            EXPECT_SAME(whole.baseline_samples_per_s, slow.samples_per_s);
            found += slow.ran;
            unsure += slow.ran && !is_sure(&slow);
        }
        arena_close(c.arena);
    }
    EXPECT(found >= 20 && unsure >= 5 && passed_over >= 5);
}
