/* How long a run may go on after the last send or fault.
 *
 * In: the scenario and the faults that are listed for this run. Out: twice the longest that
 * anything may still take: retries, delays, pauses, restarts, waits for a lock, redeliveries,
 * answers from downstream.
 */
#include "sim/world_internal.h"

#include "receivers/receiver.h"
#include "sim/broker.h"

/* The relay's next turn, one way there and back in vain and another, one more process that starts
 * again. How many messages wait in the outbox is nobody's limit: it moves on with each. */
static uint64_t downstream_span(const struct scenario *s, size_t receiver, uint64_t delay,
                                uint64_t pause, uint64_t restart)
{
    const struct scenario_receiver *r = &s->receivers[receiver];
    if (s->downstream == NULL || !(r->code->steps & STEP_BIT(STEP_SEND))) {
        return 0;
    }
    uint64_t every = r->code->relay != NULL ? r->code->relay_every(r->settings) : 0;
    uint64_t wait = r->code->waits != NULL ? r->code->waits(r->settings) : 0;
    return every + 2 * wait + 2 * delay + pause + restart;
}

uint64_t world_span(const struct scenario *s, size_t receiver, const struct schedule *schedule)
{
    uint64_t horizon = 0;
    for (size_t i = 0; i < s->sender_count; i++) {
        uint64_t h = retry_horizon(&s->senders[i].retry);
        horizon = h > horizon ? h : horizon;
    }
    uint64_t delay = 0, pause = dist_max(&s->rates.pause_for);
    for (int d = 0; d < 2; d++) {
        uint64_t longest = dist_max(&s->network.delay[d]) + dist_max(&s->rates.copy_after);
        delay = longest > delay ? longest : delay;
    }
    uint64_t restart = dist_max(&s->receiver.restart);
    for (size_t i = 0; i < schedule->listed_count; i++) {
        const struct fault_value *v = &schedule->listed[i].value;
        switch (fault_kind(&schedule->listed[i])) {
        case FAULT_DUPLICATE:
            delay += v->n * v->time;
            break;
        case FAULT_DELAY:
            delay += v->time;
            break;
        case FAULT_PAUSE:
            pause += v->time;
            break;
        case FAULT_CRASH:
        case FAULT_STOP:
            restart = v->time > restart ? v->time : restart;
            break;
        case FAULT_SENDER_CRASH:
        case FAULT_SENDER_AMNESIA:
            delay += v->time > 0 ? v->time : SENDER_RESTART;
            break;
        case FAULT_PARTITION:
            delay += v->until;
            break;
        case FAULT_NONE:
        case FAULT_LOSE:
        case FAULT_STORE:
        case FAULT_HANDLER:
        case FAULT_CLOCK:
        case FAULT_LYING_DISK:
        case FAULT_KIND_COUNT:
            break;
        }
    }
    uint64_t steps = (uint64_t)STEPS_INSIDE * dist_max(&s->receiver.step);
    steps += dist_max(&s->receiver.work);
    uint64_t sum = horizon + delay + pause + restart + steps + s->receiver.database.busy_timeout;
    if (s->receivers[receiver].code->steps & STEP_BIT(STEP_EXTERNAL)) {
        sum += s->service.time_out + 2 * dist_max(&s->network.outside) +
               (uint64_t)dist_max(&s->receiver.step);
    }
    if (s->broker.on) {
        sum += broker_span(&s->broker, delay);
    }
    sum += downstream_span(s, receiver, delay, pause, restart);
    return sum < SIM_TIME_MAX / 4 ? 2 * sum : SIM_TIME_MAX / 2;
}
