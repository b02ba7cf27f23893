// The scoreboard as text: assumptions, groups, the worst logs, and every log when asked.
#include <stdio.h>
#include <string.h>

#include "calibrate/collectives/validation.h"

static void print_summed(const Summed *summed) {
    if (summed->logs)
        printf("  %6.1f %6.1f %6.1f %6.0f", 100 * summed->median, 100 * summed->p90_of_medians,
               100 * summed->median_of_p90s, 100 * summed->inside);
    else
        printf("  %6s %6s %6s %6s", "-", "-", "-", "-");
}

static void print_groups(const Board *board, const char *title, WordOf word_of) {
    bool *chosen = ARENA_ARRAY(board->arena, bool, board->count);
    printf("%-40s logs  %27s  %27s\n", title, "from 64 KiB, %", "below 64 KiB, %");
    printf("%-40s       %6s %6s %6s %6s  %6s %6s %6s %6s\n", "", "median", "p90", "m.p90", "range", "median", "p90",
           "m.p90", "range");
    for (int i = 0; i < board->count; i++) {
        const char *word = word_of(board->scores[i].measured);
        if (seen_before(board, word_of, i)) continue;
        int logs = choose_word(board, word_of, word, chosen);
        if (!logs) continue;
        Summed large = sum_up(board, chosen, true);
        Summed small = sum_up(board, chosen, false);
        printf("%-40s %4d", word, logs);
        print_summed(&large);
        print_summed(&small);
        printf("\n");
    }
    printf("\n");
}

static void print_score(const Score *score) {
    if (score->sizes)
        printf("  %5d %6.1f %6.1f", score->sizes, 100 * score->median, 100 * score->p90);
    else
        printf("  %5s %6s %6s", "-", "-", "-");
}

static void print_logs(const Board *board) {
    printf("%-54s %-14s %20s  %20s\n", "log", "op", "from 64 KiB, %", "below 64 KiB, %");
    printf("%-54s %-14s %6s %6s %6s  %6s %6s %6s\n", "", "", "sizes", "median", "p90", "sizes", "median", "p90");
    for (int i = 0; i < board->count; i++) {
        const LogScore *score = &board->scores[i];
        printf("%-54s %-14s", score->measured->log->name, score->measured->cluster->op);
        print_score(&score->large);
        print_score(&score->small);
        printf("%s\n", score->measured->fitted ? "  fitted on" : score->measured->informed ? "  machine fitted" : "");
    }
    printf("\n");
}

static void print_assumptions(const Validation *validation) {
    const Measurements *logs = &validation->logs;
    bool any = false;
    for (int i = 0; i < logs->count; i++)
        for (int a = 0; a < logs->items[i].cluster->assumption_count; a++) {
            const char *text = logs->items[i].cluster->assumptions[a];
            bool seen = false;
            int sharing = 0;
            for (int j = 0; j < logs->count; j++)
                for (int b = 0; b < logs->items[j].cluster->assumption_count; b++) {
                    if (strcmp(logs->items[j].cluster->assumptions[b], text) != 0) continue;
                    sharing++;
                    seen = seen || j < i;
                }
            if (seen) continue;
            if (!any) printf("Assumed where clusters.csv says nothing:\n");
            any = true;
            printf("  %s (%d log%s)\n", text, sharing, sharing == 1 ? "" : "s");
        }
    if (any) printf("\n");
}

static void print_skipped(const Validation *validation) {
    for (int i = 0; i < validation->skipped.count; i++)
        printf("skipped %s: %s\n", validation->skipped.items[i].log, validation->skipped.items[i].reason);
}

static int next_worst(const Board *board, const bool *shown) {
    int worst = -1;
    for (int i = 0; i < board->count; i++) {
        const LogScore *score = &board->scores[i];
        if (shown[i] || !score->large.sizes || (board->only_informed && !score->measured->informed)) continue;
        if (worst < 0 || score->large.median > board->scores[worst].large.median) worst = i;
    }
    return worst;
}

static void print_machine_sum(const MachineSummed *summed) {
    if (summed->machines)
        printf("  %6.1f %6.1f %6s %6.0f", 100 * summed->median, 100 * summed->p90, "", 100 * summed->inside);
    else
        printf("  %6s %6s %6s %6s", "-", "-", "", "-");
}

// Many logs of one machine are no more than one machine; inside a node others count than between nodes.
static void print_machine_votes(const Validation *validation) {
    static const char *const titles[] = {"inside a node", "between nodes", "all"};
    printf("%-40s mach.  %26s  %27s\n", "one vote per machine", "from 64 KiB, %", "below 64 KiB, %");
    for (int t = 0; t < 3; t++) {
        Measurements chosen = {.items = ARENA_ARRAY(validation->arena, MeasuredCollective, validation->logs.count)};
        for (int i = 0; i < validation->logs.count; i++)
            if (t == 2 || spans_nodes(validation->logs.items[i].cluster) == (t == 1))
                chosen.items[chosen.count++] = validation->logs.items[i];
        MachineSummed large = sum_machines(validation->arena, &chosen, true),
                      small = sum_machines(validation->arena, &chosen, false);
        printf("%-40s %4d", titles[t], large.machines);
        print_machine_sum(&large);
        print_machine_sum(&small);
        printf("\n");
    }
    printf("\n");
}

static void print_worst(const Board *board) {
    bool *shown = ARENA_ARRAY(board->arena, bool, board->count);
    printf("The worst ten from 64 KiB, with the likely reason\n");
    for (int i = 0; i < 10; i++) {
        int worst = next_worst(board, shown);
        if (worst < 0) break;
        const LogScore *score = &board->scores[worst];
        shown[worst] = true;
        printf("  %6.1f  %-48s %s\n", 100 * score->large.median, score->measured->log->name,
               likely_reason(board->arena, score->measured));
    }
    printf("\n");
}

void print_board(const Validation *validation, const Board *board, bool verbose) {
    if (verbose) print_logs(board);
    print_assumptions(validation);
    print_groups(board, "family", family_word);
    print_groups(board, "operation", op_word);
    print_groups(board, "type of GPU", gpu_word);
    print_groups(board, "", all_word);
    print_machine_votes(validation);
    print_worst(board);
    print_skipped(validation);
    printf("coverage: %d of %d logs\n", validation->logs.count, validation->logs.count + validation->skipped.count);
    printf("median and p90 are over logs, of each log's median |predicted / measured - 1|; m.p90 is the median of the "
           "logs' p90s;\nrange is the share of sizes inside the 90 %% range that the description leaves (90 when it is "
           "honest)\n");
}
