// Names of enum values in flags, Lua and JSON; the index is the enum value.
#include "models/workload/job/training.h"
#include "sim/base/check.h"

const char *const strategy_names[STRATEGY_COUNT] = {"auto",    "single",   "data-parallel",         "ddp",
                                                    "horovod", "mirrored", "multi-worker-mirrored", "layers"};
const char *const schedule_names[SCHEDULE_COUNT] = {"gpipe", "1f1b", "interleaved", "zb-h1", "zb-v", "dualpipe"};
const char *const recompute_names[RECOMPUTE_COUNT] = {"none", "selective", "full", "operations"};
const char *const attention_names[ATTENTION_COUNT] = {"plain", "flash", "flash1", "flash2", "flash3", "flash4"};
const char *const framework_names[FRAMEWORK_COUNT] = {"eager", "megatron", "tuned",     "graph",
                                                      "fused", "composed", "operators", "tensorflow"};
const char *const optimizer_names[OPTIMIZER_COUNT] = {"sgd", "adam", "none", "adam-8bit", "adafactor", "own"};
const char *const image_layout_names[IMAGE_LAYOUT_COUNT] = {"usual", "nchw", "nhwc"};
const char *const offload_names[OFFLOAD_COUNT] = {"gpu", "host", "nvme"};
const char *const context_exchange_names[CONTEXT_COUNT] = {"ring", "all-gather", "ulysses"};
const char *const fp8_recipe_names[FP8_RECIPE_COUNT] = {"delayed", "tensorwise", "rowwise", "blockwise", "mxfp8"};

static const char *name_at(const char *const *names, int count, int index) {
    CHECK(index >= 0 && index < count);
    return names[index];
}

const char *strategy_name(Strategy strategy) { return name_at(strategy_names, STRATEGY_COUNT, (int)strategy); }
const char *schedule_name(Schedule schedule) { return name_at(schedule_names, SCHEDULE_COUNT, (int)schedule); }
const char *recompute_name(Recompute recompute) { return name_at(recompute_names, RECOMPUTE_COUNT, (int)recompute); }
const char *attention_name(Attention attention) { return name_at(attention_names, ATTENTION_COUNT, (int)attention); }
const char *framework_name(Framework framework) { return name_at(framework_names, FRAMEWORK_COUNT, (int)framework); }
const char *optimizer_name(Optimizer optimizer) { return name_at(optimizer_names, OPTIMIZER_COUNT, (int)optimizer); }
const char *image_layout_name(ImageLayout layout) {
    return name_at(image_layout_names, IMAGE_LAYOUT_COUNT, (int)layout);
}
