/* Coroutines: a handler is written straight down and still stands still where the world wants it
 * to.
 *
 * A coroutine has a pooled stack of 256 KiB with a guard page below it. Its context is made once by
 * makecontext; from then on it is entered and left by _setjmp/_longjmp, which need no system call
 * (swapcontext makes two). AddressSanitizer is told of each switch of stacks, valgrind of each
 * stack.
 *
 * Owns: its stack.
 */
#ifndef SIM_CORO_H
#define SIM_CORO_H

#include "sim/base.h"

struct coro;

struct coro *coro_new(void);
/* The coroutine must be idle. */
void coro_free(struct coro *c);
/* Runs entry(argument) on c until it returns or yields. c must be idle. True: it has returned. */
bool coro_start(struct coro *c, void (*entry)(void *argument), void *argument);
/* Goes on after a yield. True: it has returned. */
bool coro_resume(struct coro *c);
/* Stands still until the next coro_resume. Called on c's own stack only. */
void coro_yield(struct coro *c);
/* Started and not yet returned. */
bool coro_busy(const struct coro *c);

#endif
