// Whatever --set puts in place of a scenario's value ends in an answer or in a sentence: never in a signal, never
// without end, never in an answer above physics. LOCKSTEP_BOUNDARIES=1 tries every value (make boundaries), else some.
#include <fcntl.h>
#include <sys/resource.h>

#include "sim/base/arena.h"
#include "sim/base/check.h"
#include "sim/base/digest.h"
#include "tests/boundaries.h"
#include "tests/child.h"
#include "tests/golden.h"
#include "tests/test.h"

int command_run(int argc, char **argv);
int command_memory(int argc, char **argv);
int command_flops(int argc, char **argv);
int command_params(int argc, char **argv);
int command_packets(int argc, char **argv);
int command_topo(int argc, char **argv);
int command_collective(int argc, char **argv);
int command_goodput(int argc, char **argv);
int command_cost(int argc, char **argv);
int command_power(int argc, char **argv);
int command_queue(int argc, char **argv);
int command_plan(int argc, char **argv);

#define SECONDS_OF_CPU 60 // beyond the limit that runs have of their own: for what does not look at it
#define PRINTED 65536

typedef struct Base { // a scenario, and what stands in it
    const char *name, *text;
} Base;

#define BEGIN "local sim = require \"lockstep\"\n"

static const Base bases[] = {
    {"dense", BEGIN
     "local c = sim.cluster { node = \"dgx-a100\", gpus = 16, fabric = sim.fat_tree { link = \"ib-ndr400\" },\n"
     "  storage = \"nfs-1gbe\", faults = { rates = \"llama3-h100\" }, price = { gpu_hour = 2 }, link_speed = { 1 } }\n"
     "return sim.study { on = c, run = sim.training { model = \"gpt2-medium\", seq_len = 1024, tokens = \"10B\",\n"
     "  parallel = { tp = 2, pp = 2, cp = 1 }, batch = { micro = 2, global = 32 }, data = { sample_bytes = \"4 KB\" "
     "},\n"
     "  checkpoint = { every = \"1 h\" }, overlap = { grad_reduce = true }, recompute = \"none\", zero = 1 } }\n"},
    {"experts", BEGIN
     "local c = sim.cluster { node = \"dgx-h100\", gpus = 16,\n"
     "  fabric = sim.fabric { kind = \"leaf_spine\", link = \"ib-ndr400\" }, own = { site = \"colocation\" } }\n"
     "return sim.study { on = c, run = sim.training { model = \"mixtral-8x7b\", seq_len = 1024, tokens = \"10B\",\n"
     "  parallel = { tp = 1, pp = 1, ep = 8 }, batch = { micro = 1, global = 16 }, routing = { zipf = 0.3 },\n"
     "  zero = 1, recompute = \"full\" } }\n"},
    {"images",
     BEGIN "local c = sim.cluster { nodes = { { node = \"dgx-a100\", gpus = 8 }, { node = \"dgx-1\", gpus = 8 } },\n"
           "  fabric = { kind = \"lan\", link = \"ib-hdr200\", uplink = \"10 Gb/s\" } }\n"
           "return sim.study { on = c, seeds = 2, run = sim.training { model = sim.model.resnet { depth = 50 },\n"
           "  batch = { micro = 32 }, samples = \"1.28M\", epochs = 90, strategy = \"horovod\", horovod = { cycle = "
           "\"2 ms\" },\n"
           "  jitter = 0.02, straggler = 1.1, data = { sample_bytes = \"110 kB\", samples_per_second_per_worker = 120 "
           "} } }\n"},
    {"own model", BEGIN
     "local c = sim.cluster { node = \"dgx-a100\", gpus = 16, fabric = sim.rail_fat_tree { link = \"ib-hdr200\" } }\n"
     "return sim.study { on = c, vary = { gpus = { 8, 16 } }, run = sim.training {\n"
     "  model = sim.model.transformer { layers = 4, hidden = 512, heads = 8 }, seq_len = 512,\n"
     "  parallel = { pp = 2, vpp = 2 }, schedule = \"interleaved\", batch = { micro = 1, global = 32 },\n"
     "  offload = { optimizer = \"host\" }, samples = 1e6 } }\n"},
    {"torus",
     BEGIN "local c = sim.cluster { node = \"dgx-a100\", gpus = 16,\n"
           "  fabric = { kind = \"torus\", link = \"ib-hdr200\", dims = { 2 } } }\n"
           "return sim.study { on = c, run = sim.training { model = sim.model.mlp { widths = { 784, 512, 10 } },\n"
           "  batch = { micro = 8 } } }\n"},
    {"dragonfly", BEGIN
     "local c = sim.cluster { node = \"dgx-a100\", gpus = 16, fabric = { kind = \"dragonfly\", link = \"ib-hdr200\",\n"
     "  groups = 2, switches_per_group = 2, nodes_per_switch = 1 } }\n"
     "return sim.study { on = c, run = sim.training { model = sim.model.lstm { layers = 2, hidden = 512 },\n"
     "  batch = { micro = 8 } } }\n"},
    {"sites", BEGIN
     "local c = sim.cluster { node = \"dgx-a100\", gpus = 32, fabric = { kind = \"sites\", link = \"ib-hdr200\",\n"
     "  nodes_per_site = 2, site_bandwidth = \"100 Gb/s\", site_latency = \"5 ms\" } }\n"
     "return sim.study { on = c, run = sim.training { model = \"gpt2-124m\", batch = { micro = 2 } } }\n"},
    {"trees", BEGIN
     "local c = sim.cluster { node = \"dgx-a100\", gpus = 32, fabric = { kind = \"fat_tree\", link = \"ib-hdr200\",\n"
     "  nodes_per_leaf = 2, nodes_per_pod = 4, hashed_flows = 4 } }\n"
     "return sim.study { on = c, run = sim.training { model = \"gpt2-124m\", batch = { micro = 2 } } }\n"},
    {"one switch", BEGIN
     "local c = sim.cluster { node = \"dgx-a100\", gpus = 16, fabric = sim.single_switch { link = \"ib-hdr200\" } }\n"
     "return sim.study { on = c, run = sim.training { model = \"t5-11b\", batch = { micro = 1 },\n"
     "  zero = 3, fidelity = \"flow\" } }\n"},
    {"by hand", BEGIN "local c = sim.cluster { node = \"dgx-a100\", gpus = 4, storage = \"lustre\" }\n"
                      "return sim.program { on = c, steps = 2, rank = function(r)\n"
                      "  r:compute { flops = 2e12, bytes = 40e6 }\n"
                      "  r:compute { gemm = { m = 64, n = 64, k = 64 } }\n"
                      "  r:read { bytes = \"1 MB\" }\n"
                      "  r:copy { to = \"host\", bytes = \"1 MB\" }\n"
                      "  if r.id == 0 then r:send { to = 1, bytes = \"64 MiB\" } end\n"
                      "  if r.id == 1 then r:recv { from = 0 } end\n"
                      "  r:all_reduce { bytes = \"4 MiB\" }\n"
                      "end }\n"},
    {"queue", BEGIN
     "local c = sim.cluster { node = \"dgx-a100\", gpus = 64, faults = { node_mtbf = \"250 d\" },\n"
     "  fabric = sim.fat_tree { link = \"ib-hdr200\", nodes_per_leaf = 4 } }\n"
     "return sim.queue { on = c, demand = { load = 0.8, count = 200 }, seeds = 1, policy = { \"fifo\", \"easy\" } }\n"},
    {"queue with a goal",
     BEGIN "local c = sim.cluster { node = \"dgx-a100\", gpus = 64 }\n"
           "return sim.queue { on = c, demand = { per_hour = 14, count = 200 }, seeds = 1, policy = { \"easy\" },\n"
           "  goal = { wait_p95 = \"1 h\", most_gpus = 512 } }\n"},
};
enum { BASES = sizeof bases / sizeof *bases };

typedef struct Tried {
    char printed[PRINTED];
    int64_t values;
    int every; // one of so many is tried
    int64_t counted;
    int seen[OBJECT_COUNT];
} Tried;

// ---- One run of the program, in a child.

static void limit(int resource, rlim_t most) {
    struct rlimit limits = {most, most};
    setrlimit(resource, &limits);
}

typedef int Command(int argc, char **argv);

// The exit status, or 128 + the signal that ended it.
static int run_words(Command *command, int count, char **words, char *printed, size_t room) {
    fflush(NULL);
    FILE *kept = tmpfile();
    CHECK(kept);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        limit(RLIMIT_CPU, SECONDS_OF_CPU);
        limit(RLIMIT_CORE, 0);
        if (!HAS_ADDRESS_SANITIZER) limit(RLIMIT_AS, (rlim_t)4 << 30);
        dup2(fileno(kept), STDOUT_FILENO);
        dup2(fileno(kept), STDERR_FILENO);
        int code = command(count, words);
        fflush(NULL);
        _exit(code);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    rewind(kept);
    printed[fread(printed, 1, room - 1, kept)] = '\0';
    fclose(kept);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// `sets` ends with NULL.
static int run_with(const char *script, const char *const *sets, char *printed, size_t room) {
    static char run[] = "run", json[] = "--json", set[] = "--set", most[] = "--time-limit=5s";
    Arena *arena = arena_open();
    char *words[2 * OBJECT_COUNT + 5] = {run, arena_copy_text(arena, script), json, most};
    int count = 4;
    for (; *sets; sets++) {
        words[count++] = set;
        words[count++] = arena_copy_text(arena, *sets);
    }
    int code = run_words(command_run, count, words, printed, room);
    arena_close(arena);
    return code;
}

static int run_set(const char *script, const char *set, char *printed, size_t room) {
    return run_with(script, (const char *const[]){set, NULL}, printed, room);
}

// A number of the first point, or -1.
static double number_of(const char *json, const char *name) {
    char key[64];
    snprintf(key, sizeof key, "\"%s\":", name);
    const char *at = strstr(json, key);
    return at ? strtod(at + strlen(key), NULL) : -1;
}

static void judge(const Tried *tried, const char *name, const char *said, int code) {
    if (code == 1 && strstr(tried->printed, "lockstep: out of memory")) return;
    if (code == 1 && strstr(tried->printed, "error: this simulation takes more than")) return;
    if (code != 0 && code != 2 && code != 3 && code != 4)
        test_fail(__FILE__, __LINE__, "%s: %s ends with %d: %.300s", name, said, code,
                  code > 128 && code != 128 + SIGABRT ? "" : tried->printed);
    if ((code == 2 || code == 4) && !strstr(tried->printed, "error:"))
        test_fail(__FILE__, __LINE__, "%s: %s ends with %d and no sentence: %.300s", name, said, code, tried->printed);
}

static void try_value(Tried *tried, const Base *base, const char *script, const char *path, const char *value) {
    char set[192];
    if (tried->counted++ % tried->every != 0) return;
    snprintf(set, sizeof set, "%s=%s", path, value);
    int code = run_set(script, set, tried->printed, PRINTED);
    tried->values++;
    judge(tried, base->name, set, code);
    if (code == 0 && number_of(tried->printed, "mfu") > 1)
        test_fail(__FILE__, __LINE__, "%s: --set \"%s\" gives MFU %g", base->name, set,
                  number_of(tried->printed, "mfu"));
}

// ---- All paths of a scenario.

static bool is_settable(const Field *field) {
    return field->kind != FIELD_TABLE && field->kind != FIELD_FUNCTION && (field->kind != FIELD_VALUE || field->named);
}

static const Field *first_settable(const ObjectType *type) {
    for (int f = 0; f < type->field_count && type->settable; f++)
        if (is_settable(&type->fields[f])) return &type->fields[f];
    return NULL;
}

// Of which objects the scenario makes any: asked for all at once, with a value that none takes.
static void find_made(Tried *tried, const char *script, bool made[OBJECT_COUNT]) {
    char texts[OBJECT_COUNT][96];
    const char *sets[OBJECT_COUNT + 1];
    int count = 0;
    for (int i = 1; i < OBJECT_COUNT; i++) {
        const Field *field = first_settable(object_type(i));
        if (!field) continue;
        snprintf(texts[i], sizeof texts[i], "%s.%s=\001", object_type(i)->name, field->name);
        sets[count++] = texts[i];
    }
    sets[count] = NULL;
    EXPECT_INT(run_with(script, sets, tried->printed, PRINTED), 4);
    for (int i = 1; i < OBJECT_COUNT; i++) {
        char absent[160];
        const Field *field = first_settable(object_type(i));
        if (field) snprintf(absent, sizeof absent, "has a %s.%s\n", object_type(i)->name, field->name);
        made[i] = field && !strstr(tried->printed, absent);
    }
}

// Where an earlier scenario had the object too, some of the values are enough.
static void try_object(Tried *tried, const Base *base, const char *script, const ObjectType *type, bool again) {
    for (int f = 0; f < type->field_count; f++) {
        const Field *field = &type->fields[f];
        char path[96];
        snprintf(path, sizeof path, "%s.%s", type->name, field->name);
        if (!is_settable(field)) continue;
        BoundaryValues values;
        boundary_values(field, &values);
        for (int v = 0; v < values.count; v += again ? 11 : 1) try_value(tried, base, script, path, values.texts[v]);
    }
}

static void try_base(Tried *tried, const Base *base) {
    char folder[] = "/tmp/lockstep-boundaries-XXXXXX", script[64];
    CHECK(mkdtemp(folder));
    snprintf(script, sizeof script, "%s/s.lua", folder);
    FILE *file = fopen(script, "w");
    CHECK(file);
    fputs(base->text, file);
    fclose(file);
    bool made[OBJECT_COUNT];
    int code = run_set(script, NULL, tried->printed, PRINTED);
    if (code != 0) test_fail(__FILE__, __LINE__, "%s: ends with %d: %.500s", base->name, code, tried->printed);
    find_made(tried, script, made);
    for (int i = 1; i < OBJECT_COUNT; i++)
        if (made[i]) try_object(tried, base, script, object_type(i), tried->seen[i]++);
    unlink(script);
    rmdir(folder);
}

// LOCKSTEP_BOUNDARIES=N: every Nth value.
static int one_in(int usual) {
    const char *asked = getenv("LOCKSTEP_BOUNDARIES");
    return asked && atoi(asked) > 0 ? atoi(asked) : usual;
}

// A child begins the quicker the less its parent has touched: these two come first.
LONG_TEST(10, every_settable_path_ends_well_at_both_ends_of_its_range_and_beyond) {
    static Tried tried;
    tried.every = one_in(HAS_ADDRESS_SANITIZER ? 59 : 19);
    for (int i = 0; i < BASES; i++) try_base(&tried, &bases[i]);
    EXPECT(tried.counted >= 2618);
    printf("%lld of %lld values tried\n", (long long)tried.values, (long long)tried.counted);
}

// ---- The same by flags: those that a command's own help lists.

static const struct {
    Command *command;
    const char *line; // that works
} lines[] = {
    {command_memory, "memory --model mixtral-8x7b --gpu H100 --gpus 64 --ep 8 --zero 1 --seq 1024 --micro-batch 1"},
    {command_flops, "flops --model resnet-50"},
    {command_params, "params --model gpt2-124m"},
    {command_topo, "topo --node dgx-a100 --json"},
    {command_collective, "collective all_to_all --node dgx-a100 --nodes 2 --fabric ib-hdr200 --sizes 1M"},
    {command_collective,
     "collective all_reduce --node dgx-a100 --nodes 2 --fabric ib-hdr200 --sizes 1M --fidelity flow"},
    {command_goodput, "goodput --gpus 64 --days 5 --model gpt3-13b --runs 10"},
    {command_cost, "cost --node dgx-h100 --nodes 4 --own"},
    {command_cost, "cost --node dgx-h100 --nodes 4 --price 2"},
    {command_power, "power --node dgx-h100 --nodes 4"},
    {command_queue, "queue --gpus 64 --load 0.8 --jobs 100 --seeds 1"},
    {command_plan, "plan --model gpt2-124m --tokens 1B --global-batch 64 --node dgx-a100 --gpus 8"},
    {command_packets, "packets incast --hosts 4 --size 20kB"},
};

#define MOST_WORDS 64

static int split(char *line, char **words) {
    int count = 0;
    for (char *word = strtok(line, " "); word && count < MOST_WORDS - 3; word = strtok(NULL, " "))
        words[count++] = word;
    return count;
}

// "  --tp N    tensor parallelism", "  -m, --model NAME"; flags without a value and files are not of interest.
static bool read_flag(const char *line, char *flag, size_t room) {
    const char *at = strstr(line, "--");
    if (!at || (at != line + 2 && at != line + 6) || strncmp(line, "  ", 2) != 0) return false;
    size_t length = strcspn(at, " \n");
    if (at[length] != ' ' || at[length + 1] == ' ' || strstr(at, "FILE") || length >= room) return false;
    snprintf(flag, room, "%.*s", (int)length, at);
    return true;
}

static void try_line(Tried *tried, Command *command, const char *line) {
    static const char *const values[] = {"0",
                                         "1",
                                         "2",
                                         "3",
                                         "7",
                                         "16",
                                         "1000",
                                         "1e6",
                                         "100000000",
                                         "1e9",
                                         "1e12",
                                         "1e15",
                                         "1e18",
                                         "1e300",
                                         "1e-3",
                                         "1e-9",
                                         "1e-300",
                                         "0.5",
                                         "-1",
                                         "nan",
                                         "inf",
                                         "1e400",
                                         "",
                                         "nonsense",
                                         "80%",
                                         "8GB",
                                         "1PB/s",
                                         "1s",
                                         "100y",
                                         "1ps",
                                         "1,2",
                                         "4:8",
                                         "1:2:3",
                                         "%s%n",
                                         "700W",
                                         "1MW",
                                         "2026-1-1",
                                         "fp32",
                                         "H100",
                                         "dgx-h100",
                                         "best",
                                         "2147483648",
                                         "9007199254740993",
                                         "9223372036854775808",
                                         "exponential:1h",
                                         "fixed:1e300s",
                                         "1:1e300"};
    static char help[] = "--help", listed[PRINTED];
    char copy[512], *words[MOST_WORDS], flag[64], value[32];
    snprintf(copy, sizeof copy, "%s", line);
    int count = split(copy, words);
    int code = run_words(command, count, words, tried->printed, PRINTED);
    if (code != 0) test_fail(__FILE__, __LINE__, "%s ends with %d: %.300s", line, code, tried->printed);
    EXPECT_INT(run_words(command, 2, (char *[]){words[0], help}, listed, PRINTED), 0);
    for (const char *at = listed; at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL) {
        if (!read_flag(at, flag, sizeof flag)) continue;
        for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
            if (tried->counted++ % tried->every != 0) continue;
            char said[160];
            snprintf(said, sizeof said, "%s \"%s\"", flag, values[v]);
            words[count] = flag;
            snprintf(value, sizeof value, "%s", values[v]);
            words[count + 1] = value;
            judge(tried, line, said, run_words(command, count + 2, words, tried->printed, PRINTED));
            tried->values++;
        }
    }
}

LONG_TEST(9, every_flag_of_a_command_ends_well_whatever_it_is_given) {
    static Tried tried;
    tried.every = one_in(HAS_ADDRESS_SANITIZER ? 53 : 17);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) try_line(&tried, lines[i].command, lines[i].line);
    EXPECT(tried.counted >= 2618);
    printf("%lld of %lld values tried\n", (long long)tried.values, (long long)tried.counted);
}

// ---- What is refused, in the words that it was refused in. A line for each flag; what is taken is left out.

static void keep_refusals(Command *command, const char *line, FILE *out) {
    static const char *const values[] = {"nonsense", "-1", "8,8", "aws,aws", "spot,spot", "dgx-a100,dgx-a100", "1:0"};
    static char help[] = "--help", listed[PRINTED], printed[PRINTED];
    char copy[512], *words[MOST_WORDS], flag[64], value[32];
    snprintf(copy, sizeof copy, "%s", line);
    int count = split(copy, words);
    run_words(command, 2, (char *[]){words[0], help}, listed, PRINTED);
    for (const char *at = listed; at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL) {
        if (!read_flag(at, flag, sizeof flag)) continue;
        uint64_t digest = DIGEST_START;
        int refused = 0;
        for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
            words[count] = flag;
            snprintf(value, sizeof value, "%s", values[v]);
            words[count + 1] = value;
            int code = run_words(command, count + 2, words, printed, PRINTED);
            if (code != 2 && code != 4) continue;
            digest = digest_bytes(digest, printed, strlen(printed));
            refused++;
        }
        fprintf(out, "%s %s: %d, %016llx\n", words[0], flag, refused, (unsigned long long)digest);
    }
}

LONG_TEST(4, flags_are_refused_in_the_words_that_they_were) {
    if (HAS_ADDRESS_SANITIZER) return;
    GoldenText *text = golden_open();
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) keep_refusals(lines[i].command, lines[i].line, text->out);
    golden_compare("refusals.txt", text);
}
