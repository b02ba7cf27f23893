#include "scenarios/plan/batch_law.h"

#include <math.h>

#include "sim/data/csv.h"

bool batch_law_given(const BatchLaw *law) { return law->point_count > 0 || law->least_steps > 0; }

// Between two points of a curve in logarithms: a law of powers there.
static double steps_on_curve(const BatchLaw *law, double batch) {
    const BatchPoint *points = law->points;
    int last = law->point_count - 1, below = 0, at = last;
    if (batch < points[0].batch || batch > points[last].batch) return NAN;
    if (last == 0) return points[0].steps;
    while (at - below > 1) { // batches rise
        int middle = below + (at - below) / 2;
        if (points[middle].batch < batch)
            below = middle;
        else
            at = middle;
    }
    const BatchPoint *a = &points[at - 1], *b = &points[at];
    double share = log(batch / a->batch) / log(b->batch / a->batch);
    return a->steps * pow(b->steps / a->steps, share);
}

double batch_law_steps(const BatchLaw *law, double batch) {
    double steps =
        law->point_count > 0 ? steps_on_curve(law, batch) : law->least_steps * (1 + law->critical_batch / batch);
    return ceil(steps - 1e-9 * steps); // a whole number that rounding left a hair above is not one step more
}

BatchLaw batch_law_from_run(double critical_batch, double batch, double samples) {
    return (BatchLaw){.critical_batch = critical_batch,
                      .least_steps = samples / batch / (1 + critical_batch / batch),
                      .reference_batch = batch};
}

static void check_rising(const Csv *csv, const BatchPoint *points, int count, Problems *problems) {
    for (int i = 1; i < count; i++) {
        if (points[i].batch > points[i - 1].batch) continue;
        problem_add(problems, csv_where(csv, i), "batch %g comes after batch %g", points[i].batch, points[i - 1].batch);
        problem_hint(problems, "batches rise from row to row");
    }
}

BatchLaw batch_law_read(Arena *arena, const char *path, Problems *problems) {
    BatchLaw law = {0};
    int before = problems_added(problems);
    const Csv *csv = csv_read_file(arena, path, problems);
    if (!csv) return law;
    int batch = csv_column(csv, "batch", problems), steps = csv_column(csv, "steps", problems);
    if (batch < 0 || steps < 0) return law;
    BatchPoint *points = ARENA_ARRAY(arena, BatchPoint, csv->row_count);
    for (int i = 0; i < csv->row_count; i++)
        points[i] = (BatchPoint){csv_positive(csv, i, batch, problems), csv_positive(csv, i, steps, problems)};
    if (csv->row_count == 0) {
        problem_add(problems, (Where){path, 0}, "no row says how many steps a batch needs");
        problem_hint(problems, "a header \"batch,steps\", then for example \"256,450000\"");
    }
    if (problems_added(problems) == before) check_rising(csv, points, csv->row_count, problems);
    law.points = points;
    law.point_count = csv->row_count;
    return law;
}

double learning_rate_at(const BatchLaw *law, LearningRateRule rule, double batch) {
    double times = batch / law->reference_batch;
    return law->learning_rate * (rule == RATE_LINEAR ? times : sqrt(times));
}
