//! The emulator at work: a router on a thread of its own, asked by its `ControlSocket` over a pair
//! of sockets.

use super::configuration::{Counted, configuration};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, mpsc};
use trammel_driver::command::drive;
use trammel_driver::machine::Machine;
use trammel_io::machine;
use trammel_io::netns::Namespace;
use trammel_io::qdisc::{Kind, Loss};
use trammel_kernel::host::{Cable, Queues, Result};
use trammel_kernel::job::{Change, GuestJob, QueueCounts};
use trammel_router::engine::Options;
use trammel_router::lang;
use trammel_router::{BuiltIn, load};

/// What a reply begins with that is none of an error.
const WELL: &str = "200";

/// The emulator; its router ends with the process.
#[derive(Debug)]
pub(super) struct Lines {
    control: BufReader<UnixStream>,
    counted: Vec<Counted>,
    missing: Vec<String>,
}

impl Lines {
    /// Starts the router of `cables` in its namespace, and waits until it forwards.
    pub(super) fn start(
        job: &GuestJob,
        cables: &[Cable],
        namespace: &Arc<Namespace>,
    ) -> Result<Lines> {
        let (text, counted, missing) = configuration(job, cables);
        let (own, of_router) = UnixStream::pair()?;
        let of_router = OwnedFd::from(of_router);
        // The router takes a copy of it by its number.
        let descriptor = machine::name_by_number(&of_router)?;
        let text = format!("{text}ControlSocket(SOCKET, {descriptor});\n");
        let (tell, told) = mpsc::channel();
        let namespace = Arc::clone(namespace);
        let (seed, packets) = (job.seed, super::BACKLOG_PACKETS as usize);
        std::thread::Builder::new()
            .name("emulator".to_owned())
            .spawn(move || {
                namespace.run(|| {
                    let language = lang::Options {
                        classes: Some(&BuiltIn),
                        ..lang::Options::default()
                    };
                    let options = Options {
                        seed,
                        packets,
                        ..Options::default()
                    };
                    let machine = Box::new(Machine::silent());
                    let (loaded, began) = match load(&text, "path", &language, machine, options) {
                        Ok((ctx, _)) => (Some(ctx), Ok(())),
                        Err(refused) => {
                            (None, Err(trammel_router::diagnostic::render(&refused.said)))
                        }
                    };
                    // Who asked waits for it, unless the process is ending.
                    let _ = tell.send(began);
                    if let Some(ctx) = loaded {
                        drive(ctx, false, None, &|| Err(String::new()));
                    }
                });
            })?;
        told.recv()??;
        let mut lines = Lines {
            control: BufReader::new(own),
            counted,
            missing,
        };
        // Its greeting.
        lines.line()?;
        Ok(lines)
    }

    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        self.control.read_line(&mut line)?;
        Ok(line.trim_end().to_owned())
    }

    /// What the router says to a handler's being read.
    fn read(&mut self, handler: &str) -> Result<String> {
        write!(self.control.get_mut(), "READ {handler}\r\n")?;
        let reply = self.line()?;
        if !reply.starts_with(WELL) {
            return Err(format!("the emulator does not tell `{handler}`: {reply}").into());
        }
        let bytes = self.line()?;
        let bytes = bytes
            .strip_prefix("DATA ")
            .and_then(|bytes| bytes.parse().ok())
            .ok_or_else(|| format!("the emulator says `{bytes}` of `{handler}`"))?;
        let mut data = vec![0; bytes];
        self.control.read_exact(&mut data)?;
        Ok(String::from_utf8(data)?)
    }

    /// Has the router's handler take `value`.
    fn write(&mut self, handler: &str, value: &str) -> Result<()> {
        write!(self.control.get_mut(), "WRITE {handler} {value}\r\n")?;
        let reply = self.line()?;
        if !reply.starts_with(WELL) {
            return Err(format!("the emulator does not take `{handler}`: {reply}").into());
        }
        Ok(())
    }

    /// A count; nothing of an element that is not there.
    fn count(&mut self, element: Option<&str>, handler: &str) -> Result<u64> {
        match element {
            Some(element) => Ok(self.read(&format!("{element}.{handler}"))?.trim().parse()?),
            None => Ok(0),
        }
    }

    fn at(&self, place: (usize, usize)) -> Result<Counted> {
        let found = self.counted.iter().find(|one| one.at == place).cloned();
        found.ok_or_else(|| format!("wire {} has no queue", place.0).into())
    }

    /// Packets that were lost where none was to be: the host was too slow.
    pub(super) fn missed(&mut self) -> Result<u64> {
        let mut all = 0;
        for handler in self.missing.clone() {
            // A device that does not tell has none.
            all += self.read(&handler)?.trim().parse().unwrap_or(0);
        }
        Ok(all)
    }
}

impl Queues for Lines {
    fn waiting(&mut self, place: (usize, usize)) -> Result<(u32, u32)> {
        let at = self.at(place)?;
        let packets = self.count(at.queue.as_deref(), "length")?;
        if packets == 0 {
            return Ok((0, 0));
        }
        // The router's queues count packets; those that wait are taken to be as long as those that
        // left.
        let counts = self.counts(place)?;
        let bytes = packets
            * counts
                .sent_bytes
                .checked_div(counts.sent)
                .unwrap_or_default();
        Ok((u32::try_from(packets)?, u32::try_from(bytes)?))
    }

    fn counts(&mut self, place: (usize, usize)) -> Result<QueueCounts> {
        let at = self.at(place)?;
        let sent = self.count(at.sent.as_deref(), "count")?;
        let drops = self.count(at.queue.as_deref(), "drops")?
            + self.count(at.codel.as_deref(), "drops")?
            + self.count(at.lost.as_deref(), "lost")?;
        let bytes = self.count(at.sent.as_deref(), "byte_count")?;
        Ok(QueueCounts {
            sent,
            sent_bytes: bytes.saturating_sub(sent * u64::from(at.beside)),
            drops,
            marks: 0,
            sides: None,
        })
    }

    fn change(&mut self, place: (usize, usize), change: &Change) -> Result<()> {
        let at = self.at(place)?;
        let line = &at.line;
        match change {
            Change::Options(Kind::Tbf(bucket)) => {
                // A bucket that holds no packet is of a link that is cut, and one that sends a byte
                // a second is of one that is down.
                let is_cut = bucket.burst <= 1;
                let is_down = is_cut || bucket.rate <= 1;
                let bps = if is_down { 0 } else { bucket.rate * 8 };
                if let Some(queue) = &at.queue {
                    let room = if is_cut { 0 } else { at.limit };
                    self.write(&format!("{queue}.capacity"), &room.to_string())?;
                }
                self.write(&format!("{line}.to_bandwidth"), &format!("{bps}bps"))
            }
            Change::Options(Kind::Netem(netem)) => {
                let (seconds, ns) = (
                    netem.delay_ns / 1_000_000_000,
                    netem.delay_ns % 1_000_000_000,
                );
                self.write(
                    &format!("{line}.to_latency"),
                    &format!("{seconds}.{ns:09}s"),
                )?;
                if let (Some(lost), Loss::Independent(probability)) = (&at.lost, netem.loss) {
                    self.write(&format!("{lost}.probability"), &probability.to_string())?;
                }
                Ok(())
            }
            // A queue of no room has dropped what waited. A line looks at its queue by itself.
            Change::Empty | Change::Look => Ok(()),
            Change::Options(_) => Err("an emulated line has no such queue".into()),
        }
    }
}
