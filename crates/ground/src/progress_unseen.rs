//! Progress where there is no terminal, as in WebAssembly: nobody sees it, and no clock is asked.

/// Progress of a job that nobody sees.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress;

impl Progress {
    /// Of a job that begins now.
    pub fn new() -> Progress {
        Progress
    }

    /// Of a job that begins now, under a picture of it.
    pub fn under(_picture: crate::screen::Picture) -> Progress {
        Progress
    }

    /// More is to be done.
    pub fn expect(&self, _steps: u64, _work: f64) {}

    /// A step starts on this thread.
    pub fn start(&self) {}

    /// A step begins that takes `seconds` by the clock.
    pub fn begin(&self, _seconds: f64) {}

    /// A step is done.
    pub fn ended(&self, _work: f64) {}

    /// A step need not be made.
    pub fn skipped(&self, _work: f64) {}

    /// Takes the line away.
    pub fn finish(&self) {}
}
