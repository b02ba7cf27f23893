// Calendar days. The count of days is Howard Hinnant's days_from_civil (proleptic Gregorian calendar).
#include "sim/base/date.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static bool leap(int year) { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }

static int days_in_month(int year, int month) {
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return days[month - 1] + (month == 2 && leap(year));
}

static int read_digits(const char **text, int count) {
    int number = 0;
    for (int i = 0; i < count; i++, (*text)++) {
        if (**text < '0' || **text > '9') return -1;
        number = 10 * number + (**text - '0');
    }
    return number;
}

bool date_parse(const char *text, Date *date) {
    *date = (Date){.year = read_digits(&text, 4)};
    if (date->year < 1900 || date->year > 2199) return false;
    if (*text == '\0') return true;
    if (*text++ != '-') return false;
    date->month = read_digits(&text, 2);
    if (date->month < 1 || date->month > 12) return false;
    if (*text == '\0') return true;
    if (*text++ != '-') return false;
    date->day = read_digits(&text, 2);
    return *text == '\0' && date->day >= 1 && date->day <= days_in_month(date->year, date->month);
}

int64_t date_first_day(Date date) {
    int month = date.month > 0 ? date.month : 1, day = date.day > 0 ? date.day : 1;
    int64_t year = date.year - (month <= 2);
    int64_t era = year / 400, of_era = year - era * 400;
    int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + day_of_year - 719468;
}

int64_t date_last_day(Date date) {
    if (date.month == 0) date.month = 12;
    if (date.day == 0) date.day = days_in_month(date.year, date.month);
    return date_first_day(date);
}

bool deadline_parse(const char *text, Date today, double *seconds, char why[QUANTITY_WHY]) {
    Date date;
    bool looks_like_a_day = strlen(text) >= 6 && strspn(text, "0123456789") == 4 && text[4] == '-';
    if (!looks_like_a_day) return quantity_read("by", text, QUANTITY_TIME, "30d", seconds, why);
    if (!date_parse(text, &date)) {
        snprintf(why, QUANTITY_WHY, "%.20s is no day of the calendar: write \"2027-02-28\", or \"2027-02\" for its end",
                 text);
        return false;
    }
    int64_t days = date_last_day(date) + 1 - date_first_day(today);
    if (days <= 0) {
        snprintf(why, QUANTITY_WHY, "%.20s is over: today is %04d-%02d-%02d (--date says another day)", text,
                 today.year, today.month > 0 ? today.month : 1, today.day > 0 ? today.day : 1);
        return false;
    }
    *seconds = (double)days * 86400;
    return true;
}

bool date_is_a_year_before(Date date, Date today) {
    Date birthday = {today.year - 1, today.month > 0 ? today.month : 1, today.day > 0 ? today.day : 1};
    return date_first_day(date) < date_first_day(birthday);
}

Date date_or_today(const char *text, Problems *problems) {
    Date date;
    if (text && date_parse(text, &date)) return date;
    if (text) {
        problem_add(problems, (Where){0}, "--date \"%.40s\" is no day", text);
        problem_hint(problems, "for example --date 2026-11-21");
    }
    time_t now = time(NULL);
    struct tm day;
    gmtime_r(&now, &day);
    return (Date){day.tm_year + 1900, day.tm_mon + 1, day.tm_mday};
}
