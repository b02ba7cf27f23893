// What the parts of a plan on the screen share.
#ifndef LOCKSTEP_SCENARIOS_PLAN_SCREEN_H
#define LOCKSTEP_SCENARIOS_PLAN_SCREEN_H

#include "scenarios/plan/plan_answer.h"
#include "sim/recommendation.h"

typedef struct Screen {
    Arena *arena;
    const PlanAnswer *answer;
    const PlanRequest *request;
    const PlanResult *result;
    const Style *style;
    int rows;
} Screen;

const char *plan_human(Arena *arena, double value, QuantityKind kind);                 // "1.34 M"
const char *plan_money(const Screen *screen, const RecordPoint *point, double amount); // "" when unknown
const char *plan_cluster_text(const Screen *screen, const PlanRow *row);               // "1024 GPUs of dgx-h100 …"
const char *plan_number(Arena *arena, double value);  // three digits, and never 1e+03: days, megawatt hours
const char *plan_about(Arena *arena, double value);   // two digits likewise
const char *plan_percent(Arena *arena, double share); // "83 %", "> 99 %", "< 1 %": few draws tell more

// In words (plan_print_pay.c). NULL: nothing is to be said.
const char *plan_payment_text(const Screen *screen, const PlanRow *row); // a term paid for whole, nodes taken back
const char *plan_spares_text(const Screen *screen, const PlanRow *row);  // NULL: none are paid
const char *plan_storage_text(const Screen *screen, const PlanRow *row);

// Under the rows (plan_print_chance.c).
void plan_print_chances(const Screen *screen, const PlanRow *row);   // of keeping date and budget, and the ranges
void plan_print_unknowns(const Screen *screen);                      // what costs most, and what knowing it is worth
void plan_print_settings(const Screen *screen);                      // spares and checkpoints (plan_print_settings.c)
void plan_print_shifts(const Screen *screen);                        // if date, budget, prices or failures were others
void plan_print_paid(const Screen *screen, const PlanRow *row);      // terms, and what is not used of them
void plan_print_storage(const Screen *screen, const PlanRow *row);   // that checkpoints go to, and what it costs
void plan_print_medians(const Screen *screen, const NodeType *node); // what its price is of
void plan_print_unsold(const Screen *screen);                        // ways to rent that nobody offers
void plan_print_growths(const Screen *screen);                       // start small and grow
void plan_print_fallback(const Screen *screen);                      // on spot, then on demand as the date asks

// plan_recommend.c: false where no plan runs.
bool plan_recommend(const Screen *screen, Recommendation *recommendation);

#endif
