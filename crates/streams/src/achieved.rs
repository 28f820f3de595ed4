//! What a sender and a receiver on one path reach, with a stream at equal gaps: wanted, and
//! achieved.

use trammel_stats::table::Cell;
use trammel_stats::table::CellType::{self, Float, Int};
use trammel_traffic::record::Protocol;

/// A stream at equal gaps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wanted {
    /// What carries it: UDP, or messages in TCP.
    pub protocol: Protocol,
    /// Bytes of each payload.
    pub bytes: u32,
    /// Packets a second.
    pub pps: f64,
    /// For how long.
    pub seconds: f64,
}

/// What came of it. What a program does not tell is `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Achieved {
    /// Bytes of a payload as they came: a generator may need more room than was asked for.
    pub bytes: Option<f64>,
    /// Packets that were sent.
    pub sent_pkts: u64,
    /// Packets a second that were sent: gaps by the time from the first to the last, and of ours no
    /// shorter than planned.
    pub sent_pps: Option<f64>,
    /// Packets that were received.
    pub received_pkts: u64,
    /// Packets a second that arrived: the sender's rate less what was lost. The receiver's own
    /// clock would count how late the first packet was, which with the first of a connection is
    /// milliseconds.
    pub pps: Option<f64>,
    /// Packets that were sent and not received.
    pub lost_pkts: u64,
    /// Of these, those that the receiver's buffers had no room for.
    pub receiver_lost_pkts: Option<u64>,
    /// Packets that were overdue when they were sent: where there are any, the sender was the
    /// limit.
    pub overdue_pkts: Option<u64>,
    /// How late packets were handed to the kernel, in microseconds: the median and the 99th
    /// percentile.
    pub late_us: Option<(f64, f64)>,
    /// The mean one-way delay, in microseconds.
    pub delay_us: Option<f64>,
    /// The mean difference of the delays of neighbours, in microseconds.
    pub jitter_us: Option<f64>,
}

/// A rate from a count of packets and the time from the first to the last.
pub fn rate(packets: u64, seconds: f64) -> Option<f64> {
    (packets > 1 && seconds > 0.0).then(|| (packets - 1) as f64 / seconds)
}

/// A column of [`Achieved`]: its name, its type and its value.
type Column = (&'static str, CellType, fn(&Achieved) -> Cell);

/// All of them.
pub const COLUMNS: &[Column] = &[
    ("payload_bytes", Float, |a| a.bytes.into()),
    ("sent_pkts", Int, |a| a.sent_pkts.into()),
    ("sent_pps", Float, |a| a.sent_pps.into()),
    ("received_pkts", Int, |a| a.received_pkts.into()),
    ("achieved_pps", Float, |a| a.pps.into()),
    ("achieved_mbps", Float, |a| a.mbps().into()),
    ("lost_pkts", Int, |a| a.lost_pkts.into()),
    ("lost_percent", Float, |a| a.lost_percent().into()),
    ("receiver_lost_pkts", Int, |a| a.receiver_lost_pkts.into()),
    ("overdue_pkts", Int, |a| a.overdue_pkts.into()),
    ("late_p50_us", Float, |a| {
        a.late_us.map(|late| late.0).into()
    }),
    ("late_p99_us", Float, |a| {
        a.late_us.map(|late| late.1).into()
    }),
    ("delay_mean_us", Float, |a| a.delay_us.into()),
    ("jitter_mean_us", Float, |a| a.jitter_us.into()),
];

impl Achieved {
    /// Megabits of payload a second.
    pub fn mbps(&self) -> Option<f64> {
        Some(self.pps? * self.bytes? * 8.0 / 1e6)
    }

    /// Percent of what was sent that was lost.
    pub fn lost_percent(&self) -> Option<f64> {
        (self.sent_pkts > 0).then(|| 100.0 * self.lost_pkts as f64 / self.sent_pkts as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_of_gaps_and_one_packet_has_none() {
        assert_eq!(rate(101, 1.0), Some(100.0));
        assert_eq!(rate(1, 1.0), None);
        assert_eq!(rate(2, 0.0), None);
        let achieved = Achieved {
            bytes: Some(1250.0),
            pps: Some(1000.0),
            sent_pkts: 200,
            lost_pkts: 1,
            ..Achieved::default()
        };
        assert_eq!(
            (achieved.mbps(), achieved.lost_percent()),
            (Some(10.0), Some(0.5))
        );
    }
}
