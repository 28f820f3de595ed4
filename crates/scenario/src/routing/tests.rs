//! Routing scenarios from text: what is taken, and what is refused where.

use super::{DataPlane, RoutingFile};
use crate::{ReadError, Reading};
use std::net::Ipv4Addr;
use std::path::Path;
use trammel_control::network::Change;
use trammel_core::time::{Span, Time};
use trammel_core::units::Rate;

fn read(text: &str) -> Result<RoutingFile, ReadError> {
    let text = format!("subject = 'forwarding'\n{text}");
    RoutingFile::parse("t.toml", &text, Path::new("."), &Reading::default())
}

fn taken(text: &str) -> RoutingFile {
    read(text).unwrap_or_else(|error| panic!("{error}"))
}

/// The faults of a file, of which there are `count`.
fn refused(text: &str, count: usize) -> String {
    match read(text) {
        Err(ReadError::Faults(problems)) => {
            assert_eq!(problems.list.len(), count, "{problems}");
            problems.to_string()
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_word_makes_a_topology() {
    let file = taken("topology = 'ring'\n");
    let scenario = file.first();
    assert_eq!(scenario.topology.routers, ["r0", "r1", "r2"]);
    let links = [
        "r0-hosts", "r1-hosts", "r2-hosts", "r0-r1", "r1-r2", "r2-r0",
    ];
    assert_eq!(scenario.links, links);
    assert_eq!(scenario.data_plane, DataPlane::Devices);
    assert_eq!(scenario.duration, Span::from_secs(600));
    let campus = taken("topology = 'campus'\n");
    assert_eq!(campus.first().topology.gateway, Some(0));
    // `core-east` has more interfaces than a card has ports.
    assert_eq!(campus.first().data_plane, DataPlane::Tables);
    let random = taken("[topology]\nkind = 'random'\nrouters = 20\nlinks = 40\n");
    assert_eq!(random.first().topology.subnets.len(), 60);
}

#[test]
fn routers_links_and_addresses_are_those_of_the_file() {
    let file = taken(
        "rate = '10 Mbit/s'\nhello_interval = '10 s'\n\
         [[router]]\nname = 'a'\nhello_interval = '5 s'\n\
         [[router.interface]]\nname = 'eth0'\naddress = '192.168.1.1/24'\n\
         [[router.interface]]\nname = 'eth1'\naddress = '172.16.0.2/30'\n\
         [[router]]\nname = 'b'\nkind = 'gateway'\narea = 7\n\
         [[router]]\nname = 'c'\nhosts = false\n\
         [[link]]\nbetween = ['a:eth1', 'b']\ndelay = '1 ms'\n\
         [[link]]\nname = 'lan'\nbetween = ['a', 'b', 'c']\nrate = '1 Gbit/s'\n",
    );
    let scenario = file.first();
    let topology = &scenario.topology;
    assert_eq!(scenario.links, ["a-hosts", "b-hosts", "a-b", "lan"]);
    assert_eq!(topology.gateway, Some(1));
    assert_eq!(topology.address(0, 0), Ipv4Addr::new(192, 168, 1, 1));
    assert_eq!(topology.host(0), Ipv4Addr::new(192, 168, 1, 254));
    assert_eq!(topology.address(1, 1), Ipv4Addr::new(10, 0, 1, 1));
    assert_eq!(topology.address(2, 0), Ipv4Addr::new(172, 16, 0, 2));
    // The end without an address has the next free one.
    assert_eq!(topology.address(2, 1), Ipv4Addr::new(172, 16, 0, 1));
    let mask = Ipv4Addr::new(255, 255, 255, 252);
    assert_eq!(topology.network(2), (Ipv4Addr::new(172, 16, 0, 0), mask));
    assert_eq!(topology.subnets[2].delay, Span::from_ms(1));
    assert_eq!(topology.subnets[2].rate, Some(Rate::from_bps(10_000_000)));
    assert_eq!(
        topology.subnets[3].rate,
        Some(Rate::from_bps(1_000_000_000))
    );
    let settings = &scenario.settings;
    assert_eq!(settings.config_of(0).hello_interval, Span::from_secs(5));
    assert_eq!(settings.config_of(1).area, 7);
    assert_eq!(settings.config_of(2).hello_interval, Span::from_secs(10));
}

#[test]
fn events_are_changes_in_order_of_time() {
    let file = taken(
        "topology = 'ring'\n\
         [[event]]\nat = '300 s'\nrouter = 'r2'\n\
         [[event]]\nat = '2 min'\nlink = 'r0-r1'\nlasts = '1 min'\n\
         [[event]]\nat = '400 s'\nrouter = 'r2'\naction = 'repair'\n\
         [[event]]\nat = '590 s'\nlink = 'r1-hosts'\nlasts = '1 min'\n",
    );
    let changes = [
        (Time::from_secs(120), Change::SubnetDown(3)),
        (Time::from_secs(180), Change::SubnetUp(3)),
        (Time::from_secs(300), Change::RouterDown(2)),
        (Time::from_secs(400), Change::RouterUp(2)),
        (Time::from_secs(590), Change::SubnetDown(1)),
    ];
    assert_eq!(file.first().changes, changes);
}

#[test]
fn a_generated_router_may_have_settings_of_its_own() {
    let file = taken("topology = 'ring'\n[[router]]\nname = 'r1'\nlsu_interval = '10 s'\n");
    let scenario = file.first();
    assert_eq!(scenario.topology.routers.len(), 3);
    let own = scenario.settings.config_of(1);
    assert_eq!(own.lsu_interval, Span::from_secs(10));
    assert_eq!(scenario.settings.own.len(), 1);
}

#[test]
fn sweeps_change_the_topology() {
    let file = taken(
        "[topology]\nkind = 'random'\n[sweep]\n'topology.routers' = [10, 20]\n\
         'topology.seed' = [1, 2]\n",
    );
    let sizes: Vec<usize> = file
        .points
        .iter()
        .map(|point| point.scenario.topology.subnets.len())
        .collect();
    assert_eq!(sizes, [40, 40, 80, 80]);
    let keys: Vec<String> = file.points.iter().map(|p| p.scenario.key()).collect();
    assert!((1..4).all(|n| keys[n] != keys[0]));
}

#[test]
fn slips_are_refused_at_their_place() {
    for (text, count, says) in [
        ("", 1, "describes no router"),
        ("topology = 'star'\n", 1, "cannot be `star`"),
        (
            "[topology]\nkind = 'ring'\nrouters = 2\n",
            1,
            "make no ring",
        ),
        ("[topology]\nkind = 'ring'\nlinks = 2\n", 1, "no meaning"),
        (
            "topology = 'ring'\nhello_interval = '1500 ms'\n",
            1,
            "whole seconds",
        ),
        (
            "topology = 'campus'\ndata_plane = 'devices'\n",
            1,
            "4 ports",
        ),
        (
            "topology = 'ring'\nduration = '90 h'\nlsu_interval = '1 ms'\n",
            1,
            "too long",
        ),
        (
            "[[router]]\nname = 'a'\n[[router]]\nname = 'a'\n",
            1,
            "two routers",
        ),
        ("[[router]]\nname = 'a:b'\n", 1, "no name"),
        (
            "[[router]]\nname = 'a'\n[[link]]\nbetween = ['a', 'b']\n",
            1,
            "`b`",
        ),
        (
            "[[router]]\nname = 'a'\n[[link]]\nbetween = ['a', 'a']\n",
            1,
            "twice",
        ),
        (
            "[[router]]\nname = 'a'\n[[link]]\nbetween = []\n",
            1,
            "names 0",
        ),
        (
            "[[router]]\nname = 'a'\n[[link]]\nbetween = ['a:eth0']\n",
            1,
            "`eth0`",
        ),
        ("topology = 'ring'\n[[event]]\nat = '1 s'\n", 1, "neither"),
        (
            "topology = 'ring'\n[[event]]\nat = '1 s'\nlink = 'r0-r2'\n",
            1,
            "did you mean",
        ),
        (
            "topology = 'ring'\n[[event]]\nat = '10 min'\nlink = 'r0-r1'\n",
            1,
            "after the end",
        ),
        (
            "[[router]]\nname = 'a'\n[[router.interface]]\nname = 'e'\naddress = '10.0.0.0/24'\n",
            1,
            "all hosts",
        ),
        (
            "[[router]]\nname = 'a'\n[[router.interface]]\nname = 'e'\naddress = '10.0.1.1/23'\n\
             [[router]]\nname = 'b'\n",
            1,
            "there twice",
        ),
        (
            "topology = 'ring'\n[[router]]\nname = 'r0'\nkind = 'gateway'\n\
             [[router]]\nname = 'r1'\nkind = 'gateway'\n",
            1,
            "two gateways",
        ),
    ] {
        let said = refused(text, count);
        assert!(said.contains(says), "{text}\n{said}");
    }
}
