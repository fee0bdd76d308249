/* What a person at the terminal sees and does while runs go on.
 *
 * In: how many runs have ended; SIGINT. Out: one line on standard error, rewritten in place; a
 * flag.
 *
 * The only place of the program that reads a wall clock. Nothing of it reaches a run.
 */
#include "sim/progress.h"

#include <inttypes.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

static uint64_t wall_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * SIM_S + (uint64_t)t.tv_nsec;
}

void progress_begin(struct progress *p, uint64_t total, bool quiet)
{
    *p = (struct progress){.on = !quiet && isatty(STDERR_FILENO), .total = total};
    if (p->on) {
        p->began = wall_clock();
    }
}

void progress_step(struct progress *p, uint64_t done)
{
    if (!p->on) {
        return;
    }
    uint64_t now = wall_clock();
    if (now - p->began < SIM_S || now - p->said < SIM_S / 5) {
        return;
    }
    uint64_t seconds = (now - p->began) / SIM_S;
    fprintf(stderr, "\r\033[K%" PRIu64 " of %" PRIu64 " runs, %" PRIu64 " s", done, p->total,
            seconds);
    fflush(stderr);
    p->said = now;
    p->shown = true;
}

void progress_clear(struct progress *p)
{
    if (p->shown) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
        p->shown = false;
    }
}

static volatile sig_atomic_t caught;

static void on_interrupt(int signal)
{
    caught = signal;
}

void interrupt_catch(void)
{
    struct sigaction action = {.sa_handler = on_interrupt,
                               .sa_flags = (int)(SA_RESTART | SA_RESETHAND)};
    sigaction(SIGINT, &action, NULL);
}

bool interrupted(void)
{
    return caught != 0;
}
