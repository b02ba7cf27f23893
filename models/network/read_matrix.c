// Parser of nvidia-smi topo -m as copied from terminals and web pages: with or without affinity columns, legends
// before or after, colours (whole, or the remains in a web page), old codes (SOC), NICs by number or by name, rows of
// NICs left out, a host's name before each line. Other programs' matrices are refused by name.
#include <stdlib.h>
#include <string.h>

#include "models/network/interior.h"
#include "models/network/topology.h"

#define PARTS_MOST (NODE_GPU_LIMIT + NODE_NIC_LIMIT)
#define WORDS_MOST (PARTS_MOST + 16)

typedef struct Line {
    char *words[WORDS_MOST];
    int count;
} Line;

typedef struct Reading {
    Arena *arena;
    Problems *problems;
    const char *file;
    int line;
    const char *names[PARTS_MOST]; // columns
    int part_count, gpu_count;
    int numa_word; // place of the NUMA affinity after the cells; -1: none
    unsigned char cells[PARTS_MOST][PARTS_MOST];
    int row_line[PARTS_MOST]; // 0: no such row
    int numa[NODE_GPU_LIMIT];
    const char *legend[NODE_NIC_LIMIT]; // "NIC3: mlx5_3"
    bool in_table, table_over;
} Reading;

static Where here(const Reading *reading) { return (Where){reading->file, reading->line}; }

// ---- Words of a line. Escapes that colour go, and control characters and unbreakable spaces count as spaces.
// The bytes of an escape, 0 where there is none: ESC [ … letter, ESC ( B; and without the ESC, which pages and mails
// lose or write as ^[, a colour alone: [4m.
static size_t escape_bytes(const char *text) {
    size_t start = text[0] == 0x1b ? 1 : strncmp(text, "^[", 2) == 0 ? 2 : 0;
    const char *c = text + start;
    if (start && *c && strchr("()*+", *c)) return start + (c[1] ? 2 : 1);
    if (*c != '[') return text[0] == 0x1b;
    c++;
    size_t digits = strspn(c, "0123456789;");
    if (c[digits] == 'm') return (size_t)(c - text) + digits + 1;
    if (text[0] != 0x1b) return 0;
    while (*c && !(*c >= '@' && *c <= '~')) c++;
    return (size_t)(c - text) + (*c != '\0');
}

static void drop_escapes(char *text) {
    char *out = text;
    for (const char *c = text; *c;) {
        size_t escape = escape_bytes(c);
        bool unbreakable = (unsigned char)c[0] == 0xc2 && (unsigned char)c[1] == 0xa0;
        if (escape > 0) {
            c += escape;
        } else if (unbreakable) {
            *out++ = ' ';
            c += 2;
        } else {
            *out++ = (unsigned char)*c < 0x20 || *c == 0x7f ? ' ' : *c;
            c++;
        }
    }
    *out = '\0';
}

static bool split(char *text, Line *line) {
    line->count = 0;
    drop_escapes(text);
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " ")) {
        if (line->count == WORDS_MOST) return false;
        line->words[line->count++] = word;
    }
    return true;
}

static bool numbered(const char *word, const char *prefix) {
    size_t length = strlen(prefix);
    return strncmp(word, prefix, length) == 0 && word[length] &&
           strspn(word + length, "0123456789") == strlen(word + length);
}

static bool is_gpu(const char *word) { return numbered(word, "GPU"); }

// ---- The line of names.
// "CPU Affinity", "NUMA Affinity" and "GPU NUMA ID" come after the names; some versions have only "NUMA".
static int affinity_start(const Line *line) {
    int i = 0;
    while (i < line->count && strcmp(line->words[i], "CPU") != 0 && strcmp(line->words[i], "NUMA") != 0 &&
           strcmp(line->words[i], "GPU") != 0)
        i++;
    return i;
}

static bool is_header(const Line *line) {
    if (line->count == 0 || !is_gpu(line->words[0])) return false;
    int names = affinity_start(line);
    for (int i = 0; i < names; i++)
        if (strcmp(line->words[i], "X") == 0) return false;
    return true;
}

static void read_header(Reading *reading, const Line *line) {
    int names = affinity_start(line), place = 0;
    bool gpus_over = false;
    reading->in_table = true;
    reading->numa_word = -1;
    for (int i = 0; i < names; i++) {
        const char *name = arena_copy_text(reading->arena, line->words[i]);
        for (int j = 0; j < reading->part_count; j++)
            if (strcmp(reading->names[j], name) == 0)
                problem_add(reading->problems, here(reading), "two columns are called \"%.40s\"", name);
        if (is_gpu(name) && gpus_over)
            problem_add(reading->problems, here(reading), "column \"%.40s\" comes after NICs; GPUs come first", name);
        gpus_over = gpus_over || !is_gpu(name);
        if (reading->part_count == PARTS_MOST || reading->gpu_count + is_gpu(name) > NODE_GPU_LIMIT ||
            reading->part_count - reading->gpu_count + !is_gpu(name) > NODE_NIC_LIMIT) {
            problem_add(reading->problems, here(reading), "the matrix has more than %d GPUs or %d NICs", NODE_GPU_LIMIT,
                        NODE_NIC_LIMIT);
            return;
        }
        reading->names[reading->part_count++] = name;
        reading->gpu_count += is_gpu(name);
    }
    for (int i = names; i < line->count; i++) {
        bool cpu = strcmp(line->words[i], "CPU") == 0, numa = strcmp(line->words[i], "NUMA") == 0;
        if (numa && strcmp(line->words[i - 1], "GPU") != 0) reading->numa_word = place;
        place += cpu || numa;
    }
}

// ---- Rows.
static bool cell_from_word(const char *word, unsigned char *cell) {
    static const char *const codes[] = {[CELL_SELF] = "X",  [CELL_PIX] = "PIX",   [CELL_PXB] = "PXB",
                                        [CELL_PHB] = "PHB", [CELL_NODE] = "NODE", [CELL_SYS] = "SYS"};
    for (int i = CELL_SELF; i <= CELL_SYS; i++)
        if (strcmp(word, codes[i]) == 0) {
            *cell = (unsigned char)i;
            return true;
        }
    if (strcmp(word, "SOC") == 0) *cell = CELL_SYS; // drivers before 384
    if (strcmp(word, "SOC") == 0) return true;
    long links = numbered(word, "NV") ? strtol(word + 2, NULL, 10) : 0;
    *cell = (unsigned char)(CELL_NVLINK + (links > 0 && links <= INTERIOR_NVLINK_LIMIT ? links : 0));
    return *cell > CELL_NVLINK;
}

static int column_named(const Reading *reading, const char *name) {
    for (int i = 0; i < reading->part_count; i++)
        if (strcmp(reading->names[i], name) == 0) return i;
    return -1;
}

static void read_cell(Reading *reading, int row, int column, const char *word) {
    unsigned char *cell = &reading->cells[row][column];
    if (!cell_from_word(word, cell)) {
        problem_add(reading->problems, here(reading), "\"%.20s\" between %.40s and %.40s is no way to be joined", word,
                    reading->names[row], reading->names[column]);
        problem_hint(reading->problems, "expected X, PIX, PXB, PHB, NODE, SYS, or NV1 to NV%d", INTERIOR_NVLINK_LIMIT);
        *cell = CELL_UNKNOWN;
        return;
    }
    if ((*cell == CELL_SELF) == (row == column)) return;
    problem_add(reading->problems, here(reading), "%.40s and %.40s are joined by \"%.20s\"", reading->names[row],
                reading->names[column], word);
    problem_hint(reading->problems, "X stands where the row and the column are the same, and only there");
}

static void read_row(Reading *reading, int row, const Line *line) {
    if (reading->row_line[row]) {
        problem_add(reading->problems, here(reading), "a second row for %.40s; the first is on line %d",
                    reading->names[row], reading->row_line[row]);
        return;
    }
    reading->row_line[row] = reading->line;
    if (line->count < 1 + reading->part_count) {
        problem_add(reading->problems, here(reading), "the row of %.40s ends after %d of %d columns",
                    reading->names[row], line->count - 1, reading->part_count);
        problem_hint(reading->problems,
                     "a row is its name, and for every column one of X, PIX, PXB, PHB, NODE, SYS, NV#");
        return;
    }
    for (int column = 0; column < reading->part_count; column++)
        read_cell(reading, row, column, line->words[1 + column]);
    int word = 1 + reading->part_count + reading->numa_word;
    bool said = row < reading->gpu_count && reading->numa_word >= 0 && word < line->count &&
                line->words[word][0] >= '0' && line->words[word][0] <= '9';
    if (!said) return;
    long numa = strtol(line->words[word], NULL, 10);
    reading->numa[row] = numa < 1024 ? (int)numa : -1;
}

// pdsh and the like put "node7: " before every line; a legend's "NIC3: mlx5_3" stays.
static void drop_host(const Reading *reading, Line *line) {
    if (line->count == 0 || numbered(line->words[0], "NIC")) return;
    size_t length = strlen(line->words[0]);
    if (length < 2 || line->words[0][length - 1] != ':') return;
    bool names = line->count > 1 && (is_gpu(line->words[1]) || column_named(reading, line->words[1]) >= 0);
    if (!names && line->count > 1) return;
    line->count--;
    memmove(line->words, line->words + 1, (size_t)line->count * sizeof *line->words);
}

// Matrices of other programs, or of other questions to this one, by words that only they have.
static bool is_of_another(Reading *reading, const char *text) {
    static const struct {
        const char *word, *whose, *remedy;
    } others[] = {
        {"ROCm System Management", "rocm-smi", "AMD's GPUs are not in the catalogue"},
        {"XGMI", "rocm-smi or amd-smi", "AMD's GPUs are not in the catalogue"},
        {"CNS  = Chipset not supported", "nvidia-smi topo -p2p", "nvidia-smi topo -m prints how GPUs are joined"},
        {"Xe Link", "xpu-smi", "Intel's GPUs are not in the catalogue"},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (!strstr(text, others[i].word)) continue;
        problem_add(reading->problems, here(reading), "this is of %s, not of nvidia-smi topo -m", others[i].whose);
        problem_hint(reading->problems, "%s", others[i].remedy);
        return true;
    }
    return false;
}

// "NIC3: mlx5_3" in the NIC legend.
static void read_legend(Reading *reading, const Line *line) {
    if (line->count != 2) return;
    size_t length = strlen(line->words[0]);
    if (length < 5 || line->words[0][length - 1] != ':') return;
    line->words[0][length - 1] = '\0';
    if (!numbered(line->words[0], "NIC")) return;
    long number = strtol(line->words[0] + 3, NULL, 10);
    if (number < NODE_NIC_LIMIT && !reading->legend[number])
        reading->legend[number] = arena_copy_text(reading->arena, line->words[1]);
}

static void read_line(Reading *reading, char *text) {
    Line line;
    if (!split(text, &line)) {
        if (reading->in_table && !reading->table_over)
            problem_add(reading->problems, here(reading), "this line has more than %d words", WORDS_MOST);
        return;
    }
    drop_host(reading, &line);
    if (line.count == 0) {
        for (int i = 0; i < reading->part_count; i++) reading->table_over |= reading->row_line[i] > 0;
        return;
    }
    if (!reading->in_table && is_header(&line)) {
        read_header(reading, &line);
        return;
    }
    int row = reading->in_table && !reading->table_over ? column_named(reading, line.words[0]) : -1;
    if (row >= 0)
        read_row(reading, row, &line);
    else
        read_legend(reading, &line);
}

// ---- The whole.
static void check_sides(Reading *reading) {
    for (int a = 0; a < reading->part_count; a++)
        for (int b = 0; b < a; b++) {
            unsigned char *forth = &reading->cells[a][b], *back = &reading->cells[b][a];
            if (!reading->row_line[a]) *forth = *back;
            if (!reading->row_line[b]) *back = *forth;
            if (*forth == *back) continue;
            problem_add(reading->problems, (Where){reading->file, reading->row_line[a]},
                        "%.40s and %.40s are joined in one way in this row and in another on line %d",
                        reading->names[a], reading->names[b], reading->row_line[b]);
        }
}

static void check_rows(Reading *reading) {
    if (reading->part_count == 0) {
        problem_add(reading->problems, (Where){reading->file, 0}, "there is no matrix of nvidia-smi topo -m in it");
        problem_hint(reading->problems,
                     "expected a line that names the columns (GPU0 GPU1 …), then a row for each GPU");
    }
    for (int i = 0; i < reading->gpu_count; i++) {
        if (reading->row_line[i]) continue;
        problem_add(reading->problems, here(reading), "the row of %.40s is missing", reading->names[i]);
        problem_hint(reading->problems, "a blank line ends the matrix; every GPU that has a column has a row");
    }
}

static const NodeInterior *interior_of(const Reading *reading) {
    int parts = reading->part_count, gpus = reading->gpu_count;
    NodeInterior *interior = ARENA_NEW(reading->arena, NodeInterior);
    unsigned char *cells = arena_alloc(reading->arena, (size_t)parts * (size_t)parts);
    int *numa = ARENA_ARRAY(reading->arena, int, gpus);
    const char **names = ARENA_ARRAY(reading->arena, const char *, parts - gpus);
    for (int a = 0; a < parts; a++) memcpy(cells + a * parts, reading->cells[a], (size_t)parts);
    for (int a = 0; a < parts; a++) cells[a * parts + a] = CELL_SELF;
    for (int g = 0; g < gpus; g++) numa[g] = reading->numa[g];
    for (int n = 0; n < parts - gpus; n++) {
        const char *name = reading->names[gpus + n];
        const char *known = numbered(name, "NIC") && strlen(name) < 6 ? name + 3 : NULL;
        long number = known ? strtol(known, NULL, 10) : NODE_NIC_LIMIT;
        names[n] = number < NODE_NIC_LIMIT && reading->legend[number] ? reading->legend[number] : name;
    }
    *interior =
        (NodeInterior){.gpu_count = gpus, .nic_count = parts - gpus, .cells = cells, .numa = numa, .nic_names = names};
    return interior;
}

const NodeInterior *interior_from_matrix(Arena *arena, const char *name, const char *text, Problems *problems) {
    Arena *scratch = arena_open();
    Reading *reading = ARENA_NEW(scratch, Reading);
    int before = problems_added(problems);
    *reading = (Reading){.arena = arena, .problems = problems, .file = name, .numa_word = -1};
    for (int g = 0; g < NODE_GPU_LIMIT; g++) reading->numa[g] = -1;
    bool other = false;
    for (const char *at = text + strspn(text, "\xef\xbb\xbf"); *at && !other;) {
        size_t length = strcspn(at, "\n");
        reading->line++;
        char *line = arena_printf(scratch, "%.*s", (int)(length < 65536 ? length : 65536), at);
        other = is_of_another(reading, line);
        if (!other) read_line(reading, line);
        at += length + (at[length] == '\n');
    }
    if (!other) check_rows(reading);
    if (problems_added(problems) == before) check_sides(reading);
    const NodeInterior *interior = problems_added(problems) == before ? interior_of(reading) : NULL;
    arena_close(scratch);
    return interior;
}

const NodeInterior *interior_from_text(Arena *arena, const char *name, const char *text, size_t bytes,
                                       Problems *problems) {
    bool wide = bytes > 1 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0);
    if (wide) {
        problem_add(problems, (Where){name, 1}, "the file is UTF-16, as PowerShell writes it");
        problem_hint(problems, "save it as UTF-8: nvidia-smi topo -m | Out-File -Encoding utf8 FILE");
        return NULL;
    }
    bool xml = text[strspn(text, " \t\r\n\xef\xbb\xbf")] == '<';
    return xml ? interior_from_xml(arena, name, text, bytes, problems)
               : interior_from_matrix(arena, name, text, problems);
}
