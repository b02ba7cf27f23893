// The fields of expectations of a job: job:expect { … }.
#include "scenarios/fields/field_rows.h"

const Field expect_fields[] = {
    {"memory", BOUND(QUANTITY_BYTES), .example = "\"< 76 GiB\"", .help = "of the fullest GPU"},
    {"step_time", BOUND(QUANTITY_TIME), .example = "\"< 1.5 s\"", .help = "median time of a step"},
    {"mfu", BOUND(QUANTITY_NUMBER), .example = "\"> 0.35\"", .help = "model FLOP utilisation"},
    {"hfu", BOUND(QUANTITY_NUMBER), .example = "\"> 0.35\"",
     .help = "hardware FLOP utilisation, recomputation included"},
    {"efficiency", BOUND(QUANTITY_NUMBER), .example = "\"> 0.8\"", .help = "against as many single GPUs"},
    {"samples_per_s", BOUND(QUANTITY_NUMBER), .example = "\"> 4000\"", .help = "samples per second of the cluster"},
    {"tokens_per_s", BOUND(QUANTITY_NUMBER), .example = "\"> 1e6\"", .help = "tokens per second of the cluster"},
    {"total_time", BOUND(QUANTITY_TIME), .example = "\"< 30 d\"", .help = "of the whole run"},
    {"days", BOUND(QUANTITY_NUMBER), .example = "\"< 30\"", .help = "of the whole run"},
    {"goodput", BOUND(QUANTITY_NUMBER), .example = "\"> 0.9\"", .help = "share of the time that is training"},
    {"cost_per_hour", BOUND(QUANTITY_NUMBER), .example = "\"< 200\"", .help = "of the cluster, in its currency"},
    {"cost_per_month", BOUND(QUANTITY_NUMBER), .example = "\"< 150000\"", .help = "of the cluster, in its currency"},
    {"cost_per_run", BOUND(QUANTITY_NUMBER), .example = "\"< 2e6\"",
     .help = "of the whole run, in the cluster's currency"},
    {"energy", BOUND(QUANTITY_NUMBER), .example = "\"< 5000\"", .help = "of the whole run, in kWh"},
    {"carbon", BOUND(QUANTITY_NUMBER), .example = "\"< 2000\"", .help = "of the whole run, in kg CO2e"},
    {"power", BOUND(QUANTITY_NUMBER), .example = "\"< 50000\"", .help = "average at the wall, in watts"},
    LAST_FIELD,
};
