//! Whatever a connection to the web page sends, it is answered once or waited for within bounds;
//! answers are whole; and nothing changes but by an edit that is answered with 200.

use std::cell::RefCell;
use std::net::Ipv4Addr;
use trammel_card::Tables;
use trammel_card::web::{Card, Site};
use trammel_core::Time;
use trammel_netfpga::registers::Registers;
use trammel_netfpga::tables::{ArpRow, ROWS, RouteRow};
use trammel_netfpga::{Device, design};

/// The token in the inputs that are kept.
const TOKEN: &str = "secret";
/// Edits by register may set this, and nothing else does.
const LIMIT: u32 = 0x200_1034;

/// The MAC addresses of the ports before an edit.
const MACS: [[u8; 6]; 4] = [
    [0xca, 0xfe, 0xf0, 0x0d, 0, 1],
    [0xca, 0xfe, 0xf0, 0x0d, 0, 2],
    [0xca, 0xfe, 0xf0, 0x0d, 0, 3],
    [0xca, 0xfe, 0xf0, 0x0d, 0, 4],
];

/// Status and body, checked for what every answer has.
fn opened(answer: &[u8]) -> (u16, Vec<u8>) {
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n");
    let (head, body) = answer.split_at(end.expect("an answer has a head") + 4);
    let head = std::str::from_utf8(head).expect("a head is text");
    let status = head
        .strip_prefix("HTTP/1.1 ")
        .expect("an answer of HTTP/1.1");
    for field in [
        "Content-Security-Policy: default-src 'none'",
        "nosniff",
        "Connection: close",
    ] {
        assert!(head.contains(field), "{head}");
    }
    let length = head.split("Content-Length: ").nth(1);
    let length = length.and_then(|rest| rest.split("\r\n").next());
    let length: usize = length.and_then(|text| text.parse().ok()).expect("a length");
    assert!(body.is_empty() || body.len() == length, "{head}");
    (status[..3].parse().expect("a status"), body.to_vec())
}

/// A card and its site, which serve inputs until one of them changes something.
struct Rig {
    device: Device,
    site: Site,
    runs: u64,
}

impl Rig {
    fn new() -> Rig {
        let device = Device::new(design("reference-router").expect("there is such a design"));
        let site = Site::new(device.design(), ([127, 0, 0, 1], 80).into(), TOKEN);
        Rig {
            device,
            site,
            runs: 0,
        }
    }

    fn answer(&mut self, input: &[u8]) -> Option<(u16, Vec<u8>)> {
        self.runs += 1;
        let mut card = Card {
            registers: &mut self.device,
            ports: &[],
            control: None,
            has_mirror: false,
        };
        let now = Time::from_secs(self.runs);
        let answer = self.site.answer(now, input, &mut card);
        answer.as_deref().map(opened)
    }

    /// Whether nothing was edited.
    fn is_new(&mut self) -> bool {
        let tables = Tables::read(&mut self.device);
        let is_empty = tables.routes == [RouteRow::EMPTY; ROWS]
            && tables.neighbours == [ArpRow::EMPTY; ROWS]
            && tables.filter == [Ipv4Addr::UNSPECIFIED; ROWS];
        is_empty && tables.macs == MACS && self.device.read(LIMIT) == 0
    }
}

thread_local! {
    static RIG: RefCell<Option<Rig>> = const { RefCell::new(None) };
}

pub(crate) fn run(bytes: &[u8]) {
    RIG.with_borrow_mut(|kept| {
        let mut rig = kept.take().unwrap_or_else(Rig::new);
        if !serve(&mut rig, bytes) {
            *kept = Some(rig);
        }
    });
}

/// Whether something was edited.
fn serve(rig: &mut Rig, bytes: &[u8]) -> bool {
    let bytes = &bytes[..bytes.len().min(2 * Site::LONGEST_REQUEST)];
    // A part of the request is waited for, or refused as the whole is.
    let early = rig.answer(&bytes[..bytes.len() / 2]);
    if early.is_some_and(|(status, _)| status == 200) {
        let whole = rig.answer(bytes);
        assert!(whole.is_some_and(|(status, _)| status == 200));
        return true;
    }
    let Some((status, body)) = rig.answer(bytes) else {
        assert!(bytes.len() < Site::LONGEST_REQUEST, "it waits for ever");
        return false;
    };
    if status != 200 {
        let told: serde_json::Value = serde_json::from_slice(&body).unwrap_or_default();
        let is_told = told["error"].is_string() && told["ok"] == false;
        assert!(is_told || (body.is_empty() && bytes.starts_with(b"HEAD ")));
    }
    let has_token = bytes
        .windows(TOKEN.len())
        .any(|part| part == TOKEN.as_bytes());
    let may_edit = status == 200 && has_token && bytes.starts_with(b"POST ");
    assert!(may_edit || rig.is_new(), "something was changed");
    may_edit
}
