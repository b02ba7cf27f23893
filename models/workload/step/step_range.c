// Sources of the constants: step_constants.c.
#include "models/workload/step/step_range.h"

#include <math.h>

#include "models/workload/step/step_constants.h"

#define Z_OF_90_PERCENT 1.645

StepRange step_range(double sigma, double loss, double loss_sigma) {
    double tuned = loss_sigma > 0 ? 1 / loss : 1;
    double slower = hypot(sigma * step_constant(SLOWER_SPREAD), loss_sigma);
    return (StepRange){.low = tuned * exp(-Z_OF_90_PERCENT * sigma * step_constant(FASTER_SPREAD)),
                       .high = exp(Z_OF_90_PERCENT * slower)};
}

double step_loss(const TrainingSpec *training) { return training->own_code ? step_constant(OWN_CODE_LOSS) : 1; }

double step_loss_of(const TrainingSpec *training, Cause cause) {
    bool waits = cause == CAUSE_LAUNCH || cause == CAUSE_HOST;
    return step_loss(training) + (training->own_code && waits ? step_constant(OWN_CODE_HOST_LOSS) : 0);
}

double step_loss_sigma(const TrainingSpec *training) { return training->own_code ? step_constant(OWN_CODE_SIGMA) : 0; }

double step_kind_sigma(const TrainingSpec *training) {
    return step_constant(SOFTWARE_SIGMA + (StepConstantId)training->framework);
}

double step_unsaid_sigma(const TrainingSpec *training) {
    double kind = step_kind_sigma(training), unsaid = step_constant(ASSUMED_SOFTWARE_SIGMA);
    double unread = sqrt(training->unread_options) * step_constant(UNREAD_OPTION_SIGMA);
    return hypot(training->software_assumed ? sqrt(fmax(0, unsaid * unsaid - kind * kind)) : 0, unread);
}

double step_software_variance(const TrainingSpec *training) {
    double kind = step_kind_sigma(training), unsaid = step_unsaid_sigma(training);
    return kind * kind + unsaid * unsaid;
}
