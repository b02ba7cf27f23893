// What every command answers to the lines of the walk (tests/answer_walk.h), kept: a line each, with its exit status
// and digests of what is printed on the screen, of the complaints beside it, and of the JSON. A commit that moves an
// answer writes tests/golden anew (make golden); which words moved, the line itself tells, asked of the program before
// and after.
#include <stdlib.h>
#include <string.h>

#include "sim/digest.h"
#include "tests/answer_walk.h"
#include "tests/child.h"
#include "tests/command.h"
#include "tests/golden.h"
#include "tests/test.h"

static bool is_of(const char *line, const char *commands) {
    char command[32];
    snprintf(command, sizeof command, " %.*s ", (int)strcspn(line, " "), line);
    return strstr(commands, command) != NULL;
}

// Each answer alike, whatever the folder is called.
static uint64_t digest_said(const char *folder) {
    for (char *at = walk_said; (at = strstr(at, folder)) != NULL; at += strlen(folder)) memset(at, 'x', strlen(folder));
    return digest_bytes(DIGEST_START, walk_said, strlen(walk_said));
}

// On the day of --date, so that prices are as old as they were.
static void keep_answer(const char *folder, const char *walked, FILE *out) {
    char line[1024];
    bool is_dated = is_of(walked, " run plan cost power ") && !strstr(walked, "--date");
    snprintf(line, sizeof line, "%s%s", walked, is_dated ? " --date 2026-11-21" : "");
    int status = walk_shell(folder, "$LOCKSTEP %s 2>$DIR/complaints", line);
    unsigned long long screen = digest_said(folder);
    walk_shell(folder, "cat $DIR/complaints%s", "");
    unsigned long long complaints = digest_said(folder);
    walk_shell(folder, "$LOCKSTEP %s --json 2>/dev/null", line);
    drop_envelopes(walk_said);
    fprintf(out, "%d %08llx %08llx %08llx %s\n", status, screen >> 32, complaints >> 32,
            (unsigned long long)digest_said(folder) >> 32, line);
}

// `commands`: with a space before and behind each. Not under sanitizers: make digests compares builds.
static void walk_is_kept(const char *file, const char *commands) {
    if (HAS_ADDRESS_SANITIZER) return;
    char name[] = "/tmp/lockstep-golden-XXXXXX";
    const char *folder = walk_open_whole(name);
    GoldenText *text = golden_open();
    for (int i = 0; i < answer_walk_count; i++)
        if (is_of(answer_walk[i].line, commands) && !strstr(answer_walk[i].line, "--verbose")) // which tells seconds
            keep_answer(folder, answer_walk[i].line, text->out);
    golden_compare(file, text);
    walk_close(folder);
}

LONG_TEST(3, run_trace_diff_sweep_and_memory_answer_as_they_did) {
    walk_is_kept("walk_run.txt", " run trace diff sweep merge memory flops params ");
}
LONG_TEST(8, plan_answers_as_it_did) { walk_is_kept("walk_plan.txt", " plan "); }
LONG_TEST(8, explain_answers_as_it_did) { walk_is_kept("walk_explain.txt", " explain "); }
LONG_TEST(4, goodput_cost_power_and_queue_answer_as_they_did) {
    walk_is_kept("walk_life.txt", " goodput cost power queue ");
}
LONG_TEST(2, the_catalogue_and_networks_answer_as_they_did) {
    walk_is_kept("walk_parts.txt", " hw constants model job topo collective ");
}
