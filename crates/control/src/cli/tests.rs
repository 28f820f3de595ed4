//! The table of commands, its grammar and every handler.

use super::*;
use crate::config::{Config, cpuhw};
use crate::dataplane::{Mac, Neighbour, Route, TableFull};
use core::net::Ipv4Addr;
use proptest::prelude::*;
use trammel_core::Time;

/// A data plane with no places.
struct Nothing;

impl Dataplane for Nothing {
    fn ports(&self) -> usize {
        2
    }
    fn set_mac(&mut self, _: usize, _: Mac) {}
    fn set_up(&mut self, _: usize, _: bool) {}
    fn set_routes(&mut self, routes: &[Route]) -> Result<(), TableFull> {
        Err(TableFull {
            table: "table of routes",
            places: 0,
            entries: routes.len(),
        })
    }
    fn set_neighbours(&mut self, _: &[Neighbour]) -> Result<(), TableFull> {
        Ok(())
    }
    fn set_own_addresses(&mut self, _: &[Ipv4Addr]) -> Result<(), TableFull> {
        Ok(())
    }
    fn mac(&self, _: usize) -> Mac {
        Mac::default()
    }
    fn routes(&self) -> Vec<Route> {
        Vec::new()
    }
    fn neighbours(&self) -> Vec<Neighbour> {
        Vec::new()
    }
    fn own_addresses(&self) -> Vec<Ipv4Addr> {
        Vec::new()
    }
    fn counters(&self) -> Vec<(&'static str, u64)> {
        vec![("num_pkts_forwarded", 7)]
    }
}

struct Line {
    machine: Machine,
    routing: Routing,
}

impl Line {
    fn new() -> Line {
        let text = "eth0 10.0.0.1 255.255.255.0 2:0:0:0:0:1\n\
                    eth1 10.0.1.1 255.255.255.0 2:0:0:0:0:2\n\
                    eth2 10.0.2.1 255.255.255.0 2:0:0:0:0:3\n";
        let config = Config::new(cpuhw::read("cpuhw", text).unwrap(), Vec::new());
        let mut routing = Routing::new(&config).unwrap();
        routing.start(Time::ZERO);
        let mut machine = Machine::new(config);
        machine.hand_over(&mut Nothing);
        Line { machine, routing }
    }

    fn run(&mut self, line: &str) -> Reply {
        run(line, &mut self.machine, &mut self.routing, &mut Nothing)
    }

    fn text(&mut self, line: &str) -> String {
        self.run(line).to_string()
    }
}

/// The grammar with arguments in place of their names.
fn example(grammar: &str) -> String {
    let word = |part: &str| match part {
        "NETWORK" => "20.0.0.0".to_owned(),
        "GATEWAY" => "10.0.0.9".to_owned(),
        "MASK" => "255.255.255.0".to_owned(),
        "INTERFACE" => "eth1".to_owned(),
        "ADDRESS" => "10.0.0.7".to_owned(),
        "MAC" => "2:0:0:0:0:7".to_owned(),
        "SECONDS" => "9".to_owned(),
        "AREA" => "0.0.0.3".to_owned(),
        "ON" => "off".to_owned(),
        "[WORDS...]" => "show ip".to_owned(),
        word => word.to_owned(),
    };
    grammar
        .split_whitespace()
        .map(word)
        .collect::<Vec<_>>()
        .join(" ")
}

#[test]
fn every_command_runs_and_answers_in_both_forms() {
    for command in COMMANDS {
        let mut line = Line::new();
        let prepare = [
            (
                "ip route del",
                "ip route add 20.0.0.0 10.0.0.9 255.255.255.0 eth0",
            ),
            ("ip arp del", "ip arp add 10.0.0.7 2:0:0:0:0:7"),
            ("hw iface del", "hw iface add 10.0.0.7"),
        ];
        for (of, before) in prepare {
            if command.grammar.starts_with(of) {
                assert!(line.run(before).is_ok());
            }
        }
        let reply = line.run(&example(command.grammar));
        let missing = matches!(command.grammar, "hw arp miss" | "nat [WORDS...]");
        assert_eq!(reply.is_ok(), !missing, "{}: {reply}", command.grammar);
        assert!(!reply.to_string().is_empty(), "{}", command.grammar);
        let json: serde_json::Value = serde_json::from_str(&reply.json()).unwrap();
        assert_eq!(json["ok"], !missing);
        assert!(json.as_object().is_some_and(|all| all.len() > 1), "{json}");
    }
}

#[test]
fn each_mistake_has_one_clear_message() {
    let mut line = Line::new();
    let cases = [
        (
            "shw ip",
            "`shw` is no command: did you mean `show`? `help` lists all",
        ),
        ("xyzzy", "`xyzzy` is no command: `help` lists all"),
        (
            "s",
            "`s` is ambiguous: write `send`, `set`, `show` or `sping`",
        ),
        (
            "ip route",
            "`ip route` is incomplete: `add` or `del` follows",
        ),
        (
            "ip route ad",
            "`ip route ad` is incomplete: `NETWORK` follows",
        ),
        (
            "ip route dell 1",
            "`dell` cannot follow `ip route`: did you mean `del`?",
        ),
        (
            "show ip route x",
            "`x` is too much after `show ip route`: leave it out",
        ),
        (
            "ip arp q",
            "`q` cannot follow `ip arp`: write `add`, `del` or `set`",
        ),
        (
            "sping 10.0.0",
            "ADDRESS `10.0.0` is no address like 10.0.0.1; write `sping ADDRESS`",
        ),
        (
            "ip interface eth9 up",
            "`eth9` is no interface: did you mean `eth0`?; write `ip interface INTERFACE up`",
        ),
        (
            "set hello interval 0",
            "SECONDS `0` is no whole number of seconds from 1 to 65535; write `set hello interval \
             SECONDS`",
        ),
        (
            "set lsu broadcast maybe",
            "ON `maybe` is no `on` or `off`; write `set lsu broadcast ON`",
        ),
        (
            "ip interface eth2 up",
            "`eth2` has no port in the data plane: it stays down",
        ),
        (
            "hw arp miss",
            "this data plane has no `arp_num_misses`: `hw info` lists its counters",
        ),
        (
            "ip arp add 10.0.0.1 2:0:0:0:0:9",
            "10.0.0.1 is no other host's address: give a neighbour's",
        ),
        (
            "ip arp add 99.0.0.1 2:0:0:0:0:9",
            "no interface leads to 99.0.0.1: add a route first",
        ),
        (
            "ip arp add 10.0.0.2 1:0:0:0:0:9",
            "01:00:00:00:00:09 is no station's MAC address: give one whose first byte is even",
        ),
        (
            "ip arp del 10.0.0.2",
            "10.0.0.2 has no ARP entry: `show ip arp` lists all",
        ),
        (
            "ip route del 1.0.0.0 255.0.0.0",
            "1.0.0.0 mask 255.0.0.0 has no static route: `show ip route` lists all",
        ),
        (
            "ip interface eth0 10.0.1.1 255.0.0.0",
            "`eth1` has address 10.0.1.1 already: give another",
        ),
        (
            "hw iface add 10.0.1.1",
            "packets to 10.0.1.1 are for the software already",
        ),
        (
            "hw iface del 10.0.1.1",
            "10.0.1.1 was not added: `show hw iface` lists the addresses of the data plane",
        ),
        (
            "nat add",
            "there is no NAT here: the data plane forwards packets without the software, and its \
             tables rewrite no addresses; put `IPRewriter` of a configuration for `trammel \
             router` before a port",
        ),
        (
            "sping 99.0.0.1",
            "no route leads to 99.0.0.1: add one with `ip route add`",
        ),
    ];
    for (words, says) in cases {
        let reply = line.run(words);
        assert_eq!(
            (reply.to_string().as_str(), reply.is_ok()),
            (says, false),
            "{words}"
        );
    }
}

#[test]
fn words_may_be_short_and_lines_empty() {
    let mut line = Line::new();
    let long = line.text("show ip route");
    assert_eq!(line.text("sh ip r"), long);
    assert_eq!(line.text("  show   ip route  # the table"), long);
    for empty in ["", "   ", "# a comment"] {
        let reply = line.run(empty);
        assert_eq!((reply.to_string().as_str(), reply.is_ok()), ("", true));
        assert_eq!(reply.json(), r#"{"ok":true}"#);
    }
    assert!(
        line.text(&"x".repeat(1025))
            .starts_with("the line has 1025 bytes")
    );
}

#[test]
fn help_lists_what_begins_with_the_words() {
    let mut line = Line::new();
    let all = line.text("help");
    assert_eq!(all.lines().count(), COMMANDS.len() + 1);
    assert_eq!(line.text("?"), all);
    let few = line.text("ip route ?");
    assert_eq!(few.lines().count(), 3);
    assert_eq!(line.text("help ip route"), few);
    assert!(line.text("nonsense ?").contains("is no command"));
}

/// The commands of SCONE, as its users write them.
const SCONE: [&str; 42] = [
    "help",
    "?",
    "show ip",
    "show ip route",
    "show ip interface",
    "show ip arp",
    "ip route add NETWORK GATEWAY MASK INTERFACE",
    "ip route del NETWORK MASK",
    "ip interface INTERFACE up",
    "ip interface INTERFACE down",
    "ip interface INTERFACE ADDRESS MASK",
    "ip arp add ADDRESS MAC",
    "ip arp del ADDRESS",
    "ip arp set ttl SECONDS",
    "sping ADDRESS",
    "show pwospf",
    "show pwospf iface",
    "show pwospf router",
    "show pwospf info",
    "set aid AREA",
    "set hello interval SECONDS",
    "set lsu broadcast ON",
    "set lsu interval SECONDS",
    "send hello",
    "send lsu",
    "hw info",
    "show hw",
    "show hw rtable",
    "show hw arp",
    "show hw iface",
    "hw iface add ADDRESS",
    "hw iface del ADDRESS",
    "hw arp miss",
    "hw pckts fwd",
    "nuke arp",
    "nuke hw arp",
    "nat",
    "nat show",
    "show vns",
    "show vns user",
    "show vns topology",
    "show vns server",
];

#[test]
fn every_command_of_scone_is_known() {
    for words in SCONE {
        let reply = Line::new().text(&example(words));
        for unknown in ["is no command", "cannot follow", "too much", "incomplete"] {
            assert!(!reply.contains(unknown), "{words}: {reply}");
        }
    }
}

#[test]
fn what_may_follow_is_told_for_completion() {
    let mut line = Line::new();
    let cases = [
        ("complete ip", "arp\ninterface\nroute"),
        ("complete ip interface", "eth0\neth1\neth2"),
        ("complete ip int eth0", "ADDRESS\ndown\nup"),
        ("complete set lsu broadcast", "off\non"),
        ("complete show ip route", ""),
    ];
    for (words, follows) in cases {
        assert_eq!(line.text(words), follows, "{words}");
    }
    let first: Vec<String> = line.text("complete").lines().map(str::to_owned).collect();
    let commands = COMMANDS
        .iter()
        .filter_map(|one| one.grammar.split(' ').next());
    assert!(
        commands
            .into_iter()
            .all(|one| first.iter().any(|word| word == one))
    );
    assert!(line.text("complete shw").starts_with("`shw` is no command"));
}

#[test]
fn tables_are_shown() {
    let mut line = Line::new();
    assert!(
        line.run("ip route add 20.0.0.0 10.0.0.9 255.0.0.0 eth0")
            .is_ok()
    );
    assert!(
        line.run("ip route add 30.0.0.0 0.0.0.0 255.0.0.0 eth2")
            .is_ok()
    );
    assert!(line.run("ip arp add 10.0.0.9 2:0:0:0:0:9").is_ok());
    let expected = "\
routes:
network   mask           gateway   interface  origin     in force
10.0.0.0  255.255.255.0  0.0.0.0   eth0       connected  yes
10.0.1.0  255.255.255.0  0.0.0.0   eth1       connected  yes
20.0.0.0  255.0.0.0      10.0.0.9  eth0       static     yes
30.0.0.0  255.0.0.0      0.0.0.0   eth2       static     no

interfaces:
interface  port  address   mask           mac                state
eth0       0     10.0.0.1  255.255.255.0  02:00:00:00:00:01  up
eth1       1     10.0.1.1  255.255.255.0  02:00:00:00:00:02  up
eth2       2     10.0.2.1  255.255.255.0  02:00:00:00:00:03  no port

arp:
address   mac                interface  kind    left s
10.0.0.9  02:00:00:00:00:09  eth0       static  -";
    assert_eq!(line.text("show ip"), expected);
    let info = line.text("hw info");
    let full = "the table of routes of the data plane has 0 places, and 2 entries are to be in it: \
                packets of the others pass through the software";
    assert!(info.contains(full), "{info}");
    assert_eq!(line.text("hw pckts fwd"), "num pkts forwarded: 7");
}

#[test]
fn no_grammar_begins_like_another_and_all_have_help() {
    let mut grammars: Vec<_> = COMMANDS.iter().map(|command| command.grammar).collect();
    grammars.sort_unstable();
    grammars.dedup();
    assert_eq!(grammars.len(), COMMANDS.len());
    assert!(COMMANDS.iter().all(|command| command.help.len() > 5));
}

proptest! {
    #[test]
    fn no_line_panics(lines in prop::collection::vec("\\PC{0,60}", 0..20)) {
        let mut line = Line::new();
        for text in lines {
            let _ = line.run(&text).json();
        }
    }

    #[test]
    fn no_line_of_known_words_panics(
        words in prop::collection::vec(
            prop::sample::select(vec![
                "ip", "route", "add", "del", "show", "set", "arp", "ttl", "hw", "interface",
                "eth0", "eth2", "up", "down", "10.0.0.1", "0.0.0.0", "255.255.255.0", "9", "off",
                "2:0:0:0:0:9", "sping", "pwospf", "lsu", "broadcast", "aid", "nuke", "?", "",
                "255.255.255.255", "224.0.0.5", "65536", "-1",
            ]),
            0..9,
        ),
    ) {
        let mut line = Line::new();
        let reply = line.run(&words.join(" "));
        prop_assert_eq!(reply.json().contains("\"ok\":true"), reply.is_ok());
    }
}
