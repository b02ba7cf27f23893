// Lines are recognised by a few words each, whatever surrounds these (dates, ranks, colours).
#include "sim/data/trainer_log.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/statistics.h"
#include "sim/system/file.h"

enum { LARGEST_LOG = 64 << 20, LONGEST_LINE = 4096, MOST_LINES = 1000000, MOST_BARS = 64, FEW = 3 };
#define WARM 1.1   // times what later lines take: the run still warms up
#define STALL 1.5  // times the median; both judged
#define LEAST 1e-9 // bounds of times, rates and sizes in a log's units
#define MOST 1e9

// ---- Words of each software.

typedef struct TimeWords {
    const char *software, *words, *beside; // beside: also in the line; or NULL
    LogUnit unit;
    double factor; // of its number, in seconds; below 0: the number is a rate in that unit
    bool whole_run;
} TimeWords;

// As their sources print them: Megatron-LM core 0.20 (training.py), Megatron-Bridge 0.6, NeMo 2.6
// (progress_printer.py), torchtitan 0.2 (components/metrics.py), DeepSpeed 0.19 (utils/timer.py,
// runtime/pipe/engine.py), MaxText, Composer, litgpt, nanoGPT and nanochat, torchtune, Hugging Face's speed_metrics and
// the bars of tqdm.
static const TimeWords time_words[] = {
    {"Megatron-LM", "elapsed time per iteration (ms)", NULL, PER_STEP, 1e-3, false},
    {"Megatron-Bridge", "Step Time", NULL, PER_STEP, 1, false},
    {"NeMo", "train_step_timing in s", NULL, PER_STEP, 1, false},
    {"MaxText", "seconds", "completed step", PER_STEP, 1, false},
    {"DeepSpeed", "iter time (s)", NULL, PER_STEP, 1, false},
    {"torchtitan", "tps", "tflops", PER_TOKEN_OF_A_GPU, -1, false},
    {"DeepSpeed", "CurrSamplesPerSec", NULL, PER_SAMPLE, -1, false},
    {"DeepSpeed", "SamplesPerSec", NULL, PER_SAMPLE, -1, false},
    {"Composer", "throughput/batches_per_sec", NULL, PER_STEP, -1, false},
    {"torchtune", "tokens_per_second_per_gpu", NULL, PER_TOKEN_OF_A_GPU, -1, false},
    {"litgpt", "iter time", NULL, PER_MICRO_BATCH, 1e-3, false},
    {"nanochat", "dt", "tok/sec", PER_STEP, 1e-3, false},
    {"nanoGPT", "time", "iter ", PER_STEP, 1e-3, false},
    {"Lightning", NULL, "Epoch", PER_MICRO_BATCH, 1, false}, // bars
    {"Hugging Face Trainer", NULL, NULL, PER_STEP, 1, false},
    {"Hugging Face Trainer", "train_steps_per_second", NULL, PER_STEP, -1, true},
};
enum { TIME_WORDS = sizeof time_words / sizeof *time_words };

static const struct {
    const char *words, *beside;
    LogMemory is;
    double factor;
} memory_words[] = {
    {"max allocated", NULL, LOG_MEMORY_ALLOCATED, 1 << 20},
    {"MaxMemAllocated", NULL, LOG_MEMORY_ALLOCATED, 1 << 30},
    {"Max_MA", NULL, LOG_MEMORY_ALLOCATED, 1 << 30},
    {"peak_memory_alloc", NULL, LOG_MEMORY_ALLOCATED, 1 << 30},
    {"memory", "tps", LOG_MEMORY_RESERVED, 1 << 30},
    {"max reserved", NULL, LOG_MEMORY_RESERVED, 1 << 20},
    {"peak_memory_reserved", NULL, LOG_MEMORY_RESERVED, 1 << 30},
};
enum { MEMORY_WORDS = sizeof memory_words / sizeof *memory_words };

static const char *const flops_words[] = {"throughput per GPU (TFLOP/s/GPU)", "TFLOPS_per_GPU", "tflops",
                                          "TFLOP/s/device"};

static const struct {
    const char *argument, *name;
} settings[] = {{"world_size", "gpus"},
                {"tensor_model_parallel_size", "tp"},
                {"pipeline_model_parallel_size", "pp"},
                {"context_parallel_size", "cp"},
                {"expert_model_parallel_size", "ep"},
                {"micro_batch_size", "micro_batch"},
                {"global_batch_size", "global_batch"},
                {"seq_length", "seq_len"}};
enum { SETTINGS = sizeof settings / sizeof *settings };

// ---- A line.

// The number behind the words, with marks between thousands; NAN: there is none.
static double number_behind(const char *line, const char *words) {
    size_t length = strlen(words);
    for (const char *at = line; (at = strstr(at, words)); at += length) {
        if (at > line && (isalnum((unsigned char)at[-1]) || at[-1] == '_')) continue;
        const char *from = at + length;
        from += strspn(from, " \t:='\"");
        char digits[64];
        size_t count = 0;
        while (count + 1 < sizeof digits && *from) {
            bool mark = *from == ',' && count > 0 && isdigit((unsigned char)from[-1]) &&
                        isdigit((unsigned char)from[1]) && isdigit((unsigned char)from[2]);
            if (!mark && !isdigit((unsigned char)*from) && *from != '.' && *from != 'e' && *from != '-' && *from != '+')
                break;
            if (!mark) digits[count++] = *from;
            from++;
        }
        digits[count] = '\0';
        char *end;
        double number = strtod(digits, &end);
        if (end != digits && number > LEAST && number < MOST) return number;
    }
    return NAN;
}

// "12/1000 [00:34<47:00, 2.85s/it": a bar's total and seconds of an iteration.
static double bar_seconds(const char *line, double *total) {
    const char *open = strchr(line, '['), *unit = open ? strstr(open, "it/s") : NULL;
    bool rate = unit != NULL;
    if (open && !unit) unit = strstr(open, "s/it");
    if (!unit || unit == open) return NAN;
    const char *from = unit;
    while (from > open && (isdigit((unsigned char)from[-1]) || from[-1] == '.')) from--;
    const char *slash = open;
    while (slash > line && *slash != '/') slash--;
    *total = *slash == '/' ? strtod(slash + 1, NULL) : 0;
    double number = from < unit ? strtod(from, NULL) : NAN;
    return number > LEAST && number < MOST ? (rate ? 1 / number : number) : NAN;
}

// ---- All lines.

typedef LIST_OF(double) Samples;

typedef struct LogReading {
    Arena *arena;
    TrainerLog *log;
    Samples times[TIME_WORDS], totals[TIME_WORDS];
    Samples flops, flops_alone;                // of lines with a time, and without
    double memory[MEMORY_WORDS], global_batch; // 0: no line of a step says it
    bool in_arguments;
} LogReading;

static void add_setting(LogReading *reading, const char *name, const char *value) {
    for (int i = 0; i < reading->log->settings.count; i++)
        if (strcmp(reading->log->settings.items[i].name, name) == 0) {
            reading->log->settings.items[i].value = value;
            return;
        }
    LIST_PUSH(reading->arena, &reading->log->settings, ((LogSetting){name, value}));
}

// " micro_batch_size ................................ 4", between two marker lines.
static void read_argument(LogReading *reading, const char *line) {
    if (strstr(line, "-- end of arguments --"))
        reading->in_arguments = false;
    else if (strstr(line, "-- arguments --"))
        reading->in_arguments = true;
    if (!reading->in_arguments) return;
    const char *dots = strstr(line, " ...");
    for (int i = 0; dots && i < SETTINGS; i++) {
        size_t length = strlen(settings[i].argument);
        if ((size_t)(dots - line) < length || strncmp(dots - length, settings[i].argument, length) != 0) continue;
        if (dots - length > line && dots[-(ptrdiff_t)length - 1] != ' ') continue;
        double value = strtod(dots + strspn(dots, " ."), NULL);
        if (value >= 1 && value < 1e9)
            add_setting(reading, settings[i].name, arena_printf(reading->arena, "%.0f", value));
    }
}

static bool read_times(LogReading *reading, const char *line) {
    for (int w = 0; w < TIME_WORDS; w++) {
        const TimeWords *words = &time_words[w];
        double total = 0, number;
        if (words->beside && !strstr(line, words->beside)) continue;
        if (words->words) {
            number = number_behind(line, words->words);
            number = words->factor < 0 ? 1 / number : number * words->factor;
        } else {
            number = bar_seconds(line, &total);
        }
        if (!(number > 0) || reading->times[w].count >= MOST_LINES) continue;
        LIST_PUSH(reading->arena, &reading->times[w], number);
        LIST_PUSH(reading->arena, &reading->totals[w], total);
        return true;
    }
    return false;
}

static void read_line(LogReading *reading, const char *line) {
    read_argument(reading, line);
    bool timed = read_times(reading, line);
    for (int w = 0; w < MEMORY_WORDS; w++) {
        if (memory_words[w].beside && !strstr(line, memory_words[w].beside)) continue;
        double bytes = number_behind(line, memory_words[w].words) * memory_words[w].factor;
        if (bytes > reading->memory[w]) reading->memory[w] = bytes;
    }
    double batch = number_behind(line, "global batch size"); // Megatron's, with each step
    if (batch >= 1 && batch < 1e9) reading->global_batch = batch;
    for (size_t w = 0; w < sizeof flops_words / sizeof *flops_words; w++) {
        double rate = number_behind(line, flops_words[w]);
        Samples *flops = timed ? &reading->flops : &reading->flops_alone;
        if (!(rate > 0) || flops->count >= MOST_LINES) continue;
        LIST_PUSH(reading->arena, flops, rate);
        break;
    }
}

// Without colours and zeros; lines end at \n, bars at \r.
static void read_lines(LogReading *reading, const char *text, size_t bytes) {
    char line[LONGEST_LINE];
    size_t length = 0;
    for (size_t i = 0; i <= bytes; i++) {
        char letter = i < bytes ? text[i] : '\n';
        if (letter == '\033') {
            while (i + 1 < bytes && !isalpha((unsigned char)text[i + 1]) && text[i + 1] != '\n') i++;
            i += i + 1 < bytes && text[i + 1] != '\n';
        } else if (letter == '\n' || letter == '\r') {
            line[length] = '\0';
            if (length > 0) read_line(reading, line);
            length = 0;
        } else if (length + 1 < sizeof line) {
            line[length++] = letter ? letter : ' ';
        }
    }
}

// ---- What they come to.

// Bars of other work (files, maps, evaluation) have other totals: those of the one that is met most.
static void keep_main_bar(Samples *times, const Samples *totals) {
    int most = 0, kept = 0;
    double total = 0;
    for (int i = 0, bars = 0; i < totals->count && bars < MOST_BARS; i++) {
        int alike = 0;
        if (i > 0 && totals->items[i] == totals->items[i - 1]) continue;
        for (int k = i; k < totals->count; k++) alike += totals->items[k] == totals->items[i];
        if (alike > most) most = alike, total = totals->items[i];
        bars++;
    }
    for (int i = 0; i < times->count; i++)
        if (totals->items[i] == total) times->items[kept++] = times->items[i];
    times->count = kept;
}

static double median_of(Arena *arena, const double *items, int count) { return quantile(arena, items, count, 0.5); }

static void weigh(LogReading *reading, const Samples *times) {
    TrainerLog *log = reading->log;
    int count = times->count, warm = 0;
    double later = median_of(reading->arena, times->items + count / 2, count - count / 2), all = 0, more = 0;
    if (count >= FEW)
        for (warm = 1; warm < count / 2 && times->items[warm] > WARM * later;) warm++;
    log->lines = count;
    log->left_out = warm;
    log->seconds = median_of(reading->arena, times->items + warm, count - warm);
    log->fast = quantile(reading->arena, times->items + warm, count - warm, 0.05);
    log->slow = quantile(reading->arena, times->items + warm, count - warm, 0.95);
    for (int i = 0; i < count; i++) {
        double beyond = fmax(0, times->items[i] - log->seconds);
        all += times->items[i];
        if (i < warm) log->warm_share += beyond;
        if (i < warm) continue;
        if (times->items[i] <= STALL * log->seconds) continue;
        log->stalls++;
        more += beyond;
    }
    log->warm_share /= all;
    log->stall_share = more / all;
}

// Of the lines whose times count, where times stand beside them.
static double flops_that_count(const LogReading *reading) {
    const Samples *flops = reading->flops.count ? &reading->flops : &reading->flops_alone;
    int left_out = flops->count == reading->log->lines ? reading->log->left_out : 0;
    return flops->count ? median_of(reading->arena, flops->items + left_out, flops->count - left_out) : 0;
}

const TrainerLog *trainer_log_of_text(Arena *arena, const char *path, const char *text, size_t bytes) {
    LogReading reading = {.arena = arena, .log = ARENA_NEW(arena, TrainerLog)};
    *reading.log = (TrainerLog){.path = path};
    read_lines(&reading, text, bytes);
    int chosen = -1;
    for (int w = 0; w < TIME_WORDS; w++) {
        if (!time_words[w].words) keep_main_bar(&reading.times[w], &reading.totals[w]);
        int count = reading.times[w].count, before = chosen < 0 ? 0 : reading.times[chosen].count;
        if (count > 0 && (chosen < 0 || (before < FEW && count >= FEW))) chosen = w;
    }
    if (chosen < 0) return NULL;
    reading.log->software = time_words[chosen].software;
    reading.log->unit = time_words[chosen].unit;
    reading.log->whole_run = time_words[chosen].whole_run;
    weigh(&reading, &reading.times[chosen]);
    if (reading.global_batch > 0)
        add_setting(&reading, "global_batch", arena_printf(arena, "%.0f", reading.global_batch));
    reading.log->tflops = flops_that_count(&reading);
    for (int w = 0; w < MEMORY_WORDS && !reading.log->memory_is; w++)
        if (reading.memory[w] > 0)
            reading.log->memory_bytes = reading.memory[w], reading.log->memory_is = memory_words[w].is;
    return reading.log;
}

const TrainerLog *trainer_log_read(Arena *arena, const char *path, Problems *problems) {
    size_t bytes = 0;
    const char *text = file_read(arena, path, LARGEST_LOG, &bytes, problems);
    return text ? trainer_log_of_text(arena, path, text, bytes) : NULL;
}

const char *trainer_log_words(Arena *arena) {
    const char *text = "";
    for (int w = 0; w < TIME_WORDS; w++) {
        const char *name = time_words[w].software;
        if (!strstr(text, name)) text = arena_printf(arena, "%s%s%s", text, *text ? ", " : "", name);
    }
    return text;
}

double trainer_log_per_step(const TrainerLog *log, StepOfLog step) {
    switch (log->unit) {
    case PER_MICRO_BATCH:
        return step.micro_batches;
    case PER_SAMPLE:
        return step.samples;
    case PER_TOKEN_OF_A_GPU:
        return step.tokens / step.gpus;
    case PER_STEP:
        break;
    }
    return 1;
}

// ---- In place of a job.

bool file_says_no_job(Arena *arena, const char *path, const char *text, size_t bytes, Problems *problems) {
    const TrainerLog *log = trainer_log_of_text(arena, path, text, bytes);
    bool is_text = strlen(text) == bytes;
    if (!log && is_text && strstr(text, "require")) return false; // as every scenario
    if (log) {
        problem_add(problems, (Where){path, 0}, "this is what %s printed while it trained, and not the job",
                    log->software);
        problem_hint(problems, "beside the job: lockstep check SCRIPT --log %s, or lockstep run SCRIPT --anchor %s",
                     path, path);
    } else {
        problem_add(problems, (Where){path, 0}, is_text ? "this says no job" : "this is no text");
        problem_hint(problems, "what is read: a scenario (FILE.lua), or what starts a training: a launch script, a "
                               "configuration, a manifest (docs/import.md)");
    }
    return true;
}
