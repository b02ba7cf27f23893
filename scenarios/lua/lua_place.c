// A small lexer of Lua: enough to skip texts, comments and nested tables.
#include "scenarios/lua/lua_read.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define LINES_BETWEEN_CALL_AND_BRACE 3

typedef struct Token {
    const char *start;
    size_t length; // 0: the end
    int line;
    bool is_name, is_text;
} Token;

// The end of [[ … ]] or [=[ … ]=] that opens at `at`; NULL when none opens there.
static const char *long_bracket_end(const char *at, int *line) {
    size_t level = strspn(at + 1, "=");
    if (at[0] != '[' || at[1 + level] != '[') return NULL;
    for (at += level + 2; *at; at++) {
        if (*at == '\n') ++*line;
        if (*at == ']' && strspn(at + 1, "=") == level && at[1 + level] == ']') return at + level + 2;
    }
    return at;
}

static const char *skip_blank(const char *at, int *line) {
    for (;;) {
        if (isspace((unsigned char)*at)) {
            if (*at++ == '\n') ++*line;
        } else if (at[0] == '-' && at[1] == '-') {
            const char *end = at[2] == '[' ? long_bracket_end(at + 2, line) : NULL;
            at = end ? end : at + strcspn(at, "\n");
        } else {
            return at;
        }
    }
}

static const char *text_end(const char *at, int *line) {
    char quote = *at++;
    for (; *at && *at != quote; at++) {
        if (*at == '\\' && at[1]) at++;
        if (*at == '\n') ++*line;
    }
    return *at ? at + 1 : at;
}

static bool is_name_byte(char c) { return isalnum((unsigned char)c) || c == '_'; }

// Reads the word at the place and moves the place behind it.
static Token next_token(Place *place) {
    const char *at = skip_blank(place->at, &place->line);
    Token token = {.start = at, .line = place->line};
    const char *end = at;
    if (*at == '"' || *at == '\'') {
        token.is_text = true;
        end = text_end(at, &place->line);
    } else if (*at == '[' && (end = long_bracket_end(at, &place->line))) {
        token.is_text = true;
    } else if (is_name_byte(*at)) {
        end = at;
        while (is_name_byte(*end)) end++;
        token.is_name = !isdigit((unsigned char)*at);
    } else if (*at) {
        end = at + 1;
        if ((*at == '=' || *at == '~' || *at == '<' || *at == '>') && at[1] == '=') end++;
    } else {
        end = at;
    }
    token.length = (size_t)(end - at);
    place->at = end;
    return token;
}

static bool is_word(const Token *token, const char *word) {
    return token->length == strlen(word) && strncmp(token->start, word, token->length) == 0;
}

// Change of nesting depth by this word. Blocks count too: a table may contain a function.
static int depth_change(const Token *token) {
    static const char *const openers[] = {"{", "(", "[", "function", "if", "do", "repeat"};
    static const char *const closers[] = {"}", ")", "]", "end", "until"};
    for (size_t i = 0; i < sizeof openers / sizeof *openers; i++)
        if (!token->is_text && is_word(token, openers[i])) return 1;
    for (size_t i = 0; i < sizeof closers / sizeof *closers; i++)
        if (!token->is_text && is_word(token, closers[i])) return -1;
    return 0;
}

static const char *line_start(const char *source, int line) {
    for (int i = 1; i < line && source; i++) {
        source = strchr(source, '\n');
        if (source) source++;
    }
    return source;
}

Place place_of_call(const char *source, int line, const char *word) {
    Place nowhere = {NULL, line};
    Place here = {source ? line_start(source, line) : NULL, line};
    while (here.at) {
        Token token = next_token(&here);
        if (token.length == 0 || token.line > line + LINES_BETWEEN_CALL_AND_BRACE) return nowhere;
        if (!token.is_name || !is_word(&token, word)) continue;
        Place after = here;
        Token brace = next_token(&after);
        if (is_word(&brace, "(")) brace = next_token(&after);
        if (is_word(&brace, "{")) return after;
    }
    return nowhere;
}

// The first word of a table's entries, one entry a call; false when the table ends.
static bool next_entry(Place *place, Token *first) {
    *first = next_token(place);
    return first->length > 0 && !is_word(first, "}");
}

static void skip_entry(Place *place, Token token) {
    for (int depth = 0;; token = next_token(place)) {
        if (token.length == 0) return;
        if (depth == 0 && (is_word(&token, ",") || is_word(&token, ";"))) return;
        Place before = {token.start, token.line};
        int change = depth_change(&token);
        if (depth == 0 && change < 0) {
            *place = before;
            return;
        }
        depth += change;
    }
}

static bool names_key(const Token *first, Place *place, const char *key) {
    if (is_word(first, "[")) { // ["key"] = …
        Token text = next_token(place);
        bool same = text.is_text && text.length == strlen(key) + 2 && strncmp(text.start + 1, key, strlen(key)) == 0;
        next_token(place);
        Token equals = next_token(place);
        return same && is_word(&equals, "=");
    }
    Token equals = next_token(place);
    return first->is_name && is_word(first, key) && is_word(&equals, "=");
}

static Place at_next_word(Place place) {
    place.at = skip_blank(place.at, &place.line);
    return place;
}

Place place_of_key(Place table, const char *key) {
    Place nowhere = {NULL, table.line}, place = table;
    Token first;
    while (place.at && next_entry(&place, &first)) {
        Place value = place;
        if (names_key(&first, &value, key)) return at_next_word(value);
        skip_entry(&place, first);
    }
    return nowhere;
}

static bool has_key(const Token *first, Place after) {
    if (is_word(first, "[")) return true;
    Token equals = next_token(&after);
    return first->is_name && is_word(&equals, "=");
}

Place place_of_next_item(Place *rest) {
    Token first;
    while (rest->at && next_entry(rest, &first)) {
        bool found = !has_key(&first, *rest);
        skip_entry(rest, first);
        if (found) return (Place){first.start, first.line};
    }
    rest->at = NULL;
    return *rest;
}

Place place_inside(Place value) {
    if (!value.at) return value;
    Place place = value;
    Token brace = next_token(&place);
    if (is_word(&brace, "{")) return (Place){place.at, brace.line};
    return (Place){NULL, value.line};
}
