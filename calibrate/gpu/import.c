// lockstep calibrate import: importers of nccl-tests, iperf3, fio and GEMM tables, small files that are read whole, and
// the table of formats.

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "calibrate/collectives/validation.h"
#include "calibrate/gpu/command_calibrate.h"
#include "results/answer/frame.h"
#include "sim/data/json.h"
#include "sim/system/file.h"

// ---- Importers of nccl-tests, iperf3, fio and GEMM tables: small files, read whole.

#define LARGEST_FILE_BYTES ((size_t)64 << 20)

// ---- Rows.

static void text(JsonWriter *json, const char *key, const char *value) {
    json_key(json, key);
    json_write_text(json, value);
}

void import_header(Import *import, const char *from) {
    JsonWriter json = json_writer(import->out, 0);
    json_begin_object(&json);
    text(&json, "record", "header");
    text(&json, "format", "lockstep-bench");
    json_number_member(&json, "format_version", 1);
    text(&json, "imported_from", from);
    if (import->gpu) text(&json, "gpu", import->gpu);
    json_end_object(&json);
    fputc('\n', import->out);
}

static JsonWriter begin_row(Import *import, const char *section, const char *operation) {
    JsonWriter json = json_writer(import->out, 0);
    json_begin_object(&json);
    text(&json, "record", "case");
    text(&json, "section", section);
    text(&json, "operation", operation);
    text(&json, "status", "measured");
    import->rows++;
    return json;
}

static void end_row(Import *import, JsonWriter *json) {
    json_end_object(json);
    fputc('\n', import->out);
}

// ---- nccl-tests: "size count type redop root time algbw busbw #wrong time algbw busbw #wrong", where some operations
// lack redop or root. Times are in us, so the four columns from the end of each half are what stays in its place.

static const char *collective_from(const char *all) {
    static const char *const words[][2] = {{"all_reduce", "all_reduce"},         {"allreduce", "all_reduce"},
                                           {"all_gather", "all_gather"},         {"allgather", "all_gather"},
                                           {"reduce_scatter", "reduce_scatter"}, {"alltoall", "alltoall"},
                                           {"broadcast", "broadcast"},           {"sendrecv", "sendrecv"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(all, words[i][0])) return words[i][1];
    return NULL;
}

static int split(char *line, char **cells, int most) {
    int count = 0;
    for (char *save, *cell = strtok_r(line, " \t\r", &save); cell && count < most;
         cell = strtok_r(NULL, " \t\r", &save))
        cells[count++] = cell;
    return count;
}

static bool is_number(const char *cell, double *value) {
    char *end;
    *value = strtod(cell, &end);
    return end != cell && !*end && isfinite(*value);
}

static void nccl_half(Import *import, const char *operation, const char *type, int ranks, double bytes, double us,
                      const char *wrong, bool in_place) {
    double count = 0;
    if (!(us > 0)) return;
    JsonWriter json = begin_row(import, "nccl", operation);
    text(&json, "type", type);
    text(&json, "variant", in_place ? "nccl in place" : "nccl");
    json_number_member(&json, "bytes", bytes);
    if (ranks > 0) json_number_member(&json, "ranks", ranks);
    json_number_member(&json, "seconds", us * 1e-6);
    if (is_number(wrong, &count)) json_number_member(&json, "error", count);
    end_row(import, &json);
}

static void nccl_line(Import *import, char *line, const char *operation, int ranks) {
    char *cells[20];
    double bytes, us, bandwidth;
    int count = split(line, cells, 20);
    if (count < 8 || !is_number(cells[0], &bytes) || bytes <= 0 || !is_number(cells[1], &us)) return;
    bool has_in_place = count >= 11 && is_number(cells[count - 8], &us) && is_number(cells[count - 6], &bandwidth);
    int first = count - (has_in_place ? 8 : 4);
    if (!is_number(cells[first], &us) || !is_number(cells[first + 2], &bandwidth)) return;
    nccl_half(import, operation, cells[2], ranks, bytes, us, cells[first + 3], false);
    if (!has_in_place || !is_number(cells[count - 4], &us)) return;
    nccl_half(import, operation, cells[2], ranks, bytes, us, cells[count - 1], true);
}

// Its JSON, which the reader of logs for validate collectives knows.
static bool nccl_json(Import *import, const char *all, size_t bytes, const char *operation) {
    const NcclLog *log = nccl_log_read_text(import->arena, import->path, all, bytes, import->problems);
    if (!log) return false;
    import_header(import, "nccl-tests");
    for (int i = 0; i < log->row_count; i++)
        nccl_half(import, operation, "", 0, log->rows[i].bytes, 1e6 * log->rows[i].seconds, "", false);
    if (import->rows == 0) problem_add(import->problems, (Where){import->path, 0}, "no result is in this");
    return import->rows > 0;
}

// Reads the machine from its list of ranks.
static void take_machine(Import *import, const char *all, int *ranks) {
    NcclFacts facts = {.arena = import->arena};
    char *copy = arena_copy_text(import->arena, all);
    for (char *save, *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
        nccl_facts_read(&facts, line);
    *ranks = facts.ranks;
    if (!import->gpu) import->gpu = facts.gpu;
}

bool import_nccl_tests(Import *import) {
    size_t bytes;
    int ranks = 0;
    char *all = file_read(import->arena, import->path, LARGEST_FILE_BYTES, &bytes, import->problems);
    if (!all) return false;
    const char *operation = import->operation ? import->operation : collective_from(all);
    if (!operation) operation = collective_from(import->path);
    if (!operation) {
        problem_add(import->problems, (Where){import->path, 0},
                    "neither the text nor the file's name says which operation");
        return problem_hint(import->problems, "--operation all_reduce says it");
    }
    if (all[strspn(all, " \t\r\n")] == '{') return nccl_json(import, all, bytes, operation);
    take_machine(import, all, &ranks);
    import_header(import, "nccl-tests");
    for (char *save, *line = strtok_r(all, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        if (!strchr(line, '#')) nccl_line(import, line, operation, ranks);
    }
    if (import->rows == 0)
        problem_add(import->problems, (Where){import->path, 0}, "no line of this looks like a result of nccl-tests");
    return import->rows > 0;
}

// ---- iperf3 and fio, both JSON.

static double number_at(const Json *object, const char *key) {
    const Json *value = object ? json_get(object, key) : NULL;
    return value && value->kind == JSON_NUMBER ? value->number : 0;
}

bool import_iperf3(Import *import) {
    const Json *root = json_read_loose(import->arena, NULL, import->path, (Where){0}, import->problems);
    if (!root) return false;
    const Json *end = json_get(root, "end");
    const Json *received = end ? json_get(end, "sum_received") : NULL;
    double bits = number_at(received, "bits_per_second"), seconds = number_at(received, "seconds");
    if (!(bits > 0))
        return problem_add(import->problems, root->where,
                           "no end.sum_received.bits_per_second: this is no finished run of iperf3 -J");
    import_header(import, "iperf3");
    JsonWriter json = begin_row(import, "network", "tcp_stream");
    json_number_member(&json, "gbs", bits / 8e9);
    json_number_member(&json, "moved_bytes", number_at(received, "bytes"));
    json_number_member(&json, "seconds", seconds);
    const Json *sent = json_get(end, "sum_sent");
    json_number_member(&json, "retransmits", number_at(sent, "retransmits"));
    end_row(import, &json);
    return true;
}

static void fio_direction(Import *import, const Json *job, const char *direction) {
    const Json *of = json_get(job, direction), *name = json_get(job, "jobname");
    double bandwidth = number_at(of, "bw_bytes"), moved = number_at(of, "io_bytes");
    if (!(bandwidth > 0)) return;
    const Json *latency = json_get(of, "lat_ns");
    JsonWriter json = begin_row(import, "storage", direction);
    if (name && name->kind == JSON_TEXT) text(&json, "variant", name->text);
    json_number_member(&json, "gbs", bandwidth / 1e9);
    json_number_member(&json, "moved_bytes", moved);
    json_number_member(&json, "seconds", moved / bandwidth);
    json_number_member(&json, "iops", number_at(of, "iops"));
    json_number_member(&json, "latency_seconds", number_at(latency, "mean") * 1e-9);
    end_row(import, &json);
}

bool import_fio(Import *import) {
    const Json *root = json_read_loose(import->arena, NULL, import->path, (Where){0}, import->problems);
    if (!root) return false;
    const Json *jobs = json_get(root, "jobs");
    import_header(import, "fio");
    for (int i = 0; jobs && jobs->kind == JSON_LIST && i < jobs->count; i++) {
        fio_direction(import, &jobs->items[i], "read");
        fio_direction(import, &jobs->items[i], "write");
    }
    if (import->rows == 0)
        problem_add(import->problems, root->where, "no job in this moved a byte: is it fio --output-format=json?");
    return import->rows > 0;
}

// ---- A table of GEMMs of one GPU.

static bool gemm_row(Import *import, const Csv *csv, int row, const int *columns) {
    Precision precision;
    const char *gpu = csv_cell(csv, row, columns[0]), *type = csv_cell(csv, row, columns[1]);
    double value[5];
    if (strcasecmp(gpu, import->gpu) != 0) return false;
    if (strcmp(type, "fp32_simt") == 0) type = "fp32";
    if (!precision_from_name(type, &precision))
        return problem_add(import->problems, csv_where(csv, row), "\"%s\" is no data type", type);
    for (int i = 0; i < 5; i++) value[i] = csv_positive(csv, row, columns[2 + i], import->problems);
    if (problem_count(import->problems) > 0) return false;
    JsonWriter json = begin_row(import, "gemm", "gemm");
    text(&json, "type", precision_name(precision));
    json_number_member(&json, "batch", value[0]);
    json_number_member(&json, "m", value[1]);
    bool is_swapped = gemm_row_has_depth_as_n(csv, row);
    json_number_member(&json, "n", value[is_swapped ? 3 : 2]);
    json_number_member(&json, "k", value[is_swapped ? 2 : 3]);
    json_number_member(&json, "seconds", value[4] / 1e3);
    end_row(import, &json);
    return true;
}

bool import_gemm_csv(Import *import) {
    static const char *const names[] = {"gpu", "dtype", "batch", "M", "N", "K", "latency_ms"};
    int columns[7], before = problems_added(import->problems);
    const Csv *csv = csv_read_file(import->arena, import->path, import->problems);
    if (!csv) return false;
    for (int i = 0; i < 7; i++) columns[i] = csv_column(csv, names[i], import->problems);
    if (problems_added(import->problems) > before) return false;
    if (!import->gpu && csv->row_count > 0) import->gpu = csv_cell(csv, 0, columns[0]);
    import_header(import, "GEMM table");
    for (int row = 0; row < csv->row_count; row++) gemm_row(import, csv, row, columns);
    if (import->rows == 0 && problems_added(import->problems) == before)
        problem_add(import->problems, (Where){import->path, 0}, "no row is of the GPU \"%s\"", import->gpu);
    return problems_added(import->problems) == before;
}

// ---- lockstep calibrate import: the table of formats.

static const char *const format_names[] = {"nccl-tests", "gemm-csv", "kineto", "nsys", "iperf3", "fio"};
static bool (*const readers[])(Import *import) = {import_nccl_tests, import_gemm_csv, import_kineto,
                                                  import_kineto,     import_iperf3,   import_fio};

static const OptionSpec specs[] = {
    {"from", OPTION_CHOICE, .help = "which program's file it is", .choices = format_names,
     .choice_count = sizeof format_names / sizeof *format_names},
    {"output", OPTION_TEXT, "FILE", .help = "where the JSON lines go (default: standard output)", .letter = 'o'},
    {"gpu", OPTION_TEXT, "NAME", .help = "the GPU that was measured; of a table, whose rows to take"},
    {"operation", OPTION_TEXT, "NAME", .help = "the collective, where neither text nor file name says it (nccl-tests)"},
};
static const char usage[] = "lockstep calibrate import --from FORMAT FILE [-o MEASUREMENTS.json]";
static const char about[] = "Writes measurements of other programs as the JSON lines that lockstep-bench writes.";

// What is written has a form of its own.
static bool refuse_forms(const Asking *asking) {
    static const char *const forms[] = {"json", "csv", "plain"};
    int before = problems_added(asking->problems);
    for (int i = 0; i < 3; i++) {
        if (!option_flag(asking->options, forms[i])) continue;
        problem_add(asking->problems, (Where){0}, "--%s: what import writes are the JSON lines of lockstep-bench",
                    forms[i]);
        problem_hint(asking->problems, "leave it out; lockstep calibrate show FILE has a table of them");
        problem_is_usage(asking->problems);
    }
    return problems_added(asking->problems) > before;
}

// What is read goes to its file as it is read.
static int ask(Asking *asking) {
    OutputFile file;
    const Options *options = asking->options;
    if (option_positional_count(options) == 0 || !option_given(options, "from")) {
        problem_add(asking->problems, (Where){0}, "import needs a file and its format");
        problem_hint(asking->problems, "usage: %s", usage);
        return EXIT_USAGE;
    }
    if (refuse_forms(asking)) return EXIT_USAGE;
    if (!file_create(asking->arena, option_text(options, "output", "-"), &file, asking->problems)) return EXIT_FAILED;
    Import import = {.arena = asking->arena,
                     .path = option_positional(options, 0),
                     .gpu = option_text(options, "gpu", NULL),
                     .operation = option_text(options, "operation", NULL),
                     .out = file.stream,
                     .problems = asking->problems};
    if (!readers[option_choice(options, "from", 0)](&import)) {
        file_abandon(&file);
        return EXIT_BAD_INPUT;
    }
    asking->silent = true;
    return file_commit(&file, asking->problems) ? EXIT_DONE : EXIT_FAILED;
}

const Question calibrate_import_question = {.name = "calibrate-import",
                                            .usage = usage,
                                            .about = about,
                                            .own = specs,
                                            .own_count = sizeof specs / sizeof *specs,
                                            .positional = 1,
                                            .ask = ask};
