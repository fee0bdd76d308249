/* What an exploration came to, as text for a person or as one line of JSON. */
#ifndef REPORTS_CERTIFICATE_H
#define REPORTS_CERTIFICATE_H

#include "sim/explore.h"

/* elapsed_ms of wall time; it stands beside the certificate, not in it. */
void certificate_text(FILE *out, const struct certificate *c, uint64_t elapsed_ms);
void certificate_json(FILE *out, const struct certificate *c, uint64_t elapsed_ms);

#endif
