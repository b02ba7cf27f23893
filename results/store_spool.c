// The spool: a length, a digest, and a packed row each.
#include "results/store_spool.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "results/store_row.h"
#include "sim/digest.h"
#include "sim/file.h"
#include "sim/list.h"

#define LARGEST_SPOOL ((size_t)1 << 30)

typedef struct Head {
    uint64_t bytes, digest;
} Head;

static const char *path_of(Arena *arena, const char *store) { return arena_printf(arena, "%s-spool", store); }

bool spool_exists(Arena *arena, const char *store) { return access(path_of(arena, store), F_OK) == 0; }

bool spool_open(Arena *arena, const char *store, Spool *spool) {
    spool->path = path_of(arena, store);
    spool->file = open(spool->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    return spool->file >= 0;
}

bool spool_add(Spool *spool, const StoreRow *row) {
    Arena *scratch = arena_open();
    size_t bytes;
    const char *packed = store_row_pack(scratch, row, &bytes);
    Head head = {bytes, digest_bytes(DIGEST_START, packed, bytes)};
    char *whole = arena_alloc(scratch, sizeof head + bytes);
    memcpy(whole, &head, sizeof head);
    memcpy(whole + sizeof head, packed, bytes);
    ssize_t written = write(spool->file, whole, sizeof head + bytes);
    if (written >= 0 && written != (ssize_t)(sizeof head + bytes)) errno = ENOSPC;
    arena_close(scratch);
    return written == (ssize_t)(sizeof head + bytes);
}

const StoreRow *spool_rows(Arena *arena, const Spool *spool, int *count, Problems *problems) {
    struct {
        StoreRow *items;
        int count, room;
    } rows = {0};
    size_t size = 0;
    const char *at = file_read(arena, spool->path, LARGEST_SPOOL, &size, problems), *end = at + size;
    Head head;
    while (at && (size_t)(end - at) > sizeof head) {
        memcpy(&head, at, sizeof head);
        at += sizeof head;
        if (head.bytes > (size_t)(end - at) || digest_bytes(DIGEST_START, at, head.bytes) != head.digest) break;
        StoreRow row;
        if (!store_row_unpack(arena, at, head.bytes, &row) || !store_row_is_sound(arena, &row)) break;
        LIST_PUSH(arena, &rows, row);
        at += head.bytes;
    }
    *count = rows.count;
    return rows.items;
}

bool spool_empty(Spool *spool) { return ftruncate(spool->file, 0) == 0; }

void spool_remove(Spool *spool) {
    if (spool->file < 0) return;
    unlink(spool->path);
    close(spool->file);
    spool->file = -1;
}
