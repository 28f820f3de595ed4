//! What became of each stream, by the decoder: the same for packets that were simulated and for
//! real ones.

use trammel_traffic::decode::{FlowReport, Report, Summary, TotalReport};
use trammel_traffic::signal::message::Count;

/// The account of an engine.
#[derive(Debug)]
pub struct Account {
    /// By stream; nothing of those that the engine left out.
    pub streams: Vec<Option<StreamAccount>>,
    /// All that hold the same instants together.
    pub totals: Vec<TotalReport>,
    /// What a reader has to know.
    pub notes: Vec<String>,
}

/// The account of a stream.
#[derive(Debug)]
pub struct StreamAccount {
    /// What was sent.
    pub sent: Count,
    /// What came.
    pub summary: Summary,
}

impl Account {
    /// The account of `report`, whose flow of the number `numbers[n]` is stream n, of which
    /// `sent[n]` was sent.
    pub fn new(
        report: Report,
        numbers: &[Option<u32>],
        sent: &[Count],
        notes: Vec<String>,
    ) -> Account {
        let find = |number: u32| -> Option<&FlowReport> {
            report.flows.iter().find(|flow| flow.number == number)
        };
        // Numbers are few or in order: a search of each would be long for many thousand streams.
        let is_in_order = numbers
            .iter()
            .zip(&report.flows)
            .all(|(number, flow)| *number == Some(flow.number))
            && numbers.len() == report.flows.len();
        let streams = numbers.iter().zip(sent).enumerate();
        let streams = streams.map(|(place, (number, sent))| {
            let flow = if is_in_order {
                report.flows.get(place)
            } else {
                find((*number)?)
            };
            Some(StreamAccount {
                sent: *sent,
                summary: flow?.summary.clone(),
            })
        });
        Account {
            streams: streams.collect(),
            totals: report.totals,
            notes,
        }
    }
}
