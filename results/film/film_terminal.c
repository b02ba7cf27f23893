// A frame on a terminal, and the keys for navigation.
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "results/film/film.h"
#include "results/terminal.h"
#include "sim/base/list.h"
#include "sim/base/text.h"
#include "sim/system/letters_out.h"

#define WIDEST_NAME 14
#define CELLS_MOST 32 // columns of chunks
#define PROGRESS 24
#define NARROWEST 20 // columns; a terminal that is narrower folds the lines

// ---- Text of a given width.

static void put(Arena *arena, FILE *out, const Style *style, const char *text, int width, bool pads) {
    const char *clean = text_clean(arena, text, style->unicode);
    int columns = text_width(clean), bytes = (int)strlen(clean);
    if (columns > width) { // by whole letters
        for (bytes = columns = 0; clean[bytes] && columns < width - 1; columns++) do
                bytes++;
            while ((clean[bytes] & 0xc0) == 0x80);
        fprintf(out, "%.*s%s", bytes, clean, style->unicode ? "…" : "~");
        columns++;
    } else {
        fputs(clean, out);
    }
    for (; pads && columns < width; columns++) fputc(' ', out);
}

static int name_width(const Film *film) {
    int width = 4;
    for (int row = 0; row < film->row_count; row++)
        if (text_width(film->rows[row]) > width) width = text_width(film->rows[row]);
    return width < WIDEST_NAME ? width : WIDEST_NAME;
}

// ---- Bars: each with its name, then '=' or, on the critical path, '#'; the future is empty.

// The time range of the lanes: all of it, or if bars would be too narrow to read, a range around the present.
typedef struct Window {
    SimTime from, to, now;
} Window;

#define COLUMNS_PER_BAR 5 // of the average one that has a name

static Window window_at(const Film *film, SimTime now, int width) {
    double sum = 0, count = 0;
    for (int i = 0; i < film->bars.count; i++) {
        const FilmBar *bar = &film->bars.items[i];
        if (!*bar->name || bar->is_side || bar->kind == FILM_WAIT || bar->end == SIM_TIME_NEVER) continue;
        sum += (double)(bar->end - bar->start);
        count++;
    }
    double all = (double)film->end, span = count > 0 ? sum / count * width / COLUMNS_PER_BAR : all;
    if (!(span < all)) return (Window){0, film->end, now};
    double from = fmin(fmax(0, (double)now - 0.75 * span), all - span);
    return (Window){(SimTime)from, (SimTime)(from + span), now};
}

static int column_of(const Window *window, SimTime time, int width) {
    double span = (double)(window->to > window->from ? window->to - window->from : 1);
    double at = ((double)time - (double)window->from) / span * width;
    return at < 0 ? 0 : at > width ? width : (int)(at + 0.5);
}

static void draw_lane(FILE *out, const Film *film, int row, bool side, const Window *window, const Style *style,
                      int width) {
    char lane[1024];
    const FilmBar *bars[1024] = {NULL};
    if (width > 1023) width = 1023;
    memset(lane, ' ', (size_t)width);
    memset(lane, '.', (size_t)column_of(window, window->now, width));
    for (int i = 0; i < film->bars.count; i++) {
        const FilmBar *bar = &film->bars.items[i];
        SimTime from = bar->kind == FILM_TRANSFER ? bar->begun : bar->start,
                to = bar->end < window->now ? bar->end : window->now;
        if (bar->row != row || bar->is_side != side || bar->kind == FILM_WAIT || from >= window->now) continue;
        if (to <= window->from || from >= window->to) continue;
        int first = column_of(window, from, width), end = column_of(window, to, width);
        for (int c = first; c < end; c++) {
            int letter = c - first;
            bool named = from >= window->from && letter < (int)strlen(bar->name) && bar->name[letter] > 32 &&
                         bar->name[letter] < 127;
            lane[c] = named ? bar->name[letter] : bar->is_critical ? '#' : '=';
            bars[c] = bar;
        }
    }
    while (width > 0 && lane[width - 1] == ' ') width--;
    for (int c = 0; c < width; c++) {
        if (c == 0 || bars[c] != bars[c - 1]) {
            terminal_reset(out, style);
            if (bars[c]) terminal_color(out, style, bars[c]->color);
            if (bars[c] && bars[c]->is_critical) terminal_bold(out, style);
        }
        fputc(lane[c], out);
    }
    terminal_reset(out, style);
}

// ---- Chunks: number of parts of each in a row; with more chunks than columns, the least of each group.

static int chunks_per_cell(const Film *film) { return (film->chunk_count + CELLS_MOST - 1) / CELLS_MOST; }

static int parts_of(const Film *film, const FilmState *state, int cell, int per_cell) {
    int least = -1;
    for (int c = cell * per_cell; c < (cell + 1) * per_cell && c < film->chunk_count; c++) {
        int parts = film_part_count(state->holds[c]);
        if (least < 0 || parts < least) least = parts;
    }
    return least;
}

static bool is_complete(const Film *film, int row, const FilmState *state, int cell, int per_cell) {
    for (int c = cell * per_cell; c < (cell + 1) * per_cell && c < film->chunk_count; c++) {
        uint64_t wanted = film->promised[row * film->chunk_count + c];
        if (!wanted || state->holds[c] != wanted) return false;
    }
    return true;
}

static int cell_width(const Film *film) { return film->row_count >= 10 ? 3 : 2; }
static int cells_of(const Film *film) {
    return film->chunk_count ? (film->chunk_count + chunks_per_cell(film) - 1) / chunks_per_cell(film) : 0;
}

static void draw_cells(FILE *out, const Film *film, int row, const FilmState *state, const Style *style) {
    int per_cell = chunks_per_cell(film), width = cell_width(film);
    for (int cell = 0; cell < cells_of(film); cell++) {
        int parts = parts_of(film, state, cell, per_cell);
        bool complete = is_complete(film, row, state, cell, per_cell);
        if (complete) terminal_bold(out, style);
        if (complete) terminal_color(out, style, FILM_COMPLETE);
        if (parts == 0)
            fprintf(out, "%*s", width, ".");
        else if (complete)
            fprintf(out, "%*s", width, "#");
        else
            fprintf(out, "%*d", width, parts);
        terminal_reset(out, style);
    }
}

static void draw_chunk_heads(FILE *out, const Film *film, int name) {
    fprintf(out, "%-*s ", name, film->chunk_count > CELLS_MOST ? "chunks" : "chunk");
    for (int cell = 0; cell < cells_of(film); cell++)
        fprintf(out, "%*d", cell_width(film), cell * chunks_per_cell(film) % 1000);
    fputc('\n', out);
}

static bool has_sides(const Film *film) {
    for (int i = 0; i < film->bars.count; i++)
        if (film->bars.items[i].is_side && film->bars.items[i].kind == FILM_TRANSFER) return true;
    return false;
}

// ---- A frame.

static void draw_head(Arena *arena, FILE *out, const Film *film, int frame, const Style *style, int width) {
    double share = film->end ? (double)film->frames[frame].time / (double)film->end : 1;
    terminal_bold(out, style);
    put(arena, out, style, film->title, width, false);
    terminal_reset(out, style);
    fprintf(out, "\nFrame %d of %d, %s of %s ", frame + 1, film->frame_count,
            text_time(arena, step_seconds(film->frames[frame].time)), text_time(arena, step_seconds(film->end)));
    fputc('[', out);
    for (int c = 0; c < PROGRESS; c++) fputc(c < (int)(share * PROGRESS + 0.5) ? '#' : '-', out);
    fputs("]\n", out);
}

static void draw_event(Arena *arena, FILE *out, const Style *style, const char *label, const char *text, int width) {
    fprintf(out, "%-7s", label);
    put(arena, out, style, *text ? text : TEXT_UNKNOWN, width - 7, false);
    fputc('\n', out);
}

void film_draw(Arena *arena, FILE *out, const Film *film, int frame, const Style *style, int width, int height) {
    if (width < NARROWEST) width = NARROWEST;
    const FilmState *states = film_states(arena, film, frame);
    const char *circle = film_circle(arena, film, frame);
    int name = name_width(film), cells = cells_of(film) * cell_width(film), lines = height - 7 - (circle != NULL);
    bool chunks = film->chunk_count > 0, sides = !chunks && has_sides(film) && 3 * film->row_count <= lines;
    int shown = film->row_count <= (chunks ? lines - 1 : lines / 2) ? film->row_count
                : chunks                                            ? lines - 2
                                                                    : (lines - 1) / 2;
    if (shown < 1) shown = 1;
    Window window = window_at(film, film->frames[frame].time, width - name - 1);
    draw_head(arena, out, film, frame, style, width);
    draw_event(arena, out, style, "Ends", film_ended(arena, film, frame, 4), width);
    draw_event(arena, out, style, "Begins", film_began(arena, film, frame, 4), width);
    fputc('\n', out);
    if (chunks) draw_chunk_heads(out, film, name);
    for (int row = 0; row < shown; row++) {
        put(arena, out, style, film->rows[row], name, true);
        fputc(' ', out);
        if (chunks) {
            draw_cells(out, film, row, &states[row], style);
            fputs("  ", out);
            put(arena, out, style, states[row].does, width - name - cells - 3, false);
        } else {
            draw_lane(out, film, row, false, &window, style, width - name - 1);
        }
        fputc('\n', out);
        if (!sides) continue;
        fprintf(out, "%*s ", name, "moves");
        draw_lane(out, film, row, true, &window, style, width - name - 1);
        fputc('\n', out);
    }
    for (int row = 0; !chunks && row < shown; row++) {
        put(arena, out, style, film->rows[row], name, true);
        fputc(' ', out);
        put(arena, out, style, arena_printf(arena, "%s%s", states[row].is_critical ? "# " : "", states[row].does),
            width - name - 1, false);
        fputc('\n', out);
    }
    if (shown < film->row_count) fprintf(out, "and %d more\n", film->row_count - shown);
    if (circle) draw_event(arena, out, style, "Circle", circle, width);
    if (chunks)
        fputs("A figure: parts summed or gathered. # is as it is to be, . is nothing yet\n", out);
    else
        fprintf(out, "# is the critical path, = is off it, . waits; from %s to %s\n",
                text_time(arena, step_seconds(window.from)), text_time(arena, step_seconds(window.to)));
}

// ---- Keys.

enum { KEY_UP = 256, KEY_DOWN, KEY_RIGHT, KEY_LEFT, KEY_HOME, KEY_LAST, KEY_PAGE_UP, KEY_PAGE_DOWN, KEY_NONE };
#define PAGE 10      // frames
#define ESCAPE_MS 50 // an arrow's bytes come together, the key alone comes alone

int film_key(const Film *film, int frame, int key, int *typed) {
    int last = film->frame_count - 1, to = frame;
    if (key >= '0' && key <= '9') {
        *typed = *typed > 100000000 ? *typed : *typed * 10 + key - '0';
        return frame;
    }
    switch (key) {
    case 'q':
    case 3: // Ctrl-C
    case 4:
    case 27:
        return -1;
    case ' ':
    case 'n':
    case 'l':
    case 'j':
    case KEY_RIGHT:
    case KEY_DOWN:
        to = frame + (*typed ? *typed : 1);
        break;
    case 'b':
    case 'p':
    case 'h':
    case 'k':
    case 127:
    case KEY_LEFT:
    case KEY_UP:
        to = frame - (*typed ? *typed : 1);
        break;
    case KEY_PAGE_DOWN:
        to = frame + PAGE;
        break;
    case KEY_PAGE_UP:
        to = frame - PAGE;
        break;
    case 'g':
    case '\r':
    case '\n':
        to = *typed ? *typed - 1 : key == 'g' ? 0 : frame + 1;
        break;
    case KEY_HOME:
        to = 0;
        break;
    case 'G':
    case KEY_LAST:
        to = last;
        break;
    default:
        break;
    }
    *typed = 0;
    return to < 0 ? 0 : to > last ? last : to;
}

// A key, or what follows an escape: the letters of an arrow or of a page key.
static int read_key(void) {
    static const struct {
        const char *behind;
        int key;
    } known[] = {{"[A", KEY_UP},    {"[B", KEY_DOWN},  {"[C", KEY_RIGHT},    {"[D", KEY_LEFT},
                 {"OA", KEY_UP},    {"OB", KEY_DOWN},  {"OC", KEY_RIGHT},    {"OD", KEY_LEFT},
                 {"[H", KEY_HOME},  {"[F", KEY_LAST},  {"OH", KEY_HOME},     {"OF", KEY_LAST},
                 {"[1~", KEY_HOME}, {"[4~", KEY_LAST}, {"[5~", KEY_PAGE_UP}, {"[6~", KEY_PAGE_DOWN}};
    char bytes[8] = "";
    struct pollfd more = {.fd = STDIN_FILENO, .events = POLLIN};
    if (read(STDIN_FILENO, bytes, 1) != 1) return 'q';
    if (bytes[0] != 27 || poll(&more, 1, ESCAPE_MS) != 1) return (unsigned char)bytes[0];
    if (read(STDIN_FILENO, bytes + 1, sizeof bytes - 2) < 1) return 'q';
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(bytes + 1, known[i].behind) == 0) return known[i].key;
    return KEY_NONE;
}

bool film_can_play(void) {
    const char *terminal = getenv("TERM");
    return isatty(STDIN_FILENO) && isatty(letters_out_descriptor(stdout)) && terminal && *terminal &&
           strcmp(terminal, "dumb") != 0;
}

static volatile sig_atomic_t is_told_to_end;
static void on_signal(int number) { is_told_to_end = number; }

static void screen_size(int *width, int *height) {
    struct winsize size;
    bool known = ioctl(letters_out_descriptor(stdout), TIOCGWINSZ, &size) == 0 && size.ws_col >= 20 && size.ws_row >= 8;
    *width = known ? size.ws_col : 80;
    *height = known ? size.ws_row : 24;
}

static void show(const Film *film, int frame) {
    Arena *arena = arena_open();
    Style style = style_for(stdout, NULL, false);
    int width, height;
    screen_size(&width, &height);
    terminal_clear(stdout);
    film_draw(arena, stdout, film, frame, &style, width, height - 1);
    fputs("space next, b back, g first, G last, 12g frame 12, q ends", stdout);
    fflush(stdout);
    arena_close(arena);
}

// The terminal is restored, whatever ends the function.
void film_play(const Film *film, int frame) {
    static const int ends[] = {SIGTERM, SIGHUP, SIGINT};
    struct sigaction before[3], action = {.sa_handler = on_signal};
    struct termios cooked, raw;
    int typed = 0;
    if (tcgetattr(STDIN_FILENO, &cooked) != 0) return;
    raw = cooked;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG);
    for (int i = 0; i < 3; i++) sigaction(ends[i], &action, &before[i]);
    tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    terminal_take(stdout);
    while (frame >= 0 && !is_told_to_end) {
        show(film, frame);
        frame = film_key(film, frame, read_key(), &typed);
    }
    terminal_give_back(stdout);
    tcsetattr(STDIN_FILENO, TCSANOW, &cooked);
    for (int i = 0; i < 3; i++) sigaction(ends[i], &before[i], NULL);
    if (is_told_to_end) raise((int)is_told_to_end);
}
