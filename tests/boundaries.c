#include "tests/boundaries.h"

#include <math.h>
#include <string.h>

#include "sim/base/check.h"

static void add(BoundaryValues *values, const char *text) {
    CHECK(values->count < BOUNDARY_VALUES);
    for (int i = 0; i < values->count; i++)
        if (strcmp(values->texts[i], text) == 0) return;
    snprintf(values->texts[values->count++], sizeof values->texts[0], "%s", text);
}

// With its unit where a plain number would have two readings.
static void add_number(const Field *field, BoundaryValues *values, double number) {
    char text[64], why[QUANTITY_WHY];
    snprintf(text, sizeof text, "%.17g", number);
    const char *unit = "";
    if (quantity_unit_missing(field->name, text, field->quantity, NULL, why, sizeof why))
        unit = field->quantity == QUANTITY_TIME ? " s" : field->quantity == QUANTITY_BYTES ? " B" : " B/s";
    snprintf(text, sizeof text, "%.17g%s", number, unit);
    add(values, text);
}

// ---- Numbers: both ends, just inside, just outside, between; and what is no number of the kind.

static double next_to(const Field *field, double number, double towards) {
    if (field->quantity == QUANTITY_COUNT) return number + (towards > number ? 1 : -1);
    return nextafter(number, towards);
}

static void add_range(const Field *field, BoundaryValues *values) {
    double least = field->least, most = field->most;
    if (least == 0 && most == 0) least = -1e30, most = 1e30;
    add_number(field, values, least);
    add_number(field, values, most);
    add_number(field, values, next_to(field, least, INFINITY));
    add_number(field, values, next_to(field, least, -INFINITY));
    add_number(field, values, next_to(field, most, INFINITY));
    add_number(field, values, next_to(field, most, -INFINITY));
    double low = least > 0 ? fmax(least, 1e-12) : 1, middle = sqrt(low * fmax(most, low));
    add_number(field, values, field->quantity == QUANTITY_COUNT ? floor(middle) : middle);
    add_number(field, values, fmin(most, low * (field->quantity == QUANTITY_COUNT ? 3 : 10)));
    add_number(field, values, floor(most / 10));
}

static void add_quantities(const Field *field, BoundaryValues *values) {
    static const char *const others[] = {"0",
                                         "1",
                                         "2",
                                         "-1",
                                         "0.5",
                                         "nan",
                                         "inf",
                                         "-inf",
                                         "1e-308",
                                         "1e308",
                                         "1e400",
                                         "true",
                                         "0x10",
                                         "12,5",
                                         "1e",
                                         "7 parsec",
                                         "300",
                                         "8 GB",
                                         "9223372036854775808",
                                         "3 h",
                                         "80%",
                                         "-0",
                                         "1e15"};
    add_range(field, values);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) add(values, others[i]);
    if (field->word) add(values, field->word);
}

// ---- All else.

static void add_names(const char *const *names, int count, BoundaryValues *values) {
    for (int i = 0; i < count && i < 24; i++) add(values, names[i]);
}

static void add_parts(FieldPart part, BoundaryValues *values) {
    static const char *const names[FIELD_PART_COUNT][6] = {
        [FIELD_GPU] = {"A100", "H100", "B200", "RTX4090", "V100", "T4"},
        [FIELD_NODE] = {"dgx-a100", "dgx-h100", "dgx-1", "gb200-nvl72", "dgx-station-a100", "dgx-b200"},
        [FIELD_LINK] = {"ib-ndr400", "ib-hdr200", "ethernet-1g", "eth-10g", "roce-100g", "ib-ndr400:torus:dims=4x4"},
        [FIELD_STORAGE] = {"nfs-1gbe", "lustre", "local-nvme", "superpod-storage", "sata-hdd", "s3"}};
    add_names(names[part], 6, values);
}

void boundary_values(const Field *field, BoundaryValues *values) {
    static const char *const wrong[] = {"", " ", "nonsense", "1", "0", "-1", "nil", "{}", "%s%n", "\xc3\xa9", "1e9"};
    static const char *const bounds[] = {"< 1", "> 0",   "<1e308", "> 1e308", "<",
                                         "5",   "<= -1", "> nan",  "= 4",     "< 3 parsec"};
    static const char *const flags[] = {"true", "false", "TRUE", "yes"};
    static const char *const seeds[] = {"0.5", "007", "1e308", "18446744073709551615", "18446744073709551616", "0x10"};
    values->count = 0;
    if (field->kind == FIELD_QUANTITY) add_quantities(field, values);
    if (field->kind == FIELD_SEED) add_names(seeds, 6, values);
    if (field->kind == FIELD_CHOICE) add_names(field->names, field->name_count, values);
    if (field->kind == FIELD_FLAG) add_names(flags, 4, values);
    if (field->kind == FIELD_BOUND) add_names(bounds, 10, values);
    if (field->kind == FIELD_PART) add_parts(field->part, values);
    if (field->kind == FIELD_VALUE)
        add_names((const char *[]){"gpt2-124m", "resnet50", "mixtral-8x7b", "bert-large", "t5-11b"}, 5, values);
    int count = field->kind == FIELD_QUANTITY ? 3 : (int)(sizeof wrong / sizeof *wrong);
    add_names(wrong, count, values);
    if (field->list) add_names((const char *[]){"1,2", ",", "4,4,4", "1,2,3,4,5,6,7,8"}, 4, values);
    if (field->example && field->example[0] != '{') {
        const char *example = field->example;
        char plain[64];
        snprintf(plain, sizeof plain, "%s", example[0] == '"' ? example + 1 : example);
        if (example[0] == '"' && strlen(plain)) plain[strlen(plain) - 1] = '\0';
        add(values, plain);
    }
}
