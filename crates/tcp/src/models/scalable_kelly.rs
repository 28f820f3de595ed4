//! Scalable TCP's response function: the window goes with one over the loss.
//!
//! # What it does
//! Every ACK adds a = 0.01 packet, a loss takes b = 1/8 of the window. Between losses a window
//! grows by a for each of 1/q packets, so the mean is inversely proportional to the loss; the
//! constant depends on how losses fall: a / ln(1/(1-b)) = 0.07489 for the exact exponential growth
//! and for independent losses alike, a (2-b) / (2b) = 0.075 for a straight saw-tooth, a / b = 0.08
//! in Kelly's fluid limit.
//!
//! # References
//! Kelly 2003, Scalable TCP, §2 and §3.

use super::{Entry, FlowQuestion};
use trammel_core::entry::About;

/// Scalable TCP's response function in the table of models.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "scalable-kelly",
        aliases: &["scalable-response"],
        summary: "Scalable TCP's mean window under random loss",
        references: &[
            "Kelly 2003, Scalable TCP: Improving Performance in Highspeed Wide Area Networks",
        ],
        params: &[],
    },
    dialects: &[
        ("iid", "independent losses: 0.07489 / loss"),
        ("sawtooth", "periodic losses, straight growth: 0.075 / loss"),
        ("fluid", "the fluid limit: 0.08 / loss"),
    ],
    validity: "scalable flows that random loss limits, where every ACK adds 0.01 packet",
    predict: |question, dialect| {
        question.require_variants(&["scalable"])?;
        let loss = question.require_loss()?;
        let constant = match dialect {
            "sawtooth" => ADD * (2.0 - CUT) / (2.0 * CUT),
            "fluid" => ADD / CUT,
            _ => iid_constant(),
        };
        let mut answer = question.response(|_| constant / (question.ack_ratio * loss))?;
        answer
            .notes
            .extend(question.flows.iter().find_map(other_growth));
        Ok(answer)
    },
};

/// Packets that an ACK adds to the window.
pub const ADD: f64 = 0.01;
/// The part of the window that a loss takes.
pub const CUT: f64 = 0.125;

/// Loss times mean window for independent losses, with an ACK for every packet.
pub fn iid_constant() -> f64 {
    ADD / (1.0 / (1.0 - CUT)).ln()
}

/// A warning where `flow` grows by another law than 0.01 packet for every ACK.
pub fn other_growth(flow: &FlowQuestion) -> Option<String> {
    let dialect = flow.word("dialect").filter(|dialect| *dialect != "kelly")?;
    Some(format!(
        "the model adds 0.01 packet for every ACK; the flow's dialect `{dialect}` does not do so \
         in small windows"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::Question;

    #[test]
    fn constants_are_those_of_the_three_derivations() {
        let question = Question {
            loss: 1e-4,
            ..Question::example(&["scalable"])
        };
        let windows = ENTRY.dialects.iter().map(|(dialect, _)| {
            let answer = ENTRY.answer(&question, dialect).unwrap();
            (answer.flows[0].cwnd_pkts.unwrap() * 100.0).round() / 100.0
        });
        assert_eq!(windows.collect::<Vec<_>>(), [748.89, 750.0, 800.0]);
    }

    #[test]
    fn ten_times_the_loss_is_a_tenth_of_the_window() {
        let at = |loss| {
            let question = Question {
                loss,
                ..Question::example(&["scalable"])
            };
            ENTRY.answer(&question, "").unwrap().flows[0]
                .cwnd_pkts
                .unwrap()
        };
        assert!((at(1e-4) / at(1e-3) - 10.0).abs() < 1e-9);
    }
}
