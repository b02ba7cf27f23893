// MIG: a GPU cut into slices that look like GPUs of their own (NVIDIA MIG User Guide, supported profiles).
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "models/hardware/parts.h"

#define GIB 0x1p30

// "3g.40gb": compute slices, and memory in parts of the whole. 7-slice GPUs have eight memory slices, 4-slice GPUs
// four.
typedef struct Profile {
    int slices_max; // of the whole GPU
    int slices;
    int memory_slices, memory_slices_max;
} Profile;

static const Profile profiles[] = {
    {7, 1, 1, 8}, {7, 1, 2, 8}, {7, 2, 2, 8}, {7, 3, 4, 8}, {7, 4, 4, 8},
    {7, 7, 8, 8}, {4, 1, 1, 4}, {4, 2, 2, 4}, {4, 4, 4, 4},
};
#define PROFILE_COUNT ((int)(sizeof profiles / sizeof *profiles))

// SMs by slice count where the guide lists them; a slice is a GPC, and those are not all whole.
static const struct {
    int sm_count, of_slices[8];
} listed_sms[] = {
    {108, {0, 14, 28, 42, 56, 0, 0, 98}},
    {132, {0, 16, 32, 60, 64, 0, 0, 132}},
    {56, {0, 14, 28, 0, 56, 0, 0, 0}},
};

static int profile_sms(const Gpu *whole, const Profile *profile) {
    for (size_t i = 0; i < sizeof listed_sms / sizeof *listed_sms; i++)
        if (listed_sms[i].sm_count == whole->sm_count && listed_sms[i].of_slices[profile->slices])
            return listed_sms[i].of_slices[profile->slices];
    int pairs_per_slice = whole->sm_count / (2 * whole->mig_slices_max); // SMs come in pairs (TPC)
    return pairs_per_slice > 0 ? 2 * pairs_per_slice * profile->slices : 1;
}

// Names count the nominal memory, which is a little more than the usable.
static const char *profile_name(Arena *arena, const Gpu *whole, const Profile *profile) {
    double nominal = ceil(whole->memory_bytes / GIB - 1e-6);
    double gigabytes = floor(nominal * profile->memory_slices / profile->memory_slices_max + 0.5);
    return arena_printf(arena, "%dg.%.0fgb", profile->slices, gigabytes);
}

static const Profile *find_profile(Arena *arena, const Gpu *whole, const char *name) {
    for (int i = 0; i < PROFILE_COUNT; i++)
        if (profiles[i].slices_max == whole->mig_slices_max &&
            strcasecmp(profile_name(arena, whole, &profiles[i]), name) == 0)
            return &profiles[i];
    return NULL;
}

static void hint_profiles(Arena *arena, const Gpu *whole, const char *given, Problems *problems) {
    const char *names[PROFILE_COUNT];
    int count = 0;
    for (int i = 0; i < PROFILE_COUNT; i++)
        if (profiles[i].slices_max == whole->mig_slices_max) names[count++] = profile_name(arena, whole, &profiles[i]);
    const char *known = "";
    for (int i = 0; i < count; i++) known = arena_printf(arena, "%s%s%s", known, i ? ", " : "", names[i]);
    const char *near = nearest_name(given, names, count);
    if (near)
        problem_hint(problems, "did you mean \"%s\"? known: %s", near, known);
    else
        problem_hint(problems, "known: %s", known);
}

// Facts that shrink with SMs or with memory slices; the rest stays as the whole GPU has it.
static bool by_sms(const char *fact) {
    return strcmp(fact, "sms") == 0 || strncmp(fact, "peak_", 5) == 0 || strncmp(fact, "vector_", 7) == 0 ||
           strcmp(fact, "power") == 0 || strcmp(fact, "idle_power") == 0;
}
static bool by_memory(const char *fact) {
    return strcmp(fact, "memory") == 0 || strcmp(fact, "memory_bandwidth") == 0 || strcmp(fact, "l2_cache") == 0;
}
static bool lost(const char *fact) {
    return strncmp(fact, "nvlink", 6) == 0 || strcmp(fact, "mig_slices") == 0 || strcmp(fact, "launch_price_usd") == 0;
}

static QuantityKind quantity_of(const char *fact) {
    const PartTable *table = &part_tables[PART_GPU];
    for (int i = 0; i < table->field_count; i++)
        if (strcmp(table->fields[i].key, fact) == 0) return table->fields[i].quantity;
    return QUANTITY_NUMBER;
}

static void cut_facts(Arena *arena, Gpu *slice, const Gpu *whole, double sm_share, double memory_share) {
    const Fact *all = facts_of(whole->facts, whole->fact_count);
    Fact *facts = ARENA_ARRAY(arena, Fact, whole->fact_count);
    int count = 0;
    for (int i = 0; i < whole->fact_count; i++) {
        Fact fact = all[i];
        if (lost(fact.name)) continue;
        double share = by_sms(fact.name) ? sm_share : by_memory(fact.name) ? memory_share : 1;
        if (share != 1) {
            char text[40];
            fact.value *= share;
            fact.text = arena_copy_text(arena, quantity_format(fact.value, quantity_of(fact.name), text, sizeof text));
            fact.source = arena_printf(arena, "%.4g of %s; %s", share, whole->name, fact.source);
        }
        facts[count++] = fact;
    }
    slice->facts = facts;
    slice->fact_count = count;
}

static const Gpu *cut(Arena *arena, const Gpu *whole, const Profile *profile) {
    Gpu *slice = ARENA_NEW(arena, Gpu);
    *slice = *whole;
    slice->name = arena_printf(arena, "%s:%s", whole->name, profile_name(arena, whole, profile));
    slice->aliases = NULL;
    slice->alias_count = 0;
    slice->sm_count = profile_sms(whole, profile);
    double sm_share = (double)slice->sm_count / whole->sm_count;
    double memory_share = (double)profile->memory_slices / profile->memory_slices_max;
    for (int i = 0; i < PRECISION_COUNT; i++) {
        slice->peak_flops[i] *= sm_share;
        slice->vector_flops[i] *= sm_share;
    }
    slice->memory_bytes *= memory_share;
    slice->memory_bytes_per_second *= memory_share;
    slice->l2_bytes *= memory_share;
    slice->power_watts *= sm_share;
    slice->idle_watts *= sm_share;
    slice->nvlink = ""; // slices cannot reach other GPUs directly
    slice->nvlink_bytes_per_second = slice->nvlink_link_bytes_per_second = 0;
    slice->mig_slices_max = 0;
    slice->launch_price_usd = 0;
    cut_facts(arena, slice, whole, sm_share, memory_share);
    return slice;
}

const Gpu *gpu_mig_slice(Arena *arena, const Gpu *whole, const char *profile_text, Where where, Problems *problems) {
    if (whole->mig_slices_max == 0) {
        problem_add(problems, where, "%s cannot be cut into MIG slices", whole->name);
        problem_hint(problems, "A30, A100, H100 and later data-centre GPUs can");
        return NULL;
    }
    const Profile *profile = find_profile(arena, whole, profile_text);
    if (profile) return cut(arena, whole, profile);
    problem_add(problems, where, "%s has no MIG profile \"%s\"", whole->name, profile_text);
    hint_profiles(arena, whole, profile_text, problems);
    return NULL;
}
