// lockstep doctor: installed and missing programs and libraries, and their use.
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "results/answer/frame.h"
#include "results/answer/last.h"
#include "sim/base/version.h"
#include "sim/system/file.h"
#include "sim/system/wall.h"

typedef struct Finding {
    const char *what, *is; // is NULL: it is not here
    const char *what_for, *remedy;
} Finding;

// ---- What there is.

// Both halves, in a process that ends with them: there is no way back.
static const char *wall(Arena *arena) {
    pid_t child = fork();
    if (child == 0) {
        const WallRules rules = {0};
        bool files = !wall_guard_files(arena, &rules), calls = !wall_guard_calls(arena, &rules);
        _exit(files + 2 * calls);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) < 0 || !WIFEXITED(status)) return NULL;
    static const char *const kinds[] = {NULL, "files alone (Landlock)", "calls alone (seccomp)",
                                        "files and calls (Landlock, seccomp)"};
    return kinds[WEXITSTATUS(status) & 3];
}

static const char *there(Arena *arena, const char *path) {
    return access(path, R_OK) == 0 ? arena_copy_text(arena, path) : NULL;
}

// ---- The answer.

static int ask(Asking *asking) {
    Arena *arena = asking->arena;
    Answer *answer = asking->answer;
    double memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    const Finding findings[] = {
        {"wall", wall(arena), "a stranger's script reads and writes what it may, and no more",
         "Linux 5.13 or newer with Landlock"},
        {"gnuplot", program_in_path(arena, "gnuplot"), "--plot", "apt install gnuplot-nox"},
        {"measurements", there(arena, shipped_file(arena, SHIPPED_MEASUREMENTS)),
         "lockstep validate, without naming files", "make install, or the folder of the sources"},
        {"lockstep-bench", shipped_program(arena, "lockstep-bench"), "lockstep calibrate run, on a GPU of your own",
         "make cuda, where nvcc is"},
        {"NVIDIA driver", there(arena, "/proc/driver/nvidia/version"), "lockstep-bench", "a GPU of your own"},
        {"lockstep-mpi", shipped_program(arena, "lockstep-mpi"), "sweeps and plans on many machines",
         "make mpi, where mpicc is"},
        {"state", last_folder(arena), "--last", "HOME or XDG_STATE_HOME, an absolute path"},
    };
    static const AnswerColumn columns[] = {
        {"what", "", AS_TEXT, 0},
        {"here", "here", AS_TEXT, 0},
        {"path", NULL, AS_TEXT, 0},
        {"for", "for", AS_TEXT, 0},
        {"remedy", "if you need it", AS_TEXT, 1},
    };
    int missing = 0;
    for (int i = 0; i < (int)(sizeof findings / sizeof *findings); i++) missing += !findings[i].is;
    answer_say(answer, NULL, "lockstep %s on %ld cores with %s of memory: %s.", program_version(),
               sysconf(_SC_NPROCESSORS_ONLN), answer_value_text(arena, answer, answer_of(AS_BYTES, memory)),
               missing ? arena_printf(arena, "it simulates, without %d of what it can use", missing)
                       : "all that it can use is here");
    answer_number(answer, "cores", NULL, AS_WHOLE, (double)sysconf(_SC_NPROCESSORS_ONLN));
    answer_number(answer, "memory_bytes", NULL, AS_BYTES, memory);
    answer_number(answer, "missing", NULL, AS_WHOLE, missing);
    answer_table(answer, "findings", NULL, COLUMNS(columns));
    for (int i = 0; i < (int)(sizeof findings / sizeof *findings); i++) {
        const Finding *one = &findings[i];
        ANSWER_ROW(answer, one->what, one->is ? "yes" : "no", one->is, one->what_for, one->is ? NULL : one->remedy);
    }
    return EXIT_DONE;
}

static const Question question_doctor = {
    .name = "doctor",
    .usage = "lockstep doctor [--json]",
    .about =
        "What the program finds on this machine, what it lacks, and what each is for. It simulates without any of it.",
    .ask = ask};

int command_doctor(int argc, char **argv);
int command_doctor(int argc, char **argv) { return frame_run(&question_doctor, argc, argv); }
