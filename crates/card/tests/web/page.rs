//! What the page shows, what it changes, and that nothing of it is cut off.

use crate::browser::Browser;
use crate::server::{Inside, Server, TOKEN};
use serde_json::json;
use std::sync::atomic::{AtomicBool, Ordering};
use trammel_card::tables::{Row, Tables};
use trammel_control::config::cpuhw;
use trammel_control::{Config, Control};
use trammel_core::Time;
use trammel_netfpga::Device;
use trammel_netfpga::registers::Registers;
use trammel_netfpga::stages::{Fcs, Queue};

const CPUHW: &str = "eth0 10.0.0.1 255.255.255.0 2:0:0:0:1:0\n\
                     eth1 10.0.1.1 255.255.255.0 2:0:0:0:1:1\n";

fn row(device: &mut Device, text: &str) {
    let words: Vec<&str> = text.split(' ').collect();
    Row::parse(&words).expect("a row").write(device);
}

/// An ARP request: not IPv4, so it is for the host.
fn arp() -> Vec<u8> {
    [&[0xff; 6][..], &[2, 0, 0, 0, 0, 1, 8, 6], &[0; 46]].concat()
}

/// Two PW-OSPF routers on one network, a step of 10 ms for each call.
fn exchange(one: &mut Control, other: &mut Control, device: &mut Device, now: Time) {
    use trammel_card::RegisterDataplane;
    use trammel_netfpga::design;
    let mut beside = Device::new(design("reference-router").expect("there is such a design"));
    let mut dataplane = RegisterDataplane::new(device);
    let mut other_dataplane = RegisterDataplane::new(&mut beside);
    one.handle_timeout(now, &mut dataplane);
    other.handle_timeout(now, &mut other_dataplane);
    for _ in 0..10 {
        while let Some((port, frame)) = one.poll_transmit() {
            if port == 1 {
                other.receive(now, 0, &frame, &mut other_dataplane);
            }
        }
        while let Some((port, frame)) = other.poll_transmit() {
            if port == 0 {
                one.receive(now, 1, &frame, &mut dataplane);
            }
        }
    }
}

fn control(text: &str) -> Control {
    let interfaces = cpuhw::read("cpuhw", text).expect("it is right");
    Control::new(Config::new(interfaces, Vec::new())).expect("it is right")
}

#[test]
fn an_edit_reaches_the_registers_and_a_counter_moves_on_the_page() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let mut server = Server::new("reference-router", None);
    let address = server.address;
    browser.open(&format!("http://{address}/#token={TOKEN}"), 1280, false);
    // The token is not left in the address.
    assert_eq!(browser.value("location.href"), format!("http://{address}/"));

    // By keyboard alone: a route into the form of its table.
    browser.until(
        "document.querySelectorAll('#table-route form').length",
        &json!(1),
    );
    let focus = "document.querySelector('#table-route [name=row]').select()";
    browser.value(focus);
    for text in ["5", "10.1.0.0/16", "10.2.0.1"] {
        browser.write(text);
        browser.press("Tab", 9);
    }
    browser.write("");
    browser.value("document.activeElement.value = '1'");
    browser.press("Tab", 9);
    browser.press("Enter", 13);
    let shown = "document.querySelector('#table-route tr[data-row=\"5\"]')?.innerText.split(/\\s+/)\
                 .slice(0, 4).join(' ')";
    browser.until(shown, &json!("5 10.1.0.0/16 10.2.0.1 1"));
    let routes = {
        let mut inside = server.inside.lock().expect("nobody panicked");
        Tables::read(&mut inside.device).routes
    };
    assert_eq!(routes[5].queues, 4);
    assert_eq!(routes[5].next_hop.to_string(), "10.2.0.1");

    // A fault is told, and nothing is changed.
    browser.value("document.querySelector('#table-filter [name=address]').focus()");
    browser.write("10.0.0");
    browser.press("Enter", 13);
    let fault = "document.querySelector('#table-filter .fault').textContent.includes('IPv4')";
    browser.until(fault, &json!(true));

    // Frames come: the counters of their way move, and the others stay.
    for _ in 0..3 {
        let mut inside = server.inside.lock().expect("nobody panicked");
        inside.device.receive(Queue::mac(1), &arp(), Fcs::Good);
    }
    let count = "document.querySelector('[data-counter=lookup-num_non_ip_rcvd] .num')\
                 .textContent";
    browser.until(count, &json!("3"));
    let moved = "[...document.querySelectorAll('[data-counter]')]\
                 .filter((row) => row.querySelector('.num').textContent !== '0')\
                 .map((row) => row.dataset.counter).join(' ')";
    let moved = browser.value(moved);
    assert_eq!(moved, "rx1-in arbiter lookup-num_non_ip_rcvd q3-in q3-now");

    browser.value("document.querySelector('[data-key=\"5-clear\"]').click()");
    browser.until(
        "document.querySelectorAll('#table-route tr[data-row]').length",
        &json!(0),
    );
    let routes = {
        let mut inside = server.inside.lock().expect("nobody panicked");
        Tables::read(&mut inside.device).routes
    };
    assert_eq!(routes[5].queues, 0);

    assert_eq!(browser.value("faults"), json!([]));
    server.end();
    let gone = "document.getElementById('gone').textContent.startsWith('The card is gone')";
    browser.until(gone, &json!(true));
}

#[test]
fn without_the_token_the_page_only_shows() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let server = Server::new("reference-switch", None);
    browser.open(&format!("http://{}/", server.address), 1280, false);
    browser.until(
        "document.getElementById('rights').textContent",
        &json!("read only"),
    );
    let forms = "[...document.querySelectorAll('form, button')]\
                 .filter((one) => one.offsetParent !== null).length";
    assert_eq!(browser.value(forms), 0);
    // A design without tables shows none, and its own counters.
    let tables = "document.getElementById('tables').hidden";
    assert_eq!(browser.value(tables), true);
    let hits = "document.querySelector('[data-counter=lookup-num_hits]') !== null";
    assert_eq!(browser.value(hits), true);
    assert_eq!(browser.value("faults"), json!([]));
}

#[test]
fn recorded_events_are_drawn_where_the_design_records_them() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let server = Server::new("buffer-sizing", None);
    let address = format!("http://{}/#token={TOKEN}", server.address);
    browser.open(&address, 1280, false);
    browser.value("document.getElementById('record').click()");
    let pressed = "document.getElementById('record').getAttribute('aria-pressed')";
    browser.until(pressed, &json!("true"));
    {
        let mut inside = server.inside.lock().expect("nobody panicked");
        let limit = inside.device.design().map();
        let limit = limit.find("OQ_QUEUE_3_MAX_PKTS_IN_Q").expect("it is there");
        inside.device.write(limit.address, 30);
        for number in 0..120 {
            inside
                .device
                .set_time(Time::from_us(1_000_000 + 7 * number));
            inside.device.receive(Queue::mac(1), &arp(), Fcs::Good);
            if number % 3 == 0 {
                inside.device.transmit(Queue::cpu(1), &mut Vec::new());
            }
        }
    }
    let label = "document.getElementById('events').getAttribute('aria-label')\
                 .split(': ')[1]";
    browser.until(label, &json!("highest 270, 50 frames dropped"));
    picture(&mut browser, "events");
    assert_eq!(browser.value("faults"), json!([]));
}

/// Keeps a picture of the page for whoever wants to look at it: text in base 64, of which
/// `base64 -d` makes PNG.
fn picture(browser: &mut Browser, name: &str) {
    if let Some(folder) = std::env::var_os("TRAMMEL_PICTURES") {
        let file = std::path::Path::new(&folder).join(format!("{name}.b64"));
        std::fs::write(file, browser.picture()).expect("the folder is there");
    }
}

/// Looks at the page: what is too wide, unlabelled or hardly read.
const LOOK: &str = r#"(() => {
  const all = (selector) => [...document.querySelectorAll(selector)]
    .filter((one) => one.offsetParent !== null || one instanceof SVGElement);
  const luminance = (color) => {
    const parts = color.match(/[\d.]+/g).slice(0, 3).map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  };
  const ground = (one) => {
    for (let at = one; at; at = at.parentElement) {
      const color = getComputedStyle(at).backgroundColor;
      if (color !== "rgba(0, 0, 0, 0)") return color;
    }
    return "rgb(255, 255, 255)";
  };
  const contrast = (one) => {
    const two = [getComputedStyle(one).color, ground(one)].map(luminance).sort((a, b) => b - a);
    return (two[0] + 0.05) / (two[1] + 0.05);
  };
  const texts = all("h1, h2, h3, p, span, td, th, button, label, input, a")
    .filter((one) => [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim()));
  const name = (one) => `${one.tagName} ${one.className} ${one.textContent.slice(0, 30)}`;
  const inScroll = (one) => one.closest(".scroll") !== null;
  return {
    page: document.documentElement.scrollWidth,
    cut: texts.filter((one) => !inScroll(one) && (one.getBoundingClientRect().right > innerWidth + 1
        || (one.closest(".row") && one.scrollWidth > one.clientWidth + 1
            && getComputedStyle(one).display !== "inline"))).map(name),
    overlaps: all(".row, .box > b").filter((row) => {
      const parts = [...row.children].map((part) => part.getBoundingClientRect())
        .filter((part) => part.height > 0);
      return parts.some((part, at) => at > 0 && part.left < parts[at - 1].right - 1
        && part.top < parts[at - 1].bottom - 1);
    }).map(name),
    pale: texts.filter((one) => contrast(one) < 4.5).map((one) => `${name(one)} ${contrast(one)}`),
    unlabelled: all("input, select").filter((one) => !one.labels.length).map(name)
      .concat(all("canvas, svg[role=img]").filter((one) => !one.getAttribute("aria-label"))
        .map(name)),
    faults,
  };
})()"#;

#[test]
fn nothing_is_cut_off_or_pale_at_any_width() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let mut own = control(CPUHW);
    let mut other = control(
        "eth0 10.0.1.2 255.255.255.0 2:0:0:0:2:0\neth1 192.168.222.254 255.255.255.0 2:0:0:0:2:1\n",
    );
    let server = Server::new("reference-router", None);
    {
        let mut inside = server.inside.lock().expect("nobody panicked");
        let Inside { device, control } = &mut *inside;
        exchange(&mut own, &mut other, device, Time::ZERO);
        exchange(&mut own, &mut other, device, Time::from_secs(2));
        exchange(&mut own, &mut other, device, Time::from_secs(6));
        *control = Some(own);
        for number in 6..12 {
            let text = format!("route {number} 192.168.{number}0.0/24 via 172.16.100.254 port 3");
            row(device, &text);
        }
        row(device, "route 12 10.1.0.0/255.0.255.225 port host3");
        row(device, "arp 31 172.16.100.254 ca:fe:f0:0d:00:ff");
        row(device, "filter 0 255.255.255.255");
        // Counters as long as they get.
        let names: Vec<u32> = (device.design().map().all())
            .filter(|named| named.name.contains("NUM_"))
            .map(|named| named.address)
            .collect();
        for address in names {
            device.write(address, 4_000_000_000);
        }
        device.set_link(1, false);
    }
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // Traffic, so that rates and occupancy are there.
            let mut step = 0_u32;
            while !is_over.load(Ordering::Relaxed) {
                step += 1;
                let mut inside = server.inside.lock().expect("nobody panicked");
                inside.device.receive(Queue::mac(1), &arp(), Fcs::Good);
                let mut frame = Vec::new();
                if step.is_multiple_of(3000) {
                    while inside.device.transmit(Queue::cpu(1), &mut frame) {}
                }
                drop(inside);
                std::thread::sleep(std::time::Duration::from_micros(500));
            }
        });
        let looked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let mut faults = Vec::new();
            for (width, is_dark) in [
                (400, false),
                (400, true),
                (1280, false),
                (1280, true),
                (1920, false),
            ] {
                faults.extend(look(&mut browser, &server, width, is_dark));
            }
            assert!(faults.is_empty(), "{faults:#?}");
        }));
        is_over.store(true, Ordering::Relaxed);
        if let Err(why) = looked {
            std::panic::resume_unwind(why);
        }
    });
}

/// Where the page is not as it should be.
fn look(browser: &mut Browser, server: &Server, width: u32, is_dark: bool) -> Vec<String> {
    let address = format!("http://{}/#token={TOKEN}", server.address);
    browser.open(&address, width, is_dark);
    // Rates are there from the second reading on.
    let moves = "document.querySelectorAll('.rate:not(:empty)').length > 2";
    browser.until(moves, &json!(true));
    let both = "document.querySelectorAll('#topology circle').length";
    browser.until(both, &json!(2));
    let scheme = if is_dark { "dark" } else { "light" };
    picture(browser, &format!("page-{width}-{scheme}"));
    let seen = browser.value(LOOK);
    let page = seen["page"].as_f64().expect("a number");
    let wide = (page > f64::from(width)).then(|| format!("{width}: the page has {page} pixels"));
    let lists = ["cut", "overlaps", "pale", "unlabelled", "faults"].into_iter();
    let faults = lists.flat_map(|list| {
        let all = seen[list].as_array().expect("a list").iter();
        all.map(move |one| format!("{width}, dark: {is_dark}, {list}: {one}"))
    });
    faults.chain(wide).collect()
}
