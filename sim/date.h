// Calendar days as people write them: "2026", "2026-04", "2026-04-17". A year or month alone is the whole of it.
#ifndef LOCKSTEP_SIM_DATE_H
#define LOCKSTEP_SIM_DATE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/problem.h"

typedef struct Date {
    int year, month, day; // month and day 0: not said
} Date;

// False when the text is no day, month or year from 1900 to 2199.
bool date_parse(const char *text, Date *date);
// Of the first day that the date may mean, counted from 1970-01-01.
int64_t date_first_day(Date date);
// Whether some day that `date` may mean lies more than a year before `today`.
bool date_is_a_year_before(Date date, Date today);
// What --date says; NULL: today by the clock of this machine, in UTC. For what stands on the screen beside a result,
// never for the result. A problem when it is no day.
Date date_or_today(const char *text, Problems *problems);

#endif
