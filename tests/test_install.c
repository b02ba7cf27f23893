// An installed program finds what comes with it, far from its sources.
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"

static char said[1 << 16];

static int in_folder(const char *folder, const char *command) {
    char line[1024];
    snprintf(line, sizeof line, "cd %s && %s", folder, command);
    return test_shell(line, said, sizeof said);
}

#define INSTALLED "usr/bin/lockstep"

LONG_TEST(5, an_installed_program_validates_and_runs_its_examples) {
    char folder[] = "/tmp/lockstep-install-XXXXXX", line[1024];
    if (!mkdtemp(folder)) return;
    // As it is: nothing is built again.
    snprintf(line, sizeof line,
             "make -s install BUILD=$(dirname $LOCKSTEP) -o $LOCKSTEP DESTDIR=%s PREFIX=/usr >/dev/null 2>&1", folder);
    EXPECT_INT(test_shell(line, said, sizeof said), 0);
    EXPECT_INT(in_folder(folder, INSTALLED " validate training --family mosaicml"), 0);
    EXPECT_CONTAINS(said, "mosaicml-llm-foundry");
    EXPECT_INT(
        in_folder(folder, INSTALLED " validate training usr/share/lockstep/measurements/training --family mosaicml"),
        0);
    EXPECT_CONTAINS(said, "mosaicml-llm-foundry");
    EXPECT_INT(in_folder(folder, INSTALLED " validate collectives usr/share/lockstep/measurements/nccl --op broadcast"),
               0);
    EXPECT_INT(in_folder(folder, INSTALLED " validate collectives --op broadcast"), 0);
    EXPECT_INT(in_folder(folder, INSTALLED " validate reliability --runs 1"), 0);
    EXPECT_CONTAINS(said, "unplanned stops");
    EXPECT_INT(in_folder(folder, INSTALLED " validate convergence"), 0);
    EXPECT_INT(in_folder(folder, INSTALLED " validate queue --repetitions 2"), 0);
    EXPECT_INT(in_folder(folder, INSTALLED " run usr/share/lockstep/examples/scaling_efficiency.lua"), 0);
    EXPECT_CONTAINS(said, "of linear");
    EXPECT_INT(in_folder(folder, INSTALLED " schema | cmp - usr/share/lockstep/schema.json"), 0);
    EXPECT_INT(in_folder(folder, "grep -c '^.It' usr/share/man/man1/lockstep-run.1; ls usr/share/man/man1 | wc -l"), 0);
    EXPECT(atoi(said) > 100 && strtol(strchr(said, '\n'), NULL, 10) > 25);
    EXPECT_INT(in_folder(folder, "grep -A 3 '^[^ ]*days DAYS$' usr/share/man/man1/lockstep-goodput.1"), 0);
    EXPECT_CONTAINS(said, "\n.Xc\nhow long the calendar runs: 54, 12h\n"); // an option, and the whole of what it is
    EXPECT_INT(in_folder(folder, "! command -v mandoc >/dev/null || ! mandoc -T lint -W warning usr/share/man/man1/*.1 "
                                 "| grep -E 'WARNING|ERROR'"),
               0);
    EXPECT_INT(in_folder(folder, "bash -n usr/share/bash-completion/completions/lockstep && "
                                 "test -s usr/share/fish/vendor_completions.d/lockstep.fish && "
                                 "head -1 usr/share/zsh/site-functions/_lockstep"),
               0);
    EXPECT_TEXT(said, "#compdef lockstep\n");
    static const char calls[] =
        "printf '%s' '#include <lockstep.h>\n#include <stdio.h>\nint main(void) { char *answer = "
        "lockstep_ask(\"{\\\"ask\\\": \\\"hw\\\", \\\"words\\\": [\\\"list\\\"]}\"); "
        "puts(answer ? answer : \"\"); lockstep_free(answer); }' >c.c && cc -Iusr/include c.c "
        "-Lusr/lib -llockstep -Wl,-rpath,$PWD/usr/lib -o c && ./c";
    EXPECT_INT(in_folder(folder, calls), 0);
    EXPECT_CONTAINS(said, "\"kind\": \"hw-list\"");
    EXPECT_INT(in_folder(folder, INSTALLED " validate training usr/bin 2>&1"), 4);
    EXPECT_CONTAINS(said, "has no file whose name ends in .csv");
    snprintf(line, sizeof line,
             "make -s uninstall DESTDIR=%s PREFIX=/usr && rm -r %s/c %s/c.c && find %s -type f -o -type l", folder,
             folder, folder, folder);
    EXPECT_INT(test_shell(line, said, sizeof said), 0);
    EXPECT_TEXT(said, "");
    snprintf(line, sizeof line, "rm -r %s", folder);
    EXPECT_INT(test_shell(line, said, sizeof said), 0);
}
