// lockstep plan: how many GPUs, which node and network, which layout, what cost, by when.
#include "scenarios/command_plan.h"

#include <math.h>
#include <string.h>

#include "models/workload/anchor.h"
#include "models/workload/job_options.h"
#include "models/workload/life.h"
#include "results/results.h"
#include "scenarios/plan.h"
#include "sim/json.h"
#include "sim/list.h"
#include "sim/options.h"

enum { DONE = 0, FAILED = 1, BAD_USAGE = 2, ANSWER_IS_NO = 3, BAD_INPUT = 4 };

#define MOST_GPUS 1000000
#define ROWS_SHOWN 12

static const char *const color_modes[] = {"auto", "always", "never"};
static const Where command_line = {NULL, 0};

// clang-format off
static const OptionSpec plan_options[] = {
    {"node", OPTION_TEXT, "A,B", .help = "types of node to consider (lockstep hw list node)"},
    {"fabric", OPTION_TEXT, "A,B", .help = "networks between nodes to consider (lockstep hw list fabric)"},
    {"gpus", OPTION_TEXT, "N,M or LO:HI", .help = "numbers of GPUs to consider; LO:HI doubles from LO"},
    {"tokens", OPTION_COUNT, "N", .help = "tokens to train on: 2T"},
    {"samples", OPTION_COUNT, "N", .help = "samples of the data set, instead of tokens"},
    {"epochs", OPTION_COUNT, "N", .help = "passes over the samples"},
    {"by", OPTION_QUANTITY, "TIME", .help = "deadline: 30d", .quantity = QUANTITY_TIME},
    {"budget", OPTION_COUNT, "MONEY", .help = "most that the run may cost: 2M"},
    {"price", OPTION_QUANTITY, "MONEY", .help = "of one GPU for one hour; when left out: the catalogue's", .quantity = QUANTITY_NUMBER},
    {"currency", OPTION_TEXT, "NAME", .help = "of price and budget (default USD)"},
    {"objective", OPTION_CHOICE, .help = "what to keep low (default cost)", .choices = plan_objective_names, .choice_count = PLAN_OBJECTIVE_COUNT},
    {"faults", OPTION_TEXT, "NAME", .help = "count failures in, at these rates (lockstep hw list faults)"},
    {"node-mtbf", OPTION_QUANTITY, "TIME", .help = "count failures in, at your own mean time between them", .quantity = QUANTITY_TIME},
    {"spares", OPTION_COUNT, "N", .help = "with failures: nodes that stand by (default 5 %)"},
    {"checkpoint-every", OPTION_QUANTITY, "TIME", .help = "count checkpoints in (default with failures: as Daly has it)", .quantity = QUANTITY_TIME},
    {"checkpoint", OPTION_CHOICE, .help = "how they are written (default sync)", .choices = checkpoint_mode_names, .choice_count = CHECKPOINT_MODE_COUNT},
    {"storage", OPTION_TEXT, "NAME", .help = "where they go (default superpod-storage)"},
    {"exhaustive", OPTION_FLAG, .help = "simulate every layout that fits, to prove that the search lost nothing"},
    ANCHOR_OPTION,
    {"json", OPTION_FLAG, .help = "the answer as JSON"},
    {"plain", OPTION_FLAG, .help = "tables with tabs, for other programs"},
    {"color", OPTION_CHOICE, .help = "colours on the screen", .choices = color_modes, .choice_count = 3},
};
// clang-format on
enum { PLAN_OPTIONS = sizeof plan_options / sizeof *plan_options };

typedef struct TextList {
    const char **items;
    int count, room;
} TextList;

static TextList split_commas(Arena *arena, const char *text) {
    TextList list = {0};
    while (text && *text) {
        size_t length = strcspn(text, ",");
        if (length) LIST_PUSH(arena, &list, arena_printf(arena, "%.*s", (int)length, text));
        text += length + (text[length] == ',');
    }
    return list;
}

static void read_nodes(Arena *arena, const Options *options, PlanRequest *request, Problems *problems) {
    TextList names = split_commas(arena, option_text(options, "node", ""));
    const NodeType **nodes = ARENA_ARRAY(arena, const NodeType *, names.count);
    for (int i = 0; i < names.count; i++) {
        nodes[request->node_count] = find_node(arena, request->catalogue, names.items[i], command_line, problems);
        if (nodes[request->node_count]) request->node_count++;
    }
    request->nodes = nodes;
}

static void read_links(Arena *arena, const Options *options, PlanRequest *request, Problems *problems) {
    TextList names = split_commas(arena, option_text(options, "fabric", ""));
    const FabricLink **links = ARENA_ARRAY(arena, const FabricLink *, names.count);
    for (int i = 0; i < names.count; i++) {
        links[request->link_count] = find_link(arena, request->catalogue, names.items[i], command_line, problems);
        if (links[request->link_count]) request->link_count++;
    }
    request->links = links;
}

static bool read_count(const char *text, const char *whole, double *count, Problems *problems) {
    const char *why;
    if (quantity_parse(text, QUANTITY_COUNT, count, &why) && *count >= 1 && *count <= MOST_GPUS) return true;
    problem_add(problems, command_line, "--gpus %s is no number of GPUs from 1 to 1,000,000", whole);
    problem_hint(problems, "for example --gpus 64,128 or --gpus 64:1024");
    return false;
}

static void read_gpus(Arena *arena, const Options *options, PlanRequest *request, Problems *problems) {
    const char *text = option_text(options, "gpus", ""), *colon = strchr(text, ':');
    struct {
        int *items;
        int count, room;
    } list = {0};
    double low, high;
    if (colon) {
        const char *from = arena_printf(arena, "%.*s", (int)(colon - text), text);
        if (!read_count(from, text, &low, problems) || !read_count(colon + 1, text, &high, problems)) return;
        for (double gpus = low; gpus <= high; gpus *= 2) LIST_PUSH(arena, &list, (int)gpus);
        if (low > high) {
            problem_add(problems, command_line, "--gpus %s goes down", text);
            problem_hint(problems, "the smaller number comes first");
        }
    } else {
        TextList parts = split_commas(arena, text);
        for (int i = 0; i < parts.count; i++)
            if (read_count(parts.items[i], text, &low, problems)) LIST_PUSH(arena, &list, (int)low);
    }
    request->gpus = list.items;
    request->gpus_count = list.count;
}

static void require(const Options *options, const char *name, const char *example, Problems *problems) {
    if (option_given(options, name)) return;
    problem_add(problems, command_line, "--%s is missing", name);
    problem_hint(problems, "for example --%s %s", name, example);
}

// What the user did not say is searched: 0 in the request.
static void read_job(Arena *arena, const Options *options, PlanRequest *request, Problems *problems) {
    const Model *model = model_from_options(arena, options, problems);
    if (!model || request->node_count == 0) return;
    const Gpu *gpu = node_gpu(request->catalogue, request->nodes[0], 0);
    request->training = training_from_options(arena, options, model, gpu, problems);
    TrainingSpec *training = &request->training;
    if (!option_given(options, "tp")) training->layout.tp = 0;
    if (!option_given(options, "pp")) training->layout.pp = 0;
    if (!option_given(options, "vpp")) training->layout.vpp = 0;
    if (!option_given(options, "dp")) training->layout.dp = 0;
    if (!option_given(options, "micro-batch")) training->micro_batch = 0;
    request->recompute_fixed = option_given(options, "recompute") || option_flag(options, "recompute-activations");
    request->zero_fixed = option_given(options, "zero") || option_flag(options, "use-distributed-optimizer");
    request->sequence_parallel_fixed = option_flag(options, "sequence-parallel");
    training->anchors = anchors_from_options(arena, options, request->catalogue, problems);
    training->tokens = (double)option_count(options, "tokens", 0);
    training->samples = (double)option_count(options, "samples", 0);
    training->epochs = (double)option_count(options, "epochs", 0);
    if (training->tokens <= 0 && training->samples <= 0) {
        problem_add(problems, command_line, "how long is the run? neither --tokens nor --samples is given");
        problem_hint(problems, "for example --tokens 2T, or --samples 1.28M --epochs 90");
    }
    if (training->tokens > 0 && model->kind != MODEL_TRANSFORMER) {
        problem_add(problems, command_line, "%s reads no tokens", model->name);
        problem_hint(problems, "say --samples and --epochs");
    }
}

static bool too_short(const Options *options, const char *name, Problems *problems) {
    if (!option_given(options, name) || option_quantity(options, name, 1) >= 1) return false;
    problem_add(problems, command_line, "--%s is below a second", name);
    problem_hint(problems, "for example --%s 300d", name);
    return true;
}

static void read_faults(Arena *arena, const Options *options, PlanRequest *request, Problems *problems) {
    bool has_mtbf = option_given(options, "node-mtbf"), has_rates = option_given(options, "faults");
    if (option_given(options, "spares") && !has_mtbf && !has_rates) {
        problem_add(problems, command_line, "--spares is of no use while nothing fails");
        problem_hint(problems, "add --faults " FAULTS_USUAL ", or --node-mtbf 300d");
    }
    if (too_short(options, "node-mtbf", problems) || (!has_mtbf && !has_rates)) return;
    FaultsSpec *faults = ARENA_NEW(arena, FaultsSpec);
    int64_t spares = option_count(options, "spares", 0);
    *faults = (FaultsSpec){.node_mtbf_s = option_quantity(options, "node-mtbf", 0),
                           .spares = spares < MOST_GPUS ? (int)spares : MOST_GPUS,
                           .spares_given = option_given(options, "spares")};
    faults->rates =
        find_faults(arena, request->catalogue, option_text(options, "faults", FAULTS_USUAL), command_line, problems);
    request->faults = faults;
}

static void read_checkpoint(Arena *arena, const Options *options, PlanRequest *request, Problems *problems) {
    bool said = option_given(options, "checkpoint-every") || option_given(options, "checkpoint") ||
                option_given(options, "storage");
    if (!said || too_short(options, "checkpoint-every", problems)) return;
    CheckpointSpec *checkpoint = ARENA_NEW(arena, CheckpointSpec);
    checkpoint->every_s = option_quantity(options, "checkpoint-every", 0);
    checkpoint->mode = (CheckpointMode)option_choice(options, "checkpoint", CHECKPOINT_SYNC);
    const char *storage = option_text(options, "storage", NULL);
    if (storage) checkpoint->storage = find_storage(arena, request->catalogue, storage, command_line, problems);
    request->training.checkpoint = checkpoint;
}

static void read_request(Arena *arena, const Options *options, PlanRequest *request, Problems *problems) {
    read_nodes(arena, options, request, problems);
    read_links(arena, options, request, problems);
    read_gpus(arena, options, request, problems);
    read_job(arena, options, request, problems);
    read_faults(arena, options, request, problems);
    read_checkpoint(arena, options, request, problems);
    request->price_per_gpu_hour = option_quantity(options, "price", -1);
    request->currency = option_text(options, "currency", NULL);
    request->deadline_s = option_quantity(options, "by", 0);
    request->budget = (double)option_count(options, "budget", 0);
    request->objective = (PlanObjective)option_choice(options, "objective", PLAN_COST);
    request->exhaustive = option_flag(options, "exhaustive") || anchors_speed_up(request->training.anchors);
    if (request->price_per_gpu_hour != -1 && !(request->price_per_gpu_hour > 0)) {
        problem_add(problems, command_line, "--price must be above 0");
        problem_hint(problems, "for example --price 2.49");
    }
}

// ---- The screen.

static const char *human(Arena *arena, double value, QuantityKind kind) {
    return quantity_format(value, kind, arena_alloc(arena, 64), 64);
}

static const char *money(Arena *arena, const RecordPoint *point) {
    if (isnan(point->cost_per_run)) return "";
    return arena_printf(arena, "%s %s", human(arena, point->cost_per_run, QUANTITY_COUNT), point->currency);
}

// Half of the 90 % range, in days.
static double days_spread(const RecordPoint *point) {
    if (isfinite(point->days_p5)) return (point->days_p95 - point->days_p5) / 2;
    return point->days * (point->step_p95_s - point->step_p5_s) / (2 * point->step_p50_s);
}

static const char *verdict(Arena *arena, const PlanRequest *request, const PlanRow *row) {
    if (!row->point.ran) return row->point.why_not;
    const char *late =
        row->late ? arena_printf(arena, "misses %s", human(arena, request->deadline_s, QUANTITY_TIME)) : "";
    return arena_printf(arena, "%s%s%s", late, row->late && row->over_budget ? ", " : "",
                        row->over_budget ? "over budget" : "");
}

// "TP 2 PP 8 VP 5 DP 64 MBS 1, full recompute": what is 1 goes without saying, but for the micro-batch.
static const char *layout_text(Arena *arena, const PlanRow *row) {
    const RecordPoint *point = &row->point;
    const char *text = "";
    const struct {
        const char *name;
        int degree;
    } parts[] = {{"TP", point->tp}, {"PP", point->pp}, {"VP", point->vpp}, {"DP", point->dp}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].degree > 1) text = arena_printf(arena, "%s%s %d ", text, parts[i].name, parts[i].degree);
    text = arena_printf(arena, "%sMBS %g", text, point->micro_batch);
    if (row->training.recompute == RECOMPUTE_NONE) return text;
    return arena_printf(arena, "%s, %s recompute", text, recompute_name(row->training.recompute));
}

static bool any_cost(const PlanResult *result) {
    for (int i = 0; i < result->row_count; i++)
        if (result->rows[i].point.ran && !isnan(result->rows[i].point.cost_per_run)) return true;
    return false;
}

static void print_rows(Arena *arena, const PlanRequest *request, const PlanResult *result, const Style *style) {
    Table *table = table_create(arena);
    bool cost = any_cost(result);
    table_column(table, "", false);
    table_column(table, "GPUs", true);
    table_column(table, "node", false);
    if (request->link_count > 0) table_column(table, "fabric", false);
    table_column(table, "layout", false);
    table_column(table, "MFU", true);
    table_column(table, "GiB/GPU", true);
    table_column(table, "days", true);
    if (cost) table_column(table, "cost", true);
    table_column(table, "", false);
    for (int i = 0; i < result->row_count && i < ROWS_SHOWN; i++) {
        const PlanRow *row = &result->rows[i];
        const RecordPoint *point = &row->point;
        table_cell(table, "%s", i == result->chosen ? (style->unicode ? "✔" : "*") : "");
        table_cell(table, "%d", row->gpus);
        table_cell(table, "%s", row->node->name);
        if (request->link_count > 0) table_cell(table, "%s", row->link->name);
        if (point->ran) {
            table_cell(table, "%s", layout_text(arena, row));
            table_cell(table, "%.1f %%", 100 * point->mfu);
            table_cell(table, "%.0f/%.0f", point->memory_peak_bytes / 1073741824.0,
                       point->memory_capacity_bytes / 1073741824.0);
            table_cell(table, "%.3g ± %.2g", point->days, days_spread(point));
            if (cost) table_cell(table, "%s", money(arena, point));
        } else {
            for (int c = 0; c < 4 + cost; c++) table_cell(table, "%s", "");
        }
        table_cell(table, "%s", verdict(arena, request, row));
        table_end_row(table);
    }
    table_print(table, stdout, style);
    if (result->row_count > ROWS_SHOWN) printf("and %d more\n", result->row_count - ROWS_SHOWN);
}

static void print_where_time_goes(const RecordPoint *point) {
    printf("Where time goes ");
    bool first = true;
    for (int i = 0; i < point->exposed_count; i++) {
        double share = point->exposed[i].value / point->step_p50_s;
        if (share < 0.01) continue;
        printf("%s%.0f %% %s", first ? " " : " · ", 100 * share, point->exposed[i].title);
        first = false;
    }
    printf("\n");
}

static void print_chosen(Arena *arena, const PlanRequest *request, const PlanResult *result) {
    if (result->chosen < 0) {
        printf("No plan keeps date and budget; the nearest misses come first.\n");
        return;
    }
    const PlanRow *row = &result->rows[result->chosen];
    static const char *const words[] = {"cheapest", "quickest", "least energy"};
    printf("Chosen  %s that keeps date and budget", words[request->objective]);
    if (request->deadline_s > 0)
        printf(" (%s in hand)", human(arena, request->deadline_s - row->point.days * 86400, QUANTITY_TIME));
    printf(": %.0f kWh at the wall\n", row->point.energy_kwh);
    print_where_time_goes(&row->point);
    bool lived = row->point.goodput > 0;
    if (lived)
        printf("Goodput %.1f %% of the time is training; failures and checkpoints are counted in days and cost.\n",
               100 * row->point.goodput);
    printf("! Kernel and fabric constants are the catalogue's, not measured on your machines: ± %.0f %% on days.%s\n",
           100 * days_spread(&row->point) / row->point.days,
           lived ? "" : " Failures and\n  checkpoints are not counted: --faults " FAULTS_USUAL " counts them.");
}

static void print_plan(Arena *arena, const PlanRequest *request, const PlanResult *result, const Style *style) {
    const TrainingSpec *training = &request->training;
    double samples = training->tokens > 0 ? training->tokens / training->seq_len
                                          : training->samples * (training->epochs > 0 ? training->epochs : 1);
    double flops = model_flops_per_sample(training->model, (int)training->seq_len) * samples;
    printf("Model   %s   %s parameters   %.3g FLOP in all   global batch %g\n", training->model->name,
           human(arena, model_parameters(training->model), QUANTITY_COUNT), flops, training->global_batch);
    printf("Search  %d layouts, %d do not fit in memory, %d simulated%s\n\n", result->candidates, result->too_large,
           result->simulated,
           request->exhaustive ? " (every one that fits)" : "; the bound of the others is no better");
    print_rows(arena, request, result, style);
    print_chosen(arena, request, result);
}

// ---- JSON.

static void number_member(JsonWriter *json, const char *key, double value) {
    json_key(json, key);
    json_write_number(json, value);
}

static void text_member(JsonWriter *json, const char *key, const char *value) {
    json_key(json, key);
    json_write_text(json, value);
}

static void integer_member(JsonWriter *json, const char *key, int64_t value) {
    json_key(json, key);
    json_write_integer(json, value);
}

static void row_json(JsonWriter *json, const PlanRequest *request, const PlanRow *row, Arena *arena) {
    const RecordPoint *point = &row->point;
    json_begin_object(json);
    integer_member(json, "gpus", row->gpus);
    text_member(json, "node", row->node->name);
    text_member(json, "fabric", row->link ? row->link->name : NULL);
    json_key(json, "ran");
    json_write_bool(json, point->ran);
    if (*verdict(arena, request, row)) text_member(json, "misses", verdict(arena, request, row));
    if (point->ran) {
        json_key(json, "layout");
        json_begin_object(json);
        integer_member(json, "tp", point->tp);
        integer_member(json, "pp", point->pp);
        integer_member(json, "vpp", point->vpp);
        integer_member(json, "dp", point->dp);
        integer_member(json, "zero", point->zero);
        number_member(json, "micro_batch", point->micro_batch);
        number_member(json, "global_batch", point->global_batch);
        text_member(json, "recompute", recompute_name(row->training.recompute));
        json_end_object(json);
        json_key(json, "step_time_s");
        json_begin_object(json);
        number_member(json, "p5", point->step_p5_s);
        number_member(json, "p50", point->step_p50_s);
        number_member(json, "p95", point->step_p95_s);
        json_end_object(json);
        number_member(json, "mfu", point->mfu);
        number_member(json, "samples_per_s", point->samples_per_s);
        number_member(json, "days", point->days);
        if (point->goodput > 0) {
            number_member(json, "goodput", point->goodput);
            number_member(json, "days_p5", point->days_p5);
            number_member(json, "days_p95", point->days_p95);
        }
        number_member(json, "energy_kwh", point->energy_kwh);
        json_key(json, "cost");
        json_begin_object(json);
        number_member(json, "amount", point->cost_per_run);
        text_member(json, "currency", point->currency);
        json_end_object(json);
        json_key(json, "memory_bytes");
        json_begin_object(json);
        number_member(json, "peak", point->memory_peak_bytes);
        number_member(json, "capacity", point->memory_capacity_bytes);
        json_end_object(json);
    }
    json_end_object(json);
}

static void write_json(Arena *arena, const PlanRequest *request, const PlanResult *result) {
    JsonWriter json = json_writer(stdout, 2);
    json_begin_object(&json);
    integer_member(&json, "format_version", 1);
    text_member(&json, "model", request->training.model->name);
    text_member(&json, "objective", plan_objective_names[request->objective]);
    integer_member(&json, "candidates", result->candidates);
    integer_member(&json, "too_large", result->too_large);
    integer_member(&json, "simulated", result->simulated);
    json_key(&json, "chosen");
    if (result->chosen >= 0)
        json_write_integer(&json, result->chosen);
    else
        json_write_text(&json, NULL);
    json_key(&json, "plans");
    json_begin_list(&json);
    for (int i = 0; i < result->row_count; i++) row_json(&json, request, &result->rows[i], arena);
    json_end_list(&json);
    json_end_object(&json);
    printf("\n");
}

// ---- The command.

static int fail(const Problems *problems, int status) {
    problems_print(problems, stderr);
    return status;
}

static int run_plan(Arena *arena, int argc, char **argv) {
    Problems *problems = problems_create(arena);
    int count = 0;
    const OptionSpec *specs =
        options_join(arena, model_options, model_option_count, plan_options, PLAN_OPTIONS, &count);
    specs = options_join(arena, specs, count, job_options, job_option_count, &count);
    Options *options = options_parse(arena, specs, count, argc, argv, problems);
    if (option_help(options)) {
        options_print_help(
            specs, count, "lockstep plan --model NAME --node A,B --gpus N,M --tokens N --global-batch N [options]",
            "Finds the fastest layout on every cluster that comes into question and ranks the clusters.\n\n"
            "  lockstep plan --model llama-2-70b --tokens 2T --global-batch 1024 --node dgx-h100 --fabric ib-ndr400 "
            "\\\n"
            "                --gpus 512,1024,2048 --by 30d --budget 2M --price 2.49\n\n"
            "What the options below fix is not searched. Exit code 3: no plan keeps date and budget.",
            stdout);
        return DONE;
    }
    options_refuse_positional(options, 0, problems);
    require(options, "model", "llama-2-70b", problems);
    require(options, "node", "dgx-h100,dgx-a100", problems);
    require(options, "gpus", "64:1024", problems);
    require(options, "global-batch", "1024", problems);
    if (problem_count(problems)) return fail(problems, BAD_USAGE);
    PlanRequest request = {.catalogue = catalogue_with_profile(arena, option_text(options, "profile", NULL), problems)};
    if (!request.catalogue) return fail(problems, BAD_INPUT);
    read_request(arena, options, &request, problems);
    if (problem_count(problems)) return fail(problems, BAD_INPUT);

    PlanResult result = plan_search(arena, &request);
    Style style = style_for(stdout, color_modes[option_choice(options, "color", 0)], option_flag(options, "plain"));
    if (style.width == 0) style.width = 120; // its table is wide; a terminal that is narrower folds it
    if (option_flag(options, "json"))
        write_json(arena, &request, &result);
    else
        print_plan(arena, &request, &result, &style);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "error: standard output could not be written\n");
        return FAILED;
    }
    return result.chosen >= 0 ? DONE : ANSWER_IS_NO;
}

int command_plan(int argc, char **argv) {
    Arena *arena = arena_open();
    int status = run_plan(arena, argc, argv);
    arena_close(arena);
    return status;
}
