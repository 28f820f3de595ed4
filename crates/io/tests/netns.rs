//! Namespaces: what they can do, and that nothing of them stays.

mod common;

use common::{has, or_skip, wire};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use trammel_io::error::Error;
use trammel_io::netns::{Namespace, veth};
use trammel_io::rtnetlink::{Change, Event, Follower};

#[test]
fn kernels_ping_each_other_over_a_wire() {
    let Some((left, right)) = wire() else { return };
    left.add_address("a", "10.0.0.1/24").unwrap();
    right.add_address("b", "10.0.0.2/24").unwrap();
    left.set_mtu("a", 1400).unwrap();
    left.set_mac("a", [2, 0, 0, 0, 0, 1]).unwrap();
    let link = left.link("a").unwrap();
    assert_eq!(
        (link.mtu, link.mac, link.is_up),
        (1400, Some([2, 0, 0, 0, 0, 1]), true)
    );
    if !has("ping") {
        return;
    }
    left.command("ping", &["-c1", "-W10", "10.0.0.2"]).unwrap();
    let failed = left
        .command("ping", &["-c1", "-W1", "10.9.9.9"])
        .unwrap_err()
        .to_string();
    assert!(failed.contains("unreachable"), "{failed}");
}

#[test]
fn a_route_and_a_static_neighbour_lead_beyond_the_link() {
    if !has("ping") {
        return;
    }
    let Some((left, right)) = wire() else { return };
    left.add_address("a", "10.0.0.1/24").unwrap();
    right.add_address("b", "192.168.7.1/24").unwrap();
    let mac = right.link("b").unwrap().mac.unwrap();
    left.add_neighbour("a", "10.0.0.9", mac).unwrap();
    left.add_route("192.168.7.0/24", Some("10.0.0.9"), "a")
        .unwrap();
    right.add_route("10.0.0.0/24", None, "b").unwrap();
    left.command("ping", &["-c1", "-W10", "192.168.7.1"])
        .unwrap();
}

#[test]
fn what_is_missing_or_wrong_is_named() {
    let Some(namespace) = or_skip(Namespace::new()) else {
        return;
    };
    let error = namespace.set_up("eth9", true).unwrap_err();
    assert!(
        matches!(&error, Error::NoInterface { name } if name == "eth9"),
        "{error}"
    );
    assert_eq!(error.mend().as_deref(), Some("ip link show"));
    assert!(matches!(
        namespace.add_address("lo", "10.0.0.1"),
        Err(Error::Invalid(_))
    ));
    assert!(matches!(
        namespace.add_address("lo", "10.0.0.1/33"),
        Err(Error::Invalid(_))
    ));
    let long = "a-name-of-sixteen";
    assert!(matches!(
        veth(&namespace, long, &namespace, "b"),
        Err(Error::Invalid(_))
    ));
    let error = std::io::Error::from(error);
    assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
}

/// Waits until the kernel says that the interface is gone, which is when its peer's namespace is.
fn wait_until_gone(follower: &mut Follower, name: &str) {
    let mut is_gone = false;
    while !is_gone {
        follower
            .poll(|event| {
                is_gone |= matches!(&event, Event::Link(Change::Del, link) if link.name == name);
            })
            .unwrap();
        if !is_gone {
            let ready =
                trammel_io::clock::wait(&[follower.descriptor()], Some(common::PATIENCE_NS))
                    .unwrap();
            assert!(ready > 0, "`{name}` is still there");
        }
    }
}

#[test]
fn a_namespace_is_gone_when_dropped_and_after_a_panic() {
    let Some(here) = or_skip(Namespace::new()) else {
        return;
    };
    let mut follower = here.run(Follower::open).unwrap();
    {
        let dropped = Namespace::new().unwrap();
        veth(&here, "first", &dropped, "b").unwrap();
        follower.poll(|_| ()).unwrap();
    }
    wait_until_gone(&mut follower, "first");
    let panicked = Namespace::new().unwrap();
    veth(&here, "second", &panicked, "b").unwrap();
    let result = catch_unwind(AssertUnwindSafe(move || {
        panicked.run(|| panic!("on purpose"))
    }));
    assert!(result.is_err(), "the panic goes on in the caller");
    wait_until_gone(&mut follower, "second");
}

#[test]
fn a_named_namespace_can_be_entered_by_name_and_its_file_is_removed() {
    if !has("ip") {
        return;
    }
    let Some(namespace) = or_skip(Namespace::named("test")) else {
        return;
    };
    let other = Namespace::named("test").unwrap();
    assert_ne!(namespace.name(), other.name());
    let name = namespace.name().unwrap().to_owned();
    let file = Path::new("/run/netns").join(&name);
    veth(&namespace, "here", &other, "there").unwrap();
    let shown = std::process::Command::new("ip")
        .args(["-n", &name, "link", "show", "here"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&shown.stderr);
    if said.contains("make-rslave") {
        eprintln!("skipped: `ip` enters no namespace where `/` is no mount point: {said}");
        return;
    }
    assert!(shown.status.success(), "{said}");
    let result = catch_unwind(AssertUnwindSafe(move || {
        namespace.run(|| panic!("on purpose"))
    }));
    assert!(result.is_err() && !file.exists());
}

#[test]
fn the_follower_tells_all_there_is_and_then_what_ip_changes() {
    if !has("ip") {
        return;
    }
    let Some((left, _right)) = wire() else { return };
    left.add_address("a", "10.0.0.1/24").unwrap();
    left.add_neighbour("a", "10.0.0.7", [2, 0, 0, 0, 0, 7])
        .unwrap();
    let mut follower = left.run(Follower::open).unwrap();
    let mut events = Vec::new();
    follower.poll(|event| events.push(event)).unwrap();
    assert_eq!(events.first(), Some(&Event::Restart));
    assert!(events.contains(&Event::Complete));
    let index = left.link("a").unwrap().index;
    assert!(
        events
            .iter()
            .any(|e| matches!(e, Event::Link(Change::Add, l) if l.name == "a" && l.index == index))
    );
    assert!(
        events
            .iter()
            .any(|e| matches!(e, Event::Address(Change::Add, a)
        if a.address.to_string() == "10.0.0.1" && a.prefix == 24 && a.interface == index))
    );
    assert!(
        events
            .iter()
            .any(|e| matches!(e, Event::Neighbour(Change::Add, n)
        if n.address.to_string() == "10.0.0.7"
            && n.mac == Some([2, 0, 0, 0, 0, 7])
            && n.is_usable()))
    );

    for verb in ["add", "del"] {
        left.command(
            "ip",
            &[
                "route",
                verb,
                "172.16.0.0/12",
                "via",
                "10.0.0.2",
                "metric",
                "5",
            ],
        )
        .unwrap();
    }
    left.command(
        "ip",
        &[
            "route",
            "add",
            "172.32.0.0/16",
            "nexthop",
            "via",
            "10.0.0.2",
            "nexthop",
            "via",
            "10.0.0.3",
        ],
    )
    .unwrap();
    let mut changes = Vec::new();
    // The command has ended, so its notices have come.
    follower
        .poll(|event| {
            if let Event::Route(change, route) = event {
                let hops: Vec<String> = route
                    .hops
                    .iter()
                    .map(|hop| format!("{} on {}", hop.gateway.unwrap(), hop.interface == index))
                    .collect();
                let to = format!("{}/{}", route.destination, route.prefix);
                changes.push(format!(
                    "{change:?} {to} {} metric {} table {}",
                    hops.join(", "),
                    route.metric,
                    route.table
                ));
            }
        })
        .unwrap();
    assert_eq!(
        changes,
        [
            "Add 172.16.0.0/12 10.0.0.2 on true metric 5 table 254",
            "Del 172.16.0.0/12 10.0.0.2 on true metric 5 table 254",
            "Add 172.32.0.0/16 10.0.0.2 on true, 10.0.0.3 on true metric 0 table 254",
        ]
    );
}

#[test]
fn the_follower_tells_all_anew_after_a_loss() {
    if !has("ip") {
        return;
    }
    let Some((left, _right)) = wire() else { return };
    left.add_address("a", "10.0.0.1/24").unwrap();
    let mut follower = left.run(Follower::open).unwrap();
    follower.poll(|_| ()).unwrap();
    // More changes than 8 MiB of notices hold while nobody reads; the last is what must be known.
    let routes: Vec<String> = (0..60_000)
        .map(|n| {
            format!(
                "route add 172.{}.{}.{}/32 dev a\n",
                16 + n / 65_536,
                n / 256 % 256,
                n % 256
            )
        })
        .collect();
    let file = std::env::temp_dir().join(format!("trammel-routes-{}", std::process::id()));
    std::fs::write(&file, routes.concat()).unwrap();
    left.command("ip", &["-batch", file.to_str().unwrap()])
        .unwrap();
    std::fs::remove_file(&file).unwrap();
    let (mut restarts, mut known) = (0, std::collections::BTreeSet::new());
    follower
        .poll(|event| match event {
            Event::Restart => {
                restarts += 1;
                known.clear();
            }
            Event::Route(Change::Add, route) if route.prefix == 32 && route.kind == 1 => {
                known.insert(route.destination);
            }
            _ => {}
        })
        .unwrap();
    assert!(restarts > 0, "nothing was lost");
    assert_eq!(known.len(), 60_000);
}
