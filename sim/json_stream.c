// The one door to yajl.
#include "sim/json_stream.h"

#include <yajl/yajl_parse.h>

#include "sim/gunzip.h"

bool json_stream_read(FILE *file, const char *path, const JsonStream *stream, void *context, Problems *problems) {
    const yajl_callbacks callbacks = {.yajl_number = stream->on_number,
                                      .yajl_string = stream->on_text,
                                      .yajl_start_map = stream->on_map_start,
                                      .yajl_map_key = stream->on_key,
                                      .yajl_end_map = stream->on_map_end,
                                      .yajl_start_array = stream->on_list_start,
                                      .yajl_end_array = stream->on_list_end};
    unsigned char chunk[65536];
    yajl_handle parser = yajl_alloc(&callbacks, NULL, context);
    if (!parser) out_of_memory(sizeof chunk);
    yajl_status status = yajl_status_ok;
    size_t length;
    Gunzip *gunzip = gunzip_open(file);
    while (status == yajl_status_ok && (length = gunzip_read(gunzip, chunk, sizeof chunk)) > 0)
        status = yajl_parse(parser, chunk, length);
    if (status == yajl_status_ok) status = yajl_complete_parse(parser);
    bool is_broken = gunzip_is_broken(gunzip);
    gunzip_close(gunzip);
    yajl_free(parser);
    if (status == yajl_status_ok && !is_broken) return true;
    problem_add(problems, (Where){path, 0},
                is_broken ? "this is no whole gzip file: it ends early, or is damaged"
                          : "this is no whole JSON document");
    return false;
}
