#include "sim/data/kineto.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "sim/base/arena.h"
#include "sim/base/quantity.h"
#include "sim/base/text.h"
#include "sim/system/file.h"

// ---- gzip: the only user of zlib's inflate. results/trace_file.c writes gzip.

#define GZIP_WINDOW (15 + 16) // the largest, with gzip's header and check sum

struct Gunzip {
    FILE *file;
    z_stream zip;
    bool is_zip, is_broken, in_member; // of a file of several members one is being read
    double packed, unpacked;           // bytes so far
    unsigned char chunk[65536];
    size_t held, given; // of the chunk, where the file is plain: its first bytes
};

Gunzip *gunzip_open(FILE *file) {
    Gunzip *gunzip = calloc(1, sizeof *gunzip);
    if (!gunzip) out_of_memory(sizeof *gunzip);
    gunzip->file = file;
    gunzip->held = fread(gunzip->chunk, 1, sizeof gunzip->chunk, file);
    gunzip->is_zip = gunzip->held >= 2 && gunzip->chunk[0] == 0x1f && gunzip->chunk[1] == 0x8b;
    if (!gunzip->is_zip) return gunzip;
    if (inflateInit2(&gunzip->zip, GZIP_WINDOW) != Z_OK) out_of_memory(sizeof *gunzip);
    gunzip->zip.next_in = gunzip->chunk;
    gunzip->zip.avail_in = (unsigned)gunzip->held;
    gunzip->packed = (double)gunzip->held;
    gunzip->in_member = true;
    return gunzip;
}

static size_t read_plain(Gunzip *gunzip, void *room, size_t bytes) {
    size_t held = gunzip->held - gunzip->given;
    if (held == 0) return fread(room, 1, bytes, gunzip->file);
    if (held > bytes) held = bytes;
    memcpy(room, gunzip->chunk + gunzip->given, held);
    gunzip->given += held;
    return held;
}

// False: the file has no more.
static bool fill(Gunzip *gunzip) {
    z_stream *zip = &gunzip->zip;
    if (zip->avail_in > 0) return true;
    zip->next_in = gunzip->chunk;
    zip->avail_in = (unsigned)fread(gunzip->chunk, 1, sizeof gunzip->chunk, gunzip->file);
    gunzip->packed += zip->avail_in;
    return zip->avail_in > 0;
}

static bool is_beyond_ratio(const Gunzip *gunzip) {
    return gunzip->unpacked > GUNZIP_RATIO_FROM && gunzip->unpacked > GUNZIP_MOST_RATIO * gunzip->packed;
}

static bool is_too_large(const Gunzip *gunzip) {
    return gunzip->unpacked > GUNZIP_MOST_BYTES || is_beyond_ratio(gunzip);
}

size_t gunzip_read(Gunzip *gunzip, void *room, size_t bytes) {
    z_stream *zip = &gunzip->zip;
    if (!gunzip->is_zip) return read_plain(gunzip, room, bytes);
    if (is_too_large(gunzip)) return 0;
    zip->next_out = room;
    zip->avail_out = (unsigned)bytes;
    while (zip->avail_out > 0 && !gunzip->is_broken) {
        if (!fill(gunzip)) {
            gunzip->is_broken = gunzip->in_member;
            break;
        }
        if (!gunzip->in_member) inflateReset(zip); // members follow each other (RFC 1952, 2.2)
        int status = inflate(zip, Z_NO_FLUSH);
        if (status == Z_MEM_ERROR) out_of_memory(sizeof *gunzip);
        gunzip->in_member = status != Z_STREAM_END;
        gunzip->is_broken = status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR;
    }
    gunzip->unpacked += (double)(bytes - zip->avail_out);
    return bytes - zip->avail_out;
}

bool gunzip_is_whole(const Gunzip *gunzip, const char *path, Problems *problems) {
    Where where = {path, 0};
    char most[32];
    if (gunzip->is_broken)
        return problem_add(problems, where, "this is no whole gzip file: it ends early, or is damaged");
    if (!is_too_large(gunzip)) return true;
    if (is_beyond_ratio(gunzip))
        problem_add(problems, where, "unpacks to more than %g times its size, and no measurement does",
                    GUNZIP_MOST_RATIO);
    else
        problem_add(problems, where, "unpacks to more than %s, the most that is unpacked",
                    quantity_format(GUNZIP_MOST_BYTES, QUANTITY_BYTES, most, sizeof most));
    return problem_hint(problems, "if it is meant to be so, unpack it (gzip -dk) and name the plain file");
}

void gunzip_close(Gunzip *gunzip) {
    if (gunzip->is_zip) inflateEnd(&gunzip->zip);
    free(gunzip);
}

// ---- Kineto.

typedef struct KinetoRead {
    const KinetoReader *reader;
    void *context;
    int maps, lists; // open ones
    bool in_events, in_devices;
    char key[32], argument[32];
    KinetoEvent event;
} KinetoRead;

static bool in_event(const KinetoRead *read) { return read->in_events && read->lists == 1 && read->maps == 2; }

// Lists may be open: those of an operator's dimensions and types.
static bool in_arguments(const KinetoRead *read) {
    return read->in_events && read->maps == 3 && strcmp(read->key, "args") == 0;
}

static int on_map_start(void *context) {
    KinetoRead *read = context;
    read->maps++;
    if (!in_event(read)) return 1;
    read->event.name[0] = read->event.category[0] = read->argument[0] = '\0';
    read->event.start_us = NAN, read->event.duration_us = -1;
    if (read->reader->begin_event) read->reader->begin_event(read->context);
    return 1;
}

static int on_map_end(void *context) {
    KinetoRead *read = context;
    if (in_event(read) && read->reader->end_event) read->reader->end_event(read->context, &read->event);
    read->maps--;
    return 1;
}

static int on_list_start(void *context) {
    KinetoRead *read = context;
    read->lists++;
    if (read->lists > 1) return 1;
    read->in_events = read->maps == 1 && strcmp(read->key, "traceEvents") == 0;
    read->in_devices = read->maps == 1 && strcmp(read->key, "deviceProperties") == 0;
    return 1;
}

static int on_list_end(void *context) {
    KinetoRead *read = context;
    if (in_arguments(read) && read->reader->argument_list_end)
        read->reader->argument_list_end(read->context, read->argument, read->lists - 2);
    read->lists--;
    if (read->lists == 0) read->in_events = read->in_devices = false;
    return 1;
}

void kineto_keep(char *place, size_t room, const unsigned char *text, size_t length) {
    size_t kept = length < room - 1 ? length : room - 1;
    memcpy(place, text, kept);
    place[kept] = '\0';
    letters_make_harmless(place, "");
}

static int on_key(void *context, const unsigned char *text, size_t length) {
    KinetoRead *read = context;
    if (in_arguments(read))
        kineto_keep(read->argument, sizeof read->argument, text, length);
    else
        kineto_keep(read->key, sizeof read->key, text, length);
    return 1;
}

static int on_text(void *context, const unsigned char *text, size_t length) {
    KinetoRead *read = context;
    const KinetoReader *reader = read->reader;
    if (in_arguments(read) && reader->argument_text)
        reader->argument_text(read->context, read->argument, read->lists - 1, text, length);
    bool names_device = read->in_devices && read->lists == 1 && read->maps == 2 && strcmp(read->key, "name") == 0;
    if (names_device && reader->device_name) reader->device_name(read->context, text, length);
    if (!in_event(read)) return 1;
    if (strcmp(read->key, "name") == 0) kineto_keep(read->event.name, sizeof read->event.name, text, length);
    if (strcmp(read->key, "cat") == 0) kineto_keep(read->event.category, sizeof read->event.category, text, length);
    return 1;
}

static int on_number(void *context, const char *text, size_t length) {
    KinetoRead *read = context;
    char digits[64];
    if (!in_event(read) && !in_arguments(read)) return 1;
    kineto_keep(digits, sizeof digits, (const unsigned char *)text, length);
    double value = strtod(digits, NULL);
    if (in_event(read)) {
        if (strcmp(read->key, "ts") == 0) read->event.start_us = value;
        if (strcmp(read->key, "dur") == 0) read->event.duration_us = value;
    } else if (read->reader->argument_number) {
        read->reader->argument_number(read->context, read->argument, read->lists - 1, value);
    }
    return 1;
}

static const JsonStream stream = {.on_number = on_number,
                                  .on_text = on_text,
                                  .on_map_start = on_map_start,
                                  .on_key = on_key,
                                  .on_map_end = on_map_end,
                                  .on_list_start = on_list_start,
                                  .on_list_end = on_list_end};

bool kineto_read(FILE *file, const char *path, const KinetoReader *reader, void *context, Problems *problems) {
    KinetoRead read = {.reader = reader, .context = context};
    return json_stream_read(file, path, &stream, &read, problems);
}

bool kineto_is_trace(const char *path) {
    static const char *const marks[] = {"\"schemaVersion\"", "\"deviceProperties\"", "\"traceEvents\""};
    char head[65536];
    size_t length = 0, more;
    FILE *file = file_peek(path);
    if (!file) return false;
    Gunzip *gunzip = gunzip_open(file);
    while (length < sizeof head - 1 && (more = gunzip_read(gunzip, head + length, sizeof head - 1 - length)) > 0)
        length += more;
    gunzip_close(gunzip);
    fclose(file);
    head[length] = '\0';
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (strstr(head, marks[i])) return true;
    return false;
}

bool kineto_is_on_gpu(const KinetoEvent *event) {
    static const char *const categories[] = {"kernel", "gpu_memcpy", "gpu_memset"};
    for (size_t i = 0; i < sizeof categories / sizeof *categories; i++)
        if (strcmp(event->category, categories[i]) == 0) return true;
    return false;
}
