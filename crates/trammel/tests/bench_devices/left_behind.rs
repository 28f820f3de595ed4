//! What a run may leave on the machine: namespaces, processes, interfaces, disciplines, programs,
//! sysctls.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use trammel_io::netns::Namespace;

/// A look at what there is of a run.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Look {
    /// Processes whose command has the run's mark.
    processes: BTreeSet<String>,
    /// Namespaces that these are in or hold.
    namespaces: BTreeSet<String>,
    /// What it may have changed of the namespace that it was started in.
    state: String,
}

impl Look {
    /// At what belongs to a run with `mark` in the commands of its processes, started in
    /// `namespace`.
    pub(crate) fn at(namespace: &Namespace, mark: &str) -> Look {
        let mut look = Look {
            state: state(namespace),
            ..Look::default()
        };
        for pid in names(Path::new("/proc")) {
            let process = Path::new("/proc").join(&pid);
            let command = fs::read(process.join("cmdline")).unwrap_or_default();
            if !String::from_utf8_lossy(&command).contains(mark) {
                continue;
            }
            let own = fs::read_link(process.join("ns/net"));
            let held = names(&process.join("fd")).into_iter();
            let held = held.map(|fd| fs::read_link(process.join("fd").join(fd)));
            let links = held.chain([own]).flatten();
            let links = links.map(|link| link.to_string_lossy().into_owned());
            look.namespaces
                .extend(links.filter(|link| link.starts_with("net:")));
            look.processes.insert(pid);
        }
        look
    }
}

/// Interfaces with their programs, disciplines, sysctls, and named namespaces.
fn state(namespace: &Namespace) -> String {
    let said = |program: &str, arguments: &[&str]| {
        let output = namespace.command(program, arguments).expect("it is there");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let sysctls = "cat /proc/sys/net/ipv4/ip_forward /proc/sys/net/ipv6/conf/*/disable_ipv6";
    said("ip", &["-d", "link"]) + &said("tc", &["qdisc"]) + &said("sh", &["-c", sysctls])
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.collect()
}
