//! HighSpeed TCP's response function.
//!
//! # What it does
//! Up to a window of 38 packets (loss 10⁻³) the response is Reno's, 1.2 / √p; above, it is a
//! straight line in the log-log plane to 83,000 packets at 10⁻⁷: w = 0.12 / p^0.835.
//!
//! # References
//! RFC 3649 §5, eq. 1, tables 2 and 3.

use super::Entry;
use trammel_core::entry::About;

/// HighSpeed TCP's response function in the table of models.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "rfc3649",
        aliases: &["highspeed-response"],
        summary: "HighSpeed TCP's mean window under random loss",
        references: &["RFC 3649 §5"],
        params: &[],
    },
    dialects: &[],
    validity: "highspeed flows that random loss below 1 % limits, with an ACK for every packet \
               counted",
    predict: |question, _| {
        question.require_variants(&["highspeed"])?;
        let loss = question.require_loss()?;
        if loss > MAX_LOSS {
            return Err(format!("the RFC gives it for losses up to 1 %, not {loss}"));
        }
        question.response(|_| mean_window(loss))
    },
};

//= rfc3649 §5
//# In this proposal we restrict our attention to TCP performance in environments with packet loss
//# rates of at most 10^-2
const MAX_LOSS: f64 = 1e-2;
/// Above this loss the response is Reno's: `Low_P`, where both give 38 packets.
const LOW_P: f64 = 1e-3;

/// The mean window in packets at loss `loss`.
pub fn mean_window(loss: f64) -> f64 {
    if loss >= LOW_P {
        reno_window(loss)
    } else {
        0.12 / loss.powf(0.835)
    }
}

/// Reno's mean window as RFC 3649 rounds it; RFC 9438 compares with the same.
pub fn reno_window(loss: f64) -> f64 {
    1.2 / loss.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_3_is_reproduced() {
        let printed = [12.0, 38.0, 263.0, 1795.0, 12279.0, 83981.0, 574356.0];
        for (exponent, window) in (2..).zip(printed) {
            let ours = mean_window(10f64.powi(-exponent));
            // The table rounds some of its windows and cuts others.
            assert!((ours - window).abs() < 1.0, "10^-{exponent}: {ours}");
        }
    }

    #[test]
    fn the_two_branches_meet_within_a_packet() {
        assert!((mean_window(LOW_P) - mean_window(LOW_P * 0.999_999)).abs() < 1.0);
    }
}
