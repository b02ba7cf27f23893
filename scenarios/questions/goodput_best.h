// lockstep goodput --best: joint choice of spares, checkpoint interval and storage, and its output.
#pragma once

#include "models/workload/life/life.h"
#include "scenarios/questions/goodput.h"
#include "sim/base/options.h"

// What is to be chosen among, at which prices. What options do not fix is open. Problems where a price is missing.
LifeWish goodput_best_wish(const GoodputAsked *asked, const Catalogue *catalogue, const Options *options,
                           Problems *problems);
void goodput_best_answer(Answer *answer, const GoodputAsked *asked, const Catalogue *catalogue, const LifeWish *wish,
                         const LifeChoice *choice);
