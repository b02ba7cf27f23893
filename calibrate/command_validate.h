// lockstep validate KIND: predictions against published measurements. argv[0] is the command's own name.
#pragma once

#include "sim/data/question.h"

int command_validate(int argc, char **argv);

// One kind each.
extern const Question validate_collectives_question, validate_training_question, validate_kernels_question,
    validate_queue_question, validate_reliability_question, validate_convergence_question,
    validate_first_contact_question;
