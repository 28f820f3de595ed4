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
use trammel_io::qdisc::Tbf;
use trammel_kernel::host::{Cable, Queues, Result};
use trammel_kernel::job::{GuestJob, QueueCounts};
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
        })
    }

    fn change(&mut self, _: (usize, usize), _: Tbf) -> Result<()> {
        Err("an emulated line keeps its rate".into())
    }
}
