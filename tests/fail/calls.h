// The system calls that are made to fail, by kind, and how.
#pragma once

#include <errno.h>
#include <sys/syscall.h>

typedef enum CallKind {
    CALL_OPEN,
    CALL_READ,
    CALL_WRITE,
    CALL_SYNC,
    CALL_CLOSE,
    CALL_RENAME,
    CALL_TRUNCATE,
    CALL_STAT,
    CALL_SEEK,
    CALL_LOCK,
    CALL_MAP,
    CALL_FORK,
    CALL_EXECUTE,
    CALL_WAIT,
    CALL_POLL,
    CALL_PIPE,
    CALL_SEND,
    CALL_RECEIVE,
    CALL_MAKE_FOLDER,
    CALL_KINDS
} CallKind;

typedef struct CallName {
    const char *name;
    int error;
    int only_once; // failing for ever would be a wait for ever that nobody has asked to end
} CallName;

static const CallName call_kinds[CALL_KINDS] = {
    [CALL_OPEN] = {"open", EMFILE, 0},
    [CALL_READ] = {"read", EIO, 0},
    [CALL_WRITE] = {"write", ENOSPC, 0},
    [CALL_SYNC] = {"fsync", EIO, 0},
    [CALL_CLOSE] = {"close", EIO, 0},
    [CALL_RENAME] = {"rename", EIO, 0},
    [CALL_TRUNCATE] = {"truncate", EIO, 0},
    [CALL_STAT] = {"stat", EACCES, 0},
    [CALL_SEEK] = {"seek", EIO, 0},
    [CALL_LOCK] = {"lock", EINVAL, 0},
    [CALL_MAP] = {"mmap", ENOMEM, 0},
    [CALL_FORK] = {"fork", EAGAIN, 0},
    [CALL_EXECUTE] = {"exec", ENOMEM, 0},
    [CALL_WAIT] = {"wait", EINTR, 1},
    [CALL_POLL] = {"poll", ENOMEM, 1},
    [CALL_PIPE] = {"pipe", EMFILE, 0},
    [CALL_SEND] = {"send", ECONNRESET, 0},
    [CALL_RECEIVE] = {"receive", ECONNRESET, 0},
    [CALL_MAKE_FOLDER] = {"mkdir", ENOSPC, 0},
};

static const struct {
    int number;
    CallKind kind;
} calls[] = {
#ifdef SYS_open
    {SYS_open, CALL_OPEN},          {SYS_stat, CALL_STAT},        {SYS_access, CALL_STAT},
    {SYS_fork, CALL_FORK},          {SYS_vfork, CALL_FORK},       {SYS_poll, CALL_POLL},
    {SYS_rename, CALL_RENAME},      {SYS_link, CALL_RENAME},      {SYS_mkdir, CALL_MAKE_FOLDER},
#endif
    {SYS_openat, CALL_OPEN},        {SYS_read, CALL_READ},        {SYS_pread64, CALL_READ},
    {SYS_write, CALL_WRITE},        {SYS_pwrite64, CALL_WRITE},   {SYS_writev, CALL_WRITE},
    {SYS_fsync, CALL_SYNC},         {SYS_fdatasync, CALL_SYNC},   {SYS_close, CALL_CLOSE},
    {SYS_renameat, CALL_RENAME},    {SYS_renameat2, CALL_RENAME}, {SYS_linkat, CALL_RENAME},
    {SYS_ftruncate, CALL_TRUNCATE}, {SYS_fstat, CALL_STAT},       {SYS_newfstatat, CALL_STAT},
    {SYS_faccessat, CALL_STAT},     {SYS_lseek, CALL_SEEK},       {SYS_fcntl, CALL_LOCK},
    {SYS_flock, CALL_LOCK},         {SYS_mmap, CALL_MAP},         {SYS_brk, CALL_MAP},
    {SYS_mremap, CALL_MAP},         {SYS_clone, CALL_FORK},       {SYS_clone3, CALL_FORK},
    {SYS_execve, CALL_EXECUTE},     {SYS_wait4, CALL_WAIT},       {SYS_ppoll, CALL_POLL},
    {SYS_pipe2, CALL_PIPE},         {SYS_socketpair, CALL_PIPE},  {SYS_memfd_create, CALL_PIPE},
    {SYS_sendto, CALL_SEND},        {SYS_recvfrom, CALL_RECEIVE}, {SYS_mkdirat, CALL_MAKE_FOLDER},
};
enum { CALLS = sizeof calls / sizeof *calls };
