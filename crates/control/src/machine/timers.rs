//! What falls due: entries that die, requests that are repeated, next hops that are given up.

use super::Machine;
use super::ping::Outcome;
use crate::arp::waiting::Due;
use crate::counters::Counter;
use crate::ip::icmp;
use core::net::Ipv4Addr;
use trammel_core::Time;
use trammel_packet::headers::icmp::{kind, unreachable};
use trammel_packet::headers::ipv4::Ipv4;

impl Machine {
    /// When something falls due.
    pub(crate) fn next_timeout(&self) -> Option<Time> {
        let all = [
            self.cache.next_timeout(),
            self.waiting.next_timeout(),
            self.pings.next_timeout(),
            self.hand_over_at(),
        ];
        all.into_iter().flatten().min()
    }

    /// Moves to `now`, or stays where that is earlier, and does what has fallen due.
    pub(crate) fn advance(&mut self, now: Time) {
        self.now = self.now.max(now);
        if self.next_timeout().is_none_or(|at| at > self.now) {
            return;
        }
        self.stale_neighbours |= self.cache.expire(self.now);
        while let Some((address, entry)) = self.cache.poll(self.now) {
            self.poll(address, &entry);
        }
        for due in self.waiting.due(self.now) {
            match due {
                Due::Request(hop) => self.request(hop),
                Due::GivenUp(packets) => {
                    for packet in packets {
                        self.give_up(&packet);
                    }
                }
            }
        }
        self.pings.expire(self.now);
    }

    /// A packet's next hop did not answer.
    fn give_up(&mut self, packet: &[u8]) {
        self.counters.event(Counter::ArpUnresolved, 1);
        let Some(ip) = Ipv4::read(packet) else {
            return;
        };
        if !self.owns(Ipv4Addr::from(ip.src)) {
            self.error(kind::UNREACHABLE, unreachable::HOST, packet);
        } else if let Some((ip, identifier, _)) = icmp::quoted_echo(packet) {
            self.pings
                .failed(identifier, ip.dst.into(), Outcome::Unresolved);
        }
    }

    /// An echo request that ended: its number and destination.
    pub(crate) fn poll_ping(&mut self) -> Option<(u64, Ipv4Addr, Outcome)> {
        self.pings.poll()
    }
}
