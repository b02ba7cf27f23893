// The request of `lockstep goodput`, and its output.
#pragma once

#include "models/hardware/market.h"
#include "models/workload/life/life.h"
#include "models/workload/model/model.h"
#include "results/chart/chart.h"
#include "sim/base/options.h"
#include "sim/data/question.h"

#define GOODPUT_BEST_RUNS 40 // lives for each interval that is tried

extern const OptionSpec goodput_rows[];
extern const int goodput_row_count;

typedef struct GoodputAsked {
    Arena *arena;
    const FaultRates *rates;
    const NodeType *node;
    int gpus, runs;
    uint64_t seed;
    LifeSpec spec;
    const char *model;          // or NULL
    const StorageType *storage; // one unit of it; or NULL
    int storage_units;
    const StorageType *held; // all units together; or NULL
    const Gpu *gpu;
    double bytes; // of a checkpoint; 0: its times were assumed or given
    bool own_mtbf, spares_given, interval_found, price_given;
    bool weighs_money;       // set by the caller: --price counts without --best
    double by_s, confidence; // deadline of the work in wall time; 0: none
    const char *by_day;      // "2027-02-01", where it was said so; or NULL
    double best_s;           // simulated; 0 not asked for
} GoodputAsked;

const char *goodput_by_text(const GoodputAsked *asked); // "40 d", "2027-02-01 (63 d)"

// Parses the rows above, with derived values. Adds problems for invalid combinations.
void goodput_ask(GoodputAsked *asked, const Options *options, Problems *problems);
// Defaults of a checkpoint: 30 s to storage, 1 s for a copy in memory.
CheckpointPlan goodput_assumed_checkpoint(CheckpointMode mode);
// Why no life would make progress (life_goes_nowhere), at the shortest interval if the best is to be found.
const char *goodput_nowhere(const GoodputAsked *asked);
// What its GPUs cost on demand, in USD for a GPU and hour: the median over the providers where none is its own.
Quote goodput_quote(const GoodputAsked *asked, const Catalogue *catalogue);
// Finds the best interval, if requested.
void goodput_find_interval(GoodputAsked *asked);

int command_goodput(int argc, char **argv); // argv[0] is "goodput"

// The answer from the simulated lives; of a job that makes no progress, which is not simulated, the reason.
void goodput_answer(Answer *answer, const GoodputAsked *asked, const LifeStudy *study);
// Parts of it: failure rates as a table, warnings, checkpoint costs.
void goodput_rates(Answer *answer, const FaultRates *rates);
void goodput_doubts(Answer *answer, const GoodputAsked *asked, const LifeStudy *study);
void goodput_date(Answer *answer, const GoodputAsked *asked, const LifeStudy *study);
void goodput_checkpoint_fact(Answer *answer, const GoodputAsked *asked);
void goodput_answer_nothing(Answer *answer, const GoodputAsked *asked, const char *why);

// ---- The calendar of one life (goodput_answer.c).

// --plot adds it to the answer, --plot-dir writes it. False after a problem.
bool goodput_draw(const Asking *asking, const GoodputAsked *asked, const LifeStudy *study);
// A row for each time span: its uses, in hours or days, followed by its goodput and its unplanned stops.
void calendar_chart(Arena *arena, const LifeCalendar *calendar, Chart *chart);

// ---- --best: joint choice of spares, checkpoint interval and storage.

// What is to be chosen among, at which prices. What options do not fix is open. Problems where a price is missing.
LifeWish goodput_best_wish(const GoodputAsked *asked, const Catalogue *catalogue, const Options *options,
                           Problems *problems);
void goodput_best_answer(Answer *answer, const GoodputAsked *asked, const Catalogue *catalogue, const LifeWish *wish,
                         const LifeChoice *choice);
