//! The kernel's tables as the router is told of them.

use std::io;
use trammel_io::rtnetlink::{Change, Event, Follower};
use trammel_router::host::{KernelEvent, KernelTables, Refusal, RouteKind};

/// `RT_TABLE_MAIN`, `RT_TABLE_LOCAL`.
const MAIN_TABLE: u32 = 254;
const LOCAL_TABLE: u32 = 255;

/// What becomes of the packets of a route, by its kind (`RTN_…`, `linux/rtnetlink.h`). After
/// `throw` the kernel goes on in its next table, which is empty unless somebody filled it: it
/// refuses then.
fn kind(number: u8) -> Option<RouteKind> {
    match number {
        1 => Some(RouteKind::Unicast),
        2..=4 => Some(RouteKind::Local),
        6..=9 => Some(RouteKind::Refused),
        _ => None,
    }
}

#[derive(Debug)]
struct Tables(Follower);

/// Follows the tables of this process's network namespace.
pub fn follow() -> Result<Box<dyn KernelTables>, Refusal> {
    match Follower::open() {
        Ok(follower) => Ok(Box::new(Tables(follower))),
        Err(why) => Err(Refusal {
            text: format!("cannot follow the kernel's routes: {why}"),
            mend: Some("a kernel with CONFIG_NET and rtnetlink".to_owned()),
            is_lack: true,
        }),
    }
}

fn told(event: Event) -> Option<KernelEvent> {
    let is_there = |change: Change| change == Change::Add;
    Some(match event {
        Event::Restart => KernelEvent::Restart,
        Event::Unsettled => KernelEvent::Unsettled,
        Event::Complete => KernelEvent::Complete,
        Event::Link(Change::Add, link) => KernelEvent::Link {
            index: link.index,
            name: link.name,
        },
        Event::Link(Change::Del, _) => return None,
        Event::Address(change, address) => KernelEvent::Address {
            is_there: is_there(change),
            interface: address.interface,
            address: address.address,
            prefix: address.prefix,
        },
        Event::Route(change, route) => {
            let kind = kind(route.kind)?;
            let is_followed = match route.table {
                MAIN_TABLE => true,
                LOCAL_TABLE => kind == RouteKind::Local,
                _ => false,
            };
            // Those of one type of service are for some packets of a network only.
            if !is_followed || route.tos != 0 {
                return None;
            }
            KernelEvent::Route {
                is_there: is_there(change),
                kind,
                replaces: route.replaces,
                destination: route.destination,
                prefix: route.prefix,
                metric: route.metric,
                hops: (route.hops.iter().filter(|hop| !hop.is_dead))
                    .map(|hop| (hop.gateway, hop.interface))
                    .collect(),
            }
        }
        Event::Neighbour(change, neighbour) => KernelEvent::Neighbour {
            mac: neighbour
                .mac
                .filter(|_| is_there(change) && neighbour.is_usable()),
            interface: neighbour.interface,
            address: neighbour.address,
        },
    })
}

impl KernelTables for Tables {
    fn poll(&mut self, tell: &mut dyn FnMut(KernelEvent)) -> io::Result<()> {
        self.0.poll(|event| {
            if let Some(event) = told(event) {
                tell(event);
            }
        })
    }

    fn restart(&mut self) {
        self.0.restart();
    }

    fn descriptor(&self) -> i32 {
        self.0.descriptor()
    }
}
