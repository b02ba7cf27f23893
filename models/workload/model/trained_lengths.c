// How long the sequences were that a published model was trained on for most of its tokens. A model's longest sequence
// is another thing: it was stretched to that in a last stage of some per cent of the tokens, or when it was used.
#include <string.h>

#include "models/workload/model/model.h"

typedef struct TrainedLength {
    const char *name; // of the library; with "*" at its end all that begin so
    int tokens;
    const char *source;
} TrainedLength;

#define NOT_PUBLISHED "not published: as others of its time"

// clang-format off
static const TrainedLength lengths[] = {
    {"llama-3.1-405b", 8192, "arXiv 2407.21783: 8K, six stages to 128K at the end"},
    {"llama-3.2-*", 8192, "model card"},
    {"llama-4-*", 8192, NOT_PUBLISHED ", then up to 256K (Meta, April 2025)"},
    {"mistral-7b", 8192, "arXiv 2310.06825"},
    {"mistral-nemo-12b", 8192, NOT_PUBLISHED},
    {"mistral-large-123b", 8192, NOT_PUBLISHED},
    {"mistral-small-24b", 8192, NOT_PUBLISHED},
    {"qwen1.5-moe-a2.7b", 4096, "Qwen blog, February 2024"},
    {"qwen2.5-*", 4096, "arXiv 2412.15115: 4,096, then 32,768"},
    {"qwen3-*", 4096, "arXiv 2505.09388: 30T tokens at 4,096, then 32,768"},
    {"codellama-34b", 4096, "arXiv 2308.12950: 4,096, then 16,384"},
    {"phi-4", 4096, "arXiv 2412.08905: 4,096, then 16,384"},
    {"phi-3.5-moe", 4096, "arXiv 2404.14219, as Phi-3"},
    {"smollm2-*", 2048, "arXiv 2502.02737: 2,048, then 8,192"},
    {"smollm3-3b", 4096, "Hugging Face blog, July 2025: 4K, then 32K and 64K"},
    {"deepseek-v2", 4096, "arXiv 2405.04434"},
    {"kimi-k2", 4096, "arXiv 2507.20534: 15.5T tokens at 4,096, then 32K"},
    {"glm-4.5", 4096, "arXiv 2508.06471: 4K, then 32K and 128K"},
    {"gpt-oss-*", 4096, "OpenAI, config.json: initial_context_length"},
};
// clang-format on

static bool is_of(const char *name, const char *row) {
    size_t length = strlen(row);
    return row[length - 1] == '*' ? strncmp(name, row, length - 1) == 0 : strcmp(name, row) == 0;
}

int usual_tokens(const Model *model, const char **source) {
    *source = "the model's longest";
    bool published = model->source && strcmp(model->source, "as given") != 0;
    for (size_t i = 0; published && i < sizeof lengths / sizeof *lengths; i++) {
        if (!is_of(model->name, lengths[i].name) || lengths[i].tokens >= model->max_positions) continue;
        *source = lengths[i].source;
        return lengths[i].tokens;
    }
    return model->max_positions;
}
