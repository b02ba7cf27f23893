// Every field that a user may write, with every kind of wrong value: the message names the field and its line, gives a
// hint, and nothing is written. The fields come from the table itself, so a new one is tested from the start.
#include "scenarios/fields/fields.h"
#include "tests/script.h"
#include "tests/test.h"

// A script around the braces of each object; %s stands for its fields, a line each.
#define CLUSTER_WITH(what) "sim.cluster { node = \"dgx-a100\", " what " }"
#define STUDY_WITH(what) "sim.study { on = cluster, run = job, " what " }"
#define GRAPH_WITH(part) "sim.fabric { kind = \"graph\", link = \"ib-ndr400\", " part " }"
#define TRAINING_WITH(what) "sim.training { model = \"gpt2-124m\", " what " }"
#define RANK_WITH(what) "sim.program { on = cluster, rank = function(r) r:" what " end }"
static const char *const frames[OBJECT_COUNT] = {
    [OBJECT_CLUSTER] = "sim.cluster {\n%s}",
    [OBJECT_NODE_GROUP] = "sim.cluster { nodes = { {\n%s} } }",
    [OBJECT_PRICE] = CLUSTER_WITH("price = {\n%s}"),
    [OBJECT_COST] = "sim.cost {\n%s}",
    [OBJECT_OWN] = CLUSTER_WITH("own = {\n%s}"),
    [OBJECT_FAULTS] = CLUSTER_WITH("faults = {\n%s}"),
    [OBJECT_SINGLE_SWITCH] = "sim.single_switch {\n%s}",
    [OBJECT_FAT_TREE] = "sim.fat_tree {\n%s}",
    [OBJECT_RAIL_FAT_TREE] = "sim.rail_fat_tree {\n%s}",
    [OBJECT_TRANSFORMER] = "sim.model.transformer {\n%s}",
    [OBJECT_NODE] = "sim.node {\n%s}",
    [OBJECT_FABRIC] = "sim.fabric {\n%s}",
    [OBJECT_FABRIC_LINK] = GRAPH_WITH("links = { {\n%s} }"),
    [OBJECT_FABRIC_NODES] = GRAPH_WITH("nodes = { {\n%s} }"),
    [OBJECT_RESNET] = "sim.model.resnet {\n%s}",
    [OBJECT_MLP] = "sim.model.mlp {\n%s}",
    [OBJECT_LSTM] = "sim.model.lstm {\n%s}",
    [OBJECT_OPERATORS] = "sim.model.operators {\n%s}",
    [OBJECT_OPERATORS_BLOCK] = "sim.model.operators { blocks = { {\n%s} } }",
    [OBJECT_OPERATOR] = "sim.model.operators { blocks = { { operators = { {\n%s} } } } }",
    [OBJECT_TRAINING] = "sim.training {\n%s}",
    [OBJECT_BATCH] = TRAINING_WITH("batch = {\n%s}"),
    [OBJECT_ROUTING] = TRAINING_WITH("routing = {\n%s}"),
    [OBJECT_HOROVOD] = TRAINING_WITH("horovod = {\n%s}"),
    [OBJECT_PARALLEL] = TRAINING_WITH("parallel = {\n%s}"),
    [OBJECT_OFFLOAD] = TRAINING_WITH("offload = {\n%s}"),
    [OBJECT_OVERLAP] = TRAINING_WITH("overlap = {\n%s}"),
    [OBJECT_DATA] = TRAINING_WITH("data = {\n%s}"),
    [OBJECT_CHECKPOINT] = TRAINING_WITH("checkpoint = {\n%s}"),
    [OBJECT_EXPECT] = "job:expect {\n%s}",
    [OBJECT_STUDY] = "sim.study {\n%s}",
    [OBJECT_VARY] = STUDY_WITH("vary = {\n%s}"),
    [OBJECT_PUBLISHED] = STUDY_WITH("published = { {\n%s} }"),
    [OBJECT_OPTION] = "sim.options { it = {\n%s} }",
    [OBJECT_UNKNOWN] = "sim.fit { measured = \"s\", rows = { { s = 1 } }, predict = function(u) return u.it end, "
                       "unknowns = { it = {\n%s} } }",
    [OBJECT_REPORT] = "sim.report {\n%s}",
    [OBJECT_REPORT_ROW] = "sim.report { rows = { {\n%s} } }",
    [OBJECT_PROGRAM] = "sim.program {\n%s}",
    [OBJECT_COMPUTE] = RANK_WITH("compute {\n%s}"),
    [OBJECT_GEMM] = RANK_WITH("compute { gemm = {\n%s} }"),
    [OBJECT_SEND] = RANK_WITH("send {\n%s}"),
    [OBJECT_RECV] = RANK_WITH("recv {\n%s}"),
    [OBJECT_COPY] = RANK_WITH("copy {\n%s}"),
    [OBJECT_READ] = RANK_WITH("read {\n%s}"),
    [OBJECT_QUEUE] = "sim.queue {\n%s}",
    [OBJECT_QUEUE_DEMAND] = "sim.queue { on = cluster, demand = {\n%s} }",
    [OBJECT_QUEUE_JOB] = "sim.queue { on = cluster, jobs = { {\n%s} } }",
    [OBJECT_QUEUE_GOAL] = "sim.queue { on = cluster, demand = { per_hour = 1 }, goal = {\n%s} }",
    [OBJECT_PACKETS] = "sim.packets {\n%s}",
    [OBJECT_PACKETS_FLOW] = "sim.packets { flows = { {\n%s} } }",
    [OBJECT_COLLECTIVE] = RANK_WITH("all_reduce {\n%s}"),
};
#define FIRST_FIELD_LINE 5 // of the whole script

// The object with its required fields, and the field in question last. Gives the line of that field.
static const char *script_with(Arena *arena, ObjectId id, const char *name, const char *value, int *line) {
    const ObjectType *type = object_type(id);
    const char *fields = "";
    *line = FIRST_FIELD_LINE;
    for (int i = 0; i < type->field_count; i++) {
        const Field *field = &type->fields[i];
        if (!field->required || strcmp(field->name, name) == 0) continue;
        fields = arena_printf(arena, "%s%s = %s,\n", fields, field->name, field->example);
        ++*line;
    }
    fields = arena_printf(arena, "%s%s = %s,\n", fields, name, value);
    const char *mark = strstr(frames[id] ? frames[id] : "%s", "%s");
    return arena_printf(arena, "{ %.*s%s%s }", (int)(mark - frames[id]), frames[id], fields, mark + 2);
}

// ---- Wrong values by kind of field.

typedef struct ValueList {
    const char *items[24];
    int count;
} ValueList;

static void add(ValueList *list, const char *value) { list->items[list->count++] = value; }

static void wrong_quantities(Arena *arena, const Field *field, ValueList *wrong) {
    add(wrong, "true");
    add(wrong, "\"bananas\"");
    add(wrong, "\"12 parsecs\"");
    add(wrong, "\"\"");
    add(wrong, "0/0");
    add(wrong, "1/0");
    add(wrong, "-1/0");
    add(wrong, "sim.hw \"A100\"");
    if (field->quantity == QUANTITY_COUNT) add(wrong, "1.5");
    if (field->quantity == QUANTITY_BYTES) add(wrong, "\"25 M\"");
    if (field->least == 0 && field->most == 0) return;
    add(wrong, arena_printf(arena, "%.17g", field->most * 10));
    add(wrong, field->least == ABOVE_ZERO ? "0" : arena_printf(arena, "%.17g", field->least - 1 - fabs(field->least)));
    if (field->least >= 0) add(wrong, "-7");
    if (field->least >= 0) add(wrong, "\"-7\"");
}

static ValueList wrong_values(Arena *arena, const Field *field) {
    ValueList wrong = {0};
    if (field->kind != FIELD_TABLE || field->list) add(&wrong, "{}");
    add(&wrong, "print");
    switch (field->kind) {
    case FIELD_QUANTITY:
        wrong_quantities(arena, field, &wrong);
        break;
    case FIELD_SEED:
        add(&wrong, "-1"), add(&wrong, "0.5"), add(&wrong, "1e16"), add(&wrong, "0/0"), add(&wrong, "true"),
            add(&wrong, "\"18446744073709551616\"");
        break;
    case FIELD_FLAG:
        add(&wrong, "1"), add(&wrong, "\"yes\"");
        break;
    case FIELD_TEXT:
        add(&wrong, "5"), add(&wrong, "true"), add(&wrong, "\"\\27[31m\""), add(&wrong, "(\"x\"):rep(5000)");
        break;
    case FIELD_CHOICE:
        add(&wrong, "3"), add(&wrong, "\"nonsense\""), add(&wrong, "\"\"");
        break;
    case FIELD_TABLE:
        add(&wrong, "3"), add(&wrong, "\"x\""), add(&wrong, "true");
        break;
    case FIELD_PART:
        add(&wrong, "3"), add(&wrong, "\"nonsense-9000\""), add(&wrong, "cluster"), add(&wrong, "job");
        break;
    case FIELD_VALUE:
        add(&wrong, "3"), add(&wrong, "sim.hw \"A100\"");
        break;
    case FIELD_BOUND:
        add(&wrong, "3"), add(&wrong, "\"76\""), add(&wrong, "\"< bananas\""), add(&wrong, "\"<\""),
            add(&wrong, "\"= 3\"");
        break;
    case FIELD_FUNCTION:
        wrong.count = 0, add(&wrong, "3"), add(&wrong, "\"x\"");
        break;
    case FIELD_SCALAR:
        add(&wrong, "0/0"), add(&wrong, "cluster");
        break;
    }
    if (field->kind == FIELD_PART) add(&wrong, field->part == FIELD_NODE ? "sim.hw \"A100\"" : "sim.hw \"dgx-a100\"");
    if (field->kind == FIELD_VALUE && field->named && field->handle != HANDLE_STREAM) add(&wrong, "\"nonsense-9000\"");
    return wrong;
}

// ---- The tests.

static bool line_is_reported(const Loaded *loaded, int line) {
    for (int i = 0; i < problem_count(loaded->problems); i++) {
        const Problem *problem = problem_at(loaded->problems, i);
        if (problem->where.line == line && problem->hint && problem->where.file) return true;
    }
    return false;
}

static void expect_refused(ObjectId id, const Field *field, const char *value) {
    Arena *arena = arena_open();
    int line;
    Loaded loaded = load_returning(script_with(arena, id, field->name, value, &line), NULL);
    if (loaded.scenario || !line_is_reported(&loaded, line))
        test_fail(__FILE__, __LINE__, "%s.%s = %s at line %d gives \"%s\"", object_type(id)->name, field->name, value,
                  line, first_problem(&loaded));
    unload(&loaded);
    arena_close(arena);
}

TEST(every_object_has_a_frame_to_be_tested_in) {
    for (int id = 1; id < OBJECT_COUNT; id++) EXPECT(frames[id] != NULL);
}

TEST(every_wrong_value_of_every_field_is_refused_at_its_line_with_a_hint) {
    for (int id = 1; id < OBJECT_COUNT; id++)
        for (int i = 0; i < object_type(id)->field_count; i++) {
            Arena *arena = arena_open();
            const Field *field = &object_type(id)->fields[i];
            ValueList wrong = wrong_values(arena, field);
            for (int w = 0; w < wrong.count; w++) expect_refused((ObjectId)id, field, wrong.items[w]);
            arena_close(arena);
        }
}

TEST(the_example_of_every_field_is_right) {
    for (int id = 1; id < OBJECT_COUNT; id++)
        for (int i = 0; i < object_type(id)->field_count; i++) {
            Arena *arena = arena_open();
            const Field *field = &object_type(id)->fields[i];
            int line;
            Loaded loaded = load_returning(script_with(arena, (ObjectId)id, field->name, field->example, &line), NULL);
            const char *about_it = arena_printf(arena, "%s of ", field->name);
            if (any_problem_contains(&loaded, about_it) || any_problem_contains(&loaded, "attempt to"))
                test_fail(__FILE__, __LINE__, "%s.%s = %s gives \"%s\"", object_type(id)->name, field->name,
                          field->example, first_problem(&loaded));
            unload(&loaded);
            arena_close(arena);
        }
}

TEST(a_key_that_is_no_field_is_refused_at_its_line_with_the_nearest_name) {
    for (int id = 1; id < OBJECT_COUNT; id++) {
        Arena *arena = arena_open();
        int line;
        const char *meant = object_type(id)->fields[0].name, *typo = arena_printf(arena, "%sx", meant);
        Loaded loaded = load_returning(script_with(arena, (ObjectId)id, typo, "3", &line), NULL);
        EXPECT(!loaded.scenario);
        EXPECT(line_is_reported(&loaded, line));
        EXPECT_CONTAINS(first_problem(&loaded), typo);
        EXPECT_CONTAINS(first_problem(&loaded), meant);
        unload(&loaded);
        arena_close(arena);
    }
}

TEST(a_required_field_that_is_missing_is_named) {
    for (int id = 1; id < OBJECT_COUNT; id++)
        for (int i = 0; i < object_type(id)->field_count; i++) {
            const Field *field = &object_type(id)->fields[i];
            if (!field->required) continue;
            Arena *arena = arena_open();
            int line;
            Loaded loaded = load_returning(script_with(arena, (ObjectId)id, field->name, "nil", &line), NULL);
            EXPECT(any_problem_contains(&loaded, arena_printf(arena, "needs %s", field->name)));
            unload(&loaded);
            arena_close(arena);
        }
}

TEST(bad_input_exits_with_4_and_writes_nothing) {
    for (int id = 1; id < OBJECT_COUNT; id++) {
        Arena *arena = arena_open();
        char output[4096] = "";
        int line;
        bool wrote;
        const char *script =
            arena_printf(arena,
                         "local sim = require \"lockstep\"\nlocal cluster = sim.cluster { node = \"dgx-a100\" }\n"
                         "local job = sim.training { model = \"gpt2-124m\", batch = { micro = 4 } }\nreturn %s\n",
                         script_with(arena, (ObjectId)id, "nonsuch", "3", &line));
        EXPECT_INT(run_script_text(script, "-o {DIR}/out.json", output, sizeof output, &wrote), 4);
        EXPECT(!wrote);
        EXPECT_CONTAINS(output, arena_printf(arena, "s.lua:%d: error: ", line));
        EXPECT_CONTAINS(output, "\n  hint: ");
        arena_close(arena);
    }
}

TEST(all_mistakes_of_a_script_are_shown_together) {
    Loaded loaded = load_script("local sim = require \"lockstep\"\n"
                                "local c = sim.cluster { nod = 1,\n gpus = -3,\n fabric = \"ib-x\" }\n"
                                "local j = sim.training { model = \"gpt9\",\n precision = \"bf17\" }\n"
                                "return sim.study { on = c, run = j, seeds = 0 }\n",
                                NULL);
    static const int lines[] = {2, 3, 4, 5, 6, 7};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) EXPECT(line_is_reported(&loaded, lines[i]));
    unload(&loaded);
}

TEST(what_a_script_must_return_is_said) {
    static const char *const wrong[] = {"cluster", "job", "3", "nil", "{}", "{ cluster }", "\"x\"", "function() end"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        Loaded loaded = load_returning(wrong[i], NULL);
        EXPECT_CONTAINS(first_problem(&loaded), "it must return what to simulate");
        EXPECT_CONTAINS(first_problem(&loaded), "return sim.study");
        unload(&loaded);
    }
}

// Every field of a table within another, and of another object.
TEST(a_field_in_the_wrong_table_is_told_where_it_belongs) {
    for (int o = JOB_BATCH; o < JOB_OBJECT_COUNT; o++)
        for (int i = 0; i < job_objects[o].field_count; i++) {
            const char *name = job_objects[o].fields[i].name;
            char text[256], hint[128];
            if (field_find(OBJECT_TRAINING, name)) continue;
            snprintf(text, sizeof text, "sim.training { model = 'gpt2-124m', %s = 1 }", name);
            Loaded loaded = load_returning(text, NULL);
            snprintf(hint, sizeof hint, "%s belongs in ", name);
            EXPECT_CONTAINS(first_problem(&loaded), hint);
            unload(&loaded);
        }
    static const struct {
        const char *text, *hint;
    } cases[] = {
        {"sim.training { model = 'gpt2-124m', tp = 2 }", "| tp belongs in parallel = { tp = 2 }"},
        {"sim.training { model = 'gpt2-124m', micro_batch = 2 }", "| micro_batch belongs in batch = { micro = 4 }"},
        {"sim.training { model = 'gpt2-124m', gpus = 2 }", "| gpus belongs in sim.cluster { gpus = 64 }"},
        {"sim.cluster { node = 'dgx-h100', gpus = 8, tp = 2 }",
         "| tp belongs in sim.training { parallel = { tp = 2 } }"},
        {"sim.study { tp = 2 }", "| tp belongs in sim.training { parallel = { tp = 2 } }"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Loaded loaded = load_returning(cases[i].text, NULL);
        EXPECT_CONTAINS(first_problem(&loaded), cases[i].hint);
        unload(&loaded);
    }
}
