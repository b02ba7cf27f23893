// Two members of a plan's JSON that are of the record it chose.
#include <math.h>

#include "results/results.h"
#include "sim/json.h"

void results_json_digest(JsonWriter *json, uint64_t digest) {
    char text[17];
    snprintf(text, sizeof text, "%016llx", (unsigned long long)digest);
    json_text_member(json, "digest", text);
}

// The value is a number where it is one, else its text.
void results_json_assumptions(JsonWriter *json, const Record *record) {
    json_key(json, "assumptions");
    json_begin_list(json);
    for (int i = 0; i < record->assumption_count; i++) {
        const Assumption *assumption = &record->assumptions[i];
        json_begin_object(json);
        json_text_member(json, "name", assumption->name);
        if (isfinite(assumption->value))
            json_number_member(json, "value", assumption->value);
        else
            json_text_member(json, "value", assumption->text);
        json_text_member(json, "unit", assumption->unit);
        json_text_member(json, "source", assumption->source);
        json_text_member(json, "kind", assumption->kind);
        json_end_object(json);
    }
    json_end_list(json);
}
