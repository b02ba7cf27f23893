// Calendar dates: "2026", "2026-04", "2026-04-17". A year or month alone means the whole year or month.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/problem.h"
#include "sim/base/quantity.h"

typedef struct Date {
    int year, month, day; // month and day 0: unspecified
} Date;

// False when the text is no day, month or year from 1900 to 2199.
bool date_parse(const char *text, Date *date);
// Of the first day that the date may mean, counted from 1970-01-01.
int64_t date_first_day(Date date);
// Of the last day that the date may mean: 2027-03 is the 31st of March.
int64_t date_last_day(Date date);
// Seconds from the beginning of `today` to a deadline: a time with its unit ("30d") or a day or month, to its end
// ("2027-02-01", "2027-03"). False with a sentence in `why` when it is neither, or over already.
bool deadline_parse(const char *text, Date today, double *seconds, char why[QUANTITY_WHY]);
// Whether some day that `date` may mean lies more than a year before `today`.
bool date_is_a_year_before(Date date, Date today);
// The date of --date; NULL: today by this machine's clock, in UTC. Meant for dates that are only displayed; an answer
// whose results depend on the date states it. Adds a problem for an invalid date.
Date date_or_today(const char *text, Problems *problems);
