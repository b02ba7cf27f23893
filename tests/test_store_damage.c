// Stores that were damaged, forged, locked or written by others: nothing of them is taken for what a sweep simulated.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "results/store/store_base.h"
#include "sim/base/check.h"
#include "sim/base/random.h"
#include "tests/child.h"
#include "tests/sweep_store.h"
#include "tests/test.h"

#define SWEPT CHEAP "--vary gpus=1:24:1 --vary precision=fp16,fp32 -j1 "

static char *read_all(const char *path, size_t *bytes) {
    FILE *file = fopen(path, "rb");
    char *content = calloc(1, 1 << 20);
    *bytes = file ? fread(content, 1, 1 << 20, file) : 0;
    if (file) fclose(file);
    return content;
}

static void write_all(const char *path, const char *content, size_t bytes) {
    FILE *file = fopen(path, "wb");
    fwrite(content, 1, bytes, file);
    fclose(file);
}

static void make_whole(void) {
    clear();
    EXPECT_INT(shell(SWEPT "-q -o {DIR}/whole.db && $LOCKSTEP sweep --show {DIR}/whole.db --csv > {DIR}/whole.csv"), 0);
}

// ---- At random.

typedef enum Harm { FLIP_BIT, FLIP_BYTES, ZERO_PAGE, SWAP_PAGES, TRUNCATE, GARBAGE_BESIDE, OLD_PAGE, HARMS } Harm;
static const char *const harm_names[HARMS] = {"a bit flipped",     "bytes overwritten", "a page zeroed",
                                              "two pages swapped", "cut off",           "garbage in a file beside",
                                              "a page from before"};

enum { PAGE = 4096 };

static void put_garbage_beside(const char *path, RandomStream *random) {
    static const char *const ends[] = {"-journal", "-wal", "-shm", "-spool", "-lock"};
    static const char magic[] = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"; // with which rollback journals begin
    char garbage[3 * PAGE], name[160];
    for (size_t i = 0; i < sizeof garbage; i++) garbage[i] = (char)random_bits(random);
    if (random_below(random, 2)) memcpy(garbage, magic, 8);
    snprintf(name, sizeof name, "%s%s", path, ends[random_below(random, sizeof ends / sizeof *ends)]);
    write_all(name, garbage, 1 + random_below(random, sizeof garbage));
}

static void harm_file(const char *path, Harm harm, RandomStream *random) {
    size_t bytes, other_bytes;
    char *content = read_all(path, &bytes);
    size_t at = random_below(random, bytes), pages = bytes / PAGE;
    char *page = content + PAGE * random_below(random, pages), *second = content + PAGE * random_below(random, pages);
    if (harm == FLIP_BIT) content[at] ^= (char)(1 << random_below(random, 8));
    for (size_t i = at; harm == FLIP_BYTES && i < bytes && i < at + 16; i++) content[i] = (char)random_bits(random);
    if (harm == ZERO_PAGE) memset(page, 0, PAGE);
    for (int i = 0; harm == SWAP_PAGES && i < PAGE; i++) {
        char kept = page[i];
        page[i] = second[i];
        second[i] = kept;
    }
    if (harm == OLD_PAGE) {
        char *other = read_all(in_folder("old.db"), &other_bytes);
        size_t number = (size_t)(page - content);
        if (number + PAGE <= other_bytes) memcpy(page, other + number, PAGE);
        free(other);
    }
    write_all(path, content, harm == TRUNCATE ? at : bytes);
    if (harm == GARBAGE_BESIDE) put_garbage_beside(path, random);
    free(content);
}

typedef struct Tally {
    int unharmed, refused;
} Tally;

// Resuming ends with the whole store, or refuses with a sentence and leaves the file as it was.
static bool resumes_or_refuses(Tally *tally) {
    size_t before_bytes, after_bytes;
    char *before = read_all(in_folder("d.db"), &before_bytes);
    int status = shell("ulimit -c 0; timeout 600 " SWEPT "-q -o {DIR}/d.db");
    char *after = read_all(in_folder("d.db"), &after_bytes);
    bool untouched = before_bytes == after_bytes && memcmp(before, after, before_bytes) == 0;
    bool good;
    if (status == 0)
        good = same_store(in_folder("d.db"), in_folder("whole.db"));
    else
        good = status == 4 && untouched && strstr(output, "error: ") && strstr(output, "hint: ");
    tally->refused += status == 4;
    tally->unharmed += status == 0;
    free(before);
    free(after);
    return good;
}

// Showing gives the whole table, or refuses.
static bool shows_or_refuses(void) {
    int status = shell("ulimit -c 0; timeout 600 $LOCKSTEP sweep --show {DIR}/e.db --csv > {DIR}/e.csv");
    if (status == 0) return shell("cmp {DIR}/e.csv {DIR}/whole.csv") == 0;
    return status == 4 && strstr(output, "error: ");
}

TEST(no_damaged_store_is_taken_for_what_was_simulated) {
    const char *asked = getenv("LOCKSTEP_STORE_TRIALS");
    int trials = asked ? atoi(asked) : 28;
    const uint64_t seed = 20261122;
    Tally tallies[HARMS] = {0};
    make_whole();
    EXPECT_INT(shell(CHEAP "--vary gpus=1:20:1 --vary precision=fp16,fp32 -q -o {DIR}/old.db"), 0);
    for (int trial = 0; trial < trials; trial++) {
        RandomStream random = random_stream(seed, "harm", (uint64_t)trial);
        Harm harm = (Harm)(trial % HARMS);
        shell("rm -rf {DIR}/d.* {DIR}/e.*; cp {DIR}/whole.db {DIR}/d.db");
        harm_file(in_folder("d.db"), harm, &random);
        shell("for f in {DIR}/d.db*; do cp $f $(echo $f | sed 's,/d.db,/e.db,'); done");
        if (!resumes_or_refuses(&tallies[harm]) || !shows_or_refuses()) {
            test_fail(__FILE__, __LINE__, "seed %llu, trial %d, %s: %.500s", (unsigned long long)seed, trial,
                      harm_names[harm], output);
            shell("cp {DIR}/e.db /tmp/harmed.db");
        }
    }
    for (int h = 0; h < HARMS && asked; h++)
        printf("%-26s %3d refused, %3d harmless\n", harm_names[h], tallies[h].refused, tallies[h].unharmed);
    clear();
}

// ---- One by one.

TEST(a_store_with_a_changed_point_is_refused_with_what_to_do) {
    make_whole();
    shell("cp {DIR}/whole.db {DIR}/d.db");
    ask(in_folder("d.db"), "UPDATE point SET mfu = mfu * 2 WHERE gpus = 3 AND parameters LIKE '%fp16%'");
    shell("cp {DIR}/d.db {DIR}/e.db");
    EXPECT_INT(shell("$LOCKSTEP sweep --show {DIR}/d.db"), 4);
    EXPECT_CONTAINS(output, "this store is damaged; not to be trusted: {\"gpus\":3,\"precision\":\"fp16\"}");
    EXPECT_INT(shell("$LOCKSTEP merge {DIR}/m.db {DIR}/whole.db {DIR}/d.db"), 4);
    EXPECT_CONTAINS(output, "this store is damaged");
    EXPECT(access(in_folder("m.db"), F_OK) != 0 && access(in_folder("m.db.merging"), F_OK) != 0);
    EXPECT_INT(shell(SWEPT "-o {DIR}/d.db"), 4);
    EXPECT_CONTAINS(output, "this store is damaged; not to be trusted: {\"gpus\":3,\"precision\":\"fp16\"}");
    EXPECT_CONTAINS(output, "move it away and give the sweep's command again");
    EXPECT_INT(shell("cmp {DIR}/d.db {DIR}/e.db"), 0);
    EXPECT_INT(shell("mv {DIR}/d.db {DIR}/aside.db && " SWEPT "-q -o {DIR}/d.db"), 0);
    expect_same_store(in_folder("d.db"), in_folder("whole.db"));
    clear();
}

TEST(a_point_that_was_removed_is_missed_by_show_and_by_sweep) {
    make_whole();
    shell("cp {DIR}/whole.db {DIR}/d.db");
    ask(in_folder("d.db"), "DELETE FROM point WHERE gpus = 5");
    EXPECT_INT(shell("$LOCKSTEP sweep --show {DIR}/d.db"), 4);
    EXPECT_CONTAINS(output, "this store is damaged");
    EXPECT_INT(shell(SWEPT "-o {DIR}/d.db"), 4);
    EXPECT_CONTAINS(output, "this store is damaged");
    clear();
}

TEST(a_file_that_cannot_be_read_is_refused_and_stays) {
    make_whole();
    shell("head -c 50 /dev/zero > {DIR}/d.db; tail -c +51 {DIR}/whole.db >> {DIR}/d.db; cp {DIR}/d.db {DIR}/e.db");
    EXPECT_INT(shell(SWEPT "-o {DIR}/d.db"), 4);
    EXPECT_CONTAINS(output, "move it away and sweep anew");
    EXPECT_INT(shell("cmp {DIR}/d.db {DIR}/e.db"), 0);
    EXPECT_INT(shell("$LOCKSTEP sweep --show {DIR}/d.db"), 4);
    EXPECT_INT(shell("ls {DIR}/d.db*"), 0);
    EXPECT(!strstr(output, "d.db-"));
    clear();
}

TEST(what_a_forger_writes_with_right_checksums_is_refused_where_it_makes_no_sense) {
    static const char *const changes[] = {
        "UPDATE point SET status = NULL WHERE gpus = 3",
        "UPDATE point SET status = 'splendid' WHERE gpus = 3",
        "UPDATE point SET study = NULL WHERE gpus = 3",
        "UPDATE point SET parameters = NULL WHERE gpus = 3",
        "UPDATE point SET parameters = '[1, 2' WHERE gpus = 3",
        "UPDATE point SET parameters = '[3]' WHERE gpus = 3",
        "UPDATE point SET exposed = '7' WHERE gpus = 3",
        "UPDATE point SET memory = '{\"a\":' WHERE gpus = 3",
        "UPDATE point SET gpus = 1e300 WHERE gpus = 3",
        "UPDATE point SET zero = -9e999 WHERE gpus = 3",
        "UPDATE study SET parameters = NULL",
        "UPDATE study SET parameters = '{}'",
        "UPDATE study SET title = NULL",
        "CREATE TRIGGER t AFTER INSERT ON point BEGIN UPDATE point SET mfu = 9; END",
        "CREATE VIEW v AS SELECT * FROM point",
        "CREATE INDEX i ON point(status)",
        "CREATE TABLE more(a)",
        "ALTER TABLE point ADD COLUMN more TEXT",
        "DROP TABLE seal",
        "PRAGMA user_version = 77",
    };
    make_whole();
    for (size_t c = 0; c < sizeof changes / sizeof *changes; c++) {
        shell("rm -f {DIR}/d.db*; cp {DIR}/whole.db {DIR}/d.db");
        forge(in_folder("d.db"), changes[c]);
        int status = shell("ulimit -c 0; $LOCKSTEP sweep --show {DIR}/d.db");
        if (status != 4 || !strstr(output, "error: ") || !strstr(output, "hint: "))
            test_fail(__FILE__, __LINE__, "%s: exit %d, %.400s", changes[c], status, output);
        status = shell("ulimit -c 0; " SWEPT "-q -o {DIR}/d.db");
        bool good =
            status == 4 ? strstr(output, "error: ") != NULL : same_store(in_folder("d.db"), in_folder("whole.db"));
        if (!good) test_fail(__FILE__, __LINE__, "%s: exit %d, %.400s", changes[c], status, output);
    }
    shell("rm -f {DIR}/d.db*; cp {DIR}/whole.db {DIR}/d.db");
    forge(in_folder("d.db"), "UPDATE point SET mfu = 9e999, step_p50_s = -1e308, days = -9e999, steps = 1e300");
    for (int form = 0; form < 4; form++) {
        static const char *const forms[] = {"", "--csv", "--json", "-v --plain"};
        char line[128];
        snprintf(line, sizeof line, "ulimit -c 0; $LOCKSTEP sweep --show {DIR}/d.db %s", forms[form]);
        EXPECT_INT(shell(line), 0); // nonsense, as it was told
    }
    // Parameters that are no names reach SQL as text only.
    static const char *const names[] = {"[\"x'') FROM study; DROP TABLE point; --\"]", "[\"a\\\"b\"]",
                                        "[7, null, \"gpus\"]", "[\"\"]"};
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        char change[256];
        shell("rm -f {DIR}/d.db*; cp {DIR}/whole.db {DIR}/d.db");
        snprintf(change, sizeof change, "UPDATE study SET parameters = '%s'", names[n]);
        forge(in_folder("d.db"), change);
        int status = shell("ulimit -c 0; $LOCKSTEP sweep --show {DIR}/d.db --csv");
        EXPECT(status == 0 || status == 4);
        EXPECT_INT(ask(in_folder("d.db"), "SELECT count(*) FROM point"), 48);
    }
    clear();
}

TEST(a_spool_with_right_digests_and_no_sense_in_it_is_left_out) {
    make_whole();
    shell("cp {DIR}/whole.db {DIR}/d.db");
    uint64_t head[2] = {300, UINT64_C(0xcbf29ce484222325)};
    char spool[16 + 300];
    for (int i = 0; i < 300; i++) {
        spool[16 + i] = (char)(i * 7);
        head[1] = (head[1] ^ (unsigned char)spool[16 + i]) * UINT64_C(0x100000001b3);
    }
    memcpy(spool, head, sizeof head);
    write_all(in_folder("d.db-spool"), spool, sizeof spool);
    EXPECT_INT(shell("ulimit -c 0; " SWEPT "-q -o {DIR}/d.db"), 0);
    expect_same_store(in_folder("d.db"), in_folder("whole.db"));
    clear();
}

TEST(a_store_of_another_format_is_refused_with_what_to_do) {
    make_whole();
    shell("cp {DIR}/whole.db {DIR}/old.db");
    ask(in_folder("old.db"), "PRAGMA user_version = 1");
    EXPECT_INT(shell("$LOCKSTEP sweep --show {DIR}/old.db"), 4);
    EXPECT_CONTAINS(output, "this store has format 1, not 3");
    EXPECT_CONTAINS(output, "move it away and sweep anew");
    EXPECT_INT(shell(SWEPT "-o {DIR}/old.db"), 4);
    EXPECT_INT(shell("$LOCKSTEP merge {DIR}/m.db {DIR}/old.db"), 4);
    clear();
}

TEST(showing_a_sweep_ends_with_the_exit_code_of_the_sweep) {
    static const struct {
        const char *line;
        int status;
    } cases[] = {
        {CHEAP "--vary gpus=1,2 ", 0},
        {"$LOCKSTEP sweep --model llama-2-70b --node dgx-a100 --global-batch 8 --micro-batch 1 --vary gpus=1,8 ", 3},
        {"$LOCKSTEP sweep --model mlp-mnist --node dgx-a100 --global-batch 8 --vary gpus=8 --vary tp=1,3 ", 0},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        char line[512];
        clear();
        snprintf(line, sizeof line, "%s -o {DIR}/s.db", cases[c].line);
        EXPECT_INT(shell(line), cases[c].status);                                // simulating,
        EXPECT_INT(shell(line), cases[c].status);                                // finding all done,
        EXPECT_INT(shell("$LOCKSTEP sweep --show {DIR}/s.db"), cases[c].status); // and showing
    }
    forge(in_folder("s.db"), "UPDATE point SET status = 'failed', reason = 'so' WHERE parameters LIKE '%1}'");
    EXPECT_INT(
        shell("$LOCKSTEP sweep --model mlp-mnist --node dgx-a100 --global-batch 8 --vary gpus=8 --vary tp=1,3 -q "
              "-o {DIR}/s.db"),
        1);
    EXPECT_CONTAINS(output, "error: 1 of the points failed");
    EXPECT_INT(shell("$LOCKSTEP sweep --show {DIR}/s.db > /dev/null"), 1);
    EXPECT_CONTAINS(output, "some of the points failed");
    EXPECT_INT(shell("$LOCKSTEP sweep --show README.md"), 4);
    EXPECT_INT(shell("cp README.md {DIR}/r.db; " CHEAP "--vary gpus=1,2 -o {DIR}/r.db"), 4);
    clear();
}

// ---- Locked.

static bool file_holds(const char *path, const char *words) {
    size_t bytes;
    char *content = read_all(path, &bytes);
    bool holds = strstr(content, words) != NULL;
    free(content);
    return holds;
}

// A process that has the file locked until there is `said` about it or, without, for ever.
static pid_t lock_until(const char *path, const char *said_path, const char *said) {
    int ends[2];
    char byte;
    CHECK(pipe(ends) == 0);
    fflush(NULL);
    pid_t holder = fork();
    if (holder == 0) {
        sqlite3 *base;
        sqlite3_open_v2(path, &base, SQLITE_OPEN_READWRITE, NULL);
        sqlite3_exec(base, "BEGIN EXCLUSIVE", NULL, NULL, NULL);
        CHECK(write(ends[1], "x", 1) == 1);
        while (!said || !file_holds(said_path, said)) usleep(2000);
        sqlite3_close(base);
        _exit(0);
    }
    CHECK(read(ends[0], &byte, 1) == 1);
    close(ends[0]);
    close(ends[1]);
    return holder;
}

static char locked_path[128], said_path[128]; // the child has a folder of its own

static void open_locked(void) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    StoreRefusal refusal = STORE_NOT_SOUND;
    CHECK(freopen(said_path, "w", stderr) && setvbuf(stderr, NULL, _IONBF, 0) == 0);
    Store *store = store_open(arena, locked_path, STORE_READ, problems, &refusal);
    problems_print(problems, stderr);
    fprintf(stderr, "%s\n", store ? "opened" : refusal == STORE_NOT_SOUND ? "not sound" : "refused");
    if (store) store_close(store);
    arena_close(arena);
}

TEST(who_waits_for_a_locked_store_says_for_whom_and_for_how_long) {
    static const struct {
        const char *until; // it has said this
        int patience_ms;
        const char *says, *not, *end;
    } cases[] = {{"waiting for up to", 60000, "waiting for up to 60 s", "still", "opened"},
                 {NULL, 700, "still has it locked after 0.7 s", "not sound", "refused"},
                 {NULL, 100, "still has it locked after 0.1 s", "waiting", "refused"}}; // too short to say so before
    make_whole();
    snprintf(locked_path, sizeof locked_path, "%s", in_folder("whole.db"));
    snprintf(said_path, sizeof said_path, "%s", in_folder("said"));
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        char nothing[64], by[64];
        size_t bytes;
        put_text("said", "");
        pid_t holder = lock_until(locked_path, said_path, cases[c].until);
        store_patience_ms = cases[c].patience_ms;
        EXPECT_INT(run_in_child(open_locked, nothing, sizeof nothing), 0);
        store_patience_ms = 60000;
        kill(holder, SIGKILL);
        waitpid(holder, NULL, 0);
        char *said = read_all(said_path, &bytes);
        snprintf(by, sizeof by, "process %d", (int)holder);
        EXPECT_CONTAINS(said, by);
        EXPECT_CONTAINS(said, cases[c].says);
        EXPECT(!strstr(said, cases[c].not ));
        EXPECT_CONTAINS(said, cases[c].end);
        if (!cases[c].until) EXPECT_CONTAINS(said, "hint: try again when that has ended");
        free(said);
    }
    clear();
}
