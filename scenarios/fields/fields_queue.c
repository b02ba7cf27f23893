// The fields of a shared cluster.
#include "models/workload/queue/queue.h"
#include "scenarios/fields/field_rows.h"

#define SPAN(least_) .kind = FIELD_QUANTITY, .quantity = QUANTITY_TIME, .least = (least_), .most = 1e9

const Field queue_fields[] = {
    {"on", VALUE(HANDLE_CLUSTER), .required = true, .example = "cluster", .help = "the cluster, of one type of node"},
    {"title", .kind = FIELD_TEXT, .example = "\"our cluster\"", .help = "headline of tables and plots"},
    {"policy", CHOICE(queue_policy_names, QUEUE_POLICY_COUNT), .list = true, .example = "{ \"fifo\", \"easy\" }",
     .help = "who goes first and who may pass; when left out: all, side by side"},
    {"placement", CHOICE(queue_placement_names, QUEUE_PLACEMENT_COUNT), .fallback = "\"pack-leaves\"",
     .example = "\"spread\"", .help = "where jobs go"},
    {"demand", TABLE(OBJECT_QUEUE_DEMAND), .example = "{ mix = \"gavel\", load = 0.9 }", .help = "jobs to be drawn"},
    {"jobs", TABLE(OBJECT_QUEUE_JOB), .list = true, .example = "{ { gpus = 8, duration = \"2 h\" } }",
     .help = "jobs one by one, instead of demand"},
    {"trace", .kind = FIELD_TEXT, .example = "\"jobs.csv\"",
     .help = "a trace beside the scenario, instead of demand (see docs/queue.md)"},
    {"run", VALUE(HANDLE_TRAINING), .example = "job",
     .help = "whose step says how a job suffers from being spread; when left out: not at all"},
    {"goal", TABLE(OBJECT_QUEUE_GOAL), .example = "{ wait_p95 = \"1 h\" }",
     .help = "how many GPUs are needed; the cluster's own number is of no matter then"},
    {"half_life", SPAN(1), .example = "\"7 d\"", .help = "of usage, for fair-share; when left out: 7 days"},
    {"depth", COUNT(1, 1000), .fallback = "32", .example = "64", .help = "starts that conservative backfill reserves"},
    {"checkpoint_every", SPAN(1), .example = "\"30 min\"",
     .help = "jobs save their state after so much work; when left out: never"},
    {"checkpoint_cost", SPAN(0), .fallback = "\"30 s\"", .example = "\"1 min\"",
     .help = "of one, and before a job makes room for an urgent one"},
    {"restart", SPAN(0), .example = "\"5 min\"",
     .help = "of a stopped job before it works again; when left out: as the rates of failures have it"},
    {"warm_up", NUMBER(0, 0.9), .example = "0.1",
     .help =
         "part of the jobs that come first and are not counted; when left out: by MSER-5, at least 0.1, of drawn jobs"},
    {"within", NUMBER(1e-4, 1), .example = "0.05",
     .help = "half of a 90 % interval over its figure, sought by longer runs; when left out: 0.05 within two seconds"},
    {"quota", .kind = FIELD_TEXT, .example = "\"research:128,*:32\"",
     .help = "GPUs that a group of the trace, a user of the list or a drawn user by number holds at most"},
    {"weights", .kind = FIELD_TEXT, .example = "\"age:1,share:1\"",
     .help = "of the policy multifactor: age, share, size, priority"},
    {"elastic", NUMBER(1e-3, 1), .example = "0.25",
     .help = "jobs start on as little as this part of their GPUs; when left out: on all"},
    {"scaling", NUMBER(0.01, 1), .fallback = "0.9", .example = "0.8",
     .help = "with elastic: speed on n of N GPUs is (n/N)^this"},
    {"seeds", COUNT(1, 1000), .fallback = "5", .example = "10", .help = "repetitions with other jobs"},
    {"notes", .kind = FIELD_TEXT, .list = true, .example = "{ \"the mix is a guess\" }",
     .help = "sentences for beside the answer"},
    LAST_FIELD,
};

const Field queue_demand_fields[] = {
    {"mix", CHOICE(queue_mix_names, 4), .fallback = "\"gavel\"", .example = "\"helios\"",
     .help = "a published mix of jobs (see: lockstep queue --mixes)"},
    {"count", COUNT(1, 2e6), .fallback = "10000", .example = "20000",
     .help = "jobs to draw; when left out: as many as `within` needs"},
    {"load", NUMBER(1e-6, 100), .example = "0.9", .help = "work that comes over what all GPUs can do"},
    {"per_hour", NUMBER(1e-6, 1e9), .example = "20", .help = "arrivals, instead of load"},
    {"sizes", .kind = FIELD_TEXT, .example = "\"1:0.7,8:0.3\"", .help = "GPUs and shares, instead of the mix's"},
    {"durations", .kind = FIELD_TEXT, .example = "\"exponential:1h\"",
     .help = "exponential:MEAN, fixed:TIME or lognormal:MEDIAN:MEAN, instead of the mix's"},
    {"burstiness", NUMBER(0, 1e4), .fallback = "1", .example = "4",
     .help = "squared coefficient of variation of the time between arrivals; 1 is Poisson"},
    {"users", COUNT(1, 1e5), .fallback = "20", .example = "50", .help = "users, some busier than others"},
    {"urgent_share", NUMBER(0, 1), .fallback = "0", .example = "0.1",
     .help = "part of the jobs with a higher priority"},
    {"estimate_error", NUMBER(0, 1000), .fallback = "0", .example = "2",
     .help = "users say 1 to 1 + this times the truth"},
    LAST_FIELD,
};

const Field queue_job_fields[] = {
    {"gpus", COUNT(1, MOST_GPUS), .required = true, .example = "8", .help = "GPUs, all at once"},
    {"duration", SPAN(1e-3), .required = true, .example = "\"2 h\"", .help = "undisturbed, on GPUs side by side"},
    {"submit", SPAN(0), .fallback = "0", .example = "\"10 min\"", .help = "when it comes"},
    {"estimate", SPAN(1e-3), .example = "\"4 h\"", .help = "of the duration, by its user; when left out: the truth"},
    {"user", .kind = FIELD_TEXT, .fallback = "\"\"", .example = "\"ada\"", .help = "whose it is"},
    {"share", NUMBER(1e-3, 0.999), .example = "0.5",
     .help = "of its one GPU, shared with others; when left out: all of it"},
    {"priority", COUNT(0, 1e6), .fallback = "0", .example = "1", .help = "larger goes first under priority"},
    LAST_FIELD,
};

const Field queue_goal_fields[] = {
    {"wait_mean", SPAN(0), .example = "\"10 min\"", .help = "jobs wait so long in the mean"},
    {"wait_p50", SPAN(0), .example = "\"1 min\"", .help = "half of all jobs wait no longer"},
    {"wait_p90", SPAN(0), .example = "\"1 h\"", .help = "90 % of all jobs wait no longer"},
    {"wait_p95", SPAN(0), .example = "\"1 h\"", .help = "95 % of all jobs wait no longer"},
    {"wait_p99", SPAN(0), .example = "\"1 d\"", .help = "99 % of all jobs wait no longer"},
    {"chance", NUMBER(0.01, 0.999), .fallback = "0.9", .example = "0.8", .help = "that a run meets it"},
    {"most_gpus", COUNT(1, MOST_GPUS), .fallback = "100000", .example = "4096", .help = "no more are tried"},
    LAST_FIELD,
};
