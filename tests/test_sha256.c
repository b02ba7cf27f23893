// SHA-256 against the examples of its standard, and base64 of its digests.
#include "sim/base/digest.h"
#include "tests/test.h"

static const char *hex_of(const void *data, size_t bytes) {
    static char text[2 * SHA256_BYTES + 1];
    unsigned char digest[SHA256_BYTES];
    sha256(data, bytes, digest);
    for (int i = 0; i < SHA256_BYTES; i++) snprintf(text + 2 * i, 3, "%02x", digest[i]);
    return text;
}

// FIPS 180-4's examples (NIST, "Cryptographic Standards and Guidelines: Example Values").
TEST(sha256_gives_the_standards_examples) {
    EXPECT_TEXT(hex_of("", 0), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_TEXT(hex_of("abc", 3), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    const char two_blocks[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    EXPECT_TEXT(hex_of(two_blocks, 56), "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    char *million = malloc(1000000);
    memset(million, 'a', 1000000);
    EXPECT_TEXT(hex_of(million, 1000000), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    free(million);
}

TEST(sha256_in_base64_is_what_a_policy_names) {
    char text[SHA256_BASE64_ROOM];
    sha256_base64("", 0, text);
    EXPECT_TEXT(text, "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
}

// Lengths around the end of a block, where the padding needs another: against coreutils.
TEST(sha256_agrees_with_another_program_at_the_ends_of_blocks) {
    char line[256], said[256], data[130];
    memset(data, 'x', sizeof data);
    for (size_t bytes = 54; bytes <= 129; bytes += bytes == 57 ? 5 : 1) {
        snprintf(line, sizeof line, "head -c %zu /dev/zero | tr '\\0' x | sha256sum", bytes);
        if (test_shell(line, said, sizeof said) != 0) return;
        said[2 * SHA256_BYTES] = '\0';
        EXPECT_TEXT(hex_of(data, bytes), said);
    }
}
