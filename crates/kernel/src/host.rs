//! A job with the host's own TCP, by the clock on the wall: the same namespaces, addresses, routes
//! and flows as in a guest.
//!
//! Few hosts have netem, and many programs run beside; so rates, queues, delays and losses are not
//! the kernel's here: an emulator stands in the wires that have any, in a namespace of its own.
//!
//! ```text
//! sender ─ wire ─ router ── w0a [emulator: queue, rate, delay, loss] w0b ── middle ─ wire ─ router ─ wire ─ receiver
//! ```

use crate::guest::flows;
use crate::guest::network::Network;
use crate::job::{Answer, GuestJob};
use trammel_io::clock::monotonic_ns;
use trammel_io::netns::Namespace;

pub use crate::cable::{Cable, cables};
pub use crate::guest::Result;
pub use crate::guest::queues::Queues;

/// From the network's being there to the first flow.
const BEFORE_NS: i64 = 100_000_000;

/// Does `job` with an emulator in namespace `emulator`; `begin` starts it once its interfaces are
/// there.
pub fn run<Q: Queues>(
    job: &GuestJob,
    emulator: &Namespace,
    begin: impl FnOnce(&[Cable]) -> Result<Q>,
) -> Result<(Answer, Q)> {
    let cables = cables(job);
    let network = Network::build(job, Some((emulator, &cables)))?;
    let mut queues = begin(&cables)?;
    let answer = flows::run(job, &network, &mut queues, monotonic_ns() + BEFORE_NS)?;
    Ok((answer, queues))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{Way, Wire};
    use trammel_io::qdisc::Kind;

    #[test]
    fn the_two_wires_of_a_line_have_one_emulator() {
        let queue = || Way {
            queue: Some(Kind::Pfifo { limit: 1 }),
            ..Way::default()
        };
        let wire = |ends: [usize; 2], ways: [Way; 2]| Wire {
            ends,
            mtu: 1500,
            offload: false,
            ways,
        };
        let plain = Way::default;
        let job = GuestJob {
            wires: vec![
                wire([0, 1], [queue(), plain()]),
                wire([1, 2], [plain(), queue()]),
                wire([3, 0], [queue(), queue()]),
                wire([2, 4], [plain(), plain()]),
            ],
            ..GuestJob::default()
        };
        let cables = cables(&job);
        assert_eq!(cables.len(), 2);
        assert_eq!(cables[0].ways, [[(0, 0), (1, 0)], [(1, 1), (0, 1)]]);
        assert_eq!(cables[1].ways, [[(2, 0)], [(2, 1)]]);
        assert_eq!(cables[1].interface(1), "w2b");
    }
}
