// What calls of a program in Python say of its training: those that make it, by what they are given, and those that
// make something so by being there.
#include <ctype.h>
#include <string.h>

#include "scenarios/import/python/python.h"
#include "scenarios/import/reading.h"
#include "sim/system/file.h"

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
    {"KTOConfig", "", false, true},
    {"GRPOConfig", "", false, true},
    {"PPOConfig", "", false, true},
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
    {"ScalingConfig", "scaling_config.", false, true},
    {"DeepSpeedPlugin", "", false, false},
    {"LaunchConfig", "launch_config.", false, false},
    {"FullyShardedDataParallelPlugin", "fsdp_config.", false, false},
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
                     strstr(makers[i].call, "DataModule") || i == 0;
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

bool python_makes(const char *name) { return maker_called(name) != NULL; }

static SaidList *told_now(Python *p) { return p->ends ? &p->idly : &p->told; }

static bool has_told(const Python *p, const char *name) {
    return said_find(&p->told, name) || said_find(&p->idly, name);
}

// Section NULL: as weak as what is not known.
void python_tell(Python *p, const char *section, const char *name, const Value *value, int line) {
    SaidList *told = told_now(p);
    const char *text = python_shown(p, value);
    p->steps += 1 + (told->count + p->unsure.count) / 8;
    bool known = is_known(text), made = value->kind == IS_OBJECT && value->fields->made_by;
    if (value->kind == IS_OBJECT && value->fields->outer) return; // an instance, whose fields are told
    if (made && spelling_means("plugins", name)) {                // of what is plugged in its name is all that is known
        const Field *precision = python_field(value->fields, "precision");
        if (precision)
            python_tell(p, section, arena_printf(p->r->arena, "%.100s.precision", name), &precision->value, line);
        if (precision) return;
        const char *dot = strrchr(value->fields->made_by, '.');
        text = dot ? dot + 1 : value->fields->made_by, known = true;
    }
    const Said *before = said_find(told, arena_printf(p->r->arena, "%s%.120s", section ? section : "", name));
    if (before && known && section && strcmp(before->value, text) == 0) return;
    if (told->count >= MOST_TOLD) not_read(p->r, "a program says more than 2000 things", (Where){p->file, line});
    if (told->count >= MOST_TOLD || p->unsure.count >= MOST_TOLD) return;
    said_add(p->r->arena, known && section ? told : &p->unsure,
             arena_printf(p->r->arena, "%s%.120s", section ? section : "", name), text, (Where){p->file, line},
             known && section ? BY_FILE : BY_PROGRAM);
}

static void tell_text(Python *p, const char *section, const char *name, const char *text, int line) {
    Value value = python_text(text);
    python_tell(p, section, name, &value, line);
}

// A dictionary's words in a section.
static void tell_pairs(Python *p, const char *section, const Value *pairs, int line) {
    ShellWords words = {0};
    python_words(p, pairs, &words);
    for (int i = 0; i < words.count; i++) {
        const char *text = words.items[i].text, *equals = strchr(text, '=');
        if (equals)
            tell_text(p, section, arena_printf(p->r->arena, "%.*s", (int)(equals - text), text), equals + 1,
                      words.items[i].line ? words.items[i].line : line);
    }
}

// What a program is given as its environment.
void python_environment(Python *p, const Fields *pairs) {
    for (int i = 0; i < pairs->count; i++) {
        const char *key = pairs->items[i].key, *text = python_shown(p, &pairs->items[i].value);
        if (key && *key && !key[strspn(key, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")] && is_known(text))
            shell_set(reading_shell(p->r), key, text, (Where){p->file, pairs->items[i].line}, true);
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
    {"spawn", "nprocs", "nproc_per_node"},
    {"notebook_launcher", "num_processes", "nproc_per_node"},
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
    {"MirroredStrategy", "every_gpu"},
    {"MultiWorkerMirroredStrategy", "every_gpu"},
    {"DataParallel", "every_gpu"},
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
static void take_setting(Python *p, const char *name, const struct Maker *maker, const char *key, const Value *value,
                         int line) {
    bool holds =
        one_of(key, "hyperparameters config deepspeed fsdp_config train_loop_config"); // a dictionary of settings
    if (strcmp(key, "accelerator_type") == 0 && value->kind == IS_TEXT && is_known(value->text) && !p->r->machines.gpu)
        p->r->machines.gpu = value->text, p->r->machines.gpu_perhaps = true; // Ray's
    if (holds && value->kind == IS_DICT)
        tell_pairs(p, strcmp(key, "fsdp_config") == 0 ? "fsdp_config." : "", value, line);
    else if (strstr(name, "DataLoader") && has_told(p, key))
        return;                                   // of those that validate
    else if (strstr(key, "checkpointing_policy")) // whatever blocks it names
        tell_text(p, maker->section, key, value->kind == IS_NONE ? "None" : "true", line);
    else
        python_tell(p, maker->section, key, value, line);
}

static void take_argument(Python *p, const char *name, const char *key, const Value *value, int line) {
    const struct Maker *maker = maker_called(name);
    const char *text = value->kind == IS_TEXT && is_known(value->text) ? value->text : NULL;
    const char *folder = text && strcmp(key, "cwd") == 0 ? strrchr(text, '/') : NULL;
    if (text && strcmp(key, "source_dir") == 0) p->r->folder = text;
    if (folder && folder[1]) p->r->folder = folder + 1;
    if (one_of(key, "env env_vars environment")) {
        if (value->kind == IS_DICT) python_environment(p, value->fields);
        return;
    }
    if (maker) {
        take_setting(p, name, maker, key, value, line);
        return;
    }
    if (call_ends(name, "deepspeed.initialize") && strncmp(key, "config", 6) == 0) { // DeepSpeed's own
        if (value->kind == IS_DICT) tell_pairs(p, "", value, line);
        if (text && strchr(text, '.')) reading_config(p->r, text, (Where){p->file, line});
        return;
    }
    if (one_of(key, "block_size seq_len seq_length max_seq_len max_seq_length sequence_length context_length") &&
        !has_told(p, key))
        python_tell(p, "", key, value, line); // of whatever reads the data
    for (size_t i = 0; i < sizeof heeded / sizeof *heeded; i++)
        if (strcmp(key, heeded[i].key) == 0 && call_ends(name, heeded[i].call) && !p->perhaps &&
            !has_told(p, heeded[i].setting))
            python_tell(p, "", heeded[i].setting, value, line);
    if (call_ends(name, "*.function") && strcmp(key, "gpu") == 0 && text) take_gpus(p, text, line);
}

static void call_begins(Python *p, const char *name, int line) {
    const struct Maker *maker = maker_called(name);
    for (size_t i = 0; i < sizeof deeds / sizeof *deeds; i++)
        if (!p->perhaps && call_ends(name, deeds[i].call) && !has_told(p, deeds[i].setting))
            tell_text(p, "", deeds[i].setting, "true", line);
    p->calls += strstr(name, ".backward") || strstr(name, "optim.") || strstr(name, "optimizers.") ||
                strstr(name, "optax.") || (maker && maker->counts);
    if (!maker) return;
    const char *point = strrchr(name, '.'), *own = point ? point + 1 : name, *size = size_of_class(own);
    if (size)
        tell_text(p, "", "made_model", arena_printf(p->r->arena, "%.*s-%s", (int)(size - own - 6), own, size), line);
    if (!*maker->section &&
        (strstr(maker->call, "Arguments") || strcmp(maker->call + strlen(maker->call) - 6, "Config") == 0) &&
        maker->counts)
        tell_text(p, "", "training_arguments", maker->call, line); // Hugging Face's
    if (maker->is_strategy)
        tell_text(p, "trainer.", "strategy", maker->call + (strncmp(maker->call, "Ray", 3) == 0 ? 3 : 0), line);
    const char *dot = strrchr(name, '.');
    if (strstr(maker->call, "_config")) tell_text(p, "", "recipe", dot ? dot + 1 : name, line); // of Megatron-Bridge
    if (strcmp(maker->section, "recipe.") == 0 && dot) { // llm.llama3_8b.pretrain_recipe
        const char *from = dot;
        while (from > name && from[-1] != '.') from--;
        tell_text(p, "", "recipe", arena_printf(p->r->arena, "%.*s", (int)(dot - from), from), line);
    }
}

// ---- The program's own command line.

const Said *python_option(const Python *p, const char *name) {
    const Said *own = said_find(&p->options, name), *said = own && p->arguments ? said_find(p->arguments, name) : NULL;
    return said ? said : own;
}

Value python_option_value(Python *p, const Said *said) {
    said_add(p->r->arena, &p->r->used, said->name, said->value, said->where, said->by);
    return python_said(p, said->value);
}

// parser.add_argument("-b", "--batch-size", type=int, default=32), click.option(…): an option of the program's own.
// What the command line says of it by its short name is said of the long one.
static Value take_option(Python *p, const Call *call) {
    const Value *usual = python_argument(call, -1, "default"), *action = python_argument(call, -1, "action"),
                *given = NULL;
    const char *name = NULL, *flag = action && action->kind == IS_TEXT && strncmp(action->text, "store_", 6) == 0
                                         ? action->text
                                         : NULL;
    const Said *said = NULL;
    for (int i = 0; (given = python_argument(call, i, NULL)) != NULL; i++) {
        const char *text = python_shown(p, given);
        if (text[0] != '-') continue;
        if (text[1] == '-' && !name) name = arena_printf(p->r->arena, "%.*s", (int)strcspn(text, "/"), text);
        if (p->arguments && !said) said = said_find(p->arguments, text + strspn(text, "-"));
    }
    if (strstr(call->name, "DEFINE_") && (given = python_argument(call, 0, NULL)) != NULL) // of absl
        name = arena_printf(p->r->arena, "--%.100s", python_shown(p, given)),
        usual = python_argument(call, 1, "default");
    given = python_argument(call, 0, NULL);
    if (!name && given && given->kind == IS_TEXT && p->arguments && p->r->given &&
        p->places < p->r->given->count) { // by its place
        const ShellWord *word = &p->r->given->items[p->places++];
        name = given->text;
        if (*word->text != '-')
            said_add(p->r->arena, &p->options, name, word->text, (Where){p->file, call->line}, BY_FILE);
        return not_known;
    }
    if (!name || p->options.count >= MOST_TOLD) return not_known;
    const char *value = usual  ? python_shown(p, usual)
                        : flag ? strcmp(flag, "store_true") == 0 ? "False" : "True"
                               : "None";
    if (usual && !flag) python_tell(p, "", name, usual, call->line);
    if (said && !same_word(said->name, name)) {
        tell_text(p, "", name, said->value, call->line);
        said_add(p->r->arena, &p->r->used, said->name, said->value, said->where, said->by);
    }
    said_add(p->r->arena, &p->options, name, said ? said->value : value, (Where){p->file, call->line}, BY_FILE);
    return not_known;
}

// json.load(open(path)), yaml.safe_load(file), @hydra.main(config_path=…, config_name=…): what lies beside.
static Value load(Python *p, const Call *call, const char *path) {
    const char *shown, *text = NULL;
    size_t bytes = 0;
    if (path) text = reading_near(p->r, path, (Where){p->file, call->line}, &bytes, &shown);
    const Json *documents = text ? yaml_read(p->r->arena, shown, text, bytes, problems_create(p->r->arena)) : NULL;
    if (!documents || documents->count == 0) return not_known;
    static const char *const words[] = {"conf", "cfg", "param", "arg", "setting", "train", "deepspeed", "ds_"};
    bool told = documents->items[0].kind != JSON_OBJECT,
         configures = false; // what is told is read with the command line
    for (int i = 0; p->arguments && i < p->arguments->count; i++)
        told = told || strcmp(p->arguments->items[i].value, path) == 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) configures = configures || strcasestr(path, words[i]);
    if (!told && configures) reading_config(p->r, path, (Where){p->file, call->line});
    return python_of_tree(p, &documents->items[0], "");
}

static const char *path_of_file(Python *p, const Value *file) {
    const Field *path = file && file->kind == IS_OBJECT ? python_field(file->fields, "file path") : NULL;
    const char *text = path ? python_shown(p, &path->value) : file && file->kind == IS_TEXT ? file->text : NULL;
    return text && strlen(text) < 300 && strchr(text, '.') ? text : NULL;
}

// HfArgumentParser((A, B)).parse_args_into_dataclasses(), tyro.cli(A): what the command line says of their fields.
static Value of_command_line(Python *p, const Value *class, const Value *file) {
    Value out = python_object(p, NULL, "");
    out.fields->outer = class->fields;
    python_tell_class(p, class->fields);
    for (const Fields *of = class->fields; of; of = of->outer)
        for (int i = 0; i < of->count; i++) {
            const Said *said = p->arguments ? said_find(p->arguments, of->items[i].key) : NULL;
            const Field *own = file && file->kind == IS_DICT ? python_field(file->fields, of->items[i].key) : NULL;
            if (own) python_set(p, out.fields, own->key, own->value, own->line);
            const Value *part = &of->items[i].value;
            if (part->kind == IS_OBJECT && part->fields->outer && part->fields->outer->is_class) {
                Value own_class = {.kind = IS_CLASS, .fields = part->fields->outer};
                python_set(p, out.fields, of->items[i].key, of_command_line(p, &own_class, NULL), of->items[i].line);
            } else if (said) {
                python_set(p, out.fields, of->items[i].key, python_option_value(p, said), of->items[i].line);
            }
        }
    return out;
}

// sys.argv; `others`: without what the program's options take.
Value python_words_given(Python *p, bool others) {
    Value words = python_new(p, IS_LIST);
    const ShellWords *given = p->arguments ? p->r->given : NULL;
    bool skips = false;
    if (!others) python_set(p, words.fields, NULL, python_text(p->file), 0);
    for (int i = 0; given && i < given->count; i++) {
        const char *text = given->items[i].text;
        const char *name = arena_printf(p->r->arena, "%.*s", (int)strcspn(text, "="), text);
        if (*text == '-') skips = others && said_find(&p->options, name + strspn(name, "-"));
        if (!skips) python_set(p, words.fields, NULL, python_text(text), given->items[i].line);
    }
    return words;
}

static Value parse_arguments(Python *p, const Call *call) {
    Value options = python_object(p, NULL, "");
    options.fields->is_options = true;
    if (strstr(call->name, "parse_known")) {
        Value both = python_new(p, IS_LIST), rest = python_words_given(p, true);
        python_set(p, both.fields, NULL, options, call->line);
        python_set(p, both.fields, NULL, rest, call->line);
        return both;
    }
    const Field *classes = call->on && call->on->fields ? python_field(call->on->fields, "classes") : NULL;
    if (!classes) return options;
    const Value *path = python_argument(call, 0, strstr(call->name, "json") ? "json_file" : "yaml_file");
    Value file = strstr(call->name, "_file") ? load(p, call, path_of_file(p, path)) : not_known;
    Value all = python_new(p, IS_LIST);
    for (int i = 0; i < classes->value.fields->count; i++) {
        const Value *one = &classes->value.fields->items[i].value;
        python_set(p, all.fields, NULL, one->kind == IS_CLASS ? of_command_line(p, one, &file) : options, call->line);
    }
    return all;
}

// ---- What is started, and handed on.

// os.system(…), subprocess.run(…), get_ipython().system(…) of a notebook.
static bool starts_commands(const char *name) {
    return one_of(name, "os.system system subprocess.run subprocess.call subprocess.check_call "
                        "subprocess.check_output subprocess.Popen getoutput");
}

static void start_command(Python *p, const Call *call, const Value *what, const Value *input) {
    Where where = {p->file, call->line};
    ShellWords words = {0};
    const char *read = input ? python_contents(p, input, call->line) : NULL;
    if (what->kind == IS_TEXT && read) {
        shell_expand_words(reading_shell(p->r), what->text, what->text + strlen(what->text), call->line, &words);
    } else if (what->kind == IS_TEXT && strchr(what->text, ' ')) {
        const char *text = what->text + (*what->text == '!');
        bool of_cells = strcmp(call->name, "system") == 0;
        if (*text == '%' && strncmp(text, "%env ", 5) == 0) text = arena_printf(p->r->arena, "export %s", text + 5);
        Value own = of_cells ? python_formatted(p, text) : *what;
        if (*text != '%' && own.kind == IS_TEXT) shell_run_words(reading_shell(p->r), own.text, where);
    } else if (what->kind == IS_LIST) {
        python_words(p, what, &words);
    }
    if (words.count > !read) launch_command(p->r, &words, read, where);
}

// Cells of a notebook that are no Python, and what a program writes: a file opened for writing, and f.write(text).
void python_write(Python *p, const char *path, const char *text, int line) {
    const char *before = shell_file(reading_shell(p->r), path);
    shell_keep(p->r->shell, path, arena_printf(p->r->arena, "%s%.*s", before ? before : "", LONGEST_TEXT, text),
               (Where){p->file, line});
}

static void take_cell(Python *p, const Call *call) {
    const Value *kind = python_argument(call, 0, NULL), *name = python_argument(call, 1, NULL),
                *text = python_argument(call, 2, NULL);
    if (!text || kind->kind != IS_TEXT || name->kind != IS_TEXT || text->kind != IS_TEXT) return;
    const char *path = name->text + strspn(name->text, " ");
    if (strcmp(kind->text, "writefile") == 0 && *path)
        python_write(p, path, text->text, call->line);
    else if (strcmp(kind->text, "bash") == 0 || strcmp(kind->text, "sh") == 0)
        shell_run_words(reading_shell(p->r), text->text, (Where){p->file, call->line});
}

// json.dump(a, f), yaml.dump(a, f), f.write(text), path.write_text(text)
static void write_text(Python *p, const Call *call, const Value *first) {
    bool dumps = strstr(call->name, "dump");
    const Value *file = dumps ? python_argument(call, 1, NULL) : call->on;
    const Field *path = file && file->kind == IS_OBJECT ? python_field(file->fields, "file path") : NULL;
    const char *name = path ? python_shown(p, &path->value) : file && file->kind == IS_TEXT ? file->text : NULL;
    if (name && is_known(name) && (dumps || first->kind == IS_TEXT))
        python_write(p, name, dumps ? python_json(p, first) : first->text, call->line);
}

// mp.spawn(f, args=(a,)), TorchTrainer(f, train_loop_config={…}), submit(f, a), partial(f, b=1): as it will be called.
static void hand_on(Python *p, const Call *call) {
    const Value *args = python_argument(call, -1, "args"), *config = python_argument(call, -1, "train_loop_config"),
                *kwargs = python_argument(call, -1, "kwargs");
    bool spawns = call_ends(call->name, "spawn"), names = call_ends(call->name, "Partial") ||
                                                          call_ends(call->name, "partial") ||
                                                          call_ends(call->name, "Config");
    for (int i = 0; i < call->given.count; i++) {
        const Value *function = &call->given.items[i].value;
        Fields given = {0};
        bool seen = function->kind != IS_FUNCTION;
        for (int k = 0; k < p->called.count && !seen; k++) seen = p->called.items[k] == function->node;
        if (seen) continue;
        if (spawns) python_set(p, &given, NULL, not_known, call->line);
        for (int k = i + 1; k < call->given.count; k++)
            if (!call->given.items[i].key && (names || !call->given.items[k].key))
                python_set(p, &given, call->given.items[k].key, call->given.items[k].value, call->line);
        const Value *next = i + 1 < call->given.count ? &call->given.items[i + 1].value : NULL;
        if (next && next->kind == IS_LIST && call_ends(call->name, "notebook_launcher")) args = next, given.count = 0;
        for (int k = 0; args && args->kind == IS_LIST && k < args->fields->count; k++)
            python_set(p, &given, NULL, args->fields->items[k].value, call->line);
        for (int k = 0; kwargs && kwargs->kind == IS_DICT && k < kwargs->fields->count; k++)
            python_set(p, &given, kwargs->fields->items[k].key, kwargs->fields->items[k].value, call->line);
        if (config) python_set(p, &given, NULL, *config, call->line);
        python_run(p, function, &given, call->line);
    }
}

static Value take_hydra(Python *p, const Call *call) {
    const Value *folder = python_argument(call, 0, "config_path"), *name = python_argument(call, 1, "config_name");
    if (!name || name->kind != IS_TEXT) return not_known;
    const char *file = strchr(name->text, '.') ? name->text : arena_printf(p->r->arena, "%.200s.yaml", name->text);
    if (folder && folder->kind == IS_TEXT) file = arena_printf(p->r->arena, "%.200s/%s", folder->text, file);
    file = reading_path_from(p->r, p->file, file);
    p->config = load(p, call, file);
    return not_known;
}

// fire.Fire(f), typer.run(f): its parameters are the program's options.
static Value run_by_options(Python *p, const Call *call, const Value *function) {
    Fields given = {0};
    for (const Node *one = function->node->left->items; one; one = one->next) {
        const char *name = one->kind == NODE_PAIR && one->left ? one->left->text : one->text;
        const Said *said = p->arguments && name ? said_find(p->arguments, name) : NULL;
        Value value = said                        ? python_option_value(p, said)
                      : one->kind == NODE_KEYWORD ? python_value(p, one->left)
                                                  : not_known;
        if (!name || one->kind == NODE_SPREAD) continue;
        python_set(p, &given, name, value, one->line);
        if (!said) python_tell(p, "", name, &value, one->line);
        said_add(p->r->arena, &p->r->used, name, NULL, (Where){p->file, one->line}, BY_FILE);
    }
    return python_run(p, function, &given, call->line);
}

static Value take_model(Python *p, const Call *call) {
    const char *name = call->name;
    const Value *first = python_argument(call, 0, "pretrained_model_name_or_path");
    bool loads = (strstr(name, "from_pretrained") && (strstr(name, "Model") || strstr(name, "For"))) ||
                 strstr(name, "create_model") || strstr(name, "Config.from_name") ||
                 strstr(name, "AutoConfig.from_pretrained");
    if (loads && first) python_tell(p, "", "made_model", first, call->line);
    if (strstr(name, "set_float32_matmul_precision") && first)
        python_tell(p, "", "set_float32_matmul_precision", first, call->line);
    if (strstr(name, "mixed_precision.") && strstr(name, "policy") && first) // Keras's
        python_tell(p, "", "mixed_precision", first, call->line);
    const char *vision = strstr(name, "models."); // torchvision.models.resnet50()
    bool is_vision = vision && !strchr(vision + 7, '.') && strstr(name, "torchvision");
    const char *keras = strstr(name, "keras.applications."); // and Keras's ResNet50()
    if (keras && !strchr(keras + 19, '.')) vision = keras + 12, is_vision = true;
    if (is_vision && first && strcmp(vision + 7, "get_model") == 0) {
        python_tell(p, "", "made_model", first, call->line);
        return not_known;
    }
    if (is_vision && !has_told(p, "made_model")) tell_text(p, "", "made_model", vision + 7, call->line);
    const char *preset = strstr(name, "TransformerConfig."); // OLMo-core's olmo2_7B
    if (preset && !strstr(preset, "like")) tell_text(p, "model.", "preset", preset + 18, call->line);
    return not_known;
}

const Value *python_argument(const Call *call, int place, const char *key) {
    for (int i = 0, seen = 0; i < call->given.count; i++) {
        const Field *field = &call->given.items[i];
        if (field->key ? key && strcmp(field->key, key) == 0 : seen++ == place) return &field->value;
    }
    return NULL;
}

// run.Config(nl.Trainer, devices=8) is a call of its first argument (NeMo-Run, detectron2's LazyCall).
static void call_first(Call *call) {
    const Value *first = python_argument(call, 0, NULL);
    bool makes =
        call_ends(call->name, "Config") || call_ends(call->name, "Partial") || call_ends(call->name, "partial");
    if (!makes || !first || first->kind != IS_NAMED || call->given.items[0].key) return;
    call->name = first->text;
    call->given.items++, call->given.count--, call->given.room--;
}

// command(command="python …", instance_count=2, distribution={…}) of Azure's Python: as its YAML has it.
static void take_azure(Python *p, const Call *call) {
    Value job = python_new(p, IS_DICT), resources = python_new(p, IS_DICT);
    static const char *const of_resources[] = {"instance_count", "instance_type"};
    for (int i = 0; i < call->given.count; i++)
        if (call->given.items[i].key)
            python_set(p, job.fields, call->given.items[i].key, call->given.items[i].value, call->line);
    for (int i = 0; i < 2; i++) {
        const Value *own = python_argument(call, -1, of_resources[i]);
        if (own) python_set(p, resources.fields, of_resources[i], *own, call->line);
    }
    if (!python_argument(call, -1, "command")) return;
    python_set(p, job.fields, "resources", resources, call->line);
    const char *text = python_json(p, &job);
    const Json *documents = yaml_read(p->r->arena, p->file, text, strlen(text), problems_create(p->r->arena));
    if (documents) read_task(p->r, p->file, "type: command\ncommand:\ndistribution:\n", documents);
}

static bool known_number(const Value *value) { return value && value->kind == IS_NUMBER; }

static bool ends_in_one_of(const char *name, const char *ends) {
    const char *dot = strrchr(name, '.');
    return one_of(dot ? dot + 1 : name, ends);
}

// What a call of something elsewhere gives: with what it was given, and the file or the template that it is of.
static Value given_object(Python *p, const Call *call, const Value *first) {
    Value out = python_object(p, call->name, "");
    for (int i = 0; i < call->given.count; i++)
        if (call->given.items[i].key)
            python_set(p, out.fields, call->given.items[i].key, call->given.items[i].value, call->line);
    if (first && ends_in_one_of(call->name, " Template from_string ") && python_contents(p, first, call->line))
        python_set(p, out.fields, "template", python_text(python_contents(p, first, call->line)), call->line);
    if (first && ends_in_one_of(call->name, " open read_text read "))
        python_set(p, out.fields, "file path", *first, call->line);
    if (ends_in_one_of(call->name, " NamedTemporaryFile TemporaryFile ")) {
        python_set(p, out.fields, "file path", python_text("temporary.sh"), call->line);
        python_set(p, out.fields, "name", python_text("temporary.sh"), call->line);
    }
    if (call->on && ends_in_one_of(call->name, " open read_text read "))
        python_set(p, out.fields, "file path", *call->on, call->line);
    if (first && call_ends(call->name, "Popen")) python_set(p, out.fields, "command", *first, call->line);
    if (first && call_ends(call->name, "HfArgumentParser") && first->kind == IS_LIST)
        python_set(p, out.fields, "classes", *first, call->line);
    return out;
}

Value python_call(Python *p, Call *call) {
    const Value *first = python_argument(call, 0, NULL);
    p->steps += 10 + 2 * call->given.count;
    call_first(call);
    call_begins(p, call->name, call->line);
    for (int i = 0; i < call->given.count; i++) {
        const Field *field = &call->given.items[i];
        if (field->key) take_argument(p, call->name, field->key, &field->value, field->line);
    }
    take_model(p, call);
    if (ends_in_one_of(call->name, " add_argument option ") || strstr(call->name, "DEFINE_"))
        return take_option(p, call);
    if (ends_in_one_of(call->name, " parse_args parse_known_args parse_args_into_dataclasses parse parse_json_file "
                                   "parse_yaml_file "))
        return parse_arguments(p, call);
    if (ends_in_one_of(call->name, " Fire run CLI cli ") && first && first->kind == IS_FUNCTION)
        return run_by_options(p, call, first);
    if (ends_in_one_of(call->name, " cli parse ") && first && first->kind == IS_CLASS)
        return of_command_line(p, first, NULL);
    if (ends_in_one_of(call->name, " run_cell_magic ")) take_cell(p, call);
    if (first && ends_in_one_of(call->name, " dump safe_dump write write_text ")) write_text(p, call, first);
    if (ends_in_one_of(call->name, " command ")) take_azure(p, call);
    if (call_ends(call->name, "hydra.main")) return take_hydra(p, call);
    const Field *started = call->on && call->on->kind == IS_OBJECT ? python_field(call->on->fields, "command") : NULL;
    const Value *input = python_argument(call, ends_in_one_of(call->name, " communicate ") ? 0 : -1, "input");
    if (starts_commands(call->name) && first)
        start_command(p, call, first, input ? input : python_argument(call, -1, "stdin"));
    if (strncmp(call->name, "os.exec", 7) == 0 && python_argument(call, 1, NULL))
        start_command(p, call, python_argument(call, 1, NULL), NULL);
    if (started && input) start_command(p, call, &started->value, input);
    if (ends_in_one_of(call->name, " safe_load load full_load loads ")) return load(p, call, path_of_file(p, first));
    if (ends_in_one_of(call->name, " save_hyperparameters ") && p->self) { // Lightning's: what __init__ was given
        Value kept = first && first->kind != IS_TEXT ? *first : python_new(p, IS_DICT);
        for (int i = 0; (!first || first->kind == IS_TEXT) && i < p->scope->count; i++)
            if (p->scope->items[i].value.fields != p->self)
                python_set(p, kept.fields, p->scope->items[i].key, p->scope->items[i].value, call->line);
        python_set(p, p->self, "hparams", kept, call->line);
    }
    if (call_ends(call->name, "spawn") && !known_number(python_argument(call, -1, "nprocs")))
        tell_text(p, "", "every_gpu", "true", call->line);
    const Field *template = call->on && call->on->kind == IS_OBJECT ? python_field(call->on->fields, "template") : NULL;
    if (template && ends_in_one_of(call->name, " substitute safe_substitute render "))
        return python_filled(p, template->value.text, call);
    hand_on(p, call);
    return given_object(p, call, first);
}
