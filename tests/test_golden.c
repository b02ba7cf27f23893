// What the program answers, kept: every example and lesson, every measured run and log, and some hundred drawn jobs.
// A commit that moves an answer writes tests/golden anew (make golden), and its message says what moved and why.
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calibrate/training/training.h"
#include "scenarios/study/study.h"
#include "sim/base/digest.h"
#include "sim/data/csv.h"
#include "tests/child.h"
#include "tests/command.h"
#include "tests/draw_study.h"
#include "tests/golden.h"
#include "tests/script.h"
#include "tests/test.h"

#define JOBS 300
#define JOB_MARK "-- job "

// ---- Examples and lessons.

static int is_script(const struct dirent *entry) {
    size_t length = strlen(entry->d_name);
    return length > 4 && strcmp(entry->d_name + length - 4, ".lua") == 0;
}

static void answers_of_folder(const char *folder, const char *holds, FILE *out) {
    static char output[1 << 20];
    struct dirent **entries;
    int count = scandir(folder, &entries, is_script, alphasort);
    EXPECT(count > 0);
    for (int i = 0; i < count; i++) {
        char command[512];
        snprintf(command, sizeof command, "$LOCKSTEP run %s/%s --json --date 2026-11-21", folder, entries[i]->d_name);
        int status = test_shell(command, output, sizeof output);
        drop_envelopes(output);
        EXPECT_CONTAINS(output, holds);
        const char *digest = strstr(output, "\"digest\": \"");
        fprintf(out, "%s/%s exit %d digest %.16s answer %016llx\n", folder, entries[i]->d_name, status,
                digest ? digest + strlen("\"digest\": \"") : "none",
                (unsigned long long)digest_bytes(DIGEST_START, output, strlen(output)));
        free(entries[i]);
    }
    free(entries);
}

// Twice the same, too: what is kept is of another process, on another day.
LONG_TEST(4, examples_and_lessons_answer_what_they_answered) {
    GoldenText *text = golden_open();
    answers_of_folder("scenarios/examples", "\"published\"", text->out);
    answers_of_folder("scenarios/examples/packets", "\"digest\"", text->out);
    answers_of_folder("scenarios/lessons", "", text->out);
    golden_compare("scenarios.txt", text);
}

// ---- Measured runs and logs. Six digits: more than anybody needs, fewer than two mathematical libraries differ in.
// Not under sanitizers, which have the same code in tests of validate: make digests compares builds.

static const Csv *rows_of(const char *command, Arena *arena) {
    char folder[] = "/tmp/lockstep-golden-XXXXXX", path[64], line[256], output[1024];
    EXPECT(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/rows.csv", folder);
    snprintf(line, sizeof line, "%s --rows %s | tail -c 1000", command, path);
    EXPECT_INT(test_shell(line, output, sizeof output), 0);
    const Csv *csv = csv_read_file(arena, path, problems_create(arena));
    EXPECT(csv != NULL);
    unlink(path);
    rmdir(folder);
    return csv;
}

static const char *cell(const Csv *csv, int row, const char *word, Arena *arena) {
    return csv_cell(csv, row, csv_column(csv, word, problems_create(arena)));
}

static double number(const Csv *csv, int row, const char *word, Arena *arena) {
    const char *text = cell(csv, row, word, arena);
    return *text ? strtod(text, NULL) : NAN;
}

LONG_TEST(4, measured_runs_are_predicted_as_they_were) {
    if (HAS_ADDRESS_SANITIZER) return;
    Arena *arena = arena_open();
    GoldenText *text = golden_open();
    const Csv *csv = rows_of("$LOCKSTEP validate training", arena);
    for (int i = 0; csv && i < csv->row_count; i++) {
        fprintf(text->out, "%s %s %s %.6g s %.6g B\n", cell(csv, i, "row_id", arena), cell(csv, i, "family", arena),
                cell(csv, i, "status", arena), number(csv, i, "predicted_step_s", arena),
                number(csv, i, "predicted_mem_bytes", arena));
        EXPECT(family_is_known(cell(csv, i, "family", arena)));
    }
    golden_compare("training.txt", text);
    arena_close(arena);
}

// One line a log: its smallest, middle and largest size, and a digest of all.
LONG_TEST(2, measured_collectives_are_predicted_as_they_were) {
    if (HAS_ADDRESS_SANITIZER) return;
    Arena *arena = arena_open();
    GoldenText *text = golden_open();
    const Csv *csv = rows_of("$LOCKSTEP validate collectives", arena);
    for (int first = 0, end; csv && first < csv->row_count; first = end) {
        const char *log = cell(csv, first, "log", arena), *op = cell(csv, first, "op", arena);
        uint64_t digest = DIGEST_START;
        for (end = first; end < csv->row_count && strcmp(cell(csv, end, "log", arena), log) == 0 &&
                          strcmp(cell(csv, end, "op", arena), op) == 0;
             end++) {
            const char *us = arena_printf(arena, "%.6g", number(csv, end, "predicted_us", arena));
            digest = digest_bytes(digest, us, strlen(us));
        }
        fprintf(text->out, "%s %s %d sizes: %.6g %.6g %.6g us, all %016llx\n", log, op, end - first,
                number(csv, first, "predicted_us", arena), number(csv, (first + end - 1) / 2, "predicted_us", arena),
                number(csv, end - 1, "predicted_us", arena), (unsigned long long)digest);
    }
    golden_compare("collectives.txt", text);
    arena_close(arena);
}

// ---- Drawn jobs. Their scripts are kept too, since what is drawn from a seed changes with every new field.

static void draw_jobs(const char *path) {
    FILE *file = fopen(path, "w");
    EXPECT(file != NULL);
    if (!file) return;
    FOR_SEEDS (seed, 1, JOBS) {
        DrawnStudy study = draw_study(seed);
        fprintf(file, JOB_MARK "%d\n", (int)seed);
        drawn_write(&study, file);
    }
    fclose(file);
}

static void answers_of_record(const Record *record, FILE *out) {
    for (int i = 0; i < record->point_count; i++) {
        const RecordPoint *point = &record->points[i];
        if (!point->ran)
            fprintf(out, " [%s]", point->why_not);
        else
            fprintf(out, " %.6g s %.6g B mfu %.4g days %.6g cost %.6g %.6g kWh %016llx", point->step_p50_s,
                    point->memory_peak_bytes, point->mfu, point->days, point->cost_per_run, point->energy_kwh,
                    (unsigned long long)point->digest);
    }
}

static void answers_of_script(const char *script, FILE *out) {
    Loaded loaded = load_script(script, NULL);
    for (int i = 0; loaded.scenario && i < loaded.scenario->item_count; i++) {
        const StudySpec *study = loaded.scenario->items[i].study;
        const Record *record = study ? study_run(loaded.arena, study, loaded.problems) : NULL;
        if (record) answers_of_record(record, out);
    }
    fprintf(out, " %s\n", first_problem(&loaded));
    unload(&loaded);
}

LONG_TEST(2, drawn_jobs_are_simulated_as_they_were) {
    char *jobs = golden_read(GOLDEN "jobs.txt");
    if (!*jobs && getenv("LOCKSTEP_GOLDEN")) {
        draw_jobs(GOLDEN "jobs.txt");
        free(jobs);
        jobs = golden_read(GOLDEN "jobs.txt");
    }
    GoldenText *text = golden_open();
    int count = 0;
    for (char *at = strstr(jobs, JOB_MARK), *next; at; at = next, count++) {
        next = strstr(at + 1, JOB_MARK);
        if (next) next[-1] = '\0';
        fprintf(text->out, "job %d:", count + 1);
        answers_of_script(at, text->out);
    }
    EXPECT_INT(count, JOBS);
    golden_compare("jobs_answers.txt", text);
    free(jobs);
}
