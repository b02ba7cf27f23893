// The built-in catalogue is sound, parts are found by what people call them, and MIG slices add up.
#include "models/hardware/kernel.h"
#include "models/hardware/parts.h"
#include "tests/test.h"

static void check_facts(PartKind kind, const void *part) {
    int count;
    const Fact *facts = part_facts(kind, part, &count);
    EXPECT(count > 0);
    for (int i = 0; i < count; i++) {
        bool is_sound = facts[i].name && facts[i].text && facts[i].unit && facts[i].source &&
                        strlen(facts[i].source) > 8 && isfinite(facts[i].value) && facts[i].value >= 0 &&
                        facts[i].kind < FACT_KIND_COUNT && facts[i].where.line > 0;
        if (!is_sound)
            test_fail(__FILE__, __LINE__, "%s: fact %s lacks unit, source or value", part_name(part), facts[i].name);
        EXPECT(facts[i].kind != FACT_FITTED || kind != PART_GPU || facts[i].sigma > 0);
    }
}

static bool same_text(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

static void expect_same_texts(const char *const *a, const char *const *b, int count) {
    for (int i = 0; i < count; i++) EXPECT(same_text(a[i], b[i]));
}

static void expect_same_facts(const Fact *a, const Fact *b, int count) {
    for (int i = 0; i < count; i++) {
        EXPECT(same_text(a[i].name, b[i].name) && same_text(a[i].text, b[i].text) && same_text(a[i].unit, b[i].unit));
        EXPECT(same_text(a[i].source, b[i].source) && same_text(a[i].where.file, b[i].where.file));
        EXPECT(a[i].value == b[i].value && a[i].sigma == b[i].sigma && a[i].kind == b[i].kind);
        EXPECT_INT(a[i].where.line, b[i].where.line);
    }
}

// Whatever is no pointer that the tables of fields know of is the same to the bit.
static void expect_same_part(PartKind kind, const char *a, const char *b) {
    const PartTable *table = &part_tables[kind];
    char one[2048], other[2048];
    EXPECT(table->bytes <= sizeof one);
    memcpy(one, a, table->bytes);
    memcpy(other, b, table->bytes);
    EXPECT(same_text(part_name(a), part_name(b)));
    int count, others;
    const char *const *aliases = part_aliases(kind, a, &count);
    expect_same_texts(aliases, part_aliases(kind, b, &others), count);
    const Fact *facts = part_facts(kind, a, &count);
    expect_same_facts(facts, part_facts(kind, b, &others), count);
    size_t pointers[100] = {0, table->aliases, table->facts};
    int found = 3;
    for (int f = 0; f < table->field_count; f++) {
        const PartField *field = &table->fields[f];
        const void *at = a + field->offset, *at_other = b + field->offset;
        if (field->type == PART_FIELD_TEXT)
            EXPECT(same_text(*(const char *const *)at, *(const char *const *)at_other));
        else if (field->type == PART_FIELD_NAMES)
            expect_same_texts(*(const char *const *const *)at, *(const char *const *const *)at_other,
                              *(const int *)(const void *)(a + field->count_offset));
        else
            continue;
        pointers[found++] = field->offset;
    }
    for (int p = 0; p < found; p++) {
        memset(one + pointers[p], 0, sizeof(void *));
        memset(other + pointers[p], 0, sizeof(void *));
    }
    EXPECT(memcmp(one, other, table->bytes) == 0);
}

TEST(the_tables_in_the_program_are_what_the_catalogues_files_say) {
    Arena *arena = arena_open();
    const Catalogue *read = catalogue_from_files(arena), *tables = catalogue_builtin(arena);
    for (int kind = 0; kind < PART_KIND_COUNT; kind++) {
        int count, others;
        const void *parts = catalogue_parts(tables, (PartKind)kind, &count);
        const void *from_files = catalogue_parts(read, (PartKind)kind, &others);
        EXPECT_INT(count, others);
        EXPECT(count > 0);
        for (int i = 0; i < count; i++)
            expect_same_part((PartKind)kind, part_at((PartKind)kind, parts, i), part_at((PartKind)kind, from_files, i));
    }
    arena_close(arena);
}

TEST(every_number_of_the_catalogue_has_a_unit_a_source_and_a_kind) {
    Arena *arena = arena_open();
    const Catalogue *catalogue = catalogue_builtin(arena);
    for (int kind = 0; kind < PART_KIND_COUNT; kind++) {
        int count;
        const void *parts = catalogue_parts(catalogue, (PartKind)kind, &count);
        for (int i = 0; i < count; i++) check_facts((PartKind)kind, part_at((PartKind)kind, parts, i));
    }
    arena_close(arena);
}

TEST(no_two_parts_of_a_kind_share_a_name_or_an_alias) {
    Arena *arena = arena_open();
    const Catalogue *catalogue = catalogue_builtin(arena);
    for (int kind = 0; kind < PART_KIND_COUNT; kind++) {
        const char *names[1000];
        int count, all = 0;
        const void *parts = catalogue_parts(catalogue, (PartKind)kind, &count);
        for (int i = 0; i < count; i++) {
            int alias_count;
            const char *const *aliases = part_aliases((PartKind)kind, part_at((PartKind)kind, parts, i), &alias_count);
            names[all++] = part_name(part_at((PartKind)kind, parts, i));
            for (int j = 0; j < alias_count; j++) names[all++] = aliases[j];
        }
        for (int i = 0; i < all; i++)
            for (int j = 0; j < i; j++)
                if (same_part_name(names[i], names[j]))
                    test_fail(__FILE__, __LINE__, "\"%s\" and \"%s\" are one name", names[i], names[j]);
    }
    arena_close(arena);
}

TEST(the_catalogue_holds_the_parts_that_people_ask_for) {
    Arena *arena = arena_open();
    const Catalogue *catalogue = catalogue_builtin(arena);
    EXPECT(catalogue->gpu_count >= 120);
    EXPECT(catalogue->node_count >= 80);
    static const char *const gpus[] = {"K80",
                                       "P100",
                                       "V100",
                                       "T4",
                                       "A10",
                                       "A30",
                                       "A40",
                                       "A6000",
                                       "A100",
                                       "L4",
                                       "L40S",
                                       "H100",
                                       "H100-PCIe",
                                       "H200",
                                       "GH200",
                                       "B200",
                                       "GB200",
                                       "B300",
                                       "GB300",
                                       "MI250X",
                                       "MI300X",
                                       "3060",
                                       "RTX 4080",
                                       "RTX 5090",
                                       "GTX 1070",
                                       "RTX 2070 Super",
                                       "3070 Ti",
                                       "NVIDIA GeForce RTX 4060 Ti 16GB",
                                       "RTX 4090 Laptop GPU",
                                       "5080",
                                       "A16",
                                       "RTX A2000",
                                       "RTX PRO 5000 Blackwell",
                                       "AGX Orin",
                                       "MI355X"};
    for (size_t i = 0; i < sizeof gpus / sizeof *gpus; i++)
        if (!catalogue_gpu(catalogue, gpus[i])) test_fail(__FILE__, __LINE__, "no %s", gpus[i]);
    EXPECT(catalogue_node(catalogue, "dgx-a100") && catalogue_node(catalogue, "DGX H100") &&
           catalogue_node(catalogue, "aws-p5.48xlarge"));
    EXPECT(catalogue_link(catalogue, "ib-ndr400") && catalogue_link(catalogue, "eth-5g") &&
           catalogue_link(catalogue, "roce-400"));
    EXPECT(catalogue_storage(catalogue, "nfs-1gbe") && catalogue_storage(catalogue, "local-nvme"));
    EXPECT_INT(catalogue_node(catalogue, "gb200-nvl72")->nvlink_domain_nodes, 18);
    EXPECT_INT(catalogue_node(catalogue, "dgx-h100")->nvlink_domain_nodes, 1);
    arena_close(arena);
}

// Dense FP16 FLOP per clock and SM with FP32 accumulation.
static double tensor_flops_per_clock(const Gpu *gpu) {
    static const struct {
        const char *architecture;
        double flops;
    } rows[] = {{"Volta", 1024}, {"Turing", 1024}, {"Hopper", 4096}};
    // GeForce cards sum products of halves in 32 bits at half the rate; so do two servers' cards.
    bool geforce = strncmp(gpu->name, "RTX", 3) == 0 && strchr("2345", gpu->name[3]) && !strstr(gpu->name, "Ada");
    if (geforce || strcmp(gpu->name, "A10G") == 0 || strcmp(gpu->name, "L40") == 0) return 512;
    if (strcmp(gpu->name, "H20-96GB") == 0) return 0; // cut below what its SMs could
    if (strncmp(gpu->name, "A100", 4) == 0 || strcmp(gpu->name, "A30") == 0 || strstr(gpu->name, "Orin")) return 2048;
    if (strncmp(gpu->name, "RTX-PRO", 7) == 0) return 1024; // twice a RTX5090's, whose rate is halved
    if (strcmp(gpu->architecture, "Blackwell") == 0) return 8192;
    if (strcmp(gpu->architecture, "Ampere") == 0 || strcmp(gpu->architecture, "Ada") == 0) return 1024;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(gpu->architecture, rows[i].architecture) == 0) return rows[i].flops;
    return 0;
}

TEST(tensor_peak_is_sms_times_flop_per_clock_times_clock) {
    Arena *arena = arena_open();
    const Catalogue *catalogue = catalogue_builtin(arena);
    int checked = 0;
    for (int i = 0; i < catalogue->gpu_count; i++) {
        const Gpu *gpu = &catalogue->gpus[i];
        double per_clock = tensor_flops_per_clock(gpu);
        if (per_clock == 0) continue;
        double expected = gpu->sm_count * per_clock * gpu->tensor_hz;
        if (fabs(gpu->peak_flops[FP16] / expected - 1) > 0.04)
            test_fail(__FILE__, __LINE__, "%s: FP16 peak %.4g, SMs x clock give %.4g", gpu->name, gpu->peak_flops[FP16],
                      expected);
        checked++;
    }
    EXPECT(checked > 80);
    arena_close(arena);
}

TEST(fp32_peak_is_two_flop_per_core_and_clock) {
    Arena *arena = arena_open();
    const Catalogue *catalogue = catalogue_builtin(arena);
    for (int i = 0; i < catalogue->gpu_count; i++) {
        const Gpu *gpu = &catalogue->gpus[i];
        if (strcmp(gpu->vendor, "NVIDIA") != 0 || strcmp(gpu->name, "GB300-288GB") == 0) continue;
        double cores = gpu->vector_flops[FP32] / (2 * gpu->boost_hz * gpu->sm_count);
        bool is_known = fabs(cores / 64 - 1) < 0.07 || fabs(cores / 128 - 1) < 0.07 || fabs(cores / 192 - 1) < 0.07;
        if (!is_known && strcmp(gpu->name, "H20-96GB") != 0)
            test_fail(__FILE__, __LINE__, "%s: %.1f cores per SM", gpu->name, cores);
    }
    arena_close(arena);
}

TEST(faster_precisions_are_not_slower_than_wider_ones) {
    Arena *arena = arena_open();
    const Catalogue *catalogue = catalogue_builtin(arena);
    for (int i = 0; i < catalogue->gpu_count; i++) {
        const double *peak = catalogue->gpus[i].peak_flops;
        EXPECT(peak[FP32] > 0);
        EXPECT(peak[FP16] == 0 || peak[FP16] >= peak[FP32]);
        EXPECT(peak[TF32] == 0 || (peak[TF32] >= peak[FP32] * 0.99 && peak[TF32] <= peak[FP16]));
        EXPECT(peak[FP8] == 0 || peak[FP8] >= peak[FP16]);
        EXPECT(peak[FP4] == 0 || peak[FP4] >= peak[FP8]);
        EXPECT(peak[BF16] <= peak[FP16]);
    }
    arena_close(arena);
}

TEST(nvlink_is_a_whole_number_of_links) {
    Arena *arena = arena_open();
    const Catalogue *catalogue = catalogue_builtin(arena);
    for (int i = 0; i < catalogue->gpu_count; i++) {
        const Gpu *gpu = &catalogue->gpus[i];
        if (gpu->nvlink_bytes_per_second == 0) continue;
        double links = gpu->nvlink_bytes_per_second / gpu->nvlink_link_bytes_per_second;
        EXPECT_NEAR(links, round(links), 0.001);
        EXPECT(gpu->nvlink[0]);
    }
    const Gpu *a100 = catalogue_gpu(catalogue, "A100");
    EXPECT_NEAR(a100->nvlink_bytes_per_second / a100->nvlink_link_bytes_per_second, 12, 1e-9);
    arena_close(arena);
}

TEST(links_of_a_mesh_fit_the_links_of_its_gpus) {
    Arena *arena = arena_open();
    const Catalogue *catalogue = catalogue_builtin(arena);
    for (int i = 0; i < catalogue->node_count; i++) {
        const NodeType *node = &catalogue->nodes[i];
        if (node->gpu_links != GPU_LINK_MESH) continue;
        const Gpu *gpu = node_gpu(catalogue, node, 0);
        double used = (node->gpu_count - 1) * node->mesh_links_per_pair * gpu->nvlink_link_bytes_per_second;
        if (used > gpu->nvlink_bytes_per_second * 1.001)
            test_fail(__FILE__, __LINE__, "%s uses more NVLinks than a GPU has", node->name);
    }
    arena_close(arena);
}

TEST(every_node_finds_its_gpus) {
    Arena *arena = arena_open();
    const Catalogue *catalogue = catalogue_builtin(arena);
    for (int i = 0; i < catalogue->node_count; i++)
        for (int g = 0; g < catalogue->nodes[i].gpu_count; g++) EXPECT(node_gpu(catalogue, &catalogue->nodes[i], g));
    arena_close(arena);
}

TEST(a_part_like_another_does_not_keep_what_was_taken_away) {
    Arena *arena = arena_open();
    const Catalogue *catalogue = catalogue_builtin(arena);
    const NodeType *h200 = catalogue_node(catalogue, "dgx-h200"), *h100 = catalogue_node(catalogue, "dgx-h100");
    EXPECT(h100->price_usd > 0 && h200->price_usd == 0 && !h200->price_date);
    EXPECT(!fact_find(h200->facts, h200->fact_count, "price_usd"));
    EXPECT_INT(h200->nic_count, h100->nic_count);
    EXPECT(catalogue_node(catalogue, "eos") == h100);
    arena_close(arena);
}

// ---- Names.

TEST(names_ignore_case_dashes_and_the_vendor) {
    Arena *arena = arena_open();
    const Catalogue *catalogue = catalogue_builtin(arena);
    const Gpu *h100 = catalogue_gpu(catalogue, "H100");
    EXPECT_TEXT(h100->name, "H100-SXM5-80GB");
    EXPECT(catalogue_gpu(catalogue, "h100_sxm5_80gb") == h100);
    EXPECT(catalogue_gpu(catalogue, "NVIDIA H100 80GB HBM3") == h100);
    EXPECT_TEXT(catalogue_gpu(catalogue, "A100")->name, "A100-SXM4-80GB");
    EXPECT_TEXT(catalogue_gpu(catalogue, "Tesla T4")->name, "T4");
    EXPECT_TEXT(catalogue_gpu(catalogue, "NVIDIA GeForce RTX 3060")->name, "RTX3060-12GB");
    EXPECT_TEXT(catalogue_gpu(catalogue, "AMD Instinct MI210")->name, "MI210");
    EXPECT(!catalogue_gpu(catalogue, "H10"));
    EXPECT(!catalogue_gpu(catalogue, ""));
    EXPECT(!catalogue_gpu(catalogue, "nvidia"));
    arena_close(arena);
}

TEST(an_unknown_name_gets_a_sentence_and_the_nearest_name) {
    Arena *arena = arena_open();
    const Catalogue *catalogue = catalogue_builtin(arena);
    Problems *problems = problems_create(arena);
    EXPECT(!find_gpu(arena, catalogue, "H10O", (Where){"pretrain.lua", 4}, problems));
    EXPECT(!find_node(arena, catalogue, "dgx-h10", (Where){0}, problems));
    EXPECT(!find_link(arena, catalogue, "ib-ndr40", (Where){0}, problems));
    EXPECT(!find_storage(arena, catalogue, "nothing like it", (Where){0}, problems));
    EXPECT_INT(problem_count(problems), 4);
    EXPECT_TEXT(problem_at(problems, 0)->text, "no GPU is called \"H10O\"");
    EXPECT_TEXT(problem_at(problems, 0)->hint, "did you mean \"H100\"?");
    EXPECT_INT(problem_at(problems, 0)->where.line, 4);
    EXPECT_CONTAINS(problem_at(problems, 1)->hint, "dgx-h100");
    EXPECT_CONTAINS(problem_at(problems, 2)->hint, "ib-ndr400");
    EXPECT_CONTAINS(problem_at(problems, 3)->hint, "lockstep hw list storage");
    arena_close(arena);
}

TEST(precisions_are_known_by_their_usual_names) {
    Precision precision;
    EXPECT(precision_from_name("BF16", &precision) && precision == BF16);
    EXPECT(precision_from_name("amp", &precision) && precision == FP16);
    EXPECT(precision_from_name("mixed", &precision) && precision == FP16);
    EXPECT(!precision_from_name("fp17", &precision));
    EXPECT_INT(precision_bytes(TF32), 4);
    EXPECT_INT(precision_bytes(FP4), 1);
    EXPECT_NEAR(operand_bytes(FP4, false), (16 * 4 + 8) / 16.0 / 8, 0); // NVFP4: of 16 elements one scale in e4m3
    EXPECT_NEAR(operand_bytes(FP4, true), (32 * 4 + 8) / 32.0 / 8, 0);  // MXFP4: of 32 one in e8m0
    EXPECT_NEAR(operand_bytes(FP8, true), 1, 0);
    for (int i = 0; i < PRECISION_COUNT; i++)
        EXPECT(precision_from_name(precision_name((Precision)i), &precision) && (int)precision == i);
}

// ---- MIG.

TEST(a_mig_slice_has_its_share_of_everything) {
    Arena *arena = arena_open();
    const Catalogue *catalogue = catalogue_builtin(arena);
    Problems *problems = problems_create(arena);
    const Gpu *whole = catalogue_gpu(catalogue, "A100-40GB");
    const Gpu *slice = find_gpu(arena, catalogue, "a100-sxm4-40gb:1g.5gb", (Where){0}, problems);
    EXPECT(slice);
    if (slice) {
        EXPECT_TEXT(slice->name, "A100-SXM4-40GB:1g.5gb");
        EXPECT_INT(slice->sm_count, 14); // of 98 that MIG uses
        EXPECT_NEAR(slice->peak_flops[BF16], whole->peak_flops[BF16] * 14 / 108, 1e-12);
        EXPECT_NEAR(slice->memory_bytes, 5 * 0x1p30, 1e-12);
        EXPECT_NEAR(slice->memory_bytes_per_second, whole->memory_bytes_per_second / 8, 1e-12);
        EXPECT(slice->nvlink_bytes_per_second == 0 && slice->mig_slices_max == 0);
        EXPECT_NEAR(fact_find(slice->facts, slice->fact_count, "memory")->value, slice->memory_bytes, 1e-12);
        EXPECT_CONTAINS(fact_find(slice->facts, slice->fact_count, "sms")->source, "A100-SXM4-40GB");
        EXPECT(!fact_find(slice->facts, slice->fact_count, "nvlink_bandwidth"));
    }
    EXPECT_INT(problem_count(problems), 0);
    arena_close(arena);
}

TEST(mig_profiles_have_the_names_of_the_guide) {
    static const char *const names[] = {
        "A100-40GB:1g.5gb",  "A100-40GB:1g.10gb", "A100-40GB:2g.10gb", "A100-40GB:3g.20gb", "A100-40GB:4g.20gb",
        "A100-40GB:7g.40gb", "A100-80GB:1g.10gb", "A100-80GB:2g.20gb", "A100-80GB:3g.40gb", "A100-80GB:7g.80gb",
        "H100:1g.10gb",      "H100:1g.20gb",      "H100:4g.40gb",      "H100:7g.80gb",      "H100-96GB:1g.12gb",
        "H100-NVL:3g.47gb",  "H200:1g.18gb",      "H200:2g.35gb",      "H200:3g.71gb",      "H200:7g.141gb",
        "B200:1g.23gb",      "A30:1g.6gb",        "A30:2g.12gb",       "A30:4g.24gb"};
    Arena *arena = arena_open();
    const Catalogue *catalogue = catalogue_builtin(arena);
    Problems *problems = problems_create(arena);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const Gpu *slice = find_gpu(arena, catalogue, names[i], (Where){0}, problems);
        if (!slice)
            test_fail(__FILE__, __LINE__, "no %s", names[i]);
        else
            EXPECT(slice->sm_count > 0 && slice->sm_count % 2 == 0);
    }
    EXPECT(!find_gpu(arena, catalogue, "A100:1g.11gb", (Where){"x.lua", 2}, problems));
    EXPECT(!find_gpu(arena, catalogue, "RTX4090:1g.10gb", (Where){0}, problems));
    EXPECT(!find_gpu(arena, catalogue, "A101:1g.10gb", (Where){0}, problems));
    EXPECT_INT(problem_count(problems), 3);
    EXPECT_TEXT(problem_at(problems, 0)->text, "A100-SXM4-80GB has no MIG profile \"1g.11gb\"");
    EXPECT_CONTAINS(problem_at(problems, 0)->hint, "1g.10gb");
    EXPECT_CONTAINS(problem_at(problems, 1)->text, "cannot be cut");
    arena_close(arena);
}

// By chip, form and memory in any order; another memory than the catalogue has is another card.
TEST(gpus_are_found_by_chip_form_and_memory) {
    static const struct {
        const char *called, *name;
    } rows[] = {{"A100 80G", "A100-SXM4-80GB"},
                {"A100 40G", "A100-SXM4-40GB"},
                {"A100-SXM-40G", "A100-SXM4-40GB"},
                {"V100 32GB PCIe", "V100-PCIE-32GB"},
                {"RTX3090 24G", "RTX3090"},
                {"NVIDIA GeForce RTX 4090 24 GB", "RTX4090"},
                {"P100 16G", "P100-SXM2-16GB"},
                {"P100 12GB", NULL},
                {"RTX 4090 48GB", NULL},
                {"A100 G", NULL},
                {"24GB", NULL},
                {"A10G 24GB", "A10G"}};
    Arena *arena = arena_open();
    const Catalogue *catalogue = catalogue_builtin(arena);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const Gpu *gpu = catalogue_gpu(catalogue, rows[i].called);
        EXPECT_TEXT(gpu ? gpu->name : "", rows[i].name ? rows[i].name : "");
    }
    arena_close(arena);
}

// ---- Machines in words.

TEST(a_machine_in_words_is_its_cards_in_one_host) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    const Catalogue *catalogue = catalogue_builtin(arena);
    const NodeType *mixed = find_node(arena, catalogue, "2x rtx-3060 + RTX 4090", (Where){0}, problems);
    EXPECT(mixed != NULL);
    if (!mixed) return;
    EXPECT_TEXT(mixed->name, "2x RTX3060-12GB + 1x RTX4090");
    EXPECT_INT(mixed->gpu_count, 3);
    EXPECT(node_gpu(catalogue, mixed, 1) == catalogue_gpu(catalogue, "3060"));
    EXPECT(node_gpu(catalogue, mixed, 2) == catalogue_gpu(catalogue, "4090"));
    EXPECT(!mixed->peer_to_peer && mixed->gpu_links == GPU_LINK_NONE && mixed->price_usd == 0);
    EXPECT_NEAR(mixed->max_power_watts, 330 + 170 + 170 + 450, 1e-9);
    EXPECT_NEAR(mixed->host_memory_bytes, 128e9, 1); // twice 48 GiB, in steps of 32 GB
    const NodeType *again = find_node(arena, catalogue, mixed->name, (Where){0}, problems);
    EXPECT(again && strcmp(again->name, mixed->name) == 0 && again->gpu_count == 3); // what is printed can be typed

    // What somebody sells is that machine; bridges and boards of a provider are not taken for granted.
    EXPECT(find_node(arena, catalogue, "2 x 4090", (Where){0}, problems) == catalogue_node(catalogue, "rtx4090x2"));
    EXPECT(find_node(arena, catalogue, "2x 3090", (Where){0}, problems)->gpu_links == GPU_LINK_NONE);
    const NodeType *half = find_node(arena, catalogue, "3×H100", (Where){0}, problems);
    EXPECT(half && half->gpu_links == GPU_LINK_SWITCH && half->nic_count == 3 && !half->provider);
    EXPECT(find_node(arena, catalogue, "6x A40", (Where){0}, problems)->sockets == 2);
    EXPECT_INT(problem_count(problems), 0);

    static const struct {
        const char *text, *says;
    } refused[] = {{"2x rtx-9999", "no GPU is called \"rtx-9999\""},
                   {"2x dgx-h100", "is a node, and a node is made of GPUs"},
                   {"1x 4090 + 1x H100-SXM5-80GB", "is a module on a board of its own kind"},
                   {"9x 4090 + 8x 3060", "more than 16 GPUs in one machine"},
                   {"99999999999x 4090", "more than 16 GPUs in one machine"},
                   {"2x 4090 +", "the name of a GPU is empty"},
                   {"9x H100", "no board with 9 H100-SXM5-80GB is known"}};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        Problems *said = problems_create(arena);
        EXPECT(!find_node(arena, catalogue, refused[i].text, (Where){0}, said));
        EXPECT_CONTAINS(problem_count(said) ? problem_at(said, 0)->text : "nothing", refused[i].says);
    }
    EXPECT(!node_is_in_words("x4090") && !node_is_in_words("0x 4090") && !node_is_in_words("4090-4gpu"));
    arena_close(arena);
}
