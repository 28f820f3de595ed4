//! Two senders' data, segment by segment, to the first one that differs.

use super::Event;
use trammel_core::time::{Span, Time};

/// The first difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parting {
    /// When: the earlier of the two.
    pub at: Time,
    /// Which of the data segments that were sent, from 0.
    pub number: usize,
    /// What each side sent there, by its place among its events; nothing where it sent nothing
    /// more.
    pub places: [Option<usize>; 2],
}

/// Compares what both sent until `until`; how many segments are alike, and where they part. ACKs
/// are not compared: what follows from them is.
pub(super) fn walk(sides: [&[Event]; 2], tolerance: Span, until: Time) -> (usize, Option<Parting>) {
    let data = sides.map(|events| {
        let places = events.iter().enumerate();
        places
            .filter(|(_, event)| event.is_data() && event.at <= until)
            .map(|(place, _)| place)
            .collect::<Vec<_>>()
    });
    // What is due at the very end may come a little later.
    let last = until.saturating_sub(tolerance);
    let mut number = 0;
    loop {
        let places = [0, 1].map(|side: usize| data[side].get(number).copied());
        let of = |side: usize| places[side].map(|place| sides[side][place]);
        let is_alike = match (of(0), of(1)) {
            (None, None) => return (number, None),
            (Some(ours), Some(theirs)) => {
                is_same(&ours, &theirs)
                    && ours.at.max(theirs.at) - ours.at.min(theirs.at) <= tolerance
            }
            (Some(one), None) | (None, Some(one)) => {
                if one.at >= last {
                    return (number, None);
                }
                false
            }
        };
        if !is_alike {
            let at = [of(0), of(1)].into_iter().flatten().map(|event| event.at);
            let parting = Parting {
                at: at.min().unwrap_or_default(),
                number,
                places,
            };
            return (number, Some(parting));
        }
        number += 1;
    }
}

/// The first ACKs that differ in what they tell, before `until`: the place of each among its side's
/// events. Times are not compared.
pub(super) fn acks(sides: [&[Event]; 2], until: Time) -> Option<[usize; 2]> {
    let told = sides.map(|events| {
        let mut last = None;
        let mut places = Vec::new();
        for (place, event) in events.iter().enumerate() {
            let what = (event.segment.ack, event.segment.sack_blocks());
            if !event.is_sent && event.at <= until && last != Some(what) {
                last = Some(what);
                places.push(place);
            }
        }
        places
    });
    let what = |side: usize, place: usize| {
        let segment = &sides[side][place].segment;
        (segment.ack, segment.sack_blocks())
    };
    let both = told[0].iter().copied().zip(told[1].iter().copied());
    both.map(|(ours, theirs)| [ours, theirs])
        .find(|[ours, theirs]| what(0, *ours) != what(1, *theirs))
}

/// Whether they carry the same data.
fn is_same(ours: &Event, theirs: &Event) -> bool {
    let of = |event: &Event| (event.segment.seq, event.segment.seq_len());
    of(ours) == of(theirs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_tcp::segment::Segment;

    fn sent(at_ms: u64, seq: u32) -> Event {
        Event {
            at: Time::from_ms(at_ms),
            is_sent: true,
            segment: Segment {
                seq,
                len: 1000,
                ..Segment::default()
            },
        }
    }

    #[test]
    fn the_first_segment_that_differs_is_found() {
        let ours = [sent(1, 0), sent(2, 1000), sent(9, 2000)];
        let walk = |theirs: &[Event]| walk([&ours, theirs], Span::from_ms(1), Time::from_ms(10));
        assert_eq!(walk(&ours), (3, None));
        // A little later is the same; much later is not, nor is other data, nor nothing.
        assert_eq!(walk(&[sent(2, 0), sent(2, 1000), sent(9, 2000)]), (3, None));
        let (alike, parting) = walk(&[sent(1, 0), sent(5, 1000)]);
        assert_eq!((alike, parting.unwrap().at), (1, Time::from_ms(2)));
        let (alike, parting) = walk(&[sent(1, 0), sent(2, 0)]);
        assert_eq!((alike, parting.unwrap().places), (1, [Some(1), Some(1)]));
        let (alike, parting) = walk(&[sent(1, 0)]);
        assert_eq!((alike, parting.unwrap().places), (1, [Some(1), None]));
        // What is due at the end may be cut off.
        assert_eq!(walk(&[sent(1, 0), sent(2, 1000)]), (2, None));
    }
}
