// Random times. Each work of an actor that stands for one GPU has its own factor.
//
// Of an actor that stands for many (System.samples) the many are not followed one by one. They wait for the slowest
// of those that meet: between two meetings the times of works are added up, their sum is taken as lognormal with the
// same mean and variance (Fenton, 1960), and the slowest of k has the quantile u^(1/k) of it, u uniform in (0, 1).
// Ranks meet in more than one way: tensor groups often, those of a context group less often. Each way is a level,
// which knows how far its ranks have drifted apart since they last met in it, through what the other levels left.
// Where copies meet, a few of R ranks are run, each with its arrival time: the slowest of the others is drawn as if
// all of them were normal with the mean and sigma of those.
//
// Example: of 64 replicas 8 are run. They come at 1.000 s on average with a sigma of 2 ms; of the other 56 the slowest
// comes at its median, u = 0.5, at 1.000 + 0.002 * z(0.5^(1/56)) = 1.0045 s.
#include <math.h>

#include "sim/base/list.h"
#include "sim/base/statistics.h"
#include "sim/run_internal.h"

enum { POINTS = 512, CROWDS = 16, POOLED = 8 };

// The slowest of a number of normal variables.
typedef struct Slowest {
    double ranks, mean, variance;
} Slowest;

struct Jitter {
    double relative_variance; // of one work
    RandomFamily segments, passes, meetings;
    Slowest slowest[CROWDS];
    int slowest_count;
};

static double open_uniform(uint64_t word) { return ((double)(word >> 11) + 0.5) * 0x1p-53; }

static double slowest_quantile(double u, double ranks) {
    return normal_quantile(fmin(ranks > 1 ? pow(u, 1 / ranks) : u, 1 - 0x1p-53));
}

static Slowest slowest_of(Jitter *jitter, double ranks) {
    for (int i = 0; i < jitter->slowest_count; i++)
        if (jitter->slowest[i].ranks == ranks) return jitter->slowest[i];
    double sum = 0, squares = 0;
    for (int i = 0; i < POINTS; i++) {
        double z = slowest_quantile((i + 0.5) / POINTS, ranks);
        sum += z;
        squares += z * z;
    }
    Slowest made = {ranks, sum / POINTS, squares / POINTS - sum / POINTS * sum / POINTS};
    if (jitter->slowest_count < CROWDS) jitter->slowest[jitter->slowest_count++] = made;
    return made;
}

// ---- Who meets where.

const MeetingOfMany meeting_of_one = {.ranks = 1, .level = -1};

// Ranks represented by each member that wait for each other there; 1: it waits for other copies, or alone.
static double ranks_on(const System *system, int32_t channel) {
    if (channel < 0 || system->channels[channel].crosses) return 1;
    return system->channels[channel].ranks / system->channels[channel].member_count;
}

static void open_many(Arena *arena, Run *run, double sigma) {
    const System *system = run->system;
    Jitter *jitter = run->jitter = ARENA_NEW(arena, Jitter);
    jitter->relative_variance = expm1(sigma * sigma);
    jitter->segments = random_family(run->options->seed, "slowest of a segment");
    jitter->passes = random_family(run->options->seed, "slowest of a pass");
    jitter->meetings = random_family(run->options->seed, "slowest that is not sampled");
    int32_t streams = run->first_stream[system->actor_count];
    Followed *many = ARENA_ARRAY(arena, Followed, streams);
    for (int32_t s = 0; s < streams; s++) run->streams[s].many = &many[s];
}

void open_jitter(Arena *arena, Run *run) {
    const System *system = run->system;
    double sigma = 0;
    run->work_jitter = random_family(run->options->seed, "work jitter");
    for (int a = 0; a < system->actor_count; a++) sigma = fmax(sigma, system->actors[a].jitter);
    if (sigma > 0 && system->samples > 0)
        open_many(arena, run, sigma);
    else if (sigma > 0)
        run->factors = ARENA_NEW(arena, LognormalTable);
}

MeetingOfMany meeting_before(const Run *run, int actor, const Op *transfer) {
    const int32_t *channels = run->system->actors[actor].channels;
    double ranks = ranks_on(run->system, channels[transfer->slot]);
    int level = -1;
    if (ranks <= 1) return meeting_of_one;
    for (int s = 0; s <= transfer->slot && level + 1 < JITTER_LEVELS; s++)
        level += ranks_on(run->system, channels[s]) > 1;
    return (MeetingOfMany){ranks, level};
}

MeetingOfMany meeting_after_mark(const Run *run, int actor, int32_t mark) {
    const Program *program = &run->system->programs[run->system->actors[actor].program];
    for (int32_t s = run->first_stream[actor]; s < run->first_stream[actor + 1]; s++) {
        const StreamState *state = &run->streams[s];
        OpWalk walk = {.program = program, .stream = state->stream, .next = state->next, .inner = state->inner};
        Op op;
        if (state->waiting_mark == mark && walk_ops(&walk, &op) && walk_ops(&walk, &op) && op.kind == OP_TRANSFER)
            return meeting_before(run, actor, &op);
    }
    return meeting_of_one;
}

SimTime stretched_time(Run *run, StreamState *state, const Op *op) {
    const Actor *actor = &run->system->actors[state->actor];
    double time = (double)op->time * actor->slowness;
    if (run->jitter) {
        add_work(&state->many->works, time);
    } else if (actor->jitter > 0) {
        uint64_t item = draw_item((int32_t)(state - run->streams), state->done);
        time *= lognormal_of(factors_of(run, actor->jitter), random_word_of(run->work_jitter, item));
    }
    return ticks_nearest(time);
}

// ---- The slowest of the ranks that an actor represents.

// What the ranks of a meeting differ in: their works since the last, and what came before in other meetings.
static Difference difference_of(const Jitter *jitter, const Works *works, const Difference *apart, int level) {
    Difference all = {.sum = works->sum, .variance = jitter->relative_variance * works->squares};
    if (level < 0) return all;
    all.sum += apart[level].sum;
    all.variance += apart[level].variance;
    all.drawn = apart[level].drawn;
    return all;
}

static double sigma_of(const Difference *all) { return sqrt(log1p(all->variance / (all->sum * all->sum))); }

// What the slowest takes more than the mean: of exp(sigma z - sigma^2 / 2) to the second order in sigma.
static double mean_later(const Difference *all, const Slowest *slowest) {
    double sigma = sigma_of(all), square = slowest->variance + slowest->mean * slowest->mean;
    return all->sum * (sigma * slowest->mean + sigma * sigma / 2 * (square - 1));
}

// After a meeting all are at one time on this level; on another they differ by works since both levels met.
static void close_meeting(Jitter *jitter, Works *works, Difference *apart, const MeetingOfMany *meeting, double later) {
    Difference all = difference_of(jitter, works, apart, meeting->level);
    Slowest slowest = slowest_of(jitter, meeting->ranks);
    double own = meeting->level < 0 ? 0 : apart[meeting->level].variance, recent = all.variance - own;
    for (int l = 0; l < JITTER_LEVELS + 1; l++) {
        double both = fmin(own, apart[l].variance);
        apart[l].sum += works->sum;
        apart[l].variance += slowest.variance * (recent + both) - both;
        if (all.variance > 0) apart[l].drawn += later * (recent + both) / all.variance;
    }
    if (meeting->level >= 0) apart[meeting->level] = (Difference){0};
    *works = (Works){0};
}

double slowest_after(const Run *run, const StreamState *state, const MeetingOfMany *meeting) {
    Difference all = difference_of(run->jitter, &state->many->works, state->many->apart, meeting->level);
    if (all.sum <= 0) return 0;
    uint64_t item = draw_item((int32_t)(state - run->streams), state->done);
    double sigma = sigma_of(&all);
    double z = slowest_quantile(open_uniform(random_word_of(run->jitter->segments, item)), meeting->ranks);
    double later = all.sum * expm1(sigma * z - sigma * sigma / 2) - all.drawn;
    // Not before their last meeting, nor before the end of their last wait.
    return fmax(later, fmax(-state->many->works.sum, (double)(state->many->waited_until - state->clock)));
}

void meet_slowest(Run *run, StreamState *state, const MeetingOfMany *meeting, double later) {
    Difference all = difference_of(run->jitter, &state->many->works, state->many->apart, meeting->level);
    if (all.sum <= 0 || meeting->ranks <= 0) return;
    Slowest slowest = slowest_of(run->jitter, meeting->ranks);
    close_meeting(run->jitter, &state->many->works, state->many->apart, meeting, later - mean_later(&all, &slowest));
}

// ---- Of a routine: the same on average.

void pass_meeting(Run *run, PassSpread *pass, const Works *works, const MeetingOfMany *meeting) {
    Difference all = difference_of(run->jitter, works, pass->apart, meeting->level);
    Works met = *works;
    if (all.sum <= 0) return;
    Slowest slowest = slowest_of(run->jitter, meeting->ranks);
    pass->mean += mean_later(&all, &slowest);
    close_meeting(run->jitter, &met, pass->apart, meeting, 0);
}

double draw_pass(const Run *run, const StreamState *state, const PassSpread *pass) {
    uint64_t item = draw_item((int32_t)(state - run->streams), state->done);
    double z = normal_quantile(open_uniform(random_word_of(run->jitter->passes, item)));
    return sqrt(pass->apart[JITTER_LEVELS].variance) * z;
}

void leave_pass(StreamState *state, const PassSpread *pass, double drawn) {
    for (int l = 0; l < JITTER_LEVELS; l++) {
        if (pass->apart[l].sum == 0) continue; // no meeting of this level in it, or all synchronised at its end
        state->many->apart[l].sum += pass->apart[l].sum;
        state->many->apart[l].variance += pass->apart[l].variance;
        state->many->apart[l].drawn += drawn;
    }
}

// ---- The slowest of those that were not sampled.

// When copies of one actor came, before the last of all: near 0, so that nothing is lost.
typedef struct Arrivals {
    int32_t actor; // of the first copy
    int count;
    double mean, variance, *came;
} Arrivals;

typedef LIST_OF(Arrivals) ArrivalsList;

static Arrivals *arrivals_of(Arena *scratch, ArrivalsList *list, int32_t actor, int samples) {
    for (int i = 0; i < list->count; i++)
        if (list->items[i].actor == actor) return &list->items[i];
    LIST_PUSH(scratch, list, ((Arrivals){.actor = actor, .came = ARENA_ARRAY(scratch, double, samples)}));
    return &list->items[list->count - 1];
}

static void add_arrival(Arena *scratch, ArrivalsList *list, const System *system, int32_t actor, SimTime before) {
    int32_t copies = system->samples, own = system->actor_count / copies;
    Arrivals *arrivals = arrivals_of(scratch, list, actor % own, copies);
    arrivals->came[arrivals->count++] = (double)before;
}

// Their mean variance.
static double summarise_arrivals(ArrivalsList *list) {
    double variance = 0;
    for (int i = 0; i < list->count; i++) {
        Arrivals *arrivals = &list->items[i];
        double sum = 0, squares = 0;
        for (int k = 0; k < arrivals->count; k++) sum += arrivals->came[k];
        arrivals->mean = sum / arrivals->count;
        for (int k = 0; k < arrivals->count; k++)
            squares += (arrivals->came[k] - arrivals->mean) * (arrivals->came[k] - arrivals->mean);
        arrivals->variance = squares / (arrivals->count - 1);
        variance += arrivals->variance / list->count;
    }
    return variance;
}

// The slowest of `others` unsimulated ranks, after the last simulated one; 0: before it.
static double slowest_other(const Run *run, const Arrivals *arrivals, double variance, double others, uint64_t item) {
    if (others < 1) return 0;
    double u = open_uniform(random_word_of(run->jitter->meetings, item));
    return fmax(0, arrivals->mean + sqrt(variance) * slowest_quantile(u, others));
}

// Samples are few: equal meetings recur, and their last variances are averaged.
static double pooled_variance(ChannelState *state, double variance) {
    double *known = &state->variance[state->plan];
    if (variance == 0) return 0;
    *known = *known == 0 ? variance : *known + (variance - *known) / POOLED;
    return *known;
}

SimTime slowest_to_come(Run *run, int32_t channel) {
    const System *system = run->system;
    const Channel *meeting = &system->channels[channel];
    ChannelState *state = &run->channels[channel];
    if (!meeting->crosses || system->samples < 2) return state->start;
    Arena *scratch = arena_open();
    ArrivalsList list = {0};
    for (int i = 0; i < meeting->member_count; i++) {
        const StreamState *member = &run->streams[state->members[i]];
        add_arrival(scratch, &list, system, member->actor, member->clock - state->start);
    }
    double variance = pooled_variance(state, summarise_arrivals(&list)), later = 0;
    double others = meeting->ranks / list.count - system->samples;
    for (int k = 0; k < list.count; k++) {
        uint64_t item = (uint64_t)channel << 40 | (uint64_t)k << 32 | (uint64_t)(state->met & UINT32_MAX);
        later = fmax(later, slowest_other(run, &list.items[k], variance, others, item));
    }
    state->met++;
    arena_close(scratch);
    return time_later(state->start, ticks_nearest(later));
}

SimTime slowest_end(const Run *run, const SimTime *ends, SimTime last) {
    const System *system = run->system;
    if (system->samples < 2 || last == SIM_TIME_NEVER) return last;
    Arena *scratch = arena_open();
    ArrivalsList list = {0};
    double later = 0;
    for (int32_t a = 0; a < system->actor_count; a++) add_arrival(scratch, &list, system, a, ends[a] - last);
    summarise_arrivals(&list);
    for (int k = 0; k < list.count; k++) {
        double others = (system->actors[list.items[k].actor].multiplicity - 1) * system->samples;
        uint64_t item = UINT64_C(1) << 63 | (uint64_t)k;
        later = fmax(later, slowest_other(run, &list.items[k], list.items[k].variance, others, item));
    }
    arena_close(scratch);
    return time_later(last, ticks_nearest(later));
}
