//! Reads the tests of a device, and the transfers through devices, of an experiment of a
//! `paper.toml`.

use super::reader::{Reader, numbers};
use crate::spec::{Device, Tested, Transfers};
use trammel_bench::frames::{LEAST, MOST};
use trammel_bench::procedures::FAMILY;
use trammel_scenario::tree::Value;

/// Makes a device of what its key says.
type Make = fn(String) -> Device;

/// The keys of devices.
const DEVICES: [(&str, Make); 3] = [
    ("model", Device::Model),
    ("ring", Device::Ring),
    ("dut", Device::Built),
];
/// The largest file, in megabytes.
const MOST_MEGABYTES: f64 = 1e6;
/// How often one is transferred, at most.
const MOST_TIMES: f64 = 1e4;

/// The tests; what is wrong with them is noted.
pub(super) fn tested(r: &Reader<'_>) -> Tested {
    let given = DEVICES.iter().filter(|(key, _)| r.entry(key).is_some());
    let given: Vec<_> = given.collect();
    let device = match given[..] {
        [(key, device)] => device(r.text(key)),
        _ => {
            let why = format!("this has {}", given.len());
            let help = "give `model`, `ring` or `dut`";
            r.fault(&r.span, "tests are of one device", why, help);
            Device::Model(String::new())
        }
    };
    let tests = r.list("tests");
    for test in &tests {
        if FAMILY.get(test).is_err() {
            let all = FAMILY.all();
            r.unknown("tests", test, all.iter().map(|entry| entry.about.name));
        }
    }
    let frames = r.entry("frames").map_or(vec![64.0], |entry| {
        let found = numbers(&entry.node);
        let range = f64::from(LEAST)..=f64::from(MOST);
        if found.is_empty() || !found.iter().all(|n| range.contains(n) && n.fract() == 0.0) {
            r.wrong(&entry.node, "frames", "a list of sizes of Ethernet frames");
        }
        found
    });
    Tested {
        device,
        tests,
        frames,
        gbps: number(r, "gbps", 1.0),
        published: r.entry("published").map(|_| r.text("published")),
    }
}

/// The transfers; what is wrong with them is noted.
pub(super) fn transfers(r: &Reader<'_>) -> Transfers {
    let of = |choice: &str, key: &str, default: f64, most: f64| {
        let settings = r.settings(choice);
        let found = settings.iter().find(|(known, _)| known == key);
        let value = match found {
            Some((_, Value::Int(n))) => *n as f64,
            Some(_) => f64::NAN,
            None => default,
        };
        if !(1.0..=most).contains(&value)
            && let Some(entry) = r.entry(choice)
        {
            let wanted = format!("`{key}` from 1 to {most}");
            r.wrong(&entry.node, choice, &wanted);
        }
        value
    };
    let bytes = |choice| (of(choice, "megabytes", 100.0, MOST_MEGABYTES) * 1e6) as u64;
    let times = |choice| of(choice, "times", 3.0, MOST_TIMES) as u32;
    let through = r.list("through");
    if through.is_empty() {
        r.missing("through");
    }
    let protocols = r.list("transfers");
    for protocol in protocols.iter().filter(|name| !is_protocol(name)) {
        r.unknown("transfers", protocol, PROTOCOLS.into_iter());
    }
    Transfers {
        protocols,
        through,
        bytes: (bytes("quick"), bytes("full")),
        times: (times("quick"), times("full")),
        published: r.entry("published").map(|_| r.text("published")),
    }
}

/// The protocols that files are transferred by.
const PROTOCOLS: [&str; 2] = ["ftp", "http"];

fn is_protocol(name: &str) -> bool {
    PROTOCOLS.contains(&name)
}

fn number(r: &Reader<'_>, key: &str, default: f64) -> f64 {
    match r.entry(key).map(|entry| &entry.node.value) {
        Some(Value::Int(n)) => *n as f64,
        Some(Value::Float(n)) => *n,
        _ => default,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Spec;
    use trammel_core::label::Label;

    const HEAD: &str = "title = 't'\nclaim = 'c'\n[[experiment]]\nid = 'a'\n";

    #[test]
    fn devices_are_read_with_their_tests_and_transfers() {
        let text = format!(
            "{HEAD}engine = 'model'\nmodel = 'reference-1g'\ntests = ['throughput']\n\
             frames = [64, 1518]\n\
             quick = {{ 'throughput.duration' = '1 s' }}\n\
             [[experiment]]\nid = 'b'\nengine = 'measure'\ntransfers = ['ftp']\n\
             through = ['kernel']\n\
             full = {{ megabytes = 1800, times = 5 }}\n"
        );
        let spec = Spec::parse("paper.toml", &text).unwrap();
        let [modelled, moved] = &spec.experiments[..] else {
            panic!("two experiments")
        };
        assert_eq!(
            (modelled.label, moved.label),
            (Label::Modelled, Label::Measured)
        );
        let tested = modelled.tested.as_ref().unwrap();
        assert_eq!(tested.device, Device::Model("reference-1g".to_owned()));
        assert_eq!((tested.frames.len(), tested.gbps), (2, 1.0));
        let transfers = moved.transfers.as_ref().unwrap();
        assert_eq!(transfers.bytes, (100_000_000, 1_800_000_000));
        assert_eq!(transfers.times, (3, 5));
    }

    #[test]
    fn every_fault_of_tests_and_transfers_is_shown() {
        let text = format!(
            "{HEAD}engine = 'model'\ntests = ['troughput']\nframes = [63]\n\
             [[experiment]]\nid = 'b'\nengine = 'measure'\ntransfers = ['ftps']\n\
             quick = {{ megabytes = 0 }}\n"
        );
        let shown = Spec::parse("paper.toml", &text).unwrap_err().to_string();
        for part in [
            "tests are of one device",
            "did you mean `throughput`?",
            "a list of sizes of Ethernet frames",
            "did you mean `ftp`?",
            "`megabytes` from 1",
            "needs `through`",
        ] {
            assert!(shown.contains(part), "{part}\n{shown}");
        }
    }
}
