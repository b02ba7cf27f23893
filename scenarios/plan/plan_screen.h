// What the parts of a plan on the screen share.
#ifndef LOCKSTEP_SCENARIOS_PLAN_SCREEN_H
#define LOCKSTEP_SCENARIOS_PLAN_SCREEN_H

#include "scenarios/plan/plan_words.h"
#include "sim/recommendation.h"

// In words (plan_print_pay.c). NULL: nothing is to be said.
const char *plan_payment_text(const Screen *screen, const PlanRow *row); // a term paid for whole, nodes taken back
const char *plan_spares_text(const Screen *screen, const PlanRow *row);  // NULL: none are paid
const char *plan_storage_text(const Screen *screen, const PlanRow *row);

// What is not known, and measurements: those worth a row, and what their columns mean (plan_print_chance.c).
bool plan_swing_matters(const PlanSwing *swing);
bool plan_any_worth(const PlanUnknowns *unknowns); // one changes a choice; else they narrow ranges only
bool plan_measurement_matters(const PlanUnknowns *unknowns, const PlanMeasurement *measurement);
const char *plan_others_text(Arena *arena, const PlanUnknowns *unknowns); // "3 more change no choice"; NULL: no others
const char *plan_worth_text(const Screen *screen, const PlanUnknowns *unknowns);

const char *plan_wishes_name(const PlanRequest *request); // "date and budget", of those that are asked for

// What to change first and what that gives (plan_words.c): how many sentences, 0 where nothing was tried.
#define PLAN_CHANGE_SENTENCES 2
int plan_change_sentences(const Screen *screen, const char *sentences[PLAN_CHANGE_SENTENCES]);
bool plan_setting_is_idle(const PlanSetting *now, const PlanSetting *then); // days, cost, chance stay to half a percent

// What a budget, date or price would reach, as a sentence.
const char *plan_reach_text(const Screen *screen, const PlanReach *reach);

// Under the rows (plan_print_chance.c).
void plan_print_chances(const Screen *screen, const PlanRow *row);   // of keeping date and budget, and the ranges
void plan_print_reaches(const Screen *screen);                       // what would be enough
void plan_print_unknowns(const Screen *screen);                      // what costs most, and what knowing it is worth
void plan_print_settings(const Screen *screen);                      // spares and checkpoints (plan_print_pay.c)
void plan_print_shifts(const Screen *screen);                        // if date, budget, prices or failures were others
void plan_print_paid(const Screen *screen, const PlanRow *row);      // terms, and what is not used of them
void plan_print_storage(const Screen *screen, const PlanRow *row);   // that checkpoints go to, and what it costs
void plan_print_medians(const Screen *screen, const NodeType *node); // what its price is of
void plan_print_unsold(const Screen *screen);                        // ways to rent that nobody offers

// plan_recommend.c: what is advised in the end.
typedef struct PlanAdvice {
    int row;     // of the result; -1: nothing yet
    int setting; // of the settings; -1: as planned
    double days, cost, both;
} PlanAdvice;
PlanAdvice plan_advice(const Screen *screen);
// False where no plan runs.
bool plan_recommend(const Screen *screen, Recommendation *recommendation);

#endif
