// Parser of a log's facts about its machine. Most lines have none; of contradicting lines, as those of several ranks
// may be, the first counts.
#include "calibrate/collectives/nccl_facts.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/list.h"

#define RANKS_MOST 16384

static const char *behind(const char *line, const char *text) {
    const char *found = strstr(line, text);
    return found ? found + strlen(text) : NULL;
}

static const char *copy_until(Arena *arena, const char *text, const char *ends) {
    char *copy = arena_copy_text(arena, text);
    copy[strcspn(copy, ends)] = '\0';
    return copy;
}

static void count_once(Arena *arena, NameCount *names, const char *name) {
    if (!names->index) names->index = name_index_create(arena, strcmp);
    if (name_index_add(names->index, name, names->count) < 0) names->count++;
}

// "#  Rank  0 Group  0 Pid  12345 on  node-1 device  0 [0x1b] NVIDIA H100 80GB HBM3", without a group before 2.14.
static void read_rank(NcclFacts *facts, const char *line) {
    const char *rank = behind(line, " Rank "), *process = rank ? behind(rank, " Pid ") : NULL;
    const char *on = process ? behind(process, " on ") : NULL, *device = on ? behind(on, " device ") : NULL;
    const char *name = device ? behind(device, "] ") : NULL;
    if (!name || atoi(rank) != facts->ranks || facts->ranks >= RANKS_MOST) return; // a table printed again
    on += strspn(on, " ");
    const char *host = copy_until(facts->arena, on, " ");
    const char *both = arena_printf(facts->arena, "%s %d", host, atoi(process));
    facts->ranks++;
    count_once(facts->arena, &facts->hosts, host);
    count_once(facts->arena, &facts->processes, both);
    if (!facts->gpu) facts->gpu = copy_until(facts->arena, name + strspn(name, " "), "\r\n\t");
}

// "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/RoCE [RO]; OOB eth0:10.0.0.1<0>"; with a plug-in "NET/IBext_v8 : Using …".
static void read_infiniband(NcclFacts *facts, const char *line) {
    const char *list = strstr(line, "NET/IB") ? behind(line, " : Using [") : NULL;
    if (!list || facts->nics) return;
    const char *all = copy_until(facts->arena, list - 1, ";");
    for (const char *at = all; (at = strchr(at, '[')) != NULL; at++) facts->nics += isdigit((unsigned char)at[1]) != 0;
    if (!facts->transport) facts->transport = strstr(all, "/RoCE") ? "roce" : "infiniband";
}

// "NET/OFI Selected Provider is efa (found 4 nics)".
static void read_libfabric(NcclFacts *facts, const char *line) {
    static const char *const providers[][2] = {{"efa", "efa"}, {"cxi", "slingshot"}, {"tcp", "tcp"}};
    const char *name = behind(line, "Selected Provider is ");
    if (!name) name = behind(line, "Selected provider is ");
    if (!name) return;
    for (size_t i = 0; i < sizeof providers / sizeof *providers; i++)
        if (strncmp(name, providers[i][0], strlen(providers[i][0])) == 0) facts->transport = providers[i][1];
    const char *found = behind(name, "(found ");
    if (found && atoi(found) > 0 && atoi(found) <= 64) facts->nics = atoi(found);
}

// "Using network Socket": the network chosen in the end, whatever was found before.
static void read_network(NcclFacts *facts, const char *line) {
    static const char *const networks[][2] = {{"Socket", "tcp"},
                                              {"FasTrak", "gpudirect-tcpxo"},
                                              {"GPUDirectTCPXO", "gpudirect-tcpxo"},
                                              {"GPUDirectTCPX", "gpudirect-tcpx"}};
    const char *name = behind(line, "Using network ");
    if (!name) return;
    for (size_t i = 0; i < sizeof networks / sizeof *networks; i++) {
        if (strncmp(name, networks[i][0], strlen(networks[i][0])) != 0) continue;
        facts->transport = networks[i][1];
        facts->nics = 0; // those found were others
        facts->nic_gigabits = 0;
        return;
    }
}

// "speed=25000" in megabits (2.24 on), "GPU Direct RDMA Disabled for HCA 0", "[send] via NET/IB/0/GDRDMA".
static void read_nic(NcclFacts *facts, const char *line) {
    const char *speed = strstr(line, "NET/IB") ? behind(line, " speed=") : NULL;
    if (speed && !facts->nic_gigabits && atof(speed) >= 1000 && atof(speed) < 1e7)
        facts->nic_gigabits = atof(speed) / 1000;
    const char *way = strstr(line, " via NET/");
    bool said = strstr(line, "GPU Direct RDMA Enabled") || strstr(line, "GPU Direct RDMA Disabled");
    if ((way && strstr(way, "/GDRDMA")) || strstr(line, "GPU Direct RDMA Enabled"))
        facts->direct_memory = true;
    else if (way || said)
        facts->bounced = true;
}

static void read_inside(NcclFacts *facts, const char *line) {
    facts->peer_to_peer = facts->peer_to_peer || strstr(line, " via P2P/");
    facts->staged = facts->staged || strstr(line, " via SHM");
    facts->in_switch_reduction = facts->in_switch_reduction || strstr(line, "NVLS multicast support is available");
}

// "NCCL_ALGO set by environment to Ring."
static void read_environment(NcclFacts *facts, const char *line) {
    static const char *const keys[] = {"NCCL_ALGO", "NCCL_PROTO", "NCCL_NVLS_ENABLE"};
    const char *value = behind(line, " set by environment to ");
    for (size_t i = 0; value && i < sizeof keys / sizeof *keys; i++) {
        const char *before = facts->environment ? facts->environment : "";
        if (!behind(line, keys[i]) || strstr(before, keys[i])) continue;
        facts->environment = arena_printf(facts->arena, "%s%s%s=%s", before, *before ? " " : "", keys[i],
                                          copy_until(facts->arena, value, " .\r\n\t"));
    }
}

void nccl_facts_read(NcclFacts *facts, const char *line) {
    if (strstr(line, " Rank ") && strstr(line, " device ")) read_rank(facts, line);
    if (!strstr(line, "NCCL INFO")) return;
    read_infiniband(facts, line);
    read_libfabric(facts, line);
    read_network(facts, line);
    read_nic(facts, line);
    read_inside(facts, line);
    read_environment(facts, line);
}

int nccl_facts_list(const NcclFacts *facts, const NcclFact **list) {
    struct {
        NcclFact *items;
        int count, room;
    } stated = {0};
    Arena *arena = facts->arena;
    int nodes = facts->hosts.count;
#define STATE(column_, value_) LIST_PUSH(arena, &stated, ((NcclFact){column_, value_}))
    if (facts->ranks > 1 && facts->ranks % nodes == 0) {
        STATE("ranks", arena_printf(arena, "%d", facts->ranks));
        STATE("nodes", arena_printf(arena, "%d", nodes));
        STATE("gpus_per_node", arena_printf(arena, "%d", facts->ranks / nodes));
    }
    if (facts->gpu) STATE("gpu", facts->gpu);
    const char *transport = nodes == 1 ? "none" : facts->transport;
    if (transport) STATE("transport", transport);
    if (facts->nics) STATE("nics_per_node", arena_printf(arena, "%d", facts->nics));
    if (facts->nic_gigabits > 0) STATE("nic_gbps", arena_printf(arena, "%g", facts->nic_gigabits));
    if (facts->direct_memory || facts->bounced) STATE("gdr", facts->direct_memory ? "yes" : "no");
    const char *inside = facts->in_switch_reduction              ? "nvswitch"
                         : facts->staged && !facts->peer_to_peer ? "pcie-host"
                                                                 : NULL;
    if (inside) STATE("intra_link", inside);
    if (facts->environment) STATE("algo_env", facts->environment);
#undef STATE
    *list = stated.items;
    return stated.count;
}
