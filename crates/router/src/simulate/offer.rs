//! What is offered to a port: frames, and when they come.

use std::fmt;
use trammel_core::rng::Rng;
use trammel_core::time::{Span, Time};
use trammel_stats::arrivals::{Renewal, Spans};
use trammel_stats::dist::Distribution;

/// Instants in ascending order, when the last bit of a frame is to be in.
pub type Arrivals = Box<dyn Iterator<Item = Time> + Send>;

/// Flows that are told apart.
pub const MOST_FLOWS: u16 = 1 << 10;

/// Frames that come to a port.
pub struct Offer {
    /// Their bytes without the checksum, taken in turn.
    pub(super) frames: Vec<Vec<u8>>,
    pub(super) arrivals: Arrivals,
    pub(super) flow: u16,
    /// Of so many frames the last is of this flow.
    pub(super) others: Option<(u32, u16)>,
}

impl fmt::Debug for Offer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Offer")
            .field("frames", &self.frames.len())
            .finish_non_exhaustive()
    }
}

impl Offer {
    /// `frames` in turn, at the instants that `arrivals` gives; an instant before the one given
    /// last counts as that. None where there is no frame or one is empty.
    pub fn new(frames: Vec<Vec<u8>>, arrivals: Arrivals) -> Option<Offer> {
        let is_right = !frames.is_empty() && frames.iter().all(|frame| !frame.is_empty());
        is_right.then_some(Offer {
            frames,
            arrivals,
            flow: 0,
            others: None,
        })
    }

    /// The same as the flow `number`, at most [`MOST_FLOWS`] − 1: what is noted of its frames says
    /// so.
    pub fn of_flow(self, number: u16) -> Offer {
        Offer {
            flow: number.min(MOST_FLOWS - 1),
            ..self
        }
    }

    /// The same with the last of `every` frames of the list, `every` being at least 1, in the flow
    /// `number` instead.
    pub fn with_others(self, every: u32, number: u16) -> Offer {
        Offer {
            others: Some((every.max(1), number.min(MOST_FLOWS - 1))),
            ..self
        }
    }
}

/// Arrivals at equal gaps, the first a gap after `start`, none after `end`. None for a rate that is
/// not above 0 and finite.
pub fn constant(per_second: f64, start: Time, end: Time) -> Option<Arrivals> {
    // The first instant of a renewal process is its start.
    let spans = Spans::constant_rate(per_second)?;
    let process = Renewal::new(start, spans, Rng::new(0, "constant")).skip(1);
    Some(Box::new(process.take_while(move |at| *at <= end)))
}

/// A Poisson process from `start` to `end`; `seed` and `entity` name its random numbers. None for a
/// rate that is not above 0 and finite.
pub fn poisson(
    per_second: f64,
    start: Time,
    end: Time,
    seed: u64,
    entity: &str,
) -> Option<Arrivals> {
    let spans = Spans::at_rate(exponential()?, per_second)?;
    let process = Renewal::new(start, spans, Rng::new(seed, entity)).skip(1);
    Some(Box::new(process.take_while(move |at| *at <= end)))
}

/// Bursts of `frames` frames one `gap` apart, `per_second` frames a second in the long run. None
/// where the bursts would overlap, for bursts of no frames, and for a rate that is not above 0 and
/// finite.
pub fn bursts(frames: u32, gap: Span, per_second: f64, start: Time, end: Time) -> Option<Arrivals> {
    let period = Spans::constant_rate(per_second / f64::from(frames)).filter(|_| frames > 0)?;
    let on = gap * u64::from(frames);
    let whole = Span::from_secs_f64(period.mean_secs()?);
    if on > whole || whole == Span::ZERO {
        return None;
    }
    let heads = Renewal::new(start, period, Rng::new(0, "bursts"));
    let all = heads
        .flat_map(move |head| (0..frames).map(move |n| head.saturating_add(gap * u64::from(n))));
    Some(Box::new(all.take_while(move |at| *at <= end)))
}

fn exponential() -> Option<Box<dyn Distribution>> {
    let entry = trammel_stats::dist::find("exponential")?;
    let params = trammel_core::entry::Params::resolve(&entry.about, &[]).ok()?;
    (entry.build)(&params).ok()
}
