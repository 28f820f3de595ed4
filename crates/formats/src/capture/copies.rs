//! Frames that were captured more than once, as on all interfaces of a bridge.
//!
//! A segment that is sent again has another identification in its IPv4 header. A packet without one
//! (IPv6, or 0) is told by its timestamps alone, and those of data that are sent again may be the
//! same: only copies that come almost at once are passed over there, and only of data and SYNs.

use super::packet::Seen;
use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};
use trammel_tcp::segment::Flags;

/// How much later than the first a copy comes, at most.
const WITH_ID_NS: i64 = 10_000_000;
const WITHOUT_ID_NS: i64 = 20_000;
/// Packets of one connection that are remembered.
const REMEMBERED: usize = 64;

/// The last packets of a connection, hashed, and when they were seen.
#[derive(Clone, Debug, Default)]
pub(super) struct Copies {
    last: VecDeque<(u64, i64)>,
}

impl Copies {
    /// Whether `seen` was seen before.
    pub(super) fn is_copy(&mut self, seen: &Seen) -> bool {
        let segment = &seen.segment;
        // An answer to a SYN has no identification in Linux, and is sent again after a second.
        let is_syn = segment.flags.has(Flags::SYN);
        let within_ns = match seen.id {
            Some(_) => WITH_ID_NS,
            None if is_syn || (segment.options.timestamps && segment.len > 0) => WITHOUT_ID_NS,
            None => return false,
        };
        let mut hasher = DefaultHasher::new();
        (seen.from, seen.id, seen.ip_bytes, segment.flags.0).hash(&mut hasher);
        (segment.seq, segment.ack, segment.len, segment.window).hash(&mut hasher);
        (segment.ts_val, segment.ts_ecr).hash(&mut hasher);
        for block in segment.sack_blocks() {
            (block.start, block.end).hash(&mut hasher);
        }
        let hash = hasher.finish();
        let is_near = |at_ns: i64| seen.at_ns.abs_diff(at_ns) <= within_ns.unsigned_abs();
        let is_copy = |(known, at_ns): &(u64, i64)| *known == hash && is_near(*at_ns);
        if self.last.iter().any(is_copy) {
            return true;
        }
        if self.last.len() >= REMEMBERED {
            self.last.pop_front();
        }
        self.last.push_back((hash, seen.at_ns));
        false
    }
}
