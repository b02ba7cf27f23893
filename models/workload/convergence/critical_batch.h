// Data that a model needs to reach its target by global batch, and the batch beyond which more GPUs stop paying: E(B)
// = E0 (1 + B / B_c), S(B) = E(B) / B (McCandlish et al. 2018, arXiv 1812.06162, equation 2.11). At the critical
// batch B_c twice the least data is needed, and twice the least steps.
#pragma once

// One training with a batch to the target. Batches in samples or tokens, amounts in any unit (epochs, samples).
typedef struct ConvergencePoint {
    double batch, amount;
} ConvergencePoint;

// What is known of a critical batch before it is measured: normal in its logarithm.
typedef struct CriticalBatchPrior {
    double log_mean, log_sigma;
} CriticalBatchPrior;

typedef struct CriticalBatch {
    double batch, p5, p95; // of B_c: most likely value, and its 90 % range
    double amount;         // E0, with that B_c
} CriticalBatch;

#define CONVERGENCE_SIGMA 0.04 // of the log of an amount between repeated runs: median of MLPerf's points (rcp.csv)

// From one measured point or more, and the prior, whose log_sigma may be INFINITY: nothing is known. By a grid over the
// logarithm of B_c; E0 is the best for each.
CriticalBatch critical_batch_fit(const ConvergencePoint *points, int count, const CriticalBatchPrior *prior);

// More data than the smallest batches need: 1 + B / B_c.
double critical_batch_growth(double critical_batch, double batch);
double critical_batch_amount(const CriticalBatch *critical, double batch); // E0 (1 + B / B_c)

// Of a language model trained on `tokens` tokens, in tokens: the geometric mean of two laws that agree in the
// exponent and not in size, with their distance as its uncertainty. Zhang et al. 2024 (arXiv 2410.21676): 93.2 N^0.47
// sequences of 512 for N million parameters trained on 20 tokens each; Bergsma et al. 2025 (arXiv 2505.13738): 0.0471
// D^0.462 sequences of 2,048. Both depend on the model's size through D only; measured to 1.2 and 3.3 B parameters.
CriticalBatchPrior critical_batch_of_tokens(double tokens);
