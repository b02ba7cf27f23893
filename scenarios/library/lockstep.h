/* liblockstep: questions to the simulator from another program. Link with -llockstep.
 *
 *     char *answer = lockstep_ask("{\"ask\": \"flops\", \"model\": \"gpt3-175b\"}");
 *     …
 *     lockstep_free(answer);
 *
 * Questions and answers are JSON: `lockstep schema ask` and `lockstep schema` describe them. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/* The answer, to be given back to lockstep_free; NULL where no memory, file or process is to be had. What cannot be
 * answered is {"kind": "error", "exit": 1, 2 or 4, "error": "what, where and what to do"}.
 *
 * Each question is answered by a process of its own, the program `lockstep` beside the library (else in ../bin, in
 * ../../bin, else of PATH): threads may ask at once, nothing is kept from one question to the next, and nothing here
 * ends the caller. */
char *lockstep_ask(const char *question);
void lockstep_free(char *answer);

#ifdef __cplusplus
}
#endif
