// A run event by event: rows (ranks, stages) with bars of activity, and the frames derived from them: the instants at
// which a bar begins or ends. Built once; a frame is looked up by its number, so stepping back is as fast as forward.
// It has no notion of models: bars come with their texts (scenarios/step/ makes them of runs).
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "results/results.h"
#include "sim/base/list.h"
#include "sim/clock.h"
#include "sim/run.h"

#define FILM_COMPLETE 0x2b7a4f // the colour of a complete chunk
#define FILM_ROWS_MOST 64      // a row's part in a chunk is a bit

typedef enum FilmKind { FILM_WORK, FILM_TRANSFER, FILM_WAIT } FilmKind; // FILM_WAIT: for another stream of its row

typedef struct FilmBar {
    int32_t row;
    int32_t track; // the stream: one does one thing at a time
    FilmKind kind;
    bool is_side;         // concurrent with the row's main stream
    bool leads;           // the bar that represents the transfer, of all bars of its meeting
    bool is_critical;     // on the path that decided the end
    uint32_t color;       // 0xRRGGBB
    const char *cause;    // what its colour stands for; NULL: nothing
    const char *name;     // short: "F3"; "" none
    const char *says;     // in its row: "forward of micro-batch 3", "sends chunk 2 to 1"
    const char *event;    // alone: "chunk 2, 0 to 1"; NULL: the row and `says`
    const char *link;     // the transfer's most utilised link; NULL
    const Plan *plan;     // of a transfer whose rate is displayed; NULL
    SimTime start;        // arrival
    SimTime begun, flows; // of a transfer: last arrival; end of its latency
    SimTime end;          // SIM_TIME_NEVER: none
    int64_t meeting;      // the same for all ends of one transfer, from 1; else 0
    int32_t next;         // film_finish: of the same meeting, round to itself
    const int *absent;    // of one that never begins: the rows that do not come
    int absent_count;
} FilmBar;

// Arrival of a chunk at a row, and the parts it then contains.
typedef struct FilmArrival {
    SimTime time;
    int32_t row, chunk;
    uint64_t parts;   // bit r: row r's part is in it
    int32_t from;     // row
    const char *link; // that it fills most; NULL
    SimTime left;     // when it began
} FilmArrival;

typedef struct FilmFrame {
    SimTime time;
    int first, end;    // of bars: before are those that have ended, from `end` on those that have not come
    const int *circle; // rows that wait for each other for good, each for the next; NULL: none does yet
    int circle_count;
} FilmFrame;

typedef struct Film {
    Arena *arena;
    const char *title;
    const char *beside_end; // printed after its time; NULL, "": nothing
    const char *const *rows;
    int row_count;
    LIST_OF(FilmBar) bars;
    const Link *links; // for rates
    int link_count;
    // Of a collective: the data moved, in chunks; 0: none.
    int chunk_count;
    const uint64_t *held;     // [row * chunk_count + chunk] parts at first
    const uint64_t *promised; // and at the end; 0: whatever
    LIST_OF(FilmArrival) arrivals;
    SimTime end;
    SimTime *row_end;  // film_finish: of the last bar of each row
    bool stands_still; // rows wait for each other without end
    FilmFrame *frames; // film_finish
    int frame_count;
} Film;

// All bars and arrivals are there: puts them in order, and finds the frames.
void film_finish(Film *film);
// Of a run whose actors are the rows: marks what the critical path goes through.
void film_mark_path(Film *film, const ChainPiece *chain, int64_t count);
int film_frame_at(const Film *film, SimTime time); // the last that is not later

// What a row is at, from a frame on until the next.
typedef struct FilmState {
    const char *does;     // "forward of micro-batch 3", "waits for stage 1: …", "done"
    const int *waits_for; // rows
    int waits_count;
    const FilmBar *bar; // of the main stream; NULL: it does nothing
    bool is_critical;
    double rate;           // bytes per second, of all its transfers
    const uint64_t *holds; // [chunk]
} FilmState;

const FilmState *film_states(Arena *arena, const Film *film, int frame);
const double *film_rates(Arena *arena, const Film *film, int frame); // [bar] of those that lead: bytes per second, or 0
// Activities that begin or end, and who waits for whom, as text; "" nothing. `most`: the number listed by name, then
// how many more; 1: as short as possible.
const char *film_began(Arena *arena, const Film *film, int frame, int most);
const char *film_ended(Arena *arena, const Film *film, int frame, int most);
const char *film_waits(Arena *arena, const Film *film, const FilmState *states, int most);
const char *film_circle(Arena *arena, const Film *film,
                        int frame); // "rank 0 → rank 1 → rank 0", each waits for the next; or NULL
int film_part_count(uint64_t parts);

// Draws one frame, `width` columns wide and `height` lines high.
void film_draw(Arena *arena, FILE *out, const Film *film, int frame, const Style *style, int width, int height);
// Interactive, until a key ends it.
bool film_can_play(void);
void film_play(const Film *film, int frame);
// Which frame a key leads to; `typed`: digits so far. -1: the end.
int film_key(const Film *film, int frame, int key, int *typed);

// A self-playing SVG for slides: no script, and still with reduced motion preferred. False after a problem.
bool film_svg(Arena *arena, FILE *out, const Film *film, Problems *problems);
