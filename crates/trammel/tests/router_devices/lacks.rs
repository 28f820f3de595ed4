//! What is missing is named with the command that would mend it, and the code is 3.

use crate::rig::{TRAMMEL, ends, said};
use std::process::Command;

/// That the configuration is refused for something the machine lacks, and says `texts`, in one line
/// that also says what to try.
fn lacks(output: (Option<i32>, String), texts: &[&str]) {
    let (code, said) = output;
    assert_eq!(code, Some(3), "{said}");
    let told = said
        .lines()
        .any(|line| texts.iter().all(|text| line.contains(text)) && line.contains("try: "));
    assert!(told, "{said}");
}

#[test]
fn a_missing_device() {
    for method in ["afpacket", "afxdp"] {
        let config = format!("FromDevice(nowhere0, METHOD {method}) -> Discard");
        let texts = ["no network interface `nowhere0`", "ip link show"];
        lacks(ends(None, &["-e", &config]), &texts);
    }
}

#[test]
fn a_used_port() {
    let used = std::net::TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
    let port = used
        .local_addr()
        .expect("a bound socket has an address")
        .port();
    let (code, said) = ends(None, &["-e", &format!("ControlSocket(tcp, {port})")]);
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("Address already in use"), "{said}");
}

#[test]
fn rights() {
    let is_root = Command::new("id")
        .arg("-u")
        .output()
        .expect("the program can be started");
    if said(&is_root).trim() != "0" {
        println!("skipped: only root can give up rights");
        return;
    }
    // Another user could not reach a binary in a folder of root's; without capabilities it is the
    // same.
    let without = |config: &str| {
        let output = Command::new("setpriv")
            .args([
                "--bounding-set=-all",
                "--inh-caps=-all",
                "--ambient-caps=-all",
            ])
            .args(["--no-new-privs", TRAMMEL, "router", "-e", config])
            .output()
            .expect("the program can be started");
        (output.status.code(), said(&output))
    };
    for (config, texts) in [
        (
            "FromDevice(lo, METHOD afpacket) -> Discard",
            [
                "no right to open a packet socket: it needs CAP_NET_RAW",
                "unshare -Urn",
            ],
        ),
        (
            "FromDevice(lo, METHOD afxdp) -> Discard",
            ["no right to", "METHOD afpacket"],
        ),
        (
            "FromDevice(tap7, METHOD tap) -> Discard",
            ["no right to", "CAP_NET_ADMIN"],
        ),
    ] {
        lacks(without(config), &texts);
    }
}

/// Runs a script in a user and a network namespace of its own, or says why not.
fn unshared(script: &str) -> Option<(Option<i32>, String)> {
    let inside = |script: &str| {
        Command::new("unshare")
            .args(["-Urn", "sh", "-c", script])
            .output()
            .expect("the program can be started")
    };
    if !inside("ip link set lo up").status.success() {
        println!("skipped: user namespaces are not allowed");
        return None;
    }
    let output = inside(script);
    Some((output.status.code(), said(&output)))
}

#[test]
fn without_root_all_methods_but_af_xdp_work_in_namespaces_of_ones_own() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let file = folder.path().join("x.pcap").display().to_string();
    for config in [
        "FromDevice(lo, METHOD afpacket) -> Discard".to_owned(),
        "FromDevice(t0, METHOD tap) -> Discard".to_owned(),
        "FromDevice(t1, METHOD tun) -> Discard".to_owned(),
        "KernelTun(10.0.0.1/24) -> Discard".to_owned(),
        "FromDevice(w.0, METHOD ring) -> Discard; Idle -> ToDevice(w.1, METHOD ring)".to_owned(),
        format!("Idle -> ToDevice({file}, METHOD pcap)"),
    ] {
        let script = format!(
            "ip link set lo up; exec {TRAMMEL} router -e '{config}; Script(print \"it runs\", \
             stop)'"
        );
        let Some((code, said)) = unshared(&script) else {
            return;
        };
        assert!(
            code == Some(0) && said.contains("it runs"),
            "{config}: {said}"
        );
    }
}

#[test]
fn without_root_af_xdp_says_what_it_lacks() {
    let script = format!(
        "ip link set lo up; exec {TRAMMEL} router -e 'FromDevice(lo, METHOD afxdp) -> Discard'"
    );
    if let Some(output) = unshared(&script) {
        lacks(output, &["CAP_BPF", "METHOD afpacket"]);
    }
}
