// Whatever the system refuses, in turn: memory, and every kind of call. The program ends with a sentence or as if
// nothing had been; outputs are whole or absent; a store goes on.
#include <dirent.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>

#include "tests/child.h"
#include "tests/fail/calls.h"
#include "tests/fail/fail.h"
#include "tests/sweep_store.h"
#include "tests/test.h"

#define LATE 1500     // what is asked for once everything has been read
#define LONGEST_S 600 // by a clock that runs on while others have the processors
#define LONGEST_OUTPUT (1 << 16)

enum { MEMORY = CALL_KINDS, KINDS }; // one more kind of failure

static const char *kind_name(int kind) { return kind == MEMORY ? "memory" : call_kinds[kind].name; }

// ---- What is run.

typedef struct Job {
    const char *name;
    const char *line;       // words; "@" is the folder
    const char *outputs[3]; // files that it writes, whole or not at all
    const char *store;
} Job;

static const Job jobs[] = {
    {"run", "run @/in/s.lua -o @/out.json", {"out.json"}, NULL},
    {"trace", "trace @/in/s.lua -o @/t.json.gz", {"t.json.gz"}, NULL},
    {"plot", "run @/in/s.lua -q --plot=breakdown --plot-dir @", {"s-breakdown.png"}, NULL},
    {"sweep", "sweep @/in/s.lua -j1 -q -o @/s.db", {NULL}, "s.db"},
    {"plan",
     "plan --model mlp-mnist --samples 1000 --node dgx-a100 --gpus 1:4 --global-batch 8 -j 2 --date 2026-01-01",
     {NULL},
     NULL},
    {"validate", "validate kernels @/in/gemm.csv --rows @/rows.csv", {"rows.csv"}, NULL},
    {"fit", "validate kernels @/in/gemm.csv --held-out", {NULL}, NULL},
};
enum { JOBS = sizeof jobs / sizeof *jobs };

static void make_inputs(void) {
    clear();
    mkdir(in_folder("in"), 0777);
    mkdir(in_folder("bin"), 0777);
    put_text("in/s.lua", "local sim = require 'lockstep'\n"
                         "return sim.study { on = sim.cluster { node = 'dgx-a100', gpus = 2 },\n"
                         "  run = sim.training { model = 'mlp-mnist', batch = { micro = 8 } },\n"
                         "  vary = { gpus = { 1, 2 } } }\n");
    // A gnuplot that draws at once.
    put_text("bin/gnuplot", "#!/bin/sh\nprintf '\\211PNG\\r\\n\\032\\n and a picture'\n");
    EXPECT_INT(shell("chmod +x {DIR}/bin/gnuplot; head -60 calibrate/measurements/gemm.csv > {DIR}/in/gemm.csv"), 0);
}

static const char *library(void) {
    static char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 16);
    char *slash = length > 0 ? memrchr(path, '/', (size_t)length) : NULL;
    if (slash) strcpy(slash, "/fail.so");
    return path;
}

// ---- One run.

typedef struct Failure {
    int kind;
    int64_t number; // 0: none, count only
    bool forever;
} Failure;

typedef struct Run {
    int status; // exit status, 128 + signal, -1: it did not end
    int64_t counts[KINDS];
    bool is_watched;
    char out[LONGEST_OUTPUT], said[8192];
} Run;

static void slurp(const char *path, char *text, size_t room) {
    FILE *file = fopen(path, "r");
    size_t got = file ? fread(text, 1, room - 1, file) : 0;
    text[got] = '\0';
    if (file) fclose(file);
}

static void become_program(const Job *job, int plan, int socket) {
    char line[1024], *words[64], number[16], path[4096];
    size_t length = 0;
    int count = 0;
    for (const char *c = job->line; *c && length + 100 < sizeof line; c++)
        length += (size_t)snprintf(line + length, sizeof line - length, *c == '@' ? "%s" : "%.1s",
                                   *c == '@' ? getenv("LOCKSTEP_FAIL_FOLDER") : c);
    words[count++] = getenv("LOCKSTEP");
    for (char *word = strtok(line, " "); word; word = strtok(NULL, " ")) words[count++] = word;
    words[count] = NULL;
    snprintf(number, sizeof number, "%d", plan);
    setenv("LOCKSTEP_FAIL_PLAN", number, 1);
    snprintf(number, sizeof number, "%d", socket);
    setenv("LOCKSTEP_FAIL_SOCKET", number, 1);
    snprintf(path, sizeof path, "%s/bin:%s", getenv("LOCKSTEP_FAIL_FOLDER"), getenv("PATH"));
    setenv("PATH", path, 1);
    setenv("LD_PRELOAD", library(), 1);
    setenv("ASAN_OPTIONS", "detect_leaks=0", 1); // its search for them makes calls of its own
    execv(words[0], words);
    _exit(126);
}

static int receive_descriptor(int socket) {
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    char byte = 0;
    int descriptor = -1;
    struct iovec piece = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &piece, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != 1 || byte != '+' || !CMSG_FIRSTHDR(&message)) return -1;
    memcpy(&descriptor, CMSG_DATA(&control.head), sizeof descriptor);
    return descriptor;
}

static bool is_lockstep(pid_t process) {
    char link[64], path[4096];
    static char own[4096];
    if (!*own && !realpath(getenv("LOCKSTEP"), own)) return false;
    snprintf(link, sizeof link, "/proc/%d/exe", (int)process);
    ssize_t length = readlink(link, path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    return strcmp(path, own) == 0;
}

// What is written to standard error is let through: there the sentence is to stand.
static bool is_meant(const struct seccomp_notif *call, CallKind kind) {
    if (!is_lockstep((pid_t)call->pid)) return false;
    return !(kind == CALL_WRITE && call->data.args[0] == STDERR_FILENO);
}

static void decide(int listener, const Failure *failure, Run *run) {
    struct seccomp_notif call = {0};
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) != 0) return;
    struct seccomp_notif_resp answer = {.id = call.id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
    for (int i = 0; i < CALLS; i++) {
        if (calls[i].number != call.data.nr || !is_meant(&call, calls[i].kind)) continue;
        int64_t number = ++run->counts[calls[i].kind];
        if (failure->kind != (int)calls[i].kind || failure->number == 0) continue;
        if (number != failure->number && !(failure->forever && number > failure->number)) continue;
        answer = (struct seccomp_notif_resp){.id = call.id, .error = -call_kinds[calls[i].kind].error};
        if (call.data.nr == SYS_brk) answer.error = 0; // which fails by not moving
    }
    ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void oversee(pid_t child, int listener, const Failure *failure, Run *run) {
    int status = 0;
    double until = now_s() + LONGEST_S;
    for (;;) {
        struct pollfd polled = {listener, POLLIN, 0};
        int ready = poll(&polled, 1, 2);
        if (ready > 0 && polled.revents & POLLIN) decide(listener, failure, run);
        if (ready > 0 && !(polled.revents & POLLIN)) usleep(1000);
        if (ready > 0 && polled.revents & POLLIN) continue;
        if (waitpid(child, &status, WNOHANG) == child) break;
        if (now_s() < until) continue;
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        run->status = -1;
        return;
    }
    run->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void run_failing(const Job *job, const Failure *failure, Run *run) {
    int ends[2] = {-1, -1}, plan_file = memfd_create("plan", 0);
    *run = (Run){.status = -1};
    if (plan_file < 0 || ftruncate(plan_file, sizeof(FailPlan)) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        return;
    FailPlan *plan = mmap(NULL, sizeof *plan, PROT_READ | PROT_WRITE, MAP_SHARED, plan_file, 0);
    bool watch = failure->kind != MEMORY;
    *plan = (FailPlan){.watch_calls = watch, .forever = failure->forever};
    if (failure->kind == MEMORY) plan->memory_fails_at = failure->number;
    setenv("LOCKSTEP_FAIL_FOLDER", folder(), 1);
    const char *out = in_folder("stdout"), *said = in_folder("stderr");
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        int files[2] = {open(out, O_WRONLY | O_CREAT | O_TRUNC, 0666), open(said, O_WRONLY | O_CREAT | O_TRUNC, 0666)};
        struct rlimit no_core = {0, 0};
        setrlimit(RLIMIT_CORE, &no_core);
        signal(SIGABRT, SIG_DFL);
        dup2(files[0], STDOUT_FILENO);
        dup2(files[1], STDERR_FILENO);
        close(ends[0]);
        become_program(job, plan_file, ends[1]);
    }
    close(ends[1]);
    int listener = watch ? receive_descriptor(ends[0]) : -1;
    run->is_watched = listener >= 0;
    oversee(child, listener, failure, run);
    run->counts[MEMORY] = plan->allocations;
    munmap(plan, sizeof *plan);
    close(plan_file);
    close(ends[0]);
    if (listener >= 0) close(listener);
    slurp(out, run->out, sizeof run->out);
    slurp(said, run->said, sizeof run->said);
}

// ---- What must hold.

static void forget_outputs(void) {
    shell("cd {DIR}; rm -rf s.db* *.json *.csv *.png *.gz *.tmp* *.merging* *.mending*");
}

static bool equal_files(const char *name, const char *kept) {
    char line[256];
    snprintf(line, sizeof line, "cmp -s {DIR}/%s {DIR}/%s", name, kept);
    return shell(line) == 0;
}

static const char *strange_file(const Job *job) {
    static char found[256];
    DIR *list = opendir(folder());
    *found = '\0';
    for (struct dirent *entry; list && (entry = readdir(list));) {
        const char *name = entry->d_name;
        bool known = name[0] == '.' || strcmp(name, "in") == 0 || strcmp(name, "bin") == 0 ||
                     strncmp(name, "ref", 3) == 0 || strncmp(name, "std", 3) == 0;
        for (int i = 0; i < 3 && job->outputs[i]; i++) known = known || strcmp(name, job->outputs[i]) == 0;
        if (job->store && strncmp(name, job->store, strlen(job->store)) == 0) known = !strstr(name, "mending");
        if (!known) snprintf(found, sizeof found, "%s", name);
    }
    if (list) closedir(list);
    return *found ? found : NULL;
}

// A sentence for the user, in the form that all have.
static bool has_sentence(const char *said) {
    return strstr(said, "error: ") || strstr(said, "lockstep: out of memory") || strstr(said, "points failed");
}

static const char *store_goes_on(const Job *job) {
    static Run again;
    Failure none = {.kind = MEMORY};
    Job retry = *job;
    char line[256];
    snprintf(line, sizeof line, "%s --retry-failed", job->line);
    retry.line = line;
    run_failing(&retry, &none, &again);
    if (again.status != 0) return again.said[0] ? again.said : "resuming failed without a word";
    return same_store(in_folder("s.db"), in_folder("ref.db")) ? NULL : "the resumed store is another";
}

// NULL: all that must hold, holds.
static const char *verdict(const Job *job, const Run *run, const Run *reference) {
    static char text[512];
    if (run->status < 0) return "it did not end";
    if (run->status > 4) return run->status > 128 ? "a signal ended it" : "an exit status of its own";
    if (run->status == 0 && strcmp(run->out, reference->out) != 0) return "exit 0 with another output";
    if (run->status != 0 && !has_sentence(run->said)) return "it failed without a sentence";
    if (strstr(run->said, "broke its own rule")) return "a CHECK was reached";
    for (int i = 0; i < 3 && job->outputs[i]; i++) {
        char kept[64];
        snprintf(kept, sizeof kept, "ref-%d", i);
        bool there = access(in_folder(job->outputs[i]), F_OK) == 0;
        if (!there && run->status == 0) return "exit 0 without the file";
        if (there && !equal_files(job->outputs[i], kept)) return "the file is there, but not whole";
    }
    const char *strange = strange_file(job);
    if (strange) {
        snprintf(text, sizeof text, "it left %s", strange);
        return text;
    }
    if (run->status == 0 && job->store && !same_store(in_folder("s.db"), in_folder("ref.db")))
        return "exit 0 with another store";
    return job->store && run->status != 0 ? store_goes_on(job) : NULL;
}

static void keep_reference(const Job *job) {
    char line[256];
    for (int i = 0; i < 3 && job->outputs[i]; i++) {
        snprintf(line, sizeof line, "mv {DIR}/%s {DIR}/ref-%d", job->outputs[i], i);
        EXPECT_INT(shell(line), 0);
    }
    if (job->store) EXPECT_INT(shell("mv {DIR}/s.db {DIR}/ref.db"), 0);
}

// ---- All of them.

typedef struct Tally {
    int tried, sentences, harmless;
} Tally;

static void fail_at(const Job *job, const Failure *failure, const Run *reference, Tally *tally) {
    static Run run;
    forget_outputs();
    run_failing(job, failure, &run);
    const char *wrong = verdict(job, &run, reference);
    tally->tried++;
    tally->sentences += run.status != 0;
    tally->harmless += run.status == 0;
    if (wrong)
        test_fail(__FILE__, __LINE__, "%s: %s %lld of %lld fails%s: exit %d: %s; it said: %.300s", job->name,
                  kind_name(failure->kind), (long long)failure->number, (long long)reference->counts[failure->kind],
                  failure->forever ? ", as do all after it" : "", run.status, wrong, run.said);
}

// So many numbers of 1 to count, spread evenly, with both ends; half of those of memory among the last ones.
static void fail_kind(const Job *job, int kind, int most, const Run *reference, Tally *tally) {
    int64_t count = reference->counts[kind];
    int points = (int)(count < most ? count : most);
    for (int i = 0; i < points; i++) {
        int64_t first = kind == MEMORY && i % 4 > 1 && count > LATE ? count - LATE : 1;
        int64_t number = points > 1 ? first + i * (count - first) / (points - 1) : first + (count - first) / 2;
        bool once_only = kind != MEMORY && call_kinds[kind].only_once;
        fail_at(job, &(Failure){kind, number, !once_only && i % 2 == 1}, reference, tally);
    }
}

TEST(whatever_the_system_refuses_ends_in_a_sentence_and_leaves_nothing_half_done) {
    const char *asked = getenv("LOCKSTEP_FAILURES"); // points of each kind and job
    static Run reference, counted;
    int most = asked ? atoi(asked) : 0, all = 0;
    if (access(library(), F_OK) != 0) return;
#if defined(__SANITIZE_ADDRESS__) && !defined(__clang__)
    printf("not under gcc's address sanitizer, whose library must come before any other\n");
    return;
#endif
    make_inputs();
    for (int j = 0; j < JOBS; j++) {
        forget_outputs();
        run_failing(&jobs[j], &(Failure){.kind = CALL_KINDS - 1}, &reference);
        if (reference.status != 0)
            test_fail(__FILE__, __LINE__, "%s: exit %d: %.300s", jobs[j].name, reference.status, reference.said);
        keep_reference(&jobs[j]);
        forget_outputs();
        run_failing(&jobs[j], &(Failure){.kind = MEMORY}, &counted);
        reference.counts[MEMORY] = counted.counts[MEMORY];
        if (!reference.is_watched) printf("no system calls fail here: the kernel has no seccomp listener for us\n");
        for (int kind = 0; kind < KINDS; kind++) {
            if (HAS_ADDRESS_SANITIZER && (kind == MEMORY || kind == CALL_MAP)) continue; // memory is the sanitizer's
            Tally tally = {0};
            int points = most ? kind == MEMORY ? 8 * most : most : (kind + j) % 4 == 0 || kind == MEMORY;
            fail_kind(&jobs[j], kind, points, &reference, &tally);
            if (asked && tally.tried)
                printf("%-9s %-9s %5lld calls: %3d made to fail, %3d sentences, %3d without harm\n", jobs[j].name,
                       kind_name(kind), (long long)reference.counts[kind], tally.tried, tally.sentences,
                       tally.harmless);
            all += tally.tried;
        }
    }
    if (asked)
        printf("%d points of failure. Not among them: what the dynamic loader and libc do before main, where nobody "
               "can report, and writing to standard error, where the report is to stand\n",
               all);
    clear();
}
