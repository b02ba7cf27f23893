// Reading of gzip files; the only user of zlib's inflate. results/trace_file.c writes gzip.
#include "sim/data/gunzip.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "sim/base/arena.h"
#include "sim/base/quantity.h"

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
