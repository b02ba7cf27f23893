// What is released names one version, and the package asks for what the build needs.
#include <stdlib.h>
#include <string.h>

#include "sim/base/version.h"
#include "tests/test.h"

static char said[1 << 16];

static void expect_said(const char *command, const char *wanted) {
    EXPECT_INT(test_shell(command, said, sizeof said), 0);
    said[strcspn(said, "\n")] = '\0';
    EXPECT_TEXT(said, wanted);
}

TEST(package_and_citation_have_the_version_of_the_program) {
    expect_said("sed -n '1s/.*(\\(.*\\)).*/\\1/p' debian/changelog", program_version());
    expect_said("sed -n 's/^version: //p' CITATION.cff", program_version());
    // The newest that is released; above it stands what has changed since.
    expect_said("sed -n 's/^## \\(Since \\)*\\([0-9.]*\\).*/\\2/p' CHANGELOG.md | head -1", program_version());
}

// .ci/packages names what a build takes; the compiler and make every Debian package is built with.
TEST(the_package_is_built_with_what_the_build_needs) {
    expect_said(
        "set -- $(sed -n 's/^needed=\"\\(.*\\) \\$\\*\"/\\1/p' .ci/packages); test $# -gt 8 || echo none; for name; do "
        "case $name in gcc|libc6-dev|make) ;; *) grep -qw -- \"$name\" debian/control || echo $name;; esac; done",
        "");
}
