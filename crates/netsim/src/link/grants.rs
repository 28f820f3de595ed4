//! Grants: packets that came down a line one by one leave it in bursts, as a cell, a cable modem or
//! a Wi-Fi station sends them.
//!
//! A grant comes a time after the packet that waits for it, or after the grant before it was used
//! up, and lets so many packets go at once; those that come while it is open go too. This is
//! netem's `slot`, step by step, since what is compared with it must not differ: the time to the
//! next grant begins anew whenever the first packet is due later than the grant, and netem looks
//! whenever a packet comes.
//!
//! Source: tc-netem(8), `slot`; the Linux kernel's behaviour as observed.

use crate::packet::Packet;
use std::collections::VecDeque;
use trammel_core::time::{Span, Time};

/// When packets may leave a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GrantSpec {
    /// From a packet, or from the grant before, to the grant.
    pub every: Span,
    /// Packets of a grant at most.
    pub packets: u32,
}

/// Packets that wait for a grant.
#[derive(Debug)]
pub(super) struct Grants {
    spec: GrantSpec,
    /// In the order of coming, each with the time at which it is due.
    waiting: VecDeque<(Time, Packet)>,
    /// When the grant opens, and the packets that it still lets go.
    opens: Time,
    left: u32,
    /// When the first packet may leave.
    wakes: Time,
}

impl Grants {
    pub(super) fn new(spec: GrantSpec) -> Grants {
        Grants {
            spec,
            waiting: VecDeque::new(),
            opens: Time::from_ps(1),
            left: spec.packets,
            wakes: Time::MAX,
        }
    }

    /// When there is something to do.
    pub(super) fn next(&self) -> Time {
        self.wakes
    }

    /// Packets that wait.
    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// A packet comes at `now`, which would leave the line at `due`; `leave` takes what leaves
    /// before or then.
    pub(super) fn come(
        &mut self,
        now: Time,
        due: Time,
        packet: Packet,
        leave: &mut impl FnMut(Time, &Packet),
    ) {
        while self.wakes < now {
            self.look(self.wakes, leave);
        }
        self.waiting.push_back((due, packet));
        self.look(now, leave);
    }

    /// Lets go what may leave at `now`.
    pub(super) fn look(&mut self, now: Time, leave: &mut impl FnMut(Time, &Packet)) {
        loop {
            let Some(&(due, _)) = self.waiting.front() else {
                self.wakes = Time::MAX;
                return;
            };
            if self.opens < due {
                self.open(now);
            }
            if due.max(self.opens) > now {
                self.wakes = due.max(self.opens);
                return;
            }
            if let Some((_, packet)) = self.waiting.pop_front() {
                leave(now, &packet);
            }
            self.left -= 1;
            if self.left == 0 {
                self.open(now);
            }
        }
    }

    fn open(&mut self, now: Time) {
        self.opens = now + self.spec.every;
        self.left = self.spec.packets;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets that come at `ms` to a line of `delay_ms`; when each leaves it, ms.
    fn leaving(delay_ms: u64, spec: GrantSpec, ms: &[u64]) -> Vec<u64> {
        let mut grants = Grants::new(spec);
        let mut all = Vec::new();
        let mut leave = |at: Time, _: &Packet| all.push(at.as_ms());
        for at in ms {
            let now = Time::from_ms(*at);
            grants.come(
                now,
                now + Span::from_ms(delay_ms),
                Packet::default(),
                &mut leave,
            );
        }
        while grants.next() < Time::MAX {
            grants.look(grants.next(), &mut leave);
        }
        assert_eq!(grants.len(), 0);
        all
    }

    #[test]
    fn packets_leave_together_and_no_more_than_a_grant_has() {
        let spec = GrantSpec {
            every: Span::from_ms(5),
            packets: 3,
        };
        // The first waits 5 ms; those that come meanwhile go with it, the fourth with the next.
        assert_eq!(leaving(0, spec, &[10, 11, 12, 13]), [15, 15, 15, 20]);
        // An open grant lets go what comes until it is used up or a packet is due after it.
        assert_eq!(leaving(0, spec, &[10, 30]), [15, 35]);
    }
}
