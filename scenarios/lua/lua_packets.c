// sim.packets: flows sent as packets.
#include <string.h>

#include "scenarios/lua/lua_script.h"
#include "scenarios/packets/packets.h"

static const PacketsStudy *packets_of(Script *script, const Object *object) {
    const Value *list = object_value(object, "flows");
    PacketsFlowSaid *flows = ARENA_ARRAY(script->arena, PacketsFlowSaid, list->count);
    for (int i = 0; i < list->count; i++)
        flows[i] = (PacketsFlowSaid){list->items[i].table->values, list->items[i].table->where};
    const ClusterSpec *on = handle_value(object, "on");
    PacketsSaid *said = ARENA_NEW(script->arena, PacketsSaid);
    *said = (PacketsSaid){object->values, flows, list->count, NULL, script->request->seed, object->where};
    if (on) said->cluster = cluster_create(script->arena, script->catalogue, on, script->problems);
    return on && !said->cluster ? NULL : packets_study_create(script->arena, said, script->problems);
}

static int sim_packets(lua_State *L) {
    Object object = read_call(L, 1, OBJECT_PACKETS);
    handle_push(L, HANDLE_PACKETS, object.sound ? packets_of(script_of(L), &object) : NULL, object.where);
    lua_host_check_memory(L);
    return 1;
}

// ---- The figures of its answer, by their keys.

static void push_value(lua_State *L, const AnswerValue *value) {
    if (value->unit == AS_TEXT)
        lua_pushstring(L, value->text);
    else
        lua_pushnumber(L, value->number);
}

static void push_rows(lua_State *L, const AnswerTable *table) {
    int count = answer_row_count(table);
    lua_createtable(L, count, 0);
    for (int row = 0; row < count; row++) {
        lua_createtable(L, 0, table->column_count);
        for (int i = 0; i < table->column_count; i++) {
            push_value(L, &table->cells.items[row * table->column_count + i]);
            lua_setfield(L, -2, table->columns[i].key);
        }
        lua_rawseti(L, -2, row + 1);
    }
}

static void push_members(lua_State *L, const AnswerNode *section) { // of the table on top of the stack
    for (const AnswerNode *node = section->first; node; node = node->next) {
        if (node->kind == NODE_SECTION) push_members(L, node);
        if (!node->key || (node->kind != NODE_FACT && node->kind != NODE_TABLE)) continue;
        if (node->kind == NODE_FACT)
            push_value(L, &node->value);
        else
            push_rows(L, node->table);
        lua_setfield(L, -2, node->key);
    }
}

bool push_packets(lua_State *L, const struct PacketsStudy *study) {
    Script *script = script_of(L);
    Arena *scratch = arena_open();
    ArenaLimit own = lua_host_begin_simulation(L);
    PacketsOutcome result;
    Answer *answer = answer_create(script->arena, "packets"); // what follows may raise, and close no arena
    bool ran = packets_study_run(scratch, study, &result, script->problems);
    if (ran) packets_study_answer(scratch, answer, study, &result);
    arena_close(scratch);
    arenas_limit(own);
    lua_createtable(L, 0, 32);
    push_members(L, answer_root(answer));
    return ran;
}

const luaL_Reg packets_functions[] = {{"packets", sim_packets}, {NULL, NULL}};
