// What `make portable` puts before each source: calls that Linux or glibc alone has, some of which musl has too, are
// not there once the headers have said them. macOS, the BSDs and emscripten lack most of them.
#pragma once

#include <fcntl.h>
#include <malloc.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#pragma GCC poison O_PATH prctl syscall memfd_create fopencookie mallopt memrchr pipe2 close_range sched_getaffinity
#pragma GCC poison sched_setaffinity unshare execvpe renameat2 fallocate mremap qsort_r secure_getenv
