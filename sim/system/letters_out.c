#include "sim/system/letters_out.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/text.h"

#define LONGEST_LETTER 4

typedef struct Filter {
    FILE *stream;
    int descriptor;
    bool as_is;                              // output is written unfiltered
    unsigned char begun[LONGEST_LETTER + 1]; // bytes of an incomplete character
    int begun_count;
    size_t count;
    char shown[8192];
    struct Filter *next;
} Filter;

static Filter *filters;

static Filter *filter_of(const FILE *stream) {
    for (Filter *filter = filters; filter; filter = filter->next)
        if (filter->stream == stream) return filter;
    return NULL;
}

// ---- Writing: true, or errno.

static bool write_all(const Filter *filter, const char *bytes, size_t count) {
    while (count > 0) {
        ssize_t written = write(filter->descriptor, bytes, count);
        if (written < 0 && errno != EINTR) return false;
        if (written < 0) continue;
        bytes += written;
        count -= (size_t)written;
    }
    return true;
}

static bool hand_over(Filter *filter) {
    size_t count = filter->count;
    filter->count = 0;
    return write_all(filter, filter->shown, count);
}

static bool show(Filter *filter, const void *bytes, size_t count) {
    if (filter->count + count > sizeof filter->shown && !hand_over(filter)) return false;
    memcpy(filter->shown + filter->count, bytes, count);
    filter->count += count;
    return true;
}

// ---- Letters.

static bool is_plain(char byte) { return (byte >= ' ' && byte < 0x7f) || byte == '\n' || byte == '\t'; }

static size_t plain_bytes(const char *bytes, size_t count) {
    size_t plain = 0;
    while (plain < count && is_plain(bytes[plain])) plain++;
    return plain;
}

// By its first byte.
static int bytes_of_letter(unsigned char first) {
    return first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
}

static bool end_letter(Filter *filter) {
    const unsigned char *next = filter->begun;
    int count = filter->begun_count;
    if (count == 0) return true;
    filter->begun[count] = '\0';
    filter->begun_count = 0;
    bool harmless = !letter_commands_terminal(letter_next(&next)) && next == filter->begun + count;
    return harmless ? show(filter, filter->begun, (size_t)count) : show(filter, "?", 1);
}

static bool pass_byte(Filter *filter, unsigned char byte) {
    bool goes_on = (byte & 0xc0) == 0x80 && filter->begun_count > 0;
    if (!goes_on && !end_letter(filter)) return false;
    filter->begun[filter->begun_count++] = byte;
    return filter->begun_count < bytes_of_letter(filter->begun[0]) || end_letter(filter);
}

static bool pass(Filter *filter, const char *bytes, size_t count) {
    for (size_t at = 0; at < count;) {
        size_t plain = plain_bytes(bytes + at, count - at);
        if (plain > sizeof filter->shown) plain = sizeof filter->shown;
        if (plain > 0 && !(end_letter(filter) && show(filter, bytes + at, plain))) return false;
        at += plain;
        if (at < count && !is_plain(bytes[at]) && !pass_byte(filter, (unsigned char)bytes[at++])) return false;
    }
    return hand_over(filter);
}

// ---- The streams.

static ssize_t on_write(void *cookie, const char *bytes, size_t count) {
    Filter *filter = cookie;
    bool all_plain = filter->as_is || plain_bytes(bytes, count) == count;
    bool whole = all_plain ? end_letter(filter) && hand_over(filter) && write_all(filter, bytes, count)
                           : pass(filter, bytes, count);
    return whole ? (ssize_t)count : 0;
}

static int on_close(void *cookie) {
    Filter *filter = cookie, **link = &filters;
    bool whole = end_letter(filter) && hand_over(filter);
    int why = errno;
    bool closed = close(filter->descriptor) == 0;
    while (*link != filter) link = &(*link)->next;
    *link = filter->next;
    free(filter);
    if (!whole) errno = why;
    return whole && closed ? 0 : -1;
}

FILE *letters_out_open(int descriptor) {
    Filter *filter = memory_or_end(sizeof *filter);
    *filter = (Filter){.descriptor = descriptor};
    filter->stream = fopencookie(filter, "w", (cookie_io_functions_t){.write = on_write, .close = on_close});
    if (!filter->stream) {
        free(filter);
        return NULL;
    }
    filter->next = filters;
    filters = filter;
    return filter->stream;
}

static FILE *standard(FILE *usual, int descriptor, int buffering) {
    FILE *stream = filter_of(usual) ? NULL : letters_out_open(descriptor);
    if (!stream) return usual;
    fflush(usual);
    setvbuf(stream, NULL, buffering, BUFSIZ);
    return stream;
}

void letters_out_begin(void) {
    stdout = standard(stdout, STDOUT_FILENO, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF);
    stderr = standard(stderr, STDERR_FILENO, _IONBF);
}

void letters_out_as_is(FILE *stream, const char *text) {
    Filter *filter = filter_of(stream);
    if (filter) fflush(stream); // earlier output is still filtered
    if (filter) filter->as_is = true;
    fputs(text, stream);
    if (filter) fflush(stream);
    if (filter) filter->as_is = false;
}

int letters_out_descriptor(FILE *stream) {
    const Filter *filter = filter_of(stream);
    return filter ? filter->descriptor : fileno(stream);
}
