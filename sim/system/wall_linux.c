// The sandbox on Linux. Landlock: only the files of the rules, and no signals to other processes. seccomp: no
// sockets, no access to other processes' memory, no other ways to files. Where either is missing, the answer says so.
#include "sim/system/wall.h"

#ifdef __linux__

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
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

#include "sim/base/check.h"

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
    uint64_t files;   // handled rights: refused unless a rule grants them
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
    case WALL_WRITE:
    case WALL_START:
        break;
    }
    return FS_WRITE_FILE;
}

// The failure is not due to the path: the process or the machine is out of resources, or the disk fails.
static bool is_short_of_something(int why) { return why == EMFILE || why == ENFILE || why == ENOMEM || why == EIO; }

// Paths that cannot be opened get no rule, nor those in no file system (a pipe as /dev/stdin), which need none.
static bool allow_path(int ruleset, const char *path, uint64_t rights) {
    int place = open(path, O_PATH | O_CLOEXEC);
    struct stat about;
    if (place < 0) return !is_short_of_something(errno);
    bool known = fstat(place, &about) == 0; // else no rule is better than one of a file for a folder
    if (known && !S_ISDIR(about.st_mode)) rights &= FS_OF_FILES;
    Beneath beneath = {rights, place};
    bool done = known && (syscall(SYS_ADD_RULE, ruleset, BENEATH, &beneath, 0) == 0 || errno == EBADFD);
    close(place);
    return done;
}

// ---- What the kernel starts in a program's place: the loader that it names, or of a script the interpreter.

static void interpreter_of_script(const char *start, char *name) {
    const char *word = start + 2 + strspn(start + 2, " \t");
    snprintf(name, PATH_MAX, "%.*s", (int)strcspn(word, " \t\n"), word);
}

static void loader_of_program(const char *start, size_t length, char *name) {
    const ElfW(Ehdr) *head = (const void *)start;
    for (size_t i = 0; i < head->e_phnum; i++) {
        ElfW(Phdr) part;
        size_t at = head->e_phoff + i * sizeof part;
        if (at > length - sizeof part) return;
        memcpy(&part, start + at, sizeof part);
        if (part.p_type == PT_INTERP && part.p_offset < length) snprintf(name, PATH_MAX, "%s", start + part.p_offset);
    }
}

// name: of the next one, "" when there is none.
static bool read_interpreter(const char *program, char name[PATH_MAX]) {
    _Alignas(ElfW(Ehdr)) char start[4096] = "";
    *name = '\0';
    int file = open(program, O_RDONLY | O_CLOEXEC);
    if (file < 0) return !is_short_of_something(errno);
    ssize_t got = pread(file, start, sizeof start - 1, 0);
    int why = errno;
    close(file);
    errno = why;
    if (got < 0) return !is_short_of_something(why);
    if (got > 2 && memcmp(start, "#!", 2) == 0) interpreter_of_script(start, name);
    if (got > (ssize_t)sizeof(ElfW(Ehdr)) && memcmp(start, ELFMAG, SELFMAG) == 0)
        loader_of_program(start, (size_t)got, name);
    return true;
}

// A script, its interpreter, and that one's loader are three.
static bool allow_program(int ruleset, const char *program) {
    char name[PATH_MAX], next[PATH_MAX];
    snprintf(name, sizeof name, "%s", program);
    for (int i = 0; i < 3 && *name; i++) {
        if (!allow_path(ruleset, name, FS_EXECUTE | FS_READ_FILE) || !read_interpreter(name, next)) return false;
        memcpy(name, next, sizeof name);
    }
    return true;
}

static bool allow_item(int ruleset, const WallPath *item, uint64_t known) {
    if (item->right == WALL_START) return allow_program(ruleset, item->path);
    return allow_path(ruleset, item->path, rights_of(item->right) & known);
}

static bool allow_all(int ruleset, const WallRules *rules, uint64_t known) {
    for (int i = 0; i < rules->count; i++)
        if (!allow_item(ruleset, &rules->items[i], known)) return false;
    // The leak detector looks at the process's own maps and tasks.
    if (IS_SANITIZED && !allow_path(ruleset, "/proc/self", FS_READ_FILE | FS_READ_DIR)) return false;
    // Nothing to write to, chance for the database, and how many cores there are.
    return allow_path(ruleset, "/dev/null", FS_READ_FILE | FS_WRITE_FILE) &&
           allow_path(ruleset, "/dev/urandom", FS_READ_FILE) &&
           allow_path(ruleset, "/sys/devices/system/cpu/online", FS_READ_FILE);
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

// ---- seccomp: for what Landlock does not cover. A deny-list, since gnuplot and its libraries run in the same
// sandbox, and the C library's own calls change from version to version; files, the most important, are on Landlock's
// allow-list. The filter is assembled here, not by libseccomp, which crashes when out of memory. Numbers are of calls
// that Debian 12's headers do not name yet, the same on every machine.

#if defined(__x86_64__)
#define OWN_CALLS AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OWN_CALLS AUDIT_ARCH_AARCH64
#elif defined(__riscv) && __riscv_xlen == 64
#define OWN_CALLS AUDIT_ARCH_RISCV64
#else
#define OWN_CALLS 0 // another machine: its calls are not known here
#endif

// clang-format off
static const int refused[] = {
    // Network and IPC of other machines and processes. socketpair, private to this process, is below.
    SYS_socket, SYS_connect, SYS_bind, SYS_listen, SYS_accept, SYS_accept4, SYS_shmget, SYS_shmat, SYS_shmctl,
    SYS_msgget, SYS_msgsnd, SYS_msgrcv, SYS_msgctl, SYS_semget, SYS_semop, SYS_semctl, SYS_semtimedop, SYS_mq_open,
    SYS_mq_unlink,
    // Other processes.
    SYS_process_vm_readv, SYS_process_vm_writev, SYS_process_madvise, SYS_kcmp, SYS_pidfd_open, SYS_pidfd_getfd,
    SYS_pidfd_send_signal, SYS_move_pages, SYS_migrate_pages, SYS_setpriority, SYS_sched_setscheduler,
    SYS_sched_setparam, SYS_sched_setattr, SYS_sched_setaffinity, SYS_ioprio_set, SYS_process_mrelease,
    // File metadata, which Landlock does not restrict.
    SYS_fchmodat, 452 /* fchmodat2 */, SYS_fchown, SYS_fchownat, SYS_setxattr, SYS_lsetxattr, SYS_fsetxattr,
    SYS_removexattr, SYS_lremovexattr, SYS_fremovexattr, 463 /* setxattrat */, 466 /* removexattrat */,
    469 /* file_setattr */, SYS_utimensat, SYS_truncate,
    // File access without paths.
    SYS_name_to_handle_at, SYS_open_by_handle_at, SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register,
    SYS_fanotify_init, SYS_fanotify_mark, SYS_inotify_init1, SYS_quotactl, SYS_quotactl_fd,
    // Another root, other namespaces, other rights.
    SYS_mount, SYS_umount2, SYS_move_mount, SYS_open_tree, SYS_fsopen, SYS_fsconfig, SYS_fsmount, SYS_fspick,
    SYS_mount_setattr, 467 /* open_tree_attr */, SYS_pivot_root, SYS_chroot, SYS_unshare, SYS_setns, SYS_setfsuid,
    SYS_setfsgid, SYS_setgroups, SYS_capset, SYS_add_key, SYS_request_key, SYS_keyctl,
    // The machine.
    SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, SYS_personality, SYS_init_module, SYS_finit_module,
    SYS_delete_module, SYS_kexec_load, SYS_reboot, SYS_swapon, SYS_swapoff, SYS_sethostname, SYS_setdomainname,
    SYS_acct, SYS_syslog, SYS_vhangup, SYS_settimeofday, SYS_clock_settime, SYS_clock_adjtime, SYS_adjtimex,
#ifdef SYS_kexec_file_load
    SYS_kexec_file_load,
#endif
#ifdef __x86_64__ // older calls for the same
    SYS_chmod, SYS_chown, SYS_lchown, SYS_utime, SYS_utimes, SYS_futimesat, SYS_inotify_init, SYS_iopl, SYS_ioperm,
    SYS_modify_ldt, SYS_uselib,
#endif
};

// gnuplot gives up what rights it may have of another user, and does not run where it cannot.
static const int refused_without_program[] = {
    SYS_execve, SYS_setuid, SYS_setgid, SYS_setreuid, SYS_setregid, SYS_setresuid, SYS_setresgid,
};
// clang-format on

// Calls that are refused for some of their arguments: where (argument & mask) == value, or where it is not.
typedef struct Refusal {
    int call, argument;
    bool unless;
    uint32_t mask, value; // of the lower half, which is all that these calls look at
} Refusal;

#define WHOLE 0xffffffffU

static const Refusal refused_for[] = {
    // Namespaces, one flag each.
    {SYS_clone, 0, false, CLONE_NEWNS, CLONE_NEWNS},
    {SYS_clone, 0, false, CLONE_NEWCGROUP, CLONE_NEWCGROUP},
    {SYS_clone, 0, false, CLONE_NEWUTS, CLONE_NEWUTS},
    {SYS_clone, 0, false, CLONE_NEWIPC, CLONE_NEWIPC},
    {SYS_clone, 0, false, CLONE_NEWUSER, CLONE_NEWUSER},
    {SYS_clone, 0, false, CLONE_NEWPID, CLONE_NEWPID},
    {SYS_clone, 0, false, CLONE_NEWNET, CLONE_NEWNET},
    // A datagram socket (SOCK_RAW makes one, too) can name any other on every message.
    {SYS_socketpair, 0, true, WHOLE, AF_UNIX},
    {SYS_socketpair, 1, false, 0xf, SOCK_DGRAM},
    {SYS_socketpair, 1, false, 0xf, SOCK_RAW},
    // Letters put into the terminal, which the shell would read as typed.
    {SYS_ioctl, 1, false, WHOLE, TIOCSTI},
    {SYS_ioctl, 1, false, WHOLE, TIOCLINUX},
    // Limits of other processes.
    {SYS_prlimit64, 0, true, WHOLE, 0},
};

// Programs in memory, where they could come from anywhere; a file that can never be one is allowed.
static const Refusal program_in_memory = {SYS_memfd_create, 1, false, 8 /* MFD_NOEXEC_SEAL */, 0};

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))
#define FILTER_ROOM (64 + 2 * (COUNT_OF(refused) + COUNT_OF(refused_without_program)) + 6 * COUNT_OF(refused_for))
#define REFUSE (SECCOMP_RET_ERRNO | EPERM)

typedef struct Filter {
    struct sock_filter items[FILTER_ROOM];
    unsigned short count;
} Filter;

static void add(Filter *filter, struct sock_filter step) {
    CHECK(filter->count < FILTER_ROOM);
    filter->items[filter->count++] = step;
}

static void load(Filter *filter, size_t place) {
    add(filter, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)place));
}

static void answer(Filter *filter, uint32_t with) { add(filter, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, with)); }

// The number of the call is loaded, before and after.
static void answer_call(Filter *filter, int call, uint32_t with) {
    add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, 1));
    answer(filter, with);
}

static void refuse_for(Filter *filter, const Refusal *row) {
    size_t argument = offsetof(struct seccomp_data, args) + 8 * (size_t)row->argument; // these machines begin low
    add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)row->call, 0, 5));
    load(filter, argument);
    add(filter, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, row->mask));
    add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, row->value, row->unless, !row->unless));
    answer(filter, REFUSE);
    load(filter, offsetof(struct seccomp_data, nr));
}

static bool has_right(const WallRules *rules, WallRight right) {
    for (int i = 0; i < rules->count; i++)
        if (rules->items[i].right == right) return true;
    return false;
}

// Whether the kernel knows files in memory that are never programs (6.3).
static bool memory_can_be_data_only(void) {
    int file = memfd_create("probe", MFD_CLOEXEC | 8 /* MFD_NOEXEC_SEAL */);
    if (file >= 0) close(file);
    return file >= 0;
}

static void refuse_programs(Filter *filter, const WallRules *rules) {
    bool starts_programs = has_right(rules, WALL_START);
    answer_call(filter, SYS_execveat, REFUSE);
    for (size_t i = 0; !starts_programs && i < COUNT_OF(refused_without_program); i++)
        answer_call(filter, refused_without_program[i], REFUSE);
    if (starts_programs && memory_can_be_data_only()) refuse_for(filter, &program_in_memory);
}

static void fill_filter(Filter *filter, const WallRules *rules) {
    // Calls of another kind (32 bits, x32) would pass by the numbers below: they end the process.
    load(filter, offsetof(struct seccomp_data, arch));
    add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OWN_CALLS, 1, 0));
    answer(filter, SECCOMP_RET_KILL_PROCESS);
    load(filter, offsetof(struct seccomp_data, nr));
    add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1));
    answer(filter, SECCOMP_RET_KILL_PROCESS);

    for (size_t i = 0; i < COUNT_OF(refused); i++) answer_call(filter, refused[i], REFUSE);
    if (!has_right(rules, WALL_REPLACE) && !has_right(rules, WALL_STORE)) answer_call(filter, SYS_fchmod, REFUSE);
    if (!IS_SANITIZED) answer_call(filter, SYS_ptrace, REFUSE); // by which the leak detector looks at its process
    // Its flags lie in memory, where no filter looks; without it the C library takes clone.
    answer_call(filter, SYS_clone3, SECCOMP_RET_ERRNO | ENOSYS);
    for (size_t i = 0; i < COUNT_OF(refused_for); i++) refuse_for(filter, &refused_for[i]);
    refuse_programs(filter, rules);
    answer(filter, SECCOMP_RET_ALLOW);
}

const char *wall_guard_calls(Arena *arena, const WallRules *rules) {
    Filter filter = {.count = 0};
    if (!OWN_CALLS) return "this machine's calls to the kernel are not known, so they are not guarded";
    fill_filter(&filter, rules);
    struct sock_fprog program = {filter.count, filter.items};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0)
        return NULL;
    return arena_printf(arena, "seccomp refuses (%s), so calls to the kernel are not guarded", strerror(errno));
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
