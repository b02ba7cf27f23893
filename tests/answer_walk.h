// Command lines that ask every command for every ending, and for every shape that its JSON has; and a folder with the
// files that they name.
#pragma once

typedef struct AnswerCase {  // a command that answers, once in each form
    const char *line, *kind; // kind NULL: exempt
} AnswerCase;
extern const AnswerCase answer_cases[];
extern const int answer_case_count;
// Commands whose answer has no other form than the one it is printed in.
extern const char *const answer_exempt[];
extern const int answer_exempt_count;

// With 0 and 3 there is an answer; with 1, 2 and 4 standard output is empty.
typedef struct WalkLine {
    int status;
    const char *line;
} WalkLine;
extern const WalkLine answer_walk[];
extern const int answer_walk_count;

// A folder from such a name, called $DIR in the lines: with what the cases need, or the whole walk.
char *walk_open(char name[]);
char *walk_open_whole(char name[]);
void walk_close(const char *folder);

// `line` in place of the %s of the format; its exit status.
#define WALK_SAID (1 << 23)
extern char walk_said[WALK_SAID]; // what the last line printed
int walk_shell(const char *folder, const char *format, const char *line);
