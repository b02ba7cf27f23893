#include "models/workload/life/fallback.h"

#include <math.h>

// ---- Spot in the long run.

// Of work per wall time while nothing is taken back.
static double undisturbed_speed(const FallbackSpec *spec) {
    return isfinite(spec->every_s) ? spec->every_s / (spec->every_s + spec->stall_s) : 1;
}

double fallback_spot_speed(const FallbackSpec *spec) {
    double rate = spec->taken_rate, segment = spec->every_s + spec->stall_s;
    if (!(rate > 0)) return undisturbed_speed(spec);
    double cycle = 1 / rate + spec->wait_s + spec->restart_s;
    if (spec->saves_in_time) return undisturbed_speed(spec) * exp(-rate * spec->stall_s) / rate / cycle;
    return isfinite(segment) ? spec->every_s / expm1(rate * segment) / cycle : 0;
}

bool fallback_spot_pays(const FallbackSpec *spec) {
    if (!(spec->demand_price > 0)) return true;
    return spec->spot_price < spec->demand_price * fallback_spot_speed(spec);
}

// ---- One run.

typedef struct Going {
    const FallbackSpec *spec;
    FallbackRun *run;
    double left_s; // of the work
    bool can_move;
} Going;

// Time that may pass without progress before the job has to move.
static double slack(const Going *going) {
    const FallbackSpec *spec = going->spec;
    if (!going->can_move) return INFINITY;
    return spec->by_s - going->run->wall_s - spec->restart_s - going->left_s * spec->foresight;
}

static void pass(Going *going, double seconds) {
    going->run->wall_s += seconds;
    going->run->spot_s += seconds;
}

static void progress(Going *going, double seconds) {
    double done = fmin(going->left_s, seconds);
    going->left_s -= done;
    going->run->work_on_spot_s += done;
}

// What is kept of so much time since the job last started: whole segments, and what the notice leaves time to save.
static double kept(const FallbackSpec *spec, double seconds) {
    double segment = spec->every_s + spec->stall_s;
    double whole = isfinite(segment) ? floor(seconds / segment) : 0;
    double of_whole = whole > 0 ? whole * spec->every_s : 0;
    if (!spec->saves_in_time) return of_whole;
    double rest = whole > 0 ? seconds - whole * segment : seconds;
    return of_whole + fmax(0, fmin(rest, spec->every_s) - spec->stall_s);
}

typedef enum Ending { DONE, TAKEN, MOVES } Ending;

static Ending train(Going *going, RandomStream *stream) {
    const FallbackSpec *spec = going->spec;
    double speed = undisturbed_speed(spec), until_done = going->left_s / speed;
    double loses = 1 - speed * spec->foresight, until_move = loses > 0 ? slack(going) / loses : INFINITY;
    double until_taken = spec->taken_rate > 0 ? random_exponential(stream, 1 / spec->taken_rate) : INFINITY;
    if (until_taken < fmin(until_done, until_move)) {
        pass(going, until_taken);
        progress(going, kept(spec, until_taken));
        going->run->taken++;
        return TAKEN;
    }
    bool is_done = until_done <= until_move;
    pass(going, fmin(until_done, until_move));
    progress(going, is_done ? going->left_s : until_move * speed); // a move is made from a checkpoint of its own
    return is_done ? DONE : MOVES;
}

// What was lost may leave less time than the move needs.
static Ending wait(Going *going, RandomStream *stream) {
    double seconds = random_exponential(stream, going->spec->wait_s) + going->spec->restart_s;
    double most = fmax(0, slack(going));
    pass(going, fmin(seconds, most));
    return seconds < most ? TAKEN : MOVES;
}

static void stay_on_spot(Going *going, RandomStream *stream) {
    FallbackRun *run = going->run;
    run->gave_up = !going->can_move && FALLBACK_PATIENCE * fallback_spot_speed(going->spec) < 1; // nobody begins that
    for (Ending ending = TAKEN; ending == TAKEN && !run->gave_up;) {
        ending = train(going, stream);
        if (ending == TAKEN) ending = wait(going, stream);
        run->gave_up = ending == TAKEN && run->wall_s > FALLBACK_PATIENCE * going->spec->work_s;
    }
}

FallbackRun fallback_run(const FallbackSpec *spec, RandomStream *stream) {
    FallbackRun run = {0};
    bool can_keep_date = spec->by_s >= spec->work_s;
    Going going = {spec, &run, spec->work_s, spec->demand_price > 0 && can_keep_date};
    bool begins_on_spot = fallback_spot_pays(spec) && slack(&going) > 0;
    if (begins_on_spot) stay_on_spot(&going, stream);
    if (!(going.left_s > 0) || run.gave_up) return run;
    run.fell_back = begins_on_spot;
    run.wall_s += going.left_s + (begins_on_spot ? spec->restart_s : 0);
    return run;
}

double fallback_cost(const FallbackSpec *spec, const FallbackRun *run) {
    return run->spot_s * spec->spot_price + (run->wall_s - run->spot_s) * spec->demand_price;
}
