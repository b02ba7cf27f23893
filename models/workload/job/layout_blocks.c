// Assignment of blocks to stages, and derived batch sizes.
#include "models/workload/job/layout.h"
#include "sim/base/check.h"

// ---- Blocks on stages.

// A head that predicts a further token counts for three layers: its own, and two times logits, which go with the last
// chunk. So DeepSeek-V3's 61 layers on 16 stages are 15 times 4 and 1, as Megatron-Bridge lays them out.
static int layers_of_heads(const Model *model, int chunks) {
    int heads = 3 * model->extra_heads;
    return (layers_to_spread(model) + heads) / chunks > heads ? heads : 0;
}

bool blocks_to_stages(const Model *model, int chunks, int *first, Where where, Problems *problems) {
    int layers = layers_to_spread(model), before_layers = first_layer(model);
    CHECK(chunks >= 1);
    if (layers < chunks) {
        problem_add(problems, where, "%s has %d layers, too few for %d pipeline chunks", model->name, layers, chunks);
        return problem_hint(problems, "pp x vpp must be at most %d", layers);
    }
    first[0] = 0;
    layers += layers_of_heads(model, chunks);
    for (int chunk = 1; chunk <= chunks; chunk++) { // earlier chunks take the remainder: the last has the head
        int before = chunk * (layers / chunks) + (chunk < layers % chunks ? chunk : layers % chunks);
        first[chunk] = before_layers + before;
    }
    first[chunks] = model->block_count;
    return true;
}

static bool even_blocks(const TrainingSpec *training, int chunks, int *first, Problems *problems) {
    const Layout *layout = &training->layout;
    const Model *model = training->model;
    if ((!layout->embedding_counts && !layout->head_counts) || first_layer(model) == 0)
        return blocks_to_stages(model, chunks, first, training->where, problems);
    int start = layout->embedding_counts ? 0 : 1;
    int all = layers_to_spread(model) + (layout->embedding_counts ? 1 : 0) + (layout->head_counts ? 1 : 0);
    int least = ends_stand_alone(model) ? all : layers_to_spread(model); // an end may be embedding or head alone
    if (least < chunks) return blocks_to_stages(model, chunks, first, training->where, problems);
    first[0] = 0;
    for (int chunk = 1; chunk < chunks; chunk++)
        first[chunk] = start + chunk * (all / chunks) + (chunk < all % chunks ? chunk : all % chunks);
    first[chunks] = model->block_count;
    return true;
}

// Only an end that has embedding or head may do without layers.
static bool check_stage_layers(const TrainingSpec *training, int chunks, Problems *problems) {
    const Layout *layout = &training->layout;
    int before = problems_added(problems), sum = 0, layers = layers_to_spread(training->model);
    bool ends_alone = ends_stand_alone(training->model);
    if (layout->embedding_counts || layout->head_counts) {
        problem_add(problems, training->where,
                    "layers says what each stage has, and embedding or head cannot count too");
        return problem_hint(problems, "leave one of them out");
    }
    if (layout->stage_layers_count != chunks) {
        problem_add(problems, training->where, "layers has %d counts, and the pipeline has %d chunks",
                    layout->stage_layers_count, chunks);
        return problem_hint(problems, "one count for each chunk (pp x vpp), in the model's order");
    }
    for (int c = 0; c < chunks; c++) {
        bool end = c == 0 || c == chunks - 1;
        sum += layout->stage_layers[c];
        if (layout->stage_layers[c] >= (ends_alone && end && chunks > 1 ? 0 : 1)) continue;
        problem_add(problems, training->where, "chunk %d of the pipeline has no layers", c + 1);
        problem_hint(problems, "only the first, with the embedding, and the last, with the head, may have 0");
    }
    if (sum != layers) {
        problem_add(problems, training->where, "the stages have %d layers, and %s has %d", sum, training->model->name,
                    layers);
        problem_hint(problems, "the counts must add up to %d", layers);
    }
    return problems_added(problems) == before;
}

bool blocks_to_chunks(const TrainingSpec *training, int chunks, int *first, Problems *problems) {
    const Layout *layout = &training->layout;
    if (!layout->stage_layers) return even_blocks(training, chunks, first, problems);
    if (!check_stage_layers(training, chunks, problems)) return false;
    first[0] = 0;
    int next = first_layer(training->model);
    for (int c = 0; c < chunks; c++) {
        next += layout->stage_layers[c];
        first[c + 1] = c == chunks - 1 ? training->model->block_count : next;
    }
    return true;
}

// ---- Batches.

static int at_least_one(int value) { return value > 1 ? value : 1; }

int replicas_of_job(const TrainingSpec *training, int gpus) {
    const Layout *layout = &training->layout;
    if (layout->dp > 0) return layout->dp;
    if (training->strategy == STRATEGY_SINGLE || training->strategy == STRATEGY_LAYERS) return 1;
    return at_least_one(gpus / (at_least_one(layout->tp) * at_least_one(layout->cp) * at_least_one(layout->pp)));
}

double micro_batch_of_job(const TrainingSpec *training, int dp) {
    if (training->micro_batch > 0) return training->micro_batch;
    if (training->global_batch <= 0) return 1;
    double per_replica = training->global_batch / dp;
    if (training->grad_accumulation > 0) return per_replica / training->grad_accumulation;
    bool pipelined = training->layout.pp > 1 && training->strategy != STRATEGY_LAYERS;
    return pipelined ? 1 : per_replica;
}

double micro_batches_of_job(const TrainingSpec *training, int dp) {
    if (training->grad_accumulation > 0) return training->grad_accumulation;
    if (training->global_batch <= 0) return 1;
    return training->global_batch / (dp * micro_batch_of_job(training, dp));
}
