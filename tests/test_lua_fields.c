// The table of fields against the code that it speaks for: nothing is offered that is not known elsewhere.
#include "scenarios/fields/fields.h"
#include "tests/script.h"
#include "tests/test.h"

static char *printed(Arena *arena, void (*print)(FILE *)) {
    char *text = NULL, *copy;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    print(out);
    fclose(out);
    copy = arena_copy_text(arena, text);
    free(text);
    return copy;
}

TEST(choices_of_back_ends_and_precisions_are_those_of_the_models) {
    const Field *backend = field_find(OBJECT_TRAINING, "backend"),
                *precision = field_find(OBJECT_TRAINING, "precision");
    EXPECT_INT(backend->name_count, BACKEND_COUNT);
    for (int i = 0; i < backend->name_count; i++) EXPECT_TEXT(backend->names[i], backend_name((Backend)i));
    for (int i = 0; i < precision->name_count; i++) {
        Precision known;
        EXPECT(precision_from_name(precision->names[i], &known));
    }
    for (int i = 0; i < PRECISION_COUNT; i++) EXPECT_TEXT(precision->names[i], precision_name((Precision)i));
}

TEST(fields_have_help_and_examples_and_names_of_their_own) {
    for (int id = 1; id < OBJECT_COUNT; id++)
        for (int i = 0; i < object_type(id)->field_count; i++) {
            const Field *field = &object_type(id)->fields[i];
            EXPECT(field->help && *field->help && field->example && *field->example);
            EXPECT(field_find((ObjectId)id, field->name) == field);
            EXPECT(!(field->required && field->fallback));
        }
}

TEST(whatever_may_be_varied_is_known_to_the_study) {
    for (int i = 0; i < object_type(OBJECT_VARY)->field_count; i++) {
        const Field *field = &object_type(OBJECT_VARY)->fields[i];
        char expression[512];
        snprintf(expression, sizeof expression, "sim.study { on = cluster, run = job, vary = { %s = { %s } } }",
                 field->name, field->example);
        Loaded loaded = load_returning(expression, NULL);
        EXPECT_TEXT(first_problem(&loaded), "");
        if (loaded.scenario) study_run(loaded.arena, loaded.scenario->items[0].study, loaded.problems);
        if (any_problem_contains(&loaded, "cannot be varied"))
            test_fail(__FILE__, __LINE__, "%s: %s", field->name, first_problem(&loaded));
        EXPECT(!any_problem_contains(&loaded, "is not known"));
        unload(&loaded);
    }
}

TEST(whatever_may_be_published_is_known_to_the_study) {
    int figures = 0;
    for (int i = 0; i < object_type(OBJECT_PUBLISHED)->field_count; i++) {
        const Field *field = &object_type(OBJECT_PUBLISHED)->fields[i];
        if (field->kind != FIELD_QUANTITY || field_find(OBJECT_VARY, field->name)) continue;
        char expression[512];
        snprintf(expression, sizeof expression,
                 "sim.study { on = cluster, run = job, published = { { gpus = 8, source = 's', %s = %s } } }",
                 field->name, field->example);
        Loaded loaded = load_returning(expression, NULL);
        EXPECT_TEXT(first_problem(&loaded), "");
        const Record *record =
            loaded.scenario ? study_run(loaded.arena, loaded.scenario->items[0].study, loaded.problems) : NULL;
        EXPECT(record && record->published_count == 1);
        figures++;
        unload(&loaded);
    }
    EXPECT(figures > 5);
}

TEST(whatever_may_be_expected_has_a_value) { // samples gives the run a length
    const char *cluster = "sim.cluster { node = 'dgx-a100', price = { gpu_hour = 2 }, faults = { spares = 1 } }";
    for (int i = 0; i < object_type(OBJECT_EXPECT)->field_count; i++) {
        const Field *field = &object_type(OBJECT_EXPECT)->fields[i];
        static const char *const units[QUANTITY_KIND_COUNT] = {[QUANTITY_TIME] = "s", [QUANTITY_BYTES] = "B"};
        const char *unit = units[field->quantity] ? units[field->quantity] : "";
        char expression[512];
        snprintf(expression, sizeof expression,
                 "sim.study { on = %s, run = sim.training { model = 'gpt2-124m', samples = 1e6, batch = { micro = 1 } "
                 "}:expect { %s = '> 1e-9%s' } }",
                 cluster, field->name, unit);
        Loaded loaded = load_returning(expression, NULL);
        EXPECT_TEXT(first_problem(&loaded), "");
        const StudySpec *study = loaded.scenario ? loaded.scenario->items[0].study : NULL;
        const Record *record = study ? study_run(loaded.arena, study, loaded.problems) : NULL;
        EXPECT(record && record->expects);
        if (record && record->unmet_count > 0) test_fail(__FILE__, __LINE__, "%s: %s", field->name, record->unmet[0]);
        unload(&loaded);
    }
}

TEST(the_types_for_editors_name_every_field_and_load_as_lua) {
    Arena *arena = arena_open();
    const char *api = printed(arena, fields_print_api);
    for (int id = 1; id < OBJECT_COUNT; id++)
        for (int i = 0; i < object_type(id)->field_count; i++)
            EXPECT_CONTAINS(api, arena_printf(arena, "---@field %s", object_type(id)->fields[i].name));
    EXPECT(strstr(api, "(null)") == NULL);
    Loaded all = load_script(
        "local sim, names = require 'lockstep', {}\nfor name, value in pairs(sim) do\n"
        "if type(value) == 'function' then names[#names + 1] = name end end\nerror(table.concat(names, ' '), 0)",
        NULL);
    char names[512];
    snprintf(names, sizeof names, "%s", problem_count(all.problems) ? problem_at(all.problems, 0)->text : "");
    for (char *name = strtok(names, " "); name; name = strtok(NULL, " "))
        EXPECT_CONTAINS(api, arena_printf(arena, "\nfunction sim.%s(", name));
    EXPECT(any_problem_contains(&all, "cluster") && any_problem_contains(&all, "study"));
    unload(&all);
    Loaded loaded = load_script(api, NULL);
    EXPECT_CONTAINS(first_problem(&loaded), "the script returns a table"); // it ran
    unload(&loaded);
    arena_close(arena);
}

TEST(every_path_of_set_is_listed) {
    Arena *arena = arena_open();
    const char *list = printed(arena, fields_print_settable);
    EXPECT_CONTAINS(list, "\n  cluster.gpus ");
    EXPECT_CONTAINS(list, "\n  training.batch.global ");
    EXPECT_CONTAINS(list, "\n  study.vary.fabric ");
    EXPECT(strstr(list, "send.to") == NULL);
    arena_close(arena);
}

TEST(a_study_holds_what_the_script_said) {
    Loaded loaded = load_script(
        "local sim = require 'lockstep'\n"
        "local cluster = sim.cluster { nodes = { { node = 'dgx-a100', gpus = 8 }, { node = 'dgx-h100', gpus = 4 } },\n"
        "  fabric = sim.fat_tree { link = 'ib-ndr400', oversubscription = 2, nodes_per_leaf = 16 }, price = { gpu_hour "
        "= 2.5, currency = 'EUR' }, pue = 1.1,\n"
        "  link_speed = { 1, 0.5 } }\n"
        "local job = sim.training { model = sim.model.resnet { depth = 152 }, samples = '1.28M', epochs = 90, strategy "
        "= 'ddp',\n"
        "  batch = { micro = 32, accumulation = 2 }, parallel = { tp = 1, pp = 2, dp = 'fill', zero = 1 }, schedule = "
        "'gpipe', precision = 'fp16',\n"
        "  framework = 'tuned', optimizer = 'sgd', backend = 'gloo', bucket = '10 MiB', overlap = "
        "{ grad_reduce = false },\n"
        "  fp32_grad_reduce = true, data = { storage = 'nfs-1gbe', sample_bytes = '110 kB', workers = 8, "
        "samples_per_second_per_worker = 100 },\n"
        "  cpu_per_step = '2 ms', jitter = 0.01, straggler = 1.5 }\n"
        "job:expect { memory = '< 76 GiB' }\n"
        "return sim.study { on = cluster, run = job, title = 'T', seeds = 3, noise = 0.1, notes = { 'a', 'b' }, plot = "
        "'scaling',\n"
        "  vary = { micro_batch = { 16, 32 }, backend = nil, fabric = { 'ib-ndr400', 'eth-10g' } },\n"
        "  published = { { micro_batch = 16, fabric = 'eth-10g', step_time = '3 s', source = 'here' } } }\n",
        NULL);
    EXPECT_TEXT(first_problem(&loaded), "");
    const StudySpec *study = loaded.scenario ? loaded.scenario->items[0].study : NULL;
    EXPECT(study != NULL);
    if (!study) return;
    const ClusterSpec *cluster = study->cluster;
    const TrainingSpec *job = &study->training;
    EXPECT_INT(cluster->group_count, 2);
    EXPECT_INT(cluster->groups[1].gpus, 4);
    EXPECT_TEXT(cluster->groups[1].type->name, catalogue_node(test_catalogue(), "dgx-h100")->name);
    EXPECT_TEXT(cluster->link->name, "ib-ndr400");
    EXPECT_INT(cluster->fabric, FABRIC_FAT_TREE);
    EXPECT_INT(cluster->nodes_per_leaf, 16);
    EXPECT_NEAR(cluster->oversubscription, 2, 0);
    EXPECT_NEAR(cluster->price_per_gpu_hour, 2.5, 0);
    EXPECT_TEXT(cluster->currency, "EUR");
    EXPECT_NEAR(cluster->power_usage_effectiveness, 1.1, 0);
    EXPECT_NEAR(cluster->link_speed[1], 0.5, 0);
    EXPECT_INT(job->model->kind, MODEL_CNN);
    EXPECT_NEAR(job->samples, 1.28e6, 0);
    EXPECT_NEAR(job->epochs, 90, 0);
    EXPECT_INT(job->strategy, STRATEGY_DDP);
    EXPECT_NEAR(job->micro_batch, 32, 0);
    EXPECT_NEAR(job->grad_accumulation, 2, 0);
    EXPECT_INT(job->layout.pp, 2);
    EXPECT_INT(job->layout.dp, 0);
    EXPECT_INT(job->layout.zero, 1);
    EXPECT_INT(job->schedule, SCHEDULE_GPIPE);
    EXPECT_INT(job->precision, FP16);
    EXPECT(job->mixed_precision);
    EXPECT_INT(job->recompute, RECOMPUTE_NONE);
    EXPECT_INT(job->framework, FRAMEWORK_TUNED);
    EXPECT_INT(job->optimizer, OPTIMIZER_SGD);
    EXPECT_INT(job->backend, BACKEND_GLOO);
    EXPECT_NEAR(job->bucket_bytes, 10 << 20, 0);
    EXPECT(!job->overlap_grad_reduce && job->fp32_grad_reduce);
    EXPECT_TEXT(job->storage, "nfs-1gbe");
    EXPECT_NEAR(job->sample_bytes, 110e3, 0);
    EXPECT_NEAR(job->loader_workers, 8, 0);
    EXPECT_NEAR(job->samples_per_second_per_worker, 100, 0);
    EXPECT_NEAR(job->cpu_seconds_per_step, 2e-3, 1e-12);
    EXPECT_NEAR(job->jitter, 0.01, 0);
    EXPECT_NEAR(job->straggler, 1.5, 0);
    EXPECT_INT(study->vary_count, 2);
    EXPECT_TEXT(study->vary[0].name, "micro_batch"); // outermost as in the script
    EXPECT_TEXT(study->vary[1].texts[1], "eth-10g");
    EXPECT_INT(study->published_count, 1);
    EXPECT_INT(study->published[0].match_count, 2);
    EXPECT_NEAR(study->published[0].value, 3, 0);
    EXPECT_INT(study->note_count, 2);
    EXPECT_INT(study->seeds, 3);
    EXPECT_INT(study->expect_count, 1);
    EXPECT(study->expect[0].less);
    unload(&loaded);
}

TEST(precision_that_is_left_out_is_one_the_gpus_have) {
    static const struct {
        const char *node;
        Precision precision;
    } cases[] = {{"dgx-a100", BF16}, {"dgx-1-v100", FP16}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char expression[256];
        snprintf(expression, sizeof expression, "sim.study { on = sim.cluster { node = '%s' }, run = job }",
                 cases[i].node);
        Loaded loaded = load_returning(expression, NULL);
        EXPECT_TEXT(first_problem(&loaded), "");
        if (loaded.scenario) EXPECT_INT(loaded.scenario->items[0].study->training.precision, cases[i].precision);
        unload(&loaded);
    }
}
