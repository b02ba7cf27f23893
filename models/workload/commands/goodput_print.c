// The answer of `lockstep goodput`: a screen and JSON.
#include <math.h>
#include <stdio.h>

#include "models/workload/commands/command_internal.h"
#include "models/workload/commands/goodput.h"
#include "sim/envelope.h"

static const char *span(const GoodputAsked *asked, double seconds) {
    return quantity_format(seconds, QUANTITY_TIME, arena_alloc(asked->arena, 64), 64);
}

static double mtbf(const GoodputAsked *asked) {
    double rate = life_unplanned_rate(&asked->spec);
    return rate > 0 ? 1 / rate : 0;
}

static void print_head(const GoodputAsked *asked) {
    const LifeSpec *spec = &asked->spec;
    printf("Job         %d GPUs in %d %s, %d spare node%s; %s%s; %d simulated runs\n", asked->gpus, spec->nodes,
           asked->node->name, spec->spares, spec->spares == 1 ? "" : "s", span(asked, spec->horizon_s + spec->work_s),
           spec->work_s > 0 ? " of training to do" : " of calendar", asked->runs);
    printf("Failures    %s: %s%s\n", asked->rates->name, asked->rates->title,
           asked->own_mtbf ? "; scaled to the --node-mtbf given" : "");
    if (asked->spec.least_replicas > 0)
        printf("Elastic     %d to %d replicas of %d nodes\n", spec->least_replicas,
               spec->nodes / spec->nodes_per_replica, spec->nodes_per_replica);
}

// "16 x superpod-storage"
static const char *storage_text(const GoodputAsked *asked) {
    const char *name = asked->storage->name;
    return asked->storage_units > 1 ? arena_printf(asked->arena, "%d x %s", asked->storage_units, name) : name;
}

static StorageLack lack_of(const GoodputAsked *asked) {
    if (asked->bytes <= 0) return (StorageLack){0};
    return storage_lack(&asked->spec.checkpoint, asked->bytes, asked->spec.nodes, asked->node, asked->storage,
                        asked->storage_units, mtbf(asked));
}

static void print_checkpoint(const GoodputAsked *asked) {
    const CheckpointPlan *plan = &asked->spec.checkpoint;
    printf("Checkpoint  %s, every %s%s; training stands still %s", checkpoint_mode_names[plan->mode],
           span(asked, plan->every_s), asked->interval_found ? " (the best, by simulation)" : "",
           span(asked, plan->stall_s));
    if (plan->mode != CHECKPOINT_SYNC) printf(", written in %s behind it", span(asked, plan->write_s));
    if (asked->bytes > 0)
        printf("; %s to %s", quantity_format(asked->bytes, QUANTITY_BYTES, arena_alloc(asked->arena, 64), 64),
               storage_text(asked));
    printf("\n");
    if (plan->mode == CHECKPOINT_SYNC && mtbf(asked) > 0 && plan->stall_s > 0)
        printf("            best interval after Young %s, Daly %s\n",
               span(asked, young_interval(plan->stall_s, mtbf(asked))),
               span(asked, daly_interval(plan->stall_s, mtbf(asked))));
}

static double chance_by(const GoodputAsked *asked, const LifeStudy *study) {
    int kept = 0;
    for (int i = 0; i < study->runs; i++) kept += study->run_days[i] * 86400 <= asked->by_s;
    return (double)kept / study->runs;
}

static void print_answer(const GoodputAsked *asked, const LifeStudy *study) {
    printf("\nGoodput     %.1f %%   mean of the runs; half of them have more than %.1f %%, 90 %% of them %.1f to %.1f "
           "%%\n",
           100 * study->goodput.mean, 100 * study->goodput.p50, 100 * study->goodput.p5, 100 * study->goodput.p95);
    if (study->share[LIFE_SLOW] + study->share[LIFE_SHRUNK] > 0.00005)
        printf("Effective   %.1f %%   the same with slow nodes and missing replicas counted as training\n",
               100 * study->ettr.mean);
    if (asked->spec.work_s > 0) {
        printf("Days        %.2f     90 %% of runs: %.2f to %.2f\n", study->days.mean, study->days.p5, study->days.p95);
        if (asked->by_s > 0)
            printf("By %-8s %.1f %% of runs are done\n", span(asked, asked->by_s), 100 * chance_by(asked, study));
        if (study->unfinished > 0)
            printf("!           %d of %d runs had not finished after %.0f days and count as that long\n",
                   study->unfinished, study->runs, study->days.max);
    }
    printf("Stops       %.1f unplanned   90 %% of runs: %.0f to %.0f", study->stops.mean, study->stops.p5,
           study->stops.p95);
    if (study->mttf_s > 0) printf("   one in %s", span(asked, study->mttf_s));
    printf("\n\nWhere time goes\n");
    for (int i = 0; i < LIFE_TIME_COUNT; i++)
        if (study->share[i] >= 0.00005) printf("  %-24s %6.2f %%\n", life_time_titles[i], 100 * study->share[i]);
}

static void print_causes(const LifeStudy *study) {
    printf("\n%-33s %10s %10s\n", "What stops the job", "per run", "time lost");
    for (int i = 0; i < LIFE_CAUSE_COUNT; i++)
        if (study->stops_mean[i] >= 0.0005)
            printf("  %-31s %10.3g %8.2f %%\n", life_cause_title(i), study->stops_mean[i], 100 * study->lost_share[i]);
}

void goodput_print(const GoodputAsked *asked, const LifeStudy *study) {
    print_head(asked);
    print_checkpoint(asked);
    print_answer(asked, study);
    print_causes(study);
    printf("\n");
    if (asked->bytes <= 0)
        printf("! A checkpoint is assumed to take 30 s: say --model and --storage, or --checkpoint-stall.\n");
    StorageLack lack = lack_of(asked);
    const char *lacks = storage_lack_text(asked->arena, &lack, asked->storage);
    if (lacks) printf("! %s\n", lacks);
    if (asked->spec.fleet_spread > 0)
        printf("! Another fleet's rates: fleets differ by a factor of about %.1f either way (sd %.2f of the log), "
               "which the\n"
               "  ranges hold. Your own: --node-mtbf, or --fleet-spread 0 when these are yours.\n",
               1 + asked->spec.fleet_spread + asked->spec.fleet_spread * asked->spec.fleet_spread / 2,
               asked->spec.fleet_spread);
    printf("lockstep hw show %s says where each rate is from.   digest %016llx\n", asked->rates->name,
           (unsigned long long)study->digest);
}

// ---- JSON.

static void range(JsonWriter *json, const char *key, const Summary *summary) {
    json_key(json, key);
    json_begin_object(json);
    write_number(json, "mean", summary->mean);
    write_number(json, "p5", summary->p5);
    write_number(json, "p50", summary->p50);
    write_number(json, "p95", summary->p95);
    json_end_object(json);
}

static void storage_json(JsonWriter *json, const GoodputAsked *asked) {
    StorageLack lack = lack_of(asked);
    write_text(json, "storage", asked->storage->name);
    write_integer(json, "storage_units", asked->storage_units);
    write_number(json, "storage_bytes_per_second", lack.bytes_per_second);
    write_number(json, "least_loss", lack.loss);
    if (lack.needed > 0 && isfinite(lack.needed)) write_number(json, "storage_lacks_bytes_per_second", lack.needed);
}

static void checkpoint_json(JsonWriter *json, const GoodputAsked *asked) {
    const CheckpointPlan *plan = &asked->spec.checkpoint;
    json_key(json, "checkpoint");
    json_begin_object(json);
    write_text(json, "mode", checkpoint_mode_names[plan->mode]);
    write_number(json, "every_s", plan->every_s);
    write_number(json, "stall_s", plan->stall_s);
    write_number(json, "write_s", plan->mode == CHECKPOINT_SYNC ? plan->stall_s : plan->write_s);
    write_number(json, "reload_s", plan->reload_s);
    if (asked->bytes > 0) write_number(json, "bytes", asked->bytes);
    if (asked->best_s > 0) write_number(json, "best_every_s", asked->best_s);
    if (asked->bytes > 0) storage_json(json, asked);
    if (mtbf(asked) > 0 && plan->stall_s > 0) {
        write_number(json, "young_s", young_interval(plan->stall_s, mtbf(asked)));
        write_number(json, "daly_s", daly_interval(plan->stall_s, mtbf(asked)));
    }
    json_end_object(json);
}

static void causes_json(JsonWriter *json, const LifeStudy *study) {
    json_key(json, "time");
    json_begin_object(json);
    for (int i = 0; i < LIFE_TIME_COUNT; i++) write_number(json, life_time_names[i], study->share[i]);
    json_end_object(json);
    json_key(json, "causes");
    json_begin_list(json);
    for (int i = 0; i < LIFE_CAUSE_COUNT; i++) {
        if (!(study->stops_mean[i] > 0)) continue;
        json_begin_object(json);
        write_text(json, "name", life_cause_name(i));
        write_bool(json, "planned", i >= LIFE_UNPLANNED_COUNT);
        write_number(json, "stops", study->stops_mean[i]);
        write_number(json, "lost_share", study->lost_share[i]);
        json_end_object(json);
    }
    json_end_list(json);
}

static void assumptions_json(JsonWriter *json, const FaultRates *rates) {
    json_key(json, "assumptions");
    json_begin_list(json);
    for (int i = 0; i < rates->fact_count; i++) {
        const Fact *fact = &rates->facts[i];
        json_begin_object(json);
        write_text(json, "name", fact->name);
        write_number(json, "value", fact->value);
        write_text(json, "unit", fact->unit);
        write_text(json, "source", fact->source);
        write_text(json, "kind", fact_kind_name(fact->kind));
        if (fact->sigma > 0) write_number(json, "relative_sigma", fact->sigma);
        json_end_object(json);
    }
    json_end_list(json);
}

static void job_json(JsonWriter *json, const GoodputAsked *asked) {
    envelope_write(json, "goodput");
    write_integer(json, "gpus", asked->gpus);
    write_integer(json, "nodes", asked->spec.nodes);
    write_integer(json, "spares", asked->spec.spares);
    write_text(json, "node", asked->node->name);
    write_text(json, "rates", asked->rates->name);
}

void goodput_print_nothing(const GoodputAsked *asked, const char *why, bool as_json) {
    if (!as_json) {
        print_head(asked);
        printf("\nGoodput     0 %%   %s\n", why);
        return;
    }
    JsonWriter json = json_writer(stdout, 2);
    Summary none = {0};
    json_begin_object(&json);
    job_json(&json, asked);
    write_integer(&json, "runs", 0);
    range(&json, "goodput", &none);
    write_text(&json, "why", why);
    assumptions_json(&json, asked->rates);
    json_end_object(&json);
    printf("\n");
}

void goodput_print_json(const GoodputAsked *asked, const LifeStudy *study) {
    JsonWriter json = json_writer(stdout, 2);
    json_begin_object(&json);
    job_json(&json, asked);
    write_integer(&json, "runs", study->runs);
    write_integer(&json, "unfinished", study->unfinished);
    range(&json, "goodput", &study->goodput);
    range(&json, "effective_training_time", &study->ettr);
    range(&json, "days", &study->days);
    range(&json, "unplanned_stops", &study->stops);
    if (study->mttf_s > 0) write_number(&json, "mttf_s", study->mttf_s);
    if (asked->by_s > 0) write_number(&json, "chance_by", chance_by(asked, study));
    causes_json(&json, study);
    checkpoint_json(&json, asked);
    assumptions_json(&json, asked->rates);
    write_text(&json, "digest", arena_printf(asked->arena, "%016llx", (unsigned long long)study->digest));
    json_end_object(&json);
    printf("\n");
}
