// SHA-256 (FIPS 180-4), for the content security policies of pages.
#pragma once

#include <stddef.h>

#define SHA256_BYTES 32
#define SHA256_BASE64_ROOM 45 // with the ending zero

void sha256(const void *data, size_t bytes, unsigned char digest[SHA256_BYTES]);
// The digest in base64 (RFC 4648), as "sha256-…" of a content security policy wants it.
void sha256_base64(const void *data, size_t bytes, char text[SHA256_BASE64_ROOM]);
