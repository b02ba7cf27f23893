// Workers are forked processes with a socket each: an item number goes in, a length and the answer's bytes come back.
#include "sim/system/workers.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/base/check.h"
#include "sim/system/watch.h"

typedef struct Worker {
    pid_t process;
    int socket;
    int said; // its standard error, a file in memory
    bool busy;
    int64_t item;
} Worker;

struct WorkerPool {
    PoolWork *work;
    void *context;
    int size;
    Worker *workers;
};

static bool receive_all(int socket, void *bytes, size_t count) {
    for (size_t done = 0; done < count;) {
        ssize_t got = recv(socket, (char *)bytes + done, count - done, 0);
        if (got == 0 || (got < 0 && errno != EINTR)) return false;
        if (got > 0) done += (size_t)got;
    }
    return true;
}

static bool send_all(int socket, const void *bytes, size_t count) {
    for (size_t done = 0; done < count;) {
        ssize_t sent = send(socket, (const char *)bytes + done, count - done, MSG_NOSIGNAL);
        if (sent < 0 && errno != EINTR) return false;
        if (sent > 0) done += (size_t)sent;
    }
    return true;
}

// ---- In the worker.

static _Noreturn void work_until_closed(const WorkerPool *pool, int socket) {
    int64_t item;
    while (receive_all(socket, &item, sizeof item)) {
        Arena *arena = arena_open();
        size_t bytes = 0;
        char *answer = pool->work(pool->context, arena, item, &bytes);
        uint64_t size = bytes;
        if (!send_all(socket, &size, sizeof size) || !send_all(socket, answer, bytes)) {
            fprintf(stderr, "its answer could not be sent: %s\n", strerror(errno));
            _exit(1);
        }
        arena_close(arena);
    }
    _exit(0);
}

static _Noreturn void be_worker(const WorkerPool *pool, int socket, int said, pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(0);
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGUSR1, SIG_IGN);
    dup2(said, STDERR_FILENO);
    watch_quiet();
    // Nothing of the parent's stays open here: no lock outlives it, and the others' sockets end with it.
    if (socket > 3) close_range(3, (unsigned)socket - 1, 0);
    close_range((unsigned)socket + 1, ~0U, 0);
    work_until_closed(pool, socket);
}

// ---- In the parent.

// False: errno has the reason, and the worker does not exist.
static bool start(WorkerPool *pool, Worker *worker) {
    int ends[2] = {-1, -1};
    pid_t parent = getpid();
    *worker = (Worker){.socket = -1, .said = memfd_create("said", MFD_CLOEXEC)};
    if (worker->said >= 0 && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0) {
        fflush(NULL);
        worker->process = fork();
        if (worker->process == 0) {
            close(ends[0]);
            be_worker(pool, ends[1], worker->said, parent);
        }
    }
    int why = errno;
    if (ends[1] >= 0) close(ends[1]);
    worker->socket = ends[0];
    if (worker->process > 0) return true;
    if (ends[0] >= 0) close(ends[0]);
    if (worker->said >= 0) close(worker->said);
    *worker = (Worker){.socket = -1, .said = -1};
    errno = why;
    return false;
}

static bool is_there(const Worker *worker) { return worker->process > 0; }

WorkerPool *worker_pool_open(int size, PoolWork *work, void *context, Problems *problems) {
    WorkerPool *pool = memory_or_end(sizeof *pool);
    CHECK(size > 0);
    *pool = (WorkerPool){work, context, size, memory_or_end((size_t)size * sizeof(Worker))};
    for (int i = 0; i < size; i++) pool->workers[i] = (Worker){.socket = -1, .said = -1};
    int started = 0;
    while (started < size && start(pool, &pool->workers[started])) started++;
    if (started > 0) return pool; // fewer than asked for do the work, too
    problem_add(problems, (Where){0}, "no process can be started: %s", strerror(errno));
    problem_hint(problems, "end others, or allow more (ulimit -u, the job's or container's limit)");
    worker_pool_close(pool);
    return NULL;
}

// Its exit status as waitpid gives it.
static int end(Worker *worker) {
    int status = 0;
    close(worker->socket);
    while (waitpid(worker->process, &status, 0) < 0 && errno == EINTR) {}
    return status;
}

void worker_pool_close(WorkerPool *pool) {
    for (int i = 0; i < pool->size; i++)
        if (is_there(&pool->workers[i])) kill(pool->workers[i].process, SIGKILL);
    for (int i = 0; i < pool->size; i++) {
        if (!is_there(&pool->workers[i])) continue;
        end(&pool->workers[i]);
        close(pool->workers[i].said);
    }
    free(pool->workers);
    free(pool);
}

int worker_pool_busy(const WorkerPool *pool) {
    int busy = 0;
    for (int i = 0; i < pool->size; i++) busy += pool->workers[i].busy;
    return busy;
}

static bool is_idle(const Worker *worker) { return is_there(worker) && !worker->busy; }

bool worker_pool_has_idle(const WorkerPool *pool) {
    for (int i = 0; i < pool->size; i++)
        if (is_idle(&pool->workers[i])) return true;
    return false;
}

void worker_pool_give(WorkerPool *pool, int64_t item) {
    Worker *worker = pool->workers, *behind = worker + pool->size;
    while (worker < behind && !is_idle(worker)) worker++;
    CHECK(worker < behind);
    worker->busy = true;
    worker->item = item;
    // A worker that died meanwhile, or cannot be reached, is handled in worker_pool_wait.
    if (!send_all(worker->socket, &item, sizeof item)) kill(worker->process, SIGKILL);
}

// The last line that the worker wrote.
static const char *last_words(Arena *arena, int said) {
    off_t size = lseek(said, 0, SEEK_END), room = size < 2000 ? size : 2000;
    char *text = arena_alloc(arena, (size_t)room + 1);
    ssize_t got = pread(said, text, (size_t)room, size - room);
    while (got > 0 && text[got - 1] == '\n') got--;
    text[got > 0 ? got : 0] = '\0';
    char *line = strrchr(text, '\n');
    return line ? line + 1 : text;
}

static PoolAnswer obituary(Arena *arena, Worker *worker) {
    PoolAnswer answer = {.item = worker->item};
    int status = end(worker);
    const char *words = last_words(arena, worker->said), *how;
    if (WIFSIGNALED(status))
        how = arena_printf(arena, "signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        how = arena_printf(arena, "exit status %d", WEXITSTATUS(status));
    answer.reason = arena_printf(arena, "the process ended with %s%s%s", how, *words ? ": " : "", words);
    answer.killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    close(worker->said);
    return answer;
}

bool worker_pool_wait(WorkerPool *pool, Arena *arena, int timeout_ms, PoolAnswer *answer) {
    struct pollfd *polled = ARENA_ARRAY(arena, struct pollfd, pool->size);
    for (int i = 0; i < pool->size; i++)
        polled[i] = (struct pollfd){pool->workers[i].busy ? pool->workers[i].socket : -1, POLLIN, 0};
    int ready = poll(polled, (nfds_t)pool->size, timeout_ms);
    if (ready < 0 && errno != EINTR) usleep(1000 * (useconds_t)(timeout_ms < 10 ? timeout_ms : 10)); // short of memory
    if (ready <= 0) return false;
    int i = 0;
    while (!polled[i].revents) i++;
    Worker *worker = &pool->workers[i];
    uint64_t size = 0;
    *answer = (PoolAnswer){.item = worker->item};
    bool whole = receive_all(worker->socket, &size, sizeof size);
    if (whole) {
        answer->size = size;
        answer->bytes = arena_alloc(arena, size);
        whole = receive_all(worker->socket, answer->bytes, size);
    }
    if (!whole) {
        *answer = obituary(arena, worker);
        start(pool, worker); // or there is one less
    }
    worker->busy = false;
    return true;
}

// ---- As hands.

static bool hands_idle(void *who) { return worker_pool_has_idle(who); }
static int hands_busy(void *who) { return worker_pool_busy(who); }
static void hands_give(void *who, int64_t item) { worker_pool_give(who, item); }
static bool hands_wait(void *who, Arena *arena, int timeout_ms, PoolAnswer *answer) {
    return worker_pool_wait(who, arena, timeout_ms, answer);
}

Hands hands_of_pool(WorkerPool *pool) { return (Hands){pool, hands_idle, hands_busy, hands_give, hands_wait}; }
