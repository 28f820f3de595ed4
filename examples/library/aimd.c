/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * A congestion control of your own in C: additive increase, multiplicative decrease, with both
 * numbers as parameters. As `library.toml` uses it:
 *
 *     $ trammel header > trammel.h
 *     $ cc -shared -fPIC -O2 -Wall -o libaimd.so aimd.c
 *     $ trammel run library.toml
 */
#include "trammel.h"

#include <stdlib.h>

static const struct trammel_host *host;

/* One flow. */
struct aimd {
    double alpha; /* segments a round trip */
    double beta;  /* part of the window that a loss leaves */
};

static void *create(const double *values)
{
    struct aimd *ca = calloc(1, sizeof(*ca));

    if (ca) {
        ca->alpha = values[0];
        ca->beta = values[1];
    }
    return ca;
}

static uint32_t ssthresh(void *object, struct trammel_tp *tp)
{
    const struct aimd *ca = object;
    uint32_t left = (uint32_t)(tp->snd_cwnd * ca->beta);

    return left > 2 ? left : 2;
}

static void cong_avoid(void *object, struct trammel_tp *tp, uint32_t ack, uint32_t acked)
{
    const struct aimd *ca = object;
    uint32_t w;

    (void)ack;
    if (!tp->is_cwnd_limited)
        return;
    if (tp->snd_cwnd < tp->snd_ssthresh) {
        acked = host->slow_start(tp, acked);
        if (!acked)
            return;
    }
    /* One segment for every w acknowledged is alpha of them a window. */
    w = (uint32_t)(tp->snd_cwnd / ca->alpha);
    host->cong_avoid_ai(tp, w > 1 ? w : 1, acked);
}

static size_t observe(const void *object, struct trammel_variable *variables, size_t room)
{
    const struct aimd *ca = object;

    if (room < 1)
        return 0;
    variables[0].name = "beta";
    variables[0].value = ca->beta;
    return 1;
}

static const struct trammel_param params[] = {
    { "alpha", 1.0, 0.01, 100.0, "segments that the window grows by in a round trip" },
    { "beta", 0.5, 0.1, 0.95, "part of the window that a loss leaves" },
};

static const struct trammel_cc aimd = {
    .abi = TRAMMEL_ABI,
    .tp_bytes = sizeof(struct trammel_tp),
    .name = "aimd",
    .summary = "additive increase, multiplicative decrease, from a library",
    .params = params,
    .n_params = sizeof(params) / sizeof(params[0]),
    .create = create,
    .destroy = free,
    .ssthresh = ssthresh,
    .cong_avoid = cong_avoid,
    .observe = observe,
};

const struct trammel_cc *trammel_congestion_control(const struct trammel_host *given)
{
    host = given;
    return &aimd;
}
