// Shards count from 1 in user input, from 0 internally. A job that runs out of its time exits with 75 and is
// requeued; its store has the finished points.
#include "scenarios/sweep/sweep_batch.h"

#include <stdlib.h>
#include <string.h>

static bool whole(const char *text, char stop, const char **rest, long *number) {
    char *end;
    *number = text && *text >= '0' && *text <= '9' ? strtol(text, &end, 10) : -1;
    if (*number < 0 || *number > 1000000 || *end != stop) return false;
    *rest = end + (stop != '\0');
    return true;
}

static bool from_slurm(int *shard, int *count, Problems *problems) {
    const char *rest, *first = getenv("SLURM_ARRAY_TASK_MIN");
    long id, min, jobs;
    bool ok = whole(getenv("SLURM_ARRAY_TASK_ID"), '\0', &rest, &id) &&
              whole(getenv("SLURM_ARRAY_TASK_COUNT"), '\0', &rest, &jobs) &&
              whole(first ? first : "0", '\0', &rest, &min);
    if (!ok || id < min || id - min >= jobs) {
        problem_add(problems, (Where){"--shard auto", 0}, "this is no job of a Slurm array");
        problem_hint(problems,
                     "SLURM_ARRAY_TASK_ID and SLURM_ARRAY_TASK_COUNT are needed, with ids one after the "
                     "other; or say --shard 1/%d",
                     4);
        return false;
    }
    *shard = (int)(id - min);
    *count = (int)jobs;
    return true;
}

bool shard_read(const char *text, int *shard, int *count, Problems *problems) {
    const char *rest;
    long which, of;
    if (strcmp(text, "auto") == 0) return from_slurm(shard, count, problems);
    if (whole(text, '/', &rest, &which) && whole(rest, '\0', &rest, &of) && which >= 1 && which <= of) {
        *shard = (int)which - 1;
        *count = (int)of;
        return true;
    }
    problem_add(problems, (Where){0}, "--shard %.40s is no shard", text);
    problem_hint(problems, "1/4 to 4/4 are the four quarters; auto asks Slurm");
    return false;
}

const char *shard_path(Arena *arena, const char *store, int shard, int count) {
    const char *slash = strrchr(store, '/'), *dot = strrchr(store, '.');
    bool has_dot = dot && (!slash || dot > slash + 1) && dot != store;
    int length = has_dot ? (int)(dot - store) : (int)strlen(store);
    return arena_printf(arena, "%.*s.%d-of-%d%s", length, store, shard + 1, count, has_dot ? dot : "");
}

// For a shell: in quotes unless it is plain.
static const char *quoted(Arena *arena, const char *text) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+@%";
    if (*text && text[strspn(text, plain)] == '\0') return text;
    const char *made = "'";
    for (; *text; text++)
        made = *text == '\'' ? arena_printf(arena, "%s'\\''", made) : arena_printf(arena, "%s%c", made, *text);
    return arena_printf(arena, "%s'", made);
}

static bool is_left_out(const char *argument, bool *next_too) {
    static const char *const names[] = {"--emit-sbatch", "--shard", "--jobs"};
    *next_too = strcmp(argument, "-j") == 0;
    if (strncmp(argument, "-j", 2) == 0) return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t length = strlen(names[i]);
        if (strncmp(argument, names[i], length) != 0) continue;
        *next_too = argument[length] == '\0';
        if (*next_too || argument[length] == '=') return true;
    }
    return false;
}

const char *batch_text(Arena *arena, int argc, char **argv, const char *store, int jobs_of_array) {
    const char *line = "";
    for (int i = 1; i < argc; i++) {
        bool next_too = false;
        if (is_left_out(argv[i], &next_too))
            i += next_too;
        else
            line = arena_printf(arena, "%s %s", line, quoted(arena, argv[i]));
    }
    const char *of = arena_printf(arena, "-of-%d", jobs_of_array);
    const char *name = shard_path(arena, store, 0, jobs_of_array), *at = strstr(name, arena_printf(arena, ".1%s", of));
    const char *pattern =
        at ? arena_printf(arena, "%s.*%s", quoted(arena, arena_printf(arena, "%.*s", (int)(at - name), name)), at + 2)
           : name;
    return arena_printf(
        arena,
        "#!/bin/bash\n"
        "#SBATCH --job-name=lockstep-sweep\n"
        "#SBATCH --array=1-%d\n"
        "#SBATCH --ntasks=1\n"
        "#SBATCH --cpus-per-task=4\n"
        "#SBATCH --mem-per-cpu=2G\n"
        "#SBATCH --time=04:00:00\n"
        "#SBATCH --signal=B:USR1@120\n"
        "#SBATCH --requeue\n"
        "#SBATCH --open-mode=append\n"
        "# When all have ended: lockstep merge %s %s\n"
        "\n"
        "lockstep sweep%s --shard auto -j \"${SLURM_CPUS_PER_TASK:-1}\" &\n"
        "sweep=$!\n"
        "trap 'kill -TERM \"$sweep\" 2>/dev/null' USR1 TERM\n"
        "wait \"$sweep\"; status=$?\n"
        "if [ \"$status\" -gt 128 ]; then wait \"$sweep\"; status=$?; fi # the first was ended by the signal\n"
        "# 75: stopped on the way, with all results kept. The next start goes on from there.\n"
        "[ \"$status\" = 75 ] && scontrol requeue \"$SLURM_ARRAY_JOB_ID\"_\"$SLURM_ARRAY_TASK_ID\"\n"
        "exit \"$status\"\n",
        jobs_of_array, quoted(arena, store), pattern, line);
}
