//! The register socket: requests in, answers out.

use super::Waits;
use super::buffered::{Buffered, Stream};
use super::listener::Listener;
use crate::error::Error;
use crate::protocol::{LONGEST_REQUEST, Refusal, Request, WRITE_BIT, kind, pairs, values};
use std::os::unix::net::UnixStream;
use std::path::Path;
use trammel_core::{Span, Time};
use trammel_netfpga::registers::{Map, Registers};

/// Connections at once.
const MOST_CONNECTIONS: usize = 16;
/// Connections that are accepted before frames have their turn.
const MOST_AT_ONCE: usize = 16;
/// Requests of one connection before others have their turn.
const MOST_REQUESTS: usize = 32;

/// A client's wish to be told what changes.
#[derive(Debug)]
struct Watch {
    tag: u32,
    interval: Span,
    next: Time,
    /// Addresses with the values told last.
    told: Vec<(u32, Option<u32>)>,
}

#[derive(Debug)]
struct Connection {
    buffered: Buffered,
    watch: Option<Watch>,
}

/// The socket and its connections.
#[derive(Debug)]
pub struct RegisterService {
    listener: Option<Listener>,
    connections: Vec<Connection>,
    /// Addresses of all registers.
    all: Vec<u32>,
}

impl RegisterService {
    /// Listens at `path`, if there is one, for those who ask for registers of `map`.
    ///
    /// # Errors
    /// Where another listens there, or nobody can.
    pub fn open(path: Option<&Path>, map: &Map) -> Result<RegisterService, Error> {
        Ok(RegisterService {
            listener: path.map(Listener::open).transpose()?,
            connections: Vec::new(),
            all: map.all().map(|named| named.address).collect(),
        })
    }

    /// Does what can be done at once. Whether there was anything to do.
    ///
    /// # Errors
    /// Where the listener is of no use any more.
    pub fn poll(&mut self, now: Time, registers: &mut impl Registers) -> Result<bool, Error> {
        let mut has_any = self.accept()?;
        for connection in &mut self.connections {
            has_any |= connection.poll(now, &self.all, registers);
        }
        self.connections
            .retain_mut(|connection| !connection.buffered.is_over(now));
        Ok(has_any)
    }

    /// Takes in those who wait; says whether there were any.
    fn accept(&mut self) -> Result<bool, Error> {
        let mut has_any = false;
        for _ in 0..MOST_AT_ONCE {
            let Some(listener) = &mut self.listener else {
                break;
            };
            let accepted = listener.accept();
            let accepted = accepted.map_err(Error::of("accept a connection to the registers"));
            let Some(stream) = accepted? else {
                break;
            };
            has_any = true;
            self.serve(stream);
        }
        Ok(has_any)
    }

    /// Takes in a client, whose stream does not block; one too many is told so.
    pub fn serve(&mut self, stream: UnixStream) {
        let mut buffered = Buffered::new(Stream::Unix(stream));
        if self.connections.len() >= MOST_CONNECTIONS {
            buffered.send(&Refusal::Connections.bytes(0));
            buffered.drain();
            return;
        }
        self.connections.push(Connection {
            buffered,
            watch: None,
        });
    }

    /// When [`Self::poll`] has something to do though nothing came.
    pub(crate) fn next_timeout(&self) -> Option<Time> {
        let of = |connection: &Connection| {
            let watch = connection.watch.as_ref().map(|watch| watch.next);
            watch.into_iter().chain(connection.buffered.next_timeout())
        };
        self.connections.iter().flat_map(of).min()
    }

    /// What is to be waited for.
    pub(crate) fn waits(&self, waits: &mut Waits) {
        let listener = self.listener.iter().map(Listener::descriptor);
        waits.readable.extend(listener);
        for connection in &self.connections {
            connection.buffered.waits(waits);
        }
    }
}

impl Connection {
    fn poll(&mut self, now: Time, all: &[u32], registers: &mut impl Registers) -> bool {
        let mut has_any = self.buffered.fill(LONGEST_REQUEST);
        for _ in 0..MOST_REQUESTS {
            if self.buffered.is_full() {
                break;
            }
            match Request::parse(&self.buffered.input) {
                Ok(None) => break,
                Ok(Some((request, tag, length))) => {
                    has_any = true;
                    self.buffered.consume(length);
                    self.answer(&request, tag, now, all, registers);
                }
                Err((tag, refusal)) => {
                    self.buffered.send(&refusal.bytes(tag));
                    self.buffered.close();
                    break;
                }
            }
        }
        self.tell(now, registers);
        self.buffered.drain();
        has_any
    }

    fn answer(
        &mut self,
        request: &Request,
        tag: u32,
        now: Time,
        all: &[u32],
        registers: &mut impl Registers,
    ) {
        let bytes = match request {
            _ if request.fault().is_some() => {
                let refusal = request.fault().expect("it has a fault");
                refusal.bytes(tag)
            }
            Request::Read(addresses) => {
                let read: Vec<u32> = addresses.iter().map(|at| registers.read(*at)).collect();
                values(kind::READ, tag, &read)
            }
            Request::Write(writes) => {
                for (address, value) in writes {
                    registers.write(*address, *value);
                }
                values(kind::WRITE, tag, &[])
            }
            Request::Dump => {
                let read = all.iter().map(|at| (*at, registers.read(*at)));
                pairs(kind::DUMP, tag, &read.collect::<Vec<_>>())
            }
            Request::Access(accesses) => {
                let mut one = |(address, value): &(u32, u32)| {
                    if address & WRITE_BIT == 0 {
                        return registers.read(*address);
                    }
                    registers.write(address & !WRITE_BIT, *value);
                    *value
                };
                let done: Vec<u32> = accesses.iter().map(&mut one).collect();
                values(kind::ACCESS, tag, &done)
            }
            Request::Watch { addresses, .. } if addresses.is_empty() => {
                self.watch = None;
                pairs(kind::WATCH, tag, &[])
            }
            Request::Watch {
                interval_ms,
                addresses,
            } => {
                self.watch = Some(Watch {
                    tag,
                    interval: Span::from_ms(u64::from(*interval_ms)),
                    next: now,
                    told: addresses.iter().map(|address| (*address, None)).collect(),
                });
                return;
            }
        };
        self.buffered.send(&bytes);
    }

    /// Tells what changed, if it is time and the client has read what it was told before.
    fn tell(&mut self, now: Time, registers: &mut impl Registers) {
        let Some(watch) = &mut self.watch else {
            return;
        };
        if watch.next > now {
            return;
        }
        watch.next = now.saturating_add(watch.interval);
        if !self.buffered.is_drained() {
            return;
        }
        let mut changed = Vec::new();
        for (address, told) in &mut watch.told {
            let value = registers.read(*address);
            if *told != Some(value) {
                *told = Some(value);
                changed.push((*address, value));
            }
        }
        if !changed.is_empty() {
            self.buffered.send(&pairs(kind::WATCH, watch.tag, &changed));
        }
    }
}

#[cfg(test)]
mod tests;
