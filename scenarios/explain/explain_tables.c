// The tables behind the sentences.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/explain/explain.h"
#include "scenarios/explain/explain_cells.h"
#include "sim/list.h"
#include "sim/text.h"

#define NAMES_SHOWN 12
#define RANKS_SHOWN 16
#define LINKS_SHOWN 8

// ---- The path by cause: parts of a transfer beside it.

static const RecordColumn cause_columns[] = {
    {"cause", "cause", RECORD_TEXT},          {"seconds", "time", RECORD_SECONDS},
    {"share", "share", RECORD_SHARE},         {"ticks", NULL, RECORD_NUMBER},
    {"latency_s", "latency", RECORD_SECONDS}, {"bytes_s", "bytes alone", RECORD_SECONDS},
    {"sharing_s", "sharing", RECORD_SECONDS},
};

static RecordTable causes_table(Arena *arena, const StepChain *chain) {
    Cells cells = {0};
    for (int c = 0; c < CAUSE_COUNT; c++) {
        if (chain->by_cause[c] == 0) continue;
        bool transfers = chain->latency[c] + chain->flow[c] + chain->sharing[c] > 0;
        text_cell(arena, &cells, cause_titles[c]);
        number_cell(arena, &cells, step_seconds(chain->by_cause[c]));
        number_cell(arena, &cells, (double)chain->by_cause[c] / (double)chain->end);
        number_cell(arena, &cells, (double)chain->by_cause[c]);
        number_cell(arena, &cells, transfers ? step_seconds(chain->latency[c]) : NAN);
        number_cell(arena, &cells, transfers ? step_seconds(chain->flow[c]) : NAN);
        number_cell(arena, &cells, transfers ? step_seconds(chain->sharing[c]) : NAN);
    }
    RecordTable table =
        table_of("critical_path", "The critical path by cause (sums to the step)", COLUMNS(cause_columns), &cells);
    table.note =
        "The path says what to shorten: the step ends sooner with it. The mean over GPUs says how well they are "
        "used. Of transfers: latency, bytes alone (at the links' full rate) and sharing (links shared with "
        "others).";
    return table;
}

// ---- The same by name.

typedef struct Named {
    Cause cause;
    const char *way, *what, *link; // way: forward, backward, outside passes
    int64_t pieces;
    SimTime time, slack;
} Named;

typedef struct NamedList {
    Named *items;
    int count, room;
} NamedList;

static const char *way_of(const StepPiece *piece) {
    if (!piece->is_pass) return *piece->pass ? piece->pass : "around passes";
    return *piece->pass == 'F' ? "forward" : *piece->pass == 'B' || *piece->pass == 'W' ? "backward" : "around passes";
}

static void add_named(Arena *arena, NamedList *list, const StepPiece *piece) {
    const char *way = way_of(piece);
    for (int i = 0; i < list->count; i++) {
        Named *known = &list->items[i];
        if (known->cause != piece->cause || strcmp(known->way, way) != 0 || strcmp(known->what, piece->what) != 0 ||
            strcmp(known->link, piece->link) != 0)
            continue;
        known->pieces++;
        known->time += piece->end - piece->start;
        if (piece->slack < known->slack) known->slack = piece->slack;
        return;
    }
    LIST_PUSH(arena, list,
              ((Named){piece->cause, way, piece->what, piece->link, 1, piece->end - piece->start, piece->slack}));
}

static int by_time(const void *a, const void *b) {
    const Named *one = a, *other = b;
    if (one->time != other->time) return one->time < other->time ? 1 : -1;
    return (one->cause > other->cause) - (one->cause < other->cause);
}

static const RecordColumn name_columns[] = {
    {"cause", "cause", RECORD_TEXT},       {"where", "in", RECORD_TEXT},       {"what", "between", RECORD_TEXT},
    {"link", "fullest link", RECORD_TEXT}, {"pieces", "pieces", RECORD_COUNT}, {"seconds", "time", RECORD_SECONDS},
    {"share", "share", RECORD_SHARE},
};

static RecordTable names_table(Arena *arena, const StepChain *chain) {
    Cells cells = {0};
    NamedList list = {0};
    for (int64_t i = 0; i < chain->count; i++) add_named(arena, &list, &chain->pieces[i]);
    if (list.count) qsort(list.items, (size_t)list.count, sizeof *list.items, by_time);
    for (int i = 0; i < list.count && i < NAMES_SHOWN; i++) {
        const Named *named = &list.items[i];
        text_cell(arena, &cells, cause_titles[named->cause]);
        text_cell(arena, &cells, named->way);
        text_cell(arena, &cells, named->what);
        text_cell(arena, &cells, named->link);
        number_cell(arena, &cells, (double)named->pieces);
        number_cell(arena, &cells, step_seconds(named->time));
        number_cell(arena, &cells, (double)named->time / (double)chain->end);
    }
    return table_of("operations", "Operations on the critical path", COLUMNS(name_columns), &cells);
}

// ---- By operator.

static const RecordColumn operator_columns[] = {
    {"operator", "operator", RECORD_TEXT}, {"pass", "in", RECORD_TEXT},         {"cause", "as", RECORD_TEXT},
    {"layers", "layers", RECORD_COUNT},    {"seconds", "time", RECORD_SECONDS}, {"share", "of the step", RECORD_SHARE},
    {"ticks", NULL, RECORD_NUMBER},
};
static const char *const way_names[PASS_WAYS] = {"forward", "backward", "backward of weights"};

static RecordTable operators_table(Arena *arena, const Explanation *now) {
    Cells cells = {0};
    for (int i = 0; i < now->operator_count; i++) {
        const StepOperator *one = &now->operators[i];
        text_cell(arena, &cells, one->name);
        text_cell(arena, &cells, way_names[one->way]);
        text_cell(arena, &cells, cause_titles[one->cause]);
        number_cell(arena, &cells, one->blocks > 0 ? one->blocks : NAN);
        number_cell(arena, &cells, step_seconds(one->time));
        number_cell(arena, &cells, (double)one->time / (double)now->step.chain->end);
        number_cell(arena, &cells, (double)one->time);
    }
    return table_of("operators", "The passes on the critical path by operator (sums to their compute)",
                    COLUMNS(operator_columns), &cells);
}

// ---- Ranks.

static const RecordColumn rank_columns[] = {
    {"rank", "rank", RECORD_COUNT},
    {"ranks_alike", "others alike", RECORD_COUNT},
    {"stage", "stage", RECORD_COUNT},
    {"on_path_s", "on the path", RECORD_SECONDS},
    {"computing_s", "computing", RECORD_SECONDS},
    {"tp_s", "TP", RECORD_SECONDS},
    {"pp_s", "PP", RECORD_SECONDS},
    {"dp_s", "DP", RECORD_SECONDS},
    {"other_s", "other", RECORD_SECONDS},
    {"waiting_s", "idle at the end", RECORD_SECONDS},
};

static const StepRank **most_on_chain(Arena *arena, const StepChain *chain, int *count) {
    const StepRank **ranks = ARENA_ARRAY(arena, const StepRank *, RANKS_SHOWN);
    *count = 0;
    for (int i = 0; i < chain->rank_count; i++) {
        int at = *count < RANKS_SHOWN ? (*count)++ : RANKS_SHOWN - 1;
        if (at == RANKS_SHOWN - 1 && ranks[at] && ranks[at]->on_chain >= chain->ranks[i].on_chain) continue;
        for (; at > 0 && ranks[at - 1]->on_chain < chain->ranks[i].on_chain; at--) ranks[at] = ranks[at - 1];
        ranks[at] = &chain->ranks[i];
    }
    return ranks;
}

static RecordTable ranks_table(Arena *arena, const StepChain *chain) {
    Cells cells = {0};
    int count;
    const StepRank **ranks = most_on_chain(arena, chain, &count);
    for (int i = 0; i < count; i++) {
        const StepRank *rank = ranks[i];
        SimTime computing = 0, other = 0;
        for (int c = 0; c < CAUSE_COUNT; c++) {
            if (c <= CAUSE_OPTIMIZER)
                computing += rank->spent[c];
            else if (c != CAUSE_TP && c != CAUSE_PP && c != CAUSE_DP)
                other += rank->spent[c];
        }
        number_cell(arena, &cells, rank->rank);
        number_cell(arena, &cells, rank->ranks - 1);
        number_cell(arena, &cells, rank->stage);
        number_cell(arena, &cells, step_seconds(rank->on_chain));
        number_cell(arena, &cells, step_seconds(computing));
        number_cell(arena, &cells, step_seconds(rank->spent[CAUSE_TP]));
        number_cell(arena, &cells, step_seconds(rank->spent[CAUSE_PP]));
        number_cell(arena, &cells, step_seconds(rank->spent[CAUSE_DP]));
        number_cell(arena, &cells, step_seconds(other));
        number_cell(arena, &cells, step_seconds(rank->waiting));
    }
    RecordTable table = table_of("ranks", "Ranks: those the path goes through most, and where their time goes",
                                 COLUMNS(rank_columns), &cells);
    table.note =
        "TP, PP, DP: tensor, pipeline and data parallel traffic and the waits for it that a rank does not hide; "
        "idle at the end: it is done before the last rank.";
    return table;
}

// ---- Links.

static const RecordColumn link_columns[] = {
    {"link", "link", RECORD_TEXT},
    {"busy", "busy", RECORD_SHARE},
    {"gigabytes", "carried (GB)", RECORD_NUMBER},
    {"gigabytes_per_s", "capacity (GB/s)", RECORD_NUMBER},
};

static RecordTable links_table(Arena *arena, const StepChain *chain) {
    Cells cells = {0};
    for (int i = 0; i < chain->link_count && i < LINKS_SHOWN; i++) {
        text_cell(arena, &cells, chain->links[i].name);
        number_cell(arena, &cells, chain->links[i].busy);
        number_cell(arena, &cells, chain->links[i].bytes / 1e9);
        number_cell(arena, &cells, chain->links[i].bytes_per_second / 1e9);
    }
    RecordTable table = table_of("links", "Links that are busiest", COLUMNS(link_columns), &cells);
    table.note = "Busy: the share of the step that its bytes would take at its full capacity.";
    return table;
}

// ---- Changes.

static const RecordColumn setting_columns[] = {
    {"kind", NULL, RECORD_TEXT},
    {"change", "change", RECORD_TEXT},
    {"step_s", NULL, RECORD_SECONDS},
    {"gain_s", "saves", RECORD_SECONDS},
    {"gain_share", "share", RECORD_SHARE},
    {"gain_p5_s", "at least", RECORD_SECONDS},
    {"gain_p95_s", "at most", RECORD_SECONDS},
    {"cost_per_step", "a step costs", RECORD_NUMBER},
    {"memory_gib", "GiB", RECORD_NUMBER},
    {"chance_to_run_out", "OOM risk", RECORD_SHARE},
    {"note", NULL, RECORD_TEXT},
};
enum { SETTING_COLUMNS = sizeof setting_columns / sizeof *setting_columns };

// Without prices there is no column of money on the screen.
static const RecordColumn *setting_columns_of(Arena *arena, const Explanation *now) {
    RecordColumn *columns = ARENA_ARRAY(arena, RecordColumn, SETTING_COLUMNS);
    memcpy(columns, setting_columns, sizeof setting_columns);
    for (int c = 0; c < SETTING_COLUMNS; c++)
        if (strcmp(columns[c].name, "cost_per_step") == 0 && !isfinite(now->point.cost_per_step))
            columns[c].title = NULL;
        else if (strcmp(columns[c].name, "cost_per_step") == 0)
            columns[c].title = arena_printf(arena, "%s/step", now->point.currency ? now->point.currency : "USD");
    return columns;
}

static RecordTable settings_table(Arena *arena, const Explanation *now) {
    Cells cells = {0};
    for (int i = 0; i < now->ran_count; i++) {
        const Change *change = &now->changes[i];
        if (change->kind == CHANGE_RESOURCE) continue;
        text_cell(arena, &cells, change_kind_names[change->kind]);
        text_cell(arena, &cells, change->title);
        number_cell(arena, &cells, change->step_s);
        number_cell(arena, &cells, change->gain_s);
        number_cell(arena, &cells, change->gain_s / now->point.step_p50_s);
        number_cell(arena, &cells, change->gain_low_s);
        number_cell(arena, &cells, change->gain_high_s);
        number_cell(arena, &cells, change->step_cost);
        number_cell(arena, &cells, change->memory_bytes / 1073741824.0);
        number_cell(arena, &cells, change->chance_to_run_out);
        text_cell(arena, &cells, change->note ? change->note : "");
    }
    RecordTable table = table_of("settings", "What would help: one setting changed, simulated again",
                                 setting_columns_of(arena, now), SETTING_COLUMNS, &cells);
    table.note = arena_printf(
        arena,
        "Saves: of the step, at the same global batch of %s (of fewer GPUs too: each replica then takes more of it), "
        "with its share of the step; at least, at most: 90 %% range. GiB: estimated peak of the fullest GPU; OOM risk: "
        "the chance that its memory runs out.",
        text_count(arena, now->point.global_batch, true));
    return table;
}

static const RecordColumn resource_columns[] = {
    {"resource", NULL, RECORD_TEXT},
    {"change", "resource", RECORD_TEXT},
    {"step_s", NULL, RECORD_SECONDS},
    {"gain_s", "saves", RECORD_SECONDS},
    {"gain_share", "share", RECORD_SHARE},
    {"gain_p5_s", NULL, RECORD_SECONDS},
    {"gain_p95_s", NULL, RECORD_SECONDS},
    {"tenth_gain_s", "10 % faster", RECORD_SECONDS},
    {"limit_gain_s", "infinitely fast", RECORD_SECONDS},
};

static RecordTable resources_table(Arena *arena, const Explanation *now) {
    Cells cells = {0};
    for (int i = 0; i < now->ran_count; i++) {
        const Change *change = &now->changes[i];
        if (change->kind != CHANGE_RESOURCE) continue;
        text_cell(arena, &cells, change->name);
        text_cell(arena, &cells, change->title);
        number_cell(arena, &cells, change->step_s);
        number_cell(arena, &cells, change->gain_s);
        number_cell(arena, &cells, change->gain_s / now->point.step_p50_s);
        number_cell(arena, &cells, change->gain_low_s);
        number_cell(arena, &cells, change->gain_high_s);
        number_cell(arena, &cells, change->tenth_s);
        number_cell(arena, &cells, change->limit_s);
    }
    RecordTable table = table_of("resources", "What a quicker machine would give: one resource twice as quick",
                                 COLUMNS(resource_columns), &cells);
    table.note =
        "Saves: of the step with that resource twice as fast (half the latency), and what it would save if it were "
        "10 % or infinitely fast; where 10 % saves as much, another resource decides right after; a dash: not asked, "
        "for it "
        "saves too little.";
    return table;
}

static const RecordColumn life_columns[] = {
    {"name", NULL, RECORD_TEXT},          {"change", "weeks", RECORD_TEXT},
    {"goodput", "goodput", RECORD_SHARE}, {"goodput_gain", "more", RECORD_SHARE},
    {"days", "days", RECORD_NUMBER},
};

static void life_row(Arena *arena, Cells *cells, const Explanation *now, const LifeChange *change) {
    text_cell(arena, cells, change->name);
    text_cell(arena, cells, change->title);
    number_cell(arena, cells, change->goodput);
    number_cell(arena, cells, change->goodput - now->goodput);
    number_cell(arena, cells, change->days);
}

static RecordTable life_table(Arena *arena, const Explanation *now) {
    Cells cells = {0};
    if (isfinite(now->goodput)) life_row(arena, &cells, now, &(LifeChange){"now", "as it is", now->goodput, now->days});
    for (int i = 0; i < now->life_count; i++) life_row(arena, &cells, now, &now->life[i]);
    return table_of("life", "Failures and checkpoints: the same weeks with one thing changed", COLUMNS(life_columns),
                    &cells);
}

static const RecordColumn refused_columns[] = {
    {"change", "change", RECORD_TEXT},
    {"why_not", "why it is not possible", RECORD_TEXT},
};

static RecordTable refused_table(Arena *arena, const Explanation *now) {
    Cells cells = {0};
    for (int i = now->ran_count; i < now->change_count; i++) {
        text_cell(arena, &cells, now->changes[i].title);
        text_cell(arena, &cells, now->changes[i].why_not);
    }
    RecordTable table = table_of("not_possible", "Not possible", COLUMNS(refused_columns), &cells);
    table.note = "What lacks memory is refused from a chance of 95 % on that memory runs out; below that it is tried.";
    return table;
}

// ---- Operators.

static const RecordColumn roofline_columns[] = {
    {"operator", "operator", RECORD_TEXT},
    {"kind", "kind", RECORD_TEXT},
    {"times", "calls", RECORD_COUNT},
    {"gigaflop", "GFLOP each", RECORD_NUMBER},
    {"megabytes", "MB each", RECORD_NUMBER},
    {"flop_per_byte", "FLOP/B", RECORD_NUMBER},
    {"ridge", NULL, RECORD_NUMBER},
    {"bound", "bound by", RECORD_TEXT},
    {"of_peak", "of peak FLOP/s", RECORD_SHARE},
    {"of_bandwidth", "of bandwidth", RECORD_SHARE},
    {"seconds", "all calls", RECORD_SECONDS},
    {"share", "share", RECORD_SHARE},
};

static RecordTable roofline_table(Arena *arena, const Explanation *now) {
    Cells cells = {0};
    double all = 0;
    for (int i = 0; i < now->roofline_count; i++) all += now->roofline[i].seconds;
    for (int i = 0; i < now->roofline_count; i++) {
        const RooflineRow *row = &now->roofline[i];
        double intensity = row->bytes > 0 ? row->flops / row->bytes : INFINITY;
        text_cell(arena, &cells, row->name);
        text_cell(arena, &cells, row->kind);
        number_cell(arena, &cells, row->times);
        number_cell(arena, &cells, row->flops / 1e9);
        number_cell(arena, &cells, row->bytes / 1e6);
        number_cell(arena, &cells, intensity);
        number_cell(arena, &cells, row->ridge);
        text_cell(arena, &cells, intensity >= row->ridge ? "arithmetic" : "memory");
        number_cell(arena, &cells, row->of_peak);
        number_cell(arena, &cells, row->of_bandwidth);
        number_cell(arena, &cells, row->seconds);
        number_cell(arena, &cells, all > 0 ? row->seconds / all : 0);
    }
    return table_of("roofline", "Roofline: forward of one micro-batch through all layers, a GPU's share of each",
                    COLUMNS(roofline_columns), &cells);
}

// ---- The path itself, for other programs: not on the screen.

static const RecordColumn chain_columns[] = {
    {"start_ps", "", RECORD_NUMBER},   {"end_ps", "", RECORD_NUMBER},     {"cause", "", RECORD_TEXT},
    {"rank", "", RECORD_COUNT},        {"stream", "", RECORD_TEXT},       {"pass", "", RECORD_TEXT},
    {"what", "", RECORD_TEXT},         {"link", "", RECORD_TEXT},         {"bytes", "", RECORD_NUMBER},
    {"latency_ps", "", RECORD_NUMBER}, {"sharing_ps", "", RECORD_NUMBER}, {"slack_ps", "", RECORD_NUMBER},
};

static RecordTable chain_table(Arena *arena, const StepChain *chain) {
    Cells cells = {0};
    for (int64_t i = 0; i < chain->count; i++) {
        const StepPiece *piece = &chain->pieces[i];
        number_cell(arena, &cells, (double)piece->start);
        number_cell(arena, &cells, (double)piece->end);
        text_cell(arena, &cells, cause_names[piece->cause]);
        number_cell(arena, &cells, piece->rank);
        text_cell(arena, &cells, piece->stream);
        text_cell(arena, &cells, piece->pass);
        text_cell(arena, &cells, piece->what);
        text_cell(arena, &cells, piece->link);
        number_cell(arena, &cells, piece->bytes);
        number_cell(arena, &cells, (double)piece->latency);
        number_cell(arena, &cells, (double)piece->sharing);
        number_cell(arena, &cells, (double)piece->slack);
    }
    return table_of("chain", NULL, COLUMNS(chain_columns), &cells);
}

const RecordTable *explain_tables(Arena *arena, const Explanation *now, int *count) {
    RecordTable *tables = ARENA_ARRAY(arena, RecordTable, 12);
    const StepChain *chain = now->step.chain;
    *count = 0;
    tables[(*count)++] = settings_table(arena, now);
    tables[(*count)++] = together_table(arena, now);
    tables[(*count)++] = resources_table(arena, now);
    tables[(*count)++] = life_table(arena, now);
    tables[(*count)++] = causes_table(arena, chain);
    tables[(*count)++] = names_table(arena, chain);
    tables[(*count)++] = operators_table(arena, now);
    tables[(*count)++] = ranks_table(arena, chain);
    tables[(*count)++] = links_table(arena, chain);
    tables[(*count)++] = roofline_table(arena, now);
    tables[(*count)++] = refused_table(arena, now);
    tables[(*count)++] = chain_table(arena, chain);
    return tables;
}
