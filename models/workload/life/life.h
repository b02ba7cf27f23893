// Simulation of a long training job on machines that fail: training, checkpoints, failures, repair, restarts, as
// events over days. Time is whole nanoseconds, and each is assigned to one cause: the causes sum to the whole.
// Failures arrive by the calendar from their own random streams, independent of the job, so that two ways of running
// it are compared under the same failures.
#pragma once

#include "models/hardware/hardware.h"
#include "models/workload/life/checkpoint.h"
#include "sim/base/statistics.h"
#include "sim/clock.h"

// Uses of the job's time. Training is net of work lost later.
typedef enum LifeTime {
    LIFE_TRAINING,
    LIFE_CHECKPOINT, // training is stopped for it
    LIFE_REWORK,     // trained, then lost with the machine
    LIFE_DETECTION,  // stopped, not detected yet
    LIFE_WAITING,    // too few nodes
    LIFE_RESTART,    // processes, communicators, reading the checkpoint
    LIFE_SLOW,       // what a slow node takes from all the others
    LIFE_SHRUNK,     // what missing replicas would have done
    LIFE_FLAP,       // waiting for a link that comes back by itself
    LIFE_TIME_COUNT
} LifeTime;
extern const char *const life_time_names[LIFE_TIME_COUNT], *const life_time_titles[LIFE_TIME_COUNT];

// What stops the job: the catalogue's components, then events that are no component's.
enum {
    LIFE_RACK = FAULT_COMPONENT_COUNT, // all nodes of a rack at once
    LIFE_SPOT,                         // the provider takes nodes back
    LIFE_LONG_FLAP,                    // a flap longer than the timeout of collectives
    LIFE_UNPLANNED_COUNT,              // the ones from here on wait for a checkpoint
    LIFE_PLANNED = LIFE_UNPLANNED_COUNT,
    LIFE_SWAP,   // a slow node was found and is taken out
    LIFE_RESIZE, // an elastic job grows again
    LIFE_CAUSE_COUNT
};
const char *life_cause_name(int cause);
const char *life_cause_title(int cause);

// One kind of failure of a single node.
typedef struct LifeFault {
    double node_rate; // per second, mean of the fleet
    double sigma;     // relative uncertainty of the rate
    bool needs_repair, is_silent;
} LifeFault;

typedef struct LifeSpec {
    int nodes, spares;
    int nodes_per_replica, least_replicas; // elastic: runs on with that many replicas; 0: needs all nodes
    LifeFault faults[FAULT_COMPONENT_COUNT];
    double shape, age_s; // Weibull hazard of nodes of this age when the job starts, minimal repair; shape 1: no age
    double fleet_spread;
    double bad_share, bad_factor;
    int strikes; // a node that failed so often is exchanged for a good one; 0: only ever repaired
    double crash_detection_s, hang_detection_s, silent_detection_s, hang_share;
    double restart_s, restart_sigma, repair_s, repair_sigma;
    double planned_rate;                             // per second, of the job
    double rack_rate, rack_repair_s;                 // per second, of one rack
    int rack_nodes;                                  // 0: no racks
    double slow_rate, slow_factor, slow_detection_s; // per second, of one node
    double flap_rate, flap_stall_s;                  // per second, of the job
    double spot_rate, spot_notice_s, spot_wait_s;    // per second, of one node; wait: mean until another is given
    int spot_batch;                                  // nodes taken together; 0: 1
    CheckpointPlan checkpoint;
    double horizon_s; // the calendar ends here …
    double work_s;    // … or when that much undisturbed training is done; the other is 0
    double patience;  // the job is given up after this many times its work; 0: LIFE_GIVES_UP
} LifeSpec;

// What goodput and plan take for machines on spot: AWS gives two minutes' notice; that another is there after half an
// hour is assumed.
#define SPOT_NOTICE_S 120.0
#define SPOT_WAIT_S 1800.0

#define FAULTS_USUAL "llama3-h100" // the catalogue's rates unless the user names others

// The user's settings of failures; 0: the rates' values.
typedef struct FaultsSpec {
    const FaultRates *rates; // NULL: FAULTS_USUAL
    double node_mtbf_s, repair_s, restart_s;
    double spot_mtbf_s; // until the provider takes a node back; 0: it does not
    int spares;
    bool spares_given;
} FaultsSpec;

// One life.
typedef struct LifeRun {
    SimTime wall, spent[LIFE_TIME_COUNT]; // spent sums to wall
    int stops[LIFE_CAUSE_COUNT];
    SimTime lost[LIFE_CAUSE_COUNT]; // detection, waiting, restart and rework that each cause brought
    bool finished;                  // false: gave up at `patience` times the work
    int64_t events;
    uint64_t digest;
} LifeRun;

// Times the work, after which a life is cut and counts as that long: times of repair have a long tail. The same for all
// questions.
#define LIFE_GIVES_UP 4
double life_patience(const LifeSpec *spec); // times the work; default LIFE_GIVES_UP

LifeRun life_run(const LifeSpec *spec, uint64_t seed);

// One life in equal time spans, as a calendar: the use of each. Lost training is counted in the span where it was
// done. All spans together are the life's `spent`, to the tick.
typedef struct LifeStretch {
    SimTime spent[LIFE_TIME_COUNT];
    int stops; // unplanned, that began in it
} LifeStretch;

typedef struct LifeCalendar {
    int life;      // which of the lives that were lived it is
    SimTime width; // of a stretch; the last may be shorter
    LifeStretch *stretches;
    int count;
    LifeRun run;
} LifeCalendar;

#define LIFE_MOST_STRETCHES 60

// ---- Estimates before the simulation (life_study.c).
double life_events(const LifeSpec *spec); // estimated number in one life
// A sentence if so many lives would take long to simulate and certainly none of them makes any progress; NULL: to be
// simulated.
const char *life_goes_nowhere(Arena *arena, const LifeSpec *spec, int runs);

// Many lives. Shares are means over the runs of each one's share of its own time: they sum to 1, and that of training
// is the mean goodput. Of work to do, the median of days is the work over the median of goodput.
typedef struct LifeStudy {
    int runs, unfinished;
    Summary goodput, ettr, days, stops; // ettr: slow nodes and missing replicas count as training; stops: unplanned
    double mttf_s;                      // wall time of all runs per unplanned stop; 0 none
    double share[LIFE_TIME_COUNT];
    double stops_mean[LIFE_CAUSE_COUNT], lost_share[LIFE_CAUSE_COUNT];
    const double *run_days, *run_goodput; // [runs]
    int64_t events;
    bool stopped; // by the watch: the rest is of no use
    uint64_t digest;
} LifeStudy;

LifeStudy life_study(Arena *arena, const LifeSpec *spec, int runs, uint64_t seed);
// How many lives an answer takes unless the user says: 1000, and fewer, but no less than 200, where each is long.
int life_usual_runs(const LifeSpec *spec);
bool life_mostly_unfinished(const LifeStudy *study); // half of the runs or more: no median of their days is known
double life_chance_by(const LifeStudy *study, double by_s); // share of runs whose work is done by then

// The life whose goodput is the median of the study's, lived once more, in stretches of an hour, six hours, a day, a
// week, four weeks or a year: the shortest of which there are at most LIFE_MOST_STRETCHES.
LifeCalendar life_calendar(Arena *arena, const LifeSpec *spec, const LifeStudy *study, uint64_t seed);

// The interval with the least time lost, by simulation: the same failures for every interval, and a smooth curve
// through their costs, whatever the spec's own interval. At most life_length: then one checkpoint at the end is best,
// and none before.
double life_best_interval(const LifeSpec *spec, int runs, uint64_t seed);

double life_length(const LifeSpec *spec); // seconds of work, or of calendar

double life_unplanned_rate(const LifeSpec *spec); // per second, of the whole job

// A LifeSpec from a fleet's rates for a job on so many nodes of this type. Spares, checkpoints, spot, elasticity and
// length are left to the caller.
LifeSpec life_spec(Arena *arena, const FaultRates *rates, const NodeType *node, int nodes);
// The user's own mean time between failures of a node, all causes: the mix stays, and no fleet differs from it.
void life_set_node_mtbf(LifeSpec *spec, double node_mtbf_s);
int life_usual_spares(int nodes); // 5 % of the nodes: field advice is 5 to 10 %
