/* Presets: receivers under the names that their users know, each a receiver of the registry with
 * other defaults. One entry each, in the order in which lists show them.
 *
 * A default is the value in ns, as a number or as 1 for true; of a choice it is its word.
 */
#include "receivers/receiver.h"

#define SECONDS(n) (INT64_C(1000000000) * (n))
#define DAYS(n) SECONDS(INT64_C(86400) * (n))

extern const struct receiver receiver_window, receiver_idempotency_key, receiver_claim;

const struct preset presets[] = {
    {
        .name = "sqs_fifo",
        .about = "a FIFO queue's send side: ids remembered for 5 minutes from the first send",
        .source = "Amazon SQS FIFO, send side",
        .is = &receiver_window,
        .defaults = {{"window", .value = SECONDS(300)}},
    },
    {
        .name = "azure_service_bus",
        .about = "duplicate detection of a queue or topic: message ids remembered for 10 minutes",
        .source = "Azure Service Bus duplicate detection",
        .is = &receiver_window,
        .defaults = {{"window", .value = SECONDS(600), .least = SECONDS(20), .most = DAYS(7)}},
    },
    {
        .name = "nats_jetstream",
        .about = "ids in memory for 2 minutes, rebuilt from stored messages; duplicate:true",
        .source = "NATS JetStream, Nats-Msg-Id",
        .is = &receiver_window,
        .defaults = {{"window", .value = SECONDS(120), .least = SECONDS(1) / 10,
                      .most = DAYS(3650)},
                     {"removal", .word = "sweep"},
                     {"sweep", .value = SECONDS(1), .least = SECONDS(1) / 20, .most = DAYS(3650)},
                     {"batch", .value = 0},
                     {"answer", .word = "first"},
                     {"memory", .word = "rebuilt"}},
    },
    {
        .name = "stripe_v1",
        .about = "first status and response saved for 24 hours, failures and 500s too",
        .source = "Stripe API v1, Idempotent requests",
        .is = &receiver_idempotency_key,
        .defaults = {{"failures", .word = "saved"}},
    },
    {
        .name = "stripe_v2",
        .about = "successes replayed for 30 days between requests, failures executed again",
        .source = "Stripe API v2, Idempotency",
        .is = &receiver_idempotency_key,
        .defaults = {{"retention", .value = DAYS(30)},
                     {"starts", .word = "last-seen"},
                     {"marked", .value = 0}},
    },
    {
        .name = "ietf_idempotency_key",
        .about = "400 without a key, 409 while it is executed, 422 for another payload",
        .source = "IETF draft-ietf-httpapi-idempotency-key-header",
        .is = &receiver_idempotency_key,
        .defaults = {{"failures", .word = "saved"},
                     {"mismatch", .word = "422"},
                     {"key_needed", .value = 1},
                     {"marked", .value = 0}},
    },
    {
        .name = "powertools",
        .about = "a claim in a store of its own: completed after the effect, not fenced",
        .source = "AWS Lambda Powertools for Python, Idempotency",
        .breaks = "a death, a failure or an overrun between the effect and its completion",
        .is = &receiver_claim,
        .defaults = {{"starts", .word = "completion"},
                     {"fencing", .value = 0},
                     {"completion", .word = "after-effect"},
                     {"payload", .word = "ignored"},
                     {"key_needed", .value = 0}},
    },
    {
        .name = "lock_with_record",
        .about = "a lock with a short lease, and a record that is written with the effect",
        .source = "a Redis-style lock with a marker of what is done",
        .is = &receiver_claim,
        .defaults = {{"lease", .value = SECONDS(1)}, {"payload", .word = "ignored"}},
    },
    {
        .name = "redis_lock",
        .about = "a lock with a lease and nothing that stays when it is released",
        .source = "Redis, SET key token NX PX, as a guard against duplicates",
        .breaks = "a retry that comes when the lock is free again",
        .is = &receiver_claim,
        .defaults = {{"record", .value = 0},
                     {"fencing", .value = 0},
                     {"completion", .word = "after-effect"},
                     {"payload", .word = "ignored"}},
    },
    {
        .name = "unfenced_lease",
        .about = "a claim that its owner completes although its lease is over",
        .source = "wrong on purpose",
        .is = &receiver_claim,
        .defaults = {{"lease", .value = SECONDS(1)}, {"fencing", .value = 0}},
    },
    {
        .name = "key_deleted_on_failure",
        .about = "a claim deleted when the handler fails, although its effect is there",
        .source = "wrong on purpose",
        .is = &receiver_claim,
        .defaults = {{"completion", .word = "after-effect"}},
    },
    {
        .name = "claim_without_lease",
        .about = "a claim that stays in progress for ever when its owner dies",
        .source = "wrong on purpose",
        .is = &receiver_claim,
        .defaults = {{"retention", .value = 0}, {"lease", .value = 0}},
    },
};
const size_t presets_count = ARRAY_LEN(presets);
