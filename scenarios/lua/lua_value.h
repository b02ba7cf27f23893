// Checks one value against one field, for lua_read.c. Knows kinds and ranges, no tables.
#pragma once

#include "scenarios/lua/lua_read.h"

FieldReader plain_reader(const Reader *reader); // what field.h asks for of it
// The value on top of the Lua stack. False after a problem.
bool value_from_lua(Reader *reader, const Field *field, const char *called, Where where, Value *value);
void value_from_fallback(Reader *reader, const Field *field, Value *value);
// "gpus of sim.cluster must be a whole count from 1, not FOUND", with an example as hint.
void value_refuse(Reader *reader, const Field *field, const char *called, Where where, const char *found);
const char *object_called(ObjectId id); // "sim.cluster", "training.batch"

Handle *handle_at(lua_State *L, int index); // NULL when the value is none of ours
void handle_push(lua_State *L, HandleKind kind, const void *value, Where where);

void read_fields(Reader *reader, int index, Value *values, Object *object);
