//! A run on a terminal while it goes on: windows, goodput and queues as plots of letters.
//!
//! Of several runs at once that one is shown which began first; when it is done, or is silent for a
//! second since it failed, its picture stays until another run is seen.

use crate::look::Look;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use trammel_ground::screen::{Picture, Screen};
use trammel_report::terminal::{Curve, Plot};

/// Flows, and queues, that are shown at most: there are as many colours.
const MOST_CURVES: usize = 8;
/// Instants of a goodput curve.
const GOODPUT_STEPS: usize = 60;
/// Lines of a plot at most.
const MOST_ROWS: usize = 9;
/// Who is silent for so long is over.
const SILENCE: Duration = Duration::from_secs(1);
/// Lines around the plots: the run's name, the x axis, the line of progress, the prompt.
const OTHER_ROWS: usize = 5;

/// One entity over time.
#[derive(Debug)]
struct Track {
    name: String,
    points: Vec<(f64, f64)>,
}

/// The run that is shown.
#[derive(Debug)]
struct Shown {
    key: String,
    title: String,
    is_over: bool,
    /// When it was seen last, by the clock on the wall.
    seen: Instant,
    at_s: f64,
    end_s: f64,
    windows: Vec<Track>,
    /// Bytes delivered.
    delivered: Vec<Track>,
    queues: Vec<Track>,
}

/// The plots of a job.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plots {
    shown: Arc<Mutex<Option<Shown>>>,
}

impl Plots {
    /// Takes a look at the run `key` in.
    pub(crate) fn look(&self, key: &str, title: &str, look: &Look<'_>) {
        let mut all = self.locked();
        let is_free = all
            .as_ref()
            .is_none_or(|shown| shown.is_over || shown.seen.elapsed() > SILENCE);
        match all.as_mut() {
            Some(shown) if shown.key == key => shown.take(look),
            // Not what is over at once.
            _ if is_free && look.at < look.end => {
                let mut shown = Shown::new(key, title, look);
                shown.take(look);
                *all = Some(shown);
            }
            _ => {}
        }
    }

    /// The run `key` is done.
    pub(crate) fn ended(&self, key: &str) {
        if let Some(shown) = self.locked().as_mut().filter(|shown| shown.key == key) {
            shown.is_over = true;
        }
    }

    /// What a terminal shows of it.
    pub(crate) fn picture(&self) -> Picture {
        let plots = self.clone();
        Arc::new(move |screen| {
            let all = plots.locked();
            all.as_ref().map_or_else(Vec::new, |one| one.lines(screen))
        })
    }

    fn locked(&self) -> MutexGuard<'_, Option<Shown>> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shown {
    fn new(key: &str, title: &str, look: &Look<'_>) -> Shown {
        let track = |name: &str| Track {
            name: name.to_owned(),
            points: Vec::new(),
        };
        let flows = || look.flows.iter().take(MOST_CURVES);
        let queues = look.queues.iter().take(MOST_CURVES);
        Shown {
            key: key.to_owned(),
            title: title.to_owned(),
            is_over: false,
            seen: Instant::now(),
            at_s: 0.0,
            end_s: look.end.as_secs_f64(),
            windows: flows().map(|flow| track(flow.name)).collect(),
            delivered: flows().map(|flow| track(flow.name)).collect(),
            queues: queues.map(|(name, _)| track(name)).collect(),
        }
    }

    fn take(&mut self, look: &Look<'_>) {
        let at = look.at.as_secs_f64();
        (self.at_s, self.seen) = (at, Instant::now());
        let windows = self.windows.iter_mut().zip(&mut self.delivered);
        for ((window, delivered), flow) in windows.zip(&look.flows) {
            let segments = flow.cwnd.map_or(f64::NAN, f64::from);
            window.points.push((at, segments));
            delivered.points.push((at, flow.delivered_bytes as f64));
        }
        for (queue, (_, packets)) in self.queues.iter_mut().zip(&look.queues) {
            queue.points.push((at, f64::from(*packets)));
        }
    }

    fn plots(&self) -> Vec<Plot> {
        let plot = |title: &str, tracks: &[Track], points: fn(&Track) -> Vec<(f64, f64)>| Plot {
            title: title.to_owned(),
            curves: curves(tracks, points),
            x: (0.0, self.end_s),
        };
        let whole = |track: &Track| track.points.clone();
        let mut plots = vec![
            plot("window (packets)", &self.windows, whole),
            plot("goodput (Mbit/s)", &self.delivered, goodput),
            plot("queue (packets)", &self.queues, whole),
        ];
        plots.retain(|plot| !plot.curves.is_empty());
        plots
    }

    fn lines(&self, screen: Screen) -> Vec<String> {
        let plots = self.plots();
        let rows = screen.rows.saturating_sub(OTHER_ROWS);
        // As many as there is room for, the window first.
        let fit = plots.len().min(rows / (Plot::LEAST_ROWS + 1));
        if fit == 0 || screen.columns < Plot::LEAST_COLUMNS {
            return Vec::new();
        }
        let each = (rows / fit).min(MOST_ROWS);
        let (at, end) = (self.at_s, self.end_s);
        let head = format!("{}: {at:.1} of {end:.1} s", self.title);
        let head: String = trammel_ground::printable(&head).replace('\n', " ");
        let fits = |letter: &char| letter.is_ascii();
        let mut lines = vec![head.chars().filter(fits).take(screen.columns - 1).collect()];
        for plot in plots.iter().take(fit) {
            lines.extend(plot.lines(screen.columns, each, screen.has_colours));
        }
        lines
    }
}

fn curves(tracks: &[Track], points: fn(&Track) -> Vec<(f64, f64)>) -> Vec<Curve> {
    let curve = |(colour, track): (usize, &Track)| Curve {
        name: track.name.clone(),
        colour,
        points: points(track),
    };
    tracks.iter().enumerate().map(curve).collect()
}

/// Mbit/s between looks a part of the run apart.
fn goodput(track: &Track) -> Vec<(f64, f64)> {
    let stride = track.points.len().div_ceil(GOODPUT_STEPS).max(1);
    let picked: Vec<_> = track.points.iter().step_by(stride).collect();
    let pairs = picked.windows(2).filter_map(|pair| {
        let (from, to) = (pair[0], pair[1]);
        let s = to.0 - from.0;
        (s > 0.0).then(|| (to.0, (to.1 - from.1).max(0.0) * 8e-6 / s))
    });
    pairs.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::look::FlowLook;
    use trammel_core::time::{Span, Time};

    fn look(second: u64) -> Look<'static> {
        let at = Time::ZERO + Span::from_secs(second);
        Look {
            at,
            end: Time::ZERO + Span::from_secs(60),
            flows: vec![FlowLook {
                name: "cubic",
                cwnd: (second > 0).then_some(10 + second as u32),
                delivered_bytes: second * 1_250_000,
            }],
            queues: vec![("bottleneck", second as u32 % 7)],
        }
    }

    const SCREEN: Screen = Screen {
        columns: 80,
        rows: 40,
        has_colours: false,
    };

    #[test]
    fn a_run_is_shown_until_the_next_begins() {
        let plots = Plots::default();
        let lines = || plots.picture()(SCREEN);
        assert!(lines().is_empty());
        for second in 0..30 {
            plots.look("a", "rtt=10ms", &look(second));
            plots.look("b", "rtt=20ms", &look(second));
        }
        assert_eq!(lines()[0], "rtt=10ms: 29.0 of 60.0 s");
        assert!(
            lines()
                .iter()
                .any(|line| line.starts_with("goodput (Mbit/s)"))
        );
        plots.ended("a");
        plots.look("b", "rtt=20ms", &look(30));
        assert_eq!(lines()[0], "rtt=20ms: 30.0 of 60.0 s");
    }

    #[test]
    fn goodput_is_of_what_came() {
        let plots = Plots::default();
        (0..20).for_each(|second| plots.look("a", "a", &look(second)));
        let shown = plots.locked();
        let all = goodput(&shown.as_ref().unwrap().delivered[0]);
        assert!(
            all.iter().all(|(_, rate)| (*rate - 10.0).abs() < 1e-9),
            "{all:?}"
        );
    }

    #[test]
    fn every_line_fits_whatever_the_terminal() {
        let plots = Plots::default();
        (0..60).for_each(|second| plots.look("a", &"long name, ".repeat(30), &look(second)));
        for columns in 0..130 {
            for rows in 0..60 {
                let lines = plots.picture()(Screen {
                    columns,
                    rows,
                    ..SCREEN
                });
                assert!(lines.len() <= rows.saturating_sub(4), "{columns} × {rows}");
                assert!(lines.iter().all(|line| line.chars().count() < columns));
            }
        }
    }
}
