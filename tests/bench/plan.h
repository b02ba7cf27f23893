#ifndef LOCKSTEP_TESTS_BENCH_PLAN_H
#define LOCKSTEP_TESTS_BENCH_PLAN_H

// The layouts of a model of 530 billion parameters on 5,120 GPUs: all looked at, the best 100 simulated.
void bench_plan(void);

#endif
