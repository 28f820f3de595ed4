//! Many PW-OSPF routers on a topology, in virtual time.
//!
//! A [`Topology`] has routers and subnets with a delay and, where wanted, a rate. A [`Network`]
//! runs PW-OSPF on each router, changes links and routers at given instants, and looks along the
//! routes of all routers every 100 ms: a packet from each host subnet must arrive at each other one
//! that a working path joins to it. The [`Report`] has the time to converge after each change, the
//! longest black hole and the longest loop, the probes that were lost, and the control packets.
//! Equal inputs give equal reports, byte for byte.
//!
//! Hosts are subnets with one router. What other simulations of routers find is put together by the
//! same [`Recorder`].

mod probe;
mod record;
mod report;
mod settings;
mod simulation;
mod topology;
mod works;

pub use record::{Fate, Kind, Recorder};
pub use report::{AtEnd, Episode, Probes, Report, Traffic};
pub use settings::{Change, INTERVAL, Settings};
pub use simulation::Network;
pub use topology::{Addresses, Subnet, Topology};
pub use works::Works;
