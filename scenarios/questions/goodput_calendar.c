// The life of the median goodput as a calendar.
#include "results/answer/frame.h"
#include "scenarios/questions/goodput.h"

#include <stdio.h>

#include "sim/base/text.h"

#define HOUR_S 3600.0
#define DAY_S 86400.0

static double seconds(SimTime ticks) { return seconds_from_ticks(ticks, TICKS_PER_SECOND_LIFE); }

// ---- The calendar.

static const struct {
    double seconds;
    const char *name;
} stretches[] = {{HOUR_S, "hour"}, {DAY_S, "day"}, {7 * DAY_S, "week"}, {365 * DAY_S, "year"}};

// "week 3"; of stretches without a name of their own when they begin: "day 28".
static const char *stretch_name(Arena *arena, const LifeCalendar *calendar, int index) {
    double width = seconds(calendar->width);
    for (int i = 0; i < (int)(sizeof stretches / sizeof *stretches); i++)
        if (width == stretches[i].seconds) return arena_printf(arena, "%s %d", stretches[i].name, index + 1);
    double from = index * width;
    return width < DAY_S ? arena_printf(arena, "from hour %g", from / HOUR_S)
                         : arena_printf(arena, "from day %g", from / DAY_S);
}

static double unit_of(const LifeCalendar *calendar) { return seconds(calendar->width) > DAY_S ? DAY_S : HOUR_S; }

static double sum_of(const LifeStretch *stretch) {
    SimTime sum = 0;
    for (int i = 0; i < LIFE_TIME_COUNT; i++) sum += stretch->spent[i];
    return seconds(sum);
}

static const char *end_text(Arena *arena, const LifeStretch *stretch) {
    double all = sum_of(stretch), training = seconds(stretch->spent[LIFE_TRAINING]);
    const char *share = text_percent(arena, all > 0 ? training / all : 0);
    if (stretch->stops == 0) return share;
    return arena_printf(arena, "%s, %d stop%s", share, stretch->stops, stretch->stops == 1 ? "" : "s");
}

static const char *calendar_title(Arena *arena, const LifeCalendar *calendar) {
    const LifeRun *run = &calendar->run;
    return arena_printf(arena, "Simulated run %d, of the median goodput (%s): what its time goes to",
                        calendar->life + 1,
                        text_percent(arena, seconds(run->spent[LIFE_TRAINING]) / seconds(run->wall)));
}

void calendar_chart(Arena *arena, const LifeCalendar *calendar, Chart *chart) {
    StackRow *rows = ARENA_ARRAY(arena, StackRow, calendar->count);
    double unit = unit_of(calendar);
    for (int i = 0; i < calendar->count; i++) {
        const LifeStretch *stretch = &calendar->stretches[i];
        NamedValue *parts = ARENA_ARRAY(arena, NamedValue, LIFE_TIME_COUNT);
        for (int k = 0; k < LIFE_TIME_COUNT; k++)
            parts[k] = (NamedValue){life_time_names[k], life_time_titles[k], seconds(stretch->spent[k]) / unit};
        rows[i] = (StackRow){stretch_name(arena, calendar, i), end_text(arena, stretch), parts, LIFE_TIME_COUNT};
    }
    stack_chart(arena, rows, calendar->count, chart);
    chart->bars.title = calendar_title(arena, calendar);
    chart->bars.x_title = unit == DAY_S ? "days" : "hours";
}

// ---- Where it goes.

bool goodput_draw(const Asking *asking, const GoodputAsked *asked, const LifeStudy *study) {
    if (!frame_plots(asking) || study->runs == 0) return true;
    LifeCalendar calendar = life_calendar(asked->arena, &asked->spec, study, asked->seed);
    Chart *chart = ARENA_NEW(asked->arena, Chart);
    calendar_chart(asked->arena, &calendar, chart);
    return frame_draw(asking, asking->answer, "goodput", "calendar", chart);
}
