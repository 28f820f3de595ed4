//! Reads the `[[router]]`s: their settings, their interfaces, their hosts.

use super::address;
use super::keys::KINDS;
use super::plan::{End, Interface, Plan};
use crate::reader::Reader;
use trammel_control::network::{Settings, Subnet};
use trammel_control::pwospf::Config;
use trammel_core::time::Span;
use trammel_core::units::Rate;

/// What a link has where it has nothing of its own.
#[derive(Clone, Copy)]
pub(super) struct Line {
    pub(super) delay: Span,
    pub(super) rate: Option<Rate>,
}

/// The timers and the area that a table gives.
pub(super) fn set(r: &Reader<'_>, config: &mut Config) {
    if let Some(hello) = r.span("hello_interval") {
        if hello.as_ms() % 1000 != 0 || Span::from_ms(hello.as_ms()) != hello {
            let entry = r.entry("hello_interval");
            let span = entry.map_or(r.span.clone(), |entry| entry.node.span.clone());
            let what = format!("`{}` must be whole seconds", r.dotted("hello_interval"));
            r.cx.fault(&span, what, "a HELLO carries no part of one", "round it");
        } else {
            config.hello_interval = hello;
        }
    }
    if let Some(lsu) = r.span("lsu_interval") {
        config.lsu_interval = lsu;
    }
    if let Some(area) = r.whole("area") {
        config.area = area as u32;
    }
}

/// Reads each `[[router]]` but its hosts; their numbers.
pub(super) fn routers(
    tables: &[Reader<'_>],
    plan: &mut Plan,
    settings: &mut Settings,
) -> Vec<Option<usize>> {
    let mut seen: Vec<String> = Vec::new();
    let mut read = |r: &Reader<'_>| {
        let name = r.text("name");
        let mut config = settings.config.clone();
        set(r, &mut config);
        let kind = r.word("kind").map(|n| KINDS[n]);
        let name = name?;
        let span = r.entry("name")?.node.span.clone();
        if seen.contains(&name) {
            let what = format!("two routers are called `{name}`");
            let help = "give each a name of its own";
            r.cx.fault(&span, what, "the second", help);
            return None;
        }
        if name.contains([':', '\n', '\t']) {
            let what = format!("`{name}` is no name of a router");
            r.cx.fault(&span, what, "`:` comes before an interface", "leave it out");
            return None;
        }
        seen.push(name.clone());
        let known = plan.topology.routers.iter().position(|one| *one == name);
        let router = known.unwrap_or(plan.topology.routers.len());
        if known.is_none() {
            plan.topology.routers.push(name);
        }
        if config != settings.config {
            settings.own.insert(router, config);
        }
        if kind? == "gateway" {
            if plan.topology.gateway.is_some_and(|other| other != router) {
                let what = "there are two gateways";
                let help = "make one of them a `router`";
                r.cx.fault(&span, what, "one router leads outside", help);
            }
            plan.topology.gateway = Some(router);
        }
        let interfaces = r.tables("interface");
        for table in interfaces {
            interface(&table, plan.interfaces.entry(router).or_default());
        }
        Some(router)
    };
    tables.iter().map(&mut read).collect()
}

/// Reads one `[[router.interface]]` beside `others` of its router.
fn interface(r: &Reader<'_>, others: &mut Vec<Interface>) {
    let (name, text) = (r.text("name"), r.text("address"));
    let (Some(name), Some(text)) = (name, text) else {
        return;
    };
    let span_of = |key: &str| {
        let entry = r.entry(key);
        entry.map_or(r.span.clone(), |entry| entry.node.span.clone())
    };
    if others.iter().any(|other| other.name == name) {
        let what = format!("two interfaces are called `{name}`");
        let help = "give each a name of its own";
        r.cx.fault(&span_of("name"), what, "the second", help);
        return;
    }
    let span = span_of("address");
    match address::read(&text) {
        Ok((address, mask)) => others.push(Interface {
            name,
            address,
            mask,
            span,
            is_linked: false,
        }),
        Err(why) => {
            let what = format!("`{text}` is no address of an interface");
            let help = "write it as `10.1.0.1/24`";
            r.cx.fault(&span, what, why, help);
        }
    }
}

/// The subnets of hosts of a `[[router]]`: interfaces at no link, or one without a given address.
pub(super) fn hosts(
    r: &Reader<'_>,
    router: Option<usize>,
    made: usize,
    line: Line,
    plan: &mut Plan,
) {
    let wanted = r.flag("hosts");
    let Some(router) = router else { return };
    let all = plan.interfaces.get(&router).map_or(&[][..], Vec::as_slice);
    let open = all.iter().enumerate().filter(|(_, one)| !one.is_linked);
    let open: Vec<usize> = open.map(|(number, _)| number).collect();
    let subnet = || Subnet {
        rate: line.rate,
        ..Subnet::new(vec![router], line.delay)
    };
    for number in &open {
        let end = End {
            router,
            interface: Some(*number),
        };
        plan.join(r.cx, &[end], subnet(), None);
    }
    let is_made = router < made;
    if let (Some(entry), true) = (r.entry("hosts"), is_made) {
        let what = "a router of the topology has hosts";
        r.cx.fault(&entry.span, what, "`hosts` is for others", "leave it out");
    } else if wanted.unwrap_or(open.is_empty()) && !is_made {
        plan.push(subnet(), None);
    }
}
