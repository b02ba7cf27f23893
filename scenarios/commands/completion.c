// Shell completion: scripts for three shells, which call this program for every word.
#include "scenarios/commands/completion.h"

#include <stdio.h>
#include <string.h>

#include "models/hardware/hardware.h"
#include "models/hardware/parts.h"
#include "models/workload/model/model.h"
#include "sim/base/arena.h"
#include "sim/base/options.h"

static const struct {
    const char *name, *script;
} shells[] = {
    {"bash", "# lockstep completion bash: for ~/.bashrc: eval \"$(lockstep completion bash)\"\n"
             "_lockstep() {\n"
             "  local words\n"
             "  words=$(lockstep completion words \"${COMP_WORDS[@]:1:COMP_CWORD}\" 2>/dev/null)\n"
             "  COMPREPLY=($(compgen -W \"$words\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n"
             "}\n"
             "complete -o default -F _lockstep lockstep\n"},
    {"zsh", "#compdef lockstep\n"
            "# lockstep completion zsh: for ~/.zshrc, after compinit: eval \"$(lockstep completion zsh)\"\n"
            "_lockstep() {\n"
            "  local -a words_here\n"
            "  words_here=(${(f)\"$(lockstep completion words \"${(@)words[2,CURRENT]}\" 2>/dev/null)\"})\n"
            "  compadd -a words_here || _files\n"
            "}\n"
            "if [ \"$funcstack[1]\" = _lockstep ]; then _lockstep \"$@\"; else compdef _lockstep lockstep; fi\n"},
    {"fish", "# lockstep completion fish: lockstep completion fish > ~/.config/fish/completions/lockstep.fish\n"
             "function __lockstep_words\n"
             "  set -l before (commandline -opc)\n"
             "  lockstep completion words $before[2..-1] (commandline -ct) 2>/dev/null\n"
             "end\n"
             "complete -c lockstep -a '(__lockstep_words)'\n"},
};
#define SHELL_COUNT ((int)(sizeof shells / sizeof *shells))

// Words after a command, before its options.
static const struct {
    const char *command;
    const char *words[8];
    bool needed; // before any option
} actions[] = {
    {"hw", {"list", "show", "check", "fields"}, false},
    {"model", {"list", "show"}, false},
    {"job", {"fields", "software", "strategies"}, false},
    {"validate", {"collectives", "training", "kernels", "reliability", "convergence"}, true},
    {"calibrate", {"run", "import", "fit", "show", "recovery"}, true},
    {"report", {"run", "plan", "goodput", "queue", "lesson"}, true},
    {"lesson", {"list", "start", "guess", "check", "hint", "grade", "sheet"}, false},
    {"completion", {"bash", "zsh", "fish"}, true},
};
#define ACTION_COUNT ((int)(sizeof actions / sizeof *actions))

// Options whose value is a name of the catalogue.
static const struct {
    const char *option;
    PartKind kind;
} parts_of[] = {
    {"gpu", PART_GPU}, {"node", PART_NODE}, {"link", PART_FABRIC}, {"fabric", PART_FABRIC}, {"storage", PART_STORAGE}};
#define PARTS_OF_COUNT ((int)(sizeof parts_of / sizeof *parts_of))

static bool begins(const char *word, const char *start) { return strncmp(word, start, strlen(start)) == 0; }

static void offer(const char *word, const char *start) {
    if (begins(word, start)) printf("%s\n", word);
}

static bool offer_models(const char *start) {
    int count;
    const char *const *names = model_names(&count);
    for (int i = 0; i < count; i++) offer(names[i], start);
    return true;
}

static bool offer_parts(PartKind kind, const char *start) {
    Arena *arena = arena_open();
    const Catalogue *catalogue = catalogue_builtin(arena);
    int count;
    const char *parts = catalogue_parts(catalogue, kind, &count);
    for (int i = 0; i < count; i++) offer(part_name(parts + (size_t)i * part_tables[kind].bytes), start);
    arena_close(arena);
    return true;
}

static bool offer_names(const char *option, const char *start) {
    if (strcmp(option, "model") == 0) return offer_models(start);
    for (int i = 0; i < PARTS_OF_COUNT; i++)
        if (strcmp(option, parts_of[i].option) == 0) return offer_parts(parts_of[i].kind, start);
    return false;
}

static bool offer_actions(const char *command, const char *start) {
    for (int i = 0; i < ACTION_COUNT; i++) {
        if (strcmp(actions[i].command, command) != 0) continue;
        for (int w = 0; actions[i].words[w]; w++) offer(actions[i].words[w], start);
        return true;
    }
    return false;
}

static bool is_action(const char *command, const char *word) {
    for (int i = 0; i < ACTION_COUNT; i++)
        for (int w = 0; actions[i].words[w]; w++)
            if (strcmp(actions[i].command, command) == 0 && strcmp(actions[i].words[w], word) == 0) return true;
    return false;
}

static bool is_known(const char *command, const CommandNames *commands) {
    for (int i = 0; i < commands->count; i++)
        if (strcmp(commands->names[i], command) == 0) return true;
    return false;
}

static bool needs_action(const char *command) {
    for (int i = 0; i < ACTION_COUNT; i++)
        if (strcmp(actions[i].command, command) == 0) return actions[i].needed;
    return false;
}

// run and sweep have a job's options where no script is named.
static bool takes_a_job(char **words, int count) {
    if (strcmp(words[0], "run") != 0 && strcmp(words[0], "sweep") != 0) return false;
    return count < 3 || begins(words[1], "-");
}

// The command prints its own options in place of its help.
static void offer_options(char **words, int count, const char *option, const char *start,
                          const CommandNames *commands) {
    static char program[] = "lockstep", help[] = "--help", of_a_job[] = "--model=gpt2-124m";
    char *line[] = {program, words[0], help, NULL, NULL};
    if (count > 2 && is_action(words[0], words[1]))
        line[3] = words[1];
    else if (takes_a_job(words, count))
        line[3] = of_a_job;
    else if (needs_action(words[0]) || !is_known(words[0], commands))
        return;
    if (line[3]) {
        line[2] = line[3];
        line[3] = help;
    }
    options_offer(option, start);
    commands->run(line[3] ? 4 : 3, line);
    options_offer(NULL, NULL);
}

static void offer_words(char **words, int count, const CommandNames *commands) {
    const char *last = words[count - 1], *before = count > 2 ? words[count - 2] : "";
    if (count == 1) {
        for (int i = 0; i < commands->count; i++) offer(commands->names[i], last);
        return;
    }
    if (begins(before, "--")) {
        if (!offer_names(before + 2, last)) offer_options(words, count, before + 2, last, commands);
    } else if (begins(last, "-")) {
        offer_options(words, count, NULL, last, commands);
    } else if (count == 2) {
        offer_actions(words[0], last);
    } else if (strcmp(words[0], "model") == 0) {
        offer_models(last);
    } else if (strcmp(words[0], "hw") == 0) {
        for (int kind = 0; kind < PART_KIND_COUNT; kind++) offer_parts((PartKind)kind, last);
    }
}

int completion_command(int argc, char **argv, const CommandNames *commands) {
    if (argc > 2 && strcmp(argv[1], "words") == 0) {
        offer_words(argv + 2, argc - 2, commands);
        return 0;
    }
    for (int i = 0; i < SHELL_COUNT && argc == 2; i++)
        if (strcmp(argv[1], shells[i].name) == 0) {
            fputs(shells[i].script, stdout);
            return 0;
        }
    bool help = argc == 2 && strcmp(argv[1], "--help") == 0;
    fprintf(help ? stdout : stderr, "usage: lockstep completion bash|zsh|fish\n\n"
                                    "Prints what lets that shell complete commands, options and names at TAB; its "
                                    "first line says where to put it.\n");
    return help ? 0 : 2;
}
