// Frames of a run, and the content of each.
#include "results/film/film.h"

#include <math.h>
#include <stdlib.h>

#include "sim/base/check.h"
#include "sim/base/list.h"
#include "sim/base/text.h"
#include "sim/program.h"

int film_part_count(uint64_t parts) { return __builtin_popcountll(parts); }

// ---- Order.

static int by_time(const void *a, const void *b) {
    const FilmBar *one = a, *other = b;
    if (one->start != other->start) return one->start < other->start ? -1 : 1;
    if (one->row != other->row) return one->row < other->row ? -1 : 1;
    if (one->track != other->track) return one->track < other->track ? -1 : 1;
    if (one->end != other->end) return one->end < other->end ? -1 : 1;
    return (one->meeting > other->meeting) - (one->meeting < other->meeting);
}

static int by_arrival(const void *a, const void *b) {
    const FilmArrival *one = a, *other = b;
    if (one->time != other->time) return one->time < other->time ? -1 : 1;
    if (one->row != other->row) return one->row < other->row ? -1 : 1;
    return (one->chunk > other->chunk) - (one->chunk < other->chunk);
}

// ---- The critical path.

static int by_row_and_end(const void *a, const void *b) {
    const FilmBar *one = *(const FilmBar *const *)a, *other = *(const FilmBar *const *)b;
    if (one->row != other->row) return one->row < other->row ? -1 : 1;
    if (one->track != other->track) return one->track < other->track ? -1 : 1;
    return (one->end > other->end) - (one->end < other->end);
}

void film_mark_path(Film *film, const ChainPiece *chain, int64_t count) {
    Arena *scratch = arena_open();
    FilmBar **bars = ARENA_ARRAY(scratch, FilmBar *, film->bars.count);
    size_t lasting = 0; // of a track no two of them end together
    for (int i = 0; i < film->bars.count; i++) {
        FilmBar *bar = &film->bars.items[i];
        if (bar->kind != FILM_WAIT && bar->start < bar->end) bars[lasting++] = bar;
    }
    if (lasting) qsort(bars, lasting, sizeof *bars, by_row_and_end);
    for (int64_t i = 0; lasting && i < count; i++) {
        const FilmBar piece = {.row = chain[i].actor, .track = chain[i].stream, .end = chain[i].end}, *key = &piece;
        FilmBar **bar = bsearch(&key, bars, lasting, sizeof *bars, by_row_and_end);
        if (bar) (*bar)->is_critical = true;
    }
    arena_close(scratch);
}

static void join_meetings(Film *film) {
    Arena *scratch = arena_open();
    int64_t meetings = 0;
    for (int i = 0; i < film->bars.count; i++)
        if (film->bars.items[i].meeting > meetings) meetings = film->bars.items[i].meeting;
    int32_t *last = ARENA_ARRAY(scratch, int32_t, meetings + 1); // + 1
    for (int i = 0; i < film->bars.count; i++) {
        FilmBar *bar = &film->bars.items[i];
        bar->next = i;
        if (!bar->meeting) continue;
        FilmBar *before = last[bar->meeting] ? &film->bars.items[last[bar->meeting] - 1] : bar;
        bar->next = before->next;
        before->next = i;
        last[bar->meeting] = i + 1;
    }
    arena_close(scratch);
}

// ---- Frames.

// The first bar that comes later.
static int bars_until(const Film *film, SimTime time) {
    int low = 0, high = film->bars.count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (film->bars.items[middle].start <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int by_tick(const void *a, const void *b) {
    SimTime one = *(const SimTime *)a, other = *(const SimTime *)b;
    return (one > other) - (one < other);
}

static void list_frames(Film *film) {
    Arena *scratch = arena_open();
    SimTime *times = ARENA_ARRAY(scratch, SimTime, 4 * (int64_t)film->bars.count + film->arrivals.count + 2);
    int count = 0;
    times[count++] = 0;
    times[count++] = film->end;
    for (int i = 0; i < film->bars.count; i++) {
        const FilmBar *bar = &film->bars.items[i];
        if (bar->kind == FILM_WAIT) continue;
        const SimTime own[] = {bar->start, bar->begun, bar->plan ? bar->flows : bar->begun, bar->end};
        for (int t = 0; t < 4; t++)
            if (own[t] <= film->end) times[count++] = own[t];
    }
    for (int i = 0; i < film->arrivals.count; i++) times[count++] = film->arrivals.items[i].time;
    qsort(times, (size_t)count, sizeof *times, by_tick);
    film->frames = ARENA_ARRAY(film->arena, FilmFrame, count);
    for (int i = 0; i < count; i++)
        if (i == 0 || times[i] > times[i - 1]) film->frames[film->frame_count++].time = times[i];
    arena_close(scratch);
    for (int f = 0, first = 0; f < film->frame_count; f++) {
        FilmFrame *frame = &film->frames[f];
        while (first < film->bars.count && film->bars.items[first].end <= frame->time) first++;
        frame->first = first;
        frame->end = bars_until(film, frame->time);
    }
}

int film_frame_at(const Film *film, SimTime time) {
    int frame = 0;
    while (frame + 1 < film->frame_count && film->frames[frame + 1].time <= time) frame++;
    return frame;
}

// ---- A circle of those that wait for good.

typedef struct Search {
    uint64_t waits_for[FILM_ROWS_MOST], on_way, done;
    int way[FILM_ROWS_MOST], length;
} Search;

static bool closes(Search *search, int row) {
    search->on_way |= UINT64_C(1) << row;
    search->way[search->length++] = row;
    for (int other = 0; other < FILM_ROWS_MOST; other++) {
        uint64_t bit = UINT64_C(1) << other;
        if (!(search->waits_for[row] & bit) || (search->done & bit)) continue;
        if (search->on_way & bit) { // the circle begins there
            int first = 0;
            while (search->way[first] != other) first++;
            search->length -= first;
            memmove(search->way, search->way + first, (size_t)search->length * sizeof *search->way);
            return true;
        }
        if (closes(search, other)) return true;
    }
    search->length--;
    search->on_way &= ~(UINT64_C(1) << row);
    search->done |= UINT64_C(1) << row;
    return false;
}

static void find_circle(Film *film, FilmFrame *frame) {
    Search search = {.length = 0};
    for (int i = 0; i < film->bars.count; i++) {
        const FilmBar *bar = &film->bars.items[i];
        for (int a = 0; bar->start <= frame->time && a < bar->absent_count; a++)
            search.waits_for[bar->row] |= UINT64_C(1) << bar->absent[a];
    }
    for (int row = 0; row < film->row_count && !frame->circle; row++) {
        if ((search.done >> row & 1) || !closes(&search, row)) continue;
        int *circle = ARENA_ARRAY(film->arena, int, search.length);
        memcpy(circle, search.way, (size_t)search.length * sizeof *circle);
        frame->circle = circle;
        frame->circle_count = search.length;
    }
}

void film_finish(Film *film) {
    CHECK(film->row_count <= FILM_ROWS_MOST);
    if (film->bars.count) qsort(film->bars.items, (size_t)film->bars.count, sizeof *film->bars.items, by_time);
    if (film->arrivals.count)
        qsort(film->arrivals.items, (size_t)film->arrivals.count, sizeof *film->arrivals.items, by_arrival);
    film->row_end = ARENA_ARRAY(film->arena, SimTime, film->row_count);
    for (int i = 0; i < film->bars.count; i++) {
        const FilmBar *bar = &film->bars.items[i];
        if (bar->end > film->row_end[bar->row]) film->row_end[bar->row] = bar->end;
    }
    join_meetings(film);
    list_frames(film);
    for (int i = 0; film->stands_still && i < film->frame_count; i++) find_circle(film, &film->frames[i]);
}

// ---- What rows are at.

static bool is_on(const FilmBar *bar, SimTime now) { return bar->start <= now && now < bar->end; }
static bool is_under_way(const FilmBar *bar, SimTime now) {
    return is_on(bar, now) && bar->kind != FILM_WAIT && (bar->kind == FILM_WORK || bar->begun <= now);
}

const double *film_rates(Arena *arena, const Film *film, int frame) {
    const FilmFrame *at = &film->frames[frame];
    SimTime now = at->time;
    double *rates = ARENA_ARRAY(arena, double, film->bars.count);
    Arena *scratch = arena_open();
    const Plan **plans = ARENA_ARRAY(scratch, const Plan *, at->end - at->first);
    int *bars = ARENA_ARRAY(scratch, int, at->end - at->first), count = 0;
    for (int i = at->first; i < at->end; i++) {
        const FilmBar *bar = &film->bars.items[i];
        if (!bar->leads || !bar->plan || bar->plan->bytes <= 0 || now < bar->flows || now >= bar->end) continue;
        bars[count] = i;
        plans[count++] = bar->plan;
    }
    double *found = ARENA_ARRAY(scratch, double, count);
    share_links(scratch, film->links, film->link_count, plans, count, found);
    for (int i = 0; i < count; i++) rates[bars[i]] = isfinite(found[i]) ? found[i] : 0;
    arena_close(scratch);
    return rates;
}

// Rows whose streams have not come to the meeting.
static uint64_t missing(const Film *film, const FilmBar *bar, SimTime now) {
    uint64_t rows = 0;
    for (int a = 0; a < bar->absent_count; a++) rows |= UINT64_C(1) << bar->absent[a];
    for (const FilmBar *other = &film->bars.items[bar->next]; other != bar; other = &film->bars.items[other->next])
        if (other->start > now) rows |= UINT64_C(1) << other->row;
    return rows & ~(UINT64_C(1) << bar->row);
}

static const char *row_list(Arena *arena, const Film *film, const int *rows, int count) {
    const char *list = "";
    for (int i = 0; i < count && i < 3; i++) list = text_listed(arena, list, film->rows[rows[i]]);
    return count > 3 ? arena_printf(arena, "%s and %d more", list, count - 3) : list;
}

// ", 24.3 GB/s (was 12.1)"; "" without flow.
static const char *rate_of(Arena *arena, const Film *film, const FilmBar *bar, const double *rates,
                           const double *before) {
    const FilmBar *lead = bar;
    while (!lead->leads && film->bars.items[lead->next].meeting && &film->bars.items[lead->next] != bar)
        lead = &film->bars.items[lead->next];
    double rate = rates[lead - film->bars.items], was = before ? before[lead - film->bars.items] : 0;
    if (rate <= 0) return "";
    const char *now = arena_printf(arena, ", %s GB/s", text_figures(arena, rate / 1e9, 3));
    if (was <= 0 || fabs(rate / was - 1) < 1e-6) return now;
    return arena_printf(arena, "%s (was %s)", now, text_figures(arena, was / 1e9, 3));
}

// Number of concurrent bars described in a frame.
#define DESCRIBED_MOST 3

// The bar that ends a main stream's wait: of its row, with the wait's end.
static const FilmBar *waited_for(const Film *film, const FilmFrame *at, const FilmBar *wait) {
    for (int i = at->first; wait && i < at->end; i++) {
        const FilmBar *bar = &film->bars.items[i];
        if (bar->row == wait->row && bar->kind != FILM_WAIT && bar->end == wait->end) return bar;
    }
    return NULL;
}

static void describe_waiting(Arena *arena, const Film *film, const FilmBar *bar, uint64_t lacks, FilmState *state) {
    int *rows = ARENA_ARRAY(arena, int, FILM_ROWS_MOST);
    for (int r = 0; r < film->row_count; r++)
        if (lacks >> r & 1) rows[state->waits_count++] = r;
    state->waits_for = rows;
    state->does = arena_printf(arena, "waits for %s: %s", row_list(arena, film, rows, state->waits_count),
                               *bar->name ? bar->name : bar->says);
}

static void describe_row(Arena *arena, const Film *film, int row, const FilmFrame *at, const double *rates,
                         const double *before, FilmState *state) {
    const FilmBar *waiting = NULL, *stands = NULL;
    uint64_t lacks = 0;
    int told = 0;
    state->does = "";
    for (int i = at->first; i < at->end; i++) {
        const FilmBar *bar = &film->bars.items[i];
        if (bar->row != row || !is_on(bar, at->time)) continue;
        if (bar->leads && rates[i] > 0) state->rate += rates[i];
        if (is_under_way(bar, at->time)) {
            state->is_critical = state->is_critical || bar->is_critical;
            if (bar->is_side) continue;
            state->bar = bar;
            if (told++ < DESCRIBED_MOST)
                state->does = arena_printf(arena, "%s%s%s%s", state->does, *state->does ? "; " : "", bar->says,
                                           rate_of(arena, film, bar, rates, before));
        } else if (bar->kind == FILM_TRANSFER) {
            uint64_t absent = missing(film, bar, at->time);
            if (!waiting && absent) waiting = bar;
            lacks |= absent;
        } else if (!bar->is_side) {
            stands = bar;
        }
    }
    if (told > DESCRIBED_MOST) state->does = arena_printf(arena, "%s; and %d more", state->does, told - DESCRIBED_MOST);
    if (told) return;
    const FilmBar *other = waited_for(film, at, stands);
    if (other && is_under_way(other, at->time))
        state->does = arena_printf(arena, "waits: %s%s", other->says, rate_of(arena, film, other, rates, before));
    else if (other && missing(film, other, at->time))
        describe_waiting(arena, film, other, missing(film, other, at->time), state);
    else if (waiting)
        describe_waiting(arena, film, waiting, lacks, state);
    else
        state->does = film->row_end[row] > at->time ? "waits" : "done";
}

const FilmState *film_states(Arena *arena, const Film *film, int frame) {
    SimTime now = film->frames[frame].time;
    FilmState *states = ARENA_ARRAY(arena, FilmState, film->row_count);
    Arena *scratch = arena_open();
    const double *rates = film_rates(scratch, film, frame);
    const double *before = frame > 0 ? film_rates(scratch, film, frame - 1) : NULL;
    int cells = film->row_count * film->chunk_count;
    uint64_t *holds = ARENA_ARRAY(arena, uint64_t, cells);
    if (cells) memcpy(holds, film->held, (size_t)cells * sizeof *holds);
    for (int i = 0; i < film->arrivals.count && film->arrivals.items[i].time <= now; i++) {
        const FilmArrival *arrival = &film->arrivals.items[i];
        holds[arrival->row * film->chunk_count + arrival->chunk] = arrival->parts;
    }
    for (int row = 0; row < film->row_count; row++) {
        describe_row(arena, film, row, &film->frames[frame], rates, before, &states[row]);
        states[row].holds = holds + (ptrdiff_t)row * film->chunk_count;
    }
    arena_close(scratch);
    return states;
}

// ---- Words.

static const char *said(Arena *arena, const Film *film, const FilmBar *bar, bool brief) {
    if (brief && !bar->event)
        return arena_printf(arena, "%s %s", film->rows[bar->row], *bar->name ? bar->name : bar->says);
    if (!bar->event) return arena_printf(arena, "%s: %s", film->rows[bar->row], bar->says);
    return brief || !bar->link ? bar->event : arena_printf(arena, "%s over %s", bar->event, bar->link);
}

// Lists the bars that begin, or end, at the frame; of a transfer only its leading bar.
static const char *happens(Arena *arena, const Film *film, int frame, bool begins, int most) {
    bool brief = most == 1;
    SimTime now = film->frames[frame].time;
    const char *list = "";
    int count = 0;
    for (int i = film->frames[frame > 0 ? frame - 1 : 0].first; i < film->frames[frame].end; i++) {
        const FilmBar *bar = &film->bars.items[i];
        if (bar->kind == FILM_WAIT || (bar->kind == FILM_WORK && bar->is_side)) continue;
        if (bar->kind == FILM_TRANSFER && !bar->leads) continue;
        if ((begins ? bar->kind == FILM_TRANSFER ? bar->begun : bar->start : bar->end) != now) continue;
        if (bar->kind == FILM_TRANSFER && bar->absent_count) continue;
        if (count++ < most)
            list = arena_printf(arena, "%s%s%s", list, *list ? "; " : "", said(arena, film, bar, brief));
    }
    return count > most ? arena_printf(arena, "%s; %d more", list, count - most) : list;
}

const char *film_began(Arena *arena, const Film *film, int frame, int most) {
    return happens(arena, film, frame, true, most);
}

const char *film_ended(Arena *arena, const Film *film, int frame, int most) {
    return happens(arena, film, frame, false, most);
}

const char *film_waits(Arena *arena, const Film *film, const FilmState *states, int most) {
    const char *list = "";
    int count = 0;
    for (int row = 0; row < film->row_count; row++) {
        if (!states[row].waits_count || count++ >= most) continue;
        list = arena_printf(arena, "%s%s%s for %s", list, *list ? "; " : "", film->rows[row],
                            row_list(arena, film, states[row].waits_for, states[row].waits_count));
    }
    return count > most ? arena_printf(arena, "%s; %d more", list, count - most) : list;
}

const char *film_circle(Arena *arena, const Film *film, int frame) {
    const FilmFrame *at = &film->frames[frame];
    const char *way = "";
    for (int i = 0; i < at->circle_count; i++) way = arena_printf(arena, "%s%s → ", way, film->rows[at->circle[i]]);
    return at->circle ? arena_printf(arena, "%s%s", way, film->rows[at->circle[0]]) : NULL;
}
