//! What packets of a flow or a stream carry beside TCP: codepoint, and numbers of both hosts.

use trammel_core::time::Span;
use trammel_netsim::packet::Labels;
use trammel_scenario::app::App;
use trammel_scenario::flow::Flow;
use trammel_scenario::model::Scenario;
use trammel_scenario::topology::Topology;
use trammel_scenario::workload::Stream;

/// The numbers of a scenario's hosts. In a network they are those that it names. On a `[path]`
/// flows of one round trip share a pair of hosts, as in a guest; with access links each has its
/// own.
pub(super) struct HostLabels<'a> {
    scenario: &'a Scenario,
}

impl<'a> HostLabels<'a> {
    pub(super) fn new(scenario: &'a Scenario) -> HostLabels<'a> {
        HostLabels { scenario }
    }

    pub(super) fn of_flow(&self, flow: &Flow) -> Labels {
        let pair = self.pair(&flow.name, flow.rtt);
        self.labels(flow.dscp, (flow.from.as_deref(), flow.to.as_deref()), pair)
    }

    pub(super) fn of_stream(&self, stream: &Stream) -> Labels {
        let pair = self.pair(&stream.name, None);
        let ends = (stream.from.as_deref(), stream.to.as_deref());
        self.labels(stream.dscp, ends, pair)
    }

    pub(super) fn of_app(&self, app: &App) -> Labels {
        let pair = self.pair(&app.name, None);
        let ends = (app.flow.from.as_deref(), app.flow.to.as_deref());
        self.labels(app.flow.dscp, ends, pair)
    }

    /// The number of the pair of hosts on a path.
    fn pair(&self, name: &str, rtt: Option<Span>) -> u16 {
        let Topology::Path(path) = &self.scenario.topology else {
            return 0;
        };
        let flows = &self.scenario.flows;
        if path.access.is_some() {
            let streams = self.scenario.streams.iter().map(|stream| &stream.name);
            let apps = self.scenario.apps.iter().map(|app| &app.name);
            let mut names = flows
                .iter()
                .map(|flow| &flow.name)
                .chain(streams)
                .chain(apps);
            return names.position(|one| one == name).unwrap_or(0) as u16;
        }
        let own = rtt.unwrap_or(path.rtt);
        let mut rtts = flows.iter().map(|flow| flow.rtt.unwrap_or(path.rtt));
        rtts.position(|one| one == own).unwrap_or(0) as u16
    }

    fn labels(&self, dscp: u8, ends: (Option<&str>, Option<&str>), pair: u16) -> Labels {
        let [source, destination] = match &self.scenario.topology {
            Topology::Path(_) => [2 * pair, 2 * pair + 1],
            Topology::Graph(graph) => [ends.0, ends.1].map(|name| {
                let place = graph
                    .hosts
                    .iter()
                    .position(|host| Some(host.as_str()) == name);
                place.unwrap_or(graph.hosts.len()) as u16
            }),
        };
        Labels {
            dscp,
            source,
            destination,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
    use trammel_scenario::File;

    fn labels(text: &str) -> Vec<(u8, u16, u16)> {
        let text = format!("duration = \"5 s\"\n{text}");
        let file = File::parse("labels", &text, Path::new(".")).expect("it is sound");
        let scenario = &file.points[0].scenario;
        let labels = HostLabels::new(scenario);
        let all = scenario.flows.iter().map(|flow| labels.of_flow(flow));
        all.map(|one| (one.dscp, one.source, one.destination))
            .collect()
    }

    const FLOWS: &str = "[[flow]]\nname = 'a'\nvariant = 'reno'\ndscp = 'EF'\n[[flow]]\n\
                         name = 'b'\nvariant = 'reno'\n[[flow]]\n\
                         name = 'c'\nvariant = 'reno'\nrtt = '80 ms'\n";

    #[test]
    fn flows_of_one_round_trip_share_their_hosts_on_a_path() {
        let path = "[path]\nrate = '10 Mbit/s'\nrtt = '40 ms'\n";
        assert_eq!(
            labels(&format!("{path}{FLOWS}")),
            [(46, 0, 1), (0, 0, 1), (0, 4, 5)]
        );
        let access = format!("{path}access.rate = '1 Gbit/s'\n{FLOWS}");
        assert_eq!(labels(&access), [(46, 0, 1), (0, 2, 3), (0, 4, 5)]);
    }

    #[test]
    fn hosts_of_a_network_are_those_that_it_names() {
        let network = "[[host]]\nname = 'x'\n[[host]]\nname = 'y'\n[[host]]\nname = 'z'\n\
                       [[link]]\nfrom = 'x'\nto = 'y'\nrate = '10 Mbit/s'\ndelay = '5 ms'\n\
                       [[link]]\nfrom = 'z'\nto = 'y'\nrate = '10 Mbit/s'\ndelay = '5 ms'\n\
                       [[flow]]\nvariant = 'reno'\nfrom = 'x'\nto = 'y'\n\
                       [[flow]]\nvariant = 'cubic'\nfrom = 'y'\nto = 'z'\ndscp = 'CS1'\n";
        assert_eq!(labels(network), [(0, 0, 1), (8, 1, 2)]);
    }
}
