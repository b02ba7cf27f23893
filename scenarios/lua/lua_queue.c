// sim.queue: jobs that share a cluster.
#include <math.h>
#include <string.h>

#include "scenarios/lua/lua_script.h"
#include "scenarios/queue/queue_study.h"

static bool complain(Script *script, Where where, const char *what, const char *hint) {
    problem_add(script->problems, where, "%s", what);
    return problem_hint(script->problems, "%s", hint);
}

// ---- The cluster.

static bool set_cluster(Script *script, QueueStudy *study, const Object *object) {
    const ClusterSpec *cluster = handle_value(object, "on");
    const NodeGroup *group = &cluster->groups[0];
    int per_node = group->type->gpu_count;
    if (cluster->group_count > 1)
        return complain(script, object->where, "sim.queue takes a cluster of one type of node", "one queue for each");
    if (per_node > QUEUE_MOST_GPUS_PER_NODE)
        return complain(script, object->where, "such a node has too many GPUs to be shared by jobs", "at most 64");
    study->node_name = group->type->name;
    study->spec.gpus_per_node = per_node;
    study->spec.nodes = (group->gpus + per_node - 1) / per_node;
    bool tree = cluster->layout ? cluster->layout->kind == FABRIC_FAT_TREE : cluster->fabric == FABRIC_FAT_TREE;
    int per_leaf = cluster->layout ? cluster->layout->nodes_per_leaf : cluster->nodes_per_leaf;
    study->spec.nodes_per_leaf = tree ? (per_leaf > 0 ? per_leaf : 32) : 0;
    if (cluster->faults) {
        study->rates =
            cluster->faults->rates ? cluster->faults->rates : catalogue_faults(script->catalogue, FAULTS_USUAL);
        study->spec.faults = queue_faults(script->arena, cluster->faults, study->rates, group->type);
        study->spec.restart_s =
            cluster->faults->restart_s > 0 ? cluster->faults->restart_s : study->spec.faults->restart_s;
    }
    return true;
}

static bool set_run(Script *script, QueueStudy *study, const Object *object) {
    const Job *job = handle_value(object, "run");
    const ClusterSpec *cluster = handle_value(object, "on");
    if (!job) return true;
    GpuTypes gpus = cluster_gpu_types(script->arena, script->catalogue, cluster);
    TrainingSpec training = job_make(script->arena, &job->said, gpus, script->problems);
    if (!cluster->link && (study->spec.nodes > 1 || object_has(object, "goal")))
        return complain(script, object_value(object, "run")->where,
                        "no fabric joins the nodes that a job is spread over",
                        "add fabric = \"ib-ndr400\" or another of `lockstep hw list fabric` to the cluster");
    study->model = training.model->name;
    study->spec.network = queue_network_create(script->arena, script->catalogue, cluster, &training);
    return true;
}

// ---- The jobs.

static int user_of(const char **names, int *count, const char *name) {
    for (int i = 0; i < *count; i++)
        if (strcmp(names[i], name) == 0) return i;
    names[*count] = name;
    return (*count)++;
}

static void set_list(Script *script, QueueStudy *study, const Value *list) {
    QueueJob *jobs = ARENA_ARRAY(script->arena, QueueJob, list->count);
    const char **users = ARENA_ARRAY(script->arena, const char *, list->count);
    int user_count = 0;
    for (int i = 0; i < list->count; i++) {
        const Object *said = list->items[i].table;
        double seconds = object_number(said, "duration", 1);
        jobs[i] = (QueueJob){.arrival = queue_ticks(object_number(said, "submit", 0)),
                             .work = queue_ticks(seconds),
                             .estimate = queue_ticks(object_number(said, "estimate", seconds)),
                             .gpus = object_int(said, "gpus", 1),
                             .user = user_of(users, &user_count, object_text(said, "user")),
                             .priority = object_int(said, "priority", 0),
                             .row = i};
        if (object_has(said, "share"))
            jobs[i].share = (int32_t)(object_number(said, "share", 1) * QUEUE_WHOLE_SHARE + 0.5);
        if (jobs[i].share > 0 && jobs[i].gpus != 1)
            complain(script, said->where, "a share is of one GPU, and the job asks for several", "gpus = 1");
    }
    study->list = queue_jobs_sorted(script->arena, jobs, list->count, user_count, users);
}

static bool set_demand(Script *script, QueueStudy *study, const Object *said) {
    QueueDemand *demand = &study->demand;
    const char *sizes = object_text(said, "sizes"), *durations = object_text(said, "durations");
    study->mix = &queue_mixes[object_value(said, "mix")->choice];
    demand->sizes = mix_sizes(study->mix);
    demand->durations = mix_durations(study->mix);
    bool sound = true;
    if (sizes) sound = sizes_from_text(sizes, object_value(said, "sizes")->where, &demand->sizes, script->problems);
    if (durations)
        sound = durations_from_text(durations, object_value(said, "durations")->where, &demand->durations,
                                    script->problems) &&
                sound;
    if (sizes && durations) study->mix = NULL;
    demand->jobs = object_int(said, "count", 1);
    study->lengthens = !object_has(said, "count") && !study->find;
    demand->users = object_int(said, "users", 1);
    demand->burstiness = object_number(said, "burstiness", 1);
    demand->urgent_share = object_number(said, "urgent_share", 0);
    demand->estimate_error = object_number(said, "estimate_error", 0);
    study->load = object_number(said, "load", 0);
    demand->per_second = object_number(said, "per_hour", 0) / 3600;
    if (study->load > 0 && demand->per_second > 0)
        return complain(script, said->where, "load and per_hour say the same", "give one of them");
    return sound;
}

static bool set_trace(lua_State *L, QueueStudy *study, const Object *object) {
    Script *script = script_of(L);
    study->trace = queue_read_gated_trace(script->arena, script->host->gate, object_text(object, "trace"),
                                          object_value(object, "trace")->where, script->problems);
    return study->trace != NULL;
}

static bool set_jobs(lua_State *L, QueueStudy *study, const Object *object) {
    Script *script = script_of(L);
    bool list = object_value(object, "jobs")->count > 0, trace = object_has(object, "trace");
    const Object *demand = object_table(object, "demand");
    if (list + trace + (demand != NULL) != 1)
        return complain(script, object->where, "sim.queue takes its jobs from one of demand, jobs and trace",
                        "for example: demand = { mix = \"gavel\", load = 0.9 }");
    study->spec.warm_up = object_number(object, "warm_up", demand ? 0.1 : 0);
    study->warm_up_said = object_has(object, "warm_up");
    study->precision = object_number(object, "within", QUEUE_USUAL_PRECISION);
    study->most_runs = object_has(object, "within") ? QUEUE_MOST_RUNS : QUEUE_USUAL_RUNS;
    if (object_has(object, "within") && ((demand && object_has(demand, "count")) || object_has(object, "goal")))
        return complain(script, object->where, "within is met by longer runs, and count or goal fixes their length",
                        "leave one of them out");
    if (trace) return set_trace(L, study, object);
    if (demand) return set_demand(script, study, demand);
    set_list(script, study, object_value(object, "jobs"));
    return true;
}

// ---- The question.

static bool set_goal(Script *script, QueueStudy *study, const Object *said) {
    int given = 0;
    if (!said) return true;
    for (int i = 0; i < queue_goal_count; i++) {
        if (!object_has(said, queue_goals[i].field)) continue;
        study->goal.quantile = queue_goals[i].quantile;
        study->goal.wait_s = object_number(said, queue_goals[i].field, 0);
        given++;
    }
    study->find = true;
    study->goal.chance = object_number(said, "chance", QUEUE_USUAL_CHANCE);
    study->goal.most_nodes = object_int(said, "most_gpus", 1) / study->spec.gpus_per_node;
    return given == 1 ||
           complain(script, said->where, given ? "two goals are one too many" : "a goal says how long jobs may wait",
                    "for example: goal = { wait_p95 = \"1 h\" }");
}

static void set_policies(Script *script, QueueStudy *study, const Value *policies) {
    for (int i = 0; i < policies->count; i++)
        queue_add_policy(study, policies->items[i].text, policies->items[i].where, script->problems);
    for (int i = 0; i < queue_policy_count && policies->count == 0 && !study->find; i++)
        study->policies[study->policy_count++] = &queue_policies[i];
}

// Quotas, weights, elastic jobs: once the jobs are known.
static bool set_rules(Script *script, QueueStudy *study, const Object *object) {
    study->elastic = object_number(object, "elastic", 0);
    study->spec.scaling = object_number(object, "scaling", QUEUE_USUAL_SCALING);
    bool sound = true;
    if (object_has(object, "weights"))
        sound = queue_weights_from_text(object_text(object, "weights"), object_value(object, "weights")->where,
                                        &study->spec.weights, script->problems);
    if (object_has(object, "quota"))
        sound = queue_set_quotas(script->arena, study, object_text(object, "quota"), script->problems) && sound;
    return sound;
}

static QueueStudy *queue_of(lua_State *L, const Object *object) {
    Script *script = script_of(L);
    QueueStudy *study = ARENA_NEW(script->arena, QueueStudy);
    *study = (QueueStudy){.where = object->where,
                          .title = object_text(object, "title"),
                          .scenario = script->request->file,
                          .seeds = object_int(object, "seeds", 5),
                          .seed = script->request->seed};
    if (!set_cluster(script, study, object)) return NULL;
    study->spec.placement = (QueuePlacement)object_value(object, "placement")->choice;
    study->spec.depth = object_int(object, "depth", QUEUE_USUAL_DEPTH);
    study->spec.half_life_s = object_number(object, "half_life", 0);
    study->spec.checkpoint_every_s = object_number(object, "checkpoint_every", 0);
    study->spec.checkpoint_s = object_number(object, "checkpoint_cost", 0);
    study->spec.restart_s = object_number(object, "restart", study->spec.restart_s);
    study->notes = read_texts(L, object, "notes", &study->note_count);
    bool sound = set_run(script, study, object) && set_goal(script, study, object_table(object, "goal")) &&
                 set_jobs(L, study, object);
    set_policies(script, study, object_value(object, "policy"));
    sound = sound && set_rules(script, study, object);
    return sound && queue_study_ready(study, script->problems) ? study : NULL;
}

static int sim_queue(lua_State *L) {
    Object object = read_call(L, 1, OBJECT_QUEUE);
    handle_push(L, HANDLE_QUEUE, object.sound ? queue_of(L, &object) : NULL, object.where);
    return 1;
}

const luaL_Reg queue_functions[] = {{"queue", sim_queue}, {NULL, NULL}};
