/* The learnt policy in whole numbers, as `export.py` puts it into `policy.c` and `tcp_policy.c`:
 * a kernel has no floating point. Numbers with a part behind the point are of 1/65536 (UNIT).
 *
 * As in training, it decides once an interval what factor the window gets, by what the ACKs of the
 * interval said: round trip over the smallest, its slope, losses, delivery rate over the highest,
 * window over the path's product of rate and round trip.
 */
#define UNIT 65536
#define TENFOLD (10 * UNIT)
#define HUNDREDFOLD (100 * UNIT)
#define MOST_WINDOW ((u64)65536 * UNIT)

struct policy {
	u64 since_us;	/* when the interval began */
	u64 window;	/* decided, segments * UNIT */
	u64 most_rate;	/* highest delivery rate, segments/s * 16 */
	s64 t, r, tt, tr; /* sums over round trips, of times in units of 8 us */
	u32 n;		/* round trips */
	u32 acked, lost; /* segments */
	u32 rtt_us;	/* the last mean */
	u32 min_rtt_us;	/* 0 before the first */
};

static s64 policy_clamp(s64 value, s64 least, s64 most)
{
	return value < least ? least : value > most ? most : value;
}

static void policy_begin(struct policy *p, u64 now_us)
{
	p->since_us = now_us;
	p->t = p->r = p->tt = p->tr = 0;
	p->n = p->acked = p->lost = 0;
}

static void policy_init(struct policy *p, u64 now_us, u32 cwnd)
{
	policy_begin(p, now_us);
	p->window = (u64)cwnd * UNIT;
	p->most_rate = 0;
	p->rtt_us = p->min_rtt_us = 0;
}

/* Takes an ACK; rtt_us is not above 0 where it has none. */
static void policy_hear(struct policy *p, u64 now_us, u32 acked, u32 lost, s64 rtt_us)
{
	s64 t, r;

	p->acked += acked;
	p->lost += lost;
	/* More would not fit into the products below. */
	if (rtt_us <= 0 || p->n >= 16384)
		return;
	if (!p->min_rtt_us || rtt_us < p->min_rtt_us)
		p->min_rtt_us = rtt_us;
	t = policy_clamp((s64)(now_us - p->since_us) / 8, 0, 131071);
	r = policy_clamp(rtt_us / 8, 0, 131071);
	p->n++;
	p->t += t;
	p->r += r;
	p->tt += t * t;
	p->tr += t * r;
}

static s64 policy_gradient(const struct policy *p)
{
	s64 over = p->n * p->tr - p->t * p->r;
	s64 under = p->n * p->tt - p->t * p->t;

	if (under <= 0)
		return 0;
	if (under >= (s64)1 << 32)
		return policy_clamp(policy_div(over, under / UNIT), -TENFOLD, TENFOLD);
	if (over > 10 * under)
		return TENFOLD;
	if (over < -10 * under)
		return -TENFOLD;
	return policy_div(over * UNIT, under);
}

static s64 policy_tanh(s64 x)
{
	s64 size = x < 0 ? -x : x, at = size / (UNIT / 16), part = size % (UNIT / 16), y;

	if (at >= 64)
		y = UNIT;
	else
		y = TANH[at] + (TANH[at + 1] - TANH[at]) * part / (UNIT / 16);
	return x < 0 ? -y : y;
}

/* 2 to the power of a, from -UNIT to UNIT: the series of the exponential. */
static s64 policy_exp2(s64 a)
{
	s64 x = a * 45426 / UNIT, term = UNIT, sum = UNIT;
	int n;

	for (n = 1; n <= 6; n++) {
		term = term * x / UNIT / n;
		sum += term;
	}
	return sum;
}

static void policy_decide(struct policy *p, u64 now_us, u32 cwnd)
{
	s64 seen[INPUTS], first[HIDDEN], second[HIDDEN], sum;
	u64 length_us = now_us - p->since_us, rate;
	int i, j;

	if (p->n)
		p->rtt_us = (u32)policy_div(p->r * 8, p->n);
	rate = policy_div((s64)p->acked * 16000000, length_us);
	if (rate > p->most_rate)
		p->most_rate = rate;
	seen[0] = seen[4] = UNIT;
	if (p->min_rtt_us)
		seen[0] = policy_div((s64)p->rtt_us * UNIT, p->min_rtt_us);
	seen[0] = policy_clamp(seen[0], UNIT, HUNDREDFOLD);
	seen[1] = policy_gradient(p);
	seen[2] = p->lost ? policy_div((s64)p->lost * UNIT, (s64)p->acked + p->lost) : 0;
	seen[3] = p->most_rate ? policy_div((s64)(rate * UNIT), p->most_rate) : 0;
	if (p->most_rate && p->min_rtt_us)
		seen[4] = policy_div((s64)cwnd * 16000000,
				     (s64)(p->most_rate * p->min_rtt_us / UNIT) + 1);
	seen[4] = policy_clamp(seen[4], 0, HUNDREDFOLD);
	for (i = 0; i < HIDDEN; i++) {
		for (sum = (s64)BIAS_1[i] * UNIT, j = 0; j < INPUTS; j++)
			sum += WEIGHT_1[i][j] * seen[j];
		first[i] = policy_tanh(sum / UNIT);
	}
	for (i = 0; i < HIDDEN; i++) {
		for (sum = (s64)BIAS_2[i] * UNIT, j = 0; j < HIDDEN; j++)
			sum += WEIGHT_2[i][j] * first[j];
		second[i] = policy_tanh(sum / UNIT);
	}
	for (sum = (s64)BIAS_3 * UNIT, j = 0; j < HIDDEN; j++)
		sum += WEIGHT_3[j] * second[j];
	sum = policy_clamp(sum / UNIT, -UNIT, UNIT);
	p->window = policy_clamp(p->window * policy_exp2(sum) / UNIT, UNIT, MOST_WINDOW);
	policy_begin(p, now_us);
}

/* Takes an ACK and gives the window. After a timeout it grows towards what was decided. */
static u32 policy_ack(struct policy *p, u64 now_us, u32 acked, u32 lost, s64 rtt_us, u32 cwnd,
		      int is_loss)
{
	u32 window;

	policy_hear(p, now_us, acked, lost, rtt_us);
	if (now_us - p->since_us >= INTERVAL_US)
		policy_decide(p, now_us, cwnd);
	window = p->window / UNIT;
	return is_loss && cwnd + acked < window ? cwnd + acked : window;
}
