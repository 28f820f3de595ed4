/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * A learnt congestion control for the simulator, made by export.py:
 *
 *     $ trammel header > trammel.h
 *     $ cc -shared -fPIC -O2 -Wall -o libpolicy.so policy.c
 */
#include "trammel.h"

#include <stdlib.h>

typedef uint64_t u64;
typedef int64_t s64;
typedef uint32_t u32;
typedef int32_t s32;

static s64 policy_div(s64 a, s64 b)
{
	return a / b;
}

@CORE@
static void *create(const double *values)
{
	(void)values;
	return calloc(1, sizeof(struct policy));
}

static void init(void *object, struct trammel_tp *tp)
{
	policy_init(object, tp->now_us, tp->snd_cwnd);
}

static uint32_t ssthresh(void *object, struct trammel_tp *tp)
{
	(void)object;
	return tp->snd_cwnd / 2 > 2 ? tp->snd_cwnd / 2 : 2;
}

static uint32_t undo_cwnd(void *object, struct trammel_tp *tp)
{
	(void)object;
	return tp->snd_cwnd;
}

static void cong_control(void *object, struct trammel_tp *tp, const struct trammel_rate_sample *rs)
{
	tp->snd_cwnd = policy_ack(object, tp->now_us, rs->acked_sacked, rs->losses, rs->rtt_us,
				  tp->snd_cwnd, tp->ca_state == TRAMMEL_CA_LOSS);
}

static const struct trammel_cc policy_cc = {
	.abi = TRAMMEL_ABI,
	.tp_bytes = sizeof(struct trammel_tp),
	.name = "policy",
	.summary = "a learnt policy, in whole numbers",
	.create = create,
	.destroy = free,
	.init = init,
	.ssthresh = ssthresh,
	.undo_cwnd = undo_cwnd,
	.cong_control = cong_control,
};

const struct trammel_cc *trammel_congestion_control(const struct trammel_host *host)
{
	(void)host;
	return &policy_cc;
}
