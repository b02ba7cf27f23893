// A user's file of parts: what is sound is taken, what is not gets a sentence with its place and a remedy.
#include <unistd.h>

#include "models/hardware/hardware.h"
#include "tests/test.h"

static const char head[] = "{ \"format\": \"lockstep-hardware\", \"format_version\": 1,\n";

typedef struct Loaded {
    Arena *arena;
    Problems *problems;
    const Catalogue *base, *catalogue;
} Loaded;

static Loaded load(const char *text) {
    char path[] = "/tmp/lockstep-parts-XXXXXX";
    int file = mkstemp(path);
    FILE *stream = fdopen(file, "w");
    fputs(text, stream);
    fclose(stream);
    Loaded loaded = {.arena = arena_open()};
    loaded.problems = problems_create(loaded.arena);
    loaded.base = catalogue_builtin(loaded.arena);
    loaded.catalogue = catalogue_with_file(loaded.arena, loaded.base, path, loaded.problems);
    unlink(path);
    return loaded;
}

// Lines: the head is line 1, `body` starts on line 2.
static Loaded load_body(const char *body) {
    char text[8192];
    snprintf(text, sizeof text, "%s%s\n}", head, body);
    return load(text);
}

static void expect_problem(const char *body, int line, const char *text, const char *hint) {
    Loaded loaded = load_body(body);
    EXPECT(!loaded.catalogue);
    EXPECT_INT(problem_count(loaded.problems), 1);
    if (problem_count(loaded.problems) > 0) {
        const Problem *problem = problem_at(loaded.problems, 0);
        EXPECT_INT(problem->where.line, line);
        EXPECT_CONTAINS(problem->text, text);
        if (hint) EXPECT_CONTAINS(problem->hint, hint);
    }
    arena_close(loaded.arena);
}

static void expect_gpu_problem(const char *field, const char *text, const char *hint) {
    char body[2048];
    snprintf(
        body, sizeof body,
        "\"gpus\": [ { \"name\": \"mine\", \"like\": \"H100\", \"from\": [\"assumed\", \"a guess of mine\"],\n%s } ]",
        field);
    expect_problem(body, 3, text, hint);
}

TEST(a_part_like_another_changes_only_what_it_says) {
    Loaded loaded = load_body("\"gpus\": [ { \"name\": \"H100-400W\", \"like\": \"H100\", \"aliases\": [\"capped\"],\n"
                              "  \"power\": [\"400 W\", \"measured\", \"nvidia-smi -pl 400\", 0.01] } ],\n"
                              "\"nodes\": [ { \"name\": \"my-box\", \"like\": \"dgx-h100\", \"gpu\": \"capped\" } ]");
    problems_print(loaded.problems, stdout);
    EXPECT(loaded.catalogue);
    if (loaded.catalogue) {
        const Gpu *gpu = catalogue_gpu(loaded.catalogue, "capped"), *h100 = catalogue_gpu(loaded.catalogue, "H100");
        EXPECT_NEAR(gpu->power_watts, 400, 1e-12);
        EXPECT_NEAR(gpu->peak_flops[BF16], h100->peak_flops[BF16], 1e-12);
        const Fact *power = fact_find(gpu->facts, gpu->fact_count, "power");
        EXPECT_TEXT(power->source, "nvidia-smi -pl 400");
        EXPECT_INT(power->kind, FACT_MEASURED);
        EXPECT_NEAR(power->sigma, 0.01, 1e-12);
        EXPECT_INT(power->where.line, 3);
        EXPECT_INT(gpu->fact_count, h100->fact_count);
        EXPECT_TEXT(h100->name, "H100-SXM5-80GB");
        EXPECT(node_gpu(loaded.catalogue, catalogue_node(loaded.catalogue, "my-box"), 7) == gpu);
        EXPECT_INT(loaded.catalogue->gpu_count, loaded.base->gpu_count + 1);
    }
    arena_close(loaded.arena);
}

TEST(a_part_of_the_same_name_takes_the_place_of_the_built_in_one) {
    Loaded loaded = load_body("\"gpus\": [ { \"name\": \"h100-sxm5-80gb\", \"like\": \"H100\", \"power\": [\"500 W\", "
                              "\"assumed\", \"set by the site\"] } ]");
    EXPECT(loaded.catalogue);
    if (loaded.catalogue) {
        EXPECT_INT(loaded.catalogue->gpu_count, loaded.base->gpu_count);
        EXPECT_NEAR(catalogue_gpu(loaded.catalogue, "H100")->power_watts, 500, 1e-12); // aliases stay with it
        EXPECT_NEAR(catalogue_gpu(loaded.base, "H100")->power_watts, 700, 1e-12);
    }
    arena_close(loaded.arena);
}

TEST(what_was_derived_is_derived_again_for_a_part_like_another) {
    Loaded loaded = load_body("\"gpus\": [ { \"name\": \"half\", \"like\": \"A100\", \"vector_fp32\": [\"10 TFLOP/s\", "
                              "\"assumed\", \"half of an A100\"] } ]");
    EXPECT(loaded.catalogue);
    if (loaded.catalogue) EXPECT_NEAR(catalogue_gpu(loaded.catalogue, "half")->peak_flops[FP32], 10e12, 1e-12);
    arena_close(loaded.arena);
}

TEST(values_that_cannot_be_meant_are_refused_with_place_and_remedy) {
    expect_gpu_problem("\"memory\": \"80 Gb\"", "memory of GPU \"mine\": b means bits", "\"80 GiB\"");
    expect_gpu_problem("\"memory\": \"80 s\"", "memory of GPU \"mine\"", "\"80 GiB\"");
    expect_gpu_problem("\"memory\": 80", "the unit is missing", "\"80 GiB\"");
    expect_gpu_problem("\"memory\": \"80\"", "the unit is missing", "\"80 GiB\"");
    expect_gpu_problem("\"memory_bandwidth\": \"3350 GB\"", "per second", "GB/s");
    expect_gpu_problem("\"memory_bandwidth\": \"0 GB/s\"", "cannot be zero", "leave out");
    expect_gpu_problem("\"power\": \"-700 W\"", "negative", "400 W");
    expect_gpu_problem("\"power\": \"nan W\"", "power of GPU \"mine\"", "400 W");
    expect_gpu_problem("\"peak_bf16\": \"1e400 TFLOP/s\"", "peak_bf16 of GPU \"mine\"", "TFLOP/s");
    expect_gpu_problem("\"sms\": -4", "cannot be negative", NULL);
    expect_gpu_problem("\"sms\": 13.5", "whole number", "108");
    expect_gpu_problem("\"gemm_efficiency_fp16\": 1.2", "cannot be meant", NULL);
    expect_gpu_problem("\"gemm_efficiency_fp16\": 0", "cannot be zero", NULL);
    expect_gpu_problem("\"power\": true", "a number or a text", NULL);
    expect_gpu_problem("\"power\": [\"700 W\", \"datasheet\"]", "expected value, kind, source", "\"400 W\"");
    expect_gpu_problem("\"power\": [\"700 W\", \"mesured\", \"my meter\"]", "\"mesured\" is no way of knowing",
                       "measured");
    expect_gpu_problem("\"power\": [\"700 W\", \"measured\", \"\"]", "a source is a text", NULL);
    expect_gpu_problem("\"power\": [\"700 W\", \"measured\", \"my meter\", -1]", "uncertainty", NULL);
    expect_gpu_problem("\"vendor\": 7", "expected a text", NULL);
    expect_gpu_problem("\"year\": \"2022\"", "expected a year", NULL);
}

TEST(unknown_keys_are_refused_with_the_nearest_one) {
    expect_gpu_problem("\"memory_bandwith\": \"3 TB/s\"", "memory_bandwith", "memory_bandwidth");
    expect_problem("\"gpu\": []", 2, "gpu", "gpus");
    expect_problem("\"nodes\": [ { \"name\": \"x\", \"like\": \"dgx-h100\",\n\"gpu_links\": \"swich\" } ]", 3,
                   "gpu_links", "switch");
}

TEST(missing_pieces_are_named) {
    expect_gpu_problem("\"memory\": null", "memory of GPU \"mine\"", NULL);
    expect_problem("\"gpus\": [ { \"name\": \"x\", \"like\": \"H1000\" } ]", 2,
                   "no GPU above or built in is called \"H1000\"", "H100");
    expect_problem("\"gpus\": [ { \"name\": \"x\", \"like\": \"H100\", \"power\": \"1 W\" } ]", 2,
                   "nothing says how this is known", "from");
    expect_problem("\"gpus\": [ { \"like\": \"H100\" } ]", 2, "name", NULL);
    expect_problem("\"nodes\": [ { \"name\": \"x\", \"like\": \"dgx-h100\", \"gpu\": \"H10O\" } ]", 2,
                   "no GPU is called \"H10O\"", "H100");
    expect_problem("\"nodes\": [ { \"name\": \"x\", \"like\": \"dgx-h100\", \"gpu\": \"L40S\" } ]", 2,
                   "L40S has no NVLink", "none");
    expect_problem("\"nodes\": [ { \"name\": \"x\", \"like\": \"dgx-h100\", \"gpu\": [\"H100\", \"H200\"] } ]", 2,
                   "names 2 GPUs but has 8", "one for each");
    expect_problem("\"nodes\": [ { \"name\": \"x\", \"like\": \"dgx-b200\",\n\"price_usd\": [5, \"assumed\", \"a guess "
                   "of mine\"] } ]",
                   2, "price", "2026-04");
    expect_problem(
        "\"fabrics\": [ { \"name\": \"x\", \"like\": \"eth-1g\" }, { \"name\": \"X\", \"like\": \"eth-1g\" } ]", 2,
        "two fabrics are called \"X\"", NULL);
    expect_problem("\"fabrics\": [ { \"name\": \"a:b\", \"like\": \"eth-1g\" } ]", 2, "no name", "MIG");
}

TEST(a_part_from_nothing_must_say_all_that_is_needed) {
    Loaded loaded = load_body(
        "\"storages\": [ { \"name\": \"x\", \"from\": [\"assumed\", \"a guess of mine\"], \"title\": \"X\" } ]");
    EXPECT(!loaded.catalogue);
    EXPECT_INT(problem_count(loaded.problems), 4); // shared, read, write, latency
    arena_close(loaded.arena);
    loaded = load_body("\"storages\": [ { \"name\": \"x\", \"from\": [\"assumed\", \"a guess of mine\"], \"title\": "
                       "\"X\", \"shared\": true,\n"
                       "\"read_bandwidth\": \"1 GB/s\", \"write_bandwidth\": \"8 Gb/s\", \"latency\": \"1 ms\" } ]");
    EXPECT(loaded.catalogue);
    if (loaded.catalogue) EXPECT_NEAR(catalogue_storage(loaded.catalogue, "x")->write_bytes_per_second, 1e9, 1e-12);
    arena_close(loaded.arena);
}

TEST(other_files_are_not_taken_for_hardware) {
    static const char *const texts[] = {
        "",
        "[]",
        "{}",
        "{",
        "{ \"format\": \"lockstep-hardware\", \"format_version\": 2 }",
        "{ \"format\": \"x\", \"format_version\": 1 }",
        "{ \"format\": \"lockstep-hardware\", \"format_version\": 1, \"gpus\": 3 }",
        "{ \"format\": \"lockstep-hardware\", \"format_version\": 1, \"gpus\": [3, null, []] }",
        "{ \"format\": \"lockstep-hardware\", \"format_version\": 1, \"gpus\": [{\"name\": 4}] }",
        "{ \"format\": \"lockstep-hardware\", \"format_version\": 1, \"gpu_defaults\": 7, \"gpus\": [{\"name\": "
        "\"x\"}] }",
        "{ \"format\": \"lockstep-hardware\", \"format_version\": 1, \"sources\": 7, \"gpus\": [{\"name\": \"x\", "
        "\"from\": [\"assumed\", 1]}] }",
        "{ \"format\": \"lockstep-hardware\", \"format_version\": 1, \"gpus\": [{\"name\": \"x\", \"like\": 1, "
        "\"aliases\": 3}] }"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        Loaded loaded = load(texts[i]);
        EXPECT(!loaded.catalogue);
        EXPECT(problem_count(loaded.problems) > 0);
        arena_close(loaded.arena);
    }
}

TEST(problems_from_before_do_not_spoil_a_sound_file) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    problem_add(problems, (Where){0}, "something else");
    EXPECT(!catalogue_with_file(arena, catalogue_builtin(arena), "/nowhere/parts.json", problems));
    EXPECT_INT(problem_count(problems), 2);
    arena_close(arena);
}
