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
