/* The trampoline runs one entry after another on the same stack, so makecontext is paid once.
 *
 * _longjmp between stacks is what the fortified libc takes for a stack smash, so this file is
 * compiled without _FORTIFY_SOURCE.
 */
#undef _FORTIFY_SOURCE
#include "sim/coro.h"

#include <setjmp.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define CORO_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CORO_ASAN 1
#endif
#endif

#ifdef CORO_ASAN
void __sanitizer_start_switch_fiber(void **fake_stack, const void *bottom, size_t size);
void __sanitizer_finish_switch_fiber(void *fake_stack, const void **bottom, size_t *size);
#endif

#if defined(__has_include)
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#endif
#endif
#ifndef VALGRIND_STACK_REGISTER
#define VALGRIND_STACK_REGISTER(from, to) 0
#define VALGRIND_STACK_DEREGISTER(id) ((void)(id))
#endif

#define STACK_BYTES ((size_t)256 * 1024)

struct coro {
    jmp_buf inside, outside;
    ucontext_t first; /* only to get onto the stack the first time */
    void (*entry)(void *argument);
    void *argument;
    unsigned char *mapping; /* guard page, then the stack */
    size_t guard;
    unsigned valgrind_stack;
    bool made, busy, returned;
#ifdef CORO_ASAN
    void *fake_inside, *fake_outside;
    const void *outer_bottom;
    size_t outer_size;
#endif
};

static void leaving_outside(struct coro *c)
{
#ifdef CORO_ASAN
    __sanitizer_start_switch_fiber(&c->fake_outside, c->mapping + c->guard, STACK_BYTES);
#else
    (void)c;
#endif
}

static void arrived_outside(struct coro *c)
{
#ifdef CORO_ASAN
    __sanitizer_finish_switch_fiber(c->fake_outside, NULL, NULL);
#else
    (void)c;
#endif
}

static void leaving_inside(struct coro *c)
{
#ifdef CORO_ASAN
    __sanitizer_start_switch_fiber(&c->fake_inside, c->outer_bottom, c->outer_size);
#else
    (void)c;
#endif
}

static void arrived_inside(struct coro *c, bool first)
{
#ifdef CORO_ASAN
    __sanitizer_finish_switch_fiber(first ? NULL : c->fake_inside, &c->outer_bottom,
                                    &c->outer_size);
#else
    (void)c;
    (void)first;
#endif
}

static void trampoline(unsigned low, unsigned high)
{
    /* makecontext passes ints only, so the pointer comes in two halves */
    struct coro *c = (struct coro *)((uintptr_t)low | (uintptr_t)high << 32);
    arrived_inside(c, true);
    for (;;) {
        c->entry(c->argument);
        c->returned = true;
        coro_yield(c);
    }
}

struct coro *coro_new(void)
{
    struct coro *c = sim_zalloc(1, sizeof(*c));
    c->guard = (size_t)sysconf(_SC_PAGESIZE);
    c->mapping = mmap(NULL, c->guard + STACK_BYTES, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    must(c->mapping != MAP_FAILED);
    must(mprotect(c->mapping, c->guard, PROT_NONE) == 0);
    c->valgrind_stack =
        VALGRIND_STACK_REGISTER(c->mapping + c->guard, c->mapping + c->guard + STACK_BYTES);
    return c;
}

void coro_free(struct coro *c)
{
    if (c == NULL) {
        return;
    }
    must(!c->busy);
    VALGRIND_STACK_DEREGISTER(c->valgrind_stack);
    munmap(c->mapping, c->guard + STACK_BYTES);
    free(c);
}

/* Kept out of line, so that no local of a caller lives across the jump. */
static __attribute__((noinline)) void enter(struct coro *c)
{
    leaving_outside(c);
    if (_setjmp(c->outside) == 0) {
        if (c->made) {
            _longjmp(c->inside, 1);
        }
        c->made = true;
        must(getcontext(&c->first) == 0);
        c->first.uc_stack.ss_sp = c->mapping + c->guard;
        c->first.uc_stack.ss_size = STACK_BYTES;
        c->first.uc_link = NULL;
        uintptr_t p = (uintptr_t)c;
        makecontext(&c->first, (void (*)(void))trampoline, 2, (unsigned)p, (unsigned)(p >> 32));
        setcontext(&c->first); /* returns only on failure */
        must(!"setcontext failed");
    }
    arrived_outside(c);
}

bool coro_start(struct coro *c, void (*entry)(void *argument), void *argument)
{
    must(!c->busy);
    c->entry = entry;
    c->argument = argument;
    c->busy = true;
    c->returned = false;
    return coro_resume(c);
}

bool coro_resume(struct coro *c)
{
    must(c->busy);
    enter(c);
    if (c->returned) {
        c->busy = false;
    }
    return c->returned;
}

void coro_yield(struct coro *c)
{
    leaving_inside(c);
    if (_setjmp(c->inside) == 0) {
        _longjmp(c->outside, 1);
    }
    arrived_inside(c, false);
}

bool coro_busy(const struct coro *c)
{
    return c->busy;
}
