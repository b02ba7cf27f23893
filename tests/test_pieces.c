// Work in pieces: the same answers from any number of processes, whatever becomes of them.
#include <math.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "calibrate/command_validate.h"
#include "scenarios/questions/goodput.h"
#include "scenarios/queue/command_queue.h"
#include "sim/system/watch.h"
#include "sim/system/workers.h"
#include "tests/command.h"
#include "tests/test.h"

typedef struct Answer {
    int64_t item;
    const char *text; // where the worker put it
    double root;
    pid_t by;
} Answer;

typedef struct Wish {
    int64_t dies; // the piece at which a worker ends; -1: none
    pid_t parent;
    size_t bytes; // that each piece takes
} Wish;

static void *answer(const void *context, Arena *arena, int64_t item) {
    const Wish *wish = context;
    if (item == wish->dies && getpid() != wish->parent) raise(SIGKILL);
    Answer *told = ARENA_NEW(arena, Answer);
    memset(arena_alloc(arena, wish->bytes), 1, wish->bytes);
    watch_goes_on(1000);
    *told = (Answer){item, arena_printf(arena, "piece %d", (int)item), sqrt((double)item), getpid()};
    return told;
}

static void open_jobs(Arena *arena, const char *jobs) {
    static const OptionSpec specs[] = {PIECES_OPTION};
    char *argv[] = {arena_copy_text(arena, "x"), arena_copy_text(arena, "-j"), arena_copy_text(arena, jobs)};
    Problems *problems = problems_create(arena);
    pieces_open_from(options_parse(arena, specs, 1, 3, argv, problems), "jobs", problems);
    EXPECT(problem_count(problems) == 0);
}

static int count_here(void **answers, int64_t count, bool whole) {
    int here = 0;
    for (int64_t i = 0; i < count; i++) {
        const Answer *told = answers[i];
        if (!told && !whole) continue;
        EXPECT(told && told->item == i && told->root == sqrt((double)i));
        char text[32];
        snprintf(text, sizeof text, "piece %d", (int)i);
        EXPECT(strcmp(told->text, text) == 0);
        here += told->by == getpid();
    }
    return here;
}

TEST(pieces_give_the_same_from_one_process_and_from_many) {
    static const struct {
        const char *jobs;
        int64_t count, dies;
        bool small;
        int here; // pieces that this process must do itself
    } cases[] = {
        {"1", 40, -1, false, 40}, {"2", 40, -1, false, 0}, {"5", 40, -1, false, 0},   {"64", 3, -1, false, 0},
        {"3", 1, -1, false, 1},   {"3", 40, -1, true, 40}, {"3", 40, 7, false, 1},    {"1", 40, 7, false, 40},
        {"2", 0, -1, false, 0},   {"2", 2, 0, false, 1},   {"4", 300, 299, false, 1},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        Arena *arena = arena_open();
        Wish wish = {cases[c].dies, getpid(), 100 * c};
        Pieces pieces = {
            .what = "pieces", .count = cases[c].count, .small = cases[c].small, .work = answer, .context = &wish};
        open_jobs(arena, cases[c].jobs);
        void **answers = pieces_do(arena, &pieces);
        pieces_close();
        int here = count_here(answers, cases[c].count, true);
        if (here != cases[c].here) test_fail(__FILE__, __LINE__, "case %zu: %d pieces done here", c, here);
        arena_close(arena);
    }
}

// Answers of many megabytes, which stay readable after their workers are gone.
TEST(what_workers_put_into_shared_room_outlives_them) {
    Arena *arena = arena_open();
    Wish wish = {-1, getpid(), (size_t)1 << 20};
    Pieces pieces = {.what = "pieces", .count = 50, .work = answer, .context = &wish};
    open_jobs(arena, "2");
    void **answers = pieces_do(arena, &pieces);
    pieces_close();
    EXPECT(count_here(answers, 50, true) == 0);
    EXPECT(count_here(answers, 50, true) == 0);
    arena_close(arena);
}

// Events of all processes count together towards the limit of a piece.
TEST(a_limit_of_events_holds_over_all_processes) {
    static const char *const jobs[] = {"1", "2", "4"};
    for (int j = 0; j < 3; j++) {
        Arena *arena = arena_open();
        Wish wish = {-1, getpid(), 0};
        Pieces pieces = {.what = "pieces", .count = 200, .expected = 200e3, .work = answer, .context = &wish};
        open_jobs(arena, jobs[j]);
        watch_open(&(WatchLimits){.events = 50e3});
        void **answers = pieces_do(arena, &pieces);
        EXPECT(watch_stopped() == WATCH_EVENTS);
        int done = 0;
        for (int i = 0; i < 200; i++) done += answers[i] != NULL;
        if (done < 40 || done > 60) test_fail(__FILE__, __LINE__, "-j %s: %d of 200 pieces", jobs[j], done);
        count_here(answers, 200, false);
        watch_close();
        pieces_close();
        arena_close(arena);
    }
}

TEST(commands_answer_alike_for_any_number_of_processes) {
    static const struct {
        int (*command)(int argc, char **argv);
        const char *line;
    } cases[] = {
        {command_goodput, "goodput --gpus 16384 --days 5 --runs 300"},
        {command_goodput, "goodput --gpus 2048 --days 10 --checkpoint-every best --runs 300"},
        {command_queue, "queue --gpus 128 --load 0.8 --policy all --jobs 2500 --seeds 2 --precision 1"},
        {command_queue, "queue --find-gpus --wait-p95 1h --mix gavel --jobs-per-hour 3 --seeds 2 --policy fifo,easy"},
        {command_validate, "validate training --family kempnerforge --nested"},
        {command_validate, "validate collectives --family slingshot --nested"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        Arena *arena = arena_open();
        const char *first = NULL;
        for (int jobs = 1; jobs <= 3; jobs++) {
            const Ended *ended = run_command(cases[c].command, arena_printf(arena, "%s -j %d", cases[c].line, jobs));
            EXPECT(ended->code == 0 && strlen(ended->out) > 100);
            if (!first) first = arena_copy_text(arena, ended->out);
            if (strcmp(first, ended->out) != 0) test_fail(__FILE__, __LINE__, "%s -j %d", cases[c].line, jobs);
        }
        const Ended *none = run_command(cases[c].command, arena_printf(arena, "%s -j 0", cases[c].line));
        EXPECT(none->code == 2 || none->code == 4);
        EXPECT_CONTAINS(none->err, " 0 processes cannot be started");
        arena_close(arena);
    }
}
