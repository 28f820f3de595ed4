/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * trammel.h - congestion controls of your own, in C or any language that speaks C's calls.
 *
 * Build a shared object that defines `trammel_congestion_control`, and name it in a scenario:
 *
 *     cc -shared -fPIC -O2 -o libmine.so mine.c        # trammel.h beside it: `trammel header`
 *
 *     [[flow]]
 *     variant = { library = "libmine.so" }
 *
 * The hooks have the names and the order of Linux's `struct tcp_congestion_ops`. Windows are whole
 * segments, times whole microseconds, rates bytes per second. A hook may keep no pointer that it was
 * given, may not read a clock, and draws randomness only by `trammel_host.below`, so that a run
 * stays the same for the same seed. Each flow has an object of its own; several flows may run in
 * several threads, so a hook shares nothing between objects.
 */
#ifndef TRAMMEL_H
#define TRAMMEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface. A library of another version is refused. */
#define TRAMMEL_ABI 1

/* `snd_ssthresh` before the first loss. */
#define TRAMMEL_INFINITE_SSTHRESH 0x7fffffffu

/* States of recovery (`enum tcp_ca_state`). */
enum trammel_ca_state {
    TRAMMEL_CA_OPEN,
    TRAMMEL_CA_DISORDER,
    TRAMMEL_CA_CWR,
    TRAMMEL_CA_RECOVERY,
    TRAMMEL_CA_LOSS
};

/* Events (`enum tcp_ca_event`). */
enum trammel_ca_event {
    TRAMMEL_EVENT_TX_START,
    TRAMMEL_EVENT_CWND_RESTART,
    TRAMMEL_EVENT_COMPLETE_CWR,
    TRAMMEL_EVENT_LOSS,
    TRAMMEL_EVENT_ECN_NO_CE,
    TRAMMEL_EVENT_ECN_IS_CE,
    TRAMMEL_EVENT_TAIL_LOSS_REPAIRED
};

/* What a congestion control asks of the stack. Needs of accurate ECN include those of ECN. */
enum trammel_flags {
    TRAMMEL_NEEDS_ECN = 1,        /* TCP_CONG_NEEDS_ECN */
    TRAMMEL_NEEDS_ACCURATE_ECN = 2, /* marks are counted one by one (RFC 9768) */
    TRAMMEL_SENDS_ECT1 = 4        /* ECT(1), as a scalable sender (RFC 9331) */
};

/* The sender's state, by the kernel's names. What a hook writes into the first group counts; the
 * rest is for reading. */
struct trammel_tp {
    uint64_t pacing_rate;         /* bytes/s; UINT64_MAX without a limit */
    uint32_t snd_cwnd;            /* congestion window, segments, at least 1 */
    uint32_t snd_cwnd_cnt;        /* segments counted towards the next increase */
    uint32_t snd_cwnd_clamp;      /* upper bound of snd_cwnd */
    uint32_t snd_ssthresh;        /* slow-start threshold, segments */
    uint32_t pacing;              /* 1: segments are paced */

    uint32_t ca_state;            /* enum trammel_ca_state */
    uint64_t now_us;              /* time of the event, us */
    uint64_t delivered;           /* segments delivered so far */
    uint64_t delivered_ce;        /* of these, reported with ECN-Echo */
    uint64_t delivered_mstamp_us; /* when `delivered` last grew */
    uint64_t lost;                /* segments ever marked lost */
    uint64_t app_limited;         /* `delivered` at which application limits end; 0: not limited */
    uint64_t bytes_acked;         /* payload bytes acknowledged */
    uint64_t lsndtime_us;         /* when data was last sent */
    uint32_t prior_cwnd;          /* snd_cwnd before the last reduction */
    uint32_t packets_out;         /* segments sent and not acknowledged */
    uint32_t sacked_out;          /* of these, SACKed */
    uint32_t lost_out;            /* of these, held for lost */
    uint32_t retrans_out;         /* retransmissions in flight */
    uint32_t max_packets_out;     /* most outstanding in the last window */
    uint32_t snd_una;             /* first unacknowledged sequence number */
    uint32_t snd_nxt;             /* next sequence number */
    uint32_t mss;                 /* payload bytes of a full segment */
    uint32_t srtt_us;             /* smoothed round trip, us * 8; 0 before a sample */
    uint32_t min_rtt_us;          /* UINT32_MAX before a sample */
    uint32_t hz;                  /* ticks per second of the kernel's clock */
    uint32_t ecn_ok;              /* 1: ECN was negotiated */
    uint32_t is_cwnd_limited;     /* 1: the window limits the flow, so it may grow */

    void *host;                   /* Trammel's own; for the functions of trammel_host */
};

/* Properties of an ACK, for `pkts_acked` (`struct ack_sample`). */
struct trammel_ack_sample {
    uint32_t pkts_acked;
    int32_t rtt_us;               /* negative without a sample */
    uint32_t in_flight;
};

/* A delivery-rate sample, for `cong_control` (`struct rate_sample`). */
struct trammel_rate_sample {
    uint64_t prior_mstamp_us;
    uint64_t prior_delivered;
    int64_t delivered;            /* negative without a sample */
    int64_t delivered_ce;
    int64_t interval_us;          /* negative without a sample */
    int64_t rtt_us;               /* negative without one */
    uint32_t losses;
    uint32_t acked_sacked;
    uint32_t prior_in_flight;
    uint32_t is_app_limited;
    uint32_t is_retrans;
    uint32_t is_ack_delayed;
    uint32_t tx_in_flight;        /* in flight when the sampled segment was sent; needs `lost` */
    uint32_t lost;                /* marked lost since then; needs `lost` */
};

/* A segment newly marked lost, for `lost`. */
struct trammel_lost_segment {
    uint32_t seq;                 /* its first sequence number */
    uint32_t end;                 /* the first after it */
    uint32_t tx_in_flight;        /* in flight when it was last sent, itself included */
    uint32_t lost;                /* marked lost since then, itself included */
    uint32_t is_app_limited;
};

/* A parameter, set by `params = { name = value }` in the scenario. */
struct trammel_param {
    const char *name;
    double fallback;              /* where the scenario gives none */
    double least, most;           /* both included */
    const char *help;             /* one line */
};

/* A variable for traces. */
struct trammel_variable {
    const char *name;             /* lives as long as the library */
    double value;
};

/* A congestion control. `ssthresh` is required, and `cong_avoid` or `cong_control`; the other
 * hooks may be NULL. `object` is what `create` returned. */
struct trammel_cc {
    uint32_t abi;                 /* TRAMMEL_ABI */
    uint32_t tp_bytes;            /* sizeof(struct trammel_tp) */
    const char *name;             /* as in a scenario: a-z, 0-9, `-` and `_` */
    const char *summary;          /* one line */
    const struct trammel_param *params;
    size_t n_params;
    uint32_t flags;               /* of enum trammel_flags, added up */

    /* An object for one flow; `values` has n_params numbers. NULL ends the run with a message. */
    void *(*create)(const double *values);
    void (*destroy)(void *object);

    void (*init)(void *object, struct trammel_tp *tp);
    uint32_t (*ssthresh)(void *object, struct trammel_tp *tp);
    void (*cong_avoid)(void *object, struct trammel_tp *tp, uint32_t ack, uint32_t acked);
    void (*set_state)(void *object, struct trammel_tp *tp, uint32_t state);
    void (*cwnd_event)(void *object, struct trammel_tp *tp, uint32_t event);
    void (*pkts_acked)(void *object, struct trammel_tp *tp, const struct trammel_ack_sample *sample);
    uint32_t (*undo_cwnd)(void *object, struct trammel_tp *tp);
    void (*cong_control)(void *object, struct trammel_tp *tp, const struct trammel_rate_sample *rs);
    /* Each segment that is newly marked lost. With this hook the stack keeps for each segment what
     * was in flight with it. */
    void (*lost)(void *object, struct trammel_tp *tp, const struct trammel_lost_segment *segment);
    /* Fills at most `room` variables; returns how many. Their number and names never change. */
    size_t (*observe)(const void *object, struct trammel_variable *variables, size_t room);
};

/* What Trammel offers to hooks. Each takes the `tp` of the hook that calls it. */
struct trammel_host {
    uint32_t abi;
    /* Slow start over `acked` segments; returns those left for congestion avoidance. */
    uint32_t (*slow_start)(struct trammel_tp *tp, uint32_t acked);
    /* One segment more for every `w` of `acked`. */
    void (*cong_avoid_ai)(struct trammel_tp *tp, uint32_t w, uint32_t acked);
    /* Reno's growth, whole. */
    void (*reno_cong_avoid)(struct trammel_tp *tp, uint32_t acked);
    /* A random number below `n` from the flow's own stream; 0 if `n` is 0. */
    uint64_t (*below)(struct trammel_tp *tp, uint64_t n);
};

/* What the library defines. Called once, when it is loaded; what it returns and all that hangs on
 * it stays valid. NULL refuses. */
const struct trammel_cc *trammel_congestion_control(const struct trammel_host *host);

#ifdef __cplusplus
}
#endif

#endif
