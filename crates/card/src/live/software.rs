//! The control software on the CPU queues, with its command line.

use crate::dataplane::RegisterDataplane;
use crate::error::Error;
use crate::service::Waits;
use crate::service::console::Console;
use std::net::SocketAddr;
use std::path::Path;
use trammel_control::{Config, Control};
use trammel_core::Time;
use trammel_netfpga::Device;
use trammel_netfpga::stages::{Fcs, PORTS, Queue};

/// The software, and who gives it commands.
#[derive(Debug)]
pub(super) struct Software {
    control: Control,
    /// The tables are its own to write.
    writes: bool,
    console: Console,
}

impl Software {
    /// With a configuration, its command line at the given places, and whether it writes tables.
    pub(super) fn open(
        (config, writes): (&Config, bool),
        console: Option<&Path>,
        telnet: Option<SocketAddr>,
    ) -> Result<Software, Error> {
        if config.interfaces.len() > PORTS {
            let count = config.interfaces.len();
            return Err(Error::Usage(format!(
                "{count} interfaces of the control software: a card has {PORTS}; remove some from \
                 the file of `--control`"
            )));
        }
        let control = Control::new(config.clone());
        Ok(Software {
            control: control.map_err(|why| Error::Usage(why.to_string()))?,
            console: Console::open(console, telnet)?,
            writes,
        })
    }

    /// Gives it the frame that the card has for the host interface of `port`.
    pub(super) fn receive(&mut self, now: Time, port: usize, frame: &[u8], card: &mut Device) {
        let mut dataplane = dataplane(card, self.writes);
        self.control.receive(now, port, frame, &mut dataplane);
    }

    /// Does what is due, and what commands ask for. Whether there was anything; queues of the card
    /// that have frames now are added to `filled`, a bit for each.
    pub(super) fn poll(
        &mut self,
        now: Time,
        card: &mut Device,
        filled: &mut u8,
    ) -> Result<bool, Error> {
        let mut has_any = false;
        if self.control.next_timeout().is_some_and(|at| at <= now) {
            let mut dataplane = dataplane(card, self.writes);
            self.control.handle_timeout(now, &mut dataplane);
            has_any = true;
        }
        let (control, writes) = (&mut self.control, self.writes);
        has_any |= self.console.poll(now, |line| {
            let mut dataplane = dataplane(card, writes);
            control.command(now, line, &mut dataplane)
        })?;
        while let Some((number, reply)) = self.control.poll_reply() {
            self.console.reply(number, &reply);
        }
        while let Some((port, frame)) = self.control.poll_transmit() {
            *filled |= card.receive(Queue::cpu(port), &frame, Fcs::Good).0;
            has_any = true;
        }
        Ok(has_any)
    }

    /// The software, to look at.
    pub(super) fn of(&self) -> &Control {
        &self.control
    }

    /// The software itself.
    pub(super) fn control(&mut self) -> &mut Control {
        &mut self.control
    }

    /// When [`Self::poll`] has something to do though nothing came.
    pub(super) fn next_timeout(&self) -> Option<Time> {
        let both = [self.control.next_timeout(), self.console.next_timeout()];
        both.into_iter().flatten().min()
    }

    /// What is to be waited for.
    pub(super) fn waits(&self, waits: &mut Waits) {
        self.console.waits(waits);
    }
}

/// The tables of `card`, which the software writes or only reads.
fn dataplane(card: &mut Device, writes: bool) -> RegisterDataplane<'_, Device> {
    let tables = RegisterDataplane::new(card);
    if writes { tables } else { tables.read_only() }
}
