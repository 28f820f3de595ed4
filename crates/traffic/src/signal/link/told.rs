//! What an end tells of a stream.

/// Numbers of one.
pub(super) const WORDS: usize = 19;

/// What an end tells of a stream: counts from the start on, and what holds at that moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// A sender's: bytes that were given to the kernel. A receiver's: bytes that it took, of UDP
    /// without copies.
    pub bytes: u64,
    /// Datagrams, the same way.
    pub packets: u64,
    /// A receiver's: datagrams that did not come, by the places of those that did.
    pub lost: u64,
    /// Further copies of datagrams.
    pub duplicates: u64,
    /// Datagrams that came after one that was sent later.
    pub reordered: u64,
    /// The jitter of RFC 3550 §6.4.1, in nanoseconds.
    pub jitter_ns: u64,
    /// One-way delays that were measured since the last time; at the end, of all.
    pub delays: u64,
    /// Their mean, in nanoseconds, by two clocks.
    pub delay_mean_ns: i64,
    /// The least.
    pub delay_min_ns: i64,
    /// The greatest.
    pub delay_max_ns: i64,
    /// A sender's: segments of TCP that were sent again.
    pub retransmitted: u64,
    /// Its congestion window, in bytes.
    pub cwnd_bytes: u64,
    /// The window that its receiver offers, in bytes.
    pub window_bytes: u64,
    /// The smoothed round trip, in microseconds.
    pub rtt_us: u64,
    /// Its deviation.
    pub rttvar_us: u64,
    /// The least round trip of late.
    pub min_rtt_us: u64,
    /// The path's MTU.
    pub pmtu: u64,
    /// Processor time that the end's whole program has taken, in nanoseconds.
    pub cpu_ns: u64,
    /// 1 where the stream ended before its time.
    pub broken: u64,
}

impl Told {
    pub(crate) fn words(&self) -> [u64; WORDS] {
        [
            self.bytes,
            self.packets,
            self.lost,
            self.duplicates,
            self.reordered,
            self.jitter_ns,
            self.delays,
            self.delay_mean_ns.cast_unsigned(),
            self.delay_min_ns.cast_unsigned(),
            self.delay_max_ns.cast_unsigned(),
            self.retransmitted,
            self.cwnd_bytes,
            self.window_bytes,
            self.rtt_us,
            self.rttvar_us,
            self.min_rtt_us,
            self.pmtu,
            self.cpu_ns,
            self.broken,
        ]
    }

    pub(crate) fn of_words(words: [u64; WORDS]) -> Told {
        Told {
            bytes: words[0],
            packets: words[1],
            lost: words[2],
            duplicates: words[3],
            reordered: words[4],
            jitter_ns: words[5],
            delays: words[6],
            delay_mean_ns: words[7].cast_signed(),
            delay_min_ns: words[8].cast_signed(),
            delay_max_ns: words[9].cast_signed(),
            retransmitted: words[10],
            cwnd_bytes: words[11],
            window_bytes: words[12],
            rtt_us: words[13],
            rttvar_us: words[14],
            min_rtt_us: words[15],
            pmtu: words[16],
            cpu_ns: words[17],
            broken: words[18],
        }
    }
}
