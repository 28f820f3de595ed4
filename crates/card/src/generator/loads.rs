//! From a capture to the frames of a port and their gaps.

use std::io::Read;
use trammel_core::{Rate, Span, TxTime};
use trammel_packet::capture::Reader;
use trammel_packet::capture::link::LinkType;

/// The longest frame that a host interface takes, without FCS.
const LONGEST_BYTES: usize = 1514;
/// The shortest frame of Ethernet without FCS: the card pads to it.
const SHORTEST_BYTES: usize = 60;
/// FCS, preamble, start delimiter and the gap between two frames (IEEE 802.3).
const AROUND_BYTES: usize = 4 + 8 + 12;
/// The longest gap that the register holds.
const LONGEST_GAP: Span = Span::from_ns(u32::MAX as u64);

/// A frame, and how long after its start the next begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Load {
    /// The frame from its destination on, without FCS.
    pub frame: Vec<u8>,
    /// Whole nanoseconds below 2³².
    pub gap: Span,
}

/// Where the gaps come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gaps {
    /// From the time stamps; that of the last frame is as the one before.
    Captured,
    /// All are the same; what the line needs where that is longer.
    Fixed(Span),
    /// So that this rate comes out, with FCS, preamble and the gap between frames.
    Rate(Rate),
}

/// The frames of a capture, pcap or pcapng, with their gaps.
///
/// # Errors
/// What is wrong with the capture, by the number of the frame from 1.
pub fn loads(capture: impl Read + Send + 'static, gaps: Gaps) -> Result<Vec<Load>, String> {
    let mut capture = Reader::new(capture).map_err(|why| why.to_string())?;
    let (mut loads, mut times) = (Vec::new(), Vec::new());
    while let Some(frame) = capture.next_frame().map_err(|why| why.to_string())? {
        let number = loads.len() + 1;
        if frame.link != LinkType::EN10MB {
            return Err(format!("frame {number} is not Ethernet"));
        }
        let bytes = frame.data.len();
        if frame.wire_len as usize > bytes {
            return Err(format!(
                "frame {number} has {bytes} of its {} bytes: capture whole frames",
                frame.wire_len
            ));
        }
        if !(14..=LONGEST_BYTES).contains(&bytes) {
            return Err(format!(
                "frame {number} has {bytes} bytes: the card takes 14 to {LONGEST_BYTES} without \
                 FCS"
            ));
        }
        times.push(frame.timestamp.0);
        loads.push(Load {
            frame: frame.data.to_vec(),
            gap: Span::ZERO,
        });
    }
    if loads.is_empty() {
        return Err("the capture has no frame".to_owned());
    }
    // Of the gaps that a rate gives, the parts of nanoseconds that are left over.
    let mut rest = Span::ZERO;
    for n in 0..loads.len() {
        let gap = match gaps {
            Gaps::Fixed(gap) => gap,
            Gaps::Rate(rate) => {
                let bytes = loads[n].frame.len().max(SHORTEST_BYTES) + AROUND_BYTES;
                rest.saturating_add(TxTime::new(rate).of(bytes as u64))
            }
            Gaps::Captured => match times.get(n + 1) {
                Some(next) => between(times[n], *next, n + 2)?,
                None => n
                    .checked_sub(1)
                    .map_or(Span::ZERO, |before| loads[before].gap),
            },
        };
        if gap > LONGEST_GAP {
            return Err(format!(
                "frame {} would be followed by the next after {gap}: the longest gap is \
                 {LONGEST_GAP}",
                n + 1
            ));
        }
        loads[n].gap = Span::from_ns(gap.as_ns());
        rest = gap.saturating_sub(loads[n].gap);
    }
    Ok(loads)
}

fn between(time: i64, next: i64, number: usize) -> Result<Span, String> {
    let gap = u64::try_from(next.saturating_sub(time)).map_err(|_| {
        format!("frame {number} is older than the one before: give the gaps by a rate")
    })?;
    Ok(Span::from_ns(gap.min(LONGEST_GAP.as_ns() + 1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_packet::capture::{Sink, pcap};
    use trammel_packet::timestamp::Timestamp;

    /// A capture of frames of these bytes at these nanoseconds.
    fn capture(frames: &[(usize, u32)]) -> std::fs::File {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c.pcap");
        let sink = Sink::plain(std::fs::File::create(&path).unwrap());
        let mut writer = pcap::Writer::new(sink, pcap::Options::default()).unwrap();
        for (bytes, nsec) in frames {
            let at = Timestamp(1_000_000_000 + i64::from(*nsec));
            writer.write(at, *bytes as u32, &vec![7; *bytes]).unwrap();
        }
        writer.finish().unwrap();
        std::fs::File::open(&path).unwrap()
    }

    fn gaps(frames: &[(usize, u32)], gaps: Gaps) -> Result<Vec<u64>, String> {
        let loads = loads(capture(frames), gaps)?;
        Ok(loads.iter().map(|load| load.gap.as_ns()).collect())
    }

    #[test]
    fn gaps_are_those_of_the_capture_or_of_a_rate() {
        let frames = [(60, 0), (60, 1_500), (1514, 4_000)];
        assert_eq!(
            gaps(&frames, Gaps::Captured).unwrap(),
            [1_500, 2_500, 2_500]
        );
        let fixed = Gaps::Fixed(Span::from_us(3));
        assert_eq!(gaps(&frames, fixed).unwrap(), [3_000; 3]);
        // 84 and 1538 bytes on the line.
        let rate = Gaps::Rate(Rate::from_bps(1_000_000_000));
        assert_eq!(gaps(&frames, rate).unwrap(), [672, 672, 12_304]);
        // 84 bytes at 900 Mbit/s last 746 and two thirds.
        let rate = Gaps::Rate(Rate::from_bps(900_000_000));
        assert_eq!(gaps(&[(60, 0); 3], rate).unwrap(), [746, 747, 746]);
        assert_eq!(gaps(&[(60, 5)], Gaps::Captured).unwrap(), [0]);
    }

    #[test]
    fn what_a_card_cannot_send_is_refused_by_its_number() {
        let refused = |frames: &[(usize, u32)], of| gaps(frames, of).unwrap_err();
        assert!(refused(&[(60, 0), (1515, 1)], Gaps::Captured).starts_with("frame 2 has 1515"));
        assert!(refused(&[(60, 9), (60, 3)], Gaps::Captured).starts_with("frame 2 is older"));
        assert!(refused(&[], Gaps::Captured).contains("no frame"));
        let slow = Gaps::Rate(Rate::from_bps(100));
        assert!(refused(&[(60, 0)], slow).starts_with("frame 1 would be followed"));
    }
}
