// Jobs from files: traces in CSV and Slurm's accounting.
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "models/workload/queue/queue.h"
#include "sim/base/list.h"
#include "sim/data/csv.h"

// ---- Parsing of Slurm's resources and times.

#define GPU_WORD "gres/gpu"
#define MIG_SEVENTHS 7.0

// After "gres/gpu:": "2g.20gb=1" is a slice of two sevenths, anything else a type of GPU.
static double part_of_gpu(const char *type) {
    if (*type < '1' || *type > '7' || type[1] != 'g' || type[2] != '.') return 1;
    return (*type - '0') / MIG_SEVENTHS;
}

bool slurm_gpus(const char *tres, double *gpus) {
    double all = 0, typed = 0;
    for (const char *at = tres; *at;) {
        size_t length = strcspn(at, ",");
        const char *equals = memchr(at, '=', length);
        bool is_gpu = length > sizeof GPU_WORD && strncmp(at, GPU_WORD, sizeof GPU_WORD - 1) == 0;
        char after = is_gpu ? at[sizeof GPU_WORD - 1] : '\0';
        if (equals && (after == '=' || after == ':')) {
            char *end;
            double number = strtod(equals + 1, &end);
            if (end != at + length || !(number >= 0 && number <= 1e6)) return false;
            *(after == '=' ? &all : &typed) += number * (after == ':' ? part_of_gpu(at + sizeof GPU_WORD) : 1);
        }
        at += length + (at[length] == ',');
    }
    // Of MIG devices the sum over types is less than their number, and more precise.
    *gpus = typed > 0 && typed < all ? typed : all > 0 ? all : typed;
    return true;
}

bool slurm_seconds(const char *text, double *seconds) {
    double parts[4] = {0}, days = 0;
    int count = 0;
    const char *at = text;
    for (bool more = true; more;) {
        char *end;
        if (!isdigit((unsigned char)*at) || count == 4) return false;
        parts[count++] = strtod(at, &end);
        if (*end == '-' && count == 1) {
            days = parts[0];
            count = 0;
            at = end + 1;
            if (*at == '\0') return false;
            continue;
        }
        more = *end == ':';
        if (!more && *end != '\0') return false;
        at = end + 1;
    }
    bool with_days = strchr(text, '-') != NULL;
    if (count > 3) return false;
    double unit = with_days ? 3600 : count == 3 ? 3600 : 60; // of the first part
    *seconds = days * 86400;
    for (int i = 0; i < count; i++, unit /= 60) *seconds += parts[i] * unit;
    return isfinite(*seconds);
}

// "123.batch", "123.0": a job step, whose row repeats its job's.
static bool slurm_is_step(const char *job_id) { return strchr(job_id, '.') != NULL; }

// ---- Columns: our own name first, then those of Helios and Acme (job_id, gpu_num, submit_time, …), of Philly's JSON
// as a table (jobid, submitted_time, …) and of Slurm's sacct (JobID, Submit, AllocTRES, …). Capitals do not matter.

typedef enum TraceColumn {
    COLUMN_SUBMIT,
    COLUMN_GPUS,
    COLUMN_DURATION,
    COLUMN_START,
    COLUMN_END,
    COLUMN_ESTIMATE,
    COLUMN_USER,
    COLUMN_GROUP,
    COLUMN_PRIORITY,
    COLUMN_WAIT,
    COLUMN_JOB,
    COLUMN_TRES,
    COLUMN_ASKED_TRES,
    TRACE_COLUMN_COUNT
} TraceColumn;

static const char *const column_names[TRACE_COLUMN_COUNT][5] = {
    [COLUMN_SUBMIT] = {"submit_s", "submit_time", "submitted_time", "submit", NULL},
    [COLUMN_GPUS] = {"gpus", "gpu_num", "num_gpus", NULL},
    [COLUMN_DURATION] = {"duration_s", "duration", "run_time", NULL},
    [COLUMN_START] = {"start_s", "start_time", "start", NULL},
    [COLUMN_END] = {"end_s", "end_time", "finished_time", "end", NULL},
    [COLUMN_ESTIMATE] = {"estimate_s", "time_limit", "timelimit", NULL},
    [COLUMN_USER] = {"user", "user_id", NULL},
    [COLUMN_GROUP] = {"group", "vc", "account", "partition", NULL},
    [COLUMN_PRIORITY] = {"priority", NULL},
    [COLUMN_WAIT] = {"queue_s", "wait_s", NULL},
    [COLUMN_JOB] = {"job_id", "jobid", NULL},
    [COLUMN_TRES] = {"alloctres", NULL},
    [COLUMN_ASKED_TRES] = {"reqtres", NULL},
};

typedef struct NumberedNames {
    const char **items;
    int count, room;
    NameIndex *index;
} NumberedNames;

typedef struct Reading {
    Arena *arena;
    const Csv *csv;
    Problems *problems;
    int columns[TRACE_COLUMN_COUNT]; // -1 absent
    QueueTrace *trace;
    LIST_OF(QueueJob) jobs;
    LIST_OF(double) submitted; // seconds since 1970 or since anything
    double *waits_s;
    NumberedNames users, groups;
} Reading;

static void find_columns(Reading *reading) {
    for (int c = 0; c < TRACE_COLUMN_COUNT; c++) {
        reading->columns[c] = -1;
        for (int n = 0; column_names[c][n] && reading->columns[c] < 0; n++)
            for (int i = 0; i < reading->csv->column_count; i++)
                if (strcasecmp(reading->csv->columns[i], column_names[c][n]) == 0) reading->columns[c] = i;
    }
}

static bool columns_suffice(const Reading *reading) {
    const int *columns = reading->columns;
    const char *missing = NULL;
    if (columns[COLUMN_SUBMIT] < 0)
        missing = "submit_s (or submit_time, submitted_time, Submit)";
    else if (columns[COLUMN_GPUS] < 0 && columns[COLUMN_TRES] < 0 && columns[COLUMN_ASKED_TRES] < 0)
        missing = "gpus (or gpu_num, num_gpus, AllocTRES, ReqTRES)";
    else if (columns[COLUMN_DURATION] < 0 && (columns[COLUMN_START] < 0 || columns[COLUMN_END] < 0))
        missing = "duration_s (or duration, or start_time and end_time, Start and End)";
    if (!missing) return true;
    problem_add(reading->problems, (Where){reading->csv->file, 1}, "the trace has no column %s", missing);
    return problem_hint(
        reading->problems,
        "for example: user,submit_s,gpus,duration_s,estimate_s,priority; Helios' and Acme's columns do too, and "
        "sacct -P -X --format=JobID,Submit,Start,End,AllocTRES,ReqTRES,Timelimit,Account,User,State");
}

// ---- Times.

// Days since 1970 of a date of the Gregorian calendar (Hinnant's civil calendar algorithm).
static int64_t days_of(int year, int month, int day) {
    year -= month <= 2;
    int64_t era = (year >= 0 ? year : year - 399) / 400;
    int64_t of_era = year - era * 400, of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

// So many digits as a number, then moves on; -1 when they are not there.
static int digits(const char **at, int count) {
    int number = 0;
    for (int i = 0; i < count; i++) {
        if ((*at)[i] < '0' || (*at)[i] > '9') return -1;
        number = 10 * number + (*at)[i] - '0';
    }
    *at += count;
    return number;
}

static bool skip(const char **at, const char *any) {
    if (!**at || !strchr(any, **at)) return false;
    (*at)++;
    return true;
}

static bool time_zone(const char **at, double *seconds) {
    if (skip(at, "Z") || !**at) return true;
    int sign = **at == '-' ? 1 : -1;
    if (!skip(at, "+-")) return false;
    int hours = digits(at, 2);
    skip(at, ":");
    int minutes = **at ? digits(at, 2) : 0;
    if (hours < 0 || hours > 14 || minutes < 0 || minutes > 59) return false;
    *seconds += sign * (hours * 3600 + minutes * 60);
    return true;
}

bool trace_time(const char *text, double *seconds) {
    const char *at = text;
    int year = digits(&at, 4), month, day, hour, minute, second;
    if (year < 1970 || year > 2200 || !skip(&at, "-/")) return false;
    if ((month = digits(&at, 2)) < 1 || month > 12 || !skip(&at, "-/")) return false;
    if ((day = digits(&at, 2)) < 1 || day > 31 || !skip(&at, " T")) return false;
    if ((hour = digits(&at, 2)) < 0 || hour > 23 || !skip(&at, ":")) return false;
    if ((minute = digits(&at, 2)) < 0 || minute > 59 || !skip(&at, ":")) return false;
    if ((second = digits(&at, 2)) < 0 || second > 60) return false;
    *seconds = (double)days_of(year, month, day) * 86400 + hour * 3600 + minute * 60 + second;
    if (skip(&at, "."))
        for (double unit = 0.1; *at >= '0' && *at <= '9'; unit /= 10) *seconds += unit * (*at++ - '0');
    return time_zone(&at, seconds) && *at == '\0';
}

// ---- Cells. Empty ones, "None" and the like are missing values.

static const char *cell_of(const Reading *reading, int row, TraceColumn column) {
    return reading->columns[column] < 0 ? "" : csv_cell(reading->csv, row, reading->columns[column]);
}

static bool is_absent(const char *cell) {
    static const char *const words[] = {"",    "None", "none",    "null",      "NULL",           "NaN",
                                        "nan", "NaT",  "Unknown", "UNLIMITED", "Partition_Limit"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(cell, words[i]) == 0) return true;
    return false;
}

#define MOST_SECONDS 4294967295.0 // since 1970; the largest priority of Slurm, too

static bool number_cell(const Reading *reading, int row, TraceColumn column, bool may_be_date, double *value) {
    const char *cell = cell_of(reading, row, column);
    char *end;
    if (may_be_date && trace_time(cell, value)) return true;
    *value = strtod(cell, &end);
    if (end != cell && *end == '\0' && *value >= 0 && *value <= (may_be_date ? MOST_SECONDS : QUEUE_LONGEST_S))
        return true;
    return problem_add(reading->problems, csv_where(reading->csv, row), "%s is \"%.40s\", expected %s",
                       reading->csv->columns[reading->columns[column]], cell,
                       may_be_date ? "seconds, or a time such as 2020-04-01 00:02:39"
                                   : "a number of 0 or more, and below 1e9");
}

static int number_of(Arena *arena, NumberedNames *names, const char *name) {
    if (!names->index) names->index = name_index_create(arena, strcmp);
    int before = name_index_add(names->index, name, names->count);
    if (before >= 0) return before;
    LIST_PUSH(arena, names, name);
    return names->count - 1;
}

static bool bad_cell(const Reading *reading, int row, TraceColumn column, const char *expected) {
    return problem_add(reading->problems, csv_where(reading->csv, row), "%s is \"%.40s\", expected %s",
                       reading->csv->columns[reading->columns[column]], cell_of(reading, row, column), expected);
}

// Whole GPUs, or a part of one. The allocation of a job takes precedence over its request.
static bool read_gpus(const Reading *reading, int row, double *gpus) {
    TraceColumn column = COLUMN_GPUS;
    if (reading->columns[COLUMN_GPUS] >= 0) {
        if (!number_cell(reading, row, COLUMN_GPUS, false, gpus)) return false;
    } else {
        column = is_absent(cell_of(reading, row, COLUMN_TRES)) ? COLUMN_ASKED_TRES : COLUMN_TRES;
        if (reading->columns[column] < 0) column = COLUMN_TRES;
        if (!slurm_gpus(cell_of(reading, row, column), gpus))
            return bad_cell(reading, row, column, "resources such as cpu=64,gres/gpu=8,node=1");
        if (*gpus > 1) *gpus = ceil(*gpus - 1e-9); // several MIG devices
    }
    if (*gpus <= 1e6 && (*gpus <= 1 || *gpus == floor(*gpus))) return true;
    return bad_cell(reading, row, column, "whole GPUs, or a part of one");
}

// Seconds, or days-hours:minutes:seconds.
static bool read_estimate(const Reading *reading, int row, double *seconds) {
    const char *cell = cell_of(reading, row, COLUMN_ESTIMATE);
    if (strchr(cell, ':') || strchr(cell, '-')) {
        if (slurm_seconds(cell, seconds) && *seconds <= QUEUE_LONGEST_S) return true;
        return bad_cell(reading, row, COLUMN_ESTIMATE, "seconds, or a time such as 1-02:03:04");
    }
    return number_cell(reading, row, COLUMN_ESTIMATE, false, seconds);
}

// From its column, or from submission to start. NAN: not known.
static bool read_wait(const Reading *reading, int row, double submit, double *seconds) {
    double start;
    *seconds = NAN;
    if (!is_absent(cell_of(reading, row, COLUMN_WAIT))) return number_cell(reading, row, COLUMN_WAIT, false, seconds);
    if (is_absent(cell_of(reading, row, COLUMN_START))) return true;
    if (!number_cell(reading, row, COLUMN_START, true, &start)) return false;
    if (start >= submit) *seconds = start - submit;
    return true;
}

// ---- Rows.

// Seconds, from the duration or from start and end. False when the job never ran, or after a problem.
static bool read_duration(const Reading *reading, int row, double *seconds) {
    double start, end;
    if (reading->columns[COLUMN_DURATION] >= 0 && !is_absent(cell_of(reading, row, COLUMN_DURATION)))
        return number_cell(reading, row, COLUMN_DURATION, false, seconds);
    if (is_absent(cell_of(reading, row, COLUMN_START)) || is_absent(cell_of(reading, row, COLUMN_END))) {
        reading->trace->never_ran++;
        return false;
    }
    if (!number_cell(reading, row, COLUMN_START, true, &start) || !number_cell(reading, row, COLUMN_END, true, &end))
        return false;
    *seconds = end - start;
    if (end >= start && *seconds <= QUEUE_LONGEST_S) return true;
    return problem_add(reading->problems, csv_where(reading->csv, row), "%s",
                       end < start ? "the job ends before it starts" : "the job runs for more than 31 years");
}

static void read_row(Reading *reading, int row) {
    double submit, gpus, seconds, estimate = 0, priority = 0, wait_s;
    if (slurm_is_step(cell_of(reading, row, COLUMN_JOB)) && reading->columns[COLUMN_GPUS] < 0) {
        reading->trace->steps++;
        return;
    }
    if (!read_gpus(reading, row, &gpus)) return;
    if (gpus == 0) {
        reading->trace->without_gpus++;
        return;
    }
    if (!read_duration(reading, row, &seconds) || !number_cell(reading, row, COLUMN_SUBMIT, true, &submit)) return;
    bool has_estimate = !is_absent(cell_of(reading, row, COLUMN_ESTIMATE));
    if (has_estimate && !read_estimate(reading, row, &estimate)) return;
    bool has_priority = !is_absent(cell_of(reading, row, COLUMN_PRIORITY));
    if (has_priority && !number_cell(reading, row, COLUMN_PRIORITY, true, &priority)) return;
    if (!read_wait(reading, row, submit, &wait_s)) return;
    const char *user = cell_of(reading, row, COLUMN_USER), *group = cell_of(reading, row, COLUMN_GROUP);
    // Traces count whole seconds: a job of 0 s ran for a part of one.
    seconds = fmax(seconds, 1);
    QueueJob job = {.work = queue_ticks(seconds),
                    .estimate = queue_ticks(has_estimate ? fmax(estimate, 1) : seconds),
                    .gpus = gpus < 1 ? 1 : (int32_t)gpus,
                    .share = gpus < 1 ? (int32_t)fmax(1, gpus * QUEUE_WHOLE_SHARE + 0.5) : 0,
                    .user =
                        number_of(reading->arena, &reading->users, reading->columns[COLUMN_USER] < 0 ? group : user),
                    .group = number_of(reading->arena, &reading->groups, group),
                    .priority = (int32_t)fmin(priority, 1e9),
                    .row = row};
    reading->trace->has_estimates = reading->trace->has_estimates || has_estimate;
    reading->waits_s[row] = wait_s;
    reading->trace->has_waits = reading->trace->has_waits || !isnan(wait_s);
    reading->trace->shares += job.share > 0;
    LIST_PUSH(reading->arena, &reading->submitted, submit);
    LIST_PUSH(reading->arena, &reading->jobs, job);
}

static void set_arrivals(Reading *reading) {
    double first = INFINITY, last = 0;
    for (int i = 0; i < reading->jobs.count; i++) {
        first = fmin(first, reading->submitted.items[i]);
        last = fmax(last, reading->submitted.items[i]);
    }
    for (int i = 0; i < reading->jobs.count; i++)
        reading->jobs.items[i].arrival = queue_ticks(reading->submitted.items[i] - first);
    reading->trace->span_s = last - first;
}

static const QueueTrace *read_trace(Arena *arena, const Csv *csv, Problems *problems) {
    Reading reading = {.arena = arena, .csv = csv, .problems = problems, .trace = ARENA_NEW(arena, QueueTrace)};
    int before = problems_added(problems);
    find_columns(&reading);
    if (!columns_suffice(&reading)) return NULL;
    reading.trace->waits_s = reading.waits_s = ARENA_ARRAY(arena, double, csv->row_count);
    for (int row = 0; row < csv->row_count; row++) read_row(&reading, row);
    if (problems_added(problems) > before) return NULL;
    if (reading.jobs.count == 0) {
        problem_add(problems, (Where){csv->file, 0}, "the trace has no job that ran on GPUs");
        return NULL;
    }
    set_arrivals(&reading);
    QueueJobs *jobs = ARENA_NEW(arena, QueueJobs);
    *jobs = *queue_jobs_sorted(arena, reading.jobs.items, reading.jobs.count, reading.users.count, reading.users.items);
    jobs->group_count = reading.groups.count;
    jobs->group_names = reading.groups.items;
    reading.trace->jobs = jobs;
    return reading.trace;
}

const QueueTrace *queue_read_trace(Arena *arena, const char *path, Problems *problems) {
    const Csv *csv = csv_read_file(arena, path, problems);
    return csv ? read_trace(arena, csv, problems) : NULL;
}

const QueueTrace *queue_read_gated_trace(Arena *arena, const ReadGate *gate, const char *path, Where where,
                                         Problems *problems) {
    const Csv *csv = csv_read_gated(arena, gate, path, where, problems);
    return csv ? read_trace(arena, csv, problems) : NULL;
}

const QueueTrace *queue_trace_from_text(Arena *arena, const char *name, const char *text, Problems *problems) {
    const Csv *csv = csv_read_text(arena, name, text, problems);
    return csv ? read_trace(arena, csv, problems) : NULL;
}
