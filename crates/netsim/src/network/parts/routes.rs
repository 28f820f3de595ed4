//! Routes, and how far along them a packet crosses at once.

use crate::ids::{AppId, End, FlowId, LinkId, StreamId, Table, WorkloadId};
use crate::packet::{Course, Packet};

/// Links of the longest route.
pub const MAX_HOPS: usize = 8;

/// A route as the loop reads it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Route {
    links: [u16; MAX_HOPS],
    /// For each hop, the last of the chain that begins with it.
    ends: [u8; MAX_HOPS],
    pub(crate) hops: u8,
}

impl Route {
    pub(crate) fn new(links: &[LinkId]) -> Route {
        assert!(
            links.len() <= MAX_HOPS,
            "a route has at most {MAX_HOPS} links"
        );
        let mut route = Route {
            hops: links.len() as u8,
            ..Route::default()
        };
        for (hop, link) in links.iter().enumerate() {
            assert!(
                hop == 0 || links[hop - 1] != *link,
                "a route leads from link to link"
            );
            route.links[hop] =
                u16::try_from(link.index()).expect("a network has fewer than 65,536 links");
            route.ends[hop] = hop as u8;
        }
        route
    }

    /// The link of a hop.
    #[inline]
    pub(crate) fn link(&self, hop: u8) -> LinkId {
        LinkId::new(usize::from(self.links[usize::from(hop) % MAX_HOPS]))
    }

    /// The last hop of the chain that begins with `hop`.
    #[inline]
    pub(crate) fn end(&self, hop: u8) -> u8 {
        self.ends[usize::from(hop) % MAX_HOPS]
    }

    pub(crate) fn find_chains(&mut self, is_ahead: &Table<LinkId, bool>) {
        for hop in (1..self.hops).rev() {
            if is_ahead[self.link(hop)] {
                self.ends[usize::from(hop) - 1] = self.ends[usize::from(hop)];
            }
        }
    }
}

/// The routes of everything that sends.
#[derive(Debug, Default)]
pub(crate) struct Routes {
    /// Forward and backward, of each flow, of each workload and of each application.
    pub(crate) flows: Table<FlowId, [Route; 2]>,
    pub(crate) workloads: Table<WorkloadId, [Route; 2]>,
    pub(crate) apps: Table<AppId, [Route; 2]>,
    pub(crate) streams: Table<StreamId, Route>,
}

/// Where a packet goes next.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Target {
    /// To the link at a hop of its route.
    Hop(u8),
    /// To the host at an end of a flow.
    Host { flow: FlowId, end: End },
    /// To the sink of a stream.
    Sink(StreamId),
}

impl Routes {
    pub(crate) fn all(&mut self) -> impl Iterator<Item = &mut Route> {
        let pairs = self.flows.iter_mut().chain(self.workloads.iter_mut());
        let pairs = pairs.chain(self.apps.iter_mut());
        pairs.flatten().chain(self.streams.iter_mut())
    }

    /// The link that a packet is on or enters.
    pub(crate) fn link_of(&self, packet: &Packet) -> LinkId {
        let index = packet.flow as usize;
        let route = match packet.course {
            Course::Forward => &self.flows[FlowId::new(index)][0],
            Course::Backward => &self.flows[FlowId::new(index)][1],
            Course::Datagram => &self.streams[StreamId::new(index)],
        };
        route.link(packet.hop)
    }

    /// The route of a packet, and where on it it goes that has crossed one more link.
    #[inline]
    pub(crate) fn target(&self, packet: &Packet) -> (&Route, Target) {
        let index = packet.flow as usize;
        let (route, end) = match packet.course {
            Course::Forward => (&self.flows[FlowId::new(index)][0], Some(End::Server)),
            Course::Backward => (&self.flows[FlowId::new(index)][1], Some(End::Client)),
            Course::Datagram => (&self.streams[StreamId::new(index)], None),
        };
        let hop = packet.hop + 1;
        let target = if hop < route.hops {
            Target::Hop(hop)
        } else if let Some(end) = end {
            let flow = FlowId::new(index);
            Target::Host { flow, end }
        } else {
            Target::Sink(StreamId::new(index))
        };
        (route, target)
    }
}
