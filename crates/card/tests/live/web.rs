//! The web page of a card on real interfaces.

use crate::rig::{MACS, Rig, Wire, udp};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

/// In the namespace of the card, where no other program is.
pub(crate) const ADDRESS: ([u8; 4], u16) = ([127, 0, 0, 1], 8080);

/// Status and body of the answer.
fn ask<const PORTS: usize>(rig: &Rig<PORTS>, request: &str) -> (String, Value) {
    let connected = rig
        .home
        .run(|| TcpStream::connect(SocketAddr::from(ADDRESS)));
    let mut stream = connected.expect("it listens");
    stream.write_all(request.as_bytes()).expect("it reads");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("it answers");
    let (head, body) = text.split_once("\r\n\r\n").expect("an answer has a head");
    let status = head.split(' ').nth(1).expect("an answer has a status");
    (
        status.to_owned(),
        serde_json::from_str(body).expect("the body is JSON"),
    )
}

pub(crate) fn state<const PORTS: usize>(rig: &Rig<PORTS>) -> Value {
    let (status, state) = ask(
        rig,
        "GET /api/state HTTP/1.1\r\nHost: localhost:8080\r\n\r\n",
    );
    assert_eq!(status, "200");
    state
}

pub(crate) fn edit<const PORTS: usize>(
    rig: &Rig<PORTS>,
    token: &str,
    path: &str,
    body: &str,
) -> (String, Value) {
    let length = body.len();
    let request = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost:8080\r\nX-Trammel-Token: {token}\r\nContent-Type: \
         application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    );
    ask(rig, &request)
}

#[test]
fn frames_are_forwarded_by_what_was_edited_and_counted_on_the_page() {
    let Some(rig) = Rig::new() else { return };
    let started = rig.run(|options| {
        options.has_hosts = false;
        options.web = Some(ADDRESS.into());
    });
    let Some(card) = started else { return };
    let page = card.page.as_ref().expect("it has a page");
    let (address, token) = page.split_once("#token=").expect("it has a token");
    assert_eq!(address, "http://127.0.0.1:8080/");
    look(&rig, token);
}

fn look(rig: &Rig, token: &str) {
    for row in ["route 0 10.0.1.0/24 port 1", "arp 0 10.0.1.2 2:0:0:0:0:8"] {
        let body = format!("{{\"row\": \"{row}\"}}");
        let (status, answer) = edit(rig, "guess", "/api/table/set", &body);
        assert_eq!(
            (status.as_str(), &answer["reason"]),
            ("403", &"token".into())
        );
        let (status, answer) = edit(rig, token, "/api/table/set", &body);
        assert_eq!((status.as_str(), &answer["ok"]), ("200", &true.into()));
    }
    let before = state(rig);
    assert_eq!(before["tables"]["arp"][0]["mac"], "02:00:00:00:00:08");
    let ports = before["ports"].as_array().expect("a list");
    let names: Vec<&Value> = ports.iter().map(|port| &port["interface"]).collect();
    assert_eq!(
        names,
        [&"p0".into(), &"p1".into(), &Value::Null, &Value::Null]
    );
    assert_eq!(ports[0]["link_up"], true);

    let mut from = Wire::open(&rig.ends[0], "e");
    let mut to = Wire::open(&rig.ends[1], "e");
    for number in 0..5 {
        from.send(&udp(MACS[0], [10, 0, 1, 2], number));
        let frame = to.receive(|frame| frame[12..14] == [8, 0] && frame[23] == 17);
        assert_eq!(frame[..6], [2, 0, 0, 0, 0, 8]);
    }
    let forwarded = |state: &Value| state["lookup"][7]["value"].clone();
    Rig::until(&Value::from(5), || forwarded(&state(rig)));
    let after = state(rig);
    assert!(after["time_ms"].as_u64() > before["time_ms"].as_u64());
    assert_eq!(after["queues"][2]["registers"]["num_pkts_removed"], 5);
    assert_eq!(after["lookup"][7]["name"], "num_pkts_forwarded");
    let samples = after["occupancy"]["times_ms"].as_array().expect("a list");
    assert!(!samples.is_empty(), "somebody looks");
}
