// Storage that is sized for so many GPUs grows with the cluster; storage that does not says what it lacks.
#include "models/hardware/hardware.h"

#include <math.h>

#include "models/workload/life/life.h"
#include "scenarios/questions/goodput.h"
#include "tests/command.h"
#include "tests/script.h"
#include "tests/test.h"

static const StorageType *storage(const char *name) { return catalogue_storage(test_catalogue(), name); }

TEST(storage_sized_for_256_gpus_has_a_unit_for_each_256) {
    const StorageType *superpod = storage("superpod-storage");
    EXPECT_INT(superpod->unit_gpus, 256);
    EXPECT_INT(storage_usual_units(superpod, 1), 1);
    EXPECT_INT(storage_usual_units(superpod, 256), 1);
    EXPECT_INT(storage_usual_units(superpod, 257), 2);
    EXPECT_INT(storage_usual_units(superpod, 16384), 64);
    EXPECT_INT(storage_usual_units(storage("nfs-1gbe"), 16384), 1);
    EXPECT_INT(storage_usual_units(storage("local-nvme"), 16384), 1);
    EXPECT_INT(storage_usual_units(superpod, 2000000000), STORAGE_MOST_UNITS);
}

TEST(rates_and_price_of_units_add_up_and_latency_stays) {
    Arena *arena = arena_open();
    const StorageType *one = storage("superpod-storage"), *four = storage_of_units(arena, one, 4, 8);
    EXPECT_NEAR(four->read_bytes_per_second, 4 * one->read_bytes_per_second, 0);
    EXPECT_NEAR(four->write_bytes_per_second, 4 * one->write_bytes_per_second, 0);
    EXPECT_NEAR(four->unit_usd_per_hour, 4 * one->unit_usd_per_hour, 0);
    EXPECT_NEAR(four->latency_seconds, one->latency_seconds, 0);
    EXPECT(storage_of_units(arena, one, 0, 100) == one);
    EXPECT_NEAR(storage_of_units(arena, one, 0, 1024)->write_bytes_per_second, 4 * one->write_bytes_per_second, 0);
    arena_close(arena);
}

// Twin: the least of Daly's wall time over a fine grid of intervals.
TEST(the_least_loss_to_checkpoints_is_that_of_dalys_best_interval) {
    for (double mtbf = 2000; mtbf < 3e5; mtbf *= 3) {
        CheckpointPlan plan = {.mode = CHECKPOINT_SYNC, .stall_s = 60};
        double least = INFINITY;
        for (double every = 10; every < 1e6; every *= 1.01) least = fmin(least, daly_wall_time(1, every, 60, 0, mtbf));
        EXPECT_NEAR(checkpoint_least_loss(&plan, mtbf), 1 - 1 / least, 0.01);
    }
    EXPECT_NEAR(checkpoint_least_loss(&(CheckpointPlan){.mode = CHECKPOINT_ASYNC, .write_s = 60}, 9000), 0.01, 1e-12);
    EXPECT_INT(checkpoint_least_loss(&(CheckpointPlan){.mode = CHECKPOINT_MEMORY, .write_s = 60}, 9000), 0);
    // However often it fails; and where it never does, which is said as 0 or as no number.
    EXPECT_NEAR(checkpoint_least_loss(&(CheckpointPlan){.mode = CHECKPOINT_ASYNC, .write_s = 0.1}, 0.5), 0.3, 1e-12);
    EXPECT_INT(checkpoint_least_loss(&(CheckpointPlan){.mode = CHECKPOINT_ASYNC, .write_s = 60}, 0), 0);
    EXPECT_INT(checkpoint_least_loss(&(CheckpointPlan){.mode = CHECKPOINT_ASYNC, .write_s = 60}, NAN), 0);
}

TEST(storage_that_gets_what_it_lacks_lacks_nothing) {
    Arena *arena = arena_open();
    const NodeType *node = catalogue_node(test_catalogue(), "dgx-h100");
    const Gpu *gpu = node_gpu(test_catalogue(), node, 0);
    const StorageType *unit = storage("superpod-storage");
    for (CheckpointMode mode = CHECKPOINT_SYNC; mode <= CHECKPOINT_ASYNC; mode++) {
        double bytes = mode == CHECKPOINT_SYNC ? 5.67e12 : 40e12, mtbf = 9500;
        CheckpointPlan plan = checkpoint_plan(mode, bytes, 2048, node, gpu, unit);
        StorageLack lack = storage_lack(&plan, bytes, 2048, node, unit, 1, mtbf);
        EXPECT(lack.units > 1 && !lack.links_limit);
        EXPECT_NEAR(lack.bytes_per_second, unit->write_bytes_per_second, 0);
        const StorageType *enough = storage_of_units(arena, unit, lack.units, 0);
        plan = checkpoint_plan(mode, bytes, 2048, node, gpu, enough);
        EXPECT(storage_lack(&plan, bytes, 2048, node, unit, lack.units, mtbf).needed == 0);
        const StorageType *half = storage_of_units(arena, unit, lack.units / 2, 0);
        plan = checkpoint_plan(mode, bytes, 2048, node, gpu, half);
        EXPECT(storage_lack(&plan, bytes, 2048, node, unit, lack.units / 2, mtbf).needed > 0);
    }
    arena_close(arena);
}

TEST(goodput_of_many_gpus_has_storage_for_as_many_and_says_what_one_unit_lacks) {
#define ASKED "goodput --gpus 16384 --days 54 --checkpoint-size 5.67TB --runs 20"
    const Ended *ended = run_command(command_goodput, ASKED);
    EXPECT_CONTAINS(ended->out, "5.16 TiB to 64 x");
    EXPECT(strstr(ended->out, "storage is slow") == NULL);
    ended = run_command(command_goodput, ASKED " --storage-units 1");
    EXPECT_CONTAINS(ended->out, "The storage is slow for so many nodes: a checkpoint takes 91.5 s");
    ended = run_command(command_goodput, ASKED " --storage local-nvme --storage-units 2");
    EXPECT_INT(ended->code, 4);
    EXPECT_CONTAINS(ended->err, "local-nvme lies in each node");
    ended = run_command(command_goodput, ASKED " --storage-units 20000");
    EXPECT_CONTAINS(ended->err, "from 1 to 10000");
#undef ASKED
}

static double step_of(Loaded *loaded, const char *units) {
    char expression[512];
    snprintf(expression, sizeof expression,
             "sim.study { on = sim.cluster { node = 'dgx-a100', gpus = 16, fabric = 'ib-hdr200', storage = "
             "'lustre-small', %s price = { gpu_hour = 2 } }, run = sim.training { model = 'resnet50', framework = "
             "'tuned', batch = { micro = 64 }, data = { sample_bytes = '20 MB' } } }",
             units);
    *loaded = load_returning(expression, NULL);
    const Scenario *scenario = loaded->scenario;
    const Record *record = scenario ? study_run(loaded->arena, scenario->items[0].study, loaded->problems) : NULL;
    return record ? record->points[0].step_p50_s : NAN;
}

// 16 x 64 samples of 20 MB a step at 10 GB/s take 2.048 s, far longer than the GPUs; four units take a quarter.
TEST(a_cluster_in_a_script_reads_from_all_its_units) {
    Loaded one, four, none;
    double alone = step_of(&one, ""), together = step_of(&four, "storage_units = 4,");
    EXPECT_NEAR(alone, 2.048, 0.02);
    EXPECT_NEAR(together, 2.048 / 4, 0.02);
    step_of(&none, "storage_units = 0,");
    EXPECT_CONTAINS(first_problem(&none), "storage_units");
    unload(&one), unload(&four), unload(&none);
}
