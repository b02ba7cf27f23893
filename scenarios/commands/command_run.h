// The command `lockstep run`.
#pragma once

#include "results/answer/frame.h"
#include "scenarios/packets/packets.h"
#include "scenarios/study/study.h"

int command_run(int argc, char **argv);
char **run_words(Arena *arena, int argc, char **argv); // "--plot" without a value is read as "--plot="

extern const Question run_question;
// The same for a page: with timelines.
extern const Question run_page_question;

typedef struct RunPackets { // of sim.packets
    const PacketsStudy *study;
    PacketsOutcome result;
    int before; // number of records before it
} RunPackets;

typedef struct RunAnswer { // result (Asking)
    const Record *const *records;
    const StudySpec *const *studies; // what each record is of; NULL: of something else
    int record_count;
    const RunPackets *packets;
    int packets_count;
    const char *date; // of --date; NULL: not given
} RunAnswer;
