//! A path as a topology of containerlab: a sender, a router with the qdiscs of [`crate::tc`], a
//! receiver.
//!
//! Source: containerlab's reference of topology files (`kind: linux`, `exec`).

use crate::tc::Commands;
use crate::{Script, comment, said};
use trammel_scenario::model::Scenario;

/// An image with `ip`, `tc`, `ethtool`, `iperf3` and `ping`.
const IMAGE: &str = "nicolaka/netshoot";

/// Has an interface send frames of one segment: all nodes are on one host, whose kernel would hand
/// frames of several to the qdiscs, which count each as one.
fn one_segment(interface: &str) -> String {
    format!("        - ethtool -K {interface} tso off gso off gro off\n")
}

/// The path of `scenario`, which is of the file `name`, as a topology file.
///
/// # Errors
/// Where the scenario has no path that can be emulated.
pub fn topology(name: &str, scenario: &Scenario) -> Result<Script, String> {
    let commands = Commands::of(scenario)?;
    let left_out = commands.left_out;
    let lab: String = name
        .rsplit('/')
        .next()
        .unwrap_or(name)
        .trim_end_matches(".toml")
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    // A name that begins with a dash would be a list's entry.
    let lab = match lab.trim_matches('-') {
        "" => "path",
        lab => lab,
    };
    let head = format!("The path of {name} as a topology of containerlab.");
    let mut text = comment::line(&head);
    text += &format!(
        "# usage: containerlab deploy -t \
         FILE\n#        docker exec clab-{lab}-receiver iperf3 -s -D\n#        docker exec \
         clab-{lab}-sender iperf3 -c 10.0.2.2\n# The host needs the modules sch_netem and \
         sch_tbf.\n{}name: {lab}\ntopology:\n  kinds:\n    linux:\n      image: {IMAGE}\n  \
         nodes:\n",
        said(&left_out, &[])
    );
    text += &host("sender", "10.0.1.2/24", "10.0.2.0/24 via 10.0.1.1");
    text += &host("receiver", "10.0.2.2/24", "10.0.1.0/24 via 10.0.2.1");
    text += "    router:\n      kind: linux\n      exec:\n        - sysctl -w \
             net.ipv4.ip_forward=1\n        - ip address add 10.0.1.1/24 dev eth1\n        - ip \
             address add 10.0.2.1/24 dev eth2\n";
    text += &(one_segment("eth1") + &one_segment("eth2"));
    for (title, device, way) in [
        ("from senders to receivers", "eth2", &commands.data),
        ("from receivers to senders", "eth1", &commands.back),
    ] {
        for (what, words) in way {
            let said = comment::line(&format!("{title}: {what}"));
            // In quotes, since `handle 1: netem` would be a key and its value.
            text += &format!(
                "        {said}        - \"tc qdisc {}\"\n",
                words.replace("DEV", device)
            );
        }
    }
    text += "  links:\n    - endpoints: [\"sender:eth1\", \"router:eth1\"]\n    - endpoints: \
             [\"router:eth2\", \"receiver:eth1\"]\n";
    Ok(Script {
        text,
        left_out,
        changed: Vec::new(),
    })
}

/// A host with one interface.
fn host(name: &str, address: &str, route: &str) -> String {
    format!(
        "    {name}:\n      kind: linux\n      exec:\n        - ip address add {address} dev \
         eth1\n        - ip route add {route}\n{}",
        one_segment("eth1")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_a_text() {
        let text = topology("u.toml", &Scenario::dumbbell()).expect("it has a path");
        let entries = text
            .text
            .lines()
            .filter_map(|line| line.trim().strip_prefix("- "));
        let commands: Vec<&str> = entries.filter(|one| one.contains("tc qdisc")).collect();
        assert_eq!(commands.len(), 6, "{commands:?}");
        for one in commands {
            let inner = one.strip_prefix('"').and_then(|one| one.strip_suffix('"'));
            assert!(inner.is_some_and(|one| !one.contains(['"', '\\'])), "{one}");
        }
    }

    #[test]
    fn frames_of_several_segments_are_off_on_every_interface() {
        let text = topology("u.toml", &Scenario::dumbbell()).expect("it has a path");
        let nodes: Vec<&str> = text.text.split("kind: linux\n").skip(1).collect();
        assert_eq!(nodes.len(), 3, "{}", text.text);
        let said = |node: &str, interface: &str| {
            node.contains(&format!(
                "- ethtool -K {interface} tso off gso off gro off\n"
            ))
        };
        assert!(nodes.iter().all(|node| said(node, "eth1")), "{}", text.text);
        assert!(said(nodes[2], "eth2"), "{}", text.text);
        // They are there before the qdiscs.
        let at = |what: &str| nodes[2].find(what);
        assert!(at("ethtool") < at("tc qdisc"), "{}", text.text);
    }

    #[test]
    fn a_name_adds_no_line_and_no_key() {
        let scenario = Scenario::dumbbell();
        let plain = topology("u.toml", &scenario).expect("it has a path").text;
        let text = topology("-u\nt: x\u{85}#.toml", &scenario).expect("it has a path");
        let text = text.text;
        assert_eq!(text.lines().count(), plain.lines().count());
        assert!(text.contains("\nname: u-t--x\n"), "{text}");
        assert!(
            text.starts_with("# The path of -u\\nt: x\\u{85}#.toml as"),
            "{text}"
        );
    }
}
