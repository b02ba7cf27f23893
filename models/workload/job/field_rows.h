// Short forms for rows of fields. Private to the files of fields.
#pragma once

#include "models/workload/job/field.h"

#define COUNT(least_, most_) .kind = FIELD_QUANTITY, .quantity = QUANTITY_COUNT, .least = (least_), .most = (most_)
#define NUMBER(least_, most_) .kind = FIELD_QUANTITY, .quantity = QUANTITY_NUMBER, .least = (least_), .most = (most_)
#define BYTES(least_) .kind = FIELD_QUANTITY, .quantity = QUANTITY_BYTES, .least = (least_), .most = 1e18
#define SECONDS(least_) .kind = FIELD_QUANTITY, .quantity = QUANTITY_TIME, .least = (least_), .most = 1e7
#define CHOICE(names_, count_) .kind = FIELD_CHOICE, .names = (names_), .name_count = (count_)
#define PART(part_) .kind = FIELD_PART, .part = (part_)
#define VALUE(handle_) .kind = FIELD_VALUE, .handle = (handle_)
#define TABLE(inner_) .kind = FIELD_TABLE, .inner = (inner_)

#define MOST_GPUS 1e6
#define MOST_SIZE 1e9 // of a dimension of a model
