// lockstep step: steps through a run event by event, forward and back.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/answer/frame.h"
#include "scenarios/explain/explain.h"
#include "scenarios/questions/collective_asked.h"
#include "scenarios/step/step_film.h"
#include "scenarios/study/study_options.h"
#include "sim/base/text.h"
#include "sim/system/file.h"
#include "sim/system/wall.h"
#include "sim/system/watch.h"

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof *(array)))
#define SPAN_ROOM 200000
#define ROWS_ON_SCREEN 9 // of frames
#define STATES_MOST 400000

// clang-format off
#define STEP_OPTIONS \
    {"frames", OPTION_TEXT, "FIRST..LAST", .of = OF_QUESTION, .help = "these frames alone, counted from 1: 10..20, or 7"}, \
    {"at", OPTION_QUANTITY, "TIME", .of = OF_QUESTION, .quantity = QUANTITY_TIME, .help = "the frame of this time, as it is drawn: 1.2ms"}, \
    {"svg", OPTION_TEXT, "FILE", .of = OF_FORM, .help = "a drawing that moves by itself, for slides"}

static const OptionSpec collective_own[] = {
    {"root", OPTION_COUNT, "N", .of = OF_QUESTION, .help = "of broadcast, reduce, gather, scatter; 0"},
    STEP_OPTIONS,
};
static const OptionSpec run_own[] = {
    SET_OPTION,
    {"study", OPTION_COUNT, "N", .of = OF_QUESTION, .help = "which of the script's jobs and programs, counted from 1 (default 1)"},
    {"ranks", OPTION_TEXT, "N,N,…", .of = OF_QUESTION, .help = "which ranks of a job, or all (default: the first of each pipeline stage)"},
    STEP_OPTIONS,
    PRICE_BOOK_OPTION,
    PROFILE_OPTION,
    SEED_OPTION,
    UNFOLDED_OPTION,
    ALLOW_READ_OPTION,
    WATCH_OPTIONS,
    WALL_OPTION,
};
// clang-format on

// ---- Which frames.

typedef struct Choice {
    int first, last; // of frames
    bool is_drawn;   // one of them, as on a terminal
} Choice;

static bool read_number(const char **text, long *number) {
    char *end;
    if (**text < '0' || **text > '9') return false;
    *number = strtol(*text, &end, 10);
    *text = end;
    return true;
}

static Choice choose_frames(const Asking *asking, const Film *film) {
    Choice choice = {0, film->frame_count - 1, false};
    const char *said = option_text(asking->options, "frames", NULL), *text = said;
    long first, last;
    if (option_given(asking->options, "at")) {
        double seconds = option_quantity(asking->options, "at", 0), end = step_seconds(film->end);
        if (seconds > end) {
            problem_add(asking->problems, (Where){0}, "--at is beyond the end, which comes after %s",
                        quantity_text(asking->arena, end, QUANTITY_TIME));
            problem_hint(asking->problems, "for example --at %s", quantity_text(asking->arena, end / 2, QUANTITY_TIME));
        }
        choice.first = choice.last = film_frame_at(film, step_ticks(seconds));
        choice.is_drawn = true;
        return choice;
    }
    if (!said) return choice;
    bool sound = read_number(&text, &first);
    last = first;
    if (sound && strncmp(text, "..", 2) == 0) text += 2, sound = read_number(&text, &last);
    if (sound && *text == '\0' && first >= 1 && last >= first && first <= film->frame_count)
        return (Choice){(int)first - 1, last < film->frame_count ? (int)last - 1 : film->frame_count - 1,
                        first == last};
    problem_add(asking->problems, (Where){0}, "--frames \"%s\" is none of frames 1 to %d", said, film->frame_count);
    problem_hint(asking->problems, "for example --frames 3..%d, or one: --frames 3", film->frame_count);
    return choice;
}

// ---- The answer.

static const AnswerColumn frame_columns[] = {
    {"frame", "Frame", AS_WHOLE, 0}, {"time_s", "Time", AS_SECONDS, 0}, {NULL, "What happens", AS_TEXT, 0},
    {"ended", NULL, AS_TEXT, 0},     {"began", NULL, AS_TEXT, 0},       {"waits", NULL, AS_TEXT, 0},
    {"circle", NULL, AS_TEXT, 0},
};
static const AnswerColumn state_columns[] = {
    {"frame", NULL, AS_WHOLE, 0},    {"row", NULL, AS_WHOLE, 0},     {"does", NULL, AS_TEXT, 0},
    {"waits_for", NULL, AS_TEXT, 0}, {"critical", NULL, AS_BOOL, 0}, {"bytes_per_s", NULL, AS_NUMBER, 0},
    {"holds", NULL, AS_TEXT, 0},
};
static const AnswerColumn bar_columns[] = {
    {"row", NULL, AS_WHOLE, 0},    {"kind", NULL, AS_TEXT, 0},      {"name", NULL, AS_TEXT, 0},
    {"says", NULL, AS_TEXT, 0},    {"start_s", NULL, AS_NUMBER, 0}, {"begun_s", NULL, AS_NUMBER, 0},
    {"end_s", NULL, AS_NUMBER, 0}, {"side", NULL, AS_BOOL, 0},      {"critical", NULL, AS_BOOL, 0},
    {"color", NULL, AS_TEXT, 0},
};
static const AnswerColumn move_columns[] = {
    {"from", NULL, AS_WHOLE, 0},    {"to", NULL, AS_WHOLE, 0},      {"chunk", NULL, AS_WHOLE, 0},
    {"left_s", NULL, AS_NUMBER, 0}, {"came_s", NULL, AS_NUMBER, 0}, {"parts", NULL, AS_WHOLE, 0},
    {"link", NULL, AS_TEXT, 0},
};

static AnswerValue text_or_nothing(const char *text) { return text && *text ? answer_of_text(text) : (AnswerValue){0}; }

static AnswerValue time_or_never(SimTime time) {
    return answer_of(AS_NUMBER, time == SIM_TIME_NEVER ? NAN : step_seconds(time));
}

// One line for the terminal: activities that end or begin, or who waits.
static const char *happens(Arena *arena, const Film *film, int frame, const FilmState *states) {
    const char *ended = film_ended(arena, film, frame, 1), *began = film_began(arena, film, frame, 1);
    const char *waits = film_waits(arena, film, states, 1), *circle = film_circle(arena, film, frame), *all = "";
    if (*ended) all = arena_printf(arena, "ends: %s", ended);
    if (*began) all = arena_printf(arena, "%s%sbegins: %s", all, *all ? ". " : "", began);
    if (!*all && *waits) all = arena_printf(arena, "waits: %s", waits);
    if (circle) all = arena_printf(arena, "%s%sthe circle is closed: %s", all, *all ? ". " : "", circle);
    return all;
}

// Of how many ranks the parts are in each chunk.
static const char *parts_text(Arena *arena, const Film *film, const uint64_t *parts) {
    TextStream text = text_stream_open();
    for (int c = 0; c < film->chunk_count; c++) fprintf(text.stream, "%s%d", c ? " " : "", film_part_count(parts[c]));
    return text_stream_close(arena, &text);
}

static void add_frames(Answer *answer, Arena *arena, const Film *film, const Choice *choice,
                       const FilmState *const *all) {
    answer_table(answer, "frames", NULL, COLUMNS(frame_columns));
    for (int f = choice->first; f <= choice->last; f++) {
        const FilmState *states = all[f - choice->first];
        ANSWER_ROW(answer, f + 1, step_seconds(film->frames[f].time), happens(arena, film, f, states),
                   text_or_nothing(film_ended(arena, film, f, 1000)), text_or_nothing(film_began(arena, film, f, 1000)),
                   text_or_nothing(film_waits(arena, film, states, 1000)),
                   text_or_nothing(film_circle(arena, film, f)));
    }
    answer_main_last(answer);
}

static const char *row_numbers(Arena *arena, const FilmState *state) {
    const char *list = "";
    for (int i = 0; i < state->waits_count; i++)
        list = arena_printf(arena, "%s%s%d", list, i ? " " : "", state->waits_for[i]);
    return list;
}

// A row's chunks are printed again if they have changed.
static bool holds_others(const Film *film, const FilmState *before, const FilmState *now) {
    return film->chunk_count &&
           (!before || memcmp(before->holds, now->holds, (size_t)film->chunk_count * sizeof *now->holds) != 0);
}

static void add_states(Answer *answer, Arena *arena, const Film *film, const Choice *choice,
                       const FilmState *const *all) {
    answer_table(answer, "states", NULL, COLUMNS(state_columns));
    for (int f = choice->first; f <= choice->last; f++) {
        const FilmState *states = all[f - choice->first],
                        *before = f > choice->first ? all[f - choice->first - 1] : NULL;
        for (int row = 0; row < film->row_count; row++)
            ANSWER_ROW(answer, f + 1, row, states[row].does, text_or_nothing(row_numbers(arena, &states[row])),
                       states[row].is_critical, states[row].rate,
                       holds_others(film, before ? &before[row] : NULL, &states[row])
                           ? answer_of_text(parts_text(arena, film, states[row].holds))
                           : (AnswerValue){0});
    }
}

// Of the chosen frames.
static bool is_seen(const Film *film, const Choice *choice, SimTime from, SimTime to) {
    return from <= film->frames[choice->last].time && to >= film->frames[choice->first].time;
}

static void add_bars(Answer *answer, Arena *arena, const Film *film, const Choice *choice) {
    static const char *const kinds[] = {[FILM_WORK] = "work", [FILM_TRANSFER] = "transfer", [FILM_WAIT] = "wait"};
    answer_table(answer, "bars", NULL, COLUMNS(bar_columns));
    for (int i = 0; i < film->bars.count; i++) {
        const FilmBar *bar = &film->bars.items[i];
        if (!is_seen(film, choice, bar->start, bar->end)) continue;
        ANSWER_ROW(answer, bar->row, kinds[bar->kind], text_or_nothing(bar->name), bar->says, time_or_never(bar->start),
                   time_or_never(bar->begun), time_or_never(bar->end), bar->is_side, bar->is_critical,
                   arena_printf(arena, "#%06x", bar->color));
    }
}

static void add_moves(Answer *answer, const Film *film, const Choice *choice) {
    answer_table(answer, "moves", NULL, COLUMNS(move_columns));
    for (int i = 0; i < film->arrivals.count; i++) {
        const FilmArrival *move = &film->arrivals.items[i];
        if (!is_seen(film, choice, move->left, move->time)) continue;
        ANSWER_ROW(answer, move->from, move->row, move->chunk, time_or_never(move->left), time_or_never(move->time),
                   film_part_count(move->parts), text_or_nothing(move->link));
    }
}

static void add_drawing(Answer *answer, Arena *arena, const Film *film, int frame) {
    Style style = style_for(stdout, NULL, false);
    TextStream text = text_stream_open();
    style.color = false;
    film_draw(arena, text.stream, film, frame, &style, style.width ? style.width : 80, 23);
    answer_verbatim(answer, text_stream_close(arena, &text));
}

static void fill(Asking *asking, const Film *film, const Choice *choice) {
    Answer *answer = asking->answer;
    Arena *arena = asking->arena;
    static const AnswerColumn row_columns[] = {
        {"row", NULL, AS_WHOLE, 0}, {"name", NULL, AS_TEXT, 0}, {"promised", NULL, AS_TEXT, 0}};
    answer_rename(answer, "step");
    answer_text(answer, "title", NULL, film->title);
    answer_bool(answer, "ran", NULL, !film->stands_still);
    answer_number(answer, "frame_count", NULL, AS_WHOLE, film->frame_count);
    answer_number(answer, "time_s", NULL, AS_NUMBER, step_seconds(film->end));
    answer_number(answer, "chunks", NULL, AS_WHOLE, film->chunk_count);
    if (choice->is_drawn)
        add_drawing(answer, arena, film, choice->first);
    else
        answer_say(answer, NULL, "%s: %d frame%s in %s%s%s", film->title, film->frame_count,
                   film->frame_count == 1 ? "" : "s", text_time(arena, step_seconds(film->end)),
                   film->beside_end ? film->beside_end : "",
                   film->stands_still ? ", and then it stands still: a deadlock" : "");
    if (choice->is_drawn) answer_detail(answer, FOR_PROGRAMS);
    const FilmState **all = ARENA_ARRAY(arena, const FilmState *, choice->last - choice->first + 1);
    for (int f = choice->first; f <= choice->last; f++) all[f - choice->first] = film_states(arena, film, f);
    add_frames(answer, arena, film, choice, all);
    if (!option_given(asking->options, "frames")) answer_first_rows(answer, ROWS_ON_SCREEN);
    answer_detail(answer, FOR_PROGRAMS);
    answer_table(answer, "rows", NULL, COLUMNS(row_columns));
    for (int row = 0; row < film->row_count; row++)
        ANSWER_ROW(answer, row, film->rows[row],
                   film->chunk_count
                       ? answer_of_text(parts_text(arena, film, film->promised + (ptrdiff_t)row * film->chunk_count))
                       : (AnswerValue){0});
    if (!frame_wants_objects(asking)) return;
    add_states(answer, arena, film, choice, all);
    if (film->chunk_count)
        add_moves(answer, film, choice);
    else
        add_bars(answer, arena, film, choice);
}

// A status.
static int write_svg(const Asking *asking, const Film *film) {
    const char *path = option_text(asking->options, "svg", NULL);
    OutputFile file;
    if (!path) return EXIT_DONE;
    if (!file_create(asking->arena, path, &file, asking->problems)) return EXIT_FAILED;
    if (film_svg(asking->arena, file.stream, film, asking->problems))
        return file_commit(&file, asking->problems) ? EXIT_DONE : EXIT_FAILED;
    file_abandon(&file);
    return EXIT_BAD_INPUT;
}

// Where a person sits at both ends, and asks for nothing else.
static bool is_walked(const Asking *asking) {
    static const char *const others[] = {"frames", "at", "svg", "json", "csv", "plain", "output", "quiet"};
    for (int i = 0; i < COUNT_OF(others); i++)
        if (option_known(asking->options, others[i]) && option_given(asking->options, others[i])) return false;
    return film_can_play();
}

static int give(Asking *asking, const Film *film) {
    if (!film || problem_count(asking->problems)) return watch_status(EXIT_BAD_INPUT);
    Choice choice = choose_frames(asking, film);
    if (problem_count(asking->problems)) return EXIT_USAGE;
    double states = (double)(choice.last - choice.first + 1) * film->row_count;
    if (frame_wants_objects(asking) && states > STATES_MOST) {
        problem_add(asking->problems, (Where){0}, "%d frames of %d rows are more than an answer holds",
                    choice.last - choice.first + 1, film->row_count);
        problem_hint(asking->problems, "choose some: --frames 1..%d", STATES_MOST / film->row_count);
        return EXIT_BAD_INPUT;
    }
    int written = write_svg(asking, film);
    if (written != EXIT_DONE) return written;
    asking->silent = is_walked(asking);
    if (asking->silent)
        film_play(film, 0);
    else
        fill(asking, film, &choice);
    return film->stands_still ? EXIT_NO : EXIT_DONE;
}

// ---- A collective.

static int ask_collective(Asking *asking) {
    CollectiveAsked asked = {.arena = asking->arena, .problems = asking->problems};
    collective_ask(&asked, asking->options);
    asked.by_messages = true;
    if (problem_count(asking->problems)) return EXIT_USAGE;
    collective_build(&asked, asking->options);
    if (problem_count(asking->problems)) return EXIT_BAD_INPUT;
    CollectiveRequest request = asked.request;
    request.bytes = option_given(asking->options, "sizes") || asked.pairs ? asked.first : 64.0 * 1024 * 1024;
    request.pair_bytes = collective_pairs(&asked, request.bytes);
    request.root = option_count_within(asking->options, "root", 0, 0, request.rank_count - 1, asking->problems);
    const FlowPlan *plan =
        problem_count(asking->problems) ? NULL : collective_messages(asking->arena, &asked, &request, asking->problems);
    if (!plan) return EXIT_BAD_INPUT;
    const char *title =
        arena_printf(asking->arena, "%s by %s, %d GPUs, %s", collective_op_name(request.op), flow_algorithm(plan),
                     request.rank_count, text_bytes(asking->arena, request.bytes));
    return give(asking,
                film_of_collective(asking->arena, plan, &request, asked.cluster->network, title, asking->problems));
}

static const OptionSpec *collective_step_rows(Arena *arena, int *count) {
    return options_join(arena, collective_rows, collective_row_count, collective_own, COUNT_OF(collective_own), count);
}

static const Question collective_question = {
    .name = "step",
    .usage = "lockstep step collective OP --node NAME [--gpus N --sizes 64M --algo NAME] [--frames A..B] [--svg FILE]",
    .about = "A collective message by message: which rank sends which chunk to whom, over which link, and who holds\n"
             "whose parts. On a terminal one walks through it by keys; else its frames are listed.\n"
             "Exit codes: 0 done, 2 usage, 4 bad input or beyond a limit, 130 interrupted.",
    .rows = collective_step_rows,
    .positional = 1,
    .ask = ask_collective};

// ---- A run.

static const Film *film_of_job(Asking *asking, const StudySpec *study, const char **why_not) {
    if (!study) return NULL;
    TraceRequest request = {
        .study = study, .ranks = option_text(asking->options, "ranks", NULL), .span_room = SPAN_ROOM, .chain = true};
    const SpanSet *set = trace_step(asking->arena, &request, why_not, asking->problems);
    return set ? film_of_spans(asking->arena, set, asking->problems) : NULL;
}

static const Film *film_of_script(Asking *asking, const StepQuestion *script, const Catalogue *catalogue,
                                  Problems *usage, const char **why_not) {
    const ScenarioRequest *request;
    const ScenarioItem *item = step_question_item(script, catalogue, &request, usage);
    if (!item) return NULL;
    if (item->study) return film_of_job(asking, item->study, why_not);
    return film_of_program(asking->arena, item->program, request->seed, asking->problems);
}

static int ask_run(Asking *asking) {
    Arena *arena = asking->arena;
    const Options *options = asking->options;
    Problems *problems = asking->problems, *usage = problems_create(arena);
    StepQuestion script = step_question_of(asking, "step");
    const char *why_not = NULL;
    step_question_check("step run", asking->is_script, options, problems);
    if (problem_count(problems)) return EXIT_USAGE;
    const Catalogue *catalogue = catalogue_with_options(arena, options, problems);
    if (!catalogue) return EXIT_BAD_INPUT;
    if (asking->is_script && !step_question_raises_wall(&script)) return EXIT_FAILED;
    const Film *film =
        asking->is_script
            ? film_of_script(asking, &script, catalogue, usage, &why_not)
            : film_of_job(asking, study_from_options(arena, options, catalogue, "lockstep step", problems), &why_not);
    if (!film && problem_count(usage) > 0 && problem_count(problems) == 0) {
        asking->problems = usage;
        return EXIT_USAGE;
    }
    if (!film && problem_count(problems) == 0 && why_not) {
        answer_rename(asking->answer, "step");
        answer_bool(asking->answer, "ran", NULL, false);
        answer_text(asking->answer, "why_not", NULL, why_not);
        answer_say(asking->answer, NULL, "The job does not run: %s", why_not);
        return EXIT_NO;
    }
    return give(asking, film);
}

static const OptionSpec *run_rows(Arena *arena, int *count) {
    return options_with_study(arena, run_own, COUNT_OF(run_own), count);
}

static const Question run_question = {
    .name = "step",
    .usage = "lockstep step run FILE.lua [--frames A..B | --at TIME] [--svg FILE] [OPTIONS]\n"
             "       lockstep step run --model NAME --node NAME --gpus N [OPTIONS]\n"
             "       lockstep step collective OP --node NAME [--gpus N --algo NAME]",
    .about =
        "A run event by event, forward and back: what begins, what ends, who waits for whom, which work is on the\n"
        "critical path; of a program that stands still, how the circle closes. On a terminal one walks through\n"
        "it by keys; else its frames are listed.\n\n"
        "  lockstep step run --model gpt2-124m --node dgx-a100 --gpus 4 --pp 4 --global-batch 8\n"
        "  lockstep step run my.lua --at 1.2ms\n"
        "  lockstep step collective all_reduce --node dgx-a100 --gpus 4 --algo ring --svg ring.svg\n\n"
        "Exit codes: 0 done, 1 failed, 2 usage, 3 it does not run or stands still, 4 bad input or beyond a limit,\n"
        "130 interrupted.",
    .rows = run_rows,
    .names_script = options_name_a_script,
    .own = run_own,
    .own_count = COUNT_OF(run_own),
    .ask = ask_run};

// ---- The command.

const OptionSpec *step_option_rows(Arena *arena, int *count);
const OptionSpec *step_option_rows(Arena *arena, int *count) { return frame_rows(arena, &run_question, count); }
const OptionSpec *step_collective_option_rows(Arena *arena, int *count);
const OptionSpec *step_collective_option_rows(Arena *arena, int *count) {
    return frame_rows(arena, &collective_question, count);
}

int command_step(int argc, char **argv);
int command_step(int argc, char **argv) {
    const char *kind = argc > 1 ? argv[1] : "";
    bool collective = strcmp(kind, "collective") == 0;
    int skipped = collective || strcmp(kind, "run") == 0;
    const Question *question = collective ? &collective_question : &run_question;
    return frame_run(question, argc - skipped, argv + skipped);
}
