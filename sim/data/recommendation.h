// The recommendation at the end of an answer: what to do, how surely it meets the request, the decisive assumption,
// and the measurement to make first. The same words and JSON keys for plans, lives, queues and bills.
#pragma once

typedef struct Recommendation {
    const char *choice;  // "256 x dgx-h100 on ib-ndr400"; NULL: none, with the reason in `chance`
    const char *chance;  // "keeps date and budget with 98 %"
    const char *weakest; // "price per GPU-hour: 87 % of the variance of the cost"; NULL: none is known
    const char *measure; // "two hours of training on 2 x dgx-h100, 79 USD"; NULL: nothing that is worth it
} Recommendation;
