//! Analytic models of TCP: what theory predicts for flows on a path. One file each.
//!
//! A model that does not apply to a [`Question`] answers with the reason, never with a number.
//! Models are asked through [`Entry::answer`], which checks the question first, so that a model
//! sees only sane ones.

use crate::cc;
use std::fmt::Debug;
use trammel_core::entry::{About, Params, Value};
use trammel_core::units::nearest;

include!(concat!(env!("OUT_DIR"), "/models.rs"));
trammel_core::family!("analytic model");

/// What a model is asked: the path and the flows that share it.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// Bottleneck rate in bit/s, as the link counts it.
    pub rate_bps: f64,
    /// Bytes that the link counts for a full-sized packet (IP packet plus link overhead).
    pub wire_bytes: f64,
    /// Payload bytes of a full-sized packet.
    pub mss_bytes: f64,
    /// Queue limit in packets.
    pub buffer_pkts: f64,
    /// Random loss probability per data packet; 0 where losses come from the queue alone.
    pub loss: f64,
    /// Data packets for which a sender's window law counts one ACK: 2 for a sender that counts
    /// delayed ACKs; 1 without delayed ACKs, and with them where the sender counts the packets they
    /// cover.
    pub ack_ratio: f64,
    /// ECN marking threshold in packets, where the queue marks at one.
    pub marking_threshold_pkts: Option<f64>,
    /// Length of the run in seconds.
    pub duration_s: f64,
    /// The flows, in the order of the scenario.
    pub flows: Vec<FlowQuestion>,
}

/// One flow of a [`Question`].
#[derive(Clone, Debug, PartialEq)]
pub struct FlowQuestion {
    /// The variant's name, as in [`crate::cc`].
    pub variant: String,
    /// The variant's parameters.
    pub params: Params,
    /// Unloaded round-trip time in seconds.
    pub rtt_s: f64,
    /// Retransmission timeout in seconds, for models that need it.
    pub rto_s: f64,
    /// Largest window in packets, from the receiver or the socket buffer; infinite where none
    /// binds.
    pub max_window_pkts: f64,
}

/// What a model predicts for one flow. What it cannot tell is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FlowAnswer {
    /// Goodput in bit/s.
    pub goodput_bps: Option<f64>,
    /// Share of the goodput of all flows.
    pub share: Option<f64>,
    /// Mean congestion window in packets.
    pub cwnd_pkts: Option<f64>,
}

/// What a model predicts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// One answer a flow, in the order of the question.
    pub flows: Vec<FlowAnswer>,
    /// Mean queueing delay in seconds.
    pub queue_delay_s: Option<f64>,
    /// The model's inner quantities, by a name that ends in its unit.
    pub details: Vec<(&'static str, f64)>,
    /// What a reader must know to read the numbers: which branch was taken, what is outside the
    /// domain.
    pub notes: Vec<String>,
}

/// One row of [`ALL`].
#[derive(Debug)]
pub struct Entry {
    /// Name, summary, references, parameters.
    pub about: About,
    /// The spellings `model:dialect` that select among published forms, with what each means.
    pub dialects: &'static [(&'static str, &'static str)],
    /// Where the model holds, in a sentence.
    pub validity: &'static str,
    /// Answers a checked question in one of `dialects` (an empty text where there are none), or
    /// says why not. Called by [`Entry::answer`].
    pub predict: fn(&Question, dialect: &str) -> Result<Answer, String>,
}

impl Entry {
    /// The dialect meant where the user names none: the first, or an empty text.
    pub fn default_dialect(&self) -> &'static str {
        self.dialects.first().map_or("", |(name, _)| name)
    }

    /// Answers `question` in `dialect` (empty: the default one), or says why not. Never a number
    /// that is not finite.
    pub fn answer(&self, question: &Question, dialect: &str) -> Result<Answer, String> {
        let dialect = if dialect.is_empty() {
            self.default_dialect()
        } else {
            self.dialect(dialect)?
        };
        question.check()?;
        let answer = (self.predict)(question, dialect)?;
        if answer.numbers().all(f64::is_finite) {
            Ok(answer)
        } else {
            Err("the formula has no finite value here".to_owned())
        }
    }

    fn dialect(&self, wanted: &str) -> Result<&'static str, String> {
        let names = || self.dialects.iter().map(|(name, _)| *name);
        names().find(|name| *name == wanted).ok_or_else(|| {
            let model = self.about.name;
            match nearest(wanted, names()) {
                Some(near) => {
                    format!("`{model}` has no dialect `{wanted}`; did you mean `{near}`?")
                }
                None if self.dialects.is_empty() => format!("`{model}` has no dialects"),
                None => {
                    let known: Vec<_> = names().map(|name| format!("`{name}`")).collect();
                    format!(
                        "`{model}` has no dialect `{wanted}`; it has {}",
                        known.join(", ")
                    )
                }
            }
        })
    }
}

impl Answer {
    /// Every number in the answer.
    pub fn numbers(&self) -> impl Iterator<Item = f64> {
        let flows = self.flows.iter();
        flows
            .flat_map(|flow| [flow.goodput_bps, flow.share, flow.cwnd_pkts])
            .flatten()
            .chain(self.queue_delay_s)
            .chain(self.details.iter().map(|(_, value)| *value))
    }
}

impl FlowQuestion {
    /// The variant's name where it was given by an alias.
    pub fn variant_name(&self) -> &str {
        cc::find(&self.variant).map_or(&self.variant, |entry| entry.about.name)
    }

    /// The numeric parameter `name`, where the variant has it.
    pub fn param(&self, name: &str) -> Option<f64> {
        self.params
            .iter()
            .find_map(|(key, value)| match (key == name, value) {
                (true, Value::Int(v)) => Some(*v as f64),
                (true, Value::Float(v)) => Some(*v),
                _ => None,
            })
    }

    /// The parameter `name` that is a word, where the variant has it.
    pub fn word(&self, name: &str) -> Option<&str> {
        self.params
            .iter()
            .find_map(|(key, value)| match (key == name, value) {
                (true, Value::Text(v)) => Some(v.as_str()),
                _ => None,
            })
    }
}

impl Question {
    /// Packets per second that the bottleneck passes.
    pub fn capacity_pps(&self) -> f64 {
        self.rate_bps / (8.0 * self.wire_bytes)
    }

    /// Packets in flight that fill the path without a queue, at a round trip of `rtt_s`.
    pub fn bdp_pkts(&self, rtt_s: f64) -> f64 {
        self.capacity_pps() * rtt_s
    }

    /// The goodput of `pps` packets per second sent, of which the random losses arrive only once
    /// repeated.
    pub fn goodput_bps(&self, pps: f64) -> f64 {
        pps * self.mss_bytes * 8.0 * (1.0 - self.loss)
    }

    /// Says what makes the question meaningless.
    pub fn check(&self) -> Result<(), String> {
        let positive = |name: &str, value: f64| {
            if value.is_finite() && value > 0.0 {
                Ok(())
            } else {
                Err(format!("the {name} must be positive, not {value}"))
            }
        };
        positive("rate", self.rate_bps)?;
        positive("packet size", self.wire_bytes)?;
        positive("payload size", self.mss_bytes)?;
        positive("duration", self.duration_s)?;
        if self.mss_bytes > self.wire_bytes {
            return Err("the payload is larger than its packet".to_owned());
        }
        if !(0.0..1.0).contains(&self.loss) {
            return Err(format!("the loss must be in [0, 1), not {}", self.loss));
        }
        if !(self.ack_ratio >= 1.0 && self.ack_ratio.is_finite()) {
            let ratio = self.ack_ratio;
            return Err(format!("packets per ACK must be at least 1, not {ratio}"));
        }
        let thresholds = [Some(self.buffer_pkts), self.marking_threshold_pkts];
        if thresholds
            .into_iter()
            .flatten()
            .any(|v| v.is_nan() || v < 0.0)
        {
            return Err("queue limit and marking threshold must not be negative".to_owned());
        }
        if self.flows.is_empty() {
            return Err("there is no flow".to_owned());
        }
        for flow in &self.flows {
            positive("round-trip time", flow.rtt_s)?;
            if !(flow.rto_s >= 0.0 && flow.rto_s.is_finite()) {
                return Err(format!("the timeout must not be {}", flow.rto_s));
            }
            // An infinite limit is none, so `positive` would refuse too much.
            if flow.max_window_pkts.is_nan() || flow.max_window_pkts <= 0.0 {
                let limit = flow.max_window_pkts;
                return Err(format!("the window limit must be positive, not {limit}"));
            }
        }
        Ok(())
    }

    /// Refuses flows of variants that the model does not describe.
    pub fn require_variants(&self, known: &[&str]) -> Result<(), String> {
        match (self.flows.iter()).find(|flow| !known.contains(&flow.variant_name())) {
            Some(flow) => Err(format!(
                "it describes {} flows, not `{}`",
                known.join(" and "),
                flow.variant_name()
            )),
            None => Ok(()),
        }
    }

    /// The random loss, for models that need one.
    pub fn require_loss(&self) -> Result<f64, String> {
        if self.loss > 0.0 {
            Ok(self.loss)
        } else {
            Err("it needs random loss; here losses come from the queue alone".to_owned())
        }
    }

    /// Refuses random loss, for models of what the queue alone does.
    pub fn forbid_loss(&self) -> Result<(), String> {
        if self.loss > 0.0 {
            Err("it holds without random loss only".to_owned())
        } else {
            Ok(())
        }
    }

    /// The round-trip time that all flows have, for models that need one.
    pub fn require_equal_rtt(&self) -> Result<f64, String> {
        let rtt_s = self.flows[0].rtt_s;
        if (self.flows.iter()).all(|flow| (flow.rtt_s / rtt_s - 1.0).abs() < 1e-6) {
            Ok(rtt_s)
        } else {
            Err("it holds for flows of equal round-trip time".to_owned())
        }
    }

    /// The answer for flows that random loss limits, from the packets per second and the mean
    /// window of each; refused where the link could not carry them, since then the queue sets the
    /// rates.
    pub fn loss_limited(&self, flows: &[(f64, f64)]) -> Result<Answer, String> {
        let total_pps: f64 = flows.iter().map(|(pps, _)| pps).sum();
        let (demand, link) = (total_pps * self.wire_bytes * 8.0 / 1e6, self.rate_bps / 1e6);
        if demand > link {
            return Err(format!(
                "would exceed the link: the loss alone would allow {demand:.4} Mbit/s of {link:.4} \
                 Mbit/s"
            ));
        }
        let flows = flows.iter().map(|(pps, window)| FlowAnswer {
            goodput_bps: Some(self.goodput_bps(*pps)),
            share: Some(pps / total_pps),
            cwnd_pkts: Some(*window),
        });
        Ok(Answer {
            flows: flows.collect(),
            queue_delay_s: None,
            ..Answer::default()
        })
    }

    /// The answer of a response function: each flow's mean window as a function of the loss.
    pub fn response(&self, window: impl Fn(&FlowQuestion) -> f64) -> Result<Answer, String> {
        let windows: Vec<f64> = self.flows.iter().map(window).collect();
        let smallest = windows.iter().copied().fold(f64::INFINITY, f64::min);
        if smallest < 1.0 {
            return Err(format!(
                "a mean window of {smallest:.2} packets: timeouts, which it leaves out, decide"
            ));
        }
        let limited = |(flow, window): (&FlowQuestion, &f64)| {
            let window = window.min(flow.max_window_pkts);
            (window / flow.rtt_s, window)
        };
        let rates: Vec<_> = self.flows.iter().zip(&windows).map(limited).collect();
        let mut answer = self.loss_limited(&rates)?;
        if self
            .flows
            .iter()
            .zip(&windows)
            .any(|(f, w)| f.max_window_pkts < *w)
        {
            answer
                .notes
                .push("the window limit binds, not the loss".to_owned());
        }
        // Three duplicate ACKs need a window of four.
        if smallest < 4.0 {
            answer
                .notes
                .push("below 4 packets timeouts decide, which it leaves out".to_owned());
        }
        Ok(answer)
    }
}

#[cfg(test)]
impl Question {
    /// A question for tests: 1 Gbit/s, 100 ms, a queue of one bandwidth-delay product, no loss.
    pub(crate) fn example(variants: &[&str]) -> Question {
        let flow = |variant: &&str| FlowQuestion {
            variant: (*variant).to_owned(),
            params: Params::default(),
            rtt_s: 0.1,
            rto_s: 0.3,
            max_window_pkts: f64::INFINITY,
        };
        Question {
            rate_bps: 1e9,
            wire_bytes: 1514.0,
            mss_bytes: 1448.0,
            buffer_pkts: 8256.0,
            loss: 0.0,
            ack_ratio: 1.0,
            marking_threshold_pkts: None,
            duration_s: 100.0,
            flows: variants.iter().map(flow).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MIXES: [&[&str]; 9] = [
        &["reno"],
        &["scalable", "reno"],
        &["highspeed", "highspeed"],
        &["scalable"],
        &["cubic"],
        &["vegas", "vegas"],
        &["dctcp", "dctcp", "dctcp"],
        &["bbr", "cubic", "reno"],
        &["nonesuch"],
    ];

    /// Every entry in every one of its dialects.
    fn everything() -> impl Iterator<Item = (&'static Entry, &'static str)> {
        ALL.iter().flat_map(|entry| {
            let dialects = entry.dialects.iter().map(|(name, _)| *name);
            let default = entry.dialects.is_empty().then_some("");
            dialects
                .chain(default)
                .map(move |dialect| (*entry, dialect))
        })
    }

    #[test]
    fn every_entry_says_where_it_holds_and_names_its_dialects_once() {
        for entry in ALL {
            assert!(!entry.validity.is_empty(), "{}", entry.about.name);
            let mut dialects: Vec<_> = entry.dialects.iter().map(|(name, _)| *name).collect();
            dialects.sort_unstable();
            dialects.dedup();
            assert_eq!(dialects.len(), entry.dialects.len(), "{}", entry.about.name);
        }
    }

    #[test]
    fn a_dialect_is_the_first_one_unless_it_is_named_and_a_slip_is_told() {
        let answer = |name: &str, dialect| {
            let question = Question::example(&["scalable", "reno"]);
            find(name).expect("built in").answer(&question, dialect)
        };
        let by_name = answer("tekala-2007", "as-printed");
        assert_eq!(answer("tekala-2007", ""), by_name);
        assert_ne!(answer("tekala-2007", "corrected"), by_name);
        assert_eq!(
            answer("tekala-2007", "corected").unwrap_err(),
            "`tekala-2007` has no dialect `corected`; did you mean `corrected`?"
        );
        assert_eq!(
            answer("capacity", "fast").unwrap_err(),
            "`capacity` has no dialects"
        );
    }

    #[test]
    fn every_model_answers_some_question_in_every_dialect() {
        for (entry, dialect) in everything() {
            let answered = MIXES.iter().any(|mix| {
                [0.0, 1e-3].into_iter().any(|loss| {
                    let question = Question {
                        loss,
                        marking_threshold_pkts: mix.contains(&"dctcp").then_some(1500.0),
                        ..Question::example(mix)
                    };
                    entry.answer(&question, dialect).is_ok()
                })
            });
            assert!(answered, "{}:{dialect}", entry.about.name);
        }
    }

    #[test]
    fn nonsense_is_refused_by_every_model() {
        let spoil: [fn(&mut Question); 13] = [
            |q| q.rate_bps = 0.0,
            |q| q.rate_bps = f64::NAN,
            |q| q.wire_bytes = -1.0,
            |q| q.mss_bytes = 9000.0,
            |q| q.buffer_pkts = f64::NAN,
            |q| q.loss = 1.0,
            |q| q.loss = f64::NAN,
            |q| q.ack_ratio = 0.0,
            |q| q.duration_s = f64::INFINITY,
            |q| q.flows.clear(),
            |q| q.flows[0].rtt_s = 0.0,
            |q| q.flows[0].rto_s = f64::INFINITY,
            |q| q.flows[0].max_window_pkts = f64::NAN,
        ];
        for (entry, dialect) in everything() {
            for mix in MIXES {
                for (nth, spoil) in spoil.iter().enumerate() {
                    let mut question = Question {
                        loss: 1e-3,
                        ..Question::example(mix)
                    };
                    spoil(&mut question);
                    let answer = entry.answer(&question, dialect);
                    assert!(answer.is_err(), "{}, {nth}: {answer:?}", entry.about.name);
                }
            }
        }
    }

    fn questions() -> impl Strategy<Value = Question> {
        let path = (3.0..12.0, -5.0..1.5, -1.0..3.0, -9.0..0.0, any::<bool>());
        let rest = (
            0..MIXES.len(),
            1.0..4.0,
            -2.0..5.0,
            proptest::option::of(0.0..3.0),
        );
        (path, rest).prop_map(
            |((rate, rtt, buffer, loss, lossy), (mix, ack, duration, mark))| {
                let mut question = Question::example(MIXES[mix]);
                question.rate_bps = 10f64.powf(rate);
                for flow in &mut question.flows {
                    flow.rtt_s = 10f64.powf(rtt);
                }
                let bdp = question.bdp_pkts(question.flows[0].rtt_s);
                question.buffer_pkts = bdp * 10f64.powf(buffer);
                question.loss = if lossy { 10f64.powf(loss) } else { 0.0 };
                question.ack_ratio = ack;
                question.duration_s = 10f64.powf(duration);
                question.marking_threshold_pkts = mark.map(|mark| mark * bdp);
                question
            },
        )
    }

    proptest! {
        #[test]
        fn answers_are_finite_and_within_the_link(question in questions()) {
            for (entry, dialect) in everything() {
                let Ok(answer) = entry.answer(&question, dialect) else { continue };
                prop_assert_eq!(answer.flows.len(), question.flows.len());
                prop_assert!(answer.numbers().all(|v| v.is_finite() && v >= 0.0), "{:?}", answer);
                let goodput: f64 = answer.flows.iter().filter_map(|f| f.goodput_bps).sum();
                let ceiling = question.goodput_bps(question.capacity_pps());
                prop_assert!(goodput <= ceiling * (1.0 + 1e-9), "{}: {goodput}", entry.about.name);
                let shares: f64 = answer.flows.iter().filter_map(|f| f.share).sum();
                prop_assert!((shares - 1.0).abs() < 1e-9, "{}: {shares}", entry.about.name);
            }
        }

        #[test]
        fn more_loss_or_a_longer_path_never_gives_more(
            loss in -7.0..-2.1f64, rtt in -3.0..0.0f64, by in 0.01..0.5f64,
        ) {
            let responses = [
                ("square-root", "reno"), ("pftk", "reno"), ("rfc3649", "highspeed"),
                ("scalable-kelly", "scalable"), ("rfc9438", "cubic"),
            ];
            for (model, variant) in responses {
                let entry = find(model).unwrap();
                for (dialect, _) in entry.dialects.iter().chain(&[("", "")]) {
                    let goodput = |loss: f64, rtt: f64| {
                        let mut question = Question::example(&[variant]);
                        // Faster than any of them asks for.
                        question.rate_bps = 1e18;
                        question.loss = 10f64.powf(loss);
                        question.flows[0].rtt_s = 10f64.powf(rtt);
                        entry.answer(&question, dialect).unwrap().flows[0].goodput_bps.unwrap()
                    };
                    let base = goodput(loss, rtt);
                    prop_assert!(goodput((loss + by).min(-2.0), rtt) < base, "{model}:{dialect}");
                    prop_assert!(goodput(loss, rtt + by) < base, "{model}:{dialect}");
                }
            }
        }
    }
}
