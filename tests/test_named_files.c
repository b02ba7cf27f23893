// Files that the command line names, at every door: what may never begin or never end is refused, and what the shell
// has opened is read.
#include <stdio.h>
#include <string.h>

#include "tests/test.h"

static char said[1 << 14];

#define JOB "--model gpt2-124m --node dgx-a100 --gpus 8 --micro-batch 1 --global-batch 8"

// "@" is the file's name without its ending.
static const char *const doors[] = {
    "run @.lua",
    "sweep @.lua",
    "explain @.lua",
    "trace @.lua",
    "report run @.lua -o page.html",
    "report @.json -o page.html",
    "explain @.json",
    "diff @.json @.json",
    "diff @.json.gz @.json",
    "diff @.csv @.csv",
    "diff @.db @.db",
    "diff @.lua --set-b a=1",
    "run " JOB " --profile @.json",
    "run " JOB " --price-book @.csv",
    "run " JOB " --anchor @.csv",
    "sweep " JOB " --list @.csv -o new.db",
    "sweep " JOB " --vary tp=1,2 -o @.db",
    "sweep --show @.db",
    "merge new.db @.db",
    "hw check @.json",
    "validate training @.csv",
    "validate collectives @.txt",
    "validate collectives any.txt --clusters @.csv",
    "validate kernels @.csv",
    "validate kernels @.json",
    "validate first-contact batch",
    "validate first-contact batch --append @.md",
    "calibrate fit @.json",
    "calibrate fit @.txt",
    "calibrate import --from kineto @.json",
    "calibrate import --from nccl-tests @.txt",
    "calibrate import --from gemm-csv @.csv",
    "calibrate show @.json",
    "collective all_to_all_v --node dgx-a100 --sizes 1M --matrix @.csv",
    "collective all_reduce --node dgx-a100 --sizes 1M --steps @.lua",
    "collective all_reduce --node @.txt --sizes 1M",
    "collective all_reduce --node @.xml --sizes 1M",
    "collective all_reduce --node dgx-a100 --nodes 2 --fabric ib-hdr200:@.json --sizes 1M",
    "collective all_reduce --node dgx-a100 --nodes 2 --fabric ib-hdr200:@.txt --sizes 1M",
    "collective all_reduce --node dgx-a100 --nodes 2 --fabric @.txt --sizes 1M",
    "run --model gpt2-124m --node @.xml --gpus 8 --micro-batch 1 --global-batch 8",
    "diff @.sqlite @.sqlite",
    "calibrate import --from nsys @.sqlite",
    "queue --gpus 64 --trace @.csv",
    "plan --model gpt2-124m --node dgx-a100 --gpus 8 --steps-curve @.csv",
    "memory --model @.json --gpu A100",
    "topo --node @.txt",
    "power --node dgx-a100 --profile @.json",
};
enum { DOORS = sizeof doors / sizeof *doors };

static void knock(const char *door, const char *name, const char *make) {
    char command[512] = "", line[2048];
    for (const char *at = door; *at; at++) {
        size_t length = strlen(command);
        snprintf(command + length, sizeof command - length, *at == '@' ? "%s" : "%.1s", *at == '@' ? name : at);
    }
    snprintf(line, sizeof line,
             "p=$(realpath $LOCKSTEP); d=$(mktemp -d); cd $d; mkdir -p batch/training; touch any.txt; for f in %s.lua "
             "%s.json %s.json.gz %s.csv %s.db %s.sqlite %s.txt %s.xml %s.md batch/training/any.csv; do %s $f; done; "
             "timeout 10 $p "
             "%s </dev/null; status=$?; rm -r $d; exit $status",
             name, name, name, name, name, name, name, name, name, make, command);
    int status = test_shell(line, said, sizeof said);
    bool is_said = strstr(said, "is a pipe with a name, not a file") || strstr(said, "is a device, not a file") ||
                   strstr(said, "no node is called"); // whose name is no file's
    if (status < 1 || status > 4 || !is_said)
        test_fail(__FILE__, __LINE__, "%s with %s ended with %d: %s", command, make, status, said);
}

TEST(a_pipe_with_a_name_is_not_waited_for_at_any_door) {
    for (int i = 0; i < DOORS; i++) knock(doors[i], "pipe", "mkfifo");
}

TEST(a_device_without_an_end_is_not_read_at_any_door) {
    for (int i = 0; i < DOORS; i++) knock(doors[i], "zeros", "ln -s /dev/zero");
}

TEST(what_the_shell_has_opened_is_read_also_from_a_pipe) {
    static const char *const lines[] = {
        "cat scenarios/lessons/ddp_by_hand.lua | $LOCKSTEP run /dev/stdin -q",
        "bash -c \"$LOCKSTEP run <(cat scenarios/lessons/ddp_by_hand.lua) -q\"",
        "$LOCKSTEP run /dev/fd/5 -q 5<scenarios/lessons/ddp_by_hand.lua",
        "echo '{\"format\": \"lockstep-hardware\", \"format_version\": 1}' | $LOCKSTEP hw list --profile /dev/stdin",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (test_shell(lines[i], said, sizeof said) != 0) test_fail(__FILE__, __LINE__, "%s: %s", lines[i], said);
}
