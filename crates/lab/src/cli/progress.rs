//! A progress bar that shows on a terminal only.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;

/// A bar of `steps` steps on standard error; hidden where that is no terminal.
pub fn bar(steps: u64) -> ProgressBar {
    let target = if std::io::stderr().is_terminal() {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    };
    let style = ProgressStyle::with_template("{wide_bar} {pos}/{len} {msg} {eta}");
    ProgressBar::with_draw_target(Some(steps), target)
        .with_style(style.expect("the template names known fields"))
}

/// A step is done; where more are than were thought of, the bar is as long as they are.
pub fn step(bar: &ProgressBar) {
    if bar.length().is_some_and(|steps| bar.position() >= steps) {
        bar.inc_length(1);
    }
    bar.inc(1);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_never_stands_behind_its_end() {
        let bar = bar(2);
        for done in 1..5 {
            step(&bar);
            assert_eq!((bar.position(), bar.length()), (done, Some(done.max(2))));
        }
    }
}
