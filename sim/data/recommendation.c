#include "sim/data/recommendation.h"

static void line(FILE *out, const char *title, const char *text) {
    if (text) fprintf(out, "%-22s%s\n", title, text);
}

void recommendation_print(const Recommendation *recommendation, FILE *out) {
    line(out, "Recommended", recommendation->choice ? recommendation->choice : "nothing yet");
    line(out, "  how surely", recommendation->chance);
    line(out, "  weakest assumption", recommendation->weakest);
    line(out, "  measure first", recommendation->measure);
}

void recommendation_write(JsonWriter *json, const Recommendation *recommendation) {
    json_key(json, "recommendation");
    json_begin_object(json);
    json_text_member(json, "choice", recommendation->choice);
    json_text_member(json, "chance", recommendation->chance);
    json_text_member(json, "weakest_assumption", recommendation->weakest);
    json_text_member(json, "measure_first", recommendation->measure);
    json_end_object(json);
}
