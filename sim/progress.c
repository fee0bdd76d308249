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

uint64_t progress_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * SIM_S + (uint64_t)t.tv_nsec;
}

void progress_begin(struct progress *p, uint64_t total, bool quiet)
{
    *p = (struct progress){.on = !quiet && isatty(STDERR_FILENO), .total = total};
    if (p->on) {
        p->began = progress_clock();
    }
}

/* Whether it is time to say something again. */
static bool due(const struct progress *p, uint64_t now)
{
    return p->on && now - p->began >= SIM_S && now - p->said >= SIM_S / 5;
}

void progress_say(struct progress *p, const char *text)
{
    uint64_t now = p->on ? progress_clock() : 0;
    if (!due(p, now)) {
        return;
    }
    fprintf(stderr, "\r\033[K%s, %" PRIu64 " s", text, (now - p->began) / SIM_S);
    fflush(stderr);
    p->said = now;
    p->shown = true;
}

void progress_step(struct progress *p, uint64_t done)
{
    char text[64];
    if (p->on) {
        snprintf(text, sizeof(text), "%" PRIu64 " of %" PRIu64 " runs", done, p->total);
        progress_say(p, text);
    }
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
    sigaction(SIGTERM, &action, NULL); /* what `timeout` and CI send */
}

bool interrupted(void)
{
    return caught != 0;
}
