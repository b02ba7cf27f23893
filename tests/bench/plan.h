#pragma once

// The layouts of a model of 530 billion parameters on 5,120 GPUs: all looked at, the best 100 simulated.
void bench_plan(void);
