// Each attempt is a call to the kernel that does no harm where it goes through: arguments are empty, or files of the
// test. The current folder is the scenario's; ../outside is what it may not touch, and the parent process lives there.
#include "tests/wall/attempts.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECRET "../outside/secret.txt"

// A seccomp filter answers before the kernel looks at arguments, and Landlock says EACCES (EXDEV out of a folder).
static bool refused(long result) {
    return result < 0 && (errno == EPERM || errno == EACCES || errno == EXDEV || errno == ENOSYS);
}

#define CALL(name_, call_)                                                                                             \
    static bool name_(void) { return refused(call_); }

static long opened(const char *path, int flags) {
    int file = open(path, flags, 0600);
    if (file >= 0) close(file);
    return file;
}

// ---- Files.
CALL(read_users, opened("/etc/passwd", O_RDONLY))
CALL(read_outside, opened(SECRET, O_RDONLY))
CALL(read_through_link, opened("link.txt", O_RDONLY))
CALL(read_linked_folder, opened("link/secret.txt", O_RDONLY))
CALL(list_outside, opened("../outside", O_RDONLY | O_DIRECTORY))
CALL(list_root, opened("/", O_RDONLY | O_DIRECTORY))
CALL(read_environment, opened("/proc/self/environ", O_RDONLY))
CALL(read_memory, opened("/proc/self/mem", O_RDWR))
CALL(read_program, opened("/proc/self/exe", O_RDONLY))
CALL(read_device, opened("/dev/zero", O_RDONLY))
CALL(write_outside, opened(SECRET, O_WRONLY))
CALL(append_outside, opened(SECRET, O_WRONLY | O_APPEND))
CALL(empty_outside, opened(SECRET, O_RDONLY | O_TRUNC))
CALL(make_outside, opened("../outside/new.txt", O_WRONLY | O_CREAT))
CALL(make_temporary, opened("/tmp", O_TMPFILE | O_RDWR))
CALL(make_shared_memory, opened("/dev/shm/lockstep-wall", O_CREAT | O_RDWR))
CALL(write_script, opened("attack.lua", O_WRONLY))
CALL(make_beside, opened("new.txt", O_WRONLY | O_CREAT))
CALL(remove_outside, unlink("../outside/spare.txt"))
CALL(remove_beside, unlink("spare.txt"))
CALL(rename_outside, rename("../outside/spare.txt", "../outside/spare2.txt"))
CALL(rename_out, rename("spare.txt", "../outside/spare3.txt"))
CALL(rename_in, rename("../outside/spare.txt", "got.txt"))
CALL(link_out, link("spare.txt", "../outside/linked.txt"))
CALL(link_in, link(SECRET, "linked.txt"))
CALL(make_link, symlink("/etc/passwd", "passwd.txt"))
CALL(make_folder, mkdir("../outside/folder", 0700))
CALL(remove_folder, rmdir("../outside/empty"))
CALL(make_fifo, mkfifo("../outside/fifo", 0600))
CALL(make_device, mknod("../outside/device", S_IFCHR | 0600, 0x0103))
CALL(change_mode, chmod(SECRET, 0644))
CALL(change_mode_2, syscall(452, AT_FDCWD, SECRET, 0644, 0))
CALL(change_owner, chown(SECRET, getuid(), getgid()))
CALL(change_times, utimensat(AT_FDCWD, SECRET, NULL, 0))
CALL(cut, truncate(SECRET, 1))
CALL(mark, syscall(SYS_setxattr, SECRET, "user.lockstep", "x", 1, 0))

static bool reopen_memory(void) { // a file that was opened before can be opened again only with its own rights
    int file = open("attack.lua", O_RDONLY);
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    bool is_refused = refused(opened(path, O_WRONLY));
    close(file);
    return is_refused;
}

static bool name_handle(void) {
    struct {
        unsigned bytes;
        int type;
        char handle[128];
    } handle = {.bytes = 128};
    int mount;
    return refused(syscall(SYS_name_to_handle_at, AT_FDCWD, SECRET, &handle, &mount, 0));
}

// ---- Programs, each from a process of its own. 77: refused, 0: the program ran.
static bool in_child(void (*act)(void)) {
    pid_t child = fork();
    if (child == 0) {
        int nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, STDOUT_FILENO);
        signal(SIGSEGV, SIG_DFL); // a sanitizer has a handler
        act();
        _exit(refused(-1) ? 77 : 78);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) return false;
    if (WIFSIGNALED(status)) return WTERMSIG(status) == SIGSYS || WTERMSIG(status) == SIGSEGV;
    return WEXITSTATUS(status) == 77 || WEXITSTATUS(status) == 127; // 127: the loader may not read it
}

static char *const no_words[] = {NULL};
static char *const true_words[] = {(char *)(size_t) "true", NULL};
static void exec_program(void) { execve("/bin/true", true_words, no_words); }
static void exec_beside(void) { execve("./program", true_words, no_words); }
static void exec_at(void) { syscall(SYS_execveat, AT_FDCWD, "/bin/true", true_words, no_words, 0); }

static void exec_by_loader(void) {
    char *words[] = {(char *)(size_t) "ld.so", (char *)(size_t) "/bin/true", NULL};
    int nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, STDERR_FILENO);
    execve("/lib64/ld-linux-x86-64.so.2", words, no_words);
}

static void exec_from_memory(void) {
    static const char script[] = "#!/bin/sh\nexit 0\n";
    char path[64];
    int file = memfd_create("program", 0);
    if (file < 0) return;
    if (write(file, script, sizeof script - 1) < 0) return;
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    execve(path, true_words, no_words);
}

static void call_32_bits(void) {
#ifdef __x86_64__
    long result;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(20L) : "memory"); // getpid
    errno = 0;
#else
    errno = EPERM;
#endif
}

static void call_x32(void) {
#ifdef __x86_64__
    if (syscall(0x40000000 | 39) > 0) errno = 0; // getpid
#else
    errno = EPERM;
#endif
}

static bool program(void) { return in_child(exec_program); }
static bool program_beside(void) { return in_child(exec_beside); }
static bool program_at(void) { return in_child(exec_at); }
static bool program_by_loader(void) { return in_child(exec_by_loader); }
static bool program_from_memory(void) { return in_child(exec_from_memory); }
static bool calls_of_32_bits(void) { return in_child(call_32_bits); }
static bool calls_of_x32(void) { return in_child(call_x32); }

// ---- Machines, and programs that listen.
CALL(internet, socket(AF_INET, SOCK_STREAM, 0))
CALL(internet_datagram, socket(AF_INET, SOCK_DGRAM, 0))
CALL(internet_6, socket(AF_INET6, SOCK_STREAM, 0))
CALL(raw, socket(AF_INET, SOCK_RAW, 1))
CALL(packets, socket(AF_PACKET, SOCK_RAW, 0))
CALL(netlink, socket(AF_NETLINK, SOCK_RAW, 0))
CALL(local_socket, socket(AF_UNIX, SOCK_STREAM, 0))
CALL(virtual_machine, socket(AF_VSOCK, SOCK_STREAM, 0))
CALL(kernel_crypto, socket(AF_ALG, SOCK_SEQPACKET, 0))
CALL(connect_any, connect(-1, NULL, 0))
CALL(bind_any, bind(-1, NULL, 0))
CALL(listen_any, listen(-1, 1))
CALL(accept_any, accept(-1, NULL, NULL))
CALL(shared_memory, shmget(0x10c5, 4096, 0))
CALL(queue, syscall(SYS_msgget, 0x10c5, 0))
CALL(posix_queue, syscall(SYS_mq_open, "lockstep", O_RDONLY, 0, NULL))

// One end of a pair of datagram sockets could write to whoever else has one.
static bool datagram_pair(int type) {
    int ends[2];
    struct sockaddr_un log = {.sun_family = AF_UNIX, .sun_path = "../outside/log.socket"};
    if (socketpair(AF_UNIX, type, 0, ends) != 0) return refused(-1);
    bool is_refused = sendto(ends[0], "x", 1, MSG_NOSIGNAL, (struct sockaddr *)&log, sizeof log) < 0;
    close(ends[0]);
    close(ends[1]);
    return is_refused;
}
static bool pair_of_datagrams(void) { return datagram_pair(SOCK_DGRAM); }
static bool pair_of_raw(void) { return datagram_pair(SOCK_RAW); }
static bool pair_of_streams(void) { return datagram_pair(SOCK_STREAM); }

// ---- Other processes.
static bool read_of_parent(void) {
    char byte, path[64];
    snprintf(path, sizeof path, "/proc/%d/environ", (int)getppid());
    int file = open(path, O_RDONLY);
    bool is_refused = file < 0 || read(file, &byte, 1) != 1;
    if (file >= 0) close(file);
    return is_refused;
}
CALL(signal_parent, kill(getppid(), 0))
CALL(signal_first, kill(1, 0))
CALL(signal_thread, syscall(SYS_tgkill, getppid(), getppid(), 0))
CALL(trace_parent, ptrace(PTRACE_SEIZE, getppid(), NULL, NULL))
CALL(memory_of_parent, process_vm_readv(getppid(), NULL, 0, NULL, 0, 0))
CALL(descriptor_of_parent, syscall(SYS_pidfd_open, getppid(), 0))
CALL(limits_of_parent, prlimit(getppid(), RLIMIT_NOFILE, NULL, &(struct rlimit){0}))
CALL(priority_of_parent, setpriority(PRIO_PROCESS, (id_t)getppid(), 0))
CALL(compare_processes, syscall(SYS_kcmp, getpid(), getpid(), 0, 0, 0))

// ---- The kernel.
CALL(rings, syscall(SYS_io_uring_setup, 1, NULL))
CALL(bpf, syscall(SYS_bpf, 0, NULL, 0))
CALL(events, syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0))
CALL(faults, syscall(SYS_userfaultfd, 1 << 30))
CALL(keys, syscall(SYS_keyctl, 0, -3, 0))
CALL(add_key, syscall(SYS_add_key, NULL, NULL, NULL, 0, 0))
CALL(person, syscall(SYS_personality, 0xffffffff))
CALL(watch_files, syscall(SYS_inotify_init1, 0))
CALL(watch_system, syscall(SYS_fanotify_init, 1 << 30, 0))
CALL(mount_any, syscall(SYS_mount, NULL, NULL, NULL, 0, NULL))
CALL(unmount_any, syscall(SYS_umount2, NULL, 0))
CALL(open_tree, syscall(428, -1, NULL, 1 << 30))
CALL(change_root, chroot(""))
CALL(pivot_root, syscall(SYS_pivot_root, "", ""))
CALL(new_namespaces, unshare(CLONE_NEWUSER))
CALL(join_namespace, setns(-1, 0))
CALL(clone_namespace, syscall(SYS_clone, CLONE_NEWUSER | CLONE_THREAD, NULL, NULL, NULL, NULL))
CALL(clone_3, syscall(435, NULL, 0))
CALL(modules, syscall(SYS_init_module, NULL, 0, NULL))
CALL(other_kernel, syscall(SYS_kexec_load, 0, 0, NULL, 1 << 30))
CALL(restart, syscall(SYS_reboot, 0, 0, 0, NULL))
CALL(set_time, syscall(SYS_settimeofday, NULL, NULL))
CALL(name_host, syscall(SYS_sethostname, NULL, -1))
CALL(kernel_log, syscall(SYS_syslog, 3, NULL, -1))
CALL(capabilities, syscall(SYS_capset, NULL, NULL))
CALL(type_into_terminal, ioctl(STDIN_FILENO, TIOCSTI, NULL))
CALL(terminal_selection, ioctl(STDIN_FILENO, TIOCLINUX, NULL))

#define ROW(name_)                                                                                                     \
    { #name_, name_ }
// clang-format off
const Attempt attempts[] = {
    ROW(read_users), ROW(read_outside), ROW(read_through_link), ROW(read_linked_folder), ROW(list_outside),
    ROW(list_root), ROW(read_environment), ROW(read_memory), ROW(read_program), ROW(read_device), ROW(write_outside),
    ROW(append_outside), ROW(empty_outside), ROW(make_outside), ROW(make_temporary), ROW(make_shared_memory),
    ROW(write_script), ROW(make_beside), ROW(remove_outside), ROW(remove_beside), ROW(rename_outside), ROW(rename_out),
    ROW(rename_in), ROW(link_out), ROW(link_in), ROW(make_link), ROW(make_folder), ROW(remove_folder), ROW(make_fifo),
    ROW(make_device), ROW(change_mode), ROW(change_mode_2), ROW(change_owner), ROW(change_times), ROW(cut), ROW(mark),
    ROW(reopen_memory), ROW(name_handle), ROW(program), ROW(program_beside), ROW(program_at), ROW(program_by_loader),
    ROW(program_from_memory), ROW(calls_of_32_bits), ROW(calls_of_x32), ROW(internet), ROW(internet_datagram),
    ROW(internet_6), ROW(raw), ROW(packets), ROW(netlink), ROW(local_socket), ROW(virtual_machine), ROW(kernel_crypto),
    ROW(connect_any), ROW(bind_any), ROW(listen_any), ROW(accept_any), ROW(shared_memory), ROW(queue),
    ROW(posix_queue), ROW(pair_of_datagrams), ROW(pair_of_raw), ROW(pair_of_streams), ROW(read_of_parent),
    ROW(signal_parent), ROW(signal_first), ROW(signal_thread), ROW(trace_parent), ROW(memory_of_parent),
    ROW(descriptor_of_parent), ROW(limits_of_parent), ROW(priority_of_parent), ROW(compare_processes), ROW(rings),
    ROW(bpf), ROW(events), ROW(faults), ROW(keys), ROW(add_key), ROW(person), ROW(watch_files), ROW(watch_system),
    ROW(mount_any), ROW(unmount_any), ROW(open_tree), ROW(change_root), ROW(pivot_root), ROW(new_namespaces),
    ROW(join_namespace), ROW(clone_namespace), ROW(clone_3), ROW(modules), ROW(other_kernel), ROW(restart),
    ROW(set_time), ROW(name_host), ROW(kernel_log), ROW(capabilities), ROW(type_into_terminal),
    ROW(terminal_selection),
};
// clang-format on
const int attempt_count = sizeof attempts / sizeof *attempts;
