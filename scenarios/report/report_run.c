// The page of a run: its answer, then why it takes what it takes and what would help, each change simulated again.
#include "scenarios/report/report_run.h"

#include "results/answer/record_answer.h"
#include "scenarios/explain/explain.h"

static const Explanation *explanation_of(Arena *arena, const StudySpec *study, const Record *record) {
    if (!study || study->vary_count > 0 || record->point_count != 1) return NULL;
    ExplainRequest request = {.study = study, .pairs = WHATIF_PAIRS};
    const Explanation *explanation = explain_study(arena, &request, problems_create(arena));
    return explanation && explanation->job.step.chain ? explanation : NULL;
}

void report_add_run(Report *report, Arena *arena, const StudySpec *study, const Record *record, Date today) {
    const Explanation *explanation = explanation_of(arena, study, record);
    RecordPage page = {.record = record, .today = today};
    Lead lead;
    if (explanation) {
        Answer *answer = answer_create(arena, "explain");
        explain_step_answer(answer, arena, explanation, false);
        page.explained = answer;
        if (step_lead(arena, &explanation->job, &lead)) {
            page.first = lead.label;
            page.first_value = lead.value;
            page.first_note = lead.note;
        }
    }
    record_on_page(arena, report, &page);
}
