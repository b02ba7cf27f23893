#include "calibrate/collectives/validation.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/data/json.h"
#include "sim/system/file.h"

// ---- Parser of a log's facts about its machine. Most lines have none; of contradicting lines, as those of several
// ranks may be, the first counts.

#define RANKS_MOST 16384

static const char *behind(const char *line, const char *text) {
    const char *found = strstr(line, text);
    return found ? found + strlen(text) : NULL;
}

static const char *copy_until(Arena *arena, const char *text, const char *ends) {
    char *copy = arena_copy_text(arena, text);
    copy[strcspn(copy, ends)] = '\0';
    return copy;
}

static void count_once(Arena *arena, NameCount *names, const char *name) {
    if (!names->index) names->index = name_index_create(arena, strcmp);
    if (name_index_add(names->index, name, names->count) < 0) names->count++;
}

// "#  Rank  0 Group  0 Pid  12345 on  node-1 device  0 [0x1b] NVIDIA H100 80GB HBM3", without a group before 2.14.
static void read_rank(NcclFacts *facts, const char *line) {
    const char *rank = behind(line, " Rank "), *process = rank ? behind(rank, " Pid ") : NULL;
    const char *on = process ? behind(process, " on ") : NULL, *device = on ? behind(on, " device ") : NULL;
    const char *name = device ? behind(device, "] ") : NULL;
    if (!name || atoi(rank) != facts->ranks || facts->ranks >= RANKS_MOST) return; // a table printed again
    on += strspn(on, " ");
    const char *host = copy_until(facts->arena, on, " ");
    const char *both = arena_printf(facts->arena, "%s %d", host, atoi(process));
    facts->ranks++;
    count_once(facts->arena, &facts->hosts, host);
    count_once(facts->arena, &facts->processes, both);
    if (!facts->gpu) facts->gpu = copy_until(facts->arena, name + strspn(name, " "), "\r\n\t");
}

// "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/RoCE [RO]; OOB eth0:10.0.0.1<0>"; with a plug-in "NET/IBext_v8 : Using …".
static void read_infiniband(NcclFacts *facts, const char *line) {
    const char *list = strstr(line, "NET/IB") ? behind(line, " : Using [") : NULL;
    if (!list || facts->nics) return;
    const char *all = copy_until(facts->arena, list - 1, ";");
    for (const char *at = all; (at = strchr(at, '[')) != NULL; at++) facts->nics += isdigit((unsigned char)at[1]) != 0;
    if (!facts->transport) facts->transport = strstr(all, "/RoCE") ? "roce" : "infiniband";
}

// "NET/OFI Selected Provider is efa (found 4 nics)".
static void read_libfabric(NcclFacts *facts, const char *line) {
    static const char *const providers[][2] = {{"efa", "efa"}, {"cxi", "slingshot"}, {"tcp", "tcp"}};
    const char *name = behind(line, "Selected Provider is ");
    if (!name) name = behind(line, "Selected provider is ");
    if (!name) return;
    for (size_t i = 0; i < sizeof providers / sizeof *providers; i++)
        if (strncmp(name, providers[i][0], strlen(providers[i][0])) == 0) facts->transport = providers[i][1];
    const char *found = behind(name, "(found ");
    if (found && atoi(found) > 0 && atoi(found) <= 64) facts->nics = atoi(found);
}

// "Using network Socket": the network chosen in the end, whatever was found before.
static void read_network(NcclFacts *facts, const char *line) {
    static const char *const networks[][2] = {{"Socket", "tcp"},
                                              {"FasTrak", "gpudirect-tcpxo"},
                                              {"GPUDirectTCPXO", "gpudirect-tcpxo"},
                                              {"GPUDirectTCPX", "gpudirect-tcpx"}};
    const char *name = behind(line, "Using network ");
    if (!name) return;
    for (size_t i = 0; i < sizeof networks / sizeof *networks; i++) {
        if (strncmp(name, networks[i][0], strlen(networks[i][0])) != 0) continue;
        facts->transport = networks[i][1];
        facts->nics = 0; // those found were others
        facts->nic_gigabits = 0;
        return;
    }
}

// "speed=25000" in megabits (2.24 on), "GPU Direct RDMA Disabled for HCA 0", "[send] via NET/IB/0/GDRDMA".
static void read_nic(NcclFacts *facts, const char *line) {
    const char *speed = strstr(line, "NET/IB") ? behind(line, " speed=") : NULL;
    if (speed && !facts->nic_gigabits && atof(speed) >= 1000 && atof(speed) < 1e7)
        facts->nic_gigabits = atof(speed) / 1000;
    const char *way = strstr(line, " via NET/");
    bool said = strstr(line, "GPU Direct RDMA Enabled") || strstr(line, "GPU Direct RDMA Disabled");
    if ((way && strstr(way, "/GDRDMA")) || strstr(line, "GPU Direct RDMA Enabled"))
        facts->direct_memory = true;
    else if (way || said)
        facts->bounced = true;
}

static void read_inside(NcclFacts *facts, const char *line) {
    facts->peer_to_peer = facts->peer_to_peer || strstr(line, " via P2P/");
    facts->staged = facts->staged || strstr(line, " via SHM");
    facts->in_switch_reduction = facts->in_switch_reduction || strstr(line, "NVLS multicast support is available");
}

// "NCCL_ALGO set by environment to Ring."
static void read_environment(NcclFacts *facts, const char *line) {
    static const char *const keys[] = {"NCCL_ALGO", "NCCL_PROTO", "NCCL_NVLS_ENABLE"};
    const char *value = behind(line, " set by environment to ");
    for (size_t i = 0; value && i < sizeof keys / sizeof *keys; i++) {
        const char *before = facts->environment ? facts->environment : "";
        if (!behind(line, keys[i]) || strstr(before, keys[i])) continue;
        facts->environment = arena_printf(facts->arena, "%s%s%s=%s", before, *before ? " " : "", keys[i],
                                          copy_until(facts->arena, value, " .\r\n\t"));
    }
}

void nccl_facts_read(NcclFacts *facts, const char *line) {
    if (strstr(line, " Rank ") && strstr(line, " device ")) read_rank(facts, line);
    if (!strstr(line, "NCCL INFO")) return;
    read_infiniband(facts, line);
    read_libfabric(facts, line);
    read_network(facts, line);
    read_nic(facts, line);
    read_inside(facts, line);
    read_environment(facts, line);
}

// In the facts' arena; returns how many.
static int nccl_facts_list(const NcclFacts *facts, const NcclFact **list) {
    struct {
        NcclFact *items;
        int count, room;
    } stated = {0};
    Arena *arena = facts->arena;
    int nodes = facts->hosts.count;
#define STATE(column_, value_) LIST_PUSH(arena, &stated, ((NcclFact){column_, value_}))
    if (facts->ranks > 1 && facts->ranks % nodes == 0) {
        STATE("ranks", arena_printf(arena, "%d", facts->ranks));
        STATE("nodes", arena_printf(arena, "%d", nodes));
        STATE("gpus_per_node", arena_printf(arena, "%d", facts->ranks / nodes));
    }
    if (facts->gpu) STATE("gpu", facts->gpu);
    const char *transport = nodes == 1 ? "none" : facts->transport;
    if (transport) STATE("transport", transport);
    if (facts->nics) STATE("nics_per_node", arena_printf(arena, "%d", facts->nics));
    if (facts->nic_gigabits > 0) STATE("nic_gbps", arena_printf(arena, "%g", facts->nic_gigabits));
    if (facts->direct_memory || facts->bounced) STATE("gdr", facts->direct_memory ? "yes" : "no");
    const char *inside = facts->in_switch_reduction              ? "nvswitch"
                         : facts->staged && !facts->peer_to_peer ? "pcie-host"
                                                                 : NULL;
    if (inside) STATE("intra_link", inside);
    if (facts->environment) STATE("algo_env", facts->environment);
#undef STATE
    *list = stated.items;
    return stated.count;
}

// ---- Parser of nccl-tests' output. Real logs also have lines of NCCL and of the launcher: a data line begins with a
// size, a header line with '#'.

#define LOG_LIMIT (16u << 20)
#define WORD_LIMIT 64

// ---- Names.
static const struct {
    const char *name;
    CollectiveOp op;
} op_words[] = {{"all_reduce", COLLECTIVE_ALL_REDUCE},
                {"all_gather", COLLECTIVE_ALL_GATHER},
                {"reduce_scatter", COLLECTIVE_REDUCE_SCATTER},
                {"broadcast", COLLECTIVE_BROADCAST},
                {"reduce", COLLECTIVE_REDUCE},
                {"alltoall", COLLECTIVE_ALL_TO_ALL},
                {"sendrecv", COLLECTIVE_SEND_RECV},
                {"gather", COLLECTIVE_GATHER},
                {"scatter", COLLECTIVE_SCATTER}};
enum { OP_WORDS = sizeof op_words / sizeof *op_words };

// "All_To-All_perf" and "alltoall" are the same word.
static void plain_letters(const char *name, char *out, size_t room) {
    size_t length = 0;
    for (; *name && length + 1 < room; name++)
        if (isalnum((unsigned char)*name)) out[length++] = (char)tolower((unsigned char)*name);
    out[length] = '\0';
    if (length > 4 && strcmp(out + length - 4, "perf") == 0) out[length - 4] = '\0';
}

bool nccl_op_from_name(const char *name, CollectiveOp *op) {
    char given[48], known[48];
    if (strchr(name, '(')) return false; // "incast(fork)": a custom operation
    plain_letters(name, given, sizeof given);
    for (int i = 0; i < OP_WORDS; i++) {
        plain_letters(op_words[i].name, known, sizeof known);
        if (strcmp(given, known) != 0) continue;
        *op = op_words[i].op;
        return true;
    }
    return false;
}

const char *nccl_op_name(CollectiveOp op) {
    for (int i = 0; i < OP_WORDS; i++)
        if (op_words[i].op == op) return op_words[i].name;
    return collective_op_name(op);
}

int gpus_per_process_in(const char *text) {
    for (const char *found = strstr(text, "-g "); found; found = strstr(found + 1, "-g ")) {
        int gpus = atoi(found + 3);
        if ((found == text || found[-1] == ' ') && gpus > 0 && gpus <= 64) return gpus;
    }
    return 0;
}

// ---- Lines into words.
typedef struct Words {
    const char *items[WORD_LIMIT];
    int count;
} Words;

static Words split(Arena *arena, const char *line, size_t bytes) {
    char *copy = arena_alloc(arena, bytes + 1), *rest;
    Words words = {.count = 0};
    memcpy(copy, line, bytes);
    for (char *word = strtok_r(copy, " \t\r|", &rest); word && words.count < WORD_LIMIT;
         word = strtok_r(NULL, " \t\r|", &rest))
        words.items[words.count++] = word;
    return words;
}

static bool is_number(const char *word, double *value) {
    char *end;
    *value = strtod(word, &end);
    return end != word && *end == '\0' && isfinite(*value);
}

static bool is_whole(const char *word) {
    size_t digits = strspn(word, "0123456789");
    return digits > 0 && word[digits] == '\0';
}

// ---- Which column is which.
typedef struct Columns {
    int count;          // of a whole row; 0: not known yet
    int redop, root;    // -1: this version prints none
    int time, second;   // out of place and in place; -1: none
    int second_columns; // of the half in place
} Columns;

static bool begins(const char *word, const char *with) { return strncmp(word, with, strlen(with)) == 0; }

// "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong", or with units in brackets and names
// of the halves between, or as it began in 2016: "# bytes N type op time algbw busbw res …"; false when the line is no
// such header.
static bool read_columns(const Words *words, Columns *columns) {
    Columns found = {.redop = -1, .root = -1, .time = -1, .second = -1};
    bool size = false;
    for (int i = 0; i < words->count; i++) {
        const char *word = words->items[i];
        if (strcmp(word, "#") == 0 || begins(word, "out-of-place") || begins(word, "in-place")) continue;
        if (!size && !begins(word, "size") && strcmp(word, "bytes") != 0) {
            if (strcmp(word, "#columns:") == 0 || strcmp(word, "columns:") == 0) continue;
            return false;
        }
        size = true;
        if (word[0] == '(') break; // a remark after the words
        if (begins(word, "redop") || strcmp(word, "op") == 0) found.redop = found.count;
        if (begins(word, "root")) found.root = found.count;
        if ((begins(word, "time") && !begins(word, "timestamp")) || begins(word, "cputime")) {
            if (found.time < 0)
                found.time = found.count;
            else if (found.second < 0)
                found.second = found.count;
        }
        found.count++;
    }
    if (!size || found.time < 0) return false;
    if (found.second >= 0) found.second_columns = found.second - found.time;
    // The compact header names the columns of the second half by their first words only.
    if (found.second >= 0 && found.count < found.second + found.second_columns)
        found.count = found.second + found.second_columns;
    *columns = found;
    return true;
}

// Some rows lack cells: operations without reduction or root leave these blank, some logs have no in-place half.
// Returns whether a row of that many words can be read, and the columns of its times.
static bool place_times(const Columns *columns, int words, int *time, int *second) {
    int optional = (columns->redop >= 0) + (columns->root >= 0);
    for (int half = 0; half < 2; half++) {
        int whole = columns->count - (half ? columns->second_columns : 0);
        if (half && columns->second < 0) continue;
        for (int blank = 0; blank <= optional; blank++) {
            if (words != whole - blank || columns->time - blank < 1) continue;
            *time = columns->time - blank;
            *second = half || columns->second < 0 || columns->second - blank >= words ? -1 : columns->second - blank;
            if (*time < words) return true;
        }
    }
    return false;
}

// ---- Text.
typedef struct Reader {
    Arena *arena;
    Problems *problems;
    NcclLog *log;
    Columns columns;
    LIST_OF(NcclRow) rows;
    double begun_bytes; // of a row whose times are still to come; 0: none
    int begun_line;
    NcclFacts facts;
} Reader;

static void add_row(Reader *reader, Where where, double bytes, double microseconds) {
    if (bytes == 0) {
        reader->log->zero_rows++;
        return;
    }
    if (!(microseconds > 0)) {
        problem_add(reader->problems, where, "the time of size %.0f is %g us", bytes, microseconds);
        return;
    }
    NcclRow row = {where.line, bytes, microseconds * 1e-6};
    LIST_PUSH(reader->arena, &reader->rows, row);
}

// NCCL's own lines may break into a row after its root, as the times are printed when they are known: "8 2 float sum -1
// node1:77:78 [0] NCCL INFO …". Such a row goes on with a line of the cells that are missing.
static bool row_begins(const Reader *reader, const Words *words) {
    double number;
    const Columns *columns = &reader->columns;
    int blank = (columns->redop >= 0) + (columns->root >= 0); // at most
    int first = columns->time > blank ? columns->time - blank : 1;
    if (words->count <= columns->time) return words->count >= first;
    for (int i = first; i <= columns->time; i++)
        if (strchr(words->items[i], ':') && !is_number(words->items[i], &number)) return true;
    return false;
}

static bool row_goes_on(const Reader *reader, const Words *words) {
    double number;
    int missing = reader->columns.count - reader->columns.time;
    int halved = missing - (reader->columns.second >= 0 ? reader->columns.second_columns : 0);
    if (!reader->begun_bytes || (words->count != missing && words->count != halved)) return false;
    for (int i = 0; i < words->count; i++)
        if (!is_number(words->items[i], &number) && strcmp(words->items[i], "N/A") != 0) return false;
    return true;
}

static void finish_row(Reader *reader, const Words *words) {
    double microseconds = 0;
    int second = reader->columns.second - reader->columns.time;
    Where where = {reader->log->path, reader->begun_line};
    bool good = is_number(words->items[0], &microseconds) ||
                (second > 0 && second < words->count && is_number(words->items[second], &microseconds));
    if (good)
        add_row(reader, where, reader->begun_bytes, microseconds);
    else
        problem_add(reader->problems, where, "\"%s\" is no time in microseconds", words->items[0]);
    reader->begun_bytes = 0;
}

static void row_is_broken(Reader *reader) {
    if (!reader->begun_bytes) return;
    problem_add(reader->problems, (Where){reader->log->path, reader->begun_line},
                "the row of size %.0f breaks off before its times", reader->begun_bytes);
    reader->begun_bytes = 0;
}

static void read_row(Reader *reader, Where where, const Words *words) {
    int at, second;
    double bytes, microseconds = 0;
    row_is_broken(reader);
    if (!reader->columns.count) {
        problem_add(reader->problems, where, "a row of figures before any header says what they are");
        problem_hint(reader->problems, "keep nccl-tests' line \"# size count type redop root time algbw busbw …\"");
        return;
    }
    if (!is_number(words->items[0], &bytes) || bytes == 0) {
        reader->log->zero_rows++;
        return;
    }
    if (row_begins(reader, words)) {
        reader->begun_bytes = bytes;
        reader->begun_line = where.line;
        return;
    }
    if (!place_times(&reader->columns, words->count, &at, &second)) {
        problem_add(reader->problems, where, "a row has %d cells, and the header names %d columns", words->count,
                    reader->columns.count);
        return;
    }
    bool good =
        is_number(words->items[at], &microseconds) || (second >= 0 && is_number(words->items[second], &microseconds));
    if (!good) {
        problem_add(reader->problems, where, "\"%s\" is no time in microseconds", words->items[at]);
        return;
    }
    add_row(reader, where, bytes, microseconds);
}

// The first mention counts; a second operation with its own figures needs a file of its own.
static void read_operation(Reader *reader, Where where, const char *name) {
    NcclLog *log = reader->log;
    CollectiveOp first, second;
    bool same = !*log->op || strcmp(log->op, name) == 0 ||
                (nccl_op_from_name(log->op, &first) && nccl_op_from_name(name, &second) && first == second);
    if (same || reader->rows.count == 0) {
        log->op = name;
        return;
    }
    problem_add(reader->problems, where, "here begins a table of %.40s, and the one above is of %.40s", name, log->op);
    problem_hint(reader->problems, "keep one operation in a log: split the file at this line");
}

// "NCCL version 2.20.5+cuda12.4" of NCCL_DEBUG, "nccl-library=22005" of nccl-tests.
static void read_version(NcclLog *log, const char *line) {
    const char *printed = strstr(line, "NCCL version "), *library = strstr(line, "nccl-library=");
    int part[3] = {0};
    if (log->nccl_version) return;
    if (printed && sscanf(printed, "NCCL version %2d.%2d.%2d", &part[0], &part[1], &part[2]) >= 2 && part[0] == 2)
        log->nccl_version = part[0] * 10000 + part[1] * 100 + part[2];
    int number = library ? atoi(library + strlen("nccl-library=")) : 0;
    if (number >= 20000 && number < 30000) log->nccl_version = number;
}

// "# op: all_reduce", "# env: …", "# nThread 1 nGpus 8 …", "# Collective test starting: all_reduce_perf".
static void read_remark(Reader *reader, Where where, const char *line, const Words *words) {
    Columns columns;
    NcclLog *log = reader->log;
    if (read_columns(words, &columns)) {
        row_is_broken(reader);
        reader->columns = columns;
        return;
    }
    const char *starting = strstr(line, "Collective test starting:");
    for (int i = 0; i + 1 < words->count; i++) {
        if (strcmp(words->items[i], "nThread") == 0) log->threads_per_process = atoi(words->items[i + 1]);
        if (strcmp(words->items[i], "threads") == 0 && i > 0 && is_whole(words->items[i - 1]))
            log->threads_per_process = atoi(words->items[i - 1]); // "8 threads x 1 GPU"
        if (strcmp(words->items[i], "iters:") == 0 && i > 0 && strcmp(words->items[i - 1], "warmup") != 0 &&
            strcmp(words->items[i - 1], "agg") != 0)
            log->iterations = atoi(words->items[i + 1]);
        if (strcmp(words->items[i], "timed") == 0 && i > 0 && is_whole(words->items[i - 1]))
            log->iterations = atoi(words->items[i - 1]); // "5 timed iterations"
        if (strcmp(words->items[i], "nGpus") == 0) log->gpus_per_process = atoi(words->items[i + 1]);
        bool operation =
            (strcmp(words->items[i], "op:") == 0 && i == 1) || (starting && strcmp(words->items[i], "starting:") == 0);
        if (operation) read_operation(reader, where, words->items[i + 1]);
        if (strcmp(words->items[i], "env:") == 0 && i == 1 && gpus_per_process_in(line))
            log->gpus_per_process = gpus_per_process_in(line);
    }
}

// ---- What launchers and log collectors put before every line.
static const char *after_spaces(const char *text) { return text + strspn(text, " \t"); }

static bool is_stamp(const char *text, size_t bytes) { // of a date or a time of day
    bool digits = bytes >= 8 && isdigit((unsigned char)text[0]) && isdigit((unsigned char)text[1]);
    return digits && (text[4] == '-' || text[4] == '/' || text[2] == ':') &&
           strspn(text, "0123456789-/:.,+TZ") >= bytes;
}

// Behind one such thing, or NULL: "[1,0]<stdout>:" of mpirun, "0: " of srun, "[0] " of MPICH, "node7: " of pdsh,
// "[pod/a/b] " of kubectl, dates and times, "stdout F " of containers.
static const char *after_one(const char *start) {
    size_t word = strcspn(start, " \t");
    const char *tag = strstr(start, "<stdout>:"), *bracket = start[0] == '[' ? strchr(start, ']') : NULL;
    if (start[0] == '[' && tag) return tag + strlen("<stdout>:");
    if (bracket && (bracket[1] == ' ' || bracket[1] == '\t')) return bracket + 1;
    if (word > 1 && start[word - 1] == ':' && start[word] && start[0] != '#') return start + word;
    if (is_stamp(start, word)) return start + word;
    if (begins(start, "stdout F ") || begins(start, "stderr F ")) return start + strlen("stdout F");
    return NULL;
}

// The launcher's prefix is skipped if a header or a row follows.
static const char *after_launcher(const char *line) {
    const char *rest = after_spaces(line);
    for (int i = 0; i < 5; i++) {
        const char *next = after_one(rest);
        if (!next) break;
        rest = after_spaces(next);
    }
    bool ours = rest[0] == '#' || rest[0] == '\0' || rest[strspn(rest, "0123456789")] == ' ' ||
                rest[strspn(rest, "0123456789")] == '\t' || rest[strspn(rest, "0123456789")] == '.';
    return ours ? rest : line;
}

static void read_text(Reader *reader, const char *text) {
    int number = 1;
    for (const char *line = text; *line; number++) {
        size_t bytes = strcspn(line, "\n");
        Where where = {reader->log->path, number};
        char *copy = arena_alloc(reader->arena, bytes + 1);
        memcpy(copy, line, bytes);
        const char *start = after_launcher(copy);
        read_version(reader->log, copy);
        nccl_facts_read(&reader->facts, copy);
        Words words = split(reader->arena, start, strlen(start));
        if (words.count > 0 && words.items[0][0] == '#')
            read_remark(reader, where, start, &words);
        else if (row_goes_on(reader, &words))
            finish_row(reader, &words);
        else if (words.count > 3 && is_whole(words.items[0]) && is_whole(words.items[1]))
            read_row(reader, where, &words);
        line += bytes + (line[bytes] == '\n');
    }
    row_is_broken(reader);
}

// ---- JSON (nccl-tests -J): "results" with size and, in each half, the time in microseconds.
static void read_json(Reader *reader, const char *text, size_t bytes) {
    const Json *root = json_read_text(reader->arena, reader->log->path, text, bytes, reader->problems);
    if (!root) return;
    const Json *results = json_get(root, "results"), *op = json_get(root, "op"), *arguments = json_get(root, "args");
    if (op && op->kind == JSON_TEXT && json_texts_are_names(op, reader->problems)) reader->log->op = op->text;
    for (int i = 0; arguments && i + 1 < arguments->count; i++)
        if (arguments->items[i].kind == JSON_TEXT && strcmp(arguments->items[i].text, "-g") == 0 &&
            arguments->items[i + 1].kind == JSON_TEXT)
            reader->log->gpus_per_process = atoi(arguments->items[i + 1].text);
    if (!results || results->kind != JSON_LIST) {
        problem_add(reader->problems, root->where, "nccl-tests' JSON has a list \"results\", and this has none");
        return;
    }
    for (int i = 0; i < results->count; i++) {
        const Json *row = &results->items[i];
        const Json *half = json_get(row, "out_of_place");
        if (!half || half->kind != JSON_OBJECT) half = json_get(row, "in_place");
        double size = json_number(row, "size", reader->problems);
        if (!half || half->kind != JSON_OBJECT) {
            problem_add(reader->problems, row->where, "a result has neither \"out_of_place\" nor \"in_place\"");
            continue;
        }
        add_row(reader, row->where, size,
                json_number(half, json_get(half, "cpu_time") ? "cpu_time" : "time", reader->problems));
    }
}

static void take_facts(NcclLog *log, const NcclFacts *facts) {
    int processes = facts->processes.count;
    log->fact_count = nccl_facts_list(facts, &log->facts);
    if (!log->gpus_per_process && log->threads_per_process < 2 && processes > 0 && facts->ranks % processes == 0)
        log->gpus_per_process = facts->ranks / processes;
}

static const char *name_of(Arena *arena, const char *path) {
    const char *slash = strrchr(path, '/');
    char *name = arena_copy_text(arena, slash ? slash + 1 : path), *dot = strrchr(name, '.');
    if (dot && (strcmp(dot, ".txt") == 0 || strcmp(dot, ".log") == 0 || strcmp(dot, ".json") == 0)) *dot = '\0';
    return name;
}

static bool is_plain(const char *path, const char *text, size_t bytes, Problems *problems) {
    static const struct {
        const char *start, *what;
    } others[] = {{"\xff\xfe", "in UTF-16, as PowerShell writes it"},
                  {"\xfe\xff", "in UTF-16"},
                  {"\x1f\x8b", "compressed (gzip)"},
                  {"\x28\xb5\x2f\xfd", "compressed (zstd)"},
                  {"PK\x03\x04", "a zip archive"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        size_t length = strlen(others[i].start);
        if (bytes < length || memcmp(text, others[i].start, length) != 0) continue;
        return problem_add(problems, (Where){path, 1}, "the file is %s; plain text is expected", others[i].what);
    }
    return true;
}

const NcclLog *nccl_log_read_text(Arena *arena, const char *path, const char *text, size_t bytes, Problems *problems) {
    int before = problems_added(problems);
    NcclLog *log = ARENA_NEW(arena, NcclLog);
    *log = (NcclLog){.path = path, .name = name_of(arena, path), .op = ""};
    Reader reader = {.arena = arena, .problems = problems, .log = log, .facts = {.arena = arena}};
    if (!is_plain(path, text, bytes, problems)) return NULL;
    size_t mark = bytes >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0; // of UTF-8
    text += mark;
    bytes -= mark;
    if (text[strspn(text, " \t\r\n")] == '{')
        read_json(&reader, text, bytes);
    else
        read_text(&reader, text);
    if (problems_added(problems) > before) return NULL;
    log->rows = reader.rows.items;
    log->row_count = reader.rows.count;
    take_facts(log, &reader.facts);
    if (log->row_count > 0) return log;
    problem_add(problems, (Where){path, 0}, "no row with a size and a time, so this is no log of nccl-tests");
    return NULL;
}

const NcclLog *nccl_log_read(Arena *arena, const char *path, Problems *problems) {
    size_t bytes;
    const char *text = file_read(arena, path, LOG_LIMIT, &bytes, problems);
    return text ? nccl_log_read_text(arena, path, text, bytes, problems) : NULL;
}
