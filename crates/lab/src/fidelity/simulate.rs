//! Runs the reference's settings in our simulator and samples the senders at the reference's stamps.

use super::setting::{Path, Start};
use super::trace::{Stamp, Summary, summarise};
use trammel_core::time::Time;

/// One run to make.
#[derive(Clone, Debug)]
pub struct Job {
    /// Where.
    pub path: Path,
    /// Who.
    pub flows: Vec<Start>,
    /// The instants at which each flow is sampled, seconds, ascending.
    pub stamps_s: Vec<Vec<f64>>,
    /// From when on means are taken, for each flow, seconds.
    pub mean_from_s: Vec<f64>,
    /// The seed of every random stream.
    pub seed: u64,
    /// Whether the traces are wanted, not the summaries alone.
    pub is_traced: bool,
}

/// One flow of a run that was made.
#[derive(Clone, Debug)]
pub struct Made {
    /// What it came to.
    pub summary: Summary,
    /// Its trace, where it was wanted.
    pub trace: Vec<Stamp>,
}

impl Job {
    /// Makes the run: one [`Made`] a flow.
    pub fn run(&self) -> anyhow::Result<Vec<Made>> {
        let mut network = self.path.network(&self.flows, self.seed)?;
        let mut instants: Vec<(f64, usize)> = Vec::new();
        for (flow, stamps) in self.stamps_s.iter().enumerate() {
            instants.extend(stamps.iter().map(|&time_s| (time_s, flow)));
        }
        instants.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut traces = vec![Vec::new(); self.flows.len()];
        for (time_s, flow) in instants {
            network.run_until(Time::from_secs_f64(time_s));
            let result = network.flow(flow);
            traces[flow].push(Stamp {
                time_s,
                cwnd_pkts: f64::from(result.cwnd),
                srtt_ms: f64::from(result.srtt_us) / 1e3,
                retrans_pkts: result.sender.retransmissions as f64,
                acked_bytes: result.bytes_acked as f64,
            });
        }
        let rtt_ms = self.path.rtt.as_secs_f64() * 1e3;
        let made = traces.into_iter().zip(&self.mean_from_s);
        made.map(|(trace, &from_s)| {
            let summary = summarise(&trace, from_s, rtt_ms)
                .ok_or_else(|| anyhow::anyhow!("a flow with fewer than two stamps"))?;
            let trace = if self.is_traced { trace } else { Vec::new() };
            Ok(Made { summary, trace })
        })
        .collect()
    }
}

/// Instants every 100 ms from the first to the second of `span_s`: the grid of the ensembles.
pub fn grid(span_s: (f64, f64)) -> Vec<f64> {
    let steps = ((span_s.1 - span_s.0) * 10.0).round() as u32;
    (0..=steps)
        .map(|step| span_s.0 + f64::from(step) / 10.0)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::setting::PLAIN;
    use super::*;

    #[test]
    fn the_grid_has_both_ends() {
        let grid = grid((0.04, 60.04));
        assert_eq!(grid.len(), 601);
        assert!((grid[600] - 60.04).abs() < 1e-9);
    }

    #[test]
    fn a_run_is_sampled_at_its_stamps_and_repeats_itself() {
        let job = Job {
            path: PLAIN,
            flows: vec![Start {
                variant: "reno".to_owned(),
                at: Time::ZERO,
            }],
            stamps_s: vec![grid((0.05, 1.05))],
            mean_from_s: vec![0.5],
            seed: 1,
            is_traced: true,
        };
        let (first, second) = (job.run().unwrap(), job.run().unwrap());
        assert_eq!(first[0].trace, second[0].trace);
        assert_eq!(first[0].trace.len(), 11);
        assert_eq!(first[0].trace[0].cwnd_pkts, 10.0, "the initial window");
        assert!(first[0].summary.goodput_mbps > 10.0);
    }
}
