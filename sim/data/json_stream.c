// Streaming JSON parser on yajl. A token cut by the end of a piece is parsed again from its start: pieces double in
// size while no token completes, and a long text costs twice its length.
#include "sim/data/kineto.h"

#include <yajl/yajl_parse.h>

#include "sim/system/watch.h"

#define USUAL_PIECE ((size_t)64 << 10)
#define LONGEST_PIECE ((size_t)64 << 20) // and with what came before it the longest text

typedef struct Reading {
    const JsonStream *stream;
    void *context;
    bool met_something; // in this piece
} Reading;

static Reading *met(void *context) {
    Reading *reading = context;
    reading->met_something = true;
    return reading;
}

static int on_null(void *context) { return met(context) != NULL; }

static int on_boolean(void *context, int value) {
    (void)value;
    return met(context) != NULL;
}

static int on_number(void *context, const char *text, size_t length) {
    Reading *reading = met(context);
    return reading->stream->on_number(reading->context, text, length);
}

static int on_text(void *context, const unsigned char *text, size_t length) {
    Reading *reading = met(context);
    return reading->stream->on_text(reading->context, text, length);
}

static int on_key(void *context, const unsigned char *text, size_t length) {
    Reading *reading = met(context);
    return reading->stream->on_key(reading->context, text, length);
}

static int on_map_start(void *context) {
    Reading *reading = met(context);
    return reading->stream->on_map_start(reading->context);
}

static int on_map_end(void *context) {
    Reading *reading = met(context);
    return reading->stream->on_map_end(reading->context);
}

static int on_list_start(void *context) {
    Reading *reading = met(context);
    return reading->stream->on_list_start(reading->context);
}

static int on_list_end(void *context) {
    Reading *reading = met(context);
    return reading->stream->on_list_end(reading->context);
}

static const yajl_callbacks callbacks = {.yajl_null = on_null,
                                         .yajl_boolean = on_boolean,
                                         .yajl_number = on_number,
                                         .yajl_string = on_text,
                                         .yajl_start_map = on_map_start,
                                         .yajl_map_key = on_key,
                                         .yajl_end_map = on_map_end,
                                         .yajl_start_array = on_list_start,
                                         .yajl_end_array = on_list_end};

// NULL at the end, or why not.
static const char *read_pieces(Gunzip *gunzip, yajl_handle parser, Reading *reading) {
    Arena *arena = arena_open();
    size_t room = USUAL_PIECE, held = 0, length;
    unsigned char *piece = NULL;
    yajl_status status = yajl_status_ok;
    bool is_too_long = false;
    do {
        if (room > held) piece = arena_alloc(arena, held = room);
        reading->met_something = false;
        length = gunzip_read(gunzip, piece, room);
        if (length > 0) status = yajl_parse(parser, piece, length);
        is_too_long = !reading->met_something && length == LONGEST_PIECE;
        room = reading->met_something ? USUAL_PIECE : 2 * room;
    } while (length > 0 && status == yajl_status_ok && !is_too_long);
    arena_close(arena);
    if (is_too_long) return "a text or number in it is longer than 64 MiB, the most that is read";
    if (status == yajl_status_ok) status = yajl_complete_parse(parser);
    return status == yajl_status_ok ? NULL : "this is no whole JSON document";
}

bool json_stream_read(FILE *file, const char *path, const JsonStream *stream, void *context, Problems *problems) {
    Reading reading = {.stream = stream, .context = context};
    yajl_handle parser = yajl_alloc(&callbacks, NULL, &reading);
    if (!parser) out_of_memory(USUAL_PIECE);
    watch_reads(path);
    Gunzip *gunzip = gunzip_open(file);
    const char *why = read_pieces(gunzip, parser, &reading);
    bool is_whole = gunzip_is_whole(gunzip, path, problems);
    gunzip_close(gunzip);
    yajl_free(parser);
    if (is_whole && why) problem_add(problems, (Where){path, 0}, "%s", why);
    return is_whole && !why;
}
