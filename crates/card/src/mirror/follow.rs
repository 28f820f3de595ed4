//! Follows the kernel by netlink events, and writes what differs.

use super::kernel::{Kernel, Left};
use crate::client::Client;
use crate::error::Error;
use crate::tables::Tables;
use std::os::fd::RawFd;
use trammel_core::{Span, Time};
use trammel_io::clock;
use trammel_io::rtnetlink::Follower;
use trammel_netfpga::registers::Registers;

/// When all there is is asked for anew after changes that the kernel gives no notice of: it may not
/// be done with them yet.
const SETTLING: [Span; 3] = [Span::from_ms(5), Span::from_ms(50), Span::from_ms(500)];

/// The longest wait: whether it is over is looked at then.
const MOST_WAIT_NS: u64 = 100_000_000;

/// The kernel's tables, followed.
#[derive(Debug)]
pub struct Mirror {
    follower: Follower,
    kernel: Kernel,
    /// How often all there is was asked for since it became unsettled, and when it is next.
    settling: Option<(usize, Time)>,
    left: Left,
}

impl Mirror {
    /// Follows the kernel of the calling thread's network namespace. The host interfaces are
    /// `prefix` and the number of their port: `nf2c0`.
    ///
    /// # Errors
    /// Where the kernel has no netlink.
    pub fn open(prefix: &str) -> Result<Mirror, Error> {
        let follower = Follower::open();
        Ok(Mirror {
            follower: follower.map_err(Error::of("follow the kernel's routes"))?,
            kernel: Kernel::new(prefix),
            settling: None,
            left: Left::default(),
        })
    }

    /// The descriptor to wait on.
    pub(crate) fn descriptor(&self) -> RawFd {
        self.follower.descriptor()
    }

    /// When [`Self::poll`] is to be called though nothing came.
    pub(crate) fn next_timeout(&self) -> Option<Time> {
        Some(self.settling?.1)
    }

    /// What the card had no room for when it was written last.
    pub(crate) fn left(&self) -> Left {
        self.left
    }

    /// Takes in what has happened since the last call; whether the tables may differ now.
    pub(crate) fn poll(&mut self, now: Time) -> Result<bool, Error> {
        if let Some((asked, at)) = self.settling
            && at <= now
        {
            self.follower.restart();
            let next = SETTLING.get(asked + 1);
            self.settling = next.map(|after| (asked + 1, now.saturating_add(*after)));
        }
        let mut has_any = false;
        let kernel = &mut self.kernel;
        let polled = self.follower.poll(|event| {
            has_any = true;
            kernel.learn(event);
        });
        polled.map_err(Error::of("follow the kernel's routes"))?;
        if self.kernel.take_unsettled() {
            self.settling = Some((0, now.saturating_add(SETTLING[0])));
        }
        Ok(has_any && self.kernel.is_complete())
    }

    /// Writes the rows that differ to a card of this process. How many those were.
    pub(crate) fn write(&mut self, card: &mut impl Registers) -> usize {
        let before = Tables::read(card);
        let (tables, left) = self.kernel.tables(&before);
        self.left = left;
        tables.write_changes(&before, card)
    }

    /// Follows into the tables of a card of another process until `is_over`, which is asked at
    /// least each tenth of a second; `tell` gets what it has no room for whenever that changes.
    ///
    /// # Errors
    /// Where the card ends, or the kernel tells nothing any more.
    pub fn run(
        &mut self,
        card: &mut Client,
        is_over: &dyn Fn() -> bool,
        mut tell: impl FnMut(Left),
    ) -> Result<(), Error> {
        let began_ns = clock::monotonic_ns();
        let mut told = self.left;
        while !is_over() {
            let since = (clock::monotonic_ns() - began_ns).max(0);
            let now = Time::from_ns(since.cast_unsigned());
            if self.poll(now)? {
                self.write_by(card)?;
            }
            if told != self.left {
                told = self.left;
                tell(told);
            }
            let left = self.next_timeout().map(|at| at.saturating_since(now));
            let wait_ns = left.map_or(MOST_WAIT_NS, |left| left.as_ns().min(MOST_WAIT_NS));
            clock::wait(&[self.descriptor()], Some(wait_ns.cast_signed()))
                .map_err(Error::of("wait for changes of the kernel's routes"))?;
        }
        Ok(())
    }

    /// Writes the rows that differ to a card of another process. How many those were.
    fn write_by(&mut self, card: &mut Client) -> Result<usize, Error> {
        let before = card.together(|accesses| Tables::read(accesses))?;
        let (tables, left) = self.kernel.tables(&before);
        self.left = left;
        card.together(|accesses| tables.write_changes(&before, accesses))
    }
}
