// The second sandbox of a scenario: the operating system (Landlock and seccomp on Linux) denies the process all
// files, programs and machines that its command line does not name, should a scenario escape the Lua sandbox. Once
// enabled it holds until the process ends, also for every child process.
#pragma once

#include <stdbool.h>

#include "sim/base/arena.h"
#include "sim/base/list.h"
#include "sim/base/options.h"
#include "sim/base/problem.h"

typedef enum WallMode { WALL_AUTO, WALL_ON, WALL_OFF, WALL_SILENT } WallMode; // silent: auto without its warning
extern const char *const wall_modes[];                                        // of those that users choose

#define WALL_OPTION                                                                                                    \
    {                                                                                                                  \
        .name = "wall", .kind = OPTION_CHOICE, .choices = wall_modes, .choice_count = 3,                               \
        .help = "the system's guard round the script (docs/security.md); auto: go on without it, with a warning, "     \
                "where the kernel has none; on: refuse"                                                                \
    }

typedef enum WallRight {
    WALL_READ,    // a file, or a folder and all below
    WALL_REPLACE, // a folder where files are written whole or not at all: made, renamed, removed
    WALL_STORE,   // a folder where a database lives: the same, and read
    WALL_WRITE,   // a device or a pipe
    WALL_START,   // a program
} WallRight;

typedef struct WallPath {
    WallRight right;
    const char *path;
} WallPath;

typedef LIST_OF(WallPath) WallRules; // {0}: nothing may be read, written or started

// Paths that do not exist are skipped: opening them later reports the error.
void wall_allow(Arena *arena, WallRules *rules, WallRight right, const char *path);
// The files that a setting of the user's names: "cluster.fabric=ib-ndr400:mine.json", "gpus=8,16": none.
void wall_allow_setting(Arena *arena, WallRules *rules, const char *setting);
// The script and the modules in its folder.
void wall_allow_script(Arena *arena, WallRules *rules, const char *file);
// A file that is written, as sim/system/file.h does it, or as a database ("-": none).
void wall_allow_output(Arena *arena, WallRules *rules, WallRight right, const char *file);
// From options that may be repeated: files and folders to read; settings (--set, --vary), which may name files.
void wall_allow_texts(Arena *arena, WallRules *rules, const Options *options, const char *name);
void wall_allow_settings(Arena *arena, WallRules *rules, const Options *options, const char *name);
// An output file that every later sandbox allows, for files that main.c writes when a command is done. Few; the
// string `file` is not copied.
void wall_keep_output(WallRight right, const char *file);
void wall_keep_nothing(void); // another command is to run in this process
// Programs of this name in the folders of PATH, and what drawing programs read: libraries, fonts.
void wall_allow_program(Arena *arena, WallRules *rules, const char *name);

// Walls are raised only in processes that call this first; elsewhere (in tests of commands) wall_raise does nothing,
// since it cannot be undone.
void wall_permit(void);

// False after a problem: the mode is WALL_ON and the system does not support it. With WALL_AUTO a warning reports
// what is missing.
bool wall_raise(Arena *arena, const WallRules *rules, WallMode mode, Problems *problems);
WallMode wall_mode_said(const Options *options); // --wall; default: as the machine supports it, silently with --quiet

// ---- The system's side: wall_linux.c.

// What the system lacks, in words, or NULL. Both halves are tried.
const char *wall_guard_files(Arena *arena, const WallRules *rules);
const char *wall_guard_calls(Arena *arena, const WallRules *rules);
