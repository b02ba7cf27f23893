// Scenarios that try to break a promise, each as the program runs it: how it ends, what it says, and that the machine's
// own limits on processor time and memory never have to.
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/child.h"
#include "tests/test.h"

typedef struct Case {
    const char *file, *options;
    int status;
    const char *says;
} Case;

static const Case cases[] = {
    {"weak3", "", 4, "scenarios have no weak tables"},
    {"weak4", "", 4, "the script needs more than its 256 MiB of memory"},
    {"weak_options", "", 4, "scenarios have no weak tables"},
    {"weak_pairs", "", 4, "scenarios have no weak tables"},
    {"late_weak", "", 4, "scenarios have no weak tables"},
    {"late_weak_keys", "--memory-limit 16MiB", 4, "16 MiB of memory"},
    {"addr", "", 4, "addresses (%p) differ from run to run"},
    {"addresses", "", 4, "none shows"},
    {"sand_leak", "", 4, "\"../secret/creds.json\" is no file in the scenario's folder"},
    {"sand_fifo", "", 4, "\"../secret/.json\" is no file in the scenario's folder"},
    {"node_fifo", "", 4, "\"fifo\" cannot be read: a scenario reads regular files"},
    {"fabric_path", "", 4, "\"/etc/passwd\" is no file in the scenario's folder"},
    {"fabric_path2", "", 4, "\"/etc/x.json\" is no file in the scenario's folder"},
    {"hf_abs", "", 4, "\"/etc/passwd\" is no file in the scenario's folder"},
    {"groups_speed", "-q", 0, ""},
    {"many_problems", "", 4, "and 199980 more fields that training does not have"},
    {"many_clusters", "--memory-limit 32MiB", 4, "the script needs more than its 32 MiB of memory"},
    {"many_nodes", "", 4, "a cluster of 3000000000 GPUs is larger than 1000000"},
    {"large_graph", "", 4, "the graph has 2001000000 nodes, more than 1000000"},
    {"one_large_call", "--memory-limit 16MiB", 4,
     "one_large_call.lua:2: error: what the script asks for takes more than its 16 MiB of memory"},
    {"misspelt", "", 4, "did you mean \"node\"?"},
    {"terminal", "", 4, "?31m ?31m ?[31m ?x?y?z ??"},
    {"mem_pcall", "--memory-limit 16MiB", 4, "the script needs more than its 16 MiB of memory"},
    {"loop_co3", "--step-limit 1e8", 4, "the script runs on and on"},
    {"loop_sort", "--step-limit 1e6", 4, "the script runs on and on"},
    {"rec_parse", "", 4, "rec_parse.lua"},
    {"pat3", "--cpu-limit 0.2s", 4, "takes more than its 0.2 s of processor time"},
};

// A folder like the audit's: the scenario in one folder, a secret beside that, FIFOs in both.
static void make_folders(char folder[64]) {
    char line[512];
    strcpy(folder, "/tmp/lockstep-hostile-XXXXXX");
    EXPECT(mkdtemp(folder) != NULL);
    snprintf(line, sizeof line,
             "mkdir %s/own %s/secret && echo '{\"kind\":\"hunter2\"}' > %s/secret/creds.json && "
             "mkfifo %s/own/fifo %s/secret/.json",
             folder, folder, folder, folder, folder);
    EXPECT_INT(test_shell(line, line, sizeof line), 0);
}

static void remove_folders(const char *folder) {
    char line[128];
    snprintf(line, sizeof line, "rm -r %s", folder);
    EXPECT_INT(test_shell(line, line, sizeof line), 0);
}

// Whether anything in it would be obeyed by a terminal, or is part of what the secret file says.
static bool is_harmless(const char *output) {
    static const char *const never[] = {"\x1b",         "\xc2\x9b", "\xc2\x85", "\xe2\x80\xae",
                                        "\xe2\x81\xa6", "hunter2",  "0x5",      "0x7f"};
    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        if (strstr(output, never[i])) return false;
    for (const unsigned char *c = (const unsigned char *)output; *c; c++)
        if ((c[0] >= 0x80 && c[0] < 0xa0) && (c == (const unsigned char *)output || c[-1] < 0x80)) return false;
    return true;
}

static void run_case(const Case *one, const char *folder) {
    char line[1024], output[65536];
    snprintf(line, sizeof line,
             "cp tests/hostile/%s.lua %s/own/ && program=$(realpath $LOCKSTEP) && cd %s/own && ulimit -t 20 && %s "
             "exec $program run %s.lua %s < /dev/null",
             one->file, folder, folder, HAS_ADDRESS_SANITIZER ? "" : "ulimit -v 1000000 &&", one->file, one->options);
    int status = test_shell(line, output, sizeof output);
    if (status != one->status || !strstr(output, one->says) || !is_harmless(output))
        test_fail(__FILE__, __LINE__, "%s ends with %d and says %s", one->file, status, output);
}

LONG_TEST(3, hostile_scenarios_end_with_a_sentence_and_within_their_limits) {
    char folder[64];
    make_folders(folder);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) run_case(&cases[i], folder);
    remove_folders(folder);
}

TEST(every_hostile_scenario_has_its_case) {
    DIR *open = opendir("tests/hostile");
    EXPECT(open != NULL);
    for (struct dirent *entry = open ? readdir(open) : NULL; entry; entry = readdir(open)) {
        size_t length = strcspn(entry->d_name, ".");
        bool found = entry->d_name[0] == '.';
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
            found = found || (strlen(cases[i].file) == length && strncmp(cases[i].file, entry->d_name, length) == 0);
        if (!found) test_fail(__FILE__, __LINE__, "tests/hostile/%s is not run", entry->d_name);
    }
    closedir(open);
}
