// Any bytes read as a quantity of every kind: refused with a reason, or printed and read back within 1 %.
//     clang -fsanitize=fuzzer,address,undefined … tests/fuzz/fuzz_quantity.c, then run it on tests/fuzz/corpus_quantity
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "sim/base/check.h"
#include "sim/base/quantity.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void check_way_back(double value, QuantityKind kind) {
    char text[64];
    double back = NAN;
    const char *why = NULL;
    quantity_format(value, kind, text, sizeof text);
    CHECK(quantity_parse(text, kind, &back, &why));
    CHECK(fabs(back - value) <= 0.01 * fabs(value));
}

static void check_kind(const char *text, QuantityKind kind) {
    double value = NAN;
    const char *why = NULL;
    if (!quantity_parse(text, kind, &value, &why)) {
        CHECK(why && strchr(why, '"'));
        CHECK(isnan(value));
        return;
    }
    CHECK(isfinite(value));
    CHECK(value >= 0 || kind == QUANTITY_NUMBER);
    CHECK(kind != QUANTITY_COUNT || (value == floor(value) && value <= 9e15));
    // At the very ends of the number line the way back may leave it.
    bool is_sane = value == 0 || (fabs(value) > 1e-280 && fabs(value) < 1e280);
    if (is_sane) check_way_back(value, kind);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    char *text = malloc(bytes + 1);
    CHECK(text);
    memcpy(text, data, bytes);
    text[bytes] = '\0';
    for (int kind = 0; kind < QUANTITY_KIND_COUNT; kind++) check_kind(text, (QuantityKind)kind);
    free(text);
    return 0;
}
