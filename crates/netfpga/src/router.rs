//! The router as a device: streams in, and what became of them.

use crate::engine::tally::Tally;
use crate::engine::{Engine, steady};
use crate::error::Error;
use crate::outcome::Outcome;
use crate::params::Params;
use crate::recording::Recording;
use crate::stream::Stream;

/// A router at rest, of one design. Every run begins anew, so one router serves any number of
/// trials.
///
/// ```
/// use trammel_core::time::Span;
/// use trammel_netfpga::{params::Params, router::Router, stream::Stream};
///
/// let params = Params::REFERENCE_1G;
/// let half = Stream::of_line(&params, (0, 1), 64, 0.5, Span::from_secs(60));
/// let outcome = Router::new(&params)?.run(&[half])?;
/// assert_eq!(outcome.total().forwarded(), 44_642_857);
/// # Ok::<(), trammel_netfpga::error::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Router {
    params: Params,
}

impl Router {
    /// The design that `params` describe. Refuses values that are out of range.
    pub fn new(params: &Params) -> Result<Router, Error> {
        params.check()?;
        Ok(Router {
            params: params.clone(),
        })
    }

    /// Its design.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// Offers `streams` and waits until the last frame has left or is lost. Time is virtual and the
    /// same streams always give the same outcome. A state that comes again is not simulated again;
    /// every count and latency is what it would be if it were.
    pub fn run(&self, streams: &[Stream]) -> Result<Outcome, Error> {
        self.run_recording(streams, &Recording::default())
    }

    /// As [`Router::run`], with what `wanted` asks for beside counts and latencies.
    pub fn run_recording(&self, streams: &[Stream], wanted: &Recording) -> Result<Outcome, Error> {
        let (mut engine, mut tally) = self.begin(streams, wanted)?;
        steady::run(&mut engine, &mut tally);
        Ok(tally.into_outcome())
    }

    /// As [`Router::run_recording`], with every frame simulated: what the other is tested against.
    pub fn run_in_full(&self, streams: &[Stream], wanted: &Recording) -> Result<Outcome, Error> {
        let (mut engine, mut tally) = self.begin(streams, wanted)?;
        while engine.step(&mut tally) {}
        Ok(tally.into_outcome())
    }

    fn begin(&self, streams: &[Stream], wanted: &Recording) -> Result<(Engine, Tally), Error> {
        // 200 days of the 213 that 64 bits of picoseconds hold: queues drain after the last frame.
        let latest = trammel_core::time::Time::from_secs(200 * 86_400);
        let ends = streams.iter().map(Stream::last_start);
        if streams.len() > 256 || ends.max().is_some_and(|end| end > latest) {
            let streams = streams.len();
            return Err(Error::TooMuch { streams });
        }
        let mut tally = Tally::new(&self.params, streams.len(), wanted);
        let engine = Engine::new(&self.params, streams, &mut tally)?;
        Ok((engine, tally))
    }
}
