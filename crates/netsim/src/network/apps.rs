//! Applications: what they are told of connections, datagrams and time, and what they do.

use super::Network;
use super::parts::apps::{AppConnection, RunningApp, User};
use super::parts::event::Event as Rare;
use super::parts::routes::Route;
use crate::apps::{App, Carrier, Event, Io, Order, Party};
use crate::experience::Experience;
use crate::flow::{Job, RunningFlow};
use crate::ids::{AppId, End, FlowId, UserId};
use crate::packet::{Labels, Packet};
use crate::stream::{Stream, StreamSpec};
use crate::workload::Template;
use trammel_core::rng::Rng;
use trammel_core::time::{Span, Time};
use trammel_tcp::connection::{Connection, State};

/// Users begin within this time of their application's start.
const WITHIN: Span = Span::from_secs(1);

/// What an application is made of.
pub struct AppSpec {
    /// Its name in tables.
    pub name: String,
    /// What its connections are like: the user is the client, and the way of data from the server
    /// to the user is backward.
    pub flow: Template,
    /// What carries it.
    pub carrier: Carrier,
    /// What its packets carry.
    pub labels: Labels,
    /// Bytes that links count of a datagram beside its payload.
    pub datagram_overhead: u32,
    /// Its users.
    pub users: Vec<Box<dyn App>>,
    /// When they begin, each at a time of its own within a second.
    pub start: Time,
    /// When they leave.
    pub stop: Time,
    /// What begins from here on counts.
    pub since: Time,
    /// Seed of its own random streams.
    pub seed: u64,
}

impl std::fmt::Debug for AppSpec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AppSpec")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl Network {
    /// Adds an application over links that exist; returns its index. Streams are added before, so
    /// that theirs are the first numbers.
    pub fn add_app(&mut self, spec: AppSpec) -> AppId {
        assert!(!self.started, "traffic is added before the run");
        let number = self.traffic.apps.next_id();
        let (up, down) = (&spec.flow.forward, &spec.flow.backward);
        self.routes.apps.push([Route::new(up), Route::new(down)]);
        for (n, ends) in spec.users.into_iter().enumerate() {
            let user = self.traffic.users.next_id();
            let mut rng = Rng::new(spec.seed, &format!("app:{}:{n}", spec.name));
            let streams = (spec.carrier == Carrier::Datagrams).then(|| {
                [(up, Party::Server), (down, Party::User)].map(|(route, to)| {
                    self.routes.streams.push(Route::new(route));
                    let stream = StreamSpec {
                        name: spec.name.clone(),
                        plan: Box::new(std::iter::empty()),
                        stop: spec.stop,
                        route: Vec::new(),
                        keeps_arrivals: false,
                    };
                    let stream = Stream::of_app(stream, user, to);
                    let stream = self.traffic.streams.push(stream);
                    // What goes to the server goes from destination to source.
                    let labels = match to {
                        Party::User => spec.labels,
                        Party::Server => reversed(spec.labels),
                    };
                    self.label_stream(stream, labels);
                    stream
                })
            });
            let begins = spec.start + Span::from_ps(rng.below(WITHIN.as_ps()));
            self.events.push(begins, Rare::User(user));
            self.traffic.users.push(User {
                app: number,
                ends,
                rng,
                has_begun: false,
                streams,
                conns: Vec::new(),
                failed: Vec::new(),
                wake: begins,
                due: begins,
            });
        }
        self.traffic.apps.push(RunningApp {
            name: spec.name,
            flow: spec.flow,
            labels: spec.labels,
            datagram_overhead: spec.datagram_overhead,
            since: spec.since,
            stop: spec.stop,
            seed: spec.seed,
            got: Experience::default(),
            opened: 0,
        })
    }

    /// What the users of an application have got, as if they left now.
    pub fn experience(&self, app: AppId) -> Experience {
        let of = &self.traffic.apps[app];
        let mut got = of.got.clone();
        let now = self.now.min(of.stop);
        let users = self.traffic.users.iter().filter(|user| user.app == app);
        for user in users.filter(|user| user.has_begun) {
            user.ends.end(now, of.since, &mut got);
        }
        got
    }

    /// Connections that an application has opened.
    pub fn app_connections(&self, app: AppId) -> u64 {
        self.traffic.apps[app].opened
    }

    /// A user begins, or the time that it asked for has come, or connections of it have failed.
    pub(super) fn on_user(&mut self, user: UserId) {
        let now = self.now;
        let of = &mut self.traffic.users[user];
        if of.due <= now {
            of.due = Time::MAX;
        }
        let failed = std::mem::take(&mut of.failed);
        let is_time = of.wake <= now;
        if is_time {
            of.wake = Time::MAX;
        }
        for conn in failed {
            self.tell(user, Event::Failed { conn });
        }
        if is_time {
            self.tell(user, Event::Timer);
        }
        self.await_wake(user);
    }

    /// Has the user told the time that it asked for.
    fn await_wake(&mut self, user: UserId) {
        let of = &mut self.traffic.users[user];
        if of.wake < of.due {
            of.due = of.wake;
            self.events.push(of.wake, Rare::User(user));
            self.note_events();
        }
    }

    /// A datagram of an application has come to end `to`.
    pub(super) fn on_app_datagram(&mut self, user: UserId, to: Party, packet: &Packet) {
        let event = Event::Datagram {
            to,
            number: packet.segment.seq,
            sent: packet.sent(),
        };
        self.tell(user, event);
        self.await_wake(user);
    }

    /// One end of an application's connection has processed a segment.
    pub(super) fn after_app_segment(&mut self, index: FlowId, end: End) {
        let flow = &mut self.traffic.flows[index];
        let (Some(ends), Some(Job::App(job))) = (&mut flow.ends, flow.job.as_deref_mut()) else {
            return;
        };
        let bytes = ends[end].counters().bytes_delivered;
        if end == End::Server && ends[end].state() == State::CloseWait {
            ends[end].close();
        }
        let known = &mut job.delivered[end as usize];
        if bytes <= *known {
            return;
        }
        *known = bytes;
        let (user, Some(conn)) = (job.user, job.conn) else {
            return;
        };
        let to = match end {
            End::Client => Party::User,
            End::Server => Party::Server,
        };
        self.tell(user, Event::Delivered { conn, to, bytes });
        self.await_wake(user);
    }

    /// A connection of an application is over, before the application closed it or after.
    pub(super) fn note_app_connection_over(&mut self, job: &AppConnection) {
        let Some(conn) = job.conn else { return };
        let user = &mut self.traffic.users[job.user];
        user.conns[conn as usize] = None;
        user.failed.push(conn);
        self.events.push(self.now, Rare::User(job.user));
        self.note_events();
    }

    /// Tells a user's application something, and does what it wants.
    fn tell(&mut self, user: UserId, event: Event) {
        let mut orders = std::mem::take(&mut self.traffic.orders);
        let of = &mut self.traffic.users[user];
        let app = &mut self.traffic.apps[of.app];
        let mut io = Io {
            now: self.now,
            since: app.since,
            stop: app.stop,
            rng: &mut of.rng,
            got: &mut app.got,
            orders: &mut orders,
        };
        if of.has_begun {
            of.ends.on(event, &mut io);
        } else {
            of.has_begun = true;
            of.ends.start(&mut io);
        }
        for order in orders.drain(..) {
            self.carry_out(user, order);
        }
        self.traffic.orders = orders;
    }

    fn carry_out(&mut self, user: UserId, order: Order) {
        match order {
            Order::Open(conn) => self.open_connection(user, conn),
            Order::Write { conn, from, bytes } => {
                let end = match from {
                    Party::User => End::Client,
                    Party::Server => End::Server,
                };
                if let Some(flow) = self.connection_of(user, conn)
                    && let Some(ends) = &mut self.traffic.flows[flow].ends
                {
                    ends[end].write(bytes);
                    self.drain(flow, end);
                }
            }
            Order::Close(conn) => {
                let Some(flow) = self.connection_of(user, conn) else {
                    return;
                };
                self.traffic.users[user].conns[conn as usize] = None;
                let flow_of = &mut self.traffic.flows[flow];
                if let Some(Job::App(job)) = flow_of.job.as_deref_mut() {
                    job.conn = None;
                }
                if let Some(ends) = &mut flow_of.ends {
                    ends[End::Client].close();
                    self.drain(flow, End::Client);
                }
            }
            Order::Send { from, bytes } => {
                let of = &self.traffic.users[user];
                let Some(streams) = of.streams else { return };
                let stream = streams[usize::from(from == Party::Server)];
                let wire = bytes + self.traffic.apps[of.app].datagram_overhead;
                let packet = self.traffic.streams[stream].send(stream, self.now, (bytes, wire));
                let route = self.routes.streams[stream];
                self.enter(&route, 0, &packet);
            }
            Order::Wake(at) => self.traffic.users[user].wake = at,
        }
    }

    fn connection_of(&self, user: UserId, conn: u32) -> Option<FlowId> {
        *self.traffic.users[user].conns.get(conn as usize)?
    }

    fn open_connection(&mut self, user: UserId, conn: u32) {
        let number = self.traffic.users[user].app;
        let app = &mut self.traffic.apps[number];
        app.opened += 1;
        let name = format!("app:{}:connection:{}", app.name, app.opened);
        let stream = |end: &str| Rng::new(app.seed, &format!("{name}:{end}"));
        let shape = &app.flow;
        let mut client = Connection::client(&shape.client, (shape.cc)(), stream("client"));
        let server = Connection::server(&shape.server, (shape.cc)(), stream("server"));
        let mut flow = RunningFlow::waiting(shape);
        flow.job = Some(Box::new(Job::App(AppConnection {
            user,
            conn: Some(conn),
            delivered: [0; 2],
        })));
        let labels = reversed(app.labels);
        let index = self.place(flow, self.routes.apps[number]);
        // Data come backward: the connection's source is the user's host.
        self.label_flow(index, labels);
        let conns = &mut self.traffic.users[user].conns;
        let at = conn as usize;
        conns.resize(conns.len().max(at + 1), None);
        conns[at] = Some(index);
        client.connect(self.now);
        self.start_ends(index, [client, server]);
    }
}

/// The labels of what goes the other way.
fn reversed(labels: Labels) -> Labels {
    Labels {
        dscp: labels.dscp,
        source: labels.destination,
        destination: labels.source,
    }
}
