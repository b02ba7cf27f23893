// The manual's pages show what the program prints. After a change that is meant: make manual.
#include <ctype.h>
#include <dirent.h>

#include "tests/child.h"
#include "tests/test.h"

static char expected[1 << 16], output[1 << 16];

static void run_and_compare(const char *page, const char *command) {
    char line[4200];
    snprintf(line, sizeof line, "LC_ALL=C.UTF-8 $LOCKSTEP %s 2>&1", command);
    int status = test_shell(line, output, sizeof output);
    EXPECT(status == 0 || status == 3);
    if (strcmp(output, expected) != 0)
        test_fail(__FILE__, __LINE__, "%s: lockstep %s\nprints\n%s\nand the page says\n%s", page, command, output,
                  expected);
}

// Blocks marked console: command lines after "$ lockstep ", going on where they end in a backslash; then what they
// print.
static int check_page(const char *page) {
    FILE *file = fopen(page, "r");
    char line[2048], command[4096] = "";
    bool block = false, more = false;
    int checked = 0;
    EXPECT(file != NULL);
    while (file && fgets(line, sizeof line, file)) {
        bool starts = block && strncmp(line, "$ lockstep ", 11) == 0, ends = block && strncmp(line, "```", 3) == 0;
        if ((starts || ends) && *command) {
            run_and_compare(page, command);
            checked++;
        }
        if (starts || ends) *command = *expected = '\0';
        if (ends) block = false;
        if (strncmp(line, "```console", 10) == 0) {
            block = true;
        } else if (starts || more) {
            char *text = starts ? line + 11 : line, *end = strrchr(text, '\\');
            more = end && end[1] == '\n';
            if (more) *end = '\0';
            text[strcspn(text, "\n")] = '\0';
            snprintf(command + strlen(command), sizeof command - strlen(command), "%s ", text);
        } else if (block && *command) {
            snprintf(expected + strlen(expected), sizeof expected - strlen(expected), "%s", line);
        }
    }
    if (file) fclose(file);
    return checked;
}

typedef struct Page {
    const char *path;
    int least; // commands on it
} Page;

// Not under sanitizers, which print the same: they have the commands of the README.
static void check_pages(const Page *pages, size_t count) {
    if (HAS_ADDRESS_SANITIZER) return;
    for (size_t i = 0; i < count; i++) EXPECT(check_page(pages[i].path) >= pages[i].least);
}
#define CHECK_PAGES(pages) check_pages(pages, sizeof(pages) / sizeof *(pages))

LONG_TEST(4, pages_of_plans_show_what_the_program_prints) {
    static const Page pages[] = {{"README.md", 1},
                                 {"docs/plan.md", 1},
                                 {"docs/plan-llama-70b.md", 1},
                                 {"docs/plan-gpt3-175b.md", 1},
                                 {"docs/plan-resnet-50.md", 2},
                                 {"docs/question-budget-and-date.md", 2},
                                 {"docs/question-desktop-lan.md", 1},
                                 {"docs/question-own-or-rent.md", 2},
                                 {"docs/critical-batch.md", 1}};
    CHECK_PAGES(pages);
}

LONG_TEST(4, pages_of_lives_and_queues_show_what_the_program_prints) {
    static const Page pages[] = {{"docs/question-spares-and-interval.md", 1},
                                 {"docs/question-shared-cluster.md", 1},
                                 {"docs/goodput.md", 3},
                                 {"docs/queue.md", 3}};
    CHECK_PAGES(pages);
}

LONG_TEST(16, pages_of_the_manual_show_what_the_program_prints) {
    static const Page pages[] = {
        {"docs/output.md", 2}, {"docs/parts.md", 1},   {"docs/models.md", 3},         {"docs/money.md", 1},
        {"docs/job.md", 5},    {"docs/explain.md", 6}, {"docs/explain-pairs.md", 10}, {"docs/explain-examples.md", 16},
        {"docs/trace.md", 2},  {"docs/step.md", 2},    {"docs/packets.md", 3},        {"docs/course.md", 2}};
    CHECK_PAGES(pages);
}

// ---- Worked examples and their explanations.

static char examples[1 << 17], whole[1 << 18];

static void read_page(const char *path, char *into, size_t room) {
    FILE *file = fopen(path, "r");
    EXPECT(file != NULL);
    size_t length = file ? fread(into, 1, room - 1, file) : 0;
    into[length] = '\0';
    if (file) fclose(file);
}

// Of a heading as links have it: lower case, blanks as dashes, letters, digits and dashes alone.
static void anchor_of(const char *heading, char *anchor) {
    for (; *heading && *heading != '\n'; heading++) {
        if (isalnum((unsigned char)*heading) || *heading == '-') *anchor++ = (char)tolower((unsigned char)*heading);
        if (*heading == ' ') *anchor++ = '-';
    }
    *anchor = '\0';
}

static bool has_heading(const char *anchor) {
    char found[256];
    for (const char *at = strstr(examples, "\n## "); at; at = strstr(at + 1, "\n## ")) {
        anchor_of(at + 4, found);
        if (strcmp(found, anchor) == 0) return true;
    }
    return false;
}

// Every page that a row names links back to the row's explanation.
static int check_row(const char *row) {
    char title[256], anchor[256], page[256], path[300], link[600];
    int pages = 0;
    const char *end = row + strcspn(row, "\n");
    if (sscanf(row, "| [%255[^]]](#%255[^)])", title, anchor) != 2) return 0;
    if (!has_heading(anchor)) test_fail(__FILE__, __LINE__, "no heading is #%s", anchor);
    for (const char *at = strstr(row + 3, "]("); at && at < end; at = strstr(at + 1, "](")) {
        if (at[2] == '#' || sscanf(at, "](%255[^)#]", page) != 1 || strncmp(page, "explain", 7) == 0) continue;
        snprintf(path, sizeof path, "docs/%s", page);
        read_page(path, whole, sizeof whole);
        snprintf(link, sizeof link, "[%s](explain-examples.md#%s)", title, anchor);
        if (!strstr(whole, link)) test_fail(__FILE__, __LINE__, "%s does not link to %s: make manual", path, link);
        pages++;
    }
    return pages;
}

TEST(pages_and_the_explanations_of_their_jobs_link_to_each_other) {
    int pages = 0;
    read_page("docs/explain-examples.md", examples, sizeof examples);
    for (const char *row = strstr(examples, "\n| ["); row; row = strstr(row + 1, "\n| [")) pages += check_row(row + 1);
    EXPECT(pages >= 15);
}

static void expect_explained(const char *folder, const char *begins, const char *ends, const char *mention) {
    char word[300];
    DIR *entries = opendir(folder);
    int count = 0;
    EXPECT(entries != NULL);
    for (const struct dirent *entry; entries && (entry = readdir(entries));) {
        size_t length = strlen(entry->d_name), tail = strlen(ends);
        if (strncmp(entry->d_name, begins, strlen(begins)) != 0 || length < tail ||
            strcmp(entry->d_name + length - tail, ends) != 0)
            continue;
        snprintf(word, sizeof word, mention, entry->d_name);
        if (!strstr(examples, word)) test_fail(__FILE__, __LINE__, "docs/explain-examples.md lacks %s", word);
        count++;
    }
    if (entries) closedir(entries);
    EXPECT(count > 0);
}

TEST(every_worked_example_has_its_explanation) {
    read_page("docs/explain-examples.md", examples, sizeof examples);
    expect_explained("scenarios/examples", "", ".lua", "scenarios/examples/%s");
    expect_explained("docs", "question-", ".md", "](%s)");
    expect_explained("docs", "plan-", ".md", "](%s)");
}
