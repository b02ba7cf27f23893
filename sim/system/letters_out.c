#include "sim/system/letters_out.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/arena.h"
#include "sim/base/letters.h"

#define LONGEST_LETTER 4

typedef struct Door {
    FILE *stream;
    int descriptor;
    bool as_is;                              // output is written unfiltered
    unsigned char begun[LONGEST_LETTER + 1]; // bytes of an incomplete character
    int begun_count;
    size_t count;
    char shown[8192];
    struct Door *next;
} Door;

static Door *doors;

static Door *door_of(const FILE *stream) {
    for (Door *door = doors; door; door = door->next)
        if (door->stream == stream) return door;
    return NULL;
}

// ---- Writing: true, or errno.

static bool write_all(const Door *door, const char *bytes, size_t count) {
    while (count > 0) {
        ssize_t written = write(door->descriptor, bytes, count);
        if (written < 0 && errno != EINTR) return false;
        if (written < 0) continue;
        bytes += written;
        count -= (size_t)written;
    }
    return true;
}

static bool hand_over(Door *door) {
    size_t count = door->count;
    door->count = 0;
    return write_all(door, door->shown, count);
}

static bool show(Door *door, const void *bytes, size_t count) {
    if (door->count + count > sizeof door->shown && !hand_over(door)) return false;
    memcpy(door->shown + door->count, bytes, count);
    door->count += count;
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

static bool end_letter(Door *door) {
    const unsigned char *next = door->begun;
    int count = door->begun_count;
    if (count == 0) return true;
    door->begun[count] = '\0';
    door->begun_count = 0;
    bool harmless = !letter_commands_terminal(letter_next(&next)) && next == door->begun + count;
    return harmless ? show(door, door->begun, (size_t)count) : show(door, "?", 1);
}

static bool pass_byte(Door *door, unsigned char byte) {
    bool goes_on = (byte & 0xc0) == 0x80 && door->begun_count > 0;
    if (!goes_on && !end_letter(door)) return false;
    door->begun[door->begun_count++] = byte;
    return door->begun_count < bytes_of_letter(door->begun[0]) || end_letter(door);
}

static bool pass(Door *door, const char *bytes, size_t count) {
    for (size_t at = 0; at < count;) {
        size_t plain = plain_bytes(bytes + at, count - at);
        if (plain > sizeof door->shown) plain = sizeof door->shown;
        if (plain > 0 && !(end_letter(door) && show(door, bytes + at, plain))) return false;
        at += plain;
        if (at < count && !is_plain(bytes[at]) && !pass_byte(door, (unsigned char)bytes[at++])) return false;
    }
    return hand_over(door);
}

// ---- The streams.

static ssize_t on_write(void *cookie, const char *bytes, size_t count) {
    Door *door = cookie;
    bool all_plain = door->as_is || plain_bytes(bytes, count) == count;
    bool whole =
        all_plain ? end_letter(door) && hand_over(door) && write_all(door, bytes, count) : pass(door, bytes, count);
    return whole ? (ssize_t)count : 0;
}

static int on_close(void *cookie) {
    Door *door = cookie, **link = &doors;
    bool whole = end_letter(door) && hand_over(door);
    int why = errno;
    bool closed = close(door->descriptor) == 0;
    while (*link != door) link = &(*link)->next;
    *link = door->next;
    free(door);
    if (!whole) errno = why;
    return whole && closed ? 0 : -1;
}

FILE *letters_out_open(int descriptor) {
    Door *door = memory_or_end(sizeof *door);
    *door = (Door){.descriptor = descriptor};
    door->stream = fopencookie(door, "w", (cookie_io_functions_t){.write = on_write, .close = on_close});
    if (!door->stream) {
        free(door);
        return NULL;
    }
    door->next = doors;
    doors = door;
    return door->stream;
}

static FILE *standard(FILE *usual, int descriptor, int buffering) {
    FILE *stream = door_of(usual) ? NULL : letters_out_open(descriptor);
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
    Door *door = door_of(stream);
    if (door) fflush(stream); // earlier output is still filtered
    if (door) door->as_is = true;
    fputs(text, stream);
    if (door) fflush(stream);
    if (door) door->as_is = false;
}

int letters_out_descriptor(FILE *stream) {
    const Door *door = door_of(stream);
    return door ? door->descriptor : fileno(stream);
}
