// What calls of a program in Python say of its training: those that make it, by what they are given, and those that
// make something so by being there.
#include <ctype.h>
#include <string.h>

#include "scenarios/import/manifests.h"
#include "scenarios/import/python.h"
#include "sim/base/list.h"
#include "sim/system/file.h"

const char *python_commas(Python *p, const ShellWords *words) {
    const char *text = "";
    for (int i = 0; i < words->count && i < 64; i++)
        text = arena_printf(p->r->arena, "%.2000s%s%.400s", text, i ? "," : "", words->items[i].text);
    return text;
}

// Those that make a training, by the end of their name; what they are told stands under `section` then.
static const struct Maker {
    const char *call, *section;
    bool is_strategy, counts; // it is one by itself; without others it makes a training
} makers[] = {
    {"Trainer", "trainer.", false, true},
    {"Fabric", "trainer.", false, true},
    {"TrainingArguments", "", false, true},
    {"SFTConfig", "", false, true},
    {"DPOConfig", "", false, true},
    {"ORPOConfig", "", false, true},
    {"RewardConfig", "", false, true},
    {"RayFSDPStrategy", "strategy.", true, false},
    {"RayDeepSpeedStrategy", "strategy.", true, false},
    {"RayDDPStrategy", "strategy.", true, false},
    {"CheckpointConfig", "checkpoint_config.", false, false},
    {"RunConfig", "run_config.", false, false},
    {"FailureConfig", "failure_config.", false, false},
    {"update_parameters", "executor.", false, false}, // submitit
    {"FSDPStrategy", "strategy.", true, false},
    {"DeepSpeedStrategy", "strategy.", true, false},
    {"DDPStrategy", "strategy.", true, false},
    {"MegatronStrategy", "strategy.", false, false},
    {"pretrain_recipe", "recipe.", false, true},
    {"finetune_recipe", "recipe.", false, true},
    {"DataLoader", "", false, false},
    {"LoraConfig", "lora.", false, false},
    {"get_peft_model", "lora.", false, false}, // unsloth's
    {"BitsAndBytesConfig", "", false, false},
    {"ScalingConfig", "", false, true},
    {"SlurmExecutor", "executor.", false, false},
    {"HuggingFace", "estimator.", false, true},
    {"PyTorch", "estimator.", false, true},
    {"Estimator", "estimator.", false, true},
    {"Accelerator", "", false, true},
    {"LanguageModel.from_pretrained", "", false, false},
    {"LM.from_pretrained", "", false, false},
    {"pretrain_config", "", false, true},
    {"finetune_config", "", false, true},
    {"DataModule", "", false, false},
    {"create_model", "", false, false},
    {"TransformerConfig.llama_like", "model.", false, true}, // OLMo-core
    {"TransformerConfig", "model.", false, true},
    {"TrainModuleConfig", "train_module.", false, true},
    {"DataParallelConfig", "dp_config.", false, false},
    {"TensorParallelConfig", "tp_config.", false, false},
    {"ContextParallelConfig", "cp_config.", false, false},
    {"PipelineParallelConfig", "pp_config.", false, false},
    {"ActivationCheckpointingConfig", "ac_config.", false, false},
    {"Float8Config", "float8_config.", false, false},
    {"DataLoaderConfig", "data_loader.", false, false},
    {"DatasetConfig", "dataset.", false, false},
    {"TrainerConfig", "trainer.", false, false},
    {"AdamWConfig", "optim.", false, false},
    {"CosWithWarmup", "scheduler.", false, false},
    {"CheckpointerCallback", "trainer.", false, false},
    {"AdamW", "optimizer.", false, false},
    {"SGD", "optimizer.", false, false},
};

// The size in "Llama3Config70B", NeMo's classes of models; NULL: it is no such name.
static const char *size_of_class(const char *name) {
    const char *size = strstr(name, "Config");
    if (!size || !isdigit((unsigned char)size[6])) return NULL;
    size_t length = strspn(size + 6, "0123456789x");
    return strchr("BM", size[6 + length]) && size[6 + length] && !size[7 + length] ? size + 6 : NULL;
}

static const struct Maker *maker_called(const char *name) {
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
        size_t own = strlen(makers[i].call);
        if (length < own || strcmp(name + length - own, makers[i].call) != 0) continue;
        bool whole = length == own || name[length - own - 1] == '.' || strstr(makers[i].call, "onfig") ||
                     strstr(makers[i].call, "from_pretrained") || strstr(makers[i].call, "Arguments") ||
                     strstr(makers[i].call, "DataModule") || (i == 0 && !strchr(name, '.'));
        if (whole) return &makers[i];
    }
    static const struct Maker other = {"Config", "", false, false}; // whatever is configured by a class
    const char *dot = strrchr(name, '.'), *last = dot ? dot + 1 : name;
    static const char *const endings[] = {"Config",     "Callback", "Scheduler",      "Checkpoint",
                                          "NeMoLogger", "Resume",   "OptimizerModule"};
    bool configures = size_of_class(last) != NULL;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        configures = configures || file_ends_in(last, endings[i]);
    return isupper((unsigned char)*last) && configures && !strstr(last, "Generation") ? &other : NULL;
}

void python_tell(Python *p, const char *section, const char *name, const char *value, int line) {
    if (p->told.count >= MOST_TOLD) not_read(p->r, "a program says more than 2000 things", (Where){p->file, line});
    bool known = is_known(value);
    if (p->told.count >= MOST_TOLD || (!known && p->unsure.count >= MOST_TOLD)) return;
    said_add(p->r->arena, known ? &p->told : &p->unsure, arena_printf(p->r->arena, "%s%.120s", section, name), value,
             (Where){p->file, line}, known ? BY_FILE : BY_PROGRAM);
}

// A dictionary's words in a section.
static void tell_pairs(Python *p, const char *section, const ShellWords *words, int line) {
    for (int i = 0; i < words->count; i++) {
        const char *equals = strchr(words->items[i].text, '=');
        if (!equals) continue;
        const char *key = arena_printf(p->r->arena, "%.*s", (int)(equals - words->items[i].text), words->items[i].text);
        python_tell(p, section, key, equals + 1, words->items[i].line ? words->items[i].line : line);
    }
}

// What a program is given as its environment.
void python_environment(Python *p, const ShellWords *words) {
    for (int i = 0; i < words->count; i++) {
        const char *text = words->items[i].text, *equals = strchr(text, '=');
        size_t length = equals ? (size_t)(equals - text) : 0;
        if (length == 0 || strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") < length || !is_known(equals))
            continue;
        shell_set(reading_shell(p->r), arena_printf(p->r->arena, "%.*s", (int)length, text), equals + 1,
                  (Where){p->file, words->items[i].line}, true);
    }
}

// Arguments that say something wherever the call's name ends so (or, with a "*", holds it): as which setting.
static const struct {
    const char *call, *key, *setting;
} heeded[] = {
    {"autocast", "dtype", "precision"},
    {"okenizer", "max_length", "max_length"}, // samples at that length
    {"tok", "max_length", "max_length"},
    {"tokenize", "max_length", "max_length"},
    {"FSDP", "sharding_strategy", "sharding_strategy"},
    {"FullyShardedDataParallel", "sharding_strategy", "sharding_strategy"},
    {"fully_shard", "reshard_after_forward", "reshard_after_forward"},
    {"CPUOffload", "offload_params", "cpu_offload"},
    {"MixedPrecision", "param_dtype", "param_dtype"},
    {"MixedPrecision", "reduce_dtype", "reduce_dtype"},
    {"MixedPrecisionPolicy", "param_dtype", "param_dtype"},
    {"MixedPrecisionPolicy", "reduce_dtype", "reduce_dtype"},
    {"*from_pretrained", "attn_implementation", "attn_implementation"},
    {"*from_pretrained", "torch_dtype", "torch_dtype"},
    {"*from_pretrained", "load_in_4bit", "load_in_4bit"},
    {"PipelineModule", "num_stages", "num_stages"}, // DeepSpeed's
    {"PipelineModule", "partition_method", "pipe_partition_method"},
    {"PipelineModule", "activation_checkpoint_interval", "activation_checkpoint_interval"},
};

// What makes something so by being called, where no condition stands before it.
static const struct {
    const char *call, *setting;
} deeds[] = {
    {"gradient_checkpointing_enable", "gradient_checkpointing"},
    {"apply_activation_checkpointing", "activation_checkpointing"},
    {"FSDP", "fsdp"},
    {"FullyShardedDataParallel", "fsdp"},
    {"fully_shard", "fsdp"},
    {"CPUOffloadPolicy", "cpu_offload"},
    {"torch.compile", "torch_compile"},
    {"deepspeed.initialize", "deepspeed_initialize"},
};

// Whole words of a path: "FSDP" ends torch.distributed.fsdp.FSDP, not MyFSDP.
static bool call_ends(const char *name, const char *end) {
    if (*end == '*') return strstr(name, end + 1);
    size_t length = strlen(name), own = strlen(end);
    if (length < own || strcmp(name + length - own, end) != 0) return false;
    return length == own || name[length - own - 1] == '.' || islower((unsigned char)*end);
}

static void take_gpus(Python *p, const char *gpu, int line) { // Modal's
    double count = 1;
    p->r->machines.gpu = gpu_of_text(p->r, gpu, &count);
    p->r->machines.nodes = 1, p->r->machines.per_node = p->r->machines.gpus = count;
    p->r->machines.where = (Where){p->file, line};
}

// Of a call that makes a training.
static void take_setting(Python *p, const char *name, const struct Maker *maker, const char *key,
                         const ShellWords *value, int line) {
    static const char *const held[] = {"hyperparameters", "config", "deepspeed", "fsdp_config", "train_loop_config"};
    bool holds = false; // a dictionary of settings
    for (size_t i = 0; i < sizeof held / sizeof *held; i++) holds = holds || strcmp(key, held[i]) == 0;
    if (holds && value->count && strchr(value->items[0].text, '='))
        tell_pairs(p, strcmp(key, "fsdp_config") == 0 ? "fsdp_config." : "", value, line);
    else if (strstr(name, "Lora") && strcmp(key, "target_modules") == 0)
        python_tell(p, "", "lora_target_modules", python_commas(p, value), line);
    else if (strstr(name, "DataLoader") && said_find(&p->told, key))
        return;                                   // of those that validate
    else if (strstr(key, "checkpointing_policy")) // whatever blocks it names
        python_tell(p, maker->section, key, strcmp(python_commas(p, value), "None") == 0 ? "None" : "true", line);
    else
        python_tell(p, maker->section, key, python_commas(p, value), line);
}

void python_argument(Python *p, const char *name, const char *key, const ShellWords *value, int line) {
    static const char *const lengths[] = {"block_size",     "seq_len",         "seq_length",    "max_seq_len",
                                          "max_seq_length", "sequence_length", "context_length"};
    const struct Maker *maker = maker_called(name);
    if (strcmp(key, "source_dir") == 0 && value->count == 1 && is_known(value->items[0].text))
        p->r->folder = value->items[0].text;
    const char *folder = strcmp(key, "cwd") == 0 && value->count == 1 ? strrchr(value->items[0].text, '/') : NULL;
    if (folder && folder[1] && is_known(folder)) p->r->folder = folder + 1;
    if (strcmp(key, "env") == 0 || strcmp(key, "env_vars") == 0 || strcmp(key, "environment") == 0) {
        python_environment(p, value);
        return;
    }
    if (maker) {
        take_setting(p, name, maker, key, value, line);
        return;
    }
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) // of whatever reads the data
        if (strcmp(key, lengths[i]) == 0 && !said_find(&p->told, key))
            python_tell(p, "", key, python_commas(p, value), line);
    for (size_t i = 0; i < sizeof heeded / sizeof *heeded; i++)
        if (strcmp(key, heeded[i].key) == 0 && call_ends(name, heeded[i].call) && p->condition < 0 &&
            !said_find(&p->told, heeded[i].setting))
            python_tell(p, "", heeded[i].setting, python_commas(p, value), line);
    if (call_ends(name, "*.function") && strcmp(key, "gpu") == 0 && value->count == 1 && is_known(value->items[0].text))
        take_gpus(p, value->items[0].text, line);
}

void python_call_begins(Python *p, const char *name, int line) {
    const struct Maker *maker = maker_called(name);
    for (size_t i = 0; i < sizeof deeds / sizeof *deeds; i++)
        if (p->condition < 0 && call_ends(name, deeds[i].call) && !said_find(&p->told, deeds[i].setting))
            python_tell(p, "", deeds[i].setting, "true", line);
    if (!maker) return;
    p->calls += maker->counts;
    const char *point = strrchr(name, '.'), *own = point ? point + 1 : name, *size = size_of_class(own);
    if (size)
        python_tell(p, "", "made_model", arena_printf(p->r->arena, "%.*s-%s", (int)(size - own - 6), own, size), line);
    if (!*maker->section &&
        (strstr(maker->call, "Arguments") || strcmp(maker->call + strlen(maker->call) - 6, "Config") == 0) &&
        maker->counts)
        python_tell(p, "", "training_arguments", maker->call, line); // Hugging Face's
    if (maker->is_strategy)
        python_tell(p, "trainer.", "strategy", maker->call + (strncmp(maker->call, "Ray", 3) == 0 ? 3 : 0), line);
    const char *dot = strrchr(name, '.');
    if (strstr(maker->call, "_config")) python_tell(p, "", "recipe", dot ? dot + 1 : name, line); // of Megatron-Bridge
    if (strcmp(maker->section, "recipe.") == 0 && dot) { // llm.llama3_8b.pretrain_recipe
        const char *from = dot;
        while (from > name && from[-1] != '.') from--;
        python_tell(p, "", "recipe", arena_printf(p->r->arena, "%.*s", (int)(dot - from), from), line);
    }
}

// parser.add_argument("-b", "--batch-size", type=int, default=32): an option of the program's own. What the command
// line says of it by its short name is said of the long one.
static void take_option(Python *p, const ShellWords *given, const char *value, bool is_flag, int line) {
    const char *name = NULL;
    const Said *said = NULL;
    for (int i = 0; i < given->count; i++) {
        const char *text = given->items[i].text;
        if (text[0] != '-') continue;
        if (text[1] == '-' && !name) name = text;
        if (p->arguments && !said) said = said_find(p->arguments, text + strspn(text, "-"));
    }
    if (!name || p->options.count >= MOST_TOLD) return;
    if (value && !is_flag) python_tell(p, "", name, value, line);
    if (said && !same_word(said->name, name)) {
        python_tell(p, "", name, said->value, line);
        said_add(p->r->arena, &p->r->used, said->name, said->value, said->where, said->by);
    }
    said_add(p->r->arena, &p->options, name,
             said    ? said->value
             : value ? value
                     : "None",
             (Where){p->file, line}, BY_FILE);
}

void python_call_ends(Python *p, const char *name, const ShellWords *given, const char *fallback, int line) {
    bool loads = (strstr(name, "from_pretrained") && (strstr(name, "Model") || strstr(name, "For"))) ||
                 strstr(name, "create_model") || strstr(name, "Config.from_name") ||
                 strstr(name, "AutoConfig.from_pretrained");
    if (loads && given->count) python_tell(p, "", "made_model", given->items[0].text, line);
    if (strstr(name, "set_float32_matmul_precision") && given->count == 1)
        python_tell(p, "", "set_float32_matmul_precision", given->items[0].text, line);
    const char *vision = strstr(name, "models."); // torchvision.models.resnet50()
    bool is_vision = vision && !strchr(vision + 7, '.') && (vision == name || strstr(name, "torchvision"));
    if (is_vision && !said_find(&p->told, "made_model")) python_tell(p, "", "made_model", vision + 7, line);
    const char *preset = strstr(name, "TransformerConfig."); // OLMo-core's olmo2_7B
    if (preset && !strstr(preset, "like")) python_tell(p, "model.", "preset", preset + 18, line);
    bool is_flag = fallback && strncmp(fallback, "store_", 6) == 0;
    if (is_flag) fallback = strcmp(fallback, "store_true") == 0 ? "False" : "True";
    if (strstr(name, "add_argument") && !strstr(name, "_group")) take_option(p, given, fallback, is_flag, line);
}
