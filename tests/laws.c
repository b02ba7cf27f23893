// Studies simulated for laws, and made small when they break one.
#include "tests/laws_internal.h"

#include <unistd.h>

#include "scenarios/lua/scenario.h"
#include "sim/base/check.h"
#include "tests/script.h"
#include "tests/test.h"

double law_forgery;

// ---- What is drawn.

void drawn_drop(DrawnStudy *study, const char *object) {
    size_t length = strlen(object);
    for (int i = study->count; i-- > 0;) {
        const char *path = study->settings[i].path;
        if (strncmp(path, object, length) == 0 && path[length] == '.') drawn_set(study, path, NULL);
    }
}

// Nodes whose GPUs meet over PCIe or host memory, consumers' cards among them, and those whose NVLink is a mesh: usual
// ones have a switch.
static void on_other_nodes(DrawnStudy *study, uint64_t draw) {
    static const char *const nodes[] = {"\"pcie-4gpu-a100\"", "\"rtx4090-8gpu\"", "\"dgx-1-v100\"",
                                        "\"pcie-8gpu-l40s\"", "\"gh200-quad\"",   "\"aws-g5.48xlarge\"",
                                        "\"hgx-a100-4\"",     "\"pcie-4gpu-t4\"", "\"h100-pcie-8gpu\""};
    static const char *const links[] = {"\"ib-hdr200\"", "\"eth-100g\"", "\"slingshot-200\"", "\"roce-100\""};
    static const char *const fabrics[] = {"cluster.fabric", "fabric.link", "fat_tree.link", "rail_fat_tree.link",
                                          "single_switch.link"};
    if (!drawn_value(study, "cluster.node")) return;
    drawn_set(study, "cluster.node", nodes[draw % (sizeof nodes / sizeof *nodes)]);
    for (size_t i = 0; i < sizeof fabrics / sizeof *fabrics; i++)
        if (drawn_value(study, fabrics[i])) return;
    drawn_set(study, "cluster.fabric", links[draw / 16 % (sizeof links / sizeof *links)]);
}

DrawnStudy law_study(uint64_t seed) {
    static const char *const objects[] = {"study", "expect", "cluster.own", "cluster.price", "cluster.faults"};
    static const char *const fields[] = {"training.jitter", "training.straggler", "training.checkpoint"};
    DrawnStudy study = draw_study(seed);
    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++) drawn_drop(&study, objects[i]);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) drawn_set(&study, fields[i], NULL);
    drawn_set(&study, "study.assume_fits", "true");
    if (seed % 4 == 0) on_other_nodes(&study, seed / 4);
    return study;
}

// ---- Simulated.

static char *text_of(const DrawnStudy *study) {
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    CHECK(out);
    drawn_write(study, out);
    fclose(out);
    return text;
}

static const Catalogue *catalogue_of(Arena *arena, const char *profile) {
    if (!*profile) return test_catalogue();
    char path[] = "/tmp/lockstep-law-XXXXXX";
    int file = mkstemp(path);
    CHECK(file >= 0 && write(file, profile, strlen(profile)) == (ssize_t)strlen(profile));
    close(file);
    Problems *problems = problems_create(arena);
    const Catalogue *catalogue = catalogue_with_file(arena, test_catalogue(), path, problems);
    unlink(path);
    if (!catalogue) problems_print(problems, stdout);
    return catalogue;
}

static const StudySpec *spec_of(Arena *arena, const DrawnStudy *study, const Catalogue *catalogue) {
    char path[] = "/tmp/lockstep-law-XXXXXX", *text = text_of(study);
    int file = mkstemp(path);
    CHECK(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text));
    close(file);
    free(text);
    ScenarioRequest request = {.file = path, .seed = 1};
    Problems *problems = problems_create(arena);
    const Scenario *scenario = scenario_load(arena, catalogue, &request, problems, problems);
    unlink(path);
    return scenario && scenario->item_count == 1 ? scenario->items[0].study : NULL;
}

static double busy_seconds(const System *system, const RunResult *run) {
    double seconds = 0;
    for (int l = 0; l < system->link_count; l++) seconds += run->link_bytes[l] / system->links[l].bytes_per_second;
    return seconds;
}

#define MOST_GPUS 128       // larger clusters take longer and show nothing that these do not
#define MOST_FLOWS 8        // of a simulation message by message
#define LONGEST_SECONDS 9e6 // the clock of a step ends at 9.2e6

// As simulate_step does it, and once more without contention.
static void run_answer(Answer *answer, AnswerOptions options, Problems *problems) {
    const TrainingSpec *training = &answer->spec->training;
    Folded folded = {.system = {0}};
    answer->lowered = options.unfolded
                          ? lower_training(answer->arena, answer->cluster, training, problems)
                          : lower_folded(answer->arena, answer->cluster, training, NULL, &folded, problems);
    if (!answer->lowered) return;
    answer->memory = answer->lowered->memory;
    if (options.second) answer->memory.peak *= 1 + law_forgery;
    if (options.second) answer->memory.bytes[MEMORY_WEIGHTS] *= 1 + law_forgery;
    if (options.memory_only) return;
    answer->system = options.unfolded ? merge_equal_links(answer->arena, answer->lowered->system) : folded.system;
    answer->run = run_system(answer->arena, &answer->system, &(RunOptions){.seed = 1});
    RunResult alone = run_system(answer->arena, &answer->system, &(RunOptions){.seed = 1, .uncontended = true});
    answer->step_s = step_seconds(answer->run.end);
    answer->alone_s = step_seconds(alone.end);
    answer->ran = fmax(answer->step_s, answer->alone_s) < LONGEST_SECONDS;
    answer->busy_s = busy_seconds(&answer->system, &answer->run);
    if (!options.second) return;
    answer->step_s *= 1 + law_forgery;
    answer->alone_s *= 1 + law_forgery;
}

Answer law_answer_of(const DrawnStudy *study, const char *profile, AnswerOptions options) {
    Answer answer = {.arena = arena_open()};
    const Catalogue *catalogue = catalogue_of(answer.arena, profile);
    answer.spec = catalogue ? spec_of(answer.arena, study, catalogue) : NULL;
    if (!answer.spec) return answer;
    Problems *problems = problems_create(answer.arena);
    answer.cluster = cluster_create(answer.arena, catalogue, answer.spec->cluster, problems);
    int most = answer.spec->training.by_messages ? MOST_FLOWS : MOST_GPUS;
    if (answer.cluster && answer.cluster->gpu_count <= most) run_answer(&answer, options, problems);
    return answer;
}

void law_answer_close(Answer *answer) {
    arena_close(answer->arena);
    answer->arena = NULL;
}

// ---- Made small.

typedef struct Shrinking {
    const Law *law;
    uint64_t seed;
    double least; // excess: a smaller one may have another cause
    DrawnStudy study;
} Shrinking;

static bool keep_if_broken(Shrinking *s, const DrawnStudy *smaller) {
    Finding finding = {0};
    if (s->law->judge(smaller, s->seed, &finding) != LAW_BROKEN || finding.excess < s->least) return false;
    s->study = *smaller;
    return true;
}

static bool try_without(Shrinking *s, int at) {
    DrawnStudy without = s->study;
    if (strcmp(s->study.settings[at].path, "study.assume_fits") == 0) return false;
    drawn_set(&without, s->study.settings[at].path, NULL);
    return keep_if_broken(s, &without);
}

static bool try_half(Shrinking *s, int at) {
    DrawnStudy halved = s->study;
    char *end, text[64];
    double number = strtod(s->study.settings[at].value, &end);
    if (*end || number != floor(number) || number < 2) return false;
    snprintf(text, sizeof text, "%.15g", floor(number / 2));
    drawn_set(&halved, s->study.settings[at].path, text);
    return keep_if_broken(s, &halved);
}

DrawnStudy law_shrink(const Law *law, const DrawnStudy *study, uint64_t seed) {
    Finding finding = {0};
    CHECK(law->judge(study, seed, &finding) == LAW_BROKEN);
    Shrinking s = {law, seed, finding.excess / 2, *study};
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = s.study.count; i-- > 0;) changed = try_without(&s, i) || changed;
        for (int i = 0; i < s.study.count; i++) changed = try_half(&s, i) || changed;
    }
    return s.study;
}

void law_print(const Law *law, const DrawnStudy *study, uint64_t seed, FILE *out) {
    Finding finding = {0};
    law->judge(study, seed, &finding);
    fprintf(out, "-- Law: %s\n-- %s\n", law->name, finding.why);
    fprintf(out, "-- This, and the same with: %s%s\n", finding.sets, *finding.profile ? "--profile p.json" : "");
    if (*finding.profile) fprintf(out, "--[[ p.json:\n%s]]\n", finding.profile);
    drawn_write(study, out);
}

// ---- What laws share.

Verdict at_most(double larger, double bound, const char *what, Finding *finding) {
    finding->excess = larger > bound ? larger / bound - 1 : 0;
    if (finding->excess <= ROUNDING) return LAW_HOLDS;
    snprintf(finding->why, sizeof finding->why, "%s: %.9g, and it is at most %.9g (%+.3g %%)", what, larger, bound,
             100 * finding->excess);
    return LAW_BROKEN;
}

int drawn_count(const DrawnStudy *study, const char *path, int usual) {
    const char *value = drawn_value(study, path);
    return value ? atoi(value) : usual;
}

void drawn_set_count(DrawnStudy *study, const char *path, int value) {
    char text[32];
    snprintf(text, sizeof text, "%d", value);
    drawn_set(study, path, text);
}

bool drawn_is(const DrawnStudy *study, const char *path, const char *text) {
    const char *value = drawn_value(study, path);
    size_t length = strlen(text);
    return value && strlen(value) == length + 2 && strncmp(value + 1, text, length) == 0;
}
