#include "results/trace_metrics.h"

#include <math.h>
#include <string.h>

#include "sim/json.h"
#include "sim/letters.h"
#include "sim/version.h"

// Names, types and order of lines: OpenMetrics 1.0.0 (prometheus/OpenMetrics, specification/OpenMetrics.md). A family's
// lines stand together; a counter's sample ends in _total. Names of GPUs' fields and their units: NVIDIA/dcgm-exporter,
// etc/default-counters.csv. Names of NICs' counters: prometheus/node_exporter, collector/infiniband_linux.go.

#define MIB (1024.0 * 1024.0)

// ---- What is told of one GPU.

static const SpanProcess *process_of(const SpanSet *set, int process) { return &set->processes[process]; }

static double share_of_step(const SpanSet *set, SimTime time) { return step_seconds(time) / step_seconds(set->end); }

static double resident_share(const SpanSet *set, int process) {
    const SpanBreakdown *b = &set->breakdowns[process];
    return share_of_step(set, b->compute + b->exposed_communication + b->exposed_memory);
}

static double resident_percent(const SpanSet *set, int process) { return 100 * resident_share(set, process); }

static double compute_share(const SpanSet *set, int process) {
    return share_of_step(set, set->breakdowns[process].compute);
}

// NAN: it is not told.
static double energy_joules(const SpanSet *set, int process) {
    for (int c = 0; c < set->counter_count; c++) {
        const SpanCounter *counter = &set->counters[c];
        if (counter->process != process || counter->quantity != SPAN_POWER) continue;
        double joules = 0;
        for (int i = 0; i < counter->count; i++) {
            SimTime until = i + 1 < counter->count ? counter->times[i + 1] : set->end;
            joules += counter->values[i] * step_seconds(until - counter->times[i]);
        }
        return joules;
    }
    return NAN;
}

static double energy_millijoules(const SpanSet *set, int process) { return 1000 * energy_joules(set, process); }
static double mean_watts(const SpanSet *set, int process) {
    return energy_joules(set, process) / step_seconds(set->end);
}

// Bytes of the fullest moment; of one class, or NULL: of all. NAN: it is not told.
static double memory_at_peak(const SpanSet *set, int process, const char *class) {
    double peak = NAN, of_class = NAN;
    bool more = true;
    for (int i = 0; more; i++) { // a process' curves of memory have the same moments
        double sum = 0, one = 0;
        more = false;
        for (int c = 0; c < set->counter_count; c++) {
            const SpanCounter *counter = &set->counters[c];
            if (counter->process != process || counter->quantity != SPAN_MEMORY || i >= counter->count) continue;
            more = true;
            sum += counter->values[i];
            if (class && strcmp(counter->name, class) == 0) one = counter->values[i];
        }
        if (!more || !(isnan(peak) || sum > peak)) continue;
        peak = sum;
        of_class = one;
    }
    return class ? of_class : peak;
}

static double memory_used(const SpanSet *set, int process) { return memory_at_peak(set, process, NULL) / MIB; }
static double memory_free(const SpanSet *set, int process) {
    return process_of(set, process)->memory_bytes / MIB - memory_used(set, process);
}

// ---- What its links carried.

// NVLink: of links between the GPU and a switch, and of those straight to and from other GPUs.
SpanSide trace_side_of(const char *link, int node, int gpu) {
    static const struct {
        const char *name;
        SpanSide side;
    } own[] = {{"nvlink.out", SPAN_NVLINK_OUT},
               {"nvlink.in", SPAN_NVLINK_IN},
               {"pcie.out", SPAN_PCIE_OUT},
               {"pcie.in", SPAN_PCIE_IN}};
    int at_node, at_gpu, nic, length = 0;
    if (sscanf(link, "node%d.nic%d.%n", &at_node, &nic, &length) == 2 && length > 0)
        return at_node != node                     ? SPAN_SIDES
               : strcmp(link + length, "out") == 0 ? SPAN_NICS_OUT
               : strcmp(link + length, "in") == 0  ? SPAN_NICS_IN
                                                   : SPAN_SIDES;
    if (sscanf(link, "node%d.gpu%d.%n", &at_node, &at_gpu, &length) != 2 || length == 0 || at_node != node)
        return SPAN_SIDES;
    int other, ended = 0;
    if (sscanf(link + length, "nvlink.gpu%d%n", &other, &ended) == 1 && link[length + ended] == '\0')
        return at_gpu == gpu ? SPAN_NVLINK_OUT : other == gpu ? SPAN_NVLINK_IN : SPAN_SIDES;
    for (size_t i = 0; at_gpu == gpu && i < sizeof own / sizeof *own; i++)
        if (strcmp(link + length, own[i].name) == 0) return own[i].side;
    return SPAN_SIDES;
}

static double side_rate(const SpanSet *set, int process, SpanSide side) {
    const SpanProcess *at = process_of(set, process);
    double bytes = 0;
    for (int l = 0; l < set->link_count; l++)
        if (trace_side_of(set->links[l].name, at->node, at->gpu) == side) bytes += set->links[l].bytes;
    return bytes / step_seconds(set->end);
}

static double nvlink_sent(const SpanSet *set, int process) { return side_rate(set, process, SPAN_NVLINK_OUT); }
static double nvlink_received(const SpanSet *set, int process) { return side_rate(set, process, SPAN_NVLINK_IN); }
static double pcie_sent(const SpanSet *set, int process) { return side_rate(set, process, SPAN_PCIE_OUT); }
static double pcie_received(const SpanSet *set, int process) { return side_rate(set, process, SPAN_PCIE_IN); }

// ---- Families.

static const struct {
    const char *name, *type, *help;
    double (*value)(const SpanSet *set, int process);
} of_gpus[] = {
    {"DCGM_FI_DEV_GPU_UTIL", "gauge", "Time in which a kernel is resident (in %); kernels of collectives count.",
     resident_percent},
    {"DCGM_FI_PROF_GR_ENGINE_ACTIVE", "gauge", "Share of time in which a kernel is resident (0 to 1).", resident_share},
    {"DCGM_FI_PROF_SM_ACTIVE", "gauge",
     "Share of time in which computation runs (0 to 1); the few SMs of collectives are not counted.", compute_share},
    {"DCGM_FI_DEV_FB_USED", "gauge", "Memory in use at the step's fullest moment (in MiB).", memory_used},
    {"DCGM_FI_DEV_FB_FREE", "gauge", "Memory that is free then (in MiB).", memory_free},
    {"DCGM_FI_DEV_POWER_USAGE", "gauge", "Mean draw of the GPU, by what it does (in W).", mean_watts},
    {"DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "unknown", "Energy that one step takes (in mJ).", energy_millijoules},
    {"DCGM_FI_PROF_PCIE_TX_BYTES", "gauge", "Sent over PCIe, mean (in bytes per second).", pcie_sent},
    {"DCGM_FI_PROF_PCIE_RX_BYTES", "gauge", "Received over PCIe, mean (in bytes per second).", pcie_received},
    {"DCGM_FI_PROF_NVLINK_TX_BYTES", "gauge", "Sent over NVLink, mean, without headers (in bytes per second).",
     nvlink_sent},
    {"DCGM_FI_PROF_NVLINK_RX_BYTES", "gauge", "Received over NVLink, mean, without headers (in bytes per second).",
     nvlink_received},
};

static void begin_family(FILE *out, const char *name, const char *type, const char *unit, const char *help) {
    fprintf(out, "# TYPE %s %s\n", name, type);
    if (unit) fprintf(out, "# UNIT %s %s\n", name, unit);
    fprintf(out, "# HELP %s %s\n", name, help);
}

// Of one line: a line break, which would be \n, is a '?' like other controls.
static void write_label(FILE *out, const char *name, const char *value) {
    Arena *arena = arena_open();
    fprintf(out, "%s=\"", name);
    for (const char *at = letters_make_harmless(arena_copy_text(arena, value), ""); *at; at++) {
        if (*at == '\\' || *at == '"') fputc('\\', out);
        fputc(*at, out);
    }
    fputc('"', out);
    arena_close(arena);
}

static void write_value(FILE *out, double value) {
    JsonWriter number = json_writer(out, 0); // the shortest text that reads back
    fputc(' ', out);
    json_write_number(&number, value);
    fputc('\n', out);
}

// As the DCGM exporter labels a GPU, and its rank.
static void write_gpu(FILE *out, const char *name, const SpanProcess *at, const char *more, const char *text) {
    fprintf(out, "%s{gpu=\"%d\",device=\"nvidia%d\",", name, at->gpu, at->gpu);
    write_label(out, "modelName", at->gpu_name);
    fprintf(out, ",Hostname=\"node%d\",rank=\"%d\"", at->node, at->id);
    if (more) {
        fputc(',', out);
        write_label(out, more, text);
    }
    fputc('}', out);
}

static void write_gpus(FILE *out, const SpanSet *set) {
    for (size_t f = 0; f < sizeof of_gpus / sizeof *of_gpus; f++) {
        bool begun = false;
        for (int p = 0; p < set->process_count; p++) {
            double value = of_gpus[f].value(set, p);
            if (isnan(value)) continue;
            if (!begun) begin_family(out, of_gpus[f].name, of_gpus[f].type, NULL, of_gpus[f].help);
            begun = true;
            write_gpu(out, of_gpus[f].name, process_of(set, p), NULL, NULL);
            write_value(out, value);
        }
    }
}

static bool is_shown(const SpanSet *set, int node) {
    for (int p = 0; p < set->process_count; p++)
        if (set->processes[p].node == node) return true;
    return false;
}

// Of the nodes that the ranks are in.
static void write_nics(FILE *out, const SpanSet *set, const char *family, const char *way, const char *help) {
    bool begun = false;
    for (int l = 0; l < set->link_count; l++) {
        int node, nic, length = 0;
        const char *name = set->links[l].name;
        if (sscanf(name, "node%d.nic%d.%n", &node, &nic, &length) != 2 || strcmp(name + length, way) != 0) continue;
        if (!is_shown(set, node)) continue;
        if (!begun) begin_family(out, family, "counter", NULL, help);
        begun = true;
        fprintf(out, "%s_total{device=\"nic%d\",port=\"1\",Hostname=\"node%d\"}", family, nic, node);
        write_value(out, set->links[l].bytes);
    }
}

static void write_exposed(FILE *out, const SpanSet *set) {
    static const char name[] = "lockstep_exposed_seconds";
    begin_family(out, name, "gauge", "seconds",
                 "Time of the main stream by what it went to; with waiting at the end the step.");
    for (int p = 0; p < set->process_count; p++) {
        for (int c = 0; c < set->category_count; c++) {
            if (set->processes[p].spent[c] <= 0) continue;
            write_gpu(out, name, process_of(set, p), "cause", set->categories[c]);
            write_value(out, step_seconds(set->processes[p].spent[c]));
        }
    }
}

static void write_memory(FILE *out, const SpanSet *set) {
    static const char name[] = "lockstep_memory_bytes";
    bool begun = false;
    for (int c = 0; c < set->counter_count; c++) {
        const SpanCounter *counter = &set->counters[c];
        const char *class = strstr(counter->name, ": ");
        if (counter->quantity != SPAN_MEMORY || !class) continue;
        if (!begun) begin_family(out, name, "gauge", "bytes", "Memory by class at the step's fullest moment.");
        begun = true;
        write_gpu(out, name, process_of(set, counter->process), "class", class + 2);
        write_value(out, memory_at_peak(set, counter->process, counter->name));
    }
}

void trace_metrics_write(FILE *out, const SpanSet *set) {
    begin_family(out, "lockstep_run", "info", NULL, "What was simulated.");
    fputs("lockstep_run_info{", out);
    write_label(out, "title", set->title);
    fputc(',', out);
    write_label(out, "version", program_version());
    fputs("} 1\n", out);
    begin_family(out, "lockstep_step_seconds", "gauge", "seconds", "Simulated time of one training step.");
    fputs("lockstep_step_seconds", out);
    write_value(out, step_seconds(set->end));
    write_exposed(out, set);
    write_memory(out, set);
    write_gpus(out, set);
    write_nics(out, set, "node_infiniband_port_data_transmitted_bytes", "out", "Sent by the NIC in one step, payload.");
    write_nics(out, set, "node_infiniband_port_data_received_bytes", "in", "Received by the NIC in one step, payload.");
    fputs("# EOF\n", out);
}
