// Sweeps: points are the same as a study's, and each is stored once.
#include <unistd.h>

#include "results/store/store_base.h"
#include "results/terminal.h"
#include "scenarios/sweep/sweep.h"
#include "sim/base/random.h"
#include "tests/sweep_store.h"
#include "tests/test.h"

// ---- Twin: a sweep and the study it is made of.

TEST(a_sweep_of_a_script_gives_the_rows_that_run_gives) {
    clear();
    put_text("s.lua", "local sim = require 'lockstep'\n"
                      "return sim.study { on = sim.cluster { node = 'dgx-a100', gpus = 1, fabric = "
                      "sim.single_switch { link = 'eth-100g' } },\n"
                      "  run = sim.training { model = 'bert-large', seq_len = 128, batch = { micro = 8 } },\n"
                      "  vary = { fabric = { 'eth-100g', 'ib-ndr400' }, gpus = { 1, 8, 16, 512 }, tp = { 1, 2 } } }\n");
    EXPECT_INT(shell("cd {DIR} && $(realpath $OLDPWD/$LOCKSTEP) sweep s.lua -q"), 0);
    EXPECT_INT(shell("$LOCKSTEP run {DIR}/s.lua --csv > {DIR}/run.csv; $LOCKSTEP sweep --show {DIR}/s.db --csv > "
                     "{DIR}/sweep.csv; cmp {DIR}/run.csv {DIR}/sweep.csv && wc -l < {DIR}/sweep.csv"),
               0);
    EXPECT_TEXT(output, "17\n");
}

TEST(options_and_a_script_that_say_the_same_job_give_the_same_digests) {
    clear();
    put_text("s.lua", "local sim = require 'lockstep'\n"
                      "return sim.study { on = sim.cluster { node = 'dgx-a100', gpus = 8, fabric = "
                      "sim.fat_tree { link = 'eth-100g' } },\n"
                      "  run = sim.training { model = 'bert-large', seq_len = 512, batch = { micro = 8 } },\n"
                      "  vary = { gpus = { 1, 8, 16 } } }\n");
    EXPECT_INT(shell("$LOCKSTEP sweep {DIR}/s.lua -q -o {DIR}/a.db"), 0);
    EXPECT_INT(shell("$LOCKSTEP sweep --model bert-large --node dgx-a100 --fabric eth-100g --micro-batch 8 "
                     "--vary gpus=1,8,16 -q -o {DIR}/b.db"),
               0);
    char line[512];
    snprintf(line, sizeof line,
             "for f in a b; do $LOCKSTEP sweep --show %s/$f.db --csv | awk -F, '{ print $1, $NF }' > %s/$f.txt; done; "
             "diff %s/a.txt %s/b.txt",
             folder(), folder(), folder(), folder());
    EXPECT_INT(test_shell(line, output, sizeof output), 0);
}

TEST(a_script_varies_over_its_options_and_over_paths_of_set) {
    clear();
    put_text("s.lua", "local sim = require 'lockstep'\n"
                      "local opt = sim.options { most = { default = 2 } }\n"
                      "return sim.study { on = sim.cluster { node = 'dgx-a100', gpus = opt.most },\n"
                      "  run = sim.training { model = 'bert-large', seq_len = 128, batch = { micro = 8 } },\n"
                      "  keep = { 'gpus', 'mfu', 'micro_batch' } }\n");
    EXPECT_INT(shell("$LOCKSTEP sweep {DIR}/s.lua -q --vary most=2,4 --vary training.batch.micro=1:3:1 -o {DIR}/s.db"),
               0);
    const char *store = in_folder("s.db");
    EXPECT_INT(ask(store, "SELECT count(*) FROM point WHERE status = 'ok'"), 6);
    EXPECT_INT(ask(store, "SELECT count(*) FROM point WHERE gpus = json_extract(parameters, '$.most')"), 6);
    EXPECT_INT(
        ask(store,
            "SELECT count(*) FROM point WHERE micro_batch = json_extract(parameters, '$.\"training.batch.micro\"')"),
        6);
    EXPECT_INT(ask(store, "SELECT count(*) FROM point WHERE mfu > 0 AND step_p50_s IS NULL AND exposed IS NULL"), 6);
}

TEST(a_list_gives_its_rows_and_nothing_between_them) {
    clear();
    put_text("list.csv", "gpus,micro_batch\n1,7\n8,3\n16,5\n");
    EXPECT_INT(shell("$LOCKSTEP sweep --model mlp-mnist --node dgx-a100 --fabric eth-100g --list {DIR}/list.csv "
                     "--vary seed=1,2 -q -o {DIR}/s.db"),
               0);
    const char *store = in_folder("s.db");
    EXPECT_INT(ask(store, "SELECT count(*) FROM point"), 6);
    EXPECT_INT(ask(store, "SELECT count(*) FROM point WHERE (gpus, micro_batch) IN (VALUES(1, 7), (8, 3), (16, 5))"),
               6);
    EXPECT_INT(ask(store, "SELECT count(*) FROM point WHERE seed = json_extract(parameters, '$.seed')"), 6);
}

// ---- Values.

static const char *values_of(const char *written) {
    static char text[512];
    Arena *arena = arena_open();
    Variation vary = {0};
    text[0] = '\0';
    if (vary_read(arena, written, &vary, problems_create(arena)))
        for (int i = 0; i < vary.count; i++)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i ? " " : "", vary.texts[i]);
    else
        snprintf(text, sizeof text, "refused");
    arena_close(arena);
    return text;
}

TEST(values_are_steps_factors_and_lists) {
    EXPECT_TEXT(values_of("gpus=8:32:8"), "8 16 24 32");
    EXPECT_TEXT(values_of("gpus=8:31:8"), "8 16 24");
    EXPECT_TEXT(values_of("noise=0:0.3:0.1"), "0 0.1 0.2 0.3");
    EXPECT_TEXT(values_of("gpus=8:1024:x4"), "8 32 128 512");
    EXPECT_TEXT(values_of("gpus=geometric:1:64:2"), "1 2 4 8 16 32 64");
    EXPECT_TEXT(values_of("gpus=8.0,1e3,fill"), "8 1000 fill");
    static const char *const bad[] = {"gpus",        "gpus=",        "=1",           "gpus=1,,2",
                                      "gpus=1:2",    "gpus=4:1:1",   "gpus=1:4:0",   "gpus=0:4:x2",
                                      "gpus=1:4:x1", "gpus=1:2:3:4", "gpus=0:1e9:1", "gpus=a:b:c"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) EXPECT_TEXT(values_of(bad[i]), "refused");
}

TEST(shards_are_counted_from_one) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    int shard = -1, count = -1;
    EXPECT(shard_read("3/64", &shard, &count, problems) && shard == 2 && count == 64);
    static const char *const bad[] = {"0/4", "5/4", "1", "1/", "/4", "1/4x", "-1/4", "auto"};
    unsetenv("SLURM_ARRAY_TASK_ID");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) EXPECT(!shard_read(bad[i], &shard, &count, problems));
    setenv("SLURM_ARRAY_TASK_ID", "12", 1);
    setenv("SLURM_ARRAY_TASK_MIN", "10", 1);
    setenv("SLURM_ARRAY_TASK_COUNT", "4", 1);
    EXPECT(shard_read("auto", &shard, &count, problems) && shard == 2 && count == 4);
    unsetenv("SLURM_ARRAY_TASK_ID");
    unsetenv("SLURM_ARRAY_TASK_MIN");
    unsetenv("SLURM_ARRAY_TASK_COUNT");
    EXPECT_TEXT(shard_path(arena, "a.b/sweep.db", 2, 64), "a.b/sweep.3-of-64.db");
    EXPECT_TEXT(shard_path(arena, "a.b/sweep", 0, 2), "a.b/sweep.1-of-2");
    arena_close(arena);
}

TEST(the_line_of_progress_counts_this_runs_points_for_its_speed) {
    char line[160];
    progress_line(line, sizeof line, 100, 20, 60, 0, 8.0);
    EXPECT_TEXT(line, "[############--------] 60/100  5 points/s  ETA 00:08");
    progress_line(line, sizeof line, 100, 0, 0, 0, 0.0);
    EXPECT_TEXT(line, "[--------------------] 0/100  0 points/s  ETA --:--");
    progress_line(line, sizeof line, 100000, 0, 10, 3, 1.0);
    EXPECT_TEXT(line, "[--------------------] 10/100000  10 points/s  ETA 2:46:39  3 failed");
    progress_line(line, 30, 100000, 0, 10, 3, 1.0); // a terminal of 30 columns: the cursor stays on the line
    EXPECT_INT((long long)strlen(line), 29);
}

// ---- Rows.

TEST(a_row_survives_the_way_between_processes_and_the_store) {
    Arena *arena = arena_open();
    for (uint64_t trial = 0; trial < 50; trial++) {
        RandomStream random = random_stream(7, "row", trial);
        StoreRow row = {.seed = (int64_t)random_bits(&random)};
        for (int c = 0; c < POINT_COLUMNS; c++)
            row.numbers[c] = random_below(&random, 4) ? random_lognormal(&random, 0, 20) : NAN;
        for (int t = 0; t < ROW_TEXTS; t++)
            row.texts[t] =
                random_below(&random, 3) ? arena_printf(arena, "%*s\"é", (int)random_below(&random, 40), "") : NULL;
        size_t bytes;
        char *packed = store_row_pack(arena, &row, &bytes);
        StoreRow back;
        EXPECT(store_row_unpack(arena, packed, bytes, &back));
        EXPECT(!store_row_unpack(arena, packed, bytes - 1, &back) && store_row_unpack(arena, packed, bytes, &back));
        EXPECT(back.seed == row.seed && memcmp(back.numbers, row.numbers, sizeof row.numbers) == 0);
        for (int t = 0; t < ROW_TEXTS; t++) {
            EXPECT((back.texts[t] == NULL) == (row.texts[t] == NULL));
            if (row.texts[t]) EXPECT_TEXT(back.texts[t], row.texts[t]);
        }
    }
    arena_close(arena);
}

TEST(a_row_that_is_cut_anywhere_is_not_a_row) {
    Arena *arena = arena_open();
    StoreRow row = {.seed = 7}, back;
    for (int t = 0; t < ROW_TEXTS; t++) row.texts[t] = t % 3 == 1 ? NULL : t % 3 == 0 ? "" : "a word";
    size_t bytes;
    const char *packed = store_row_pack(arena, &row, &bytes);
    char *more = ARENA_ARRAY(arena, char, bytes + 1);
    memcpy(more, packed, bytes);
    EXPECT(!store_row_unpack(arena, more, bytes + 1, &back) && store_row_unpack(arena, more, bytes, &back));
    for (size_t kept = 0; kept < bytes; kept++) {
        char *cut = ARENA_ARRAY(arena, char, kept + 1);
        memcpy(cut, packed, kept);
        cut[kept] = 'x'; // what lies behind ends no text
        EXPECT(!store_row_unpack(arena, cut, kept, &back));
    }
    arena_close(arena);
}

TEST(a_spool_is_removed_once_and_the_next_writers_is_left_alone) {
    Arena *arena = arena_open();
    clear();
    Spool spool, next;
    EXPECT(!spool_exists(arena, in_folder("s.db")) && spool_open(arena, in_folder("s.db"), &spool));
    EXPECT(spool_exists(arena, in_folder("s.db")));
    spool_remove(&spool);
    EXPECT(!spool_exists(arena, in_folder("s.db")) && spool_open(arena, in_folder("s.db"), &next));
    spool_remove(&spool);
    EXPECT(spool_exists(arena, in_folder("s.db")));
    spool_remove(&next);
    clear();
    arena_close(arena);
}

// ---- Keys.

TEST(a_key_depends_on_parameters_and_seed_but_not_on_their_order) {
    clear();
    EXPECT_INT(shell(CHEAP "--vary gpus=1:8:1 --vary precision=fp16,fp32 -q -o {DIR}/a.db"), 0);
    EXPECT_INT(shell(CHEAP "--vary precision=fp32,fp16 --vary gpus=1:8:1 -o {DIR}/a.db"), 0);
    EXPECT_CONTAINS(output, "16 of 16 points, 0 simulated now");
    EXPECT_INT(shell(CHEAP "--vary gpus=1:8:1 --vary precision=fp16,fp32 -o {DIR}/a.db --csv | tail -n 1"), 0);
    EXPECT_CONTAINS(output, "a.db,16,16,0,0,0\n");
    EXPECT_INT(shell(CHEAP "--vary gpus=1:10:1 --vary precision=fp16,fp32 -o {DIR}/a.db"), 0);
    EXPECT_CONTAINS(output, "20 of 20 points, 4 simulated now");
    EXPECT_INT(shell(CHEAP "--vary gpus=1:8:1 --vary precision=fp16,fp32 --seed 2 -o {DIR}/a.db"), 0);
    EXPECT_CONTAINS(output, "16 of 16 points, 16 simulated now");
    EXPECT_INT(shell(CHEAP "--vary gpus=1:8:1 --vary precision=fp16,fp32 --optimizer adam -o {DIR}/a.db"), 0);
    EXPECT_CONTAINS(output, "16 of 16 points, 16 simulated now");
}

TEST(a_changed_script_or_module_begins_anew) {
    clear();
    const char *script = "local sim = require 'lockstep'\nlocal p = require 'parts'\n"
                         "return sim.study { on = sim.cluster { node = 'dgx-a100', gpus = 1 },\n"
                         "  run = sim.training { model = 'mlp-mnist', batch = { micro = p.batch } },\n"
                         "  vary = { gpus = { 1, 2, 4 } } }\n";
    put_text("s.lua", script);
    put_text("parts.lua", "return { batch = 8 }\n");
    EXPECT_INT(shell("$LOCKSTEP sweep {DIR}/s.lua -q -o {DIR}/s.db && $LOCKSTEP sweep {DIR}/s.lua -o {DIR}/s.db"), 0);
    EXPECT_CONTAINS(output, "3 of 3 points, 0 simulated now");
    put_text("parts.lua", "return { batch = 9 }\n");
    EXPECT_INT(shell("$LOCKSTEP sweep {DIR}/s.lua -o {DIR}/s.db"), 0);
    EXPECT_CONTAINS(output, "3 of 3 points, 3 simulated now");
}

// ---- Shards and merging.

TEST(three_shards_merged_are_the_whole) {
    clear();
    EXPECT_INT(shell(CHEAP "--vary gpus=1:20:1 --vary precision=fp16,fp32 -q -o {DIR}/whole.db"), 0);
    for (int i = 1; i <= 3; i++) {
        char line[512];
        snprintf(line, sizeof line,
                 CHEAP "--vary gpus=1:20:1 --vary precision=fp16,fp32 -q -o {DIR}/part.db --shard %d/3", i);
        EXPECT_INT(shell(line), 0);
    }
    EXPECT_INT(shell("$LOCKSTEP merge {DIR}/all.db {DIR}/part.2-of-3.db {DIR}/part.1-of-3.db {DIR}/part.3-of-3.db"), 0);
    EXPECT_CONTAINS(output, "all.db: 40 points, 40 of them new");
    expect_same_store(in_folder("all.db"), in_folder("whole.db"));
    EXPECT_INT(shell("$LOCKSTEP merge {DIR}/all.db {DIR}/part.2-of-3.db"), 0);
    EXPECT_CONTAINS(output, "0 of them new.\n13 met more than once");
    expect_same_store(in_folder("all.db"), in_folder("whole.db"));
}

TEST(merging_refuses_one_point_with_two_results_and_writes_nothing) {
    clear();
    EXPECT_INT(
        shell(CHEAP "--vary gpus=1:4:1 -q -o {DIR}/a.db && cp {DIR}/a.db {DIR}/b.db && cp {DIR}/a.db {DIR}/c.db"), 0);
    forge(in_folder("b.db"), "UPDATE point SET mfu = mfu + 1e-9 WHERE gpus = 3");
    EXPECT_INT(shell("$LOCKSTEP merge {DIR}/a.db {DIR}/b.db"), 4);
    EXPECT_CONTAINS(output, "the point {\"gpus\":3} is ok with digest");
    expect_same_store(in_folder("a.db"), in_folder("c.db"));
    EXPECT_INT(shell("ls {DIR} | wc -l"), 0);
    EXPECT_TEXT(output, "3\n");
}

TEST(merging_takes_a_result_before_an_ended_process_whichever_comes_first) {
    clear();
    EXPECT_INT(shell(CHEAP "--vary gpus=1:4:1 -q -o {DIR}/a.db && cp {DIR}/a.db {DIR}/b.db"), 0);
    forge(in_folder("b.db"), "UPDATE point SET status = 'failed', mfu = NULL WHERE gpus = 3");
    EXPECT_INT(
        shell("$LOCKSTEP merge {DIR}/ab.db {DIR}/a.db {DIR}/b.db && $LOCKSTEP merge {DIR}/ba.db {DIR}/b.db {DIR}/a.db"),
        0);
    EXPECT_CONTAINS(output, "1 failed in one file but not in another");
    expect_same_store(in_folder("ab.db"), in_folder("a.db"));
    expect_same_store(in_folder("ba.db"), in_folder("a.db"));
}

TEST(the_batch_file_runs_as_an_array_and_gives_the_whole) {
    clear();
    EXPECT_INT(shell(CHEAP "--vary gpus=1:9:1 --currency \"Fr. d'or\" -q -o {DIR}/whole.db"), 0);
    EXPECT_INT(shell(CHEAP "--vary gpus=1:9:1 --currency \"Fr. d'or\" -q -o {DIR}/s.db --emit-sbatch 3 > {DIR}/s.sh && "
                           "bash -n {DIR}/s.sh"),
               0);
    EXPECT_INT(shell("mkdir {DIR}/bin && ln -s $(realpath $LOCKSTEP) {DIR}/bin/lockstep && cat {DIR}/s.sh"), 0);
    EXPECT_CONTAINS(output, "#SBATCH --array=1-3\n");
    for (int i = 1; i <= 3; i++) {
        char line[512];
        snprintf(line, sizeof line,
                 "PATH={DIR}/bin:$PATH SLURM_ARRAY_TASK_ID=%d SLURM_ARRAY_TASK_MIN=1 "
                 "SLURM_ARRAY_TASK_COUNT=3 SLURM_CPUS_PER_TASK=2 bash {DIR}/s.sh",
                 i);
        EXPECT_INT(shell(line), 0);
    }
    EXPECT_INT(shell("eval $LOCKSTEP $(sed -n 's/.*When all have ended: lockstep //p' {DIR}/s.sh)"), 0);
    expect_same_store(in_folder("s.db"), in_folder("whole.db"));
}

// ---- Mistakes.

TEST(mistakes_of_sweeps_are_sentences) {
    static const struct {
        const char *line;
        int status;
        const char *said;
    } cases[] = {
        {"$LOCKSTEP sweep", 2, "what is to be simulated?"},
        {"$LOCKSTEP sweep --csv --json --model a --vary gpus=1", 2, "an answer has one form"},
        {CHEAP "--gpus 2 --vary gpu=1,2 -o {DIR}/s.db", 4, "no GPU is called \"1\""},
        {CHEAP "--vary gpus=0,2 -o {DIR}/s.db", 4, "--gpus 0 is no number of GPUs"},
        {CHEAP "--vary gpus=2,0 -o {DIR}/s.db", 4, "gpus = 0 is not a whole number above 0"},
        {CHEAP "--gpus 4 --vary gpus=1,2 -o {DIR}/s.db", 4, "--gpus says one value, and it is varied"},
        {CHEAP "--vary gpus=1,2 --vary gpus=3 -o {DIR}/s.db", 4, "gpus is varied twice"},
        {CHEAP "--vary gpuz=1,2 -o {DIR}/s.db", 4, "did you mean \"gpus\"?"},
        {CHEAP "--vary gpus=1,2 --vary precision=fp17 -o {DIR}/s.db", 4, "precision of training cannot be \"fp17\""},
        {CHEAP "--vary gpus=1:9:1 --shard 4/3 -o {DIR}/s.db", 4, "--shard 4/3 is no shard"},
        {CHEAP "--vary gpus=1:9:1 -j0 -o {DIR}/s.db", 2, "-j takes 1 to 4096 processes"},
        {CHEAP "--vary gpus=1 -o /nowhere/at/all.db", 1, "No such file or directory"},
        {CHEAP "--list {DIR}/none.csv", 4, "No such file or directory"},
        {"$LOCKSTEP sweep --show {DIR}/none.db", 4, "cannot be opened"},
        {"$LOCKSTEP sweep --show README.md", 4, "it is no store of a sweep"},
        {"$LOCKSTEP merge {DIR}/a.db", 2, "which stores?"},
        {"$LOCKSTEP merge {DIR}/a.db {DIR}/none.db", 4, "none.db: error: cannot be opened"},
        {"$LOCKSTEP sweep scenarios/lessons/gpipe_by_hand.lua --vary gpus=1,2 -o {DIR}/s.db", 4,
         "gpus cannot be varied"},
    };
    clear();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int status = shell(cases[i].line);
        if (status != cases[i].status || !strstr(output, cases[i].said))
            test_fail(__FILE__, __LINE__, "%s: exit %d, %.600s", cases[i].line, status, output);
        shell("ls {DIR}");
        if (*output) test_fail(__FILE__, __LINE__, "%s wrote %.200s", cases[i].line, output);
    }
    clear();
}

TEST(no_two_options_of_sweep_have_one_name) {
    EXPECT_INT(
        shell("$LOCKSTEP sweep --help | grep -oE '^  (-[a-z], )?--[a-z0-9-]+' | sed 's/.*--/--/' | sort > {DIR}/all; "
              "uniq -d {DIR}/all; wc -l < {DIR}/all | awk '{ exit $1 < 40 }'"),
        0);
    EXPECT_TEXT(output, "");
    clear();
}

TEST(a_sweep_without_a_point_that_ran_ends_as_its_points_did) {
    EXPECT_INT(store_exit_code(&(StoreCounts){.ok = 1, .impossible = 5}), 0);
    EXPECT_INT(store_exit_code(&(StoreCounts){.impossible = 1}), 3);
    EXPECT_INT(store_exit_code(&(StoreCounts){.ok = 5, .failed = 1, .impossible = 1}), 1);
    EXPECT_INT(store_exit_code(&(StoreCounts){0}), 0);
}
