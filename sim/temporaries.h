// Files that are to be gone when the program ends before they have become what they should be. They are removed however
// it ends: by exit, by a signal that can be caught; kill -9 and a loss of power leave them.
#ifndef LOCKSTEP_SIM_TEMPORARIES_H
#define LOCKSTEP_SIM_TEMPORARIES_H

// Opens a file that is not there yet, as open does with O_CREAT and O_EXCL, and remembers it. -1: errno says why.
int temporary_open(const char *path, int flags);
void temporary_add(const char *path);  // one that somebody else opens, or that may never come to be
void temporary_drop(const char *path); // it has another name now, or is removed
// Those of this process; not those of the one that it was forked from. Safe in a signal handler.
void temporaries_remove(void);

#endif
