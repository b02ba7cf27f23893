// The wall on Linux. Landlock: of all files only those of the rules, and no other process gets a signal. seccomp: no
// sockets, no other process's memory, no other way round files. Where there is neither, both say what is missing.
#include "sim/wall.h"

#ifdef __linux__

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <sched.h>
#include <seccomp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define IS_SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define IS_SANITIZED true
#endif
#endif
#ifndef IS_SANITIZED
#define IS_SANITIZED false
#endif

// ---- Landlock, as Linux 6.18 documents it (Documentation/userspace-api/landlock.rst). The C library has no functions
// for it, and Debian 12's headers know its second version only.

enum { SYS_CREATE_RULESET = 444, SYS_ADD_RULE = 445, SYS_RESTRICT_SELF = 446, ASK_VERSION = 1, BENEATH = 1 };

#define FS_EXECUTE (1ULL << 0)
#define FS_WRITE_FILE (1ULL << 1)
#define FS_READ_FILE (1ULL << 2)
#define FS_READ_DIR (1ULL << 3)
#define FS_REMOVE_FILE (1ULL << 5)
#define FS_MAKE_REG (1ULL << 8)
#define FS_TRUNCATE (1ULL << 14)
#define FS_OF_FILES (FS_EXECUTE | FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE)

// The last right, by the version that brought it: REFER (out of a folder into another) 2, TRUNCATE 3, IOCTL_DEV 5.
static uint64_t known_rights(long version) {
    int last = version >= 5 ? 15 : version >= 3 ? 14 : version == 2 ? 13 : 12;
    return (2ULL << last) - 1;
}

typedef struct Ruleset {
    uint64_t files;   // rights that must be given from now on; what no rule gives is refused
    uint64_t network; // TCP: bind 1, connect 2 (version 4)
    uint64_t scoped;  // abstract sockets 1, signals 2 to processes outside (version 6)
} Ruleset;

typedef struct Beneath {
    uint64_t rights;
    int32_t place;
} __attribute__((packed)) Beneath;

static uint64_t rights_of(WallRight right) {
    const uint64_t replaces = FS_WRITE_FILE | FS_TRUNCATE | FS_MAKE_REG | FS_REMOVE_FILE;
    switch (right) {
    case WALL_READ:
        return FS_READ_FILE | FS_READ_DIR;
    case WALL_REPLACE:
        return replaces;
    case WALL_STORE:
        return replaces | FS_READ_FILE | FS_READ_DIR;
    default:
        return FS_WRITE_FILE;
    }
}

// What cannot be opened has no rule, nor what is in no file system (a pipe as /dev/stdin): that needs none.
static bool allow_path(int ruleset, const char *path, uint64_t rights) {
    int place = open(path, O_PATH | O_CLOEXEC);
    struct stat about;
    if (place < 0) return true;
    if (fstat(place, &about) != 0 || !S_ISDIR(about.st_mode)) rights &= FS_OF_FILES;
    Beneath beneath = {rights, place};
    bool done = syscall(SYS_ADD_RULE, ruleset, BENEATH, &beneath, 0) == 0 || errno == EBADFD;
    close(place);
    return done;
}

// What the kernel starts in a program's place: the loader that it names, or of a script the interpreter.
static bool interpreter_of(const char *program, char *name, size_t room) {
    char start[4096] = "";
    int file = open(program, O_RDONLY | O_CLOEXEC);
    ssize_t got = file >= 0 ? pread(file, start, sizeof start - 1, 0) : -1;
    if (file >= 0) close(file);
    *name = '\0';
    if (got > 2 && start[0] == '#' && start[1] == '!') {
        const char *word = start + 2 + strspn(start + 2, " \t");
        snprintf(name, room, "%.*s", (int)strcspn(word, " \t\n"), word);
    }
    const ElfW(Ehdr) *head = (const void *)start;
    if (got < (ssize_t)sizeof *head || memcmp(start, ELFMAG, SELFMAG) != 0) return *name;
    for (size_t i = 0; i < head->e_phnum; i++) {
        ElfW(Phdr) part;
        size_t at = head->e_phoff + i * sizeof part;
        if (at > (size_t)got - sizeof part) break;
        memcpy(&part, start + at, sizeof part);
        if (part.p_type == PT_INTERP && part.p_offset < (size_t)got) snprintf(name, room, "%s", start + part.p_offset);
    }
    return *name;
}

static bool allow_program(int ruleset, const char *program) {
    char loader[PATH_MAX], next[PATH_MAX];
    bool done = allow_path(ruleset, program, FS_EXECUTE | FS_READ_FILE);
    if (!interpreter_of(program, loader, sizeof loader)) return done;
    done = allow_path(ruleset, loader, FS_EXECUTE | FS_READ_FILE) && done;
    if (interpreter_of(loader, next, sizeof next)) done = allow_path(ruleset, next, FS_EXECUTE | FS_READ_FILE) && done;
    return done;
}

static bool allow_all(int ruleset, const WallRules *rules, uint64_t known) {
    bool done = true;
    for (int i = 0; i < rules->count; i++)
        done = allow_path(ruleset, rules->items[i].path, rights_of(rules->items[i].right) & known) && done;
    // Nothing to write to, chance for the database, and how many cores there are.
    done = allow_path(ruleset, "/dev/null", FS_READ_FILE | FS_WRITE_FILE) && done;
    done = allow_path(ruleset, "/dev/urandom", FS_READ_FILE) && done;
    done = allow_path(ruleset, "/sys/devices/system/cpu/online", FS_READ_FILE) && done;
    if (IS_SANITIZED) done = allow_path(ruleset, "/proc/self", FS_READ_FILE | FS_READ_DIR) && done; // its own maps and tasks
    return (!rules->program || allow_program(ruleset, rules->program)) && done;
}

const char *wall_guard_files(Arena *arena, const WallRules *rules) {
    long version = syscall(SYS_CREATE_RULESET, NULL, 0, ASK_VERSION);
    if (version < 1) return "this kernel has no Landlock, so files are not guarded";
    Ruleset set = {known_rights(version), version >= 4 ? 3 : 0, version >= 6 ? 3 : 0};
    size_t size = version >= 6 ? sizeof set : version >= 4 ? 2 * sizeof(uint64_t) : sizeof(uint64_t);
    int ruleset = (int)syscall(SYS_CREATE_RULESET, &set, size, 0);
    bool done = ruleset >= 0 && allow_all(ruleset, rules, set.files) && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
                syscall(SYS_RESTRICT_SELF, ruleset, 0) == 0;
    int why = errno;
    if (ruleset >= 0) close(ruleset);
    return done ? NULL : arena_printf(arena, "Landlock refuses: %s", strerror(why));
}

// ---- seccomp: what Landlock does not see. A list of what is refused, since gnuplot and its libraries stand behind the
// same wall, and the C library's own calls change from version to version; files, which matter most, are refused unless
// allowed. Numbers are of calls that the library does not know by name yet, the same on every machine.

// clang-format off
static const int refused[] = {
    // Other machines and other programs' doors. socketpair, whose ends nobody else sees, is below.
    SCMP_SYS(socket), SCMP_SYS(connect), SCMP_SYS(bind), SCMP_SYS(listen), SCMP_SYS(accept), SCMP_SYS(accept4),
    SCMP_SYS(socketcall), SCMP_SYS(shmget), SCMP_SYS(shmat), SCMP_SYS(shmctl), SCMP_SYS(msgget), SCMP_SYS(msgsnd),
    SCMP_SYS(msgrcv), SCMP_SYS(msgctl), SCMP_SYS(semget), SCMP_SYS(semop), SCMP_SYS(semctl), SCMP_SYS(semtimedop),
    SCMP_SYS(ipc), SCMP_SYS(mq_open), SCMP_SYS(mq_unlink),
    // Other processes.
    SCMP_SYS(process_vm_readv), SCMP_SYS(process_vm_writev), SCMP_SYS(process_madvise), SCMP_SYS(kcmp),
    SCMP_SYS(pidfd_open), SCMP_SYS(pidfd_getfd), SCMP_SYS(pidfd_send_signal), SCMP_SYS(move_pages),
    SCMP_SYS(migrate_pages), SCMP_SYS(setpriority), SCMP_SYS(sched_setscheduler), SCMP_SYS(sched_setparam),
    SCMP_SYS(sched_setattr), SCMP_SYS(sched_setaffinity), SCMP_SYS(ioprio_set), 448 /* process_mrelease */,
    // What a file says of itself, which Landlock leaves alone.
    SCMP_SYS(chmod), SCMP_SYS(fchmodat), 452 /* fchmodat2 */, SCMP_SYS(chown), SCMP_SYS(fchown), SCMP_SYS(lchown),
    SCMP_SYS(fchownat), SCMP_SYS(chown32), SCMP_SYS(fchown32), SCMP_SYS(lchown32), SCMP_SYS(setxattr),
    SCMP_SYS(lsetxattr), SCMP_SYS(fsetxattr), SCMP_SYS(removexattr), SCMP_SYS(lremovexattr), SCMP_SYS(fremovexattr),
    463 /* setxattrat */, 466 /* removexattrat */, 469 /* file_setattr */, SCMP_SYS(utime), SCMP_SYS(utimes),
    SCMP_SYS(futimesat), SCMP_SYS(utimensat), SCMP_SYS(utimensat_time64), SCMP_SYS(truncate), SCMP_SYS(truncate64),
    // Files by ways that no path leads.
    SCMP_SYS(name_to_handle_at), SCMP_SYS(open_by_handle_at), SCMP_SYS(io_uring_setup), SCMP_SYS(io_uring_enter),
    SCMP_SYS(io_uring_register), SCMP_SYS(fanotify_init), SCMP_SYS(fanotify_mark), SCMP_SYS(inotify_init),
    SCMP_SYS(inotify_init1), SCMP_SYS(lookup_dcookie), SCMP_SYS(uselib), SCMP_SYS(quotactl), SCMP_SYS(quotactl_fd),
    // Another root, other namespaces, other rights.
    SCMP_SYS(mount), SCMP_SYS(umount), SCMP_SYS(umount2), SCMP_SYS(move_mount), SCMP_SYS(open_tree), SCMP_SYS(fsopen),
    SCMP_SYS(fsconfig), SCMP_SYS(fsmount), SCMP_SYS(fspick), SCMP_SYS(mount_setattr), 467 /* open_tree_attr */,
    SCMP_SYS(pivot_root), SCMP_SYS(chroot), SCMP_SYS(unshare), SCMP_SYS(setns), SCMP_SYS(setfsuid), SCMP_SYS(setfsgid),
    SCMP_SYS(setgroups), SCMP_SYS(capset), SCMP_SYS(add_key), SCMP_SYS(request_key), SCMP_SYS(keyctl),
    // The machine.
    SCMP_SYS(bpf), SCMP_SYS(perf_event_open), SCMP_SYS(userfaultfd), SCMP_SYS(personality), SCMP_SYS(init_module),
    SCMP_SYS(finit_module), SCMP_SYS(delete_module), SCMP_SYS(kexec_load), SCMP_SYS(kexec_file_load), SCMP_SYS(reboot),
    SCMP_SYS(swapon), SCMP_SYS(swapoff), SCMP_SYS(sethostname), SCMP_SYS(setdomainname), SCMP_SYS(acct),
    SCMP_SYS(syslog), SCMP_SYS(iopl), SCMP_SYS(ioperm), SCMP_SYS(modify_ldt), SCMP_SYS(vhangup), SCMP_SYS(nfsservctl),
    SCMP_SYS(settimeofday), SCMP_SYS(clock_settime), SCMP_SYS(clock_settime64), SCMP_SYS(clock_adjtime),
    SCMP_SYS(clock_adjtime64), SCMP_SYS(adjtimex), SCMP_SYS(stime),
};
// clang-format on

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))
#define REFUSE SCMP_ACT_ERRNO(EPERM)
#define LOW_HALF 0xffffffffULL

static bool writes_files(const WallRules *rules) {
    for (int i = 0; i < rules->count; i++)
        if (rules->items[i].right != WALL_READ) return true;
    return false;
}

// Calls that are refused for some of their arguments: where (argument & mask) == value, or where it is not.
typedef struct Refusal {
    int call;
    unsigned argument;
    bool unless;
    uint64_t mask, value;
} Refusal;

static const Refusal refused_for[] = {
    // Namespaces, one flag each.
    {SCMP_SYS(clone), 0, false, CLONE_NEWNS, CLONE_NEWNS},
    {SCMP_SYS(clone), 0, false, CLONE_NEWCGROUP, CLONE_NEWCGROUP},
    {SCMP_SYS(clone), 0, false, CLONE_NEWUTS, CLONE_NEWUTS},
    {SCMP_SYS(clone), 0, false, CLONE_NEWIPC, CLONE_NEWIPC},
    {SCMP_SYS(clone), 0, false, CLONE_NEWUSER, CLONE_NEWUSER},
    {SCMP_SYS(clone), 0, false, CLONE_NEWPID, CLONE_NEWPID},
    {SCMP_SYS(clone), 0, false, CLONE_NEWNET, CLONE_NEWNET},
    // A datagram socket (SOCK_RAW makes one, too) can name any other on every message.
    {SCMP_SYS(socketpair), 0, true, LOW_HALF, AF_UNIX},
    {SCMP_SYS(socketpair), 1, false, 0xf, SOCK_DGRAM},
    {SCMP_SYS(socketpair), 1, false, 0xf, SOCK_RAW},
    // Letters put into the terminal, which the shell would read as typed.
    {SCMP_SYS(ioctl), 1, false, LOW_HALF, TIOCSTI},
    {SCMP_SYS(ioctl), 1, false, LOW_HALF, TIOCLINUX},
    // Limits of other processes.
    {SCMP_SYS(prlimit64), 0, true, LOW_HALF, 0},
};

static int refuse_arguments(scmp_filter_ctx filter) {
    int error = 0;
    for (size_t i = 0; i < COUNT_OF(refused_for) && !error; i++) {
        const Refusal *row = &refused_for[i];
        struct scmp_arg_cmp when = {row->argument, SCMP_CMP_MASKED_EQ, row->mask, row->value};
        if (row->unless) when = (struct scmp_arg_cmp){row->argument, SCMP_CMP_NE, row->value, 0};
        error = seccomp_rule_add_array(filter, REFUSE, row->call, 1, &when);
    }
    // Its flags lie in memory, where no filter looks; without it the C library takes clone.
    return error ? error : seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
}

// A file in memory that can never be a program, where the kernel knows such (6.3).
static bool memory_can_be_data_only(void) {
    int file = memfd_create("probe", MFD_CLOEXEC | 8 /* MFD_NOEXEC_SEAL */);
    if (file >= 0) close(file);
    return file >= 0;
}

// gnuplot gives up what rights it may have of another user, and does not run where it cannot.
static const int refused_without_program[] = {
    SCMP_SYS(execve),   SCMP_SYS(setuid),    SCMP_SYS(setgid),    SCMP_SYS(setreuid),
    SCMP_SYS(setregid), SCMP_SYS(setresuid), SCMP_SYS(setresgid),
};

static int refuse_programs(scmp_filter_ctx filter, const WallRules *rules) {
    int error = seccomp_rule_add(filter, REFUSE, SCMP_SYS(execveat), 0);
    for (size_t i = 0; !rules->program && i < COUNT_OF(refused_without_program) && !error; i++)
        error = seccomp_rule_add(filter, REFUSE, refused_without_program[i], 0);
    if (!rules->program) return error;
    if (!error && memory_can_be_data_only())
        error = seccomp_rule_add(filter, REFUSE, SCMP_SYS(memfd_create), 1, SCMP_A1(SCMP_CMP_MASKED_EQ, 8, 0));
    return error;
}

static int fill_filter(scmp_filter_ctx filter, const WallRules *rules) {
    int error = 0;
    for (size_t i = 0; i < COUNT_OF(refused) && !error; i++) error = seccomp_rule_add(filter, REFUSE, refused[i], 0);
    if (!error && !writes_files(rules)) error = seccomp_rule_add(filter, REFUSE, SCMP_SYS(fchmod), 0);
    // The leak detector looks at its process through ptrace.
    if (!error && !IS_SANITIZED) error = seccomp_rule_add(filter, REFUSE, SCMP_SYS(ptrace), 0);
    if (!error) error = refuse_arguments(filter);
    return error ? error : refuse_programs(filter, rules);
}

const char *wall_guard_calls(Arena *arena, const WallRules *rules) {
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    int error = filter ? fill_filter(filter, rules) : -ENOMEM;
    // Calls of another machine's kind (32 bits) would pass by the rules' numbers: they end the process.
    if (!error) error = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
    if (!error) error = seccomp_load(filter);
    if (filter) seccomp_release(filter);
    if (!error) return NULL;
    return arena_printf(arena, "seccomp refuses (%s), so calls to the kernel are not guarded", strerror(-error));
}

#else

const char *wall_guard_files(Arena *arena, const WallRules *rules) {
    (void)arena, (void)rules;
    return "this system has no Landlock, so files are not guarded";
}

const char *wall_guard_calls(Arena *arena, const WallRules *rules) {
    (void)arena, (void)rules;
    return "it has no seccomp, so calls to the kernel are not guarded";
}

#endif
