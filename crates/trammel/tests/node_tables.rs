//! Control software writes the tables of a card that is a node of a simulated network.

use trammel_card::RegisterDataplane;
use trammel_control::config::cpuhw;
use trammel_control::{Config, Control};
use trammel_core::rng::Rng;
use trammel_core::time::{Span, Time};
use trammel_core::units::Rate;
use trammel_netfpga::Params;
use trammel_netsim::link::LinkSpec;
use trammel_netsim::network::Network;
use trammel_netsim::stream::{StreamSpec, sized};
use trammel_stats::arrivals::{Renewal, Spans};
use trammel_stats::dist::constant::Constant;
use trammel_workbench::card::{CardBetween, LINE_BYTES};

#[test]
fn commands_change_what_a_node_forwards_while_flows_run() {
    let mut network = Network::new();
    let mut card = CardBetween::new(&Params::REFERENCE_1G, 1500).unwrap();
    let mut link = |name: &str, delay: Span| {
        let mut spec = LinkSpec::wire(name, delay);
        spec.rate = Some(Rate::from_bps(1_000_000_000));
        network.add_link(spec)
    };
    let delay = Span::from_us(50);
    let into = [0, 1].map(|port| link(&format!("in{port}"), delay - card.early()));
    let from = [0, 1].map(|port| link(&format!("out{port}"), delay));
    assert!(into.iter().all(|link| card.attach(*link)));
    network.add_middlebox(Box::new(card.clone()), &from);
    let plan = sized(
        Renewal::new(
            Time::from_ms(1),
            Spans::constant_rate(1000.0).unwrap(),
            Rng::new(1, "plan"),
        ),
        Box::new(Constant::new(500.0)),
        Rng::new(1, "size"),
        1472,
        28 + LINE_BYTES,
    );
    let stream = network.add_stream(StreamSpec {
        name: "udp".into(),
        plan,
        stop: Time::from_ms(40),
        route: vec![into[0], from[1]],
        keeps_arrivals: false,
    });

    let interfaces = "eth0 10.0.0.1 255.255.255.0 2:0:0:0:0:1\n\
                      eth1 10.0.1.1 255.255.255.0 2:0:0:0:0:2\n";
    let interfaces = cpuhw::read("cpuhw", interfaces).unwrap();
    let mut control = Control::new(Config::new(interfaces, Vec::new())).unwrap();
    control.handle_timeout(Time::ZERO, &mut RegisterDataplane::new(&mut card));
    let mut command = |network: &Network, card: &mut CardBetween, line: &str| {
        let mut tables = RegisterDataplane::new(card);
        let reply = control.command(network.now(), line, &mut tables);
        assert!(reply.is_ok(), "{line}: {reply}");
        reply.to_string()
    };
    // Ten packets a step: no neighbour, a neighbour, an interface that is down, up again.
    let mut received = Vec::new();
    let steps = [
        "ip arp set ttl 300",
        "ip arp add 10.0.1.2 2:0:0:0:1:2",
        "ip interface eth1 down",
        "ip interface eth1 up",
    ];
    for (step, line) in steps.into_iter().enumerate() {
        command(&network, &mut card, line);
        network.run_until(Time::from_us(500 + 10_000 * (step as u64 + 1)));
        received.push(network.stream(stream).received_pkts);
    }
    network.run_until(Time::from_secs(1));
    assert_eq!(network.audit(), Ok(()));
    assert_eq!(received, [0, 10, 10, 19]);
    assert_eq!(network.stream(stream).received_pkts, 19);
    let (first, second) = (card.counts(0), card.counts(1));
    assert_eq!((first.received, second.sent), (39, 19));
    // What has no neighbour, or no route while its interface is down, is for the software.
    assert_eq!(first.to_cpu, 20);
    let misses = command(&network, &mut card, "hw arp miss");
    assert_eq!(misses, "arp num misses: 10");
}
