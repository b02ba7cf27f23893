// Names of enum values in flags, Lua and JSON; the index is the enum value.
#include "models/workload/job/job.h"
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

// ---- Strategies as other software calls them: Lightning's registry of strategies (ddp_sharded until its 1.8,
// which was FairScale's), FairScale's classes, PyTorch's wrappers, accelerate's DistributedType and TensorFlow's
// tf.distribute. Plain "deepspeed" is stage 2, as in Lightning.

const StrategyWord foreign_strategies[FOREIGN_STRATEGIES] = {
    {"dp", "Lightning", STRATEGY_DATA_PARALLEL, 0, OFFLOAD_GPU, OFFLOAD_GPU},
    {"ddp_spawn", "Lightning", STRATEGY_DDP, 0, OFFLOAD_GPU, OFFLOAD_GPU},
    {"ddp_fork", "Lightning", STRATEGY_DDP, 0, OFFLOAD_GPU, OFFLOAD_GPU},
    {"ddp_notebook", "Lightning", STRATEGY_DDP, 0, OFFLOAD_GPU, OFFLOAD_GPU},
    {"ddp_find_unused_parameters_false", "Lightning", STRATEGY_DDP, 0, OFFLOAD_GPU, OFFLOAD_GPU},
    {"ddp_find_unused_parameters_true", "Lightning", STRATEGY_DDP, 0, OFFLOAD_GPU, OFFLOAD_GPU},
    {"ddp_sharded", "Lightning", STRATEGY_DDP, 2, OFFLOAD_GPU, OFFLOAD_GPU},
    {"ddp_sharded_spawn", "Lightning", STRATEGY_DDP, 2, OFFLOAD_GPU, OFFLOAD_GPU},
    {"fsdp", "Lightning", STRATEGY_DDP, 3, OFFLOAD_GPU, OFFLOAD_GPU},
    {"fsdp_cpu_offload", "Lightning", STRATEGY_DDP, 3, OFFLOAD_HOST, OFFLOAD_HOST},
    {"deepspeed", "Lightning", STRATEGY_DDP, 2, OFFLOAD_GPU, OFFLOAD_GPU},
    {"deepspeed_stage_1", "Lightning", STRATEGY_DDP, 1, OFFLOAD_GPU, OFFLOAD_GPU},
    {"deepspeed_stage_2", "Lightning", STRATEGY_DDP, 2, OFFLOAD_GPU, OFFLOAD_GPU},
    {"deepspeed_stage_2_offload", "Lightning", STRATEGY_DDP, 2, OFFLOAD_HOST, OFFLOAD_GPU},
    {"deepspeed_stage_3", "Lightning", STRATEGY_DDP, 3, OFFLOAD_GPU, OFFLOAD_GPU},
    {"deepspeed_stage_3_offload", "Lightning", STRATEGY_DDP, 3, OFFLOAD_HOST, OFFLOAD_HOST},
    {"deepspeed_stage_3_offload_nvme", "Lightning", STRATEGY_DDP, 3, OFFLOAD_NVME, OFFLOAD_NVME},
    {"OSS", "FairScale", STRATEGY_DDP, 1, OFFLOAD_GPU, OFFLOAD_GPU},
    {"ShardedDDP", "FairScale", STRATEGY_DDP, 2, OFFLOAD_GPU, OFFLOAD_GPU},
    {"DataParallel", "PyTorch", STRATEGY_DATA_PARALLEL, 0, OFFLOAD_GPU, OFFLOAD_GPU},
    {"DistributedDataParallel", "PyTorch", STRATEGY_DDP, 0, OFFLOAD_GPU, OFFLOAD_GPU},
    {"FullyShardedDataParallel", "PyTorch", STRATEGY_DDP, 3, OFFLOAD_GPU, OFFLOAD_GPU},
    {"MULTI_GPU", "accelerate", STRATEGY_DDP, 0, OFFLOAD_GPU, OFFLOAD_GPU},
    {"FSDP", "accelerate", STRATEGY_DDP, 3, OFFLOAD_GPU, OFFLOAD_GPU},
    {"OneDeviceStrategy", "TensorFlow", STRATEGY_SINGLE, 0, OFFLOAD_GPU, OFFLOAD_GPU},
    {"MirroredStrategy", "TensorFlow", STRATEGY_MIRRORED, 0, OFFLOAD_GPU, OFFLOAD_GPU},
    {"MultiWorkerMirroredStrategy", "TensorFlow", STRATEGY_MULTI_WORKER, 0, OFFLOAD_GPU, OFFLOAD_GPU},
};

const char *const strategy_words[STRATEGY_WORDS] = {
    "auto",
    "single",
    "data-parallel",
    "ddp",
    "horovod",
    "mirrored",
    "multi-worker-mirrored",
    "layers",
    "dp",
    "ddp_spawn",
    "ddp_fork",
    "ddp_notebook",
    "ddp_find_unused_parameters_false",
    "ddp_find_unused_parameters_true",
    "ddp_sharded",
    "ddp_sharded_spawn",
    "fsdp",
    "fsdp_cpu_offload",
    "deepspeed",
    "deepspeed_stage_1",
    "deepspeed_stage_2",
    "deepspeed_stage_2_offload",
    "deepspeed_stage_3",
    "deepspeed_stage_3_offload",
    "deepspeed_stage_3_offload_nvme",
    "OSS",
    "ShardedDDP",
    "DataParallel",
    "DistributedDataParallel",
    "FullyShardedDataParallel",
    "MULTI_GPU",
    "FSDP",
    "OneDeviceStrategy",
    "MirroredStrategy",
    "MultiWorkerMirroredStrategy",
};
