//! What the elements that speak by sockets share: packets from a socket, packets to it, and waiting
//! for both.

use super::link_header::mark_ip;
use crate::engine::notify::Signal;
use crate::engine::task::TaskId;
use crate::engine::{Ctx, ElementId};
use crate::graph::processing::Mode;
use crate::host::{Socket, SocketRequest, reason};
use crate::reason::Reason;
use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddrV4};
use trammel_packet::anno::{DST_IP, EXTRA_LENGTH};
use trammel_packet::batch::{Batch, CAPACITY};
use trammel_packet::timestamp::Timestamp;

/// The longest datagram.
const LONGEST: usize = 65536;

/// A socket and what passes by it.
#[derive(Debug)]
pub struct SocketTransport {
    /// What the socket is asked to be.
    pub request: SocketRequest,
    /// Bytes that are kept of what comes.
    pub snaplen: usize,
    /// Bytes free before what comes.
    pub headroom: usize,
    /// Whether packets carry the time they came.
    pub stamps: bool,
    /// Whether connections are told.
    pub verbose: bool,
    /// Whether each packet goes to its destination annotation.
    pub by_annotation: bool,
    /// Whether bytes rather than packets pass: what is written in part is continued.
    pub is_stream: bool,
    /// Whether what comes are IP packets; their headers are marked, and what is none is dropped.
    pub is_ip: bool,
    /// The tables of routes of those who may speak and of those who may not, where the first has no
    /// route.
    pub tables: [Option<ElementId>; 2],
    listener: Option<Box<dyn Socket>>,
    active: Option<Box<dyn Socket>>,
    pulls: bool,
    task: Option<TaskId>,
    signal: Option<Signal>,
    waiting: Batch,
    buffer: Vec<u8>,
    is_blocked: bool,
}

impl SocketTransport {
    /// Of a socket that is asked for by `request`.
    pub fn new(request: SocketRequest) -> SocketTransport {
        SocketTransport {
            request,
            snaplen: 2048,
            headroom: 28,
            stamps: true,
            verbose: false,
            by_annotation: false,
            is_stream: false,
            is_ip: false,
            tables: [None; 2],
            listener: None,
            active: None,
            pulls: false,
            task: None,
            signal: None,
            waiting: Batch::default(),
            buffer: Vec::new(),
            is_blocked: false,
        }
    }

    /// Opens the socket; an error in the system's words after the call that failed.
    pub fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        for table in self.tables.into_iter().flatten() {
            let name = ctx.name(table).to_owned();
            if ctx.find_handler(&format!("{name}.lookup"), None).is_err() {
                return Err(format!("{name} is not an IPRouteTable"));
            }
        }
        let waits = self.request.listen && self.is_stream;
        let call = match (self.request.kind.as_str(), self.request.listen) {
            ("raw", _) => "socket",
            (_, true) => "bind",
            (_, false) => "connect",
        };
        let socket = ctx.open_socket(&self.request);
        let socket = socket.map_err(|why| format!("{call}: {}", reason(&why)))?;
        self.buffer = vec![0; LONGEST];
        let node = ctx.node(ctx.me());
        self.pulls = node.modes.inputs.first() == Some(&Mode::Pull);
        if ctx.outputs() > 0 || waits {
            ctx.watch(socket.descriptor(), false);
        }
        if waits {
            self.listener = Some(socket);
        } else {
            self.active = Some(socket);
        }
        if self.pulls {
            let task = ctx.new_task(0);
            self.signal = Some(ctx.upstream_signal(0, Some(task)));
            ctx.schedule(task);
            self.task = Some(task);
        }
        Ok(())
    }

    fn say(&self, ctx: &mut Ctx, text: &str) {
        if self.verbose {
            let text = format!("{}: {text}\n", ctx.declaration(ctx.me()));
            ctx.host().say(&text);
        }
    }

    /// The connection is over; a server takes the next.
    fn close_active(&mut self, ctx: &mut Ctx) {
        if let Some(active) = self.active.take() {
            ctx.unwatch(active.descriptor(), false);
            ctx.unwatch(active.descriptor(), true);
            self.say(ctx, "closed connection");
        }
        self.is_blocked = false;
        if let Some(listener) = &self.listener {
            ctx.watch(listener.descriptor(), false);
        }
    }

    /// Whether whoever has the address may speak: whom the first table has a route to, or the
    /// second has none.
    fn allows(&self, ctx: &mut Ctx, from: &str) -> bool {
        if !self.request.listen {
            return true;
        }
        let Ok(from) = from.parse::<SocketAddrV4>() else {
            return true;
        };
        let mut has_route = |table: Option<ElementId>| {
            let name = format!("{}.lookup", ctx.name(table?));
            let of = ctx.find_handler(&name, None).ok()?;
            let route = ctx.read_handler(&of, &from.ip().to_string()).ok()?;
            Some(route != "-1")
        };
        has_route(self.tables[0]) == Some(true) || has_route(self.tables[1]) != Some(true)
    }

    fn accept(&mut self, ctx: &mut Ctx) {
        let Some(listener) = &mut self.listener else {
            return;
        };
        match listener.accept() {
            Ok(Some(one)) => {
                let from = one.address();
                let is_allowed = self.allows(ctx, &from);
                let what = if is_allowed { "opened" } else { "denied" };
                self.say(ctx, &format!("{what} connection from {from}"));
                if is_allowed {
                    ctx.watch(one.descriptor(), false);
                    // One at a time.
                    if let Some(listener) = &self.listener {
                        ctx.unwatch(listener.descriptor(), false);
                    }
                    self.active = Some(one);
                }
            }
            Ok(None) => {}
            Err(why) => {
                let text = format!("{}: accept: {}\n", ctx.declaration(ctx.me()), reason(&why));
                ctx.host().say(&text);
            }
        }
    }

    /// A descriptor is ready.
    pub fn ready(&mut self, ctx: &mut Ctx, descriptor: i32) {
        if self.active.is_none() {
            self.accept(ctx);
        } else if ctx.outputs() > 0 {
            self.receive(ctx);
        }
        if self.is_blocked {
            ctx.unwatch(descriptor, true);
            self.is_blocked = false;
            self.send(ctx);
        }
        if let Some(task) = self.task {
            ctx.schedule(task);
        }
    }

    fn receive(&mut self, ctx: &mut Ctx) {
        let is_server = self.request.listen && !self.is_stream;
        let mut batch = ctx.batch();
        let now = if self.stamps {
            ctx.now()
        } else {
            Timestamp::ZERO
        };
        let is_over = loop {
            let Some(active) = &mut self.active else {
                break false;
            };
            if batch.is_full() {
                break false;
            }
            let room = if self.is_stream {
                self.snaplen
            } else {
                LONGEST
            };
            let count = match active.read(&mut self.buffer[..room.min(LONGEST)]) {
                Ok(0) if self.is_stream => break true,
                Ok(count) => count,
                Err(why) if why.kind() == ErrorKind::WouldBlock => break false,
                Err(why) if why.kind() == ErrorKind::Interrupted => continue,
                Err(why) => {
                    let text = reason(&why);
                    self.say(ctx, &text);
                    break self.is_stream;
                }
            };
            if is_server {
                let from = active.address();
                if !self.allows(ctx, &from) {
                    self.say(ctx, &format!("dropped datagram from {from}"));
                    continue;
                }
            }
            let kept = count.min(self.snaplen);
            let Some(packet) = ctx.pool().alloc_with(&self.buffer[..kept]) else {
                break false;
            };
            let inner = &mut ctx.pool()[&packet];
            if inner.headroom() < self.headroom {
                inner.set_headroom(self.headroom);
            }
            inner.set_timestamp(now);
            if count > kept {
                inner.set_anno_u32(EXTRA_LENGTH, (count - kept) as u32);
            }
            if self.is_ip && !mark_ip(inner, false) {
                ctx.drop(packet, Reason::Filtered);
                continue;
            }
            batch.push(packet);
        };
        ctx.emit_all(0, batch);
        if is_over {
            self.close_active(ctx);
        }
    }

    /// Sends what waits, as far as the socket takes it.
    fn send(&mut self, ctx: &mut Ctx) {
        let mut left = ctx.batch();
        let mut fatal = None;
        let mut waiting = std::mem::take(&mut self.waiting);
        for packet in waiting.drain() {
            let Some(active) = self.active.as_mut().filter(|_| fatal.is_none()) else {
                ctx.drop(packet, Reason::SendFailed);
                continue;
            };
            if self.is_blocked {
                left.push(packet);
                continue;
            }
            loop {
                let inner = &mut ctx.pool()[&packet];
                let to = self.by_annotation.then(|| inner.anno_bytes::<4>(DST_IP));
                let written = match to {
                    Some(to) => active.send_to(inner.data(), Ipv4Addr::from(to)),
                    None => active.write(inner.data()),
                };
                match written {
                    Ok(count) if self.is_stream && count < inner.len() => inner.pull(count),
                    Ok(_) => {
                        ctx.pool().free(packet);
                        break;
                    }
                    Err(why) if why.kind() == ErrorKind::Interrupted => {}
                    Err(why) if why.kind() == ErrorKind::WouldBlock => {
                        ctx.watch(active.descriptor(), true);
                        self.is_blocked = true;
                        left.push(packet);
                        break;
                    }
                    Err(why) => {
                        fatal = Some(reason(&why));
                        ctx.drop(packet, Reason::SendFailed);
                        break;
                    }
                }
            }
        }
        self.waiting = left;
        if let Some(text) = fatal {
            self.say(ctx, &text);
            if self.is_stream {
                self.close_active(ctx);
            }
        }
    }

    /// Sends what is pushed. What a full socket has no room for waits up to a batch; the rest is
    /// lost, since the router does not stop for it.
    pub fn push(&mut self, ctx: &mut Ctx, mut batch: Batch) {
        let room = self.waiting.room();
        batch.drain_front(room, |packet| self.waiting.push(packet));
        ctx.drop_all(&mut batch, Reason::SendFailed);
        ctx.recycle(batch);
        if !self.is_blocked {
            self.send(ctx);
        }
    }

    /// Pulls and sends.
    pub fn run_task(&mut self, ctx: &mut Ctx) -> bool {
        if self.active.is_none() || self.is_blocked {
            return false;
        }
        let mut waiting = std::mem::take(&mut self.waiting);
        let count = ctx.pull(0, CAPACITY, &mut waiting);
        self.waiting = waiting;
        self.send(ctx);
        let is_on = self
            .signal
            .as_ref()
            .is_some_and(|signal| ctx.is_active(signal));
        if let (Some(task), true, false) = (self.task, is_on, self.is_blocked) {
            ctx.schedule(task);
        }
        count > 0
    }

    /// Closes everything.
    pub fn cleanup(&mut self, ctx: &mut Ctx) {
        self.close_active(ctx);
        if let Some(listener) = self.listener.take() {
            ctx.unwatch(listener.descriptor(), false);
        }
        for packet in self.waiting.drain() {
            ctx.pool().free(packet);
        }
    }
}
