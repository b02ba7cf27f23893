// The second wall: what it refuses, tried by lockstep with its Lua wide open (tests/wall), and what it lets through.
#include <errno.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sim/base/check.h"
#include "tests/child.h"
#include "tests/test.h"

static char output[1 << 16];

// "$U" in a line is build/tests/unguarded, "$L" lockstep; it runs in a new folder's "in", beside "outside" and "store".
// "$SRC" is the repository, "$A" what the leak detector of a sanitized build needs.
static int try_line(const char *line) {
    char whole[3 * PATH_MAX], program[PATH_MAX], home[PATH_MAX];
    CHECK(realpath(getenv("LOCKSTEP"), program) && getcwd(home, sizeof home));
    snprintf(whole, sizeof whole,
             "L=%s; U=$(dirname $L)/tests/unguarded; A=%s; SRC=%s; D=$(mktemp -d /tmp/lockstep-wall-XXXXXX); cd $D; "
             "mkdir in outside outside/empty store; cd in; cp $SRC/tests/wall/attack*.lua .; "
             "echo secret > ../outside/secret.txt; for f in ../outside/spare ../outside/os ../outside/os2 spare; do "
             "echo spare > $f.txt; done; mkdir lib; echo 'return {}' | tee lib/part.lua > module.lua; "
             "cp /bin/true program; ln -s ../outside/secret.txt link.txt; ln -s ../outside link; "
             "cp $SRC/tests/wall/fine.lua .; (%s); code=$?; cd /; rm -rf $D; exit $code",
             program, HAS_ADDRESS_SANITIZER ? "read_environment" : "none", home, line);
    return test_shell(whole, output, sizeof output);
}

static bool system_has_wall(void) { return syscall(444, NULL, 0, 1) >= 6; }

static bool is_user_root(void) { return geteuid() == 0; }

// ---- A scenario that tries.

TEST(a_scenario_that_got_out_of_its_sandbox_is_refused_everything_by_the_wall) {
    if (!system_has_wall()) return;
    EXPECT_INT(try_line("$U run attack.lua --allowed=$A --wall=on"), 0);
    EXPECT_CONTAINS(output, "114 attempts, 0 went through");
    EXPECT_INT(try_line("$U run attack.lua --allowed=$A --wall=on --help"), 0);
    EXPECT_CONTAINS(output, "114 attempts, 0 went through");
}

TEST(without_the_wall_the_same_attempts_go_through) { // or the test above would show nothing
    EXPECT_INT(try_line("$U run attack.lua --wall=off --expect=through"), 0);
    const char *count = strstr(output, " of 114 go through");
    while (count && count > output && count[-1] >= '0' && count[-1] <= '9') count--;
    EXPECT(count && atoi(count) >= (is_user_root() ? 95 : 50));
}

TEST(named_outputs_and_gnuplot_open_the_wall_for_themselves_only) {
    if (!system_has_wall()) return;
    EXPECT_INT(try_line("$U run attack.lua --allowed=$A --wall=on -o ../store/out.json && ls ../store"), 0);
    EXPECT_CONTAINS(output, "114 attempts, 0 went through");
    EXPECT_CONTAINS(output, "out.json");
    if (test_shell("gnuplot --version", output, sizeof output) != 0) return;
    // Libraries may be loaded then, as gnuplot's are.
    EXPECT_INT(
        try_line("$U run attack.lua --allowed=$A,loadlib --wall=on --plot=scaling --plot-dir=../store; ls ../store"),
        0);
    EXPECT_CONTAINS(output, "114 attempts, 0 went through");
    EXPECT_CONTAINS(output, "attack-scaling.png");
}

TEST(the_workers_of_a_sweep_may_not_even_write_to_its_store) {
    if (!system_has_wall()) return;
    EXPECT_INT(
        try_line("$U sweep attack.lua --allowed=$A --wall=on --vary worker=0,1 --vary gpus=1,8 -j2 -o ../store/s.db; "
                 "ls ../store; $L sweep --show ../store/s.db --csv"),
        0);
    EXPECT_CONTAINS(output, "4 of 4 points, 4 simulated now\n");
    EXPECT(!strstr(output, "from-worker.txt"));
    EXPECT(!strstr(output, "failed"));
}

TEST(algorithms_written_in_lua_stand_behind_the_wall) {
    if (!system_has_wall()) return;
    EXPECT_INT(
        try_line("$U collective all_reduce --node dgx-a100 --gpus 2 --sizes 1K --steps attack_steps.lua --wall=on"), 0);
    EXPECT_CONTAINS(output, "114 attempts, 0 went through");
}

// ---- What must go on working.

TEST(runs_behind_the_wall_read_and_write_what_their_command_line_names) {
    static const struct {
        const char *line;
        int code;
        const char *says;
    } cases[] = {
        {"$L run fine.lua --wall=on | cat", 0, "the most, at GPUs"},
        {"$L run fine.lua --wall=on > ../store/x; cat ../store/x", 0, "the most, at GPUs"},
        {"$L run fine.lua --wall=on -o - --json", 0, "\"digest\""},
        {"$L run fine.lua --wall=on -q -o x.json && grep digest x.json", 0, "digest"},
        {"echo old > ../store/x.csv; chmod 600 ../store/x.csv; ln -s ../store/x.csv x.csv; "
         "$L run fine.lua --wall=on -q -o x.csv && stat -c %a,%F x.csv ../store/x.csv",
         0, "777,symbolic link\n600,regular file"},
        {"$L run fine.lua --wall=on -q -o /dev/stdout --json", 0, "\"digest\""},
        {"$L run fine.lua --wall=on -q -o /dev/full", 1, "cannot be written: No space left on device"},
        {"$L run fine.lua --wall=on -q -o ../no/x.json", 2, "its folder does not exist"},
        {"cp fine.lua ../outside; $L run ../outside/fine.lua --wall=on; cd ..; $L run in/fine.lua --wall=on", 0,
         "the most, at GPUs"},
        {"sed -i 's/^require.*//' fine.lua; ln -s $PWD/fine.lua ../store/l.lua; $L run ../store/l.lua --wall=on", 0,
         "the most, at GPUs"},
        {"sed 's/^require.*//' fine.lua | $L run /dev/stdin --wall=on", 0, "the most, at GPUs"},
        {"$L run /dev/stdin --wall=on < fine.lua", 4, "no module \"lib.part\""},
        {"$L run nothing.lua --wall=on", 4, "cannot be read: No such file or directory"},
        {"$L run fine.lua --wall=on --profile ../outside/secret.txt", 4, "secret.txt"},
        {"$L run fine.lua --wall=on --anchor ../outside/secret.txt", 4, "secret.txt:1: error:"},
        {"$L run fine.lua --wall=on --help", 0, "--wall"},
        {"printf 'gpus\\n1\\n2\\n' > ../outside/list.csv; "
         "$L sweep fine.lua --wall=on --list ../outside/list.csv -o ../store/a.db; "
         "$L sweep fine.lua --wall=on --vary gpus=1,2,8 -o ../store/a.db; "
         "$L sweep fine.lua --wall=on --vary gpus=1,4 -o ../store/b.db; cd ../store; $L merge c.db a.db b.db; ls",
         0, "a.db\nb.db\nc.db\n"},
    };
    if (!system_has_wall()) return;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int code = try_line(cases[i].line);
        if (code != cases[i].code || !strstr(output, cases[i].says))
            test_fail(__FILE__, __LINE__, "%s: exit %d, \"%s\" expected in:\n%.1500s", cases[i].line, code,
                      cases[i].says, output);
    }
}

TEST(plots_behind_the_wall_are_those_without_it) {
    if (test_shell("gnuplot --version", output, sizeof output) != 0) return;
    EXPECT_INT(
        try_line(
            "for w in auto off; do $L run fine.lua --wall=$w --plot=scaling,breakdown --plot-dir=../store >said && "
            "$L run fine.lua --wall=$w --plot=scaling --plot-format=svg --plot-dir=../store >said && "
            "$L run fine.lua --wall=$w --plot=scaling > ../store/screen && "
            "mkdir $w && mv ../store/* $w; done; diff -r auto off && ls auto"),
        0);
    EXPECT_TEXT(output, "fine-breakdown.png\nfine-scaling.png\nfine-scaling.svg\nscreen\n");
}

// ---- Kernels without it.

static const char *line_without_wall;

static void run_without_landlock(void) {
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 444, 0, 2), // Landlock's three calls
        BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, 446, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {sizeof steps / sizeof *steps, steps};
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0);
    _exit(try_line(line_without_wall) == 0 ? fprintf(stderr, "done\n") < 0 : fprintf(stderr, "%s", output) < 0);
}

static const char *said_without_landlock(const char *line) {
    static char said[4096];
    line_without_wall = line;
    EXPECT_INT(run_in_child(run_without_landlock, said, sizeof said), 0);
    return said;
}

TEST(where_the_kernel_has_no_wall_the_run_goes_on_and_says_so) {
    EXPECT_TEXT(
        said_without_landlock("$L run fine.lua > out 2> err; grep -q tokens/s out && grep -q '^! No second wall "
                              "round the script: this kernel has no Landlock' err"),
        "done\n");
    EXPECT_TEXT(said_without_landlock("$L run fine.lua -q > out 2> err; ! grep . err"), "done\n");
    EXPECT_TEXT(said_without_landlock("$L run fine.lua --wall=off 2> err; ! grep . err"), "done\n");
    EXPECT_TEXT(said_without_landlock("$L sweep fine.lua -o x.db 2> err; test $(grep -c '^! No second wall' err) = 1"),
                "done\n");
    EXPECT_CONTAINS(said_without_landlock("$L run fine.lua --wall=on; test $? = 1 && exit 5"),
                    "error: the second wall round the script cannot be raised: this kernel has no Landlock");
}

// ---- The page.

TEST(the_page_on_security_names_tests_that_exist) {
    static char names[1 << 18];
    CHECK(test_shell("grep -ohE '^(LONG_)?TEST\\([0-9, ]*[a-z0-9_]+' tests/*.c | sed 's/.*[( ]//'", names,
                     sizeof names) == 0);
    CHECK(test_shell("grep -oE '`[a-z0-9]+(_[a-z0-9]+){4,}`' docs/security.md | tr -d '`'", output, sizeof output) ==
          0);
    int count = 0;
    for (char *name = strtok(output, "\n"); name; name = strtok(NULL, "\n"), count++) {
        char declared[256];
        snprintf(declared, sizeof declared, "\n%s\n", name);
        if (!strstr(names, declared)) test_fail(__FILE__, __LINE__, "there is no test called %s", name);
    }
    EXPECT(count >= 15);
}

static int names_in(const char *command, char names[][64], int most) {
    int count = 0;
    CHECK(test_shell(command, output, sizeof output) == 0);
    for (char *name = strtok(output, "\n"); name && count < most; name = strtok(NULL, "\n"))
        snprintf(names[count++], 64, "%s", name);
    return count;
}

// A name that is looked up is a literal where it is, or in a list of names beside that.
TEST(the_page_on_security_names_the_variables_that_are_read_and_no_others) {
    static char read[64][64], named[64][64];
    int read_count =
        names_in("grep -rlE 'getenv\\(' --include=*.c main.c sim models scenarios results calibrate | xargs grep -hE "
                 "'getenv|is_set|names\\[\\] = ' | grep -ohE '\"[A-Z][A-Z_]{3,}\"' | tr -d '\"' | LC_ALL=C sort -u",
                 read, 64);
    int named_count = names_in("grep -oE '^[|] (`[A-Z_]+`(, )?)+ [|]' docs/security.md | grep -oE '[A-Z_]{4,}' | "
                               "LC_ALL=C sort -u",
                               named, 64);
    EXPECT(read_count >= 10);
    EXPECT_INT(named_count, read_count);
    for (int i = 0; i < read_count && i < named_count; i++) EXPECT_TEXT(named[i], read[i]);
}
