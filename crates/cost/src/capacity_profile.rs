//! A function known by its rates alone: packets a second on one core over frame size, flows and
//! routes.
//!
//! ```toml
//! schema   = "trammel/capacity-1"
//! function = "l3fwd"
//! origin   = "measured"                      # or "published", "modelled"
//! source   = "host epyc-7b13, 2026-11-22, 20 repeats of 1 s"
//! clock_hz = 3.5e9                           # of the core that gave these rates
//! spread   = 0.04                            # relative half-width of the repeats; 0 where it is not given
//!
//! [[point]]
//! frame_bytes = 64                           # with the check sequence
//! flows       = 1                            # 1 where it does not matter, as routes
//! routes      = 1000
//! mpps        = 12.4
//! ```
//! The points fill a grid: every frame size with every number of flows and of routes. Between them
//! the logarithm of the rate is linear in the logarithm of each coordinate; outside it is not
//! known, and refused unless the caller asks for the nearest edge. On a server of another clock the
//! *cycles* of a packet are taken to be the same.

use crate::place::model::Interval;
use std::collections::BTreeMap;
use std::fmt::Write;
use toml_edit::Value;
use trammel_core::label::Label;

mod read;

pub use read::ProfileFault;

/// The first line of every profile.
pub const SCHEMA: &str = "trammel/capacity-1";

/// Points that a profile may have.
pub const MOST_POINTS: usize = 100_000;

/// How rates may be known: seen by a run, printed by others, computed.
const ORIGINS: [Label; 3] = [Label::Measured, Label::Published, Label::Modelled];

/// One rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Frame size in bytes, with the check sequence.
    pub frame_bytes: u64,
    /// Flows that the packets belong to.
    pub flows: u64,
    /// Routes, rules or entries that the function knows.
    pub routes: u64,
    /// Million packets a second on one core.
    pub mpps: f64,
}

impl Point {
    fn at(&self) -> [u64; 3] {
        [self.frame_bytes, self.flows, self.routes]
    }
}

/// The names of the coordinates, in the order of [`Point`].
const AXES: [&str; 3] = ["frame_bytes", "flows", "routes"];

/// A measured function; see the module's text for its file.
#[derive(Clone, Debug, PartialEq)]
pub struct CapacityProfile {
    /// What was measured.
    pub function: String,
    /// Where the rates come from.
    pub origin: Label,
    /// Machine, date, command or citation.
    pub source: String,
    /// Clock of the core that gave the rates, Hz.
    pub clock_hz: f64,
    /// Relative half-width of the repeats, from 0 to below 1.
    pub spread: f64,
    axes: [Vec<u64>; 3],
    /// Million packets a second; the last axis runs fastest.
    mpps: Vec<f64>,
}

/// What to do about a question outside the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outside {
    /// Refuse it.
    Refuse,
    /// Answer with the nearest edge.
    Clamp,
}

/// A question that the profile does not answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error(
    "profile `{function}` does not know {axis} = {asked}: it was taken from {low} to {high}; \
     measure it there, or set `clamp = true`"
)]
pub struct NotCovered {
    /// The function.
    pub function: String,
    /// The coordinate.
    pub axis: &'static str,
    /// What was asked.
    pub asked: u64,
    /// The smallest that the profile has.
    pub low: u64,
    /// The largest.
    pub high: u64,
}

impl CapacityProfile {
    /// A profile of `points`, which must fill a grid: every combination of their coordinates once.
    pub fn new(
        function: impl Into<String>,
        origin: Label,
        source: impl Into<String>,
        clock_hz: f64,
        spread: f64,
        points: &[Point],
    ) -> Result<CapacityProfile, String> {
        if !ORIGINS.contains(&origin) {
            return Err(format!(
                "rates that are {}; they must be {}",
                origin.key(),
                ORIGINS.map(Label::key).join(", ")
            ));
        }
        if !(clock_hz.is_finite() && clock_hz > 0.0) {
            return Err(format!(
                "a clock of {clock_hz} Hz; it must be more than zero"
            ));
        }
        if !(0.0..1.0).contains(&spread) {
            return Err(format!(
                "a spread of {spread}; it must be from 0 to below 1"
            ));
        }
        let (axes, mpps) = grid(points)?;
        Ok(CapacityProfile {
            function: function.into(),
            origin,
            source: source.into(),
            clock_hz,
            spread,
            axes,
            mpps,
        })
    }

    /// Its points, the last coordinate fastest.
    pub fn points(&self) -> Vec<Point> {
        let [frames, flows, routes] = &self.axes;
        let mut rates = self.mpps.iter();
        let mut points = Vec::new();
        for frame_bytes in frames {
            for flows in flows {
                for routes in routes {
                    points.push(Point {
                        frame_bytes: *frame_bytes,
                        flows: *flows,
                        routes: *routes,
                        mpps: *rates.next().expect("the grid is full"),
                    });
                }
            }
        }
        points
    }

    /// Million packets a second on one core of its own clock.
    pub fn mpps(
        &self,
        frame_bytes: u64,
        flows: u64,
        routes: u64,
        outside: Outside,
    ) -> Result<f64, NotCovered> {
        let asked = [frame_bytes, flows, routes];
        let mut log = 0.0;
        let mut corners = [(0, 0, 0.0); 3];
        for (n, axis) in self.axes.iter().enumerate() {
            corners[n] = self.between(n, axis, asked[n], outside)?;
        }
        // The eight corners of the cell, each weighted by how near it is.
        for corner in 0..8 {
            let (mut at, mut weight) = (0, 1.0);
            for (n, (low, high, part)) in corners.iter().enumerate() {
                let is_high = corner >> n & 1 == 1;
                at = at * self.axes[n].len() + if is_high { *high } else { *low };
                weight *= if is_high { *part } else { 1.0 - *part };
            }
            if weight > 0.0 {
                log += weight * self.mpps[at].ln();
            }
        }
        Ok(log.exp())
    }

    /// Cycles of a packet, by the clock of the profile and the spread of its repeats.
    pub fn cycles(
        &self,
        frame_bytes: u64,
        flows: u64,
        routes: u64,
        outside: Outside,
    ) -> Result<Interval, NotCovered> {
        let centre = self.clock_hz / (1e6 * self.mpps(frame_bytes, flows, routes, outside)?);
        Ok(Interval {
            low: centre / (1.0 + self.spread),
            centre,
            high: centre / (1.0 - self.spread),
        })
    }

    /// The grid's neighbours of `asked` and how far it is from the lower to the upper one.
    fn between(
        &self,
        n: usize,
        axis: &[u64],
        asked: u64,
        outside: Outside,
    ) -> Result<(usize, usize, f64), NotCovered> {
        let last = axis.len() - 1;
        if outside == Outside::Refuse && !(axis[0]..=axis[last]).contains(&asked) {
            return Err(NotCovered {
                function: self.function.clone(),
                axis: AXES[n],
                asked,
                low: axis[0],
                high: axis[last],
            });
        }
        let asked = asked.clamp(axis[0], axis[last]);
        let high = axis.partition_point(|at| *at < asked);
        if axis[high] == asked {
            return Ok((high, high, 0.0));
        }
        let ln = |at: u64| (at as f64).ln();
        let (from, to) = (ln(axis[high - 1]), ln(axis[high]));
        Ok((high - 1, high, (ln(asked) - from) / (to - from)))
    }

    /// The text of its file; [`CapacityProfile::parse`] reads it back equal.
    pub fn write(&self) -> String {
        let text = |value: &str| Value::from(value).to_string();
        let mut out = format!(
            "schema   = {}\nfunction = {}\norigin   = {}\nsource   = {}\nclock_hz = {:?}\n\
             spread   = {:?}\n",
            text(SCHEMA),
            text(&self.function),
            text(self.origin.key()),
            text(&self.source),
            self.clock_hz,
            self.spread
        );
        for point in self.points() {
            write!(
                out,
                "\n[[point]]\nframe_bytes = {}\nflows       = {}\nroutes      = {}\n\
                 mpps        = {:?}\n",
                point.frame_bytes, point.flows, point.routes, point.mpps
            )
            .expect("a string takes any text");
        }
        out
    }
}

/// The axes of `points` and their rates in order.
fn grid(points: &[Point]) -> Result<([Vec<u64>; 3], Vec<f64>), String> {
    if points.is_empty() {
        return Err("there is no point".to_owned());
    }
    if points.len() > MOST_POINTS {
        return Err(format!(
            "{} points are more than {MOST_POINTS}",
            points.len()
        ));
    }
    let mut known = BTreeMap::new();
    for point in points {
        let [frame, flows, routes] = point.at();
        let place = format!("frame_bytes = {frame}, flows = {flows}, routes = {routes}");
        if point.at().contains(&0) {
            return Err(format!(
                "{place}: none may be 0; give 1 where one does not matter"
            ));
        }
        if !(point.mpps.is_finite() && point.mpps > 0.0) {
            return Err(format!("{place}: a rate of {} cannot be", point.mpps));
        }
        if known.insert(point.at(), point.mpps).is_some() {
            return Err(format!("{place} is there twice"));
        }
    }
    let axis = |n: usize| {
        let mut values: Vec<u64> = known.keys().map(|at| at[n]).collect();
        values.sort_unstable();
        values.dedup();
        values
    };
    let axes = [axis(0), axis(1), axis(2)];
    let mut mpps = Vec::new();
    for frame in &axes[0] {
        for flows in &axes[1] {
            for routes in &axes[2] {
                let Some(rate) = known.get(&[*frame, *flows, *routes]) else {
                    return Err(format!(
                        "frame_bytes = {frame}, flows = {flows}, routes = {routes} is missing"
                    ));
                };
                mpps.push(*rate);
            }
        }
    }
    Ok((axes, mpps))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn point(frame_bytes: u64, flows: u64, routes: u64, mpps: f64) -> Point {
        Point {
            frame_bytes,
            flows,
            routes,
            mpps,
        }
    }

    fn profile(points: &[Point]) -> Result<CapacityProfile, String> {
        CapacityProfile::new(
            "f",
            Label::Measured,
            "a \"test\"\nof two lines",
            3.5e9,
            0.1,
            points,
        )
    }

    #[test]
    fn is_exact_on_its_points_and_log_linear_between() {
        let profile = profile(&[
            point(64, 1, 10, 16.0),
            point(256, 1, 10, 4.0),
            point(64, 1, 1000, 8.0),
            point(256, 1, 1000, 2.0),
        ])
        .unwrap();
        let mpps = |frame, routes| profile.mpps(frame, 1, routes, Outside::Refuse).unwrap();
        for point in profile.points() {
            assert!((mpps(point.frame_bytes, point.routes) - point.mpps).abs() < 1e-12);
        }
        assert!((mpps(128, 10) - 8.0).abs() < 1e-12);
        assert!((mpps(64, 100) - 128_f64.sqrt()).abs() < 1e-12);
        assert!((mpps(128, 100) - 32_f64.sqrt()).abs() < 1e-12);
        let cycles = profile.cycles(64, 1, 10, Outside::Refuse).unwrap();
        assert!((cycles.centre - 218.75).abs() < 1e-9);
        assert!((cycles.high - 218.75 / 0.9).abs() < 1e-9);
    }

    #[test]
    fn refuses_outside_unless_asked_for_the_edge() {
        let profile = profile(&[point(64, 1, 1, 10.0), point(128, 1, 1, 5.0)]).unwrap();
        let error = profile.mpps(1518, 1, 1, Outside::Refuse).unwrap_err();
        assert_eq!(
            error.to_string(),
            "profile `f` does not know frame_bytes = 1518: it was taken from 64 to 128; \
             measure it there, or set `clamp = true`"
        );
        assert!((profile.mpps(1518, 9, 9, Outside::Clamp).unwrap() - 5.0).abs() < 1e-12);
        assert!(profile.mpps(64, 2, 1, Outside::Refuse).is_err());
    }

    #[test]
    fn points_that_are_no_grid_are_refused() {
        let missing = profile(&[point(64, 1, 1, 1.0), point(128, 2, 1, 1.0)]).unwrap_err();
        assert_eq!(
            missing,
            "frame_bytes = 64, flows = 2, routes = 1 is missing"
        );
        assert!(
            profile(&[point(64, 1, 1, 1.0); 2])
                .unwrap_err()
                .ends_with("twice")
        );
        assert!(profile(&[]).is_err());
        assert!(profile(&[point(64, 0, 1, 1.0)]).is_err());
        assert!(profile(&[point(64, 1, 1, f64::NAN)]).is_err());
    }

    #[test]
    fn all_faults_of_a_text_are_told_with_their_places() {
        let text = "schema = 'trammel/capacity-1'\nfunctoin = 'f'\norigin = 'mesured'\n\
                    source = 's'\n\
                    clock_hz = 0\n[[point]]\nframe_bytes = 0\nflows = 'x'\nroutes = 1\n";
        let faults = CapacityProfile::parse(text).unwrap_err();
        let told: Vec<_> = faults
            .iter()
            .map(|f| (&text[f.span.clone()], f.what.as_str()))
            .collect();
        assert_eq!(
            told,
            [
                ("functoin", "a profile has no key `functoin`"),
                ("", "a profile needs `function`"),
                ("'mesured'", "`origin` cannot be `mesured`"),
                ("0", "`clock_hz` cannot be 0"),
                ("0", "`frame_bytes` cannot be 0"),
                ("'x'", "`flows` must be a whole number"),
                ("[[point]]", "`point` needs `mpps`"),
            ]
        );
        assert_eq!(faults[0].help, "did you mean `function`?");
        assert_eq!(faults[2].help, "did you mean `measured`?");
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None, ..ProptestConfig::default()
        })]

        #[test]
        fn what_is_written_is_read_back(
            name in any::<String>(),
            clock in 1e6_f64..1e11,
            spread in 0.0_f64..0.999,
            rates in prop::collection::vec(1e-6_f64..1e4, 12),
        ) {
            let grid = [64, 1518].into_iter().flat_map(|frame| {
                [1, 7, 1000].into_iter().flat_map(
                    move |flows| [1, 1 << 40].map(|routes| (frame, flows, routes))
                )
            });
            let points: Vec<Point> =
                grid.zip(rates).map(
                    |((frame, flows, routes), mpps)| point(frame, flows, routes, mpps)
                ).collect();
            let profile = CapacityProfile::new(
                &name, Label::Published, &name, clock, spread, &points
            ).unwrap();
            prop_assert_eq!(CapacityProfile::parse(&profile.write()), Ok(profile.clone()));
            prop_assert_eq!(profile.points(), points);
        }

        #[test]
        fn no_text_makes_it_panic(text in any::<String>()) {
            let _ = CapacityProfile::parse(&text);
        }
    }
}
