// Hash collisions (ECMP): flows choose one of several equal links at random and stay there.
#include <math.h>

#include "models/network/fabrics.h"

// Whether no link has more than `most` flows, when each link's number is Poisson distributed (independent links with
// the right mean; for as many flows as links or more it is within a few percent of throwing balls into bins).
static double none_has_more(double mean, double links, int most) {
    double term = exp(-mean), sum = term;
    for (int k = 1; k <= most; k++) {
        term *= mean / k;
        sum += term;
    }
    return pow(fmin(sum, 1), links);
}

// A collective waits for its fullest link: mean load over expected fullest load.
double fabric_hash_share(double flows, double links) {
    if (links <= 1 || flows <= 0) return 1;
    double mean = flows / links, fullest = 0;
    if (mean > 600) return 1; // exp(-mean) fails, and the spread is below 1/sqrt(600)
    for (int most = 0; most < 10 * mean + 100; most++) {
        double more = 1 - none_has_more(mean, links, most);
        if (more < 1e-12) break;
        fullest += more;
    }
    return fmin(1, mean / fmax(1, fullest));
}
