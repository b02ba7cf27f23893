// Files: whole or not at all, and every refusal of the world is a sentence.
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/system/file.h"
#include "tests/test.h"

typedef struct Folder { // a folder of our own, with everything the tests need
    char path[64];
    Arena *arena;
    Problems *problems;
} Folder;

static Folder folder_open(void) {
    Folder folder = {"/tmp/lockstep-file-test-XXXXXX", arena_open(), NULL};
    EXPECT(mkdtemp(folder.path) != NULL);
    folder.problems = problems_create(folder.arena);
    return folder;
}

static const char *inside(const Folder *folder, const char *name) {
    return arena_printf(folder->arena, "%s/%s", folder->path, name);
}

static int file_count(const Folder *folder) {
    DIR *directory = opendir(folder->path);
    int count = 0;
    for (struct dirent *entry; directory && (entry = readdir(directory));) count += entry->d_name[0] != '.';
    if (directory) closedir(directory);
    return count;
}

static void folder_close(Folder *folder) {
    char output[256];
    EXPECT_INT(test_shell(arena_printf(folder->arena, "rm -rf %s", folder->path), output, sizeof output), 0);
    arena_close(folder->arena);
}

static void write_file(Folder *folder, const char *path, const char *text) {
    OutputFile file;
    if (!file_create(folder->arena, path, &file, folder->problems)) return;
    fputs(text, file.stream);
    file_commit(&file, folder->problems);
}

static const char *read_back(Folder *folder, const char *path) {
    size_t bytes;
    return file_read(folder->arena, path, 1 << 20, &bytes, folder->problems);
}

static const char *newest_problem(const Folder *folder) {
    int count = problem_count(folder->problems);
    return count ? problem_at(folder->problems, count - 1)->text : "(none)";
}

TEST(what_is_written_is_read_back_with_its_zeros) {
    Folder folder = folder_open();
    const char *path = inside(&folder, "a");
    OutputFile file;
    EXPECT(file_create_bytes(folder.arena, path, &file, folder.problems));
    fwrite("one\0two", 1, 7, file.stream);
    EXPECT(file_commit(&file, folder.problems));
    EXPECT(file.stream == NULL);

    size_t bytes = 0;
    char *text = file_read(folder.arena, path, 100, &bytes, folder.problems);
    EXPECT_INT(bytes, 7);
    EXPECT(text && memcmp(text, "one\0two", 8) == 0); // and the zero after the end
    EXPECT_INT(problem_count(folder.problems), 0);
    EXPECT_INT(file_count(&folder), 1);
    folder_close(&folder);
}

TEST(the_old_file_stays_until_the_new_one_is_whole) {
    Folder folder = folder_open();
    const char *path = inside(&folder, "a");
    write_file(&folder, path, "old");
    OutputFile file;
    EXPECT(file_create(folder.arena, path, &file, folder.problems));
    fputs("new", file.stream);
    fflush(file.stream);
    EXPECT_TEXT(read_back(&folder, path), "old");
    EXPECT(file_commit(&file, folder.problems));
    EXPECT_TEXT(read_back(&folder, path), "new");
    EXPECT_INT(file_count(&folder), 1);
    folder_close(&folder);
}

TEST(an_abandoned_file_leaves_nothing_behind) {
    Folder folder = folder_open();
    const char *path = inside(&folder, "a");
    write_file(&folder, path, "old");
    OutputFile file;
    EXPECT(file_create(folder.arena, path, &file, folder.problems));
    fputs("new", file.stream);
    EXPECT_INT(file_count(&folder), 2);
    file_abandon(&file);
    file_abandon(&file);
    EXPECT_TEXT(read_back(&folder, path), "old");
    EXPECT_INT(file_count(&folder), 1);
    folder_close(&folder);
}

TEST(two_writers_of_one_path_do_not_meet) {
    Folder folder = folder_open();
    const char *path = inside(&folder, "a");
    OutputFile first, second;
    EXPECT(file_create(folder.arena, path, &first, folder.problems));
    EXPECT(file_create(folder.arena, path, &second, folder.problems));
    fputs("first", first.stream);
    fputs("second", second.stream);
    EXPECT(file_commit(&second, folder.problems));
    EXPECT_TEXT(read_back(&folder, path), "second");
    EXPECT(file_commit(&first, folder.problems));
    EXPECT_TEXT(read_back(&folder, path), "first");
    folder_close(&folder);
}

TEST(a_replaced_file_keeps_its_permissions_and_its_link) {
    Folder folder = folder_open();
    const char *path = inside(&folder, "a"), *link = inside(&folder, "link");
    write_file(&folder, path, "old");
    EXPECT_INT(chmod(path, 0640), 0);
    EXPECT_INT(symlink("a", link), 0);
    write_file(&folder, link, "new");
    struct stat about;
    EXPECT(lstat(link, &about) == 0 && S_ISLNK(about.st_mode));
    EXPECT(lstat(path, &about) == 0 && (about.st_mode & 0777) == 0640);
    EXPECT_TEXT(read_back(&folder, path), "new");
    EXPECT_INT(problem_count(folder.problems), 0);
    folder_close(&folder);
}

// Opens /dev/full, unless it would be replaced: then a commit, run by root, would take the device away from everybody.
static bool open_full_disk(Folder *folder, OutputFile *file) {
    EXPECT(file_create(folder->arena, "/dev/full", file, folder->problems));
    EXPECT(file->temporary == NULL);
    if (file->temporary) file_abandon(file);
    return file->stream != NULL;
}

TEST(a_full_disk_is_a_problem_found_at_commit) {
    Folder folder = folder_open();
    OutputFile file;
    if (open_full_disk(&folder, &file)) {
        fputs("x", file.stream);
        EXPECT(!file_commit(&file, folder.problems));
        EXPECT_TEXT(newest_problem(&folder), "cannot be written: No space left on device");
        EXPECT_TEXT(problem_at(folder.problems, 0)->where.file, "/dev/full");
    }
    folder_close(&folder);
}

TEST(a_write_refused_long_before_commit_is_still_a_problem) {
    Folder folder = folder_open();
    OutputFile file;
    if (open_full_disk(&folder, &file)) {
        for (int i = 0; i < 100000; i++) fputs("more than any buffer holds", file.stream);
        EXPECT(!file_commit(&file, folder.problems));
        EXPECT_CONTAINS(newest_problem(&folder), "cannot be written: ");
    }
    folder_close(&folder);
}

// The refused write fits again by the time of the commit: only the stream remembers that something is lost.
TEST(a_write_refused_once_is_a_problem_even_when_later_ones_succeed) {
    Folder folder = folder_open();
    const char *path = inside(&folder, "a");
    OutputFile file;
    EXPECT(file_create(folder.arena, path, &file, folder.problems));
    struct rlimit before, small;
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 4096;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    for (int i = 0; i < 10000; i++) fputs("more than 4096 bytes", file.stream);
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, handler);
    EXPECT(!file_commit(&file, folder.problems));
    EXPECT_CONTAINS(newest_problem(&folder), "cannot be written: ");
    EXPECT_INT(file_count(&folder), 0);
    folder_close(&folder);
}

TEST(what_is_no_plain_file_is_written_as_it_is) {
    Folder folder = folder_open();
    const char *path = inside(&folder, "pipe");
    EXPECT_INT(mkfifo(path, 0666), 0);
    int reader = open(path, O_RDONLY | O_NONBLOCK);
    write_file(&folder, path, "through");
    char text[16] = "";
    EXPECT_INT(read(reader, text, sizeof text - 1), 7);
    EXPECT_TEXT(text, "through");
    struct stat about;
    EXPECT(stat(path, &about) == 0 && S_ISFIFO(about.st_mode));
    EXPECT_INT(problem_count(folder.problems), 0);
    close(reader);
    folder_close(&folder);
}

TEST(a_path_that_cannot_be_written_is_a_problem_with_its_reason) {
    Folder folder = folder_open();
    OutputFile file;
    EXPECT(!file_create(folder.arena, inside(&folder, "missing/a"), &file, folder.problems));
    EXPECT_TEXT(newest_problem(&folder), "cannot be written: No such file or directory");
    EXPECT_TEXT(problem_at(folder.problems, 0)->hint, "its folder does not exist; make it first");
    EXPECT(file.stream == NULL);
    EXPECT(!file_create(folder.arena, folder.path, &file, folder.problems));
    EXPECT_TEXT(newest_problem(&folder), "cannot be written: Is a directory");
    file_abandon(&file);
    EXPECT_INT(file_count(&folder), 0);
    folder_close(&folder);
}

TEST(a_folder_that_goes_away_before_commit_is_a_problem) {
    Folder folder = folder_open();
    const char *sub = inside(&folder, "sub");
    EXPECT_INT(mkdir(sub, 0777), 0);
    OutputFile file;
    EXPECT(file_create(folder.arena, inside(&folder, "sub/a"), &file, folder.problems));
    fputs("x", file.stream);
    EXPECT_INT(unlink(file.temporary), 0);
    EXPECT_INT(rmdir(sub), 0);
    EXPECT(!file_commit(&file, folder.problems));
    EXPECT_TEXT(newest_problem(&folder), "cannot be written: No such file or directory");
    folder_close(&folder);
}

TEST(a_dash_is_standard_output_and_stays_open) {
    Folder folder = folder_open();
    OutputFile file;
    EXPECT(file_create(folder.arena, "-", &file, folder.problems));
    EXPECT(file.stream == stdout && file.temporary == NULL);
    EXPECT(file_commit(&file, folder.problems));
    EXPECT(printf("%s", "") == 0 && !ferror(stdout));
    EXPECT(access("-", F_OK) != 0);
    folder_close(&folder);
}

TEST(a_path_that_cannot_be_read_is_a_problem_with_its_reason) {
    Folder folder = folder_open();
    EXPECT(read_back(&folder, inside(&folder, "missing")) == NULL);
    EXPECT_TEXT(newest_problem(&folder), "cannot be read: No such file or directory");
    EXPECT(read_back(&folder, folder.path) == NULL);
    EXPECT_TEXT(newest_problem(&folder), "is a folder, not a file");
    EXPECT_INT(problem_count(folder.problems), 2);
    folder_close(&folder);
}

TEST(files_are_read_up_to_the_limit_and_not_beyond) {
    Folder folder = folder_open();
    const char *path = inside(&folder, "a");
    write_file(&folder, path, "1234567890");
    size_t bytes = 0;
    EXPECT_TEXT(file_read(folder.arena, path, 10, &bytes, folder.problems), "1234567890");
    EXPECT_INT(bytes, 10);
    EXPECT(file_read(folder.arena, path, 9, &bytes, folder.problems) == NULL);
    EXPECT_TEXT(newest_problem(&folder), "is larger than 9 B, the most that is read");
    write_file(&folder, path, "");
    EXPECT_TEXT(file_read(folder.arena, path, 0, &bytes, folder.problems), "");
    EXPECT_INT(bytes, 0);
    folder_close(&folder);
}

TEST(files_that_do_not_tell_their_size_are_read_whole_or_refused) {
    Folder folder = folder_open();
    const char *text = read_back(&folder, "/proc/self/status"); // says it has 0 bytes
    EXPECT_CONTAINS(text, "Name:");
    int zeros = open("/dev/zero", O_RDONLY);
    EXPECT(read_back(&folder, arena_printf(folder.arena, "/dev/fd/%d", zeros)) == NULL); // has no end
    close(zeros);
    EXPECT_TEXT(newest_problem(&folder), "is larger than 1 MiB, the most that is read");
    folder_close(&folder);
}
