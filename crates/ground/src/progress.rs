//! Progress on a terminal: how many steps are done, and how long the rest takes.
//!
//! Steps weigh what they cost, about: of a sweep whose last point takes as long as all others, half
//! is left before it. The time that is left follows from the time that the done part took; nothing
//! is said of it before some work is done, or where nobody knows what steps weigh. Steps that go by
//! the clock on the wall move while they run.

use crate::screen::{Picture, Screen};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::cell::Cell;
use std::fmt::Write;
use std::io::IsTerminal;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// The bar's characters.
const WIDTH: usize = 30;
/// What takes less needs no estimate.
const SOON: Duration = Duration::from_secs(1);

/// Someone who hears of the steps of all jobs of this process, beside the terminal.
pub trait Listener: Send + Sync {
    /// So many more steps are to be made.
    fn expects(&self, steps: u64);
    /// A step is made; how long it took, where it was told when it started.
    fn made(&self, took: Option<Duration>);
    /// A step need not be made.
    fn skipped(&self);
}

// As the terminal: a process has one of them.
static LISTENER: OnceLock<Box<dyn Listener>> = OnceLock::new();

thread_local! {
    /// When the step of this thread started.
    static STARTED: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Has `listener` hear of all steps from now on; the first one stays.
pub fn listen(listener: Box<dyn Listener>) {
    let _ = LISTENER.set(listener);
}

fn tell(what: impl FnOnce(&dyn Listener)) {
    if let Some(listener) = LISTENER.get() {
        what(listener.as_ref());
    }
}

/// A bar of `steps` steps on standard error; hidden where that is no terminal.
pub fn bar(steps: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{wide_bar} {pos}/{len} {msg} {eta}");
    ProgressBar::with_draw_target(Some(steps), target())
        .with_style(style.expect("the template names known fields"))
}

fn target() -> ProgressDrawTarget {
    if std::io::stderr().is_terminal() {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    }
}

/// A step is done; where more are than were thought of, the bar is as long as they are.
pub fn step(bar: &ProgressBar) {
    if bar.length().is_some_and(|steps| bar.position() >= steps) {
        bar.inc_length(1);
    }
    bar.inc(1);
}

/// How far a job is.
#[derive(Clone, Debug)]
struct State {
    began: Instant,
    /// Done and all.
    steps: (u64, u64),
    /// The same by weight.
    work: (f64, f64),
    /// When the step at hand began and its seconds, where it goes by the clock.
    at_hand: Option<(Instant, f64)>,
}

impl State {
    /// The share that is done, from 0 to 1.
    fn share(&self, now: Instant) -> f64 {
        let (done, all) = self.work;
        let at_hand = self.at_hand.map_or(0.0, |(began, seconds)| {
            let since = now.saturating_duration_since(began);
            since.as_secs_f64().min(seconds)
        });
        if all > 0.0 {
            ((done + at_hand) / all).clamp(0.0, 1.0)
        } else {
            0.0
        }
    }

    /// What is left, where that can be known.
    fn left(&self, now: Instant) -> Option<Duration> {
        let since = now.saturating_duration_since(self.began);
        let share = self.share(now);
        if share <= 0.0 || share >= 1.0 || since < SOON {
            return None;
        }
        let left = since.as_secs_f64() * (1.0 - share) / share;
        Duration::try_from_secs_f64(left).ok()
    }

    fn line(&self, now: Instant) -> String {
        let (done, all) = self.steps;
        let full = match self.work.1 {
            0.0 if all > 0 => done as f64 / all as f64,
            _ => self.share(now),
        };
        let full = (full * WIDTH as f64) as usize;
        let mut line = "█".repeat(full) + &"░".repeat(WIDTH - full);
        write!(line, " {done}/{all}").expect("a string takes any text");
        let since = now.saturating_duration_since(self.began);
        let times = match self.left(now) {
            Some(left) => format!(", about {} left", spoken(left)),
            None if since >= SOON => format!(", {} so far", spoken(since)),
            None => String::new(),
        };
        line + &times
    }
}

/// A length of time as people say it.
fn spoken(length: Duration) -> String {
    let seconds = length.as_secs_f64().ceil() as u64;
    match (seconds / 3600, seconds % 3600 / 60) {
        (0, 0) => format!("{seconds} s"),
        (0, minutes) => format!("{minutes} min {} s", seconds % 60),
        (hours, minutes) => format!("{hours} h {minutes} min"),
    }
}

/// Progress of a job; it shows on a terminal only.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    state: Arc<Mutex<State>>,
}

impl Default for Progress {
    fn default() -> Progress {
        Progress::new()
    }
}

impl Progress {
    /// Of a job that begins now.
    pub fn new() -> Progress {
        Progress::shown_as(None)
    }

    /// Of a job that begins now, under a picture of it that is drawn anew several times a second.
    pub fn under(picture: Picture) -> Progress {
        Progress::shown_as(Some(picture))
    }

    fn shown_as(picture: Option<Picture>) -> Progress {
        const TICK: Duration = Duration::from_millis(500);
        const FRAME: Duration = Duration::from_millis(150);
        let tick = if picture.is_some() { FRAME } else { TICK };
        let state = Arc::new(Mutex::new(State {
            began: Instant::now(),
            steps: (0, 0),
            work: (0.0, 0.0),
            at_hand: None,
        }));
        let shown = Arc::clone(&state);
        let line = move |_: &ProgressState, out: &mut dyn Write| {
            let line = lock(&shown).line(Instant::now());
            if let Some(picture) = &picture {
                for row in picture(Screen::of_stderr()) {
                    let _ = writeln!(out, "{row}");
                }
            }
            // A line that cannot be shown is shown the next time.
            let _ = out.write_str(&line);
        };
        let style =
            ProgressStyle::with_template("{line}").expect("the template names a known field");
        let bar =
            ProgressBar::with_draw_target(None, target()).with_style(style.with_key("line", line));
        if !bar.is_hidden() {
            bar.enable_steady_tick(tick);
        }
        Progress { bar, state }
    }

    /// More is to be done: steps and their weight, 0 where nobody knows it.
    pub fn expect(&self, steps: u64, work: f64) {
        let mut state = lock(&self.state);
        state.steps.1 += steps;
        state.work.1 += work;
        tell(|listener| listener.expects(steps));
    }

    /// A step starts on this thread, which ends it.
    pub fn start(&self) {
        STARTED.set(Some(Instant::now()));
    }

    /// A step begins that takes `seconds` by the clock; it weighs as much.
    pub fn begin(&self, seconds: f64) {
        self.start();
        lock(&self.state).at_hand = Some((Instant::now(), seconds));
    }

    /// A step is done.
    pub fn ended(&self, work: f64) {
        let mut state = lock(&self.state);
        state.at_hand = None;
        state.steps.0 += 1;
        state.work.0 += work;
        // Never more than all.
        state.steps.1 = state.steps.1.max(state.steps.0);
        state.work.1 = state.work.1.max(state.work.0);
        drop(state);
        self.bar.tick();
        let started = STARTED.take();
        tell(|listener| listener.made(started.map(|at| at.elapsed())));
    }

    /// A step need not be made.
    pub fn skipped(&self, work: f64) {
        let mut state = lock(&self.state);
        state.steps.1 = state.steps.1.saturating_sub(1).max(state.steps.0);
        state.work.1 = (state.work.1 - work).max(state.work.0);
        STARTED.take();
        tell(|listener| listener.skipped());
    }

    /// Takes the line away. What is not made by now never is: nobody waits for it any more.
    pub fn finish(&self) {
        let mut state = lock(&self.state);
        let left = state.steps.1 - state.steps.0;
        state.steps.1 = state.steps.0;
        drop(state);
        for _ in 0..left {
            tell(|listener| listener.skipped());
        }
        self.bar.finish_and_clear();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.finish();
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(steps: (u64, u64), work: (f64, f64)) -> (State, Instant) {
        let began = Instant::now();
        let state = State {
            began,
            steps,
            work,
            at_hand: None,
        };
        (state, began)
    }

    #[test]
    fn what_is_left_follows_from_the_weight_that_is_done() {
        // Of ten steps nine are done, which weigh a tenth: they took 10 s, and 90 s are left.
        let (state, began) = state((9, 10), (1.0, 10.0));
        let now = began + Duration::from_secs(10);
        assert_eq!(state.left(now), Some(Duration::from_secs(90)));
        let line = state.line(now);
        assert!(
            line.contains("9/10") && line.ends_with("about 1 min 30 s left"),
            "{line}"
        );
        assert_eq!(line.matches('█').count(), 3);
    }

    #[test]
    fn a_step_by_the_clock_moves_and_stops_at_its_end() {
        let (mut state, began) = state((0, 1), (0.0, 20.0));
        state.at_hand = Some((began, 20.0));
        let half = began + Duration::from_secs(10);
        assert_eq!(state.left(half), Some(Duration::from_secs(10)));
        assert!(state.share(began + Duration::from_secs(99)) <= 1.0);
    }

    #[test]
    fn nothing_is_promised_where_nothing_is_known() {
        let (state, began) = state((1, 7), (0.0, 0.0));
        let now = began + Duration::from_secs(30);
        assert_eq!(state.left(now), None);
        assert!(state.line(now).ends_with("1/7, 30 s so far"));
    }

    #[test]
    fn done_is_never_more_than_all() {
        let progress = Progress::new();
        progress.expect(1, 1.0);
        for _ in 0..3 {
            progress.ended(1.0);
        }
        let state = lock(&progress.state).clone();
        assert_eq!((state.steps, state.work), ((3, 3), (3.0, 3.0)));
        progress.skipped(1.0);
        assert_eq!(lock(&progress.state).steps, (3, 3));
    }

    #[test]
    fn a_bar_never_stands_behind_its_end() {
        let bar = bar(2);
        for done in 1..5 {
            step(&bar);
            assert_eq!((bar.position(), bar.length()), (done, Some(done.max(2))));
        }
    }
}
