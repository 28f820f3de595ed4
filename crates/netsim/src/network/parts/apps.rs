//! Applications at work, and their users.

use crate::apps::App;
use crate::experience::Experience;
use crate::ids::{AppId, FlowId, StreamId, UserId};
use crate::packet::Labels;
use crate::workload::Template;
use trammel_core::rng::Rng;
use trammel_core::time::Time;

/// What the users of an application have in common.
pub(crate) struct RunningApp {
    pub(crate) name: String,
    /// What their connections are like: the user is the client.
    pub(crate) flow: Template,
    pub(crate) labels: Labels,
    /// Bytes that links count of a datagram beside its payload.
    pub(crate) datagram_overhead: u32,
    pub(crate) since: Time,
    pub(crate) stop: Time,
    pub(crate) seed: u64,
    pub(crate) got: Experience,
    /// Connections opened so far.
    pub(crate) opened: u64,
}

impl std::fmt::Debug for RunningApp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunningApp")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// A user of an application.
#[derive(Debug)]
pub(crate) struct User {
    pub(crate) app: AppId,
    pub(crate) ends: Box<dyn App>,
    pub(crate) rng: Rng,
    pub(crate) has_begun: bool,
    /// Datagrams from the user, and to it; none where connections carry the application.
    pub(crate) streams: Option<[StreamId; 2]>,
    /// The flow of each of its connections, by its number.
    pub(crate) conns: Vec<Option<FlowId>>,
    /// Connections that have failed, of which it is not yet told.
    pub(crate) failed: Vec<u32>,
    /// The time that it asked for, and the next of its events.
    pub(crate) wake: Time,
    pub(crate) due: Time,
}

/// A connection of an application.
#[derive(Debug)]
pub(crate) struct AppConnection {
    pub(crate) user: UserId,
    /// Its number, until it is closed.
    pub(crate) conn: Option<u32>,
    /// Bytes that were delivered to the user and to the server, as far as they know.
    pub(crate) delivered: [u64; 2],
}
