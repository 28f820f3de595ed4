//! A placement as resources of Kubernetes: one Deployment for each replica, bound to its server.
//!
//! Whole processors with requests equal to limits make a pod *Guaranteed*; under the static policy
//! of the CPU manager it then has its cores to itself. Which cores of which node the kubelet picks
//! is its own decision: the placement's choice stands in annotations, and the policies that make
//! both agree in the comments.
//!
//! Source: Kubernetes documentation, "Control CPU Management Policies on the Node", "Control
//! Topology Management Policies on a node", "Manage HugePages".

use super::{Answer, ranges};
use std::collections::BTreeSet;
use trammel_cost::place::model::Placed;

/// Memory besides tables, for code, stacks and buffers, MiB: a guess that a user will change.
const BASE_MIB: u64 = 256;

/// Characters that a name of Kubernetes may have (RFC 1123, one label).
const LONGEST_NAME: usize = 63;

/// The YAML documents.
pub(super) fn resources(answer: &Answer<'_>) -> String {
    let mut text = head(answer);
    let mut names = BTreeSet::new();
    let outcome = &answer.outcome;
    for (placed, cost) in outcome.placement.placed.iter().zip(&outcome.costs) {
        let wanted = label(&answer.file.problem.chains[placed.chain].name);
        let suffix = format!("-{}", placed.replica);
        let mut name = cut(&wanted, &suffix);
        // Names that differ only in what Kubernetes does not allow.
        if !names.insert(name.clone()) {
            name = cut(&wanted, &format!("-c{}{suffix}", placed.chain));
            names.insert(name.clone());
        }
        text += &deployment(answer, placed, &name, cost.utilisation.centre);
    }
    text
}

fn head(answer: &Answer<'_>) -> String {
    let outcome = &answer.outcome;
    let pinned = answer
        .file
        .problem
        .chains
        .iter()
        .any(|chain| chain.same_node_as_port);
    let topology = if pinned {
        "single-numa-node"
    } else {
        "restricted"
    };
    format!(
        "# {} of {} servers, lower bound {}. Contention {}.\n\
         # Nodes are selected by the label kubernetes.io/hostname.\n\
         # Kubelets need cpuManagerPolicy: static, memoryManagerPolicy: Static, \
         topologyManagerPolicy: {topology}.\n\
         # Images are placeholders.\n",
        outcome.used(),
        outcome.servers.len(),
        outcome.bound.servers,
        match &answer.file.validated {
            Some(place) => format!("validated: {}", place.replace(['\n', '\r'], " ")),
            None => "not validated".to_owned(),
        }
    )
}

fn deployment(answer: &Answer<'_>, placed: &Placed, name: &str, busy: f64) -> String {
    let server = &answer.outcome.servers[placed.server];
    let chain = &answer.file.problem.chains[placed.chain];
    let tables_mib = (chain.work[server.kind].memory_bytes / f64::from(1 << 20)).ceil() as u64;
    let (pages, memory_mib) = match answer.file.huge_page_bytes[server.kind] {
        0 => (None, BASE_MIB + tables_mib),
        bytes => {
            let size = if bytes == 1 << 30 { "1Gi" } else { "2Mi" };
            (Some(size).filter(|_| tables_mib > 0), BASE_MIB)
        }
    };
    let resources = |indent: &str| {
        let mut lines = format!("{indent}cpu: {}\n", quoted(&placed.cores.len().to_string()));
        lines += &format!("{indent}memory: {}\n", quoted(&format!("{memory_mib}Mi")));
        if let Some(size) = pages {
            lines += &format!(
                "{indent}hugepages-{size}: {}\n",
                quoted(&format!("{tables_mib}Mi"))
            );
        }
        lines
    };
    let deep = " ".repeat(14);
    let (mounts, volumes) = match pages {
        Some(size) => (
            "          volumeMounts:\n            - name: hugepages\n              mountPath: \
             /dev/hugepages\n",
            format!(
                "      volumes:\n        - name: hugepages\n          emptyDir:\n            \
                 medium: HugePages-{size}\n"
            ),
        ),
        None => ("", String::new()),
    };
    let functions = answer.file.functions[placed.chain].join(" ");
    format!(
        "---\n\
         apiVersion: apps/v1\n\
         kind: Deployment\n\
         metadata:\n\
         \x20 name: {name}\n\
         \x20 labels:\n\
         \x20   app: {name}\n\
         spec:\n\
         \x20 replicas: 1\n\
         \x20 strategy:\n\
         \x20   type: Recreate # its cores are free only once it has gone\n\
         \x20 selector:\n\
         \x20   matchLabels:\n\
         \x20     app: {name}\n\
         \x20 template:\n\
         \x20   metadata:\n\
         \x20     labels:\n\
         \x20       app: {name}\n\
         \x20     annotations:\n\
         \x20       trammel/chain: {chain_name}\n\
         \x20       trammel/functions: {functions}\n\
         \x20       trammel/mpps: {mpps}\n\
         \x20       trammel/numa-node: {node}\n\
         \x20       trammel/port-numa-node: {port_node}\n\
         \x20       trammel/cores-of-node: {cores}\n\
         \x20   spec:\n\
         \x20     nodeSelector:\n\
         \x20       kubernetes.io/hostname: {host}\n\
         \x20     containers:\n\
         \x20       - name: {name}\n\
         \x20         image: {image}\n\
         \x20         resources: # requests = limits: Guaranteed; cores are {busy:.0} % busy by \
         the estimate\n\
         \x20           requests:\n{requests}\
         \x20           limits:\n{limits}{mounts}{volumes}",
        chain_name = quoted(&chain.name),
        functions = quoted(&functions),
        mpps = quoted(&format!(
            "{}",
            trammel_stats::table::round_to(placed.pps / 1e6, 4)
        )),
        node = quoted(&placed.node.to_string()),
        port_node = quoted(&placed.port_node.to_string()),
        cores = quoted(&ranges(&placed.cores)),
        host = quoted(&server.name),
        image = quoted(&format!("example.invalid/{}", label(&chain.name))),
        busy = busy * 100.0,
        requests = resources(&deep),
        limits = resources(&deep),
    )
}

/// `text` as a quoted scalar: JSON's strings are YAML's.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// `text` as a label of RFC 1123: small letters, digits and hyphens, a letter first.
fn label(text: &str) -> String {
    let mut label = String::new();
    for c in text.chars() {
        match c.to_ascii_lowercase() {
            c @ ('a'..='z' | '0'..='9') => label.push(c),
            _ if label.ends_with('-') => {}
            _ => label.push('-'),
        }
    }
    let label = label.trim_matches('-');
    if label.starts_with(|c: char| c.is_ascii_lowercase()) {
        label.to_owned()
    } else {
        format!("chain-{label}").trim_end_matches('-').to_owned()
    }
}

/// `stem` and `suffix`, no longer than a name may be.
fn cut(stem: &str, suffix: &str) -> String {
    let room = LONGEST_NAME - suffix.len();
    let stem = &stem[..stem.len().min(room)];
    format!("{}{suffix}", stem.trim_end_matches('-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_labels_of_rfc_1123() {
        assert_eq!(label("Edge NAT (v6)"), "edge-nat-v6");
        assert_eq!(label("6to4"), "chain-6to4");
        assert_eq!(label("…"), "chain");
        assert_eq!(cut(&"a".repeat(80), "-12").len(), 63);
    }

    #[test]
    fn a_quoted_text_stays_on_its_line() {
        assert_eq!(quoted("a\n# b: \"c\""), r#""a\n# b: \"c\"""#);
    }
}
