//! The card, and the loop that runs it.

mod frames;

use super::line::Line;
use super::links::Links;
use super::options::Options;
use super::ports;
use super::shared::Shared;
use super::software::Software;
use crate::error::Error;
use crate::mirror::{Left, Mirror};
use crate::service::Waits;
use crate::service::registers::RegisterService;
use crate::service::web::WebService;
use crate::web;
use std::io;
use trammel_control::Control;
use trammel_core::{Span, Time};
use trammel_io::clock;
use trammel_netfpga::device::Design;
use trammel_netfpga::registers::Registers;
use trammel_netfpga::stages::Queue;
use trammel_netfpga::tables::read_mac;
use trammel_netfpga::{Device, design};
use trammel_packet::batch::Packets;
use trammel_packet::pool::Pool;

/// From one turn of registers, commands and timers to the next, unless the loop waited: looking
/// after them takes several system calls.
const SERVICE_INTERVAL: Span = Span::from_us(200);
/// From one look of who watches the registers to the next.
const LOOK_INTERVAL: Span = Span::from_ms(100);
/// Rounds without anything before the loop waits: a descriptor costs more than a look.
const ROUNDS_BEFORE_WAIT: u32 = 8;
/// The longest wait: a signal may come just before it.
const MOST_WAIT_NS: i64 = 100_000_000;
/// All queues, a bit for each.
const ALL: u8 = 0xff;
/// The queues of the host interfaces.
const HOST_SIDE: u8 = 0xaa;

/// A card that runs on this machine. Everything that it made goes when it is dropped: host
/// interfaces, sockets and their files.
///
/// ```no_run
/// use trammel_card::{Card, Options};
///
/// let mut card = Card::open(&Options::new(&["eth1", "eth2"]))?;
/// // Forwards until the process is told to end.
/// trammel_io::signals::watch(15).expect("signals can be watched");
/// card.run(&|| trammel_io::signals::pending() != 0)?;
/// # Ok::<(), trammel_card::Error>(())
/// ```
#[derive(Debug)]
pub struct Card {
    device: Device,
    pool: Pool,
    lines: Vec<Line>,
    /// The line of each queue.
    line_of: [Option<usize>; Queue::ALL.len()],
    /// What has just come; empty between rounds.
    came: Packets,
    links: Links,
    shared: Shared,
    registers: Option<RegisterService>,
    mirror: Option<Mirror>,
    software: Option<Software>,
    web: Option<WebService>,
    /// Names of the interfaces that are the ports.
    ports: Vec<String>,
    /// Queues that may have frames, a bit for each.
    filled: u8,
    /// Queues with a line, a bit for each.
    connected: u8,
    frame: Vec<u8>,
    began_ns: i64,
    next_service: Time,
    waits: Waits,
}

impl Card {
    /// Opens ports, host interfaces and sockets in the calling thread's network namespace.
    ///
    /// # Errors
    /// Where the machine lacks one of them, or the options are at fault.
    pub fn open(options: &Options) -> Result<Card, Error> {
        let chosen = design(&options.design).map_err(|why| Error::Usage(why.to_string()))?;
        let is_router = chosen.map().find("ROUTER_OP_LUT_MAC_0_HI").is_ok();
        if !is_router && (options.has_mirror || options.control.is_some()) {
            return Err(Error::Usage(format!(
                "`{}` has no tables for `--mirror` or `--control`: use `--design reference-router`",
                options.design
            )));
        }
        if options.tables.is_some() && (options.has_mirror || !is_router) {
            return Err(Error::Usage(
                "`--tables` is for a router whose tables no `--mirror` writes: leave one out"
                    .to_owned(),
            ));
        }
        let mut device = Device::new(chosen);
        for row in options.tables.iter().flatten() {
            row.write(&mut device);
        }
        // The other end of the registers is asked for first: who has it has the card.
        let registers = options.registers.as_ref();
        let registers = registers
            .map(|path| RegisterService::open(Some(path), &chosen.map()))
            .transpose()?;
        let software = options.control.as_ref();
        let software = software
            .map(|config| {
                let writes = options.tables.is_none();
                let console = options.console.as_deref();
                Software::open((config, writes), console, options.telnet)
            })
            .transpose()?;
        let page = options.web.map(|address| WebService::open(address, chosen));
        if page.is_some() {
            device.copy_own();
        }
        let mut pool = ports::pool(options);
        let (mut lines, shared) = ports::ports(options, &mut pool)?;
        if options.has_hosts {
            let mac = |port: usize| {
                if is_router {
                    read_mac(&mut device, port)
                } else {
                    [0xca, 0xfe, 0xf0, 0x0d, 0, 1 + port as u8]
                }
            };
            let macs = [0, 1, 2, 3].map(mac);
            lines.extend(ports::hosts(&options.prefix, macs)?);
        }
        let mirror = options.has_mirror.then(|| Mirror::open(&options.prefix));
        let with_software = software.as_ref().map_or(0, |_| HOST_SIDE);
        let connected = lines.iter().map(|line| 1 << line.queue.number());
        let line_of = Queue::ALL.map(|queue| lines.iter().position(|line| line.queue == queue));
        Ok(Card {
            links: Links::open(&options.ports)?,
            mirror: mirror.transpose()?,
            connected: connected.fold(with_software, |all, one: u8| all | one),
            shared,
            device,
            pool,
            lines,
            line_of,
            came: Packets::new(),
            registers,
            software,
            web: page.transpose()?,
            ports: options.ports.clone(),
            filled: 0,
            frame: Vec::new(),
            began_ns: clock::monotonic_ns(),
            next_service: Time::ZERO,
            waits: Waits::default(),
        })
    }

    /// What the user should know: how the ports are had, and why not otherwise.
    pub fn remarks(&self) -> Vec<String> {
        let lines = self.lines.iter().flat_map(Line::remarks);
        let web = self.web.iter().filter_map(WebService::remark);
        lines.chain(self.shared.remarks()).chain(web).collect()
    }

    /// What the mirror has no room for in the tables.
    pub fn left(&self) -> Left {
        self.mirror.as_ref().map(Mirror::left).unwrap_or_default()
    }

    /// The address of its web page, with the token that edits need.
    pub fn page(&self) -> Option<String> {
        self.web.as_ref().map(WebService::link)
    }

    /// Its design.
    pub fn design(&self) -> &'static Design {
        self.device.design()
    }

    /// Its registers.
    pub fn registers(&mut self) -> &mut impl Registers {
        &mut self.device
    }

    /// The control software, if it runs any.
    pub fn control(&self) -> Option<&Control> {
        self.software.as_ref().map(Software::of)
    }

    /// Runs until `is_over`, which is asked at least each tenth of a second.
    ///
    /// # Errors
    /// Where a port is gone, or the kernel does not do what it has to.
    pub fn run(&mut self, is_over: &dyn Fn() -> bool) -> Result<(), Error> {
        self.run_watched(is_over, None)
    }

    /// Runs as [`Self::run`] does, and shows its registers to `look` about ten times a second.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn run_watched(
        &mut self,
        is_over: &dyn Fn() -> bool,
        mut look: Option<&mut dyn FnMut(&mut Device)>,
    ) -> Result<(), Error> {
        let mut idle = 0;
        let mut next_look = Time::ZERO;
        while !is_over() {
            if let Some(look) = &mut look {
                let now = time_since(self.began_ns);
                if now >= next_look {
                    next_look = now.saturating_add(LOOK_INTERVAL);
                    look(&mut self.device);
                }
            }
            if self.step()? {
                idle = 0;
                continue;
            }
            idle += 1;
            if idle >= ROUNDS_BEFORE_WAIT {
                self.wait()?;
            }
        }
        Ok(())
    }

    /// One round: takes in what has come, sends what is to go. Whether there was anything.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn step(&mut self) -> Result<bool, Error> {
        let now = time_since(self.began_ns);
        self.device.set_time(now);
        let mut count = 0;
        for number in 0..self.lines.len() {
            count += self.receive(now, number)?;
        }
        let mut has_any = count > 0;
        if now >= self.next_service {
            self.next_service = now.saturating_add(SERVICE_INTERVAL);
            has_any |= self.serve(now)?;
        }
        self.filled |= self.device.filled().0;
        has_any |= self.transmit(now, count == 0)?;
        Ok(has_any)
    }

    /// Registers, links, mirror and control software.
    fn serve(&mut self, now: Time) -> Result<bool, Error> {
        let mut has_any = false;
        if let Some(service) = &mut self.registers
            && service.poll(now, &mut self.device)?
        {
            // A queue may have been told to send.
            self.filled = ALL;
            has_any = true;
        }
        self.links.poll(&mut self.device);
        if let Some(mirror) = &mut self.mirror
            && mirror.poll(now)?
        {
            mirror.write(&mut self.device);
        }
        if let Some(software) = &mut self.software {
            has_any |= software.poll(now, &mut self.device, &mut self.filled)?;
        }
        if let Some(service) = &mut self.web {
            while let Some(frame) = self.device.own_copy() {
                service.record(&frame);
            }
            let mut card = web::Card {
                registers: &mut self.device,
                ports: &self.ports,
                control: self.software.as_mut().map(Software::control),
                has_mirror: self.mirror.is_some(),
            };
            if service.poll(now, &mut card)? {
                // As after the register socket.
                self.filled = ALL;
                has_any = true;
            }
        }
        Ok(has_any)
    }

    /// Waits until there is something to do, at most a tenth of a second: for those who call
    /// [`Self::step`] themselves.
    ///
    /// # Errors
    /// Where the kernel refuses.
    pub fn wait(&mut self) -> Result<(), Error> {
        let waits = &mut self.waits;
        waits.readable.clear();
        waits.writable.clear();
        self.lines.iter().for_each(|line| line.waits(waits));
        waits.readable.push(self.links.descriptor());
        let now = time_since(self.began_ns);
        let paced = self.lines.iter();
        let mut timeouts: Vec<Time> = paced.filter_map(|line| line.next_timeout(now)).collect();
        if let Some(service) = &self.registers {
            service.waits(waits);
            timeouts.extend(service.next_timeout());
        }
        if let Some(mirror) = &self.mirror {
            waits.readable.push(mirror.descriptor());
            timeouts.extend(mirror.next_timeout());
        }
        if let Some(software) = &self.software {
            software.waits(waits);
            timeouts.extend(software.next_timeout());
        }
        if let Some(service) = &self.web {
            service.waits(waits);
            timeouts.extend(service.next_timeout());
        }
        let until = timeouts.into_iter().min().map_or(MOST_WAIT_NS, |at| {
            let left = at.saturating_since(now).as_ns();
            left.min(MOST_WAIT_NS.cast_unsigned()).cast_signed()
        });
        let mut ready = Vec::new();
        let waits = &self.waits;
        clock::wait_both(&waits.readable, &waits.writable, Some(until), &mut ready)
            .map_err(Error::of("wait for frames"))?;
        self.next_service = Time::ZERO;
        Ok(())
    }
}

impl Drop for Card {
    fn drop(&mut self) {
        for line in &mut self.lines {
            line.close(&mut self.pool);
        }
    }
}

/// The time since the instant `began_ns` of the kernel's clock.
fn time_since(began_ns: i64) -> Time {
    let since = clock::monotonic_ns() - began_ns;
    Time::from_ns(since.max(0).cast_unsigned())
}

fn failed(what: &str, line: &Line, source: io::Error) -> Error {
    let what = format!("{what} `{}`", line.name());
    Error::System { what, source }
}
