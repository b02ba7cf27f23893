// Which blocks of the program a test runs: gcc's -fsanitize-coverage=trace-pc has each of them call this. The marks are
// in a file that all processes of the test map, those too that may write no file and those that end by a signal:
// $LOCKSTEP_REACHED/NAME, a byte for each address of the program NAME.
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

extern const char __executable_start[], etext[]; // of the linker

void __sanitizer_cov_trace_pc(void);

static char *marks;

__attribute__((constructor)) static void open_marks(void) {
    char path[4096];
    const char *folder = getenv("LOCKSTEP_REACHED");
    size_t bytes = (size_t)(etext - __executable_start);
    snprintf(path, sizeof path, "%s/%s", folder ? folder : "", program_invocation_short_name);
    int file = folder ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (file < 0) return;
    void *room = ftruncate(file, (off_t)bytes) == 0 ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
                                                    : MAP_FAILED;
    if (room != MAP_FAILED) marks = room;
    close(file);
}

void __sanitizer_cov_trace_pc(void) {
    if (marks) marks[(const char *)__builtin_return_address(0) - __executable_start] = 1;
}
