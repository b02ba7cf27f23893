// Attempts to get out of the sandbox, or to make it hang, swell, crash or lie: tests/sandbox has a file a family. An
// attempt is a few lines of Lua behind a line
//     --! WHAT IT TRIES => EXIT "WHAT THE ANSWER SAYS" [ARGUMENTS]
// and stands from line 2 on in a script of its own, which the program runs with small limits. LOCKSTEP_SANDBOX=twice
// runs each twice: the answers must be the same. Families whose attempts are about that always are.
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/base/check.h"
#include "tests/child.h"
#include "tests/test.h"

#define SECONDS_MOST 600 // of a clock that runs on while others have the processors
#define PROCESSOR_SECONDS_MOST 60
#define MEMORY_MOST ((rlim_t)2 << 30)
#define WORDS_MOST 24

static const char prelude[] = "local sim = require 'lockstep' local function cluster(t) t.node = t.node or 'dgx-a100' "
                              "t.gpus = t.gpus or 8 return "
                              "sim.cluster(t) end local function job() return sim.training { model = 'gpt2-small', "
                              "seq_len = 128, batch = { micro "
                              "= 1 } } end local function fine() return sim.report { rows = { { name = 'a', simulated "
                              "= 1, published = 1, source = "
                              "'x' } } } end\n";

// ---- The folder: what attempts find beside the script, and what they must not.

static char folder[PATH_MAX], program[PATH_MAX];

static void put(const char *name, const char *text) {
    FILE *file = fopen(name, "wb");
    CHECK(file);
    fputs(text, file);
    fclose(file);
}

static void put_again(const char *name, const char *part, int times) {
    FILE *file = fopen(name, "wb");
    CHECK(file);
    for (int i = 0; i < times; i++) fputs(part, file);
    fclose(file);
}

static void make_outside(void) {
    CHECK(mkdir("outside", 0700) == 0 && mkdir("in", 0700) == 0);
    put("outside/secret.json", "{\"SECRET\": \"SECRET\", \"model_type\": \"SECRET\"}\n");
    put("outside/secret.csv", "SECRET,SECRET\n1,2\n");
    put("outside/secret.lua", "error 'SECRET'\n");
}

static void make_modules(void) {
    put("module.lua", "return {}\n");
    put("binary.lua", "\033LuaT\n");
    put("endless.lua", "while true do end\n");
    put("yields.lua", "coroutine.yield()\n");
    put("circle_a.lua", "require 'circle_b'\n");
    put("circle_b.lua", "require 'circle_a'\n");
    put("evil.so", "\177ELF");
    CHECK(symlink("../outside/secret.lua", "link_out.lua") == 0 && symlink("/dev/zero", "zeros.lua") == 0);
    CHECK(mkfifo("pipe.lua", 0600) == 0 && mkdir("folder.lua", 0700) == 0);
}

static void make_data(void) {
    put("config.json", "{\"model_type\": \"gpt2\", \"n_layer\": 2, \"n_embd\": 64, \"n_head\": 2}\n");
    put("cut.json", "{\"model_type\": \"gpt2\", \"n_layer\": ");
    put("entity.xml", "<?xml version=\"1.0\"?><!DOCTYPE a [<!ENTITY x SYSTEM \"file:///etc/passwd\">]>"
                      "<system version=\"1\"><cpu numaid=\"&x;\"/></system>\n");
    put("laughs.xml", "<?xml version=\"1.0\"?><!DOCTYPE a [<!ENTITY a \"aaaaaaaaaa\">"
                      "<!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;\"><!ENTITY c \"&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;\">"
                      "<!ENTITY d \"&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;\"><!ENTITY e \"&d;&d;&d;&d;&d;&d;&d;&d;&d;&d;\">"
                      "<!ENTITY f \"&e;&e;&e;&e;&e;&e;&e;&e;&e;&e;\"><!ENTITY g \"&f;&f;&f;&f;&f;&f;&f;&f;&f;&f;\">"
                      "]><system version=\"1\">&g;&g;&g;&g;&g;&g;&g;&g;&g;&g;</system>\n");
    put_again("deep.json", "[", 100000);
    put("huge.json", "{}");
    CHECK(truncate("huge.json", (off_t)3 << 30) == 0);
    CHECK(symlink("../outside/secret.json", "link.json") == 0 && symlink("../outside", "link") == 0);
    CHECK(symlink("/dev/zero", "zeros.json") == 0 && symlink("circle.json", "circle.json") == 0);
    CHECK(symlink("/proc/self/environ", "environment.json") == 0);
    CHECK(mkfifo("pipe.json", 0600) == 0 && mkdir("folder", 0700) == 0);
}

static void enter_folder(void) {
    CHECK(realpath(getenv("LOCKSTEP"), program));
    strcpy(folder, "/tmp/lockstep-sandbox-XXXXXX");
    CHECK(mkdtemp(folder) && chdir(folder) == 0);
    make_outside();
    CHECK(chdir("in") == 0);
    make_modules();
    make_data();
}

static void leave_folder(const char *home) {
    char line[PATH_MAX + 16], said[64];
    CHECK(chdir(home) == 0);
    snprintf(line, sizeof line, "rm -rf %s", folder);
    test_shell(line, said, sizeof said);
}

// ---- One run.

typedef struct Answer {
    int status; // exit status, or 128 + the signal
    char text[1 << 16];
    size_t length;
} Answer;

static void limit(int what, rlim_t most) { setrlimit(what, &(struct rlimit){most, most}); }

static _Noreturn void be_program(char **words, int output) {
    int input = open("../outside/secret.json", O_RDONLY);
    dup2(input, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    close_range(3, ~0U, 0);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_CPU, PROCESSOR_SECONDS_MOST);
    if (!HAS_ADDRESS_SANITIZER) limit(RLIMIT_AS, MEMORY_MOST);
    setenv("LOCKSTEP_SECRET", "SECRET", 1);
    alarm(SECONDS_MOST);
    execv(program, words);
    _exit(126);
}

static void run_program(const char *arguments, double cpu_limit_s, Answer *answer) {
    char line[512], *words[WORDS_MOST];
    int count = 0, ends[2];
    snprintf(line, sizeof line, "lockstep run s.lua --memory-limit=16MiB --step-limit=500000 --cpu-limit=%gs %s",
             cpu_limit_s, arguments);
    for (char *word = strtok(line, " "); word && count < WORDS_MOST - 1; word = strtok(NULL, " "))
        words[count++] = word;
    words[count] = NULL;
    CHECK(pipe(ends) == 0);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) be_program(words, ends[1]);
    close(ends[1]);
    ssize_t got;
    char spill[4096];
    answer->length = 0;
    while ((got = read(ends[0], spill, sizeof spill)) > 0)
        for (ssize_t i = 0; i < got; i++)
            if (answer->length + 1 < sizeof answer->text) answer->text[answer->length++] = spill[i];
    answer->text[answer->length] = '\0';
    close(ends[0]);
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    answer->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// ---- What no answer may hold.

static bool commands_terminal(const Answer *answer) {
    for (size_t i = 0; i < answer->length; i++) {
        unsigned char byte = (unsigned char)answer->text[i];
        unsigned char before = i > 0 ? (unsigned char)answer->text[i - 1] : 0;
        if ((byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f) return true;
        if ((before == 0xc2 || before < 0x80) && byte >= 0x80 && byte < 0xa0) return true; // by itself, or as UTF-8
    }
    return false;
}

static bool shows_address(const char *text) {
    for (const char *at = strstr(text, "0x"); at; at = strstr(at + 2, "0x"))
        if (strspn(at + 2, "0123456789abcdef") >= 8) return true;
    return false;
}

static const char *leak_of(const Answer *answer) {
    if (strstr(answer->text, "SECRET")) return "tells a secret";
    if (strstr(answer->text, "root:x:")) return "tells of the machine's users";
    if (shows_address(answer->text)) return "shows an address";
    if (commands_terminal(answer)) return "commands the terminal";
    if (strstr(answer->text, "lockstep broke its own rule")) return "breaks a rule of ours";
    if (strstr(answer->text, "ERROR: AddressSanitizer") || strstr(answer->text, "runtime error:"))
        return "is undefined behaviour";
    return NULL;
}

// ---- The list.

typedef struct Attempt {
    char what[160], says[160], arguments[160];
    int status;
} Attempt;

static bool read_attempt(const char *line, Attempt *attempt) {
    *attempt = (Attempt){0};
    const char *arrow = strstr(line, " => "), *quote = arrow ? strchr(arrow, '"') : NULL;
    if (!quote) return false;
    snprintf(attempt->what, sizeof attempt->what, "%.*s", (int)(arrow - line), line);
    attempt->status = atoi(arrow + 4);
    size_t length = 0;
    for (quote++; *quote && *quote != '"' && length + 1 < sizeof attempt->says; quote++) {
        if (*quote == '\\') quote++;
        attempt->says[length++] = *quote;
    }
    const char *bracket = *quote ? strchr(quote, '[') : NULL;
    if (bracket)
        snprintf(attempt->arguments, sizeof attempt->arguments, "%.*s", (int)strcspn(bracket + 1, "]"), bracket + 1);
    return true;
}

// Little where the seconds may be what ends it; else so many that what is said to end it comes first, however slow the
// machine is.
static double cpu_limit_of(const Attempt *attempt) {
    static const char *const any_limit[] = {"error", "more", "more than"};
    bool by_time = strstr(attempt->says, "of processor time") != NULL;
    for (size_t i = 0; i < sizeof any_limit / sizeof *any_limit; i++)
        by_time = by_time || strcmp(attempt->says, any_limit[i]) == 0;
    return by_time ? HAS_ADDRESS_SANITIZER ? 2 : 0.2 : 20;
}

static void try(const char *family, const Attempt *attempt, const char *lua, bool twice) {
    static Answer first, second;
    FILE *script = fopen("s.lua", "wb");
    CHECK(script);
    fprintf(script, "%s%s", prelude, lua);
    fclose(script);
    double cpu_limit_s = cpu_limit_of(attempt);
    run_program(attempt->arguments, cpu_limit_s, &first);
    if (twice) run_program(attempt->arguments, cpu_limit_s, &second);
    const char *leak = leak_of(&first), *wrong = NULL;
    if (first.status != attempt->status) wrong = "ends in another way";
    if (!strstr(first.text, attempt->says)) wrong = "says something else";
    if (leak) wrong = leak;
    if (twice && (first.status != second.status || strcmp(first.text, second.text) != 0))
        wrong = "differs from run to run";
    if (!wrong) return;
    test_fail(__FILE__, __LINE__, "%s, %s: %s; exit %d (expected %d), \"%s\" expected in:\n%.600s", family,
              attempt->what, wrong, first.status, attempt->status, attempt->says, first.text);
}

// How many there are.
static int try_family(const char *home, const char *family, bool twice) {
    char path[2 * PATH_MAX], line[1 << 12];
    static char lua[1 << 14];
    Attempt attempt;
    int count = 0;
    snprintf(path, sizeof path, "%s/tests/sandbox/%s.lua", home, family);
    FILE *file = fopen(path, "rb");
    CHECK(file);
    while (fgets(line, sizeof line, file)) {
        if (strncmp(line, "--! ", 4) != 0) {
            if (count > 0) strncat(lua, line, sizeof lua - strlen(lua) - 1);
            continue;
        }
        if (count++ > 0) try(family, &attempt, lua, twice);
        *lua = '\0';
        CHECK(read_attempt(line + 4, &attempt));
    }
    fclose(file);
    if (count > 0) try(family, &attempt, lua, twice);
    return count;
}

static void try_families(const char *const *families, int family_count, int least, bool twice) {
    char home[PATH_MAX];
    int count = 0;
    CHECK(getcwd(home, sizeof home));
    enter_folder();
    for (int i = 0; i < family_count; i++) count += try_family(home, families[i], twice || getenv("LOCKSTEP_SANDBOX"));
    leave_folder(home);
    EXPECT(count >= least);
}

#define FAMILIES(least_, twice_, ...)                                                                                  \
    static const char *const families[] = {__VA_ARGS__};                                                               \
    try_families(families, sizeof families / sizeof *families, least_, twice_)

LONG_TEST(2, attempts_to_reach_outside_are_refused_with_a_sentence) { FAMILIES(70, false, "library", "tables"); }
LONG_TEST(4, attempts_to_run_on_and_on_or_to_swell_are_stopped_with_a_sentence) { FAMILIES(70, false, "limits"); }
LONG_TEST(2, attempts_to_read_files_outside_are_refused_with_a_sentence) { FAMILIES(60, false, "files"); }
LONG_TEST(2, attempts_by_strange_values_are_refused_with_a_sentence) { FAMILIES(40, true, "values"); }
TEST(attempts_by_hostile_arguments_are_refused_with_a_sentence) { FAMILIES(70, false, "arguments"); }
TEST(attempts_from_inside_of_callbacks_are_refused_with_a_sentence) { FAMILIES(20, false, "callbacks"); }
TEST(attempts_to_command_the_terminal_are_shown_and_not_obeyed) { FAMILIES(15, false, "terminal"); }
