//! What handlers are for, in a line each.
//!
//! A class may say so itself, in lines `- NAME: text` of a section `# Handlers` at the head of its
//! file. A handler that is called as a parameter reads or writes that. What many classes have, and
//! what every element has, stands here.

use crate::elements;
use crate::engine::{Entry, Handler};
use crate::script::functions;

/// Handlers whose names mean the same wherever they are. A number at the end of a name stands for
/// an input, output or place.
const COMMON: &[(&str, &str)] = &[
    ("name", "the element's name"),
    ("class", "its class"),
    ("config", "its configuration"),
    ("ports", "its ports and what they are connected to"),
    ("handlers", "all its handlers, with their letters"),
    ("scheduled", "whether its task waits for a turn"),
    (
        "tickets",
        "the share of its task, and of the input of this number: twice the tickets, \
         twice the turns",
    ),
    ("home_thread", "the thread that it runs on"),
    ("count", "packets so far"),
    ("byte_count", "bytes so far"),
    ("bytes", "bytes so far"),
    ("rate", "packets a second, as configured or of late"),
    ("byte_rate", "bytes a second of late"),
    ("bit_rate", "bits a second of late"),
    ("reset", "sets what is counted to 0, and begins anew"),
    ("reset_counts", "sets what is counted to 0"),
    ("drops", "packets that were dropped"),
    ("active", "whether it works; written, has it work or not"),
    ("length", "packets that are stored, or bytes of each packet"),
    ("capacity", "packets that may be stored"),
    (
        "highwater_length",
        "the most packets that were stored at once",
    ),
    ("switch", "the port that is in use; -1 for none"),
    ("table", "all entries, one a line"),
    ("insert", "adds an entry: address, Ethernet address"),
    ("delete", "removes the entry of an address"),
    ("clear", "removes all entries"),
    ("flush", "removes all entries"),
    ("lookup", "what the table has for an address"),
    ("add", "adds a route: `ADDR/MASK [GATEWAY] OUTPUT`"),
    ("set", "adds a route, or replaces the one to its network"),
    ("remove", "removes a route"),
    (
        "ctrl",
        "several of `add`, `set` and `remove`, one a line, of which all are done or none",
    ),
    (
        "program",
        "the rules as they are decided by, for people to read",
    ),
    (
        "pattern",
        "the rule of the port of this number; written, replaces it",
    ),
    ("stop", "stops the driver"),
    ("stats", "all that is counted, one a line"),
    ("queues", "the queues whose lengths count"),
    ("avg_queue_size", "the mean length of the queues"),
    ("mappings", "the mappings there are, one a line"),
    ("nmappings", "how many mappings there are"),
    ("table_size", "how many mappings there are"),
    ("patterns", "the patterns of all inputs, one a line"),
    ("size", "how many mappings and patterns there are"),
    (
        "add_mapping",
        "makes a mapping of a flow, as a packet of it would",
    ),
    ("tcp_table", "the mappings of TCP, one a line"),
    ("udp_table", "the mappings of UDP, one a line"),
    ("tcp_mappings", "old name of `tcp_table`"),
    ("udp_mappings", "old name of `udp_table`"),
    (
        "tcp_lookup",
        "what a flow of TCP becomes: `SADDR SPORT DADDR DPORT`",
    ),
    ("mapping_failures", "flows that found no mapping"),
    ("encap", "what packets begin with, as ToDump's ENCAP"),
    ("filename", "the file"),
    ("filesize", "bytes of the file"),
    ("filepos", "bytes of the file that were read"),
    ("packet_filepos", "where in the file the last packet stood"),
    ("sampling_prob", "the share of packets that are taken"),
    (
        "extend_interval",
        "lengthens the interval by so many seconds",
    ),
    ("burstsize", "old name of `burst`"),
    ("datasize", "old name of `length`"),
    ("fragments", "fragments made, or waiting"),
    ("calls", "how often it was called, and what for"),
    (
        "signal",
        "the notifiers that it listens to, and whether they are on",
    ),
    ("messages", "lines of this configuration's messages"),
    ("dev_name", "the interface"),
    ("method", "the way that frames come and go by"),
    ("debug", "whether waiting for room is told"),
    ("pulls", "how often it asked for packets"),
    ("q", "whether frames wait for room in the device"),
    (
        "kernel_drops",
        "frames that the kernel lost before they were read",
    ),
    ("src", "the source address"),
    ("dst", "the destination address"),
    ("time", "the time of the last packet"),
    ("first", "the time of the first packet"),
    ("last", "the time of the last packet"),
    ("range", "the times of the first and the last packet"),
];

/// The classes whose handlers are the functions of the script language, besides their own.
const SCRIPTS: [&str; 2] = ["Script", "DriverManager"];

impl Entry {
    /// What a handler of this class is for; nothing where nobody says.
    pub fn handler_help(&'static self, handler: &Handler) -> Option<String> {
        help(self, handler)
    }
}

fn help(entry: &'static Entry, handler: &Handler) -> Option<String> {
    let name = handler.name.as_ref();
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let own = elements::FAMILY
        .doc(entry)
        .section("Handlers")
        .unwrap_or("");
    // A line that begins with spaces goes on with the one before.
    let own = own.replace("\n  ", " ");
    let own = own.lines().find_map(|line| {
        let (names, text) = line.strip_prefix("- ")?.split_once(": ")?;
        let mut names = names.split(", ").map(|name| name.trim_matches('`'));
        names
            .any(|other| other == name || other == stem)
            .then_some(text)
    });
    if let Some(text) = own {
        return Some(text.to_owned());
    }
    // Other classes have handlers of the same names, which are not functions.
    if SCRIPTS.contains(&entry.about.name) && functions::find(name).is_some() {
        return Some("a function of the script language".to_owned());
    }
    let is_named = |param: &&crate::args::Param| param.name.eq_ignore_ascii_case(name);
    if let Some(param) = entry.params.iter().find(is_named) {
        return Some(format!("the argument {}: {}", param.name, param.help));
    }
    let common = COMMON
        .iter()
        .find(|(other, _)| *other == name || *other == stem);
    common.map(|(_, text)| (*text).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::resolve::check_table;
    use crate::lang;
    use crate::load::{self, BuiltIn};
    use crate::memory::MemoryHost;

    #[test]
    fn only_scripts_have_functions() {
        let about = "a function of the script language";
        for entry in elements::all() {
            let all = (entry.make)().handlers();
            let mut all = all.iter().filter_map(|handler| help(entry, handler));
            let is_script = SCRIPTS.contains(&entry.about.name);
            assert_eq!(
                all.any(|text| text == about),
                is_script,
                "{}",
                entry.about.name
            );
        }
    }

    #[test]
    fn every_handler_says_what_it_is_for() {
        let mut silent = Vec::new();
        for entry in elements::all() {
            for handler in (entry.make)().handlers() {
                if help(entry, &handler).is_none() {
                    silent.push(format!("{}.{}", entry.about.name, handler.name));
                }
            }
        }
        assert!(silent.is_empty(), "{}: {silent:#?}", silent.len());
    }

    #[test]
    fn every_table_of_parameters_can_be_read() {
        let faults = elements::all().into_iter().flat_map(|entry| {
            let faults = check_table(entry.params).into_iter();
            faults.map(|fault| format!("{}({fault})", entry.about.name))
        });
        assert_eq!(faults.collect::<Vec<_>>(), Vec::<String>::new());
    }

    #[test]
    fn every_parameter_says_what_it_is_for() {
        let mut silent = Vec::new();
        for entry in elements::all() {
            for param in entry.params {
                if param.help.is_empty() {
                    silent.push(format!("{}({})", entry.about.name, param.name));
                }
            }
        }
        assert!(silent.is_empty(), "{}: {silent:#?}", silent.len());
    }

    /// A pcap file of no frames but its head, and one of IP summaries.
    fn machine() -> MemoryHost {
        let host = MemoryHost::new();
        let mut capture = Vec::new();
        for word in [0xA1B2_C3D4_u32, 4 << 16 | 2, 0, 0, 65535, 1] {
            capture.extend(word.to_le_bytes());
        }
        let mut memory = host.memory();
        for name in ["a.pcap", "c.pcap"] {
            memory.files.insert(name.to_owned(), capture.clone());
        }
        let summary = b"!data ip_src ip_dst\n10.0.0.1 10.0.0.2\n".to_vec();
        memory.files.insert("a.dump".to_owned(), summary);
        drop(memory);
        host
    }

    /// What is wrong with a configuration. One for which a machine in memory lacks a device is only
    /// checked.
    fn faults(config: &str) -> String {
        let options = lang::Options {
            classes: Some(&BuiltIn),
            ..lang::Options::default()
        };
        let run = crate::engine::Options::simulated();
        match load::load(config, "example", &options, Box::new(machine()), run) {
            Ok(_) => String::new(),
            Err(refused) if refused.lacks => {
                let names = std::sync::Arc::new(crate::host::NoNames);
                let said = load::check(config, "example", &options, names);
                if said.has_errors() {
                    said.click()
                } else {
                    String::new()
                }
            }
            Err(refused) => refused.said.click(),
        }
    }

    #[test]
    fn every_class_has_an_example_that_loads_and_shows_it() {
        let mut wrong = Vec::new();
        for entry in elements::all() {
            let name = entry.about.name;
            let Some(example) = elements::FAMILY.doc(entry).example("click") else {
                wrong.push(format!("{name}: none"));
                continue;
            };
            if !example.contains(name) {
                wrong.push(format!("{name}: it does not use it"));
            }
            let faults = faults(example);
            let is_right = match name {
                // It is there to fail.
                "Error" => faults == "Router could not be initialized!\n",
                _ => faults.is_empty(),
            };
            if !is_right {
                wrong.push(format!("{name}: {faults}"));
            }
        }
        assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
    }

    #[test]
    fn the_grammar_of_filters_is_as_it_is_told() {
        let filter = elements::find("IPFilter").expect("it exists");
        let grammar = elements::FAMILY
            .doc(filter)
            .section("Grammar")
            .expect("it is told");
        let rows = grammar.lines().filter(|line| line.starts_with("| `"));
        let cells = rows.filter_map(|row| row.split(" | ").next());
        let mut clauses = 0;
        for clause in cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)) {
            let config = format!(
                "AddressInfo(web 10.0.0.1, lan 10.0.0.0/8); Idle \
                 -> IPFilter(allow {clause}, deny all) -> Discard"
            );
            assert_eq!(faults(&config), "", "{clause}");
            clauses += 1;
        }
        assert!(clauses > 30, "{clauses}");
    }
}
