// The fields of failures and checkpoints.
#include "scenarios/fields/field_rows.h"

#define LONG_SPAN .kind = FIELD_QUANTITY, .quantity = QUANTITY_TIME, .least = 1, .most = 1e11

const Field faults_fields[] = {
    {"rates", .kind = FIELD_TEXT, .fallback = "\"llama3-h100\"", .example = "\"rsc-1\"",
     .help = "whose failure rates (see: lockstep hw list faults)"},
    {"node_mtbf", LONG_SPAN, .example = "\"20000 h\"",
     .help = "your own mean time between failures of a node, all causes; the rates then say the mix"},
    {"repair", LONG_SPAN, .example = "\"6 h\"", .help = "mean time until a node is back; when left out: the rates'"},
    {"spares", COUNT(0, 1e5), .example = "4", .help = "nodes that stand by; when left out: 5 %"},
    {"restart", LONG_SPAN, .example = "\"5 min\"", .help = "of the job, without reading the checkpoint"},
    LAST_FIELD,
};
