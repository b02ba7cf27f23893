// Work in numbered pieces, run by one process or several. The results do not depend on the number of processes.
#pragma once

#include <stdint.h>

#include "sim/base/options.h"

// Does piece `item`; the answer lives in the arena and may point into it and at whatever was there before. Nothing else
// that the work changes is seen outside of it. NULL: it was stopped (watch.h).
typedef void *PieceWork(const void *context, Arena *arena, int64_t item);

typedef struct Pieces {
    const char *what; // as watch_begin has it
    int64_t count;
    double expected; // of all: events; 0: pieces are counted
    bool small;      // too little work to start processes for
    PieceWork *work; // its arena stays open as long as the one given to pieces_do
    const void *context;
} Pieces;

// The answers, by piece; NULL where the work was stopped. A piece whose worker dies is done here.
void **pieces_do(Arena *arena, const Pieces *pieces);

// ---- Number of processes of a command. A process without this setting works alone, and so does each worker.
#define PIECES_OPTION_CALLED(word)                                                                                     \
    {                                                                                                                  \
        .name = (word), .kind = OPTION_COUNT, .of = OF_FORM, .metavar = "N",                                           \
        .help = "processes at work (default: one per core)", .letter = 'j'                                             \
    }
#define PIECES_OPTION PIECES_OPTION_CALLED("jobs")
// `word`: as the option is called.
int pieces_jobs_wanted(const Options *options, const char *word, Problems *problems);
void pieces_open_from(const Options *options, const char *word, Problems *problems);
void pieces_close(void);
