// Makes a film of a rank program or of a job's step.
#include "models/workload/cost/cost.h"
#include "results/view.h"
#include "scenarios/step/step_film.h"
#include "scenarios/study/study.h"
#include "sim/base/list.h"
#include "sim/base/text.h"
#include "sim/program.h"
#include "sim/system/watch.h"

#define BARS_MOST 400000

// ---- Rank programs.

typedef struct Shooting {
    Arena *arena;
    const ProgramSpec *program;
    const System *system;
    Film *film;
    SimTime *until; // [stream of all] where it is
    int *first_stream;
    int64_t meetings;
    bool is_full;
} Shooting;

static const char *label_of(const Shooting *s, int32_t label, uint8_t cause) {
    const char *name = label > 0 ? s->system->labels[label].name : NULL;
    return name && *name ? name : text_lower_first(s->arena, cause_titles[cause]);
}

static void add_bar(Shooting *s, const FilmBar *bar) {
    s->is_full = s->is_full || s->film->bars.count >= BARS_MOST;
    if (!s->is_full) LIST_PUSH(s->arena, &s->film->bars, *bar);
}

static void on_span(void *owner, const RunSpan *span) {
    Shooting *s = owner;
    const Plan *plan = span->channel >= 0 ? &s->system->channels[span->channel].plans[span->plan] : NULL;
    const char *name = label_of(s, span->label, span->cause);
    FilmBar bar = {.row = span->actor,
                   .track = span->stream,
                   .kind = span->kind == OP_WAIT   ? FILM_WAIT
                           : span->kind == OP_WORK ? FILM_WORK
                                                   : FILM_TRANSFER,
                   .is_side = span->stream > 0,
                   .leads = span->first,
                   .color = look_of_cause(cause_names[span->cause], span->cause).color,
                   .cause = program_title(span->cause),
                   .name = name,
                   .says = name,
                   .plan = plan,
                   .start = span->start,
                   .begun = span->begun,
                   .flows = plan ? time_later(span->begun, plan->latency) : span->begun,
                   .end = span->end,
                   .meeting = span->meeting};
    add_bar(s, &bar);
    s->until[s->first_stream[span->actor] + span->stream] = span->end;
    if (span->meeting > s->meetings) s->meetings = span->meeting;
    if (span->end > s->film->end) s->film->end = span->end;
}

// Adds the deadlocked streams, as bars without an end.
static void add_deadlocked(Shooting *s, const RunResult *result) {
    for (int i = 0; i < result->deadlocked_count; i++) {
        const Deadlocked *waiter = &result->deadlocked[i];
        const Label *label = &s->system->labels[waiter->op.label];
        const char *name = label_of(s, waiter->op.label, waiter->op.cause);
        if (label->file) name = arena_printf(s->arena, "%s at line %d", name, label->line);
        FilmBar bar = {.row = waiter->actor,
                       .track = waiter->stream,
                       .kind = waiter->op.kind == OP_TRANSFER ? FILM_TRANSFER : FILM_WAIT,
                       .is_side = waiter->stream > 0,
                       .color = look_of_cause(cause_names[waiter->op.cause], waiter->op.cause).color,
                       .name = name,
                       .says = name,
                       .start = s->until[s->first_stream[waiter->actor] + waiter->stream],
                       .begun = SIM_TIME_NEVER,
                       .flows = SIM_TIME_NEVER,
                       .end = SIM_TIME_NEVER};
        if (bar.kind == FILM_TRANSFER) {
            int *absent = ARENA_ARRAY(s->arena, int, FILM_ROWS_MOST);
            int32_t channel = s->system->actors[waiter->actor].channels[waiter->op.slot];
            bar.absent = absent;
            bar.absent_count = run_missing_members(s->system, result, channel, absent, FILM_ROWS_MOST);
            if (bar.absent_count > FILM_ROWS_MOST) bar.absent_count = FILM_ROWS_MOST;
        }
        add_bar(s, &bar);
    }
}

// Names partners: the other of two, or the number of others.
static void name_partners(Shooting *s) {
    Film *film = s->film;
    int *counts = ARENA_ARRAY(s->arena, int, s->meetings + 1), *sums = ARENA_ARRAY(s->arena, int, s->meetings + 1);
    for (int i = 0; i < film->bars.count; i++) {
        counts[film->bars.items[i].meeting]++;
        sums[film->bars.items[i].meeting] += film->bars.items[i].row;
    }
    for (int i = 0; i < film->bars.count; i++) {
        FilmBar *bar = &film->bars.items[i];
        int count = counts[bar->meeting], other = sums[bar->meeting] - bar->row;
        if (!bar->meeting || count < 2) continue;
        bar->says = count == 2 ? arena_printf(s->arena, "%s, with %s", bar->name, film->rows[other])
                               : arena_printf(s->arena, "%s, with %d others", bar->name, count - 1);
        bar->event = count == 2 ? arena_printf(s->arena, "%s: %s", film->rows[bar->row], bar->says) : bar->name;
    }
}

// The collective that all ranks call and nothing else, message by message; or NULL.
static const RecordedOp *lone_collective(const ProgramSpec *program) {
    const RecordedOp *lone = NULL;
    for (int rank = 0; rank < program->cluster->gpu_count; rank++) {
        const RecordedRank *recorded = &program->ranks[rank];
        int calls = 0;
        for (int s = 0; s < recorded->count; s++) {
            calls += recorded->items[s].count;
            if (recorded->items[s].count) lone = &recorded->items[s].items[0];
        }
        if (calls != 1 || lone->kind != RECORDED_COLLECTIVE) return NULL;
        if (program->groups[lone->group].count != program->cluster->gpu_count) return NULL;
    }
    return program->by_messages && !program->as_packets && program->steps == 1 ? lone : NULL;
}

static const char *title_of(const ProgramSpec *program) { return program->title ? program->title : "Rank program"; }

static const Film *film_of_lone(Arena *arena, const ProgramSpec *program, const RecordedOp *call, Problems *problems) {
    const RankGroup *group = &program->groups[call->group];
    CollectiveRequest request = {.op = (CollectiveOp)call->op, .ranks = group->ranks, .rank_count = group->count};
    const ProgramSpec *messages = program_by_messages(arena, program, problems);
    return messages ? film_of_collective(arena, messages->flows[0], &request, program->cluster->network,
                                         title_of(program), problems)
                    : NULL;
}

const Film *film_of_program(Arena *arena, const ProgramSpec *program, uint64_t seed, Problems *problems) {
    int ranks = program->cluster->gpu_count;
    const RecordedOp *lone = lone_collective(program);
    if (!film_has_room(ranks, "step through the same program on fewer ranks", program->where, problems)) return NULL;
    if (lone) return film_of_lone(arena, program, lone, problems);
    const System *system = program_system(arena, program, problems);
    if (!system) return NULL;
    Film *film = ARENA_NEW(arena, Film);
    const char **rows = ARENA_ARRAY(arena, const char *, ranks);
    Shooting s = {.arena = arena, .program = program, .system = system, .film = film};
    s.first_stream = ARENA_ARRAY(arena, int, ranks + 1);
    for (int rank = 0; rank < ranks; rank++) {
        rows[rank] = arena_printf(arena, "rank %d", rank);
        s.first_stream[rank + 1] = s.first_stream[rank] + system->programs[system->actors[rank].program].stream_count;
    }
    s.until = ARENA_ARRAY(arena, SimTime, s.first_stream[ranks]);
    *film = (Film){.arena = arena,
                   .title = title_of(program),
                   .rows = rows,
                   .row_count = ranks,
                   .links = system->links,
                   .link_count = system->link_count};
    RunOptions options = {.seed = seed, .tell = on_span, .owner = &s, .chain = true};
    if (program->as_packets) options.carrier = program_carrier(arena, program, system, problems);
    if (program->as_packets && !options.carrier) return NULL;
    RunResult result = run_system(arena, system, &options);
    if (result.stopped) {
        watch_tells(program->where, problems);
        return NULL;
    }
    if (result.beyond_clock) {
        problem_beyond_clock(problems, program->where, "this program", system);
        return NULL;
    }
    film->stands_still = result.deadlocked_count > 0;
    add_deadlocked(&s, &result);
    if (s.is_full) {
        problem_add(problems, program->where, "this is more than can be walked through: %d operations are the most",
                    BARS_MOST);
        return problem_hint(problems, "simulate fewer steps, or fewer ranks"), NULL;
    }
    name_partners(&s);
    film_mark_path(film, result.chain, result.chain_count);
    film_finish(film);
    return film;
}

// ---- Jobs.

// By their stages where each of these has one row.
static const char *const *name_rows(Arena *arena, const SpanSet *set) {
    const char **rows = ARENA_ARRAY(arena, const char *, set->process_count);
    for (int p = 0; p < set->process_count; p++)
        rows[p] = set->processes[p].stage == p ? arena_printf(arena, "stage %d", p)
                                               : arena_printf(arena, "rank %d", set->processes[p].id);
    return rows;
}

static const char *title_of_category(const char *name) {
    for (int cause = 0; cause < CAUSE_COUNT; cause++)
        if (strcmp(cause_names[cause], name) == 0) return cause_titles[cause];
    return name;
}

static FilmBar bar_of(Arena *arena, const SpanSet *set, const Span *span, int first_track) {
    const char *name = set->names[span->name];
    FilmBar bar = {.row = set->tracks[span->track].process,
                   .track = span->track - first_track,
                   .kind = span->transfer >= 0 ? FILM_TRANSFER : FILM_WORK,
                   .is_side = span->track > first_track,
                   .leads = true, // of its meeting there may be others: film_of_spans
                   .color = look_of_cause(set->categories[span->category], span->category).color,
                   .cause = title_of_category(set->categories[span->category]),
                   .name = "",
                   .says = text_lower_first(arena, name),
                   .start = span->start,
                   .begun = span->begun,
                   .flows = span->begun,
                   .end = span->end,
                   .meeting = span->meeting,
                   .is_critical = span->critical};
    if (span->kind == SPAN_WAIT) bar.kind = FILM_WAIT;
    if (span->micro_batch >= 0 && bar.kind == FILM_TRANSFER)
        bar.says = arena_printf(arena, "%s of micro-batch %d", bar.says, span->micro_batch + 1);
    return bar;
}

static FilmBar bar_of_pass(Arena *arena, const SpanSet *set, const Span *pass, int first_track, bool chunks) {
    static const char *const causes[] = {
        [SPAN_FORWARD] = "forward", [SPAN_BACKWARD] = "backward", [SPAN_BACKWARD_OF_WEIGHTS] = "weight-gradient"};
    static const char *const titles[] = {
        [SPAN_FORWARD] = "Forward", [SPAN_BACKWARD] = "Backward", [SPAN_BACKWARD_OF_WEIGHTS] = "Weight gradients"};
    FilmBar bar = bar_of(arena, set, pass, first_track);
    Look look = look_of_cause(causes[pass->kind], 0);
    bar.color = look.color;
    bar.cause = titles[pass->kind];
    bar.name = arena_printf(arena, "%s%d", look.brief, pass->micro_batch + 1);
    bar.says = arena_printf(arena, "%s of micro-batch %d", set->names[pass->name], pass->micro_batch + 1);
    if (chunks) bar.says = arena_printf(arena, "%s, chunk %d", bar.says, pass->chunk);
    return bar;
}

// Of each transfer's bars the first is the leading one.
static void choose_leads(Arena *arena, Film *film, int64_t meetings) {
    bool *seen = ARENA_ARRAY(arena, bool, meetings + 1);
    for (int i = 0; i < film->bars.count; i++) {
        FilmBar *bar = &film->bars.items[i];
        bar->leads = bar->kind == FILM_TRANSFER && (!bar->meeting || !seen[bar->meeting]);
        seen[bar->meeting] = true;
    }
}

const Film *film_of_spans(Arena *arena, const SpanSet *set, Problems *problems) {
    if (!film_has_room(set->process_count, "choose some: --ranks 0,8,16", (Where){0}, problems)) return NULL;
    Film *film = ARENA_NEW(arena, Film);
    *film = (Film){.arena = arena,
                   .title = set->title,
                   .rows = name_rows(arena, set),
                   .row_count = set->process_count,
                   .end = set->end,
                   .beside_end = set->beside_end};
    bool chunks = false;
    int64_t pass = 0, meetings = 0;
    int first_track = 0;
    for (int64_t i = 0; i < set->pass_count; i++) chunks = chunks || set->passes[i].chunk > 0;
    for (int64_t i = 0; i < set->span_count || pass < set->pass_count;) { // both in order of track and time
        const Span *span = i < set->span_count ? &set->spans[i] : NULL;
        const Span *next = pass < set->pass_count ? &set->passes[pass] : NULL;
        bool is_pass =
            next && (!span || next->track < span->track || (next->track == span->track && next->start <= span->start));
        const Span *from = is_pass ? next : span;
        while (first_track < set->track_count && set->tracks[first_track].process < set->tracks[from->track].process)
            first_track++;
        FilmBar bar =
            is_pass ? bar_of_pass(arena, set, from, first_track, chunks) : bar_of(arena, set, from, first_track);
        LIST_PUSH(arena, &film->bars, bar);
        if (bar.meeting > meetings) meetings = bar.meeting;
        if (!is_pass) {
            i++;
            continue;
        }
        pass++; // its nested spans are too detailed
        while (i < set->span_count && set->spans[i].track == next->track && set->spans[i].start < next->end) i++;
    }
    choose_leads(arena, film, meetings);
    film_finish(film);
    return film;
}
