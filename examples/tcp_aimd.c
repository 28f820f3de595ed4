// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * A congestion control to begin one's own with: it adds a segment a round trip and halves its window for a loss, as RFC 5681 has it.
 *
 *   [[flow]]
 *   variant = "reno"
 *   kernel_variant = "aimd"
 *
 *   [measure]
 *   module = "tcp_aimd.c"
 */
#include <linux/module.h>
#include <net/tcp.h>

static void aimd_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (!tcp_is_cwnd_limited(sk))
		return;
	if (tcp_in_slow_start(tp)) {
		acked = tcp_slow_start(tp, acked);
		if (!acked)
			return;
	}
	tcp_cong_avoid_ai(tp, tcp_snd_cwnd(tp), acked);
}

static u32 aimd_ssthresh(struct sock *sk)
{
	return max(tcp_snd_cwnd(tcp_sk(sk)) / 2, 2U);
}

static struct tcp_congestion_ops aimd __read_mostly = {
	.flags		= TCP_CONG_NON_RESTRICTED,
	.ssthresh	= aimd_ssthresh,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.cong_avoid	= aimd_cong_avoid,
	.owner		= THIS_MODULE,
	.name		= "aimd",
};

static int __init aimd_register(void)
{
	return tcp_register_congestion_control(&aimd);
}

static void __exit aimd_unregister(void)
{
	tcp_unregister_congestion_control(&aimd);
}

module_init(aimd_register);
module_exit(aimd_unregister);

MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("Additive increase, multiplicative decrease");
