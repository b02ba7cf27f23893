// Loaded before everything else (LD_PRELOAD): makes the Nth allocation of a program fail, and lets another process, the
// test, decide how its system calls end. What happens before main cannot be reported by anybody: the dynamic loader's
// and libc's own start are over when this begins to count.
#include "tests/fail/fail.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/fail/calls.h"

static FailPlan *plan; // NULL: not yet, or nothing is asked for

#ifndef OTHERS_MEMORY // a sanitizer's
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);

// GSL's solvers go on with what they did not get (trust.c of 2.7): nobody who calls them can report it.
static int is_gsls(void *caller) {
    Dl_info found;
    return dladdr(caller, &found) && found.dli_fname && strstr(found.dli_fname, "libgsl") != NULL;
}

static int memory_fails(void *caller) {
    if (!plan || is_gsls(caller)) return 0;
    int64_t number = __atomic_add_fetch(&plan->allocations, 1, __ATOMIC_RELAXED), at = plan->memory_fails_at;
    int fails = at > 0 && (number == at || (plan->forever && number > at));
    if (fails) errno = ENOMEM;
    return fails;
}

void *malloc(size_t bytes) { return memory_fails(__builtin_return_address(0)) ? NULL : __libc_malloc(bytes); }
void *calloc(size_t count, size_t bytes) {
    return memory_fails(__builtin_return_address(0)) ? NULL : __libc_calloc(count, bytes);
}
void *realloc(void *old, size_t bytes) {
    return memory_fails(__builtin_return_address(0)) ? NULL : __libc_realloc(old, bytes);
}
#endif

// ---- System calls.

static void send_descriptor(int socket, int descriptor) {
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    char byte = descriptor >= 0 ? '+' : '-';
    struct iovec piece = {&byte, 1};
    struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
    if (descriptor >= 0) {
        message.msg_control = &control;
        message.msg_controllen = sizeof control;
        control.head = (struct cmsghdr){CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
        memcpy(CMSG_DATA(&control.head), &descriptor, sizeof descriptor);
    }
    sendmsg(socket, &message, 0);
}

static void watch_calls(int socket) {
    struct sock_filter filter[2 * CALLS + 2];
    int length = 0;
    filter[length++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (int i = 0; i < CALLS; i++) {
        filter[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i].number, 0, 1);
        filter[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
    }
    filter[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {(unsigned short)length, filter};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    long listener = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
    send_descriptor(socket, (int)listener); // sendmsg is not among those that are watched
}

__attribute__((constructor)) static void begin(void) {
    const char *file = getenv("LOCKSTEP_FAIL_PLAN"), *socket = getenv("LOCKSTEP_FAIL_SOCKET");
    if (!file || !socket) return;
    int descriptor = atoi(file), end = atoi(socket);
    FailPlan *found = mmap(NULL, sizeof *found, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (found == MAP_FAILED) return;
    close(descriptor);
    unsetenv("LD_PRELOAD"); // other programs that this one starts are not meant
    unsetenv("LOCKSTEP_FAIL_PLAN");
    unsetenv("LOCKSTEP_FAIL_SOCKET");
    if (found->watch_calls) watch_calls(end);
    plan = found;
}
