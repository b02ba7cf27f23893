// NVML for the emulated GPU: its names, and figures that a test knows again.
#include <cstdio>
#include <cstring>

enum { OK = 0, INVALID = 2, NOT_SUPPORTED = 3 };
static int devices[16];

static int which(void *device) { return (int)((int *)device - devices); }

extern "C" {
int nvmlInit_v2() { return OK; }
int nvmlShutdown() { return OK; }
int nvmlDeviceGetHandleByPciBusId_v2(const char *bus_id, void **device) {
    unsigned bus = 0;
    if (sscanf(bus_id, "0000:%x:00.0", &bus) != 1 || bus < 1 || bus > 16) return INVALID;
    *device = &devices[bus - 1];
    return OK;
}
int nvmlSystemGetDriverVersion(char *text, unsigned bytes) {
    snprintf(text, bytes, "550.0.emulated");
    return OK;
}
int nvmlDeviceGetClockInfo(void *device, int clock, unsigned *megahertz) {
    *megahertz = clock == 1 ? 1700u + (unsigned)which(device) : 2600;
    return clock == 1 || clock == 2 ? OK : INVALID;
}
int nvmlDeviceGetMaxClockInfo(void *, int clock, unsigned *megahertz) {
    *megahertz = clock == 1 ? 1980 : 2619;
    return clock == 1 || clock == 2 ? OK : INVALID;
}
int nvmlDeviceGetPowerUsage(void *, unsigned *milliwatts) {
    *milliwatts = 300000;
    return OK;
}
int nvmlDeviceGetEnforcedPowerLimit(void *, unsigned *milliwatts) {
    *milliwatts = 700000;
    return OK;
}
int nvmlDeviceGetTemperature(void *, int sensor, unsigned *celsius) {
    *celsius = 45;
    return sensor == 0 ? OK : INVALID;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void *, unsigned long long *bits) {
    *bits = 4;
    return OK;
}
int nvmlDeviceGetMaxPcieLinkGeneration(void *, unsigned *value) {
    *value = 5;
    return OK;
}
int nvmlDeviceGetMaxPcieLinkWidth(void *, unsigned *value) {
    *value = 16;
    return OK;
}
struct Field { // as the manual lays it out: 40 bytes
    unsigned id, scope;
    long long timestamp, latency;
    unsigned type, status;
    union {
        double real;
        unsigned whole;
    } value;
};
int nvmlDeviceGetFieldValues(void *, int count, Field *fields) {
    for (int i = 0; i < count; i++) {
        fields[i].status = fields[i].id == 186 ? OK : NOT_SUPPORTED;
        fields[i].type = 1;
        fields[i].value.whole = 512000;
    }
    return OK;
}
}
