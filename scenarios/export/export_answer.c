#include "scenarios/export/export_answer.h"

#include <math.h>

#include "sim/system/watch.h"

static const char *lost_text(Arena *arena, const ExportWords *lost) {
    const char *text = "";
    for (int i = 0; i < lost->count; i++)
        text = arena_printf(arena, "%s%s%s=%s", text, i ? ", " : "", lost->items[i].key, lost->items[i].value);
    return text;
}

static void tell(Arena *arena, Answer *answer, const char *folder, const ExportFiles *files, bool brief) {
    static const AnswerColumn columns[] = {{"path", NULL, AS_TEXT, 0},
                                           {NULL, "file", AS_TEXT, 0},
                                           {"software", "for", AS_TEXT, 0},
                                           {"step_s", "a step", AS_SECONDS, 0},
                                           {"step_p5_s", NULL, AS_SECONDS, 0},
                                           {"step_p95_s", NULL, AS_SECONDS, 0},
                                           {NULL, "nine times in ten", AS_TEXT, 1},
                                           {"not_said", NULL, AS_TEXT, 0}};
    answer_detail(answer, FOR_ALL);
    if (brief) {
        const char *names = "";
        for (int i = 0; i < files->count; i++)
            names = arena_printf(arena, "%s%s%s/%s", names, i ? ", " : "", folder, files->items[i].name);
        answer_say(answer, "Written", "%s", names);
    } else {
        answer_say(answer, NULL, "%d file%s written into %s.", files->count, files->count == 1 ? "" : "s", folder);
    }
    answer_open(answer, NULL, NULL);
    if (brief) answer_detail(answer, FOR_PROGRAMS);
    answer_table(answer, "files", NULL, columns, sizeof columns / sizeof *columns);
    for (int i = 0; i < files->count; i++) {
        const ExportFile *file = &files->items[i];
        const RecordPoint *point = &file->point;
        ANSWER_ROW(answer, answer_of_text(arena_printf(arena, "%s/%s", folder, file->name)), answer_of_text(file->name),
                   answer_of_text(file->software), answer_of(AS_SECONDS, point->step_p50_s),
                   answer_of(AS_SECONDS, point->step_p5_s), answer_of(AS_SECONDS, point->step_p95_s),
                   answer_of_text(isfinite(point->step_p50_s) ? answer_range_text(arena, answer, AS_SECONDS,
                                                                                  point->step_p5_s, point->step_p95_s)
                                                              : ""),
                   answer_of_text(lost_text(arena, &file->lost)));
    }
    answer_close(answer);
    for (int i = 0; i < files->count; i++)
        if (files->items[i].lost.count)
            answer_caution(answer, "%s does not say %s: set it by hand", files->items[i].name,
                           lost_text(arena, &files->items[i].lost));
}

int export_asked(Asking *asking, const StudySpec *study, const Options *said, bool brief) {
    const char *folder = option_text(asking->options, "into", "lockstep-export");
    ExportFiles files = {0};
    if (!export_job(asking->arena, study, said, option_text(asking->options, "export", ""), &files, asking->problems))
        return watch_status(EXIT_BAD_INPUT);
    if (!export_write(asking->arena, folder, &files, asking->problems)) return EXIT_FAILED;
    tell(asking->arena, asking->answer, folder, &files, brief);
    return EXIT_DONE;
}
