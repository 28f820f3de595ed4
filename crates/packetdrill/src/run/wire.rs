//! Between a script's notation and our segments: sequence numbers, timestamps, the layout of
//! options.
//!
//! Sequence numbers in a script are relative to the initial ones; only SYNs bring their own, and
//! what acknowledges a SYN in another counts from it.
//! Our timestamps are whatever our clock says: the first value that a script expects fixes what it
//! calls by that name, so that an echo of it can be given back to us.

use crate::script::{SegmentLine, TcpOption};
use std::iter;
use trammel_tcp::segment::{Ecn, Flags, Options, SackBlock, Segment};

/// What relates one connection's segments to the script's.
#[derive(Clone, Debug, Default)]
pub(super) struct Wire {
    /// Our initial sequence number.
    pub(super) local: u32,
    /// What the script calls our initial sequence number.
    local_name: u32,
    /// The script's initial sequence number.
    remote: u32,
    /// Our timestamp values: what the script calls them, and what they are.
    stamps: Vec<(u32, u32)>,
}

impl Wire {
    pub(super) fn new(local: u32) -> Wire {
        Wire {
            local,
            ..Wire::default()
        }
    }

    /// The segment that a line of a script stands for, on its way to us.
    pub(super) fn inbound(&mut self, line: &SegmentLine) -> Segment {
        let is_syn = line.flags.has(Flags::SYN);
        if is_syn {
            self.remote = line.seq;
        }
        let mut segment = Segment {
            seq: if is_syn {
                line.seq
            } else {
                self.remote.wrapping_add(line.seq)
            },
            len: line.len,
            window: line.window.unwrap_or(0),
            flags: line.flags,
            ecn: line.ecn.unwrap_or(Ecn::NotEct),
            ..Segment::default()
        };
        if line.flags.has(Flags::ACK) {
            let name = if is_syn { self.local_name } else { 0 };
            let ack = line.ack.unwrap_or(0).wrapping_sub(name);
            segment.ack = self.local.wrapping_add(ack);
        }
        for option in line.options.iter().flatten() {
            self.inbound_option(option, &mut segment);
        }
        for option in line.options.iter().flatten() {
            if let TcpOption::AccEcn(option) = option {
                segment.set_accecn(*option);
            }
        }
        segment
    }

    fn inbound_option(&self, option: &TcpOption, segment: &mut Segment) {
        match option {
            // The counters of accurate ECN go in after the others.
            TcpOption::Nop | TcpOption::Eol | TcpOption::AccEcn(_) => {}
            TcpOption::Mss(mss) => segment.mss = *mss,
            TcpOption::WindowScale(shift) => {
                segment.options.wscale_plus_1 = shift.saturating_add(1);
            }
            TcpOption::SackPermitted => segment.options.sack_permitted = true,
            TcpOption::Sack(blocks) => {
                for (place, (start, end)) in segment.sack.iter_mut().zip(blocks) {
                    *place = SackBlock {
                        start: self.local.wrapping_add(*start),
                        end: self.local.wrapping_add(*end),
                    };
                }
                segment.sack_count = blocks.len().min(segment.sack.len()) as u8;
            }
            TcpOption::Timestamps(value, echo) => {
                segment.options.timestamps = true;
                segment.ts_val = *value;
                let known = self.stamps.iter().rev().find(|(script, _)| script == echo);
                segment.ts_ecr = known.map_or(*echo, |(_, ours)| *ours);
            }
        }
    }

    /// One of our segments in the script's notation.
    pub(super) fn outbound(&self, segment: &Segment) -> SegmentLine {
        let has_ack = segment.flags.has(Flags::ACK);
        let (local_name, remote) = if segment.flags.has(Flags::SYN) {
            (self.local_name, 0)
        } else {
            (0, self.remote)
        };
        SegmentLine {
            ecn: (segment.ecn != Ecn::NotEct).then_some(segment.ecn),
            flags: segment.flags,
            seq: segment
                .seq
                .wrapping_sub(self.local)
                .wrapping_add(local_name),
            len: segment.len,
            ack: has_ack.then(|| segment.ack.wrapping_sub(remote)),
            window: Some(segment.window),
            options: Some(self.layout(segment)),
        }
    }

    /// The options of one of our segments as Linux lays them out: timestamps beside SACK-permitted
    /// or after two NOPs, SACK blocks after two NOPs, a window scale after one. The AccECN option
    /// stands behind the timestamps; its last bytes take the place of NOPs.
    fn layout(&self, segment: &Segment) -> Vec<TcpOption> {
        use TcpOption::{Nop, SackPermitted, WindowScale};
        let Options {
            timestamps,
            sack_permitted,
            wscale_plus_1,
        } = segment.options;
        let mut options = Vec::new();
        if segment.mss != 0 {
            options.push(TcpOption::Mss(segment.mss));
        }
        match (timestamps, sack_permitted) {
            (true, true) => options.push(SackPermitted),
            (true, false) => options.extend([Nop, Nop]),
            (false, _) => {}
        }
        if timestamps {
            let value = self.stamp_of(segment.ts_val);
            options.push(TcpOption::Timestamps(value, segment.ts_ecr));
        }
        // Bytes beyond the last whole word.
        let mut over = 0;
        if let Some(option) = segment.accecn() {
            options.push(TcpOption::AccEcn(option));
            over = (2 + 3 * usize::from(option.count)) % 4;
        }
        let before_half_word = |over: usize| iter::repeat_n(Nop, (6 - over) % 4);
        if sack_permitted && !timestamps {
            options.extend(before_half_word(over));
            options.push(SackPermitted);
            over = 0;
        }
        if segment.sack_count == 0 {
            options.extend(iter::repeat_n(Nop, (4 - over) % 4));
        }
        if let Some(shift) = wscale_plus_1.checked_sub(1) {
            options.extend([Nop, WindowScale(shift)]);
        }
        if segment.sack_count > 0 {
            let blocks = segment.sack_blocks().iter().map(|block| {
                let relative = |seq: u32| seq.wrapping_sub(self.remote);
                (relative(block.start), relative(block.end))
            });
            options.extend(before_half_word(over));
            options.push(TcpOption::Sack(blocks.collect()));
        }
        options
    }

    /// What the script would call one of our timestamps: as far after the first one that it named.
    fn stamp_of(&self, ours: u32) -> u32 {
        match self.stamps.first() {
            Some((script, first)) => script.wrapping_add(ours.wrapping_sub(*first)),
            None => ours,
        }
    }

    /// The script calls our initial sequence number `name`.
    pub(super) fn name_sequence(&mut self, name: u32) {
        self.local_name = name;
    }

    /// Whether the script has named no timestamp of ours yet.
    pub(super) fn is_unnamed(&self) -> bool {
        self.stamps.is_empty()
    }

    /// The script calls our timestamp `ours` by the name `script`.
    pub(super) fn name_stamp(&mut self, script: u32, ours: u32) {
        self.stamps.push((script, ours));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::{Action, Script};

    fn line(text: &str) -> SegmentLine {
        match Script::read(text).unwrap().events.remove(0).action {
            Action::Inject(line) | Action::Expect(line) => line,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn numbers_are_relative_to_the_initial_ones() {
        let mut wire = Wire::new(7000);
        let syn = wire.inbound(&line("0 < S 500:500(0) win 9 <mss 1000,wscale 7>"));
        assert_eq!(
            (syn.seq, syn.mss, syn.options.wscale_plus_1),
            (500, 1000, 8)
        );
        let data = wire.inbound(&line("0 < . 1:11(10) ack 3 win 9 <sack 5:7,nop>"));
        assert_eq!((data.seq, data.ack), (501, 7003));
        assert_eq!(
            data.sack_blocks(),
            [SackBlock {
                start: 7005,
                end: 7007
            }]
        );
        let ours = Segment {
            seq: 7003,
            ack: 511,
            flags: Flags::ACK,
            ..Segment::default()
        };
        assert_eq!(wire.outbound(&ours).to_string(), ". 3:3(0) ack 11 win 0");
        wire.name_sequence(40);
        let ours = Segment {
            seq: 7000,
            ack: 501,
            flags: Flags::SYN.with(Flags::ACK),
            ..Segment::default()
        };
        assert_eq!(
            wire.outbound(&ours).to_string(),
            "S. 40:40(0) ack 501 win 0"
        );
        let syn = wire.inbound(&line("0 < S. 500:500(0) ack 41 win 9"));
        assert_eq!(syn.ack, 7001);
    }

    #[test]
    fn an_echo_of_a_stamp_is_an_echo_of_ours() {
        let mut wire = Wire::new(0);
        wire.name_stamp(100, 40_000);
        let echo = wire.inbound(&line("0 < . 1:1(0) ack 1 win 9 <nop,nop,TS val 7 ecr 100>"));
        assert_eq!((echo.ts_val, echo.ts_ecr), (7, 40_000));
        let ours = Segment {
            ts_val: 40_030,
            ts_ecr: 7,
            options: Options {
                timestamps: true,
                ..Options::default()
            },
            ..Segment::default()
        };
        let options = vec![
            TcpOption::Nop,
            TcpOption::Nop,
            TcpOption::Timestamps(130, 7),
        ];
        assert_eq!(wire.outbound(&ours).options, Some(options));
    }
}
