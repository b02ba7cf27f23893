// The course's glossary: its words are met, explained, and cover the short forms that problems use.
#include <ctype.h>
#include <strings.h>

#include "scenarios/questions/lesson.h"
#include "tests/test.h"

TEST(each_word_of_the_glossary_is_met_in_a_problem_and_told_in_a_sentence) {
    static char said[60000];
    EXPECT_INT(test_shell("$LOCKSTEP lesson words --csv", said, sizeof said), 0);
    for (int i = 0; i < lesson_word_count; i++) {
        const LessonWord *word = &lesson_words[i];
        char row[64], *at;
        snprintf(row, sizeof row, "\n%s,", word->term);
        at = strstr(said, row);
        if (!at || !isdigit((unsigned char)at[strlen(row)]))
            test_fail(__FILE__, __LINE__, "%s is met nowhere", word->term);
        size_t length = strlen(word->what);
        EXPECT(length > 20 && length < 160 && word->what[length - 1] == '.');
        if (i > 0 && strcasecmp(lesson_words[i - 1].term, word->term) >= 0)
            test_fail(__FILE__, __LINE__, "%s is out of order", word->term);
    }
}

TEST(a_word_is_said_whole_or_in_the_plural) {
    EXPECT(lesson_says("Each rank waits", "rank") && lesson_says("Ranks wait", "rank"));
    EXPECT(!lesson_says("frankly", "rank") && !lesson_says("ranking", "rank"));
    EXPECT(lesson_says("by ZeRO 2", "ZeRO") && !lesson_says("zero", "ZeRO"));
}

TEST(one_word_is_told_by_its_name_and_an_unknown_one_has_a_hint) {
    char said[4000];
    EXPECT_INT(test_shell("$LOCKSTEP lesson words all-reduce", said, sizeof said), 0);
    EXPECT_CONTAINS(said, "all-reduce  2.1");
    EXPECT_INT(test_shell("$LOCKSTEP lesson words all-redcue", said, sizeof said), 4);
    EXPECT_CONTAINS(said, "did you mean \"all-reduce\"?");
}

// Units, and names of models, makers, places.
static const char *const known[] = {"GPU",   "GPUs",       "GiB",      "GPT",   "GB",    "MiB",   "KiB",
                                    "MB",    "TB",         "PyTorch",  "RTX",   "USD",   "LAN",   "ResNet",
                                    "BLOOM", "McCandlish", "PCs",      "JPEGs", "GH",    "TFLOP", "CPU",
                                    "CPUs",  "BigScience", "ImageNet", "SRAM",  "AdamW", "USDs"};

static bool is_known(const char *word) {
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(word, known[i]) == 0) return true;
    for (int i = 0; i < lesson_word_count; i++)
        if (lesson_says(word, lesson_words[i].term)) return true;
    return false;
}

TEST(each_short_form_that_a_problem_says_is_in_the_glossary) {
    static char said[200000];
    EXPECT_INT(test_shell("$LOCKSTEP lesson sheet", said, sizeof said), 0);
    for (char *at = said; *at;) {
        char word[40] = "";
        int length = 0, large = 0;
        if (!isalpha((unsigned char)*at)) {
            at++;
            continue;
        }
        for (; isalpha((unsigned char)*at); at++) {
            if (length + 1 < (int)sizeof word) word[length++] = *at;
            large += isupper((unsigned char)*at) != 0;
        }
        if (large > 1 && !is_known(word)) test_fail(__FILE__, __LINE__, "%s is not explained", word);
    }
}
