// One set of manners: every command answers in every form, to the screen and to a file, and its JSON says what it is.
// A command of `lockstep --help` that has no line here fails.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "results/answer.h"
#include "sim/csv.h"
#include "sim/file.h"
#include "sim/json.h"
#include "sim/list.h"
#include "tests/schema.h"
#include "tests/test.h"

#define TEXT (1 << 22)
#define SCHEMA "results/schema.json"
#define GEMMS "calibrate/measurements/gemm.csv"

static const struct {
    const char *line, *kind; // kind NULL: exempt
} cases[] = {
    {"run scenarios/lessons/ddp_by_hand.lua", "run"},
    {"run --model gpt2-124m --node dgx-a100 --gpus 8 --micro-batch 1 --global-batch 8 --seq 1024", "run"},
    {"plan --model gpt2-124m --tokens 1B --seq 1024 --node dgx-a100 --gpus 8 --global-batch 64 --price 2 -j 1", "plan"},
    {"explain --model gpt2-124m --node dgx-a100 --gpus 8 --micro-batch 1 --global-batch 8 --seq 1024", "explain"},
    {"explain collective all_reduce --node dgx-a100 --sizes 1M", "explain-collective"},
    {"explain goodput --gpus 64 --days 5 --runs 20", "explain-goodput"},
    {"explain queue --gpus 64 --load 0.9 --jobs 400 --seeds 2", "explain-queue"},
    {"trace --model gpt2-124m --node dgx-a100 --gpus 8 --micro-batch 1 --global-batch 8 --seq 1024", "trace"},
    {"diff scenarios/examples/megatron_22b_175b.lua --study-b 2", "diff"},
    {"sweep --show $DIR/store.db", "sweep"},
    {"merge $DIR/all.db $DIR/store.db", "merge"},
    {"memory --model gpt2-124m --gpu A100 --micro-batch 1", "memory"},
    {"flops --model gpt2-124m --tokens 1B", "flops"},
    {"params --model gpt2-124m", "params"},
    {"hw list fabric", "hw-list"},
    {"hw list offers", "hw-list"},
    {"hw show A100", "hw-show"},
    {"hw check models/hardware/catalogue/links.json", "hw-check"},
    {"hw fields gpu", "hw-fields"},
    {"constants", "constants"},
    {"model list", "model-list"},
    {"model show gpt2-124m", "model-show"},
    {"model show gpt2-124m --operators", "model-show"},
    {"job fields", "job-fields"},
    {"job software", "job-software"},
    {"job software nemo", "job-software-words"},
    {"job strategies", "job-strategies"},
    {"topo --node dgx-a100", "topo"},
    {"collective all_reduce --node dgx-a100 --sizes 1M:4M:2", "collective"},
    {"goodput --node dgx-h100 --gpus 64 --days 3d --runs 20", "goodput"},
    {"cost --node aws-p5.48xlarge --run 1d", "cost"},
    {"power --node dgx-h100", "power"},
    {"queue --gpus 64 --load 0.5 --jobs 200 --policy fifo,easy", "queue"},
    {"calibrate recovery --trials 1", "calibrate-recovery"},
    {"calibrate network calibrate/measurements/netbox.csv", "calibrate-network"},
    {"calibrate show $DIR/gemms.json", "calibrate-show"},
    {"calibrate fit $DIR/gemms.json -o $DIR/profile.json", "calibrate-fit-device"},
    {"validate training calibrate/measurements/training/training_fsdp_mosaic.csv", "validate-training"},
    {"validate collectives calibrate/measurements/nccl/abci2_a100_004gpu_all_reduce_intra.txt "
     "--clusters calibrate/measurements/nccl/clusters.csv",
     "validate-collectives"},
    {"validate kernels $DIR/gemms.json", "validate-kernels"},
    {"validate kernels calibrate/measurements/kernels/gemm.csv", "validate-kernels"},
    {"validate reliability $DIR/stops.csv --runs 2", "validate-reliability"},
    {"report run --model gpt2-124m --node dgx-a100 --gpus 8 --micro-batch 1 --global-batch 8 --seq 1024", NULL},
    {"validate queue $DIR/months --repetitions 2", "validate-queue"},
    {"completion bash", NULL},
};
enum { CASES = sizeof cases / sizeof *cases };

static char said[TEXT];

// Files are beside each other in a folder of the test's own, called $DIR in the lines.
static int shell(const char *folder, const char *format, const char *line) {
    char command[1024], whole[1100];
    snprintf(command, sizeof command, format, line);
    snprintf(whole, sizeof whole, "DIR=%s; rm -f $DIR/all.db; %s", folder, command);
    return test_shell(whole, said, sizeof said);
}

static void make_inputs(const char *folder) {
    EXPECT_INT(shell(folder, "%s",
                     "$LOCKSTEP sweep --model gpt2-124m --node dgx-a100 --gpus 8 --seq 1024 --micro-batch 1 "
                     "--vary global-batch=8,16 -o $DIR/store.db -q -j 1"),
               0);
    EXPECT_INT(shell(folder, "%s", // the beginnings of files that take seconds in whole
                     "mkdir $DIR/months; cd calibrate/measurements; head -n 3 reliability.csv >$DIR/stops.csv; "
                     "for file in queue/*.csv; do head -n 1000 $file >$DIR/months/${file#queue/}; done"),
               0);
    EXPECT_INT(shell(folder, "%s",
                     "$LOCKSTEP calibrate import --from gemm-csv " GEMMS " --gpu \"Tesla T4\" -o $DIR/gemms.json"),
               0);
}

static char *open_folder(char name[]) {
    char *folder = mkdtemp(name);
    EXPECT(folder != NULL);
    make_inputs(folder);
    return folder;
}

static void remove_folder(const char *folder) { shell(folder, "%s", "rm -r $DIR"); }

static const char *text_of(const Json *object, const char *key) {
    const Json *value = json_get(object, key);
    return value && value->kind == JSON_TEXT ? value->text : "";
}

static void expect_envelope(const Json *answer, const char *kind, const char *line) {
    const Json *program = json_get(answer, "program"), *command = json_get(answer, "command");
    const Json *version = json_get(answer, "format_version");
    bool of_parts = strcmp(kind, "hw-list") == 0 || strcmp(kind, "hw-show") == 0; // which hw check reads
    EXPECT_TEXT(text_of(answer, "format"), of_parts ? "lockstep-hardware" : "lockstep-answer");
    EXPECT_TEXT(text_of(answer, "kind"), kind);
    EXPECT(version && version->number == 1);
    EXPECT(program && strcmp(text_of(program, "name"), "lockstep") == 0 && text_of(program, "version")[0]);
    EXPECT(command && command->count > 1 && strcmp(command->items[0].text, "lockstep") == 0);
    size_t first = strcspn(line, " ");
    EXPECT(command && strncmp(command->items[1].text, line, first) == 0);
}

TEST(every_command_answers_as_json_that_says_what_it_is) {
    char name[] = "/tmp/lockstep-answers-json-XXXXXX";
    const char *folder = open_folder(name);
    for (int i = 0; i < CASES; i++) {
        Arena *arena = arena_open();
        Problems *problems = problems_create(arena);
        int status = shell(folder, "$LOCKSTEP %s --json 2>/dev/null", cases[i].line);
        const Json *answer = status == 0 ? json_read_text(arena, cases[i].line, said, strlen(said), problems) : NULL;
        if (cases[i].kind && !answer) test_fail(__FILE__, __LINE__, "%s --json: exit %d", cases[i].line, status);
        if (answer)
            expect_envelope(answer->kind == JSON_LIST ? &answer->items[0] : answer, cases[i].kind, cases[i].line);
        if (!cases[i].kind && status != 2) test_fail(__FILE__, __LINE__, "%s --json: exit %d", cases[i].line, status);
        arena_close(arena);
    }
    remove_folder(folder);
}

// ---- Schemas.

// More answers of the same kinds, for the keys that only they have.
static const char *const more[] = {
    "run scenarios/examples/scaling_efficiency.lua",
    "run scenarios/examples/shared_cluster.lua",
    "memory --model gpt2-124m --gpu A100 --micro-batch 1 --over-time",
    "memory --model resnet-50 --gpu A100 --micro-batch 32",
    "flops --model resnet-50",
    "params --model resnet-50",
    "model show resnet-50 --operators",
    "model show t5-3b",
    "hw list",
    "hw show H100",
    "hw show azure-nd96isr-h100-v5",
    "topo --node dgx-1",
    "collective all_reduce --node dgx-a100 --nodes 2 --fabric ib-hdr200 --sizes 1M",
    "explain queue --gpus 64 --load 0.9 --jobs 400 --seeds 2 --node-mtbf 60d",
    "goodput --node dgx-h100 --gpus 64 --work 3d --runs 20 --model llama-2-7b --storage superpod-storage",
    "cost --node dgx-h100 --nodes 4 --fabric ib-ndr400 --own --run 30d",
    "power --node dgx-h100 --nodes 4 --fabric ib-ndr400 --power-cap 500W",
    "queue --gpus 64 --load 0.8 --jobs 200 --model gpt2-124m",
    "plan --model llama-2-7b --tokens 10B --seq 4096 --node dgx-a100,dgx-h100 --gpus 8:16 --by 30d --budget 10000 -j 1",
    "plan --model llama-2-70b --tokens 10B --seq 4096 --node dgx-a100 --gpus 8 --price 2 -j 1",
    ("plan --model gpt2-355m --tokens 20B --seq 1024 --node crusoe-h100-ib.8x --gpus 8 --global-batch 64 --by 30d "
     "--provider crusoe --terms spot,on_demand,reserved_1y --faults llama3-h100 --storage superpod-storage -j 1"),
    "validate training calibrate/measurements/training/training_fsdp_mosaic.csv --anchored",
    "validate kernels $DIR/gemms.json --held-out",
    "validate reliability --runs 2",
    "validate queue --repetitions 2",
};

typedef struct Gathered { // answers by kind
    Arena *arena;
    Problems *problems;
    struct {
        const char *kind;
        SchemaSamples samples;
    } kinds[64];
    int count;
} Gathered;

static void gather(Gathered *all, const Json *answer) {
    if (answer->kind == JSON_LIST) {
        for (int i = 0; i < answer->count; i++) gather(all, &answer->items[i]);
        return;
    }
    const char *kind = text_of(answer, "kind");
    int k = 0;
    while (k < all->count && strcmp(all->kinds[k].kind, kind) != 0) k++;
    if (k == all->count) all->kinds[all->count++].kind = kind;
    LIST_PUSH(all->arena, &all->kinds[k].samples, answer);
}

static void gather_line(Gathered *all, const char *folder, const char *line) {
    int status = shell(folder, "$LOCKSTEP %s --json 2>/dev/null", line);
    const Json *answer =
        said[0] == '{' || said[0] == '['
            ? json_read_text(all->arena, line, arena_copy_text(all->arena, said), strlen(said), all->problems)
            : NULL;
    if (answer)
        gather(all, answer);
    else
        test_fail(__FILE__, __LINE__, "%s --json: exit %d, %.100s", line, status, said);
}

static const Json *read_schema(Arena *arena, Problems *problems) {
    const Json *schema = json_read_file(arena, SCHEMA, problems);
    EXPECT(schema != NULL);
    return schema;
}

static const SchemaSamples *samples_of(const Gathered *all, const char *kind) {
    static const SchemaSamples none = {0};
    for (int k = 0; k < all->count; k++)
        if (strcmp(all->kinds[k].kind, kind) == 0) return &all->kinds[k].samples;
    return &none;
}

// Any of the kinds, old and new.
static void write_answer(const Gathered *all, JsonWriter *json, const Json *kinds) {
    json_begin_object(json);
    json_key(json, "anyOf");
    json_begin_list(json);
    for (int d = 0; d < kinds->count + all->count; d++) {
        char reference[128];
        bool is_old = d < kinds->count;
        const char *kind = is_old ? kinds->items[d].key : all->kinds[d - kinds->count].kind;
        if (strcmp(kind, "answer") == 0 || (!is_old && json_get(kinds, kind))) continue;
        snprintf(reference, sizeof reference, "#/$defs/%s", kind);
        json_begin_object(json);
        json_text_member(json, "$ref", reference);
        json_end_object(json);
    }
    json_end_list(json);
    json_end_object(json);
}

static void write_kinds(const Gathered *all, JsonWriter *json, const Json *kinds) {
    json_begin_object(json);
    for (int d = 0; d < kinds->count; d++) {
        const Json *old = &kinds->items[d];
        json_key(json, old->key);
        if (strcmp(old->key, "answer") == 0)
            write_answer(all, json, kinds);
        else
            schema_write(all->arena, json, old, samples_of(all, old->key));
    }
    for (int k = 0; k < all->count; k++) {
        if (json_get(kinds, all->kinds[k].kind)) continue;
        json_key(json, all->kinds[k].kind);
        schema_write(all->arena, json, NULL, &all->kinds[k].samples);
    }
    json_end_object(json);
}

static void write_schema(const Gathered *all, const Json *schema) {
    OutputFile file;
    if (!file_create(all->arena, SCHEMA, &file, all->problems)) return;
    JsonWriter json = json_writer(file.stream, 1);
    json_begin_object(&json);
    for (int i = 0; i < schema->count; i++) {
        json_key(&json, schema->items[i].key);
        if (strcmp(schema->items[i].key, "$defs") == 0)
            write_kinds(all, &json, &schema->items[i]);
        else
            json_write_tree(&json, &schema->items[i]);
    }
    json_end_object(&json);
    fputc('\n', file.stream);
    EXPECT(file_commit(&file, all->problems));
}

// Every key that an answer has is in the published schema, and every key that the schema promises is in the answer. A
// new key: make schema, and say in results/schema.json what it is.
LONG_TEST(3, every_answer_is_as_its_schema_says) {
    char name[] = "/tmp/lockstep-answers-schema-XXXXXX", why[1024];
    const char *folder = open_folder(name);
    Arena *arena = arena_open();
    Gathered *all = ARENA_NEW(arena, Gathered);
    all->arena = arena;
    all->problems = problems_create(arena);
    for (int i = 0; i < CASES; i++)
        if (cases[i].kind) gather_line(all, folder, cases[i].line);
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) gather_line(all, folder, more[i]);
    const Json *schema = read_schema(arena, all->problems);
    if (schema && getenv("LOCKSTEP_SCHEMA")) {
        write_schema(all, schema);
        schema = read_schema(arena, all->problems);
    }
    const Json *kinds = schema ? json_get(schema, "$defs") : NULL;
    for (int k = 0; kinds && k < all->count; k++) {
        const Json *kind = json_get(kinds, all->kinds[k].kind);
        if (!kind) test_fail(__FILE__, __LINE__, "results/schema.json says nothing of %s", all->kinds[k].kind);
        for (int i = 0; kind && i < all->kinds[k].samples.count; i++)
            if (!schema_holds(schema, kind, all->kinds[k].samples.items[i], why, sizeof why))
                test_fail(__FILE__, __LINE__, "%s: %s (if that is meant: make schema)", all->kinds[k].kind, why);
    }
    EXPECT(problem_count(all->problems) == 0);
    arena_close(arena);
    remove_folder(folder);
}

static bool holds_of(Arena *arena, const char *schema, const char *value) {
    char why[256];
    Problems *problems = problems_create(arena);
    const Json *root = json_read_text(arena, "schema", schema, strlen(schema), problems);
    const Json *json = json_read_text(arena, "value", value, strlen(value), problems);
    EXPECT(root && json);
    return root && json && schema_holds(root, root, json, why, sizeof why);
}

TEST(a_schema_refuses_what_it_does_not_say) {
    Arena *arena = arena_open();
    const char *schema =
        "{\"type\": \"object\", \"required\": [\"a\"], \"properties\": {\"a\": {\"type\": [\"number\", "
        "\"null\"]}, \"b\": {\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/c\"}}, \"k\": {\"const\": "
        "\"x\"}, \"m\": {\"additionalProperties\": {\"type\": \"integer\"}}}, \"$defs\": {\"c\": {\"enum\": "
        "[1, \"two\"]}}}";
    EXPECT(holds_of(arena, schema, "{\"a\": 1.5, \"b\": [1, \"two\"], \"k\": \"x\", \"m\": {\"any\": 3}}"));
    EXPECT(holds_of(arena, schema, "{\"a\": null}"));
    EXPECT(!holds_of(arena, schema, "{\"b\": []}"));
    EXPECT(!holds_of(arena, schema, "{\"a\": \"1\"}"));
    EXPECT(!holds_of(arena, schema, "{\"a\": 1, \"z\": 1}"));
    EXPECT(!holds_of(arena, schema, "{\"a\": 1, \"b\": [2]}"));
    EXPECT(!holds_of(arena, schema, "{\"a\": 1, \"k\": \"y\"}"));
    EXPECT(!holds_of(arena, schema, "{\"a\": 1, \"m\": {\"any\": 0.5}}"));
    EXPECT(!holds_of(arena, "{\"pattern\": \"a\"}", "\"a\""));
    arena_close(arena);
}

TEST(the_program_prints_its_schemas) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    char name[] = "/tmp";
    EXPECT_INT(shell(name, "%s", "$LOCKSTEP schema | cmp - " SCHEMA " && echo same"), 0);
    EXPECT_TEXT(said, "same\n");
    EXPECT_INT(shell(name, "%s", "$LOCKSTEP schema plan"), 0);
    const Json *plan = json_read_text(arena, "plan", said, strlen(said), problems);
    const Json *keys = plan ? json_get(plan, "properties") : NULL;
    EXPECT(keys && json_get(keys, "step_time_s") && json_get(keys, "assumptions"));
    EXPECT_INT(shell(name, "%s", "$LOCKSTEP schema --list | wc -l"), 0);
    EXPECT(atoi(said) > 25);
    EXPECT_INT(shell(name, "%s", "$LOCKSTEP schema paln 2>&1"), 2);
    EXPECT_CONTAINS(said, "did you mean \"plan\"?");
    arena_close(arena);
}

// Numbers stand in columns that have names; every row has every column (csv_read_text sees to that).
TEST(every_command_answers_as_csv) {
    char name[] = "/tmp/lockstep-answers-csv-XXXXXX";
    const char *folder = open_folder(name);
    for (int i = 0; i < CASES; i++) {
        if (!cases[i].kind) continue;
        Arena *arena = arena_open();
        int status = shell(folder, "$LOCKSTEP %s --csv 2>/dev/null", cases[i].line);
        char *second = strstr(said, "\n\n"); // a record may have tables of its own below
        if (second) second[1] = '\0';
        const Csv *csv = csv_read_text(arena, cases[i].line, said, problems_create(arena));
        if (status != 0 || !csv || csv->row_count < 1)
            test_fail(__FILE__, __LINE__, "%s --csv: exit %d, %.200s", cases[i].line, status, said);
        for (int c = 0; csv && c < csv->column_count; c++) EXPECT(csv->columns[c][0] != '\0');
        arena_close(arena);
    }
    remove_folder(folder);
}

TEST(every_command_answers_as_plain_text_without_colours) {
    char name[] = "/tmp/lockstep-answers-plain-XXXXXX";
    const char *folder = open_folder(name);
    for (int i = 0; i < CASES; i++) {
        if (!cases[i].kind) continue;
        int status = shell(folder, "$LOCKSTEP %s --plain --color always 2>/dev/null", cases[i].line);
        if (status != 0 || !said[0] || strchr(said, '\033'))
            test_fail(__FILE__, __LINE__, "%s --plain: exit %d, %.200s", cases[i].line, status, said);
    }
    remove_folder(folder);
}

// The same bytes as on the screen; the command that has an -o of its own writes something else there.
TEST(every_command_writes_its_answer_to_a_file) {
    static char printed[TEXT];
    char name[] = "/tmp/lockstep-answers-file-XXXXXX";
    const char *folder = open_folder(name);
    for (int i = 0; i < CASES; i++) {
        if (strstr(cases[i].line, "calibrate fit") || strstr(cases[i].line, "calibrate show") || !cases[i].kind)
            continue;
        EXPECT_INT(shell(folder, "$LOCKSTEP %s --plain -q -o $DIR/answer.txt 2>/dev/null", cases[i].line), 0);
        if (said[0]) test_fail(__FILE__, __LINE__, "%s -q -o FILE prints %.200s", cases[i].line, said);
        EXPECT_INT(shell(folder, "%s", "cat $DIR/answer.txt"), 0);
        snprintf(printed, sizeof printed, "%s", said);
        bool prints = strncmp(cases[i].line, "merge", 5) != 0; // -q: nothing
        EXPECT_INT(shell(folder, "$LOCKSTEP %s --plain 2>/dev/null", cases[i].line), 0);
        if (prints && strcmp(said, printed) != 0)
            test_fail(__FILE__, __LINE__, "%s: -o writes %.200s\nnot %.200s", cases[i].line, printed, said);
    }
    remove_folder(folder);
}

TEST(the_ending_of_a_file_chooses_the_form) {
    char name[] = "/tmp/lockstep-answers-ending-XXXXXX";
    const char *folder = open_folder(name);
    EXPECT_INT(shell(folder, "%s", "$LOCKSTEP power --node dgx-h100 -o $DIR/a.json && head -c 1 $DIR/a.json"), 0);
    EXPECT_TEXT(said, "{");
    EXPECT_INT(shell(folder, "%s", "$LOCKSTEP power --node dgx-h100 -o $DIR/a.csv && head -c 6 $DIR/a.csv"), 0);
    EXPECT_TEXT(said, "nodes,");
    EXPECT_INT(shell(folder, "%s", "$LOCKSTEP power --node dgx-h100 --json -o $DIR/b.csv && head -c 1 $DIR/b.csv"), 0);
    EXPECT_TEXT(said, "{");
    remove_folder(folder);
}

TEST(an_answer_is_written_whole_or_not_at_all) {
    char name[] = "/tmp/lockstep-answers-whole-XXXXXX";
    const char *folder = open_folder(name);
    EXPECT_INT(shell(folder, "%s", "echo old >$DIR/a.csv; $LOCKSTEP power --node dgx-h1000 -o $DIR/a.csv 2>&1"), 4);
    EXPECT_CONTAINS(said, "dgx-h1000");
    EXPECT_INT(shell(folder, "%s", "cat $DIR/a.csv; ls $DIR | grep -c tmp"), 1);
    EXPECT_TEXT(said, "old\n0\n");
    EXPECT_INT(shell(folder, "%s", "$LOCKSTEP power --node dgx-h100 -o $DIR/no/a.csv 2>&1"), 2);
    EXPECT_CONTAINS(said, "its folder does not exist");
    EXPECT_INT(shell(folder, "%s", "$LOCKSTEP power --node dgx-h100 --csv -o /dev/full 2>&1"), 1);
    EXPECT_CONTAINS(said, "cannot be written");
    EXPECT_INT(shell(folder, "%s", "$LOCKSTEP power --node dgx-h100 -o /dev/full 2>&1"), 1);
    EXPECT_CONTAINS(said, "cannot be written");
    EXPECT_INT(shell(folder, "%s", "$LOCKSTEP power --node dgx-h100 --csv 2>&1 >/dev/full"), 1);
    EXPECT_CONTAINS(said, "standard output cannot be written");
    remove_folder(folder);
}

TEST(an_answer_has_one_form) {
    char name[] = "/tmp/lockstep-answers-form-XXXXXX";
    const char *folder = open_folder(name);
    for (int i = 0; i < CASES; i++) {
        if (!cases[i].kind) continue;
        int status = shell(folder, "$LOCKSTEP %s --csv --json 2>&1", cases[i].line);
        if (status != 2) test_fail(__FILE__, __LINE__, "%s --csv --json: exit %d, %.200s", cases[i].line, status, said);
    }
    EXPECT_INT(shell(folder, "%s", "$LOCKSTEP power --node dgx-h100 --csv --plain 2>&1"), 2);
    EXPECT_CONTAINS(said, "an answer has one form");
    remove_folder(folder);
}

TEST(text_is_not_written_into_what_is_called_a_picture_or_a_page) {
    char name[] = "/tmp/lockstep-answers-form-XXXXXX";
    const char *folder = open_folder(name);
    static const char *const endings[] = {"png", "svg", "html", "pdf"};
    for (int i = 0; i < 4; i++) {
        EXPECT_INT(shell(folder, "$LOCKSTEP power --node dgx-h100 -o $DIR/x.%s 2>&1", endings[i]), 2);
        EXPECT_CONTAINS(said, "the answer is text or data");
    }
    EXPECT_INT(shell(folder, "%s", "ls $DIR | grep ^x"), 1);
    EXPECT_TEXT(said, "");
    remove_folder(folder);
}

// Two walls: the file is made before the wall round a script stands, and takes its name after.
TEST(an_answer_of_a_walled_command_reaches_its_file) {
    char name[] = "/tmp/lockstep-answers-wall-XXXXXX";
    const char *folder = open_folder(name);
    EXPECT_INT(shell(folder, "%s",
                     "echo 'return function() return {} end' >$DIR/s.lua; $LOCKSTEP collective all_reduce --steps "
                     "$DIR/s.lua --node dgx-a100 --sizes 1M -o $DIR/sub.json; head -c 1 $DIR/sub.json"),
               0);
    EXPECT_TEXT(said, "{");
    remove_folder(folder);
}

TEST(every_command_of_the_help_is_held_to_its_manners) {
    char names[4096], name[] = "/tmp";
    EXPECT_INT(shell(name, "%s", "$LOCKSTEP --help | sed -n '/^Commands:/,/^$/s/^  \\([a-z]*\\) .*/\\1/p'"), 0);
    snprintf(names, sizeof names, "%.4000s", said);
    int seen = 0;
    for (char *at = strtok(names, "\n"); at; at = strtok(NULL, "\n"), seen++) {
        bool found = false;
        for (int i = 0; i < CASES; i++)
            found = found ||
                    (strncmp(cases[i].line, at, strlen(at)) == 0 && strchr(" ", cases[i].line[strlen(at)]) != NULL);
        for (int i = 0; i < answer_exempt_count; i++) found = found || strcmp(answer_exempt[i].command, at) == 0;
        if (!found) test_fail(__FILE__, __LINE__, "no line of tests/test_answers.c asks lockstep %s", at);
    }
    EXPECT(seen >= 20);
}

// ---- Tables of JSON, by themselves.

static const char *converted(Arena *arena, const char *text, void (*write)(Arena *, FILE *, const Json *)) {
    TextStream stream = text_stream_open();
    const Json *json = json_read_text(arena, "test", text, strlen(text), problems_create(arena));
    EXPECT(json != NULL);
    if (json) write(arena, stream.stream, json);
    return text_stream_close(arena, &stream);
}

TEST(rows_of_json_are_its_first_list_of_objects_with_all_their_keys) {
    Arena *arena = arena_open();
    const char *json = "{\"format\": \"lockstep-answer\", \"kind\": \"x\", \"total_s\": 3, \"rows\": ["
                       "{\"name\": \"a,b\", \"time_s\": {\"p5\": 0.1, \"p95\": 2e9}, \"sizes\": [1, 2]},"
                       "{\"name\": \"say \\\"hi\\\"\", \"late\": null, \"is\": true}]}";
    EXPECT_TEXT(converted(arena, json, answer_write_csv), "name,time_s.p5,time_s.p95,sizes,late,is\n"
                                                          "\"a,b\",0.1,2000000000,1;2,,\n"
                                                          "\"say \"\"hi\"\"\",,,,,true\n");
    EXPECT_TEXT(converted(arena, json, answer_write_plain), "total_s\t3\n\nrows\n"
                                                            "name\ttime_s.p5\ttime_s.p95\tsizes\tlate\tis\n"
                                                            "a,b\t0.1\t2000000000\t1;2\t\t\n"
                                                            "say \"hi\"\t\t\t\t\ttrue\n");
    EXPECT_TEXT(converted(arena, "{\"kind\": \"y\", \"a_s\": 1.5, \"b\": {\"c_w\": 2}}", answer_write_csv),
                "a_s,b.c_w\n1.5,2\n");
    EXPECT_TEXT(converted(arena, "[{\"kind\": \"y\", \"a\": 1}, {\"kind\": \"y\", \"a\": 2}]", answer_write_csv),
                "a\n1\n2\n");
    EXPECT_TEXT(converted(arena, "{\"kind\": \"y\", \"a\": \"tab\\tline\\nend\"}", answer_write_plain),
                "a\ttab line end\n");
    arena_close(arena);
}
