// Parsing of Slurm's resources and times.
#include "models/workload/queue/queue_slurm.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GPU_WORD "gres/gpu"
#define MIG_SEVENTHS 7.0

// After "gres/gpu:": "2g.20gb=1" is a slice of two sevenths, anything else a type of GPU.
static double part_of_gpu(const char *type) {
    if (*type < '1' || *type > '7' || type[1] != 'g' || type[2] != '.') return 1;
    return (*type - '0') / MIG_SEVENTHS;
}

bool slurm_gpus(const char *tres, double *gpus) {
    double all = 0, typed = 0;
    for (const char *at = tres; *at;) {
        size_t length = strcspn(at, ",");
        const char *equals = memchr(at, '=', length);
        bool is_gpu = length > sizeof GPU_WORD && strncmp(at, GPU_WORD, sizeof GPU_WORD - 1) == 0;
        char after = is_gpu ? at[sizeof GPU_WORD - 1] : '\0';
        if (equals && (after == '=' || after == ':')) {
            char *end;
            double number = strtod(equals + 1, &end);
            if (end != at + length || !(number >= 0 && number <= 1e6)) return false;
            *(after == '=' ? &all : &typed) += number * (after == ':' ? part_of_gpu(at + sizeof GPU_WORD) : 1);
        }
        at += length + (at[length] == ',');
    }
    // Of MIG devices the sum over types is less than their number, and more precise.
    *gpus = typed > 0 && typed < all ? typed : all > 0 ? all : typed;
    return true;
}

bool slurm_seconds(const char *text, double *seconds) {
    double parts[4] = {0}, days = 0;
    int count = 0;
    const char *at = text;
    for (bool more = true; more;) {
        char *end;
        if (!isdigit((unsigned char)*at) || count == 4) return false;
        parts[count++] = strtod(at, &end);
        if (*end == '-' && count == 1) {
            days = parts[0];
            count = 0;
            at = end + 1;
            if (*at == '\0') return false;
            continue;
        }
        more = *end == ':';
        if (!more && *end != '\0') return false;
        at = end + 1;
    }
    bool with_days = strchr(text, '-') != NULL;
    if (count > 3) return false;
    double unit = with_days ? 3600 : count == 3 ? 3600 : 60; // of the first part
    *seconds = days * 86400;
    for (int i = 0; i < count; i++, unit /= 60) *seconds += parts[i] * unit;
    return isfinite(*seconds);
}

bool slurm_is_step(const char *job_id) { return strchr(job_id, '.') != NULL; }
