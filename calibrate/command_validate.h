// lockstep validate KIND: predictions against published measurements. argv[0] is the command's own name.
#pragma once

#include "sim/data/question.h"

int command_validate(int argc, char **argv);

// One kind each; argv[0] is the kind.
int validate_collectives(int argc, char **argv);
int validate_training(int argc, char **argv);
int validate_kernels(int argc, char **argv);
int validate_queue(int argc, char **argv);
int validate_reliability(int argc, char **argv);
int validate_convergence(int argc, char **argv);
int validate_first_contact(int argc, char **argv);

extern const Question training_question, collectives_question;
