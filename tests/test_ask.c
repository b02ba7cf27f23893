// Questions in JSON: what a command line asks, from programs, with nothing in it that only who asks may say.
#include <stdlib.h>
#include <string.h>

#include "scenarios/library/lockstep.h"
#include "sim/base/options.h"
#include "sim/data/json.h"
#include "tests/test.h"

static char said[1 << 20], other[1 << 20];

static int ask(const char *question, const char *typed) {
    char line[4096];
    snprintf(line, sizeof line, "printf '%%s' '%s' | $LOCKSTEP ask - %s", question, typed);
    return test_shell(line, said, sizeof said);
}

TEST(a_question_in_json_has_the_answer_of_its_command_line) {
    static const struct {
        const char *question, *line;
    } same[] = {
        {"{\"ask\": \"run\", \"model\": \"gpt3-175b\", \"node\": \"dgx-a100\", \"gpus\": [512, 1024], \"tp\": 8, "
         "\"pp\": 16, "
         "\"micro_batch\": 1, \"global_batch\": 1536}",
         "run --model gpt3-175b --node dgx-a100 --vary gpus=512,1024 --tp 8 --pp 16 --micro-batch 1 --global-batch "
         "1536"},
        {"{\"ask\": \"run\", \"model\": \"gpt2-1.5b\", \"node\": \"dgx-a100\", \"gpus\": 8, \"global_batch\": 64, "
         "\"unfolded\": true, \"cuda-graphs\": true, \"zero\": null}",
         "run --model gpt2-1.5b --node dgx-a100 --gpus 8 --global-batch 64 --unfolded --cuda-graphs"},
        {"{\"ask\": \"run\", \"words\": [\"scenarios/examples/scaling_efficiency.lua\"], \"set\": "
         "{\"training.micro_batch\": "
         "2}}",
         "run scenarios/examples/scaling_efficiency.lua --set training.micro_batch=2"},
        {"{\"ask\": \"memory\", \"model\": \"gpt3-175b\", \"gpu\": \"A100\", \"tp\": 8, \"pp\": 8, \"micro_batch\": 1}",
         "memory --model gpt3-175b --gpu A100 --tp 8 --pp 8 --micro-batch 1"},
        {"{\"ask\": \"collective\", \"words\": [\"all_gather\"], \"node\": \"dgx-h100\", \"gpus\": 8}",
         "collective all_gather --node dgx-h100 --gpus 8"},
        {"{\"ask\": \"flops\", \"model\": \"gpt3-175b\", \"seq\": \"4k\"}", "flops --model gpt3-175b --seq 4k"},
        {"{\"ask\": \"hw\", \"words\": [\"show\", \"H100\"]}", "hw show H100"},
        {"{\"ask\": \"packets\", \"words\": [\"incast\"], \"hosts\": 9, \"size\": \"20kB\"}",
         "packets incast --hosts 9 --size 20kB"},
        {"{\"ask\": \"step collective\", \"words\": [\"all_reduce\"], \"node\": \"dgx-a100\", \"gpus\": 4, \"algo\": "
         "\"ring\"}",
         "step collective all_reduce --node dgx-a100 --gpus 4 --algo ring"},
        {"{\"ask\": \"step\", \"words\": [\"run\"], \"model\": \"gpt2-124m\", \"node\": \"dgx-a100\", \"gpus\": 4, "
         "\"pp\": 4, "
         "\"global_batch\": 8, \"at\": \"1.2ms\"}",
         "step run --model gpt2-124m --node dgx-a100 --gpus 4 --pp 4 --global-batch 8 --at 1.2ms"},
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        char line[1024];
        static const char without_line[] = " | sed '/^  \"command\": /,/^  ],*$/d'"; // and not how it was spelled
        EXPECT_INT(ask(same[i].question, without_line), 0);
        strcpy(other, said);
        snprintf(line, sizeof line, "$LOCKSTEP %s --json%s", same[i].line, without_line);
        EXPECT_INT(test_shell(line, said, sizeof said), 0);
        if (strcmp(said, other) != 0) test_fail(__FILE__, __LINE__, "another answer: %s", same[i].question);
        EXPECT(strlen(said) > 100);
    }
    EXPECT_INT(ask(same[0].question, "--csv | head -c 4"), 0);
    EXPECT_TEXT(said, "gpus");
}

TEST(what_a_question_may_not_say_is_refused_with_a_sentence) {
    static const struct {
        const char *question;
        int status;
        const char *says;
    } refused[] = {
        {"{\"ask\": \"run\", \"modle\": 1}", 2, "did you mean \"--model\"?"},
        {"{\"ask\": \"rnu\"}", 2, "did you mean \"run\"?"},
        {"{\"ask\": \"lesson\", \"words\": [\"start\", \"1.1\"]}", 2, "\"lesson\" is no question"},
        {"{\"ask\": \"run --wall=off\"}", 2, "is no question"},
        {"{\"model\": \"gpt2-1.5b\"}", 2, "which command?"},
        {"[]", 2, "a question is an object"},
        {"{\"ask\": 1}", 2, "which command?"},
        {"{", 4, "the text ends"},
        {"", 4, "error"},
        {"{\"ask\": \"run\", \"model\": \"gpt2-1.5b\", \"wall\": \"off\"}", 4, "--wall=off, which only you can give"},
        {"{\"ask\": \"run\", \"model\": \"gpt2-1.5b\", \"allow_read\": \"/\"}", 4, "which only you can give"},
        {"{\"ask\": \"run\", \"time_limit\": \"9d\"}", 4, "which only you can give"},
        {"{\"ask\": \"run\", \"words\": [\"--wall=off\"]}", 2, "texts that are no options"},
        {"{\"ask\": \"run\", \"words\": [\"-o\"]}", 2, "texts that are no options"},
        {"{\"ask\": \"run\", \"words\": [\"/etc/hostname\"]}", 4, "is no file here or beside it"},
        {"{\"ask\": \"run\", \"words\": \"x.lua\"}", 2, "\"words\" is to be a list"},
        {"{\"ask\": \"run\", \"set\": [1]}", 2, "\"set\" is to be an object"},
        {"{\"ask\": \"run\", \"model\": {\"a\": 1}}", 2, "\"model\" is to be a text"},
        {"{\"ask\": \"run\", \"gpus\": [[8]]}", 2, "\"gpus\" is to be a list"},
        {"{\"ask\": \"run\", \"gpus\": []}", 2, "\"gpus\" is to be a list"},
        {"{\"ask\": \"run\", \"unfolded\": 1}", 2, "\"unfolded\" is to be true or false"},
        {"{\"ask\": \"run\", \"a=b\": 1}", 2, "is no option"},
        {"{\"ask\": \"run\", \"seed\": 9007199254740993}", 2, "\"seed\" is to be a text above 2^53"},
        {"{\"ask\": \"hw\", \"words\": [\"list\"], \"profile\": \"x\"}", 2, "hw takes \"words\" alone"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        EXPECT_INT(ask(refused[i].question, "2>&1"), refused[i].status);
        if (!strstr(said, refused[i].says)) test_fail(__FILE__, __LINE__, "%s: says %s", refused[i].question, said);
    }
    EXPECT_INT(
        ask("{\"ask\": \"run\", \"model\": \"gpt2-1.5b\", \"node\": \"dgx-a100\", \"gpus\": 8, \"global_batch\": 64, "
            "\"output\": \"ask-wrote-this.json\"}",
            "| head -1; ls ask-wrote-this.json 2>&1"),
        2);
    EXPECT_CONTAINS(said, "{\n");
    EXPECT_CONTAINS(said, "No such file");
    EXPECT_INT(test_shell("$LOCKSTEP ask 2>&1", said, sizeof said), 2);
    EXPECT_CONTAINS(said, "which question?");
}

const OptionSpec *flops_option_rows(Arena *arena, int *count);

TEST(the_schema_of_questions_has_every_option_of_the_question_and_no_other) {
    Arena *arena = arena_open();
    int count, of_question = 0;
    EXPECT_INT(test_shell("$LOCKSTEP schema ask", said, sizeof said), 0);
    const Json *schema = json_read_text(arena, "ask", said, strlen(said), problems_create(arena));
    const Json *flops = schema ? json_get(json_get(schema, "$defs"), "flops") : NULL;
    const Json *keys = flops ? json_get(flops, "properties") : NULL;
    const OptionSpec *rows = flops_option_rows(arena, &count);
    for (int i = 0; i < count; i++) {
        char *name = arena_copy_text(arena, rows[i].name);
        for (char *at = name; *at; at++)
            if (*at == '-') *at = '_';
        EXPECT(keys && (json_get(keys, name) != NULL) == (rows[i].of == OF_QUESTION));
        of_question += rows[i].of == OF_QUESTION;
    }
    EXPECT(of_question > 5);
    EXPECT_INT(keys ? keys->count : 0, of_question + 2); // ask and words
    static const char *const others[] = {"\"wall\"", "\"allow_read\"", "\"output\"", "\"time_limit\"",
                                         "\"trace_events\""};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) EXPECT(!strstr(said, others[i]));
    arena_close(arena);
}

// The program is found in PATH here; an installed library has it in ../bin (tests/test_install.c).
TEST(the_library_answers_and_says_what_is_wrong) {
    char *path = getenv("PATH"), *program = realpath(getenv("LOCKSTEP"), NULL);
    EXPECT(path && program);
    char line[8192], kept[8192];
    snprintf(kept, sizeof kept, "%s", path);
    *strrchr(program, '/') = '\0';
    snprintf(line, sizeof line, "%s:%s", program, path);
    setenv("PATH", line, 1);
    char *answer = lockstep_ask("{\"ask\": \"flops\", \"model\": \"gpt3-175b\"}");
    EXPECT(answer && strstr(answer, "\"training_flops_per_token\""));
    lockstep_free(answer);
    answer = lockstep_ask("{\"ask\": \"flops\", \"modl\": \"gpt3-175b\"}");
    EXPECT_TEXT(answer,
                "{\"kind\": \"error\", \"exit\": 2, \"error\": \"error: no option is called \\\"--modl\\\"\\u000a  "
                "hint: did you mean \\\"--model\\\"?\"}\n");
    lockstep_free(answer);
    setenv("PATH", "/nowhere", 1);
    answer = lockstep_ask("{}");
    EXPECT(answer && strstr(answer, "is not found: neither beside the library nor in PATH"));
    lockstep_free(answer);
    setenv("PATH", kept, 1);
    free(program);
}

#define PYTHON                                                                                                         \
    "command -v python3 >/dev/null || exit 77; export PATH=$(dirname $(realpath $LOCKSTEP)):$PATH "                    \
    "PYTHONPATH=scenarios/library/python PYTHONDONTWRITEBYTECODE=1; python3 - <<'END'\n"

// As the manual's page has it; where there is no Python nothing is asked.
TEST(the_python_package_does_what_its_page_shows) {
    static const char program[] = PYTHON
        "import re\n"
        "for block in re.findall(r'```python\\n(.*?)```', open('docs/library.md').read(), re.S):\n"
        "    exec(block, globals())\n"
        "assert set(lockstep.COMMANDS) == set(lockstep.schema()['$defs'])\n"
        "studies = lockstep.run('scenarios/examples/megatron_22b_175b.lua')\n"
        "assert len(studies) > 1 and studies[0].tables()\n"
        "assert table['gpus'] == [8, 64, 512] and len(table['step_time_s.p50']) == 3\n"
        "assert answer._repr_html_().startswith('<iframe') and 'H100' in lockstep.hw('show', 'H100')._repr_html_()\n"
        "END\n";
    int status = test_shell(program, said, sizeof said);
    if (status == 77) return;
    EXPECT_INT(status, 0);
    if (status) test_fail(__FILE__, __LINE__, "%s", said);
}

TEST(the_notebooks_of_the_manual_run) {
    static const char program[] =
        PYTHON "import glob, json\n"
               "paths = sorted(glob.glob('docs/notebooks/*.ipynb'))\n"
               "assert len(paths) >= 4\n"
               "for path in paths:\n"
               "    names = {}\n"
               "    for cell in json.load(open(path))['cells']:\n"
               "        assert not cell.get('outputs')\n"
               "        if cell['cell_type'] == 'code': exec(''.join(cell['source']), names)\n"
               "END\n";
    int status = test_shell(program, said, sizeof said);
    if (status == 77) return;
    EXPECT_INT(status, 0);
    if (status) test_fail(__FILE__, __LINE__, "%s", said);
}
