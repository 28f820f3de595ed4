// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * A learnt congestion control for Linux 6.10 and newer, made by export.py.
 */
#include <linux/module.h>
#include <net/tcp.h>

static s64 policy_div(s64 a, s64 b)
{
	return div64_s64(a, b);
}

@CORE@
static void policy_sock_init(struct sock *sk)
{
	BUILD_BUG_ON(sizeof(struct policy) > ICSK_CA_PRIV_SIZE);
	policy_init(inet_csk_ca(sk), tcp_sk(sk)->tcp_mstamp, tcp_snd_cwnd(tcp_sk(sk)));
}

static u32 policy_ssthresh(struct sock *sk)
{
	return max(tcp_snd_cwnd(tcp_sk(sk)) / 2, 2U);
}

static u32 policy_undo_cwnd(struct sock *sk)
{
	return tcp_snd_cwnd(tcp_sk(sk));
}

static void policy_cong_control(struct sock *sk, u32 ack, int flag, const struct rate_sample *rs)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 window = policy_ack(inet_csk_ca(sk), tp->tcp_mstamp, rs->acked_sacked, rs->losses,
				rs->rtt_us, tcp_snd_cwnd(tp),
				inet_csk(sk)->icsk_ca_state == TCP_CA_Loss);

	tcp_snd_cwnd_set(tp, min(window, tp->snd_cwnd_clamp));
}

static struct tcp_congestion_ops policy_ops __read_mostly = {
	.flags		= TCP_CONG_NON_RESTRICTED,
	.init		= policy_sock_init,
	.ssthresh	= policy_ssthresh,
	.undo_cwnd	= policy_undo_cwnd,
	.cong_control	= policy_cong_control,
	.owner		= THIS_MODULE,
	.name		= "policy",
};

static int __init policy_register(void)
{
	return tcp_register_congestion_control(&policy_ops);
}

static void __exit policy_unregister(void)
{
	tcp_unregister_congestion_control(&policy_ops);
}

module_init(policy_register);
module_exit(policy_unregister);

MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("A learnt policy");
