// Nodes given as counts of GPUs: "2x rtx-3060 + 1x rtx-4090". Cards are in a workstation's PCIe slots, modules on
// their board of the catalogue.
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/hardware/parts.h"

enum { MOST_GPUS = 16 };
#define HOST "rtx3060-workstation"   // whose socket, memory channels, disk and NIC the cards share
#define HOST_WATTS 330.0             // its power supply beyond its card
#define SOCKET_BYTES_PER_SECOND 32e9 // two UPI links, one direction

typedef struct Said {
    const Gpu *gpus[MOST_GPUS];
    int count;
    const char *name; // "2x RTX3060-12GB + 1x RTX4090"
} Said;

// Behind "2x", "2 x", "2 ×", "2*"; NULL: no number of anything.
static const char *behind_count(const char *text, int *count) {
    static const char *const signs[] = {"x", "X", "*", "×"};
    char *end;
    long said = isdigit((unsigned char)*text) ? strtol(text, &end, 10) : 0;
    if (said < 1) return NULL;
    while (*end == ' ') end++;
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        size_t length = strlen(signs[i]);
        if (strncmp(end, signs[i], length) != 0) continue;
        *count = said > MOST_GPUS ? MOST_GPUS + 1 : (int)said;
        for (end += length; *end == ' ';) end++;
        return *end ? end : NULL;
    }
    return NULL;
}

bool node_is_in_words(const char *text) {
    int count;
    return behind_count(text, &count) != NULL;
}

static bool read_words(Arena *arena, const Catalogue *catalogue, const char *text, Said *said, Where where,
                       Problems *problems) {
    const char *name = NULL;
    for (const char *at = text; at;) {
        int count = 1;
        while (*at == ' ') at++;
        const char *called = behind_count(at, &count);
        if (!called) called = at;
        size_t length = strcspn(called, "+");
        const char *next = called[length] ? called + length + 1 : NULL;
        while (length > 0 && called[length - 1] == ' ') length--;
        const char *word = arena_printf(arena, "%.*s", (int)length, called);
        if (catalogue_node(catalogue, word) && !catalogue_gpu(catalogue, word)) {
            problem_add(problems, where, "\"%s\" is a node, and a node is made of GPUs", word);
            problem_hint(problems, "--node %s --gpus N takes as many of it as hold N GPUs", word);
            return false;
        }
        const Gpu *gpu = find_part(arena, catalogue, PART_GPU, word, where, problems);
        if (!gpu) return false;
        if (said->count + count > MOST_GPUS) {
            problem_add(problems, where, "\"%s\" is more than %d GPUs in one machine", text, MOST_GPUS);
            problem_hint(problems, "say one machine, and --gpus for all of them");
            return false;
        }
        name = arena_printf(arena, "%s%s%dx %s", name ? name : "", name ? " + " : "", count, gpu->name);
        for (int i = 0; i < count; i++) said->gpus[said->count++] = gpu;
        at = next;
    }
    said->name = name;
    return true;
}

static bool is_module(const Gpu *gpu) {
    return strstr(gpu->form, "SXM") || strstr(gpu->form, "OAM") || strstr(gpu->form, "superchip");
}

static NodeType *start(Arena *arena, const NodeType *base, const Said *said, bool mixed) {
    NodeType *node = ARENA_NEW(arena, NodeType);
    const char **names = ARENA_ARRAY(arena, const char *, said->count);
    for (int i = 0; i < said->count; i++) names[i] = said->gpus[i]->name;
    *node = *base;
    node->name = said->name;
    node->title = arena_printf(arena, "%s, host as of %s", said->name, base->name);
    node->aliases = NULL, node->alias_count = 0;
    node->gpu_names = names;
    node->gpu_name_count = mixed ? said->count : 1;
    node->gpu_count = said->count;
    node->provider = NULL, node->fabrics = NULL, node->fabric_count = 0;
    node->price_usd = 0, node->price_date = NULL, node->price_basis = NULL;
    return node;
}

static const NodeType *with_modules(Arena *arena, const Catalogue *catalogue, const Said *said, Where where,
                                    Problems *problems) {
    const NodeType *board = node_with_gpus(catalogue, said->gpus[0], said->count);
    if (!board) {
        problem_add(problems, where, "no board with %d %s is known", said->count, said->gpus[0]->name);
        hint_parts(arena, catalogue, PART_NODE, said->gpus[0]->name, problems);
        return NULL;
    }
    NodeType *node = start(arena, board, said, false);
    node->nic_count = (int)ceil(1.0 * board->nic_count * said->count / board->gpu_count);
    node->nvlink_domain_nodes = 1;
    return node;
}

static const NodeType *with_cards(Arena *arena, const Catalogue *catalogue, const Said *said, bool mixed) {
    NodeType *node = start(arena, catalogue_node(catalogue, HOST), said, mixed);
    double memory = 0, watts = HOST_WATTS;
    node->peer_to_peer = true;
    for (int i = 0; i < said->count; i++) {
        const Gpu *gpu = said->gpus[i];
        memory += gpu->memory_bytes, watts += gpu->power_watts;
        if (gpu->no_peer_access) node->peer_to_peer = false;
        if (gpu->pcie_generation > node->pcie_generation) node->pcie_generation = gpu->pcie_generation;
    }
    int channels = said->count <= 2 ? 1 : said->count <= 4 ? 2 : 4; // times the workstation's
    node->host_memory_bytes = fmax(node->host_memory_bytes, 32e9 * ceil(2 * memory / 32e9));
    node->host_memory_bytes_per_second *= channels;
    node->cpu_cores *= channels;
    node->sockets = said->count > 4 ? 2 : 1;
    node->socket_bytes_per_second = node->sockets > 1 ? SOCKET_BYTES_PER_SECOND : 0;
    node->max_power_watts = watts;
    return node;
}

const NodeType *node_in_words(Arena *arena, const Catalogue *catalogue, const char *text, Where where,
                              Problems *problems) {
    Said said = {0};
    if (!read_words(arena, catalogue, text, &said, where, problems)) return NULL;
    bool mixed = false;
    for (int i = 0; i < said.count; i++) mixed = mixed || said.gpus[i] != said.gpus[0];
    for (int i = 0; i < said.count && mixed; i++) {
        if (!is_module(said.gpus[i])) continue;
        problem_add(problems, where, "%s is a module on a board of its own kind, and stands beside no other GPU",
                    said.gpus[i]->name);
        return NULL;
    }
    const NodeType *known = mixed ? NULL : node_with_gpus(catalogue, said.gpus[0], said.count);
    // A node of the catalogue, if it is not one provider's; bridges between cards are not assumed.
    if (known && known->gpu_count == said.count && !known->provider && known->gpu_links != GPU_LINK_BRIDGE)
        return known;
    return is_module(said.gpus[0]) ? with_modules(arena, catalogue, &said, where, problems)
                                   : with_cards(arena, catalogue, &said, mixed);
}
