// A file as it is or, where it begins as gzip's do (RFC 1952), what is packed in it: read as a stream, of any size.
#ifndef LOCKSTEP_SIM_GUNZIP_H
#define LOCKSTEP_SIM_GUNZIP_H

#include <stdbool.h>
#include <stdio.h>

typedef struct Gunzip Gunzip;

Gunzip *gunzip_open(FILE *file); // from where the file stands; it stays the caller's
// So many bytes at most; 0: there are no more, or what is packed is broken.
size_t gunzip_read(Gunzip *gunzip, void *room, size_t bytes);
bool gunzip_is_broken(const Gunzip *gunzip); // ends early, or its check sum is wrong
void gunzip_close(Gunzip *gunzip);

#endif
