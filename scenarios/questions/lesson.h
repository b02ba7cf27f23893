// lockstep lesson: the course in a terminal, and its sheets as pages.
#pragma once

#include "sim/data/question.h"

extern const Question lesson_question;

typedef struct LessonWord {
    const char *term, *what; // in a plain sentence
} LessonWord;
extern const LessonWord lesson_words[]; // by name
extern const int lesson_word_count;

// Whether a text contains the term, or its plural, as a separate word, ignoring case.
bool lesson_says(const char *text, const char *term);
