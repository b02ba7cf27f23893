// The page of a run: its answer, then why it takes what it takes and what would help, each change simulated again.
#include "scenarios/report/report_run.h"

#include "scenarios/explain/explain.h"

static const Explanation *explanation_of(Arena *arena, const StudySpec *study, const Record *record) {
    if (!study || study->vary_count > 0 || record->point_count != 1) return NULL;
    ExplainRequest request = {.study = study, .pairs = EXPLAIN_PAIRS};
    const Explanation *explanation = explain_study(arena, &request, problems_create(arena));
    return explanation && explanation->step.chain ? explanation : NULL;
}

static void add_charts(Report *report, Arena *arena, const Explanation *explanation) {
    const Chart *roofline = explain_roofline_chart(arena, explanation);
    const Chart *links = explain_links_chart(arena, explanation);
    if (roofline || links) report_section(report, "Operators and links");
    if (roofline)
        report_chart(report, roofline,
                     "The nearer an operator is to the roof, the less there is to gain from better kernels; under its "
                     "slope the memory decides, under its flat part the matrix units.");
    if (links)
        report_chart(report, links,
                     "Of the nodes that were simulated; the others do the same as one of these. Of several links of a "
                     "kind the busiest.");
}

static void add_explanation(Report *report, Arena *arena, const Explanation *explanation) {
    Words sentences = explain_sentences(arena, explanation);
    int count = 0;
    const RecordTable *tables = explain_tables_for_people(arena, explanation, &count);
    report_section(report, "What to change first, and why");
    for (int i = 0; i < sentences.count; i++) report_text(report, sentences.items[i]);
    report_add_tables(report, tables, count);
    add_charts(report, arena, explanation);
}

void report_add_run(Report *report, Arena *arena, const StudySpec *study, const Record *record, Date today) {
    const Explanation *explanation = explanation_of(arena, study, record);
    Lead lead;
    if (explanation && explain_lead(arena, explanation, &lead))
        report_first_fact(report, lead.label, lead.value, lead.note);
    report_add_answer(report, record, today);
    if (explanation) add_explanation(report, arena, explanation);
    report_add_rest(report, record);
}
