use super::*;
use crate::tables::Tables;
use trammel_control::Config;
use trammel_control::config::cpuhw;
use trammel_netfpga::stages::{Fcs, Queue};
use trammel_netfpga::{Device, design};

const HOST: &str = "Host: localhost:8080\r\n";

struct Rig {
    site: Site,
    card: Device,
    control: Option<Control>,
    now: Time,
}

impl Rig {
    fn new(name: &str) -> Rig {
        let card = Device::new(design(name).unwrap());
        Rig {
            site: Site::new(card.design(), ([127, 0, 0, 1], 8080).into(), "secret"),
            card,
            control: None,
            now: Time::ZERO,
        }
    }

    /// Status, headers and body of the answer.
    fn ask(&mut self, request: &str) -> (String, String, String) {
        let mut card = Card {
            registers: &mut self.card,
            ports: &["eth1".to_owned()],
            control: self.control.as_mut(),
            has_mirror: false,
        };
        let answer = self.site.answer(self.now, request.as_bytes(), &mut card);
        let text = String::from_utf8(answer.expect("the request is whole")).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let (line, fields) = head.split_once("\r\n").unwrap();
        (line[9..12].to_owned(), fields.to_owned(), body.to_owned())
    }

    fn get(&mut self, path: &str) -> (String, String, String) {
        self.ask(&format!("GET {path} HTTP/1.1\r\n{HOST}\r\n"))
    }

    fn state(&mut self) -> Value {
        self.now = self.now.saturating_add(FRESH);
        let (status, _, body) = self.get("/api/state");
        assert_eq!(status, "200");
        serde_json::from_str(&body).unwrap()
    }

    fn post(&mut self, path: &str, body: &str) -> (String, Value) {
        let length = body.len();
        let (status, _, body) = self.ask(&format!(
            "POST {path} HTTP/1.1\r\n{HOST}X-Trammel-Token: secret\r\nContent-Type: \
             application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        ));
        (status, serde_json::from_str(&body).unwrap())
    }
}

#[test]
fn each_file_comes_with_headers_that_keep_it_to_itself() {
    let mut rig = Rig::new("reference-router");
    for (path, media, text) in FILES {
        let (status, fields, body) = rig.get(path);
        assert_eq!((status.as_str(), body.as_str()), ("200", text), "{path}");
        for field in [
            &format!("Content-Type: {media}\r\n"),
            "Content-Security-Policy: default-src 'none';",
            "frame-ancestors 'none'",
            "X-Content-Type-Options: nosniff",
            "Connection: close",
            &format!("Content-Length: {}", text.len()),
        ] {
            assert!(fields.contains(field), "{path}: {field} is not in {fields}");
        }
        let other = text.replace("http://www.w3.org/2000/svg", "");
        for elsewhere in [
            "http://",
            "https://",
            "//cdn",
            " style=\"",
            " onclick=",
            "<script>",
        ] {
            assert!(!other.contains(elsewhere), "{path} has {elsewhere}");
        }
    }
    let (status, fields, body) = rig.ask(&format!("HEAD / HTTP/1.1\r\n{HOST}\r\n"));
    assert_eq!((status.as_str(), body.as_str()), ("200", ""));
    assert!(fields.contains(&format!("Content-Length: {}", FILES[0].2.len())));
    let (status, _, body) = rig.ask(&format!("HEAD /no HTTP/1.1\r\n{HOST}\r\n"));
    assert_eq!((status.as_str(), body.as_str()), ("404", ""));
}

#[test]
fn the_state_has_every_stage() {
    let mut rig = Rig::new("reference-router");
    let arp = [&[0xff; 6][..], &[2, 0, 0, 0, 0, 1, 8, 6], &[0; 46]].concat();
    rig.card.receive(Queue::mac(2), &arp, Fcs::Good);
    let state = rig.state();
    assert_eq!(state["design"]["name"], "reference-router");
    let lookup = state["lookup"].as_array().unwrap();
    assert_eq!(lookup.len(), 10);
    for counter in lookup {
        let is_it = counter["name"] == "num_non_ip_rcvd";
        assert_eq!(counter["value"], u32::from(is_it), "{counter}");
    }
    assert_eq!(state["arbiter"]["num_pkts_sent"], 1);
    let port = &state["ports"][2];
    assert_eq!(port["registers"]["rx_queue_num_pkts_stored"], 1);
    assert_eq!(port["mac"], "ca:fe:f0:0d:00:03");
    // Nothing is said of the link of a port without an interface.
    assert_eq!(
        (&port["interface"], &port["link_up"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(state["ports"][0]["interface"], "eth1");
    assert_eq!(state["ports"][0]["link_up"], true);
    assert_eq!(state["queues"][5]["registers"]["num_pkts_in_q"], 1);
    assert_eq!(state["queues"][5]["to"], "host");
    assert_eq!(
        state["hosts"][2]["registers"]["tx_queue_num_pkts_enqueued"],
        0
    );
    assert_eq!(
        state["tables"],
        json!({ "route": [], "arp": [], "filter": [] })
    );
    assert_eq!(state["tables_follow"], Value::Null);
    assert_eq!(state["control"], Value::Null);
}

#[test]
fn edits_reach_the_registers() {
    let mut rig = Rig::new("reference-router");
    let row = r#"{"row": "route 3 10.1.0.0/16 via 10.2.0.1 port 1"}"#;
    assert_eq!(
        rig.post("/api/table/set", row),
        ("200".to_owned(), json!({ "ok": true }))
    );
    let routes = rig.state()["tables"]["route"].clone();
    assert_eq!(
        routes,
        json!([{
            "row": 3, "network": "10.1.0.0", "mask": "255.255.0.0", "next_hop": "10.2.0.1",
            "port": 1
        }])
    );
    assert_eq!(Tables::read(&mut rig.card).routes[3].queues, 4);
    let (status, _) = rig.post("/api/table/clear", r#"{"table": "route", "row": 3}"#);
    assert_eq!(
        (status.as_str(), &rig.state()["tables"]["route"]),
        ("200", &json!([]))
    );
    let limit = r#"{"register": "OQ_QUEUE_0_MAX_PKTS_IN_Q", "value": 8}"#;
    assert_eq!(rig.post("/api/register", limit).0, "200");
    assert_eq!(rig.state()["queues"][0]["registers"]["max_pkts_in_q"], 8);
    let count = r#"{"register": "ROUTER_OP_LUT_NUM_PKTS_FORWARDED", "value": 7}"#;
    assert_eq!(rig.post("/api/register", count).0, "200");
    assert_eq!(rig.state()["lookup"][7]["value"], 7);
    assert_eq!(rig.post("/api/counters/clear", "{}").0, "200");
    assert_eq!(rig.state()["lookup"][7]["value"], 0);
}

#[test]
fn an_edit_that_is_none_says_what_would_be_right() {
    let mut rig = Rig::new("reference-router");
    let before = Tables::read(&mut rig.card);
    for (path, body, says) in [
        ("/api/table/set", "", "no JSON"),
        ("/api/table/set", "[[[[", "no JSON"),
        ("/api/table/set", "7", "the body is"),
        ("/api/table/set", r#"{"row": 7}"#, "the body is"),
        (
            "/api/table/set",
            r#"{"row": "filter 32 10.0.0.1"}"#,
            "0 to 31",
        ),
        (
            "/api/table/set",
            r#"{"row": "filter 0 x"}"#,
            "no IPv4 address",
        ),
        (
            "/api/table/clear",
            r#"{"table": "route", "row": 32}"#,
            "0 to 31",
        ),
        (
            "/api/table/clear",
            r#"{"table": "mac", "row": 0}"#,
            "set another",
        ),
        (
            "/api/table/clear",
            r#"{"table": "rout", "row": 0}"#,
            "did you mean",
        ),
        (
            "/api/register",
            r#"{"register": "X", "value": 0}"#,
            "no register",
        ),
        (
            "/api/register",
            r#"{"register": "DEV_ID_VERSION", "value": 0}"#,
            "only read",
        ),
        (
            "/api/register",
            r#"{"register": "MAC_GRP_0_CONTROL", "value": -1}"#,
            "the body is",
        ),
        (
            "/api/register",
            r#"{"register": "MAC_GRP_0_CONTROL", "value": 4294967296}"#,
            "32 bits",
        ),
    ] {
        let (status, answer) = rig.post(path, body);
        let error = answer["error"].as_str().unwrap();
        assert!(
            status == "400" && error.contains(says),
            "{path} {body}: {answer}"
        );
    }
    assert_eq!(Tables::read(&mut rig.card), before);
    assert_eq!(rig.state()["web"]["refused"]["body"], 13);
}

#[test]
fn nothing_is_changed_by_a_get_or_without_the_token() {
    let mut rig = Rig::new("reference-router");
    let before = Tables::read(&mut rig.card);
    let body = r#"{"row": "filter 0 10.0.0.1"}"#;
    let length = body.len();
    for (line, fields, status) in [
        ("GET /api/table/set", "X-Trammel-Token: secret\r\n", "405"),
        ("PUT /api/table/set", "X-Trammel-Token: secret\r\n", "405"),
        ("POST /api/table/set", "", "403"),
        ("POST /api/table/set", "X-Trammel-Token: secre\r\n", "403"),
        (
            "POST /api/table/set",
            "X-Trammel-Token: secret\r\nOrigin: http://a\r\n",
            "403",
        ),
        ("POST /api/state", "X-Trammel-Token: secret\r\n", "405"),
        ("POST /", "X-Trammel-Token: secret\r\n", "405"),
        (
            "OPTIONS /api/table/set",
            "Origin: http://localhost:8080\r\n",
            "405",
        ),
        ("GET /api", "", "404"),
        ("GET /../etc/passwd", "", "404"),
    ] {
        let json = "Content-Type: application/json\r\n";
        let request = format!(
            "{line} HTTP/1.1\r\n{HOST}{json}{fields}Content-Length: {length}\r\n\r\n{body}"
        );
        let (got, headers, _) = rig.ask(&request);
        assert_eq!(got, status, "{line} {fields}");
        assert!(!headers.contains("Access-Control"), "{headers}");
    }
    assert_eq!(Tables::read(&mut rig.card), before);
    let refused = &rig.state()["web"]["refused"];
    let counted = (
        &refused["method"],
        &refused["token"],
        &refused["origin"],
        &refused["path"],
    );
    assert_eq!(counted, (&json!(5), &json!(2), &json!(1), &json!(2)));
}

#[test]
fn a_flood_of_questions_costs_one_reading_and_an_edit_is_seen_at_once() {
    let mut rig = Rig::new("reference-router");
    rig.state();
    let clear = r#"{"register": "IN_ARB_NUM_PKTS_SENT", "value": 5}"#;
    let arp = [0xff; 60];
    rig.card.receive(Queue::mac(0), &arp, Fcs::Good);
    let old: Value = serde_json::from_str(&rig.get("/api/state").2).unwrap();
    assert_eq!(old["arbiter"]["num_pkts_sent"], 0);
    rig.post("/api/register", clear);
    let new: Value = serde_json::from_str(&rig.get("/api/state").2).unwrap();
    assert_eq!(new["arbiter"]["num_pkts_sent"], 5);
}

#[test]
fn the_control_software_is_shown_where_it_runs() {
    let mut rig = Rig::new("reference-router");
    let text = "eth0 10.0.0.1 255.255.255.0 2:0:0:0:1:0\neth1 10.0.1.1 255.255.255.0 2:0:0:0:1:1\n";
    let interfaces = cpuhw::read("cpuhw", text).unwrap();
    rig.control = Some(Control::new(Config::new(interfaces, Vec::new())).unwrap());
    let state = rig.state();
    assert_eq!(state["tables_follow"], "control");
    let control = &state["control"];
    assert_eq!(control["interfaces"][1]["address"], "10.0.1.1");
    assert_eq!(control["counters"]["received"], 0);
    let pwospf = &control["pwospf"];
    assert_eq!(pwospf["router_id"], "10.0.0.1");
    assert_eq!(
        pwospf["database"][0]["adverts"].as_array().unwrap().len(),
        2
    );
    assert_eq!(pwospf["is_whole"], true);
}

#[test]
fn a_design_without_tables_has_its_own_counters_and_no_edits_of_rows() {
    let mut rig = Rig::new("reference-switch");
    let state = rig.state();
    let names = state["lookup"].as_array().unwrap().iter();
    let names: Vec<_> = names.map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["num_hits", "num_misses"]);
    assert_eq!(
        (&state["tables"], &state["ports"][0]["mac"]),
        (&Value::Null, &Value::Null)
    );
    let (status, answer) = rig.post("/api/table/set", r#"{"row": "filter 0 10.0.0.1"}"#);
    assert_eq!(
        (status.as_str(), &answer["reason"]),
        ("400", &json!("body"))
    );
    let state = Rig::new("reference-nic").state();
    assert_eq!(state["lookup"], json!([]));
}
