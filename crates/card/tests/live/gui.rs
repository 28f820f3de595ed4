//! What the Java program of the original is tested for: an edit of a table reaches the registers,
//! and what is written there is shown. Here the program is the web page.

use crate::lab::Lab;
use crate::web::{ADDRESS, edit, state};
use serde_json::{Value, json};
use trammel_card::Client;
use trammel_netfpga::registers::Registers;
use trammel_netfpga::tables::{self, ArpRow, RouteRow};

/// A card with a page, and its registers.
struct Gui {
    lab: Lab,
    token: String,
}

impl Gui {
    fn new() -> Option<Gui> {
        let lab = Lab::new(|options, _| options.web = Some(ADDRESS.into()))?;
        let page = lab.card.page.as_ref().expect("it has a page");
        let (_, token) = page.split_once("#token=").expect("it has a token");
        Some(Gui {
            token: token.to_owned(),
            lab,
        })
    }

    fn edit(&self, path: &str, body: &Value) {
        let (status, answer) = edit(&self.lab.rig, &self.token, path, &body.to_string());
        assert_eq!(status, "200", "{answer}");
    }

    fn set(&self, row: &str) {
        self.edit("/api/table/set", &json!({ "row": row }));
    }

    fn clear(&self, table: &str, row: usize) {
        self.edit("/api/table/clear", &json!({ "table": table, "row": row }));
    }

    fn shown(&self) -> Value {
        state(&self.lab.rig)
    }

    fn registers(&mut self) -> &mut Client {
        self.lab.registers()
    }
}

#[test]
fn gui_routing_table() {
    let Some(mut gui) = Gui::new() else { return };
    let row = |third: u8| RouteRow {
        network: [10, 1, third, 0].into(),
        mask: [255, 255, 255, 0].into(),
        next_hop: [10, 2, 0, third].into(),
        queues: 1 << 4,
    };
    for place in [0, 31] {
        gui.set(&format!(
            "route {place} 10.1.{place}.0/24 via 10.2.0.{place} port 2"
        ));
        let read = tables::read_route(gui.registers(), place);
        assert_eq!(read, row(place as u8));
    }
    tables::write_route(gui.registers(), 7, &row(7));
    let shown = |place: u8| {
        json!({
            "row": place, "network": format!("10.1.{place}.0"), "mask": "255.255.255.0",
            "next_hop": format!("10.2.0.{place}"), "port": 2,
        })
    };
    let all = gui.shown()["tables"]["route"].clone();
    assert_eq!(all, json!([shown(0), shown(7), shown(31)]));
    gui.clear("route", 31);
    assert_eq!(tables::read_route(gui.registers(), 31), RouteRow::EMPTY);
}

#[test]
fn gui_arp_table() {
    let Some(mut gui) = Gui::new() else { return };
    let row = |last: u8| ArpRow {
        address: [10, 2, 0, last].into(),
        mac: [2, 0, 0, 0, 0, last],
    };
    gui.set("arp 3 10.2.0.3 2:0:0:0:0:3");
    assert_eq!(tables::read_arp(gui.registers(), 3), row(3));
    tables::write_arp(gui.registers(), 9, &row(9));
    let shown = |place: u8| {
        let (address, mac) = (
            format!("10.2.0.{place}"),
            format!("02:00:00:00:00:0{place}"),
        );
        json!({ "row": place, "next_hop": address, "mac": mac })
    };
    let all = gui.shown()["tables"]["arp"].clone();
    assert_eq!(all, json!([shown(3), shown(9)]));
    gui.clear("arp", 3);
    assert_eq!(tables::read_arp(gui.registers(), 3), ArpRow::EMPTY);
}

#[test]
fn gui_port_configuration() {
    let Some(mut gui) = Gui::new() else { return };
    gui.set("mac 1 2:0:0:0:1:1");
    assert_eq!(tables::read_mac(gui.registers(), 1), [2, 0, 0, 0, 1, 1]);
    tables::write_mac(gui.registers(), 2, [2, 0, 0, 0, 2, 2]);
    gui.set("filter 0 10.0.1.1");
    let read = tables::read_filter(gui.registers(), 0);
    assert_eq!(read.octets(), [10, 0, 1, 1]);
    tables::write_filter(gui.registers(), 1, [224, 0, 0, 5].into());
    let shown = gui.shown();
    let macs = (0..4).map(|port| shown["ports"][port]["mac"].clone());
    let macs: Vec<Value> = macs.collect();
    let wanted = [
        "ca:fe:f0:0d:00:01",
        "02:00:00:00:01:01",
        "02:00:00:00:02:02",
        "ca:fe:f0:0d:00:04",
    ];
    assert_eq!(macs, wanted);
    let filter = json!([
        { "row": 0, "address": "10.0.1.1" },
        { "row": 1, "address": "224.0.0.5" },
    ]);
    assert_eq!(shown["tables"]["filter"], filter);
    gui.clear("filter", 0);
    assert!(tables::read_filter(gui.registers(), 0).is_unspecified());
}

#[test]
fn gui_statistics() {
    let Some(mut gui) = Gui::new() else { return };
    let map = gui.registers().map();
    let at = |name: &str| map.find(name).expect("it is there").address;
    let forwarded = at("ROUTER_OP_LUT_NUM_PKTS_FORWARDED");
    gui.registers().write(forwarded, 77);
    let shown = gui.shown()["lookup"].clone();
    let counters = shown.as_array().expect("a list");
    let counter = counters
        .iter()
        .find(|counter| counter["name"] == "num_pkts_forwarded");
    assert_eq!(counter.expect("it is there")["value"], 77);
    gui.edit("/api/counters/clear", &json!({}));
    assert_eq!(gui.registers().read(forwarded), 0);
    // The size of a queue.
    let most = at("OQ_QUEUE_2_MAX_PKTS_IN_Q");
    let body = json!({ "register": "OQ_QUEUE_2_MAX_PKTS_IN_Q", "value": 12 });
    gui.edit("/api/register", &body);
    assert_eq!(gui.registers().read(most), 12);
    gui.registers().write(most, 34);
    let shown = gui.shown()["queues"][2]["registers"]["max_pkts_in_q"].clone();
    assert_eq!(shown, 34);
}
