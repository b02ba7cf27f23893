// Printing of fields: in messages, in help, and as type annotations for editors.
#include <string.h>

#include "models/network/network.h"
#include "scenarios/fields/fields.h"

// ---- In help.

static bool is_settable(const Field *field) {
    return field->kind != FIELD_TABLE && field->kind != FIELD_FUNCTION && (field->kind != FIELD_VALUE || field->named);
}

void fields_print_settable(FILE *out) {
    for (int i = 1; i < OBJECT_COUNT; i++) {
        const ObjectType *type = object_type(i);
        for (int j = 0; j < type->field_count && type->settable; j++) {
            const Field *field = &type->fields[j];
            char path[64], wanted[512];
            if (!is_settable(field)) continue;
            snprintf(path, sizeof path, "%s.%s", type->name, field->name);
            field_describe(field, wanted, sizeof wanted);
            fprintf(out, "  %-32s %s: %s%s\n", path, field->help, wanted, field->list ? ", several with commas" : "");
        }
    }
}

// ---- As types for editors.

static const char *class_name(ObjectId id, char *out, size_t out_bytes) {
    size_t length = (size_t)snprintf(out, out_bytes, "lockstep.%s", object_type(id)->name);
    for (size_t i = 9; i < length && i < out_bytes; i++)
        if (out[i] == '.') out[i] = '_';
    return out;
}

static const char *const handle_classes[HANDLE_KIND_COUNT] = {
    [HANDLE_PART] = "lockstep.Part",       [HANDLE_FABRIC] = "lockstep.Fabric", [HANDLE_CLUSTER] = "lockstep.Cluster",
    [HANDLE_MODEL] = "lockstep.Model",     [HANDLE_TRAINING] = "lockstep.Job",  [HANDLE_STUDY] = "lockstep.Study",
    [HANDLE_PROGRAM] = "lockstep.Program", [HANDLE_REPORT] = "lockstep.Report", [HANDLE_GROUP] = "lockstep.Group",
    [HANDLE_RANK] = "lockstep.Rank",       [HANDLE_STREAM] = "lockstep.Stream", [HANDLE_QUEUE] = "lockstep.Queue",
    [HANDLE_PACKETS] = "lockstep.Packets",
};

static void print_type(const Field *field, FILE *out) {
    char inner[64];
    if (field->list) fputc('(', out);
    switch (field->kind) {
    case FIELD_QUANTITY:
        fprintf(out, field->quantity == QUANTITY_NUMBER ? "number" : "number|string");
        break;
    case FIELD_SEED:
        fprintf(out, "integer|string");
        break;
    case FIELD_FLAG:
        fprintf(out, "boolean");
        break;
    case FIELD_TEXT:
    case FIELD_BOUND:
        fprintf(out, "string");
        break;
    case FIELD_SCALAR:
        fprintf(out, "number|string|boolean");
        break;
    case FIELD_FUNCTION:
        fprintf(out, "fun(r: lockstep.Rank)");
        break;
    case FIELD_TABLE:
        fprintf(out, "%s", class_name(field->inner, inner, sizeof inner));
        break;
    case FIELD_PART:
        fprintf(out, "string|lockstep.Part%s", field->handle == HANDLE_FABRIC ? "|lockstep.Fabric" : "");
        break;
    case FIELD_VALUE:
        fprintf(out, "%s%s", field->named ? "string|" : "", handle_classes[field->handle]);
        break;
    case FIELD_CHOICE:
        for (int i = 0; i < field->name_count; i++) fprintf(out, "%s\"%s\"", i ? "|" : "", field->names[i]);
        break;
    }
    if (field->list) fprintf(out, ")[]");
}

static void print_class(ObjectId id, FILE *out) {
    const ObjectType *type = object_type(id);
    char name[64], wanted[512];
    fprintf(out, "---%s\n---@class %s\n", type->help, class_name(id, name, sizeof name));
    for (int i = 0; i < type->field_count; i++) {
        const Field *field = &type->fields[i];
        field_describe(field, wanted, sizeof wanted);
        fprintf(out, "---@field %s%s ", field->name, field->required ? "" : "?");
        print_type(field, out);
        fprintf(out, " %s (%s", field->help, wanted);
        if (field->fallback) fprintf(out, "; default %s", field->fallback);
        fprintf(out, ")\n");
    }
    fprintf(out, "\n");
}

typedef struct Call {
    const char *head; // "function sim.cluster(fields) end" is printed from it
    ObjectId fields;
    const char *result;
} Call;

static const Call calls[] = {
    {"sim.cluster", OBJECT_CLUSTER, "lockstep.Cluster"},
    {"sim.single_switch", OBJECT_SINGLE_SWITCH, "lockstep.Fabric"},
    {"sim.fat_tree", OBJECT_FAT_TREE, "lockstep.Fabric"},
    {"sim.rail_fat_tree", OBJECT_RAIL_FAT_TREE, "lockstep.Fabric"},
    {"sim.fabric", OBJECT_FABRIC, "lockstep.Fabric"},
    {"sim.node", OBJECT_NODE, "lockstep.Part"},
    {"sim.model.transformer", OBJECT_TRANSFORMER, "lockstep.Model"},
    {"sim.model.gpt", OBJECT_TRANSFORMER, "lockstep.Model"},
    {"sim.model.resnet", OBJECT_RESNET, "lockstep.Model"},
    {"sim.model.mlp", OBJECT_MLP, "lockstep.Model"},
    {"sim.model.lstm", OBJECT_LSTM, "lockstep.Model"},
    {"sim.model.operators", OBJECT_OPERATORS, "lockstep.Model"},
    {"sim.training", OBJECT_TRAINING, "lockstep.Job"},
    {"sim.study", OBJECT_STUDY, "lockstep.Study"},
    {"sim.program", OBJECT_PROGRAM, "lockstep.Program"},
    {"sim.report", OBJECT_REPORT, "lockstep.Report"},
    {"sim.cost", OBJECT_COST, "table"},
    {"sim.queue", OBJECT_QUEUE, "lockstep.Queue"},
    {"sim.packets", OBJECT_PACKETS, "lockstep.Packets"},
};

static const char plain_part[] =
    "---@param name string\n---@return lockstep.Part\nfunction sim.hw(name) end\n\n"
    "---@param name string\n---@return lockstep.Model\nfunction sim.model.get(name) end\n\n"
    "---Flags of this scenario: name to { default=, min=, max=, help=, values= }; gives name to value.\n"
    "---@param options table<string, lockstep.option>\n---@return table<string, any>\nfunction sim.options(options) "
    "end\n\n"
    "---The figures of a study, program or packets: a table, or a list of them when something is varied.\n"
    "---@param what lockstep.study|lockstep.Study|lockstep.Program|lockstep.Packets\n---@return table\nfunction "
    "sim.simulate(what) "
    "end\n\n"
    "---What each block of the job's model does on one GPU: lists of { seconds } and { collective, group, bytes }.\n"
    "---@param what lockstep.study\n---@return table\nfunction sim.blocks(what) end\n\n"
    "---Unknowns of a function of the script's own, fitted to measured rows.\n"
    "---@param fields { unknowns: table<string, lockstep.unknown>, rows: table[], measured: string, use?: fun(row: "
    "table): "
    "boolean, predict: fun(unknown: table<string, number>, row: table): number }\n"
    "---@return table<string, any>\nfunction sim.fit(fields) end\n\n"
    "---first, first x factor, … up to last\n"
    "---@param first number\n---@param last number\n---@param factor number\n---@return number[]\n"
    "function sim.geometric(first, last, factor) end\n\n"
    "---`count` numbers from first to last, evenly spaced\n"
    "---@param first number\n---@param last number\n---@param count integer\n---@return number[]\n"
    "function sim.linear(first, last, count) end\n\n"
    "---first, first + step, … up to last\n"
    "---@param first number\n---@param last number\n---@param step? number\n---@return number[]\n"
    "function sim.range(first, last, step) end\n\n"
    "---@param ranks integer[]\n---@return lockstep.Group\nfunction sim.group(ranks) end\n\n"
    "---@param bounds lockstep.expect\n---@return lockstep.Job\nfunction Job:expect(bounds) end\n\n"
    "---@param name string\n---@return lockstep.Stream\nfunction Rank:stream(name) end\n\n";

static void print_operations(FILE *out) {
    static const struct {
        const char *name;
        ObjectId fields;
    } operations[] = {{"compute", OBJECT_COMPUTE},
                      {"send", OBJECT_SEND},
                      {"recv", OBJECT_RECV},
                      {"copy", OBJECT_COPY},
                      {"read", OBJECT_READ}};
    char name[64];
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        fprintf(out, "---@param fields %s\nfunction Stream:%s(fields) end\n\n",
                class_name(operations[i].fields, name, sizeof name), operations[i].name);
    for (int op = COLLECTIVE_BROADCAST; op < COLLECTIVE_OP_COUNT; op++)
        fprintf(out, "---@param fields %s\nfunction Stream:%s(fields) end\n\n",
                class_name(OBJECT_COLLECTIVE, name, sizeof name), collective_op_name((CollectiveOp)op));
    fprintf(out, "---Marks a place on the stream that others can wait for.\n---@param event string\nfunction "
                 "Stream:record(event) end\n\n"
                 "---Goes on when the event is reached.\n---@param event string\nfunction Stream:wait(event) end\n\n");
}

void fields_print_api(FILE *out) {
    char name[64];
    fprintf(out, "---@meta lockstep\n-- What scenarios may write; made by: lockstep run --print-api\n\n");
    fprintf(
        out,
        "---@class lockstep.Part\n---@class lockstep.Fabric\n---@class lockstep.Group\n---@class "
        "lockstep.Study\n---@class lockstep.Report\n---@class lockstep.Queue\n---@class "
        "lockstep.Packets\n"
        "---@class lockstep.Program\n---@class lockstep.Cluster\n---@field gpus integer\n---@field nodes integer\n"
        "---@class lockstep.Model\n---@field name string\n---@field parameters number\n"
        "---@class lockstep.Job\nlocal Job = {}\n\n---@class lockstep.Stream\nlocal Stream = {}\n\n"
        "---@class lockstep.Rank: lockstep.Stream\n---@field id integer from 0\n---@field world integer ranks in all\n"
        "---@field node integer from 0\n---@field local_id integer within the node\n---@field world_group "
        "lockstep.Group\n"
        "local Rank = {}\n\n");
    for (int i = 1; i < OBJECT_COUNT; i++) print_class((ObjectId)i, out);
    fprintf(out, "local sim = { model = {} }\n\n");
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        fprintf(out, "---@param fields %s\n---@return %s\nfunction %s(fields) end\n\n",
                class_name(calls[i].fields, name, sizeof name), calls[i].result, calls[i].head);
    fputs(plain_part, out);
    print_operations(out);
    fprintf(out, "return sim\n");
}
