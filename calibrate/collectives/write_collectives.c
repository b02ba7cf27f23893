// The scoreboard for programs: JSON, CSV of logs, CSV of every size.
#include <math.h>
#include <stdio.h>

#include "calibrate/collectives/validation.h"
#include "sim/data/csv.h"
#include "sim/data/envelope.h"
#include "sim/data/json.h"
#include "sim/system/file.h"

static void write_number(JsonWriter *json, const char *key, double number) {
    json_key(json, key);
    json_write_number(json, number);
}

static void write_text(JsonWriter *json, const char *key, const char *text) {
    json_key(json, key);
    json_write_text(json, text);
}

static void write_score(JsonWriter *json, const char *key, const Score *score) {
    json_key(json, key);
    json_begin_object(json);
    write_number(json, "sizes", score->sizes);
    write_number(json, "median_error_pct", score->sizes ? 100 * score->median : NAN);
    write_number(json, "p90_error_pct", score->sizes ? 100 * score->p90 : NAN);
    json_end_object(json);
}

static void write_summed(JsonWriter *json, const char *key, const Summed *summed) {
    json_key(json, key);
    json_begin_object(json);
    write_number(json, "logs", summed->logs);
    write_number(json, "median_error_pct", summed->logs ? 100 * summed->median : NAN);
    write_number(json, "p90_over_logs_pct", summed->logs ? 100 * summed->p90_of_medians : NAN);
    write_number(json, "median_of_p90_pct", summed->logs ? 100 * summed->median_of_p90s : NAN);
    write_number(json, "inside_range_pct", summed->logs ? 100 * summed->inside : NAN);
    json_end_object(json);
}

static void write_groups(JsonWriter *json, const Board *board, const char *key, WordOf word_of) {
    bool *chosen = ARENA_ARRAY(board->arena, bool, board->count);
    json_key(json, key);
    json_begin_list(json);
    for (int i = 0; i < board->count; i++) {
        const char *word = word_of(board->scores[i].measured);
        if (seen_before(board, word_of, i) || !choose_word(board, word_of, word, chosen)) continue;
        Summed large = sum_up(board, chosen, true);
        Summed small = sum_up(board, chosen, false);
        json_begin_object(json);
        write_text(json, "name", word);
        write_summed(json, "from_64_kib", &large);
        write_summed(json, "below_64_kib", &small);
        json_end_object(json);
    }
    json_end_list(json);
}

void print_json(const Validation *validation, const Board *board) {
    JsonWriter json = json_writer(stdout, 2);
    json_begin_object(&json);
    envelope_write(&json, "validate-collectives");
    write_number(&json, "logs_predicted", validation->logs.count);
    write_number(&json, "logs_given", validation->logs.count + validation->skipped.count);
    json_key(&json, "logs");
    json_begin_list(&json);
    for (int i = 0; i < board->count; i++) {
        const LogScore *score = &board->scores[i];
        json_begin_object(&json);
        write_text(&json, "log", score->measured->log->name);
        write_text(&json, "op", score->measured->cluster->op);
        write_text(&json, "family", score->measured->cluster->family);
        write_text(&json, "constants",
                   score->measured->fitted     ? "fitted on this log"
                   : score->measured->informed ? "fitted on this machine"
                                               : "shipped");
        write_score(&json, "from_64_kib", &score->large);
        write_score(&json, "below_64_kib", &score->small);
        json_key(&json, "assumptions");
        json_begin_list(&json);
        for (int a = 0; a < score->measured->cluster->assumption_count; a++)
            json_write_text(&json, score->measured->cluster->assumptions[a]);
        json_end_list(&json);
        json_end_object(&json);
    }
    json_end_list(&json);
    json_key(&json, "skipped");
    json_begin_list(&json);
    for (int i = 0; i < validation->skipped.count; i++) {
        json_begin_object(&json);
        write_text(&json, "log", validation->skipped.items[i].log);
        write_text(&json, "reason", validation->skipped.items[i].reason);
        json_end_object(&json);
    }
    json_end_list(&json);
    write_groups(&json, board, "families", family_word);
    write_groups(&json, board, "operations", op_word);
    write_groups(&json, board, "all", all_word);
    json_end_object(&json);
    printf("\n");
}

bool write_rows(const Validation *validation, const char *path) {
    OutputFile file;
    if (!file_create(validation->arena, path, &file, validation->problems)) return false;
    csv_titles(file.stream, "log,op,size,measured_us,predicted_us,error_pct");
    CsvWriter csv = csv_writer(file.stream);
    for (int i = 0; i < validation->logs.count; i++) {
        const MeasuredCollective *measured = &validation->logs.items[i];
        for (int r = 0; r < measured->log->row_count; r++) {
            const NcclRow *row = &measured->log->rows[r];
            csv_text(&csv, measured->log->name);
            csv_text(&csv, measured->cluster->op);
            csv_figures(&csv, "%.0f,%.6g,%.6g,%.4g", row->bytes, 1e6 * row->seconds, 1e6 * measured->predicted[r],
                        100 * (measured->predicted[r] / row->seconds - 1));
            csv_end_row(&csv);
        }
    }
    return file_commit(&file, validation->problems);
}

void print_csv(const Board *board) {
    CsvWriter csv = csv_writer(stdout);
    csv_titles(stdout, "log,op,family,sizes_from_64_kib,median_error_pct,p90_error_pct,sizes_below,"
                       "median_error_pct_below,p90_error_pct_below");
    for (int i = 0; i < board->count; i++) {
        const LogScore *score = &board->scores[i];
        csv_text(&csv, score->measured->log->name);
        csv_text(&csv, score->measured->cluster->op);
        csv_text(&csv, score->measured->cluster->family);
        csv_figures(&csv, "%d,%.4g,%.4g", score->large.sizes, 100 * score->large.median, 100 * score->large.p90);
        csv_figures(&csv, "%d,%.4g,%.4g", score->small.sizes, 100 * score->small.median, 100 * score->small.p90);
        csv_end_row(&csv);
    }
}
