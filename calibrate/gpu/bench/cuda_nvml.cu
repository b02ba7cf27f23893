// Clocks, power and temperature through NVML, which comes with the driver and is loaded at run time, so that a build
// needs no NVML. Without it the sensors return 0.
#include "calibrate/gpu/bench/cuda_layer.h"

#include <dlfcn.h>
#include <string.h>

// From nvml.h, whose numbers do not change.
typedef int (*NvmlCall)(void);
typedef int (*NvmlByBus)(const char *bus_id, void **device);
typedef int (*NvmlClock)(void *device, int which, unsigned *megahertz);
typedef int (*NvmlNumber)(void *device, unsigned *value);
typedef int (*NvmlTemperature)(void *device, int which, unsigned *celsius);
typedef int (*NvmlReasons)(void *device, unsigned long long *bits);
typedef int (*NvmlVersion)(char *text, unsigned text_bytes);
// A field's value, as nvmlDeviceGetFieldValues takes a list of them.
typedef struct NvmlField {
    unsigned id, scope;
    long long timestamp, latency;
    int value_type, status;
    union {
        double real;
        unsigned whole;
        unsigned long long wide;
    } value;
} NvmlField;
typedef int (*NvmlFields)(void *device, int count, NvmlField *fields);
enum { POWER_INSTANT = 186, VALUE_UNSIGNED = 1 };
enum { CLOCK_SM = 1, CLOCK_MEMORY = 2, TEMPERATURE_GPU = 0 };

static struct {
    void *handle, *device;
    NvmlClock clock, most_clock;
    NvmlNumber watts, limit;
    NvmlTemperature celsius;
    NvmlReasons reasons;
    NvmlFields fields;
    NvmlCall shut_down;
} nvml;

void nvml_open(const char *bus_id, BenchMachine *machine) {
    unsigned number = 0;
    char driver[32] = "";
    memset(&nvml, 0, sizeof nvml);
    nvml.handle = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    if (!nvml.handle) return;
    NvmlCall start = (NvmlCall)dlsym(nvml.handle, "nvmlInit_v2");
    NvmlByBus by_bus = (NvmlByBus)dlsym(nvml.handle, "nvmlDeviceGetHandleByPciBusId_v2");
    NvmlNumber generation = (NvmlNumber)dlsym(nvml.handle, "nvmlDeviceGetMaxPcieLinkGeneration");
    NvmlNumber lanes = (NvmlNumber)dlsym(nvml.handle, "nvmlDeviceGetMaxPcieLinkWidth");
    NvmlVersion version = (NvmlVersion)dlsym(nvml.handle, "nvmlSystemGetDriverVersion");
    nvml.clock = (NvmlClock)dlsym(nvml.handle, "nvmlDeviceGetClockInfo");
    nvml.most_clock = (NvmlClock)dlsym(nvml.handle, "nvmlDeviceGetMaxClockInfo");
    nvml.watts = (NvmlNumber)dlsym(nvml.handle, "nvmlDeviceGetPowerUsage");
    nvml.limit = (NvmlNumber)dlsym(nvml.handle, "nvmlDeviceGetEnforcedPowerLimit");
    nvml.celsius = (NvmlTemperature)dlsym(nvml.handle, "nvmlDeviceGetTemperature");
    nvml.reasons = (NvmlReasons)dlsym(nvml.handle, "nvmlDeviceGetCurrentClocksThrottleReasons");
    nvml.fields = (NvmlFields)dlsym(nvml.handle, "nvmlDeviceGetFieldValues");
    nvml.shut_down = (NvmlCall)dlsym(nvml.handle, "nvmlShutdown");
    if (!start || !by_bus || start() != 0 || by_bus(bus_id, &nvml.device) != 0) {
        nvml.device = NULL;
        return;
    }
    if (version && version(driver, sizeof driver) == 0) snprintf(machine->driver, sizeof machine->driver, "%s", driver);
    if (nvml.most_clock && nvml.most_clock(nvml.device, CLOCK_SM, &number) == 0) machine->max_sm_mhz = (int)number;
    if (nvml.most_clock && nvml.most_clock(nvml.device, CLOCK_MEMORY, &number) == 0)
        machine->max_memory_mhz = (int)number;
    if (generation && generation(nvml.device, &number) == 0) machine->pcie_generation = (int)number;
    if (lanes && lanes(nvml.device, &number) == 0) machine->pcie_lanes = (int)number;
    if (nvml.limit && nvml.limit(nvml.device, &number) == 0) machine->power_limit_watts = 1e-3 * number;
}

// Since Ampere the plain call returns the mean over a second, longer than most cases run. 0: not available.
static double watts_at_once(void) {
    NvmlField field = {POWER_INSTANT, 0, 0, 0, 0, 0, {0}};
    if (!nvml.fields || nvml.fields(nvml.device, 1, &field) != 0 || field.status != 0) return 0;
    return field.value_type == VALUE_UNSIGNED ? 1e-3 * field.value.whole : 0;
}

void nvml_sensors(BenchSensors *sensors) {
    unsigned number = 0;
    unsigned long long bits = 0;
    if (!nvml.device) return;
    if (nvml.clock && nvml.clock(nvml.device, CLOCK_SM, &number) == 0) sensors->sm_mhz = number;
    if (nvml.clock && nvml.clock(nvml.device, CLOCK_MEMORY, &number) == 0) sensors->memory_mhz = number;
    sensors->watts = watts_at_once();
    if (sensors->watts == 0 && nvml.watts && nvml.watts(nvml.device, &number) == 0) sensors->watts = 1e-3 * number;
    if (nvml.celsius && nvml.celsius(nvml.device, TEMPERATURE_GPU, &number) == 0) sensors->celsius = number;
    if (nvml.reasons && nvml.reasons(nvml.device, &bits) == 0) sensors->throttle = bits;
}

void nvml_close(void) {
    if (nvml.device && nvml.shut_down) nvml.shut_down();
    if (nvml.handle) dlclose(nvml.handle);
    memset(&nvml, 0, sizeof nvml);
}
