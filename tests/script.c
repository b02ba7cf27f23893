// Scripts as files in folders that come and go.
#include "tests/script.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/check.h"
#include "tests/test.h"

const Catalogue *test_catalogue(void) {
    static const Catalogue *catalogue;
    static Arena *arena; // for the whole program
    if (!arena) arena = arena_open();
    if (!catalogue) catalogue = catalogue_builtin(arena);
    return catalogue;
}

static void make_folder(char path[64]) {
    strcpy(path, "/tmp/lockstep-test-XXXXXX");
    CHECK(mkdtemp(path));
}

static void write_text(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    CHECK(file);
    fputs(text, file);
    fclose(file);
}

Loaded load_script(const char *text, const ScenarioRequest *given) {
    Loaded loaded = {.arena = arena_open()};
    char folder[64], path[80];
    make_folder(folder);
    snprintf(path, sizeof path, "%s/s.lua", folder);
    write_text(path, text);
    ScenarioRequest request = given ? *given : (ScenarioRequest){0};
    request.file = path;
    if (request.seed == 0) request.seed = 1;
    loaded.problems = problems_create(loaded.arena);
    loaded.usage = problems_create(loaded.arena);
    loaded.scenario = scenario_load(loaded.arena, test_catalogue(), &request, loaded.problems, loaded.usage);
    unlink(path);
    rmdir(folder);
    return loaded;
}

Loaded load_returning(const char *expression, const ScenarioRequest *request) {
    Arena *arena = arena_open();
    const char *text = arena_printf(arena,
                                    "local sim = require \"lockstep\"\n"
                                    "local cluster = sim.cluster { node = \"dgx-a100\", gpus = 8 }\n"
                                    "local job = sim.training { model = \"gpt2-124m\", batch = { micro = 4 } }\n"
                                    "return %s\n",
                                    expression);
    Loaded loaded = load_script(text, request);
    arena_close(arena);
    return loaded;
}

void unload(Loaded *loaded) { arena_close(loaded->arena); }

const char *first_problem(const Loaded *loaded) {
    const Problems *problems = problem_count(loaded->problems) ? loaded->problems : loaded->usage;
    if (problem_count(problems) == 0) return "";
    const Problem *problem = problem_at(problems, 0);
    return arena_printf(loaded->arena, "%d: %s | %s", problem->where.line, problem->text,
                        problem->hint ? problem->hint : "");
}

bool any_problem_contains(const Loaded *loaded, const char *part) {
    for (int i = 0; i < problem_count(loaded->problems); i++)
        if (strstr(problem_at(loaded->problems, i)->text, part)) return true;
    return false;
}

static bool remove_all_but_script(const char *folder) {
    bool found = false;
    char path[512];
    DIR *open = opendir(folder);
    CHECK(open);
    for (struct dirent *entry = readdir(open); entry; entry = readdir(open)) {
        if (entry->d_name[0] == '.') continue;
        found = found || strcmp(entry->d_name, "s.lua") != 0;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        unlink(path);
    }
    closedir(open);
    rmdir(folder);
    return found;
}

int run_script_text(const char *text, const char *arguments, char *output, size_t output_bytes, bool *wrote) {
    char folder[64], path[80], line[2048];
    make_folder(folder);
    snprintf(path, sizeof path, "%s/s.lua", folder);
    write_text(path, text);
    const char *mark = strstr(arguments, "{DIR}");
    int before = mark ? (int)(mark - arguments) : (int)strlen(arguments);
    snprintf(line, sizeof line, "$LOCKSTEP run %s %.*s%s%s", path, before, arguments, mark ? folder : "",
             mark ? mark + 5 : "");
    int status = test_shell(line, output, output_bytes);
    bool found = remove_all_but_script(folder);
    if (wrote) *wrote = found;
    return status;
}
