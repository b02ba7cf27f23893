// What a life would take, said before it is lived; and lives that are stopped.
#include "models/workload/life/life.h"
#include "sim/system/watch.h"
#include "tests/test.h"

#define HOUR 3600.0
#define DAY 86400.0

static LifeSpec job(double mtbf_s, double restart_s, double repair_s, double every_s) {
    LifeSpec spec = {.nodes = 64, .spares = 4, .shape = 1, .bad_factor = 1};
    spec.faults[FAULT_GPU] = (LifeFault){.node_rate = 0.5 / mtbf_s, .needs_repair = true};
    spec.faults[FAULT_SOFTWARE] = (LifeFault){.node_rate = 0.5 / mtbf_s};
    spec.crash_detection_s = 60, spec.hang_detection_s = 600, spec.hang_share = 0.1;
    spec.restart_s = restart_s, spec.repair_s = repair_s;
    spec.checkpoint = (CheckpointPlan){.every_s = every_s, .stall_s = 10, .reload_s = 30};
    spec.horizon_s = 20 * DAY;
    return spec;
}

static void expect_estimate(const char *name, const LifeSpec *spec) {
    Arena *arena = arena_open();
    LifeStudy study = life_study(arena, spec, 3, 1);
    double counted = (double)study.events / study.runs, estimate = life_events(spec);
    if (!(estimate > counted / 3 && estimate < counted * 3))
        test_fail(__FILE__, __LINE__, "%s: %g events estimated, %g counted", name, estimate, counted);
    arena_close(arena);
}

TEST(the_events_of_a_life_are_estimated_within_a_factor_of_three) {
    static const double mtbfs[] = {600 * HOUR, 60 * DAY, 3 * HOUR, 600, 1}, everys[] = {1800, 60, 6 * HOUR};
    for (size_t m = 0; m < sizeof mtbfs / sizeof *mtbfs; m++)
        for (size_t e = 0; e < sizeof everys / sizeof *everys; e++) {
            char name[64];
            snprintf(name, sizeof name, "mtbf %g, every %g", mtbfs[m], everys[e]);
            LifeSpec spec = job(mtbfs[m], 300, 2 * HOUR, everys[e]);
            if (mtbfs[m] == 1) spec.horizon_s = HOUR;
            expect_estimate(name, &spec);
            if (mtbfs[m] < HOUR) continue;
            spec.work_s = 10 * DAY, spec.horizon_s = 0;
            expect_estimate(name, &spec);
        }
    LifeSpec spec = job(60 * DAY, 300, HOUR, 1800);
    spec.spot_rate = 1 / (2 * DAY), spec.spot_batch = 2, spec.spot_wait_s = HOUR, spec.spot_notice_s = 120;
    expect_estimate("spot", &spec);
    spec.slow_rate = 1 / (2 * DAY), spec.slow_factor = 1.4, spec.slow_detection_s = 6 * HOUR;
    spec.flap_rate = 1 / HOUR, spec.flap_stall_s = 20;
    expect_estimate("slow nodes and flaps", &spec);
    spec.shape = 0.6, spec.age_s = DAY;
    expect_estimate("new machines", &spec);
}
