#include "models/hardware/storage_units.h"

int storage_usual_units(const StorageType *storage, int gpus) {
    if (!storage->shared || storage->unit_gpus <= 0 || gpus <= storage->unit_gpus) return 1;
    int units = (gpus - 1) / storage->unit_gpus + 1;
    return units < STORAGE_MOST_UNITS ? units : STORAGE_MOST_UNITS;
}

double storage_paid_units(const StorageType *storage, int units, int gpus) {
    if (!storage->shared || storage->unit_gpus <= 0) return units;
    return (double)units * gpus / (storage_usual_units(storage, gpus) * storage->unit_gpus);
}

const StorageType *storage_of_units(Arena *arena, const StorageType *storage, int units, int gpus) {
    if (units <= 0) units = storage_usual_units(storage, gpus);
    if (units == 1 || !storage->shared) return storage;
    StorageType *all = ARENA_NEW(arena, StorageType);
    *all = *storage;
    all->read_bytes_per_second *= units;
    all->write_bytes_per_second *= units;
    all->unit_usd_per_hour *= units;
    all->unit_gpus *= units;
    return all;
}

bool storage_takes_units(const StorageType *storage, int64_t units, Where where, Problems *problems) {
    if (units < 1 || units > STORAGE_MOST_UNITS) {
        problem_add(problems, where, "%lld units of storage cannot be meant", (long long)units);
        problem_hint(problems, "from 1 to %d", STORAGE_MOST_UNITS);
        return false;
    }
    if (storage->shared) return true;
    problem_add(problems, where, "%s lies in each node, and is not bought in units", storage->name);
    problem_hint(problems, "leave the units out, or take shared storage (lockstep hw list storage)");
    return false;
}

const char *storage_unit_name(const StorageType *storage) { return storage->unit ? storage->unit : "server"; }
