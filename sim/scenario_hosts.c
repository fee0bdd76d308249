/* `network:`, `hosts:` and `database:` of a scenario file. */
#include "sim/scenario_internal.h"

#include "sim/words.h"

#include <string.h>

static const struct dist delay_default = {.kind = DIST_UNIFORM, .a = 20 * SIM_MS, .b = 80 * SIM_MS};
static const struct dist copy_default = {.kind = DIST_UNIFORM, .b = SIM_S};
static const struct dist restart_default = {.kind = DIST_CONSTANT, .a = 100 * SIM_MS};
static const struct dist pause_default = {.kind = DIST_UNIFORM, .b = 5 * SIM_S};
static const struct dist busy_step_default = {.kind = DIST_UNIFORM, .b = SIM_MS};

/* A value for both directions, or {request, reply}. */
static bool by_direction(const struct yaml_node *node)
{
    return value_of(node, "request") != NULL || value_of(node, "reply") != NULL;
}

static void read_delay(struct yaml *y, const struct yaml_node *node, struct dist *delay)
{
    if (node != NULL && by_direction(node)) {
        if (READ_MAPPING(y, node, "delay", "request", "reply")) {
            read_dist(y, value_of(node, "request"), &delay[REQUEST - 1]);
            read_dist(y, value_of(node, "reply"), &delay[REPLY - 1]);
        }
    } else if (read_dist(y, node, &delay[0])) {
        delay[1] = delay[0];
    }
}

static void read_rates(struct yaml *y, const struct yaml_node *node, const char *what,
                       struct ratio *rates)
{
    if (node != NULL && node->kind == YAML_MAPPING) {
        if (READ_MAPPING(y, node, what, "request", "reply")) {
            read_ratio(y, value_of(node, "request"), &rates[REQUEST - 1]);
            read_ratio(y, value_of(node, "reply"), &rates[REPLY - 1]);
        }
    } else if (read_ratio(y, node, &rates[0])) {
        rates[1] = rates[0];
    }
}

void read_network(struct reader *r, const struct yaml_node *mapping)
{
    struct yaml *y = &r->yaml;
    struct fault_rates *rates = &r->s->rates;
    const struct ratio never = {0, 1};
    *rates = (struct fault_rates){
        .lose = {never, never},
        .duplicate = {never, never},
        .crash = never,
        .power = never,
        .pause = never,
        .store = never,
        .handler = never,
        .copy_after = copy_default,
        .pause_for = pause_default,
    };
    r->s->network = (struct network_config){.delay = {delay_default, delay_default}};
    const struct yaml_node *node = value_of(mapping, "network");
    if (node == NULL ||
        !READ_MAPPING(y, node, "network", "delay", "lose", "duplicate", "duplicate_after")) {
        return;
    }
    read_delay(y, value_of(node, "delay"), r->s->network.delay);
    read_rates(y, value_of(node, "lose"), "lose", rates->lose);
    read_rates(y, value_of(node, "duplicate"), "duplicate", rates->duplicate);
    read_dist(y, value_of(node, "duplicate_after"), &rates->copy_after);
}

static void read_database(struct yaml *y, const struct yaml_node *node, struct database_config *db)
{
    static const char *const journals[] = {
#define X(name, text) text,
        JOURNALS(X)
#undef X
    };
    static const char *const synchronous[] = {
#define X(name, text) text,
        SYNCHRONOUS(X)
#undef X
    };
    *db = (struct database_config){.page_size = 1024, .busy_timeout = 5 * SIM_S};
    if (node == NULL ||
        !READ_MAPPING(y, node, "database", "journal", "synchronous", "page_size", "busy_timeout")) {
        return;
    }
    unsigned journal = db->journal, sync = db->synchronous;
    read_choice(y, value_of(node, "journal"), "journal", journals, ARRAY_LEN(journals), &journal);
    read_choice(y, value_of(node, "synchronous"), "synchronous", synchronous,
                ARRAY_LEN(synchronous), &sync);
    db->journal = (enum journal)journal;
    db->synchronous = (enum synchronous)sync;
    const struct yaml_node *page = value_of(node, "page_size");
    if (read_u32(y, page, 512, 65536, &db->page_size) &&
        (db->page_size & (db->page_size - 1)) != 0) {
        yaml_error(y, page->at, "the page size must be a power of two");
    }
    read_duration(y, value_of(node, "busy_timeout"), 0, &db->busy_timeout);
}

static void read_clock(struct yaml *y, const struct yaml_node *node, int64_t *offset,
                       int32_t *drift)
{
    if (node == NULL || !READ_MAPPING(y, node, "clock", "offset", "drift")) {
        return;
    }
    read_offset(y, value_of(node, "offset"), offset);
    read_drift(y, value_of(node, "drift"), drift);
}

static void read_receiving_host(struct reader *r, const struct yaml_node *node)
{
    struct yaml *y = &r->yaml;
    struct host_config *host = &r->s->receiver;
    struct fault_rates *rates = &r->s->rates;
    if (!READ_MAPPING(y, node, "the host \"receiver\"", "workers", "step", "work", "restart",
                      "clock", "crash", "power", "pause", "store", "handler", "pause_for")) {
        return;
    }
    read_u32(y, value_of(node, "workers"), 1, WORKERS_MAX, &host->workers);
    if (host->workers > 1) {
        host->step = busy_step_default;
    }
    read_dist(y, value_of(node, "step"), &host->step);
    read_dist(y, value_of(node, "work"), &host->work);
    read_dist(y, value_of(node, "restart"), &host->restart);
    read_clock(y, value_of(node, "clock"), &host->clock_offset, &host->clock_drift);
    read_ratio(y, value_of(node, "crash"), &rates->crash);
    read_ratio(y, value_of(node, "power"), &rates->power);
    read_ratio(y, value_of(node, "pause"), &rates->pause);
    read_ratio(y, value_of(node, "store"), &rates->store);
    read_ratio(y, value_of(node, "handler"), &rates->handler);
    read_dist(y, value_of(node, "pause_for"), &rates->pause_for);
}

static void read_sender_host(struct reader *r, const struct yaml_node *node,
                             struct sender_config *sender)
{
    if (READ_MAPPING(&r->yaml, node, "the host of a sender", "clock")) {
        read_clock(&r->yaml, value_of(node, "clock"), &sender->clock_offset, &sender->clock_drift);
    }
}

static void read_host(struct reader *r, const struct yaml_node *key)
{
    struct sentence_names names = scenario_names(r->s);
    unsigned place = names.place(names.context, key->text, key->len);
    if (place == PLACE_RECEIVER) {
        read_receiving_host(r, key->value);
        return;
    }
    if (place >= PLACE_SENDER) {
        read_sender_host(r, key->value, &r->s->senders[place - PLACE_SENDER]);
        return;
    }
    if (place == PLACE_BROKER) {
        yaml_error(&r->yaml, key->at,
                   "the broker has no clock and never fails; its settings stand "
                   "under \"broker\"");
        return;
    }
    if (place == PLACE_SERVICE) {
        yaml_error(&r->yaml, key->at,
                   "the service is no host: what it is stands under \"service\"");
        return;
    }
    char found[60], near[KEY_MAX], hint[60];
    words_quote(key->text, key->len, found, sizeof(found));
    names.suggest(names.context, false, key->text, key->len, near);
    words_quote(near, strlen(near), hint, sizeof(hint));
    yaml_error(&r->yaml, key->at, "unknown host %s%s%s%s", found, near[0] ? "; did you mean " : "",
               near[0] ? hint : "; there are \"receiver\" and the senders", near[0] ? "?" : "");
}

void read_hosts(struct reader *r, const struct yaml_node *mapping)
{
    struct yaml *y = &r->yaml;
    r->s->receiver = (struct host_config){.workers = 1, .restart = restart_default};
    read_database(y, value_of(mapping, "database"), &r->s->receiver.database);
    const struct yaml_node *hosts = value_of(mapping, "hosts");
    if (hosts == NULL) {
        return;
    }
    if (hosts->kind != YAML_MAPPING) {
        expected(y, hosts, "hosts, a mapping by name");
        return;
    }
    struct name_table seen = {0};
    for (const struct yaml_node *key = hosts->first; key != NULL; key = key->next) {
        bool is_new;
        uint64_t first = name_table_put(&seen, key->text, key->len, key->at, &is_new)->value;
        if (is_new) {
            read_host(r, key);
        } else {
            int line, column;
            yaml_position(y, (size_t)first, &line, &column);
            yaml_error(y, key->at, "this host stands here twice; first in line %d", line);
        }
    }
    name_table_fini(&seen);
}
