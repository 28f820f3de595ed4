//! One run in virtual time, a step after the other, so that a reader watches it and pauses it. Its
//! tables are those of a run without a pause.

use super::network_of::{Built, BuiltFlow};
use super::observe::Observation;
use super::run_tables::RunTables;
use super::simulate::{build, observation, tables};
use trammel_core::time::Time;
use trammel_netsim::ids::FlowId;
use trammel_netsim::trace::Sample;
use trammel_scenario::model::Scenario;

/// A run that goes on when it is told to.
#[derive(Debug)]
pub struct Stepped {
    scenario: Scenario,
    seed: u64,
    curves: bool,
    built: Built,
    observation: Observation,
    now: Time,
}

/// A flow at one instant.
#[derive(Clone, Copy, Debug)]
pub struct FlowNow {
    /// Its sender.
    pub sender: Sample,
    /// Payload bytes sent so far, each once.
    pub sent_bytes: u64,
    /// Payload bytes delivered in order so far.
    pub delivered_bytes: u64,
    /// Payload bytes that the sender knows to have arrived so far, in order or not, in full
    /// segments.
    pub arrived_bytes: u64,
}

/// A link at one instant.
#[derive(Clone, Copy, Debug)]
pub struct LinkNow {
    /// Packets that wait, the one being sent not among them.
    pub queue_pkts: u32,
    /// Their bytes.
    pub queue_bytes: u64,
    /// Packets dropped so far, by the queue or for want of room, and lost on the line.
    pub dropped_pkts: u64,
    /// Packets marked with congestion experienced so far.
    pub marked_pkts: u64,
}

impl Stepped {
    /// The run of `scenario` with `seed`, at its beginning; short curves are kept for a report
    /// where `curves` is set.
    pub fn new(scenario: &Scenario, seed: u64, curves: bool) -> anyhow::Result<Stepped> {
        let mut built = build(scenario, seed)?;
        let observation = observation(scenario, &mut built, curves);
        Ok(Stepped {
            scenario: scenario.clone(),
            seed,
            curves,
            built,
            observation,
            now: Time::ZERO,
        })
    }

    /// The instant up to which it has run.
    pub fn now(&self) -> Time {
        self.now
    }

    /// The seed of the run.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Whether it has come to its end.
    pub fn is_over(&self) -> bool {
        self.now == self.scenario.end()
    }

    /// Runs for about a two-thousandth of the run; does nothing at the end.
    pub fn step(&mut self) {
        if !self.is_over() {
            let next = self.observation.next(&mut self.built, &|| false);
            self.now = next.expect("nothing stops it");
        }
    }

    /// The names of its flows, in the order of [`Stepped::flows`].
    pub fn flow_names(&self) -> impl Iterator<Item = &str> {
        self.built.flows.iter().map(|flow| flow.name.as_str())
    }

    /// The flows now; nothing of one that has no connection yet.
    pub fn flows(&mut self) -> Vec<Option<FlowNow>> {
        let (now, network) = (self.now, &mut self.built.network);
        let flow = |(index, flow): (usize, &BuiltFlow)| {
            let id = FlowId::new(index);
            let (sender, _) = network.connections(id)?;
            let sample = Sample::of(sender, now);
            let tp = sender.tp();
            let outstanding = u64::from(tp.snd_nxt.wrapping_sub(tp.snd_una));
            Some(FlowNow {
                sent_bytes: sample.bytes_acked + outstanding,
                arrived_bytes: tp.delivered * u64::from(flow.payload_bytes),
                sender: sample,
                delivered_bytes: network.flow(id).bytes_delivered,
            })
        };
        self.built.flows.iter().enumerate().map(flow).collect()
    }

    /// The names of its links that have a rate and go forward, in the order of
    /// [`Stepped::links`].
    pub fn link_names(&self) -> impl Iterator<Item = &str> {
        let forward = self.built.links.iter().filter(|link| link.is_forward);
        forward.map(|link| link.name.as_str())
    }

    /// Those links now.
    pub fn links(&mut self) -> Vec<LinkNow> {
        let Built { links, network, .. } = &mut self.built;
        let forward = links.iter().filter(|link| link.is_forward);
        let now = forward.map(|link| {
            let (queue_pkts, queue_bytes) = network.waiting(link.index);
            let counters = network.link(link.index).counters();
            LinkNow {
                queue_pkts,
                queue_bytes,
                dropped_pkts: counters.dropped_pkts(),
                marked_pkts: counters.marked_pkts,
            }
        });
        now.collect()
    }

    /// The tables of the run; it runs to its end first.
    pub fn finish(mut self) -> RunTables {
        while !self.is_over() {
            self.step();
        }
        let seen = self.observation.into_seen();
        tables(&self.scenario, self.built, &seen, self.curves)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::simulate;
    use trammel_scenario::File;

    #[test]
    fn pauses_change_no_number() {
        let text = "duration = \"3 s\"\nwarmup = \"1 s\"\n[path]\nrate = \"10 Mbit/s\"\n\
                    rtt = \"20 ms\"\n[[flow]]\nvariant = \"cubic\"\n[[flow]]\nvariant = \"bbr\"\n";
        let file = File::parse("a.toml", text, std::path::Path::new(".")).unwrap();
        let scenario = &file.points[0].scenario;
        let mut stepped = Stepped::new(scenario, 7, true).unwrap();
        assert_eq!(stepped.flow_names().count(), 2);
        let (mut looks, mut most) = (0, 0);
        while !stepped.is_over() {
            stepped.step();
            looks += 1;
            let queue = stepped.links()[0].queue_pkts;
            most = most.max(queue);
            let flows: Vec<_> = stepped.flows().into_iter().flatten().collect();
            assert!(
                flows
                    .iter()
                    .all(|flow| flow.sent_bytes >= flow.delivered_bytes)
            );
        }
        assert_eq!(looks, 1998, "2000 looks are shared out over three bins");
        assert!(most > 0, "a queue was seen");
        assert_eq!(stepped.finish(), simulate(scenario, 7, true).unwrap());
    }
}
