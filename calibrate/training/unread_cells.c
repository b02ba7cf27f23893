// Words in a row's configuration columns that the reader does not understand: those neither known nor equal to a
// default.
#include "calibrate/training/read_training_internal.h"

#define LONGEST_TOLD 4096

typedef struct KnownWord {
    Column column;
    const char *word;
} KnownWord;

// Read by read_training_job.c, or no different from what software does by itself.
static const KnownWord known_words[] = {
    {ATTENTION, "flash"},
    {ATTENTION, "sdpa"},
    {ATTENTION, "document mask"},
    {OVERLAP, "overlap-grad-reduce"},
    {OVERLAP, "overlap-param-gather"},
    {OVERLAP, "tp-comm-overlap"},
    {OVERLAP, "asynctp"},
    {OVERLAP, "interleaved"},
    {OVERLAP, "optimizer in backward"},
    {OVERLAP, "deepep"},
    {OVERLAP, "hybridep"},
    {OVERLAP, "a2a"}, // what experts' tokens are exchanged by unless a kernel is named
    {OVERLAP, "parameter_server"},
    {OVERLAP, "parameter servers"},
    {OVERLAP, "grpc"},
    {OVERLAP, "replicated"},
    {OPTIMIZER, "sgd"},
    {OPTIMIZER, "adamw"},
    {OPTIMIZER, "adam"},
    {OPTIMIZER, "adamw 8-bit"},
    {OPTIMIZER, "adafactor"},
    {OPTIMIZER, "cpu adamw (offloaded)"},
    {OPTIMIZER, "fused adamw"}, // PyTorch's kernel of several tensors
    {COMPILED, "0"},
    {COMPILED, "1"},
};

// A word within a longer text is known with brackets around it, and with a version.
static bool has_word(const char *text, size_t length, const char *word, size_t word_length) {
    for (size_t at = 0; at + word_length <= length; at++)
        if (strncasecmp(text + at, word, word_length) == 0) return true;
    return false;
}

static bool is_known(Column column, const char *text, size_t length) {
    for (size_t i = 0; i < sizeof known_words / sizeof *known_words; i++) {
        const KnownWord *known = &known_words[i];
        size_t word = strlen(known->word);
        if (known->column != column || length < word) continue;
        bool whole = column == OPTIMIZER || column == COMPILED;
        if (whole ? length == word && strncasecmp(text, known->word, word) == 0
                  : has_word(text, length, known->word, word))
            return true;
    }
    return false;
}

static void add_unread(Row *row, Column column, const char *text, size_t length) {
    const char *before = row->run->unread;
    if (before && strlen(before) > LONGEST_TOLD) return;
    row->run->unread = arena_printf(row->arena, "%s%s%s \"%.*s\"", before ? before : "", before ? ", " : "",
                                    column_word(column), (int)length, text);
}

// Brackets hold a word together: "distributed_replicated (grpc, colocated parameter servers)".
static size_t piece_length(const char *text) {
    size_t length = 0;
    for (int depth = 0; text[length] && (depth > 0 || !strchr(",;+", text[length])); length++)
        depth += (text[length] == '(') - (text[length] == ')');
    return length;
}

// "cpu_offload=1; strategy=full_shard": settings among the notes.
static const char *const known_settings[] = {"cpu_offload=", "cpu_offload_optimizer=", "sharding=", "strategy=",
                                             "seqsel="}; // sharding and the measured quantity have columns too

static bool is_setting(const char *text, size_t length) {
    size_t name = strspn(text, "abcdefghijklmnopqrstuvwxyz_");
    return name > 0 && name + 1 < length && text[name] == '=';
}

static void note_settings(Row *row) {
    for (const char *at = row->text[NOTES]; *at; at += strspn(at, " ;,")) {
        size_t length = strcspn(at, " ;,");
        bool known = false;
        for (size_t i = 0; i < sizeof known_settings / sizeof *known_settings; i++)
            known = known || strncmp(at, known_settings[i], strlen(known_settings[i])) == 0;
        if (is_setting(at, length) && !known) add_unread(row, NOTES, at, length);
        at += length;
    }
}

void note_unread_cells(Row *row) {
    static const Column configured[] = {ATTENTION, OVERLAP, OPTIMIZER, COMPILED};
    for (size_t c = 0; c < sizeof configured / sizeof *configured; c++)
        for (const char *at = row->text[configured[c]] + strspn(row->text[configured[c]], " "); *at;) {
            size_t length = piece_length(at), shown = length;
            while (shown > 0 && at[shown - 1] == ' ') shown--;
            if (!is_known(configured[c], at, shown)) add_unread(row, configured[c], at, shown);
            at += length;
            at += strspn(at, ",;+ ");
        }
    note_settings(row);
}
