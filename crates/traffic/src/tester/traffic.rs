//! What is sent in one direction: streams of test frames, their addresses and sizes.
//!
//! Addresses are those of RFC 2544, appendix C.2.2, and RFC 5180, §8, unless others are asked for:
//! the device's input side is 198.18.0.0/16 (2001:2::/49), its output side 198.19.0.0/16
//! (2001:2:0:8000::/49); the tester is node 2 of each network.

use super::frame;
use crate::addresses::{Addresses, Side};
use std::net::Ipv4Addr;
use trammel_core::time::Span;
use trammel_io::error::{Error, Result};

/// Streams of a direction, at most.
pub const MOST_STREAMS: usize = 255;
/// Flows of a direction, at most.
pub const MOST_FLOWS: u32 = 1 << 16;

/// Test frames that are counted together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream {
    /// How many frames of a turn of all streams are its: at least 1.
    pub share: u32,
    /// Sizes of its frames, taken in turn, check sequence included: one, or those of a genome (RFC
    /// 6985).
    pub sizes: Vec<u16>,
    /// How many flows it has, of which each walks by itself through sources, destinations and
    /// source ports; at least 1.
    pub flows: u32,
    /// Where its frames come from.
    pub from: Addresses,
    /// Where they go.
    pub to: Addresses,
    /// Ports of UDP that they come from, upwards from [`frame::SOURCE_PORT`]; at least 1.
    pub source_ports: u16,
    /// The byte of differentiated services (RFC 2474).
    pub ds: u8,
}

impl Stream {
    /// Frames of `sizes` from one node of the input side to one node of each of `networks` of the
    /// output side, or, for [`Side::Output`], the other way.
    pub fn of_rfc2544(from: Side, is_ipv6: bool, networks: u32, sizes: &[u16]) -> Stream {
        let to = if from == Side::Input {
            Side::Output
        } else {
            Side::Input
        };
        Stream {
            share: 1,
            sizes: sizes.to_vec(),
            flows: networks.max(1),
            from: Addresses::nodes(from, is_ipv6, 1),
            to: Addresses::nodes(to, is_ipv6, networks.max(1)),
            source_ports: 1,
            ds: 0,
        }
    }

    /// Whether it is of IPv6.
    pub fn is_ipv6(&self) -> bool {
        self.to.first.is_ipv6()
    }
}

/// Frames that follow each other closely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bursts {
    /// How many are together; at least 1.
    pub frames: u32,
    /// From the first bit of one to that of the next: at the least, what a frame and the gap behind
    /// it take of the medium.
    pub gap: Span,
}

/// What is sent in one direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traffic {
    /// Its streams, up to [`MOST_STREAMS`], of [`MOST_FLOWS`] flows in all.
    pub streams: Vec<Stream>,
    /// The seed by which a stream's flows are drawn; without one they are taken in turn.
    //= rfc2544 §12
    //# the addresses SHOULD be random and uniformly distributed over a range of
    //# 256 networks
    pub drawn: Option<u64>,
    /// The bursts in which frames are due; without them, they are due at even distances. The mean
    /// rate is the same.
    //= rfc2544 §21
    //# The frames within a burst are transmitted with the minimum legitimate inter-frame gap.
    pub bursts: Option<Bursts>,
    /// Whether every 100th frame is one to all stations instead.
    //= rfc2544 §11.1
    //# The stream of test frames SHOULD be augmented
    //# with 1% frames addressed to the hardware broadcast address.
    pub broadcasts: bool,
    /// The device's address that is asked for its counters by SNMP, before the first frame of each
    /// second.
    //= rfc2544 §11.2
    //# The stream of test frames SHOULD be augmented with one management
    //# query as the first frame sent each second during the duration of the
    //# trial.
    pub queries: Option<Ipv4Addr>,
    /// Whether routing updates are sent beside the frames, as RIP: six networks in two states by
    /// turns.
    //= rfc2544 §11.3
    //# The stream of test frames SHOULD be augmented with one routing update
    //# frame transmitted as the first frame transmitted during the trial.
    pub updates: bool,
}

impl Traffic {
    /// One stream, nothing beside it; its flows are drawn by seed 1, where it has many.
    pub fn of(stream: Stream) -> Traffic {
        Traffic {
            drawn: (stream.flows > 1).then_some(1),
            streams: vec![stream],
            bursts: None,
            broadcasts: false,
            queries: None,
            updates: false,
        }
    }

    /// Refuses what cannot be sent with tags or without: the first thing that is wrong.
    pub fn check(&self, is_tagged: bool) -> Result<()> {
        let refuse = |what: String| Err(Error::Invalid(what));
        if self.streams.is_empty() || self.streams.len() > MOST_STREAMS {
            return refuse(format!(
                "{} streams: 1 to {MOST_STREAMS} are sent",
                self.streams.len()
            ));
        }
        if self.bursts.is_some_and(|bursts| bursts.frames == 0) {
            return refuse("bursts of 0 frames: at least 1 is sent".to_owned());
        }
        let flows: u64 = self.streams.iter().map(|one| u64::from(one.flows)).sum();
        if flows > u64::from(MOST_FLOWS) {
            return refuse(format!("{flows} flows: at most {MOST_FLOWS} are sent"));
        }
        for (number, stream) in self.streams.iter().enumerate() {
            if stream.share == 0
                || stream.share > 1000
                || stream.flows == 0
                || stream.source_ports == 0
            {
                return refuse(format!(
                    "stream {number}: a share of {} (1 to 1000), {} flows from {} ports (at least \
                     1)",
                    stream.share, stream.flows, stream.source_ports
                ));
            }
            if stream.from.first.is_ipv6() != stream.is_ipv6() {
                return refuse(format!(
                    "stream {number}: from {} to {} are two versions of IP",
                    stream.from.first, stream.to.first
                ));
            }
            let least = frame::least_bytes(stream.is_ipv6(), is_tagged);
            let wrong = stream
                .sizes
                .iter()
                .find(|size| !(least..=frame::MOST_BYTES).contains(size));
            if let Some(size) = wrong {
                return refuse(format!(
                    "stream {number}: frames of {size} bytes; such headers and a signature take \
                     {least} to {} with the check sequence",
                    frame::MOST_BYTES
                ));
            }
            if stream.sizes.is_empty() {
                return refuse(format!("stream {number}: no size of frames"));
            }
        }
        Ok(())
    }

    /// Bytes of its longest frame, check sequence included.
    pub fn longest(&self) -> u16 {
        let sizes = self.streams.iter().flat_map(|stream| &stream.sizes);
        sizes.copied().max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_sent_is_refused() {
        let good = Stream::of_rfc2544(Side::Input, false, 1, &[64, 1518]);
        assert!(Traffic::of(good.clone()).check(false).is_ok());
        let refused = |change: &dyn Fn(&mut Stream), is_tagged| {
            let mut stream = good.clone();
            change(&mut stream);
            Traffic::of(stream)
                .check(is_tagged)
                .expect_err("it is wrong")
                .to_string()
        };
        assert!(refused(&|_| {}, true).contains("64 bytes"));
        assert!(refused(&|one| one.sizes.clear(), false).contains("no size"));
        assert!(refused(&|one| one.flows = 65_537, false).contains("at most 65536"));
        assert!(refused(&|one| one.share = 0, false).contains("a share of 0"));
        let to = Addresses::nodes(Side::Output, true, 1);
        assert!(refused(&|one| one.to = to, false).contains("two versions"));
    }
}
