// A film as a self-playing SVG: looping CSS animations of one length; no script. With reduced motion preferred, the
// final state is shown.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/film/film.h"
#include "results/page/report_page.h"
#include "results/view.h"
#include "sim/base/list.h"
#include "sim/base/text.h"
#include "sim/system/file.h"

#define WIDTH 960.0
#define LEFT 96.0
#define RIGHT 24.0
#define TOP 72.0
#define FOOT 56.0
#define ELEMENTS_MOST 6000
#define PLAYED 0.88 // of a round; then its end is seen

typedef struct TimePair {
    SimTime from, to;
} TimePair;

typedef LIST_OF(TimePair) Times; // distinct moments, or stretches, that have a rule of their own

typedef struct Drawing {
    Arena *arena;
    FILE *out;
    const Film *film;
    double cell, row_height, height, seconds; // seconds of a round
    Times comes, moves;
} Drawing;

static double percent(const Drawing *d, SimTime time) {
    return d->film->end ? 100 * PLAYED * (double)time / (double)d->film->end : 0;
}

static int number_of(Drawing *d, Times *times, SimTime from, SimTime to) {
    for (int i = times->count - 1; i >= 0; i--)
        if (times->items[i].from == from && times->items[i].to == to) return i;
    LIST_PUSH(d->arena, times, ((TimePair){from, to}));
    return times->count - 1;
}

static void write_text(const Drawing *d, double x, double y, const char *style, const char *text) {
    fprintf(d->out, "<text x=\"%.1f\" y=\"%.1f\"%s>", x, y, style);
    html_text(d->out, d->arena, text);
    fputs("</text>\n", d->out);
}

// ---- Chunks: a cell for each of a row, which move up and down between rows.

static double cell_x(const Drawing *d, int chunk) { return LEFT + chunk * d->cell; }
static double cell_y(const Drawing *d, int row) { return TOP + 20 + row * d->row_height; }

static void cell(const Drawing *d, int row, int chunk, uint64_t parts) {
    const Film *film = d->film;
    uint64_t wanted = film->promised[row * film->chunk_count + chunk];
    double share = (double)film_part_count(parts) / film->row_count, size = fmin(d->cell, d->row_height) - 2;
    uint32_t fill = parts && parts == wanted ? FILM_COMPLETE : share > 0.5 ? 0x2f5c9e : parts ? 0xb8d3ee : 0xeef1f4;
    bool dark = parts && (parts == wanted || share > 0.5);
    fprintf(d->out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"#%06x\"/>", cell_x(d, chunk) + 1,
            cell_y(d, row) + 1, d->cell - 2, d->row_height - 2, fill);
    if (parts && size >= 12)
        fprintf(d->out, "<text class=\"c\" x=\"%.1f\" y=\"%.1f\" fill=\"%s\">%d</text>", cell_x(d, chunk) + d->cell / 2,
                cell_y(d, row) + d->row_height / 2 + 4, dark ? "#ffffff" : "#10243d", film_part_count(parts));
}

static void draw_chunks(Drawing *d) {
    const Film *film = d->film;
    for (int chunk = 0; chunk < film->chunk_count && d->cell >= 12; chunk++)
        write_text(d, cell_x(d, chunk) + d->cell / 2, TOP + 12, " class=\"q c\"", arena_printf(d->arena, "%d", chunk));
    for (int row = 0; row < film->row_count; row++) {
        write_text(d, LEFT - 12, cell_y(d, row) + d->row_height / 2 + 4, " class=\"e\"", film->rows[row]);
        for (int chunk = 0; chunk < film->chunk_count; chunk++)
            cell(d, row, chunk, film->held[row * film->chunk_count + chunk]);
        fputc('\n', d->out);
    }
    for (int i = 0; i < film->arrivals.count; i++) {
        const FilmArrival *arrival = &film->arrivals.items[i];
        fprintf(d->out, "<g class=\"a%d\">", number_of(d, &d->comes, arrival->time, arrival->time));
        cell(d, arrival->row, arrival->chunk, arrival->parts);
        fputs("</g>\n", d->out);
    }
    for (int i = 0; i < film->arrivals.count; i++) {
        const FilmArrival *arrival = &film->arrivals.items[i];
        fprintf(d->out,
                "<rect class=\"m m%d\" style=\"--y:%.1fpx\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
                "rx=\"3\"/>\n",
                number_of(d, &d->moves, arrival->left, arrival->time),
                cell_y(d, arrival->row) - cell_y(d, arrival->from), cell_x(d, arrival->chunk) + d->cell * 0.2,
                cell_y(d, arrival->from) + d->row_height * 0.2, d->cell * 0.6, d->row_height * 0.6);
    }
}

// ---- Bars, behind a cover that goes away as time passes.

static double bar_x(const Drawing *d, SimTime time) {
    return LEFT + (WIDTH - LEFT - RIGHT) * (d->film->end ? (double)time / (double)d->film->end : 1);
}

static void draw_bar(const Drawing *d, const FilmBar *bar) {
    SimTime from = bar->kind == FILM_TRANSFER ? bar->begun : bar->start,
            to = bar->end < d->film->end ? bar->end : d->film->end;
    if (bar->kind == FILM_WAIT || from >= to) return;
    double x = bar_x(d, from), width = bar_x(d, to) - x, y = cell_y(d, bar->row), height = d->row_height - 4;
    double main = 0.7 * height;
    if (bar->is_side) y += main + 1;
    fprintf(d->out, "<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\" fill=\"#%06x\"%s><title>", x, y,
            fmax(width - (width > 3), 0.4), bar->is_side ? height - main - 1 : main, bar->color,
            bar->is_critical && !bar->is_side ? " class=\"p\"" : "");
    html_text(d->out, d->arena, arena_printf(d->arena, "%s: %s", d->film->rows[bar->row], bar->says));
    fputs("</title></rect>", d->out);
    if (!bar->is_side && *bar->name && width > paper_text_width(bar->name) + 6)
        write_text(d, x + 4, y + main / 2 + 4, color_is_dark(bar->color) ? " fill=\"#ffffff\"" : " fill=\"#10243d\"",
                   bar->name);
    fputc('\n', d->out);
}

// What the colours of bars stand for, above the rows, as far as there is room.
static void draw_key(const Drawing *d) {
    const Film *film = d->film;
    const char *drawn[20];
    int count = 0;
    double x = LEFT, room = WIDTH - RIGHT;
    for (int i = 0; i < film->bars.count; i++) {
        const FilmBar *bar = &film->bars.items[i];
        bool known = !bar->cause || bar->kind == FILM_WAIT || bar->end > film->end;
        for (int n = 0; n < count && !known; n++) known = strcmp(drawn[n], bar->cause) == 0;
        if (known || count == 20) continue;
        drawn[count++] = bar->cause;
        double wide = 17 + paper_text_width(bar->cause) + 16;
        if (x + wide > room) return;
        fprintf(d->out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"11\" height=\"11\" fill=\"#%06x\"/>", x, TOP + 1,
                bar->color);
        write_text(d, x + 17, TOP + 11, " class=\"q\"", bar->cause);
        x += wide;
    }
}

static void draw_bars_of(Drawing *d) {
    const Film *film = d->film;
    double bottom = cell_y(d, film->row_count), width = WIDTH - LEFT - RIGHT;
    draw_key(d);
    for (int row = 0; row < film->row_count; row++) {
        write_text(d, LEFT - 12, cell_y(d, row) + 0.35 * (d->row_height - 4) + 4, " class=\"e\"", film->rows[row]);
        fprintf(d->out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"#eef1f4\"/>\n", LEFT,
                cell_y(d, row), width, 0.7 * (d->row_height - 4));
    }
    for (int i = 0; i < film->bars.count; i++) draw_bar(d, &film->bars.items[i]);
    fprintf(d->out,
            "<rect class=\"v\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n"
            "<rect class=\"now\" x=\"%.1f\" y=\"%.1f\" width=\"2\" height=\"%.1f\"/>\n",
            LEFT, cell_y(d, 0) - 2, width + 4, bottom - cell_y(d, 0) + 2, LEFT, cell_y(d, 0) - 2,
            bottom - cell_y(d, 0) + 2);
    for (int i = 0; i <= 4 && film->end > 0; i++)
        write_text(d, LEFT + width * i / 4, bottom + 14,
                   i == 4 ? " class=\"q e\""
                   : i    ? " class=\"q c\""
                          : " class=\"q\"",
                   text_time(d->arena, step_seconds(film->end) * i / 4));
    if (!film->stands_still) return;
    const char *circle = film_circle(d->arena, film, film->frame_count - 1);
    fprintf(d->out, "<g class=\"a%d\">", number_of(d, &d->comes, film->end, film->end));
    write_text(d, LEFT, bottom + 34, " class=\"w\"",
               circle ? arena_printf(d->arena, "It stands still: %s", circle)
                      : "It stands still: who is waited for does not come");
    fputs("</g>\n", d->out);
}

// ---- The whole.

static void write_style(const Drawing *d) {
    FILE *out = d->out;
    fputs("<style>text{font:13px system-ui,sans-serif;fill:#10243d}text[fill=\"#ffffff\"]{fill:#fff}.t{font-size:20px;"
          "font-weight:600}.q{fill:#56606b}.w{fill:#a3241c;font-weight:600}.c{text-anchor:middle}.e{text-anchor:end}"
          ".m{opacity:0;fill:none;stroke:#d5482a;stroke-width:2}.p{stroke:#a3241c;stroke-width:2}.v{fill:#fff;opacity:"
          "0}.now{fill:#a3241c;"
          "opacity:0}.bar{fill:#2f5c9e;transform-box:fill-box;transform-origin:left}\n"
          "@media (prefers-reduced-motion:no-preference){\n",
          out);
    fprintf(out,
            ".bar{animation:bar %.1fs linear infinite}@keyframes bar{0%%{transform:scaleX(0)}%.0f%%,100%%{transform:"
            "scaleX(1)}}\n",
            d->seconds, 100 * PLAYED);
    if (!d->film->chunk_count)
        fprintf(out,
                ".v{transform-box:fill-box;transform-origin:right;animation:v %.1fs linear infinite}.now{animation:now "
                "%.1fs linear infinite}@keyframes v{0%%{opacity:1;transform:scaleX(1)}%.0f%%{opacity:1;transform:scaleX"
                "(0)}%.1f%%,100%%{opacity:0;transform:scaleX(0)}}@keyframes now{0%%{opacity:1;transform:translateX(0)}"
                "%.0f%%{opacity:1;transform:translateX(%.1fpx)}%.1f%%,100%%{opacity:0;transform:translateX(%.1fpx)}}\n",
                d->seconds, d->seconds, 100 * PLAYED, 100 * PLAYED + 0.1, 100 * PLAYED, WIDTH - LEFT - RIGHT,
                100 * PLAYED + 0.1, WIDTH - LEFT - RIGHT);
    for (int i = 0; i < d->comes.count; i++) {
        double at = percent(d, d->comes.items[i].from);
        fprintf(out,
                ".a%d{animation:a%d %.1fs linear infinite}@keyframes a%d{0%%,%.3f%%{opacity:0}%.3f%%,100%%{"
                "opacity:1}}\n",
                i, i, d->seconds, i, at, at + 0.01);
    }
    for (int i = 0; i < d->moves.count; i++) {
        double from = percent(d, d->moves.items[i].from), to = percent(d, d->moves.items[i].to);
        fprintf(out,
                ".m%d{animation:m%d %.1fs linear infinite}@keyframes m%d{0%%,%.3f%%{opacity:0;transform:none}%.3f%%{"
                "opacity:.9;transform:none}%.3f%%{opacity:.9;transform:translateY(var(--y))}%.3f%%,100%%{opacity:0;"
                "transform:translateY(var(--y))}}\n",
                i, i, d->seconds, i, from, fmin(from + 0.01, to), to, to + 0.01);
    }
    fputs("}</style>\n", out);
}

static bool has_room(const Film *film, Problems *problems) {
    int count = film->chunk_count ? film->row_count * film->chunk_count + 2 * film->arrivals.count : film->bars.count;
    if (count <= ELEMENTS_MOST) return true;
    problem_add(problems, (Where){0}, "a drawing of %d pieces is more than a slide can move; %d are the most", count,
                ELEMENTS_MOST);
    problem_hint(problems, "draw fewer ranks, or fewer micro-batches");
    return false;
}

bool film_svg(Arena *arena, FILE *out, const Film *film, Problems *problems) {
    Drawing d = {.arena = arena, .film = film};
    if (!has_room(film, problems)) return false;
    d.row_height = fmin(44, fmax(12, 400.0 / film->row_count));
    d.cell = film->chunk_count ? fmin(5 * d.row_height, (WIDTH - LEFT - RIGHT) / film->chunk_count) : 0;
    d.height = TOP + 20 + film->row_count * d.row_height + FOOT;
    d.seconds = fmin(30, fmax(8, 0.5 * film->frame_count));
    TextStream body = text_stream_open(); // the style depends on the body
    d.out = body.stream;
    write_text(&d, 24, 36, " class=\"t\"", film->title);
    write_text(&d, 24, 58, " class=\"q\"",
               arena_printf(arena, "%s%s", text_time(arena, step_seconds(film->end)),
                            film->chunk_count
                                ? ". A figure says of how many ranks a chunk has the parts; green: as it is to "
                                  "be; a red frame: on its way"
                            : film->stands_still ? ""
                                                 : ". Framed in red: the critical path"));
    if (film->chunk_count)
        draw_chunks(&d);
    else
        draw_bars_of(&d);
    fprintf(d.out, "<rect class=\"bar\" x=\"24\" y=\"%.1f\" width=\"%.1f\" height=\"3\"/>\n", d.height - 10,
            WIDTH - 48);
    char *drawn = text_stream_close(arena, &body);
    d.out = out;
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
            "role=\"img\" aria-label=\"",
            WIDTH, d.height, WIDTH, d.height);
    html_text(out, arena, film->title);
    fputs("\">\n", out);
    write_style(&d);
    fprintf(out, "<rect width=\"%.0f\" height=\"%.0f\" fill=\"#ffffff\"/>\n%s</svg>\n", WIDTH, d.height, drawn);
    return true;
}
