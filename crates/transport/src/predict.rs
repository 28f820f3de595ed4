//! Asks the analytic models: a scenario becomes a question, and each model answers or says why not.

use super::network_of::with_buffers;
use super::predict_pieces;
use trammel_core::time::Span;
use trammel_scenario::columns::{PREDICTIONS, table};
use trammel_scenario::flow::{Buffers, DelayedAck, Flow};
use trammel_scenario::model::Scenario;
use trammel_scenario::path::{Direction, Path};
use trammel_scenario::registry::Family;
use trammel_scenario::topology::Topology;
use trammel_stats::table::{Cell, Table};
use trammel_tcp::cc;
use trammel_tcp::models::{self, Answer, FlowQuestion, Question};
use trammel_tcp::stack::{AckPolicy, Stack};

/// Bytes of headers of a full segment with timestamps.
const HEADERS: f64 = 52.0;

/// What one model says of one scenario.
#[derive(Clone, Debug)]
pub struct Prediction {
    /// The model, with its form where it has several: `tekala-2007:corrected`.
    pub model: String,
    /// The flows: name and variant.
    pub flows: Vec<(String, String)>,
    /// What it says.
    pub answer: Answer,
}

impl Prediction {
    /// A row a flow.
    pub(crate) fn to_table(&self) -> Table {
        let mut table = table("predictions", PREDICTIONS);
        for ((flow, variant), answer) in self.flows.iter().zip(&self.answer.flows) {
            let row = vec![
                Cell::from(self.model.as_str()),
                flow.as_str().into(),
                variant.as_str().into(),
                answer.goodput_bps.map(|bps| bps / 1e6).into(),
                answer.share.into(),
                answer.cwnd_pkts.into(),
                self.answer.queue_delay_s.map(|s| s * 1e6).into(),
                self.answer.notes.join("; ").into(),
            ];
            table
                .push(row)
                .expect("the row has the columns of `PREDICTIONS`");
        }
        table
    }
}

/// What the models say of `scenario`: those that it names, or every one that applies. Second, why
/// models that it names do not.
pub fn predict(scenario: &Scenario) -> (Vec<Prediction>, Vec<String>) {
    let asked = &scenario.models;
    let questions = questions(scenario);
    let mut refusals = Vec::new();
    let (mut predictions, mut unknown) = (Vec::new(), Vec::new());
    let mut ask = |entry: &models::Entry, dialect: &str, was_named: bool| {
        let model = if dialect.is_empty() {
            entry.about.name.to_owned()
        } else {
            format!("{}:{dialect}", entry.about.name)
        };
        let answer = questions
            .as_ref()
            .map_err(Clone::clone)
            .and_then(|questions| answer(entry, dialect, questions));
        match answer {
            Ok(answer) => {
                let flows = scenario
                    .flows
                    .iter()
                    .map(|flow| (flow.name.clone(), variant_of(flow)));
                predictions.push(Prediction {
                    model,
                    flows: flows.collect(),
                    answer,
                });
            }
            Err(why) if was_named => {
                refusals.push(format!("Model `{model}` does not apply: {why}."));
            }
            Err(_) => {}
        }
    };
    if asked.is_empty() {
        for entry in models::all() {
            ask(entry, entry.default_dialect(), false);
        }
    }
    for choice in asked {
        // The scenario's reader has refused unknown names; one built from Rust may still have them.
        match models::find(&choice.name) {
            Some(entry) => {
                let dialect = choice.dialect.as_deref().unwrap_or(entry.default_dialect());
                ask(entry, dialect, true);
            }
            None => unknown.push(format!("There is no model `{}`.", choice.name)),
        }
    }
    refusals.extend(unknown);
    (predictions, refusals)
}

/// The questions of a scenario's pieces, each with its part of the run; nothing is asked of an
/// outage.
fn questions(scenario: &Scenario) -> Result<Vec<(f64, Option<Question>)>, String> {
    let pieces = predict_pieces::pieces(scenario)?.into_iter();
    let ask = |(part, piece): predict_pieces::Piece| {
        Ok((part, piece.as_ref().map(question).transpose()?))
    };
    pieces.map(ask).collect()
}

/// What a model says of all pieces.
fn answer(
    entry: &models::Entry,
    dialect: &str,
    questions: &[(f64, Option<Question>)],
) -> Result<Answer, String> {
    if let [(_, Some(question))] = questions {
        return entry.answer(question, dialect);
    }
    let ask = |(part, question): &(f64, Option<Question>)| {
        let answer = question
            .as_ref()
            .map(|question| entry.answer(question, dialect));
        Ok((*part, answer.transpose()?))
    };
    let answers: Result<Vec<_>, String> = questions.iter().map(ask).collect();
    answers.map(predict_pieces::mean)
}

fn variant_of(flow: &Flow) -> String {
    let entry = cc::find(&flow.variant.name);
    entry.map_or_else(
        || flow.variant.name.clone(),
        |entry| entry.about.name.to_owned(),
    )
}

/// The question that `scenario` puts to a model, or why no model describes it.
pub fn question(scenario: &Scenario) -> Result<Question, String> {
    let Topology::Path(path) = &scenario.topology else {
        return Err("the models describe one bottleneck, not a network".to_owned());
    };
    if path.wifi.is_some() {
        return Err("the models describe a wire, not a wireless cell".to_owned());
    }
    let line = &path.line;
    if !line.schedule.is_empty() || line.trace.is_some() || line.ack_trace.is_some() {
        return Err("the models describe a link of constant rate".to_owned());
    }
    let has_brief = !scenario.workloads.is_empty() || !scenario.apps.is_empty();
    if has_brief || !scenario.streams.is_empty() {
        return Err("the models describe long flows without other traffic".to_owned());
    }
    if let Some(flow) = scenario.flows.iter().find(|flow| flow.rate.is_some()) {
        return Err(format!(
            "the models describe flows that always have something to send, and `{}` writes at a \
             rate",
            flow.name
        ));
    }
    if let Some(flow) = scenario.flows.iter().find(|flow| flow.bytes.is_some()) {
        return Err(format!(
            "the models describe flows without end, and `{}` has one",
            flow.name
        ));
    }
    let stacks = scenario
        .flows
        .iter()
        .map(stack_of)
        .collect::<Result<Vec<_>, _>>()?;
    let flows = scenario.flows.iter().zip(&stacks);
    let flows = flows.map(|(flow, stack)| flow_question(flow, stack, path));
    let ratios = stacks.iter().map(ack_ratio);
    let line = &path.line;
    Ok(Question {
        rate_bps: line.rate.as_bps() as f64,
        wire_bytes: f64::from(line.mtu + line.overhead),
        mss_bytes: f64::from(line.mtu) - HEADERS,
        buffer_pkts: f64::from(line.queue_packets(path.rtt)),
        loss: random_loss(path)?,
        ack_ratio: ratios.fold(1.0, f64::max),
        marking_threshold_pkts: marking_threshold(path)?,
        duration_s: scenario.duration.as_secs_f64(),
        flows: flows.collect::<Result<_, _>>()?,
    })
}

fn random_loss(path: &Path) -> Result<f64, String> {
    let Some(loss) = path
        .line
        .loss
        .as_ref()
        .filter(|loss| loss.direction != Direction::Ack)
    else {
        return Ok(0.0);
    };
    let mean = loss.model.loss_model()?.mean_loss();
    mean.ok_or_else(|| format!("loss model `{}` has no mean loss", loss.model.name))
}

fn marking_threshold(path: &Path) -> Result<Option<f64>, String> {
    let discipline = &path.line.queue.discipline;
    if discipline.about(Family::Discipline)?.name != "threshold" {
        return Ok(None);
    }
    let params = discipline.params(Family::Discipline)?;
    Ok(params.bool("ecn").then(|| params.int("threshold") as f64))
}

fn stack_of(flow: &Flow) -> Result<Stack, String> {
    let name = flow.stack.name();
    let mut stack = Stack::preset(name).ok_or_else(|| format!("no stack is called `{name}`"))?;
    stack.min_rto = flow.min_rto.unwrap_or(stack.min_rto);
    match flow.delayed_ack {
        DelayedAck::Off | DelayedAck::Segments(1) => stack.ack_policy = AckPolicy::EverySegment,
        DelayedAck::Segments(n) if n > 2 => stack.ack_policy = AckPolicy::Stretched(n, Span::ZERO),
        DelayedAck::Stack | DelayedAck::Segments(_) => {}
    }
    Ok(stack)
}

/// Data packets for which the sender's law counts one ACK.
fn ack_ratio(stack: &Stack) -> f64 {
    match stack.ack_policy {
        _ if stack.byte_counting => 1.0,
        AckPolicy::EverySegment => 1.0,
        AckPolicy::Stretched(segments, _) => f64::from(segments),
        AckPolicy::Delayed(_) | AckPolicy::Linux => 2.0,
    }
}

fn flow_question(flow: &Flow, stack: &Stack, path: &Path) -> Result<FlowQuestion, String> {
    let rtt = flow.rtt.unwrap_or(path.rtt);
    // Linux adds its least timeout to the round trip, RFC 6298 takes the larger of the two.
    let rto: Span = if stack.linux_rtt {
        rtt + stack.min_rto
    } else {
        rtt.max(stack.min_rto)
    };
    let mss = path.line.mtu.saturating_sub(HEADERS as u32).max(1);
    let spoken = Stack {
        mss: mss.min(u32::from(u16::MAX)) as u16,
        ..stack.clone()
    };
    let (sender, receiver) = with_buffers(spoken, flow);
    let buffers = [
        (flow.socket_buffer.is_some() || flow.buffers == Buffers::Linux)
            .then(|| sender.largest_flight()),
        (receiver.is_receive_buffer_set || flow.buffers == Buffers::Linux)
            .then(|| receiver.largest_window()),
    ];
    let windows = buffers
        .into_iter()
        .flatten()
        .map(|bytes| bytes as f64 / f64::from(mss));
    let clamp = flow.cwnd_clamp.map(f64::from);
    // What leaves in a round trip at the limit of the rate.
    let paced = flow.pacing_rate.map(|rate| {
        let payload_bits = 8.0 * f64::from(mss);
        rate.as_bps() as f64 * rtt.as_secs_f64() / payload_bits
    });
    Ok(FlowQuestion {
        variant: variant_of(flow),
        params: flow.params()?,
        rtt_s: rtt.as_secs_f64(),
        rto_s: rto.as_secs_f64(),
        max_window_pkts: windows
            .chain(clamp)
            .chain(paced)
            .fold(f64::INFINITY, f64::min),
    })
}
