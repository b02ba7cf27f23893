// The lock beside a store, as another sweep takes it away at the worst moment: between opening and locking it.
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "results/store/store.h"
#include "sim/base/check.h"
#include "tests/sweep_store.h"
#include "tests/test.h"

static void (*before_lock)(void); // once
static int refused_with;          // an errno, once; 0: as the system answers

// In place of the library's: what another process does just before a lock is asked for.
int flock(int file, int operation) {
    void (*act)(void) = before_lock;
    before_lock = NULL;
    if (act) act();
    if (refused_with) {
        errno = refused_with;
        refused_with = 0;
        return -1;
    }
    return (int)syscall(SYS_flock, file, operation);
}

static char lock_path[128];
static int other = -1; // lock of another sweep

static void remove_lock(void) { CHECK(unlink(lock_path) == 0); }

static void replace_lock(void) {
    remove_lock();
    other = open(lock_path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    CHECK(other >= 0 && flock(other, LOCK_EX | LOCK_NB) == 0 && write(other, "4711\n", 5) == 5);
}

// Opens {DIR}/s.db to write.
static Store *open_store(Arena *arena, Problems *problems) {
    StoreRefusal refusal;
    return store_open(arena, in_folder("s.db"), STORE_WRITE, problems, &refusal);
}

TEST(a_lock_that_was_removed_before_it_was_held_keeps_a_second_writer_out_all_the_same) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    clear();
    snprintf(lock_path, sizeof lock_path, "%s", in_folder("s.db-lock"));
    before_lock = remove_lock;
    Store *store = open_store(arena, problems);
    EXPECT(store != NULL && before_lock == NULL);
    EXPECT_INT(access(lock_path, F_OK), 0);
    EXPECT_INT(shell(CHEAP "--vary gpus=1,2 -q -o {DIR}/s.db"), 1);
    EXPECT_CONTAINS(output, "another process writes to this store: process ");
    if (store) store_close(store);
    EXPECT(access(lock_path, F_OK) != 0);
    EXPECT_INT(shell(CHEAP "--vary gpus=1,2 -q -o {DIR}/s.db"), 0);
    clear();
    arena_close(arena);
}

TEST(a_lock_that_another_sweep_made_in_between_is_its_own) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    clear();
    snprintf(lock_path, sizeof lock_path, "%s", in_folder("s.db-lock"));
    before_lock = replace_lock;
    EXPECT(open_store(arena, problems) == NULL);
    EXPECT_INT(problem_count(problems), 1);
    EXPECT_CONTAINS(problem_at(problems, 0)->text, "another process writes to this store: process 4711");
    EXPECT_INT(access(lock_path, F_OK), 0); // it still is
    close(other);
    clear();
    arena_close(arena);
}

TEST(who_reads_a_store_leaves_the_lock_of_who_writes_and_every_other_file) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    StoreRefusal refusal;
    clear();
    EXPECT_INT(shell(CHEAP "--vary gpus=1,2 -q -o {DIR}/s.db"), 0);
    snprintf(lock_path, sizeof lock_path, "%s", in_folder("s.db-lock"));
    int held = open(lock_path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    Store *store = store_open(arena, in_folder("s.db"), STORE_READ, problems, &refusal);
    EXPECT(held >= 0 && store != NULL);
    if (store) store_close(store);
    EXPECT_INT(access(lock_path, F_OK), 0);
    for (int file = 0; file <= 2; file++) EXPECT(fcntl(file, F_GETFD) >= 0);
    close(held);
    clear();
    arena_close(arena);
}

// A file system without locks; and a folder that became a file before it was asked who holds the name.
static void replace_folder(void) { shell("mkdir {DIR}/away && mv {DIR}/in {DIR}/away && touch {DIR}/in"); }

TEST(a_lock_that_the_system_refuses_is_a_sentence_and_opens_nothing) {
    static const struct {
        int refused_with;
        void (*before)(void);
        const char *said;
    } cases[] = {{ENOLCK, NULL, "No locks available"}, {0, replace_folder, "Not a directory"}};
    for (int i = 0; i < 2; i++) {
        Arena *arena = arena_open();
        Problems *problems = problems_create(arena);
        StoreRefusal refusal = STORE_NOT_SOUND;
        clear();
        EXPECT_INT(shell("mkdir {DIR}/in"), 0);
        refused_with = cases[i].refused_with, before_lock = cases[i].before;
        EXPECT(store_open(arena, in_folder("in/s.db"), STORE_WRITE, problems, &refusal) == NULL);
        EXPECT(refusal == STORE_REFUSED_BY_SYSTEM && problem_count(problems) == 1);
        if (problem_count(problems)) EXPECT_CONTAINS(problem_at(problems, 0)->text, cases[i].said);
        EXPECT(before_lock == NULL && refused_with == 0);
        clear();
        arena_close(arena);
    }
}

// One for each status, as SQL counts them.
TEST(points_of_a_store_are_right_impossible_or_failed) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    StoreCounts counts;
    StoreRefusal refusal;
    clear();
    EXPECT_INT(shell(CHEAP "--vary gpus=1,2,4,9,8 -q -o {DIR}/s.db"), 0);
    forge(in_folder("s.db"), "UPDATE point SET status = 'failed', reason = 'so' WHERE key IN "
                             "(SELECT key FROM point WHERE status = 'ok' ORDER BY key LIMIT 2)");
    Store *store = store_open(arena, in_folder("s.db"), STORE_READ, problems, &refusal);
    EXPECT(store && store_counts(store, &counts));
    store_close(store);
    EXPECT_INT(counts.failed, 2);
    EXPECT_INT(counts.ok, ask(in_folder("s.db"), "SELECT count(*) FROM point WHERE status = 'ok'"));
    EXPECT_INT(counts.impossible, ask(in_folder("s.db"), "SELECT count(*) FROM point WHERE status = 'impossible'"));
    EXPECT(counts.ok > 0 && counts.impossible > 0);
    EXPECT_INT(counts.ok + counts.impossible + counts.failed, 5);
    clear();
    arena_close(arena);
}
