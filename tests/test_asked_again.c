// Words that stand in a file (an answer in JSON, what --last keeps) are data: of them only the question is taken.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/check.h"
#include "sim/base/options.h"
#include "tests/test.h"

static char said[1 << 16], folder[64];

// Files that answers name: victim.txt, mine.lua, book.csv, and out of reach ../NAME-out/secret.
static void open_folder(void) {
    char made[4096];
    snprintf(folder, sizeof folder, "/tmp/lockstep-asked-XXXXXX");
    CHECK(mkdtemp(folder));
    snprintf(
        made, sizeof made,
        "ln -s $(realpath $LOCKSTEP) %s/lockstep && cd %s && echo kept >victim.txt && mkfifo pipe && mkdir %s-out && "
        "echo '{ \"a\": hidden-words' >%s-out/secret.json && cp %s-out/secret.json %s-out/secret.csv && "
        "printf 'provider,date,source,node,gpus,on_demand\\nmine,2026-01-01,bill,dgx-a100,8,2\\n' >book.csv && "
        "printf 'local sim = require \"lockstep\"\\nreturn sim.study { on = sim.cluster { node = \"dgx-a100\", "
        "gpus = 8 }, run = sim.training { model = \"gpt2-124m\", seq_len = 1024, batch = { micro = 1, global = 64 "
        "} } }\\n' >mine.lua && cp mine.lua %s-out/far.lua",
        folder, folder, folder, folder, folder, folder, folder);
    CHECK(test_shell(made, said, sizeof said) == 0);
}

static void close_folder(void) {
    char command[256];
    snprintf(command, sizeof command, "rm -r %s %s-out", folder, folder);
    CHECK(test_shell(command, said, sizeof said) == 0);
}

// A shell's line in the folder, for at most 30 s of waiting.
static int asks(const char *line) {
    char command[4096];
    snprintf(command, sizeof command,
             "cd %s && export OUT=%s-out XDG_STATE_HOME=%s/state && timeout 30 sh -c '%s' </dev/null", folder, folder,
             folder, line);
    return test_shell(command, said, sizeof said);
}

// x.json: an answer whose command line is these words, apart by single spaces; "@" is the folder out of reach.
static void write_answer(const char *words) {
    char path[128];
    snprintf(path, sizeof path, "%s/x.json", folder);
    FILE *file = fopen(path, "w");
    CHECK(file);
    fputs("{\"format\": \"lockstep-answer\", \"format_version\": 1, \"command\": [\"lockstep\", \"", file);
    for (; *words; words++) {
        if (*words == ' ')
            fputs("\", \"", file);
        else if (*words == '@')
            fprintf(file, "%s-out", folder);
        else
            fputc(*words, file);
    }
    fputs("\"]}\n", file);
    CHECK(fclose(file) == 0);
}

// Where --last looks: these words of a command, as JSON.
static void write_last(const char *command, const char *words) {
    char path[160];
    asks("mkdir -p state/lockstep");
    snprintf(path, sizeof path, "%s/state/lockstep/last.json", folder);
    FILE *file = fopen(path, "w");
    CHECK(file);
    fprintf(file,
            "{\"format\": \"lockstep-last\", \"format_version\": 1, \"questions\": [{\"command\": \"%s\", \"words\": "
            "[%s], \"folder\": \"%s\", \"time\": \"2026-01-01\\u001b[31m\"}]}\n",
            command, words, folder);
    CHECK(fclose(file) == 0);
}

static void expect_victim_kept(const char *words) {
    asks("cat victim.txt");
    if (strcmp(said, "kept\n") != 0) test_fail(__FILE__, __LINE__, "%s wrote victim.txt: %s", words, said);
}

#define JOB "run --model gpt2-124m --node dgx-a100 --gpus 8 --micro-batch 1 --global-batch 8"
#define QUEUE "queue --gpus 64 --load 0.5 --jobs 200 --seeds 1 --policy fifo"

TEST(an_answer_asked_again_writes_no_file_that_it_names) {
    static const char *const answers[] = {
        JOB " --trace-events victim.txt",
        JOB " --trace-events=victim.txt",
        JOB " -o victim.txt",
        JOB " -ovictim.txt",
        JOB " --output=victim.txt --plot-dir victim.txt --plot",
        "run mine.lua --unknown -ovictim.txt",
        "run mine.lua --trace-events victim.txt",
        QUEUE " --outcomes victim.txt",
        "explain " QUEUE " --outcomes=victim.txt",
        "plan --model gpt2-124m --tokens 1B --node dgx-a100 --gpus 8 --global-batch 64 -o victim.txt",
    };
    open_folder();
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        write_answer(answers[i]);
        asks("./lockstep report x.json -o page.html; ./lockstep explain x.json --json -o why.json");
        expect_victim_kept(answers[i]);
    }
    // Answered without it, and that is said.
    write_answer(JOB " --trace-events victim.txt");
    EXPECT_INT(asks("./lockstep explain x.json --why-only"), 0);
    EXPECT_CONTAINS(said, "! Left out, as only you can say where it goes: --trace-events\n");
    close_folder();
}

TEST(an_answer_asked_again_lowers_no_wall_and_lifts_no_limit) {
    static const char *const options[] = {
        "--wall=off",         "--wall off",        "--allow-read /",         "--allow-read=/",
        "--memory-limit 9GB", "--step-limit=1e12", "--cpu-limit 9h",         "--time-limit 9h",
        "--event-limit 1e15", "-- mine.lua",       "--simulation-memory 9TB"};
    char words[256];
    open_folder();
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        snprintf(words, sizeof words, "run mine.lua %s", options[i]);
        write_answer(words);
        EXPECT_INT(asks("./lockstep report x.json -o page.html"), 4);
        EXPECT_CONTAINS(said, "x.json: error: the question there has ");
        EXPECT_CONTAINS(said, ", which only you can give\n  hint: type it yourself if you mean it, behind x.json\n");
        EXPECT_INT(asks("./lockstep explain x.json"), 4);
        EXPECT_CONTAINS(said, ", which only you can give\n");
    }
    // Typed, it is the user's own.
    write_answer("run mine.lua --time-limit 9h --allow-read /");
    EXPECT_INT(asks("./lockstep explain x.json --why-only --time-limit 1h --allow-read ."), 0);
    EXPECT_CONTAINS(said, "lockstep explain mine.lua --why-only --time-limit 1h --allow-read .\n");
    close_folder();
}

TEST(a_question_in_a_file_reads_files_here_and_beside_it_and_no_pipes) {
    static const char *const answers[] = {
        JOB " --profile @/secret.json",
        JOB " --profile ../../etc/passwd",
        JOB " --price-book @/secret.csv",
        JOB " --anchor @/secret.csv",
        JOB " --profile pipe",
        JOB " --profile /dev/zero",
        JOB " --profile /dev/stdin",
        "run --model @/secret.json --node dgx-a100 --gpus 8",
        "run --model gpt2-124m --node dgx-a100 --gpus 16 --fabric ib-hdr200:graph:file=@/secret.json",
        "run mine.lua --set cluster.fabric=ib-hdr200:graph:file=@/secret.json",
        "run --model gpt2-124m --node dgx-a100 --gpus 16 --fabric ib-hdr200:@/secret.json:oversubscription=2",
        "run --model gpt2-124m --node @/secret.csv --gpus 8",
        "collective all_reduce --node @/secret.csv --gpu A100 --sizes 1M",
        "run @/far.lua",
        "run pipe",
        QUEUE " --rates @/secret.json",
        "queue --gpus 64 --trace @/secret.csv",
        "explain @/secret.json",
        "collective all_to_all_v --node dgx-a100 --sizes 1M --matrix @/secret.csv",
        "plan --model gpt2-124m --node dgx-a100 --gpus 8 --steps-curve @/secret.csv",
    };
    open_folder();
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        write_answer(answers[i]);
        int report = asks("./lockstep report x.json -o page.html");
        if ((report != 4 && report != 2) || strstr(said, "hidden"))
            test_fail(__FILE__, __LINE__, "report of %s ended with %d: %s", answers[i], report, said);
        int explain = asks("./lockstep explain x.json");
        if ((explain != 4 && explain != 2) || strstr(said, "hidden"))
            test_fail(__FILE__, __LINE__, "explain of %s ended with %d: %s", answers[i], explain, said);
    }
    EXPECT_INT(asks("ln -s $OUT/secret.json link.json"), 0); // a link is its target
    write_answer(JOB " --profile link.json");
    EXPECT_INT(asks("./lockstep explain x.json"), 4);
    EXPECT_CONTAINS(said, "\"link.json\", which a question in a file names, is no file here or beside it");
    close_folder();
}

TEST(what_the_user_allows_or_types_is_read_also_for_a_question_in_a_file) {
    open_folder();
    write_answer(JOB " --price-book book.csv");
    EXPECT_INT(asks("./lockstep explain x.json --why-only"), 0);
    EXPECT_INT(asks("mkdir sub && mv x.json book.csv sub"), 0);
    EXPECT_INT(asks("sed -i s,book.csv,sub/book.csv, sub/x.json && ./lockstep explain sub/x.json --why-only"), 0);
    EXPECT_INT(asks("cd / && $OLDPWD/lockstep explain $OLDPWD/sub/x.json --why-only 2>&1"), 4); // not from elsewhere
    EXPECT_INT(asks("sed -i s,sub/book.csv,$PWD/sub/book.csv, sub/x.json && cd $OUT && $OLDPWD/lockstep explain "
                    "$OLDPWD/sub/x.json --why-only"),
               0); // beside it
    EXPECT_INT(asks("cp sub/book.csv $OUT/book.csv"), 0);
    write_answer(JOB " --price-book @/book.csv");
    EXPECT_INT(asks("./lockstep explain x.json --why-only"), 4);
    EXPECT_INT(asks("./lockstep explain x.json --why-only --allow-read $OUT"), 0);
    EXPECT_INT(asks("./lockstep report x.json -o page.html --allow-read=$OUT"), 0);
    EXPECT_INT(asks("./lockstep explain x.json --why-only --price-book $OUT/book.csv"), 0);
    write_answer(QUEUE " --rates @/secret.json");
    EXPECT_INT(asks("./lockstep report x.json -o page.html --rates none-such --allow-read $OUT"), 4);
    EXPECT_CONTAINS(said, "none-such");
    close_folder();
}

TEST(a_script_that_an_answer_names_stands_behind_both_walls) {
    open_folder();
    EXPECT_INT(asks("sed -i \"1a local text = sim.fabric_file and 1; local f = io\" mine.lua"), 0);
    write_answer("run mine.lua");
    EXPECT_INT(asks("./lockstep explain x.json --wall=on --why-only"), 4); // no io: the first wall
    EXPECT_CONTAINS(said, "mine.lua:2: error:");
    close_folder();
}

TEST(words_of_a_file_do_not_command_the_terminal) {
    open_folder();
    write_answer(JOB " --software \\u001b]0;owned\\u0007\\u001b[31m \\u009b31m\\u202e");
    asks("./lockstep report x.json -o page.html; ./lockstep explain x.json");
    EXPECT(!strchr(said, 0x1b) && !strchr(said, 7));
    EXPECT(!strstr(said, "\xc2\x9b") && !strstr(said, "\xe2\x80\xae"));
    EXPECT_CONTAINS(said, "x.json:1: error: a text holds the control character U+001B");
    // What --last keeps is read as it was typed.
    write_last("run", "\"mine.lua\", \"--own\", \"\\u001b[31m\\u009b31m\"");
    asks("./lockstep run --last");
    EXPECT_CONTAINS(said, "run mine.lua --own ?[31m?31m\n");
    EXPECT(!strchr(said, 0x1b) && !strstr(said, "\xc2\x9b"));
    close_folder();
}

// ---- What each option is part of. A new one is nobody's until its row says so.

#define ROWS(command) const OptionSpec *command##_option_rows(Arena *arena, int *count);
#define ASKED_AGAIN(each)                                                                                              \
    each(run) each(plan) each(explain) each(trace) each(sweep) each(memory) each(collective) each(goodput) each(cost)  \
        each(power) each(queue)
ASKED_AGAIN(ROWS)

static void expect_trust(const char *command, const OptionSpec *rows, int count) {
    static const char *const trust[] = {"wall",        "allow-read",        "memory-limit", "step-limit", "cpu-limit",
                                        "event-limit", "simulation-memory", "time-limit",   "size-limit", "show"};
    for (int i = 0; i < count; i++) {
        bool is_expected = strcmp(command, "sweep") == 0 && strcmp(rows[i].name, "output") == 0;
        for (size_t t = 0; t < sizeof trust / sizeof *trust; t++)
            is_expected = is_expected || strcmp(rows[i].name, trust[t]) == 0;
        if (is_expected != (rows[i].of == OF_WHO_ASKS))
            test_fail(__FILE__, __LINE__, "--%s of %s: say in its row whether a question in a file may have it",
                      rows[i].name, command);
    }
}

TEST(each_option_of_what_is_asked_again_says_what_it_is_part_of) {
    Arena *arena = arena_open();
    int count;
#define EXPECT_TRUST(command)                                                                                          \
    {                                                                                                                  \
        const OptionSpec *rows = command##_option_rows(arena, &count);                                                 \
        expect_trust(#command, rows, count);                                                                           \
    }
    ASKED_AGAIN(EXPECT_TRUST)
    arena_close(arena);
}

// ---- --last: the same words in the file that keeps them.

TEST(what_last_keeps_is_asked_again_without_options_of_trust_and_of_output) {
    static const char *const outputs[] = {"\"--trace-events\", \"victim.txt\"", "\"-ovictim.txt\"",
                                          "\"--plot-dir\", \"victim.txt\""},
                             *const trust[] = {"\"--wall=off\"", "\"--allow-read\", \"/\"", "\"--time-limit=9h\""};
    char words[256];
    open_folder();
    for (int i = 0; i < 3; i++) {
        snprintf(words, sizeof words, "\"mine.lua\", %s", outputs[i]);
        write_last("run", words);
        EXPECT_INT(asks("./lockstep run --last >/dev/null"), 0);
        EXPECT(!strchr(said, 0x1b));
        asks("./lockstep explain --last --why-only; ./lockstep report --last -o page.html; ./lockstep trace --last "
             "--top");
        expect_victim_kept(words);
        snprintf(words, sizeof words, "\"mine.lua\", %s", trust[i]);
        write_last("run", words);
        static const char *const askers[] = {"run --last", "explain --last", "report --last -o page.html",
                                             "trace --last"};
        for (size_t a = 0; a < sizeof askers / sizeof *askers; a++) {
            char line[128];
            snprintf(line, sizeof line, "./lockstep %s", askers[a]);
            EXPECT_INT(asks(line), 2);
            EXPECT_CONTAINS(said, "error: the question that --last keeps has --");
        }
    }
    EXPECT_INT(asks("./lockstep run --last --time-limit 1h >/dev/null"), 0); // typed again
    write_last("sweep", "\"mine.lua\", \"--vary\", \"seed=1,2\", \"-o\", \"victim.txt\"");
    EXPECT_INT(asks("./lockstep sweep --last"), 2);
    EXPECT_CONTAINS(said, "has -o victim.txt, which only you can give");
    EXPECT_INT(asks("./lockstep sweep --last -o mine.db -j 1 -q"), 0);
    write_last("cost", "\"--a\", \"mine.lua --trace-events victim.txt\", \"--b\", \"mine.lua --wall=off\"");
    EXPECT_INT(asks("./lockstep cost --last"), 2);
    EXPECT_CONTAINS(said, "has --wall=off, which only you can give");
    expect_victim_kept("cost");
    close_folder();
}
