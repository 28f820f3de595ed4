//! Other traffic generators, measured on the same path in turn with ours: each program as its users
//! run it.

#[cfg(target_os = "linux")]
mod d_itg;
#[cfg(target_os = "linux")]
mod iperf3;
#[cfg(target_os = "linux")]
mod program;

/// A generator with its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Peer {
    /// ITGSend and ITGRecv, with `-poll`
    #[value(name = "d-itg")]
    DItg,
    /// iperf3; its jitter has another definition and is left out
    Iperf3,
}

impl Peer {
    /// What it is called in tables.
    pub fn name(self) -> &'static str {
        match self {
            Peer::DItg => "D-ITG",
            Peer::Iperf3 => "iperf3",
        }
    }
}

#[cfg(target_os = "linux")]
impl Peer {
    /// Sends `wanted` over `rig` by it; `stop` ends it early.
    pub fn send(
        self,
        rig: &super::rig::Rig,
        wanted: &super::achieved::Wanted,
        stop: &std::sync::atomic::AtomicBool,
    ) -> anyhow::Result<super::achieved::Achieved> {
        match self {
            Peer::DItg => d_itg::send(rig, wanted, stop),
            Peer::Iperf3 => iperf3::send(rig, wanted, stop),
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::achieved::Wanted;
    use crate::rig::Rig;
    use std::sync::atomic::AtomicBool;
    use trammel_ground::Unsupported;
    use trammel_traffic::record::Protocol;

    #[test]
    fn a_peer_sends_what_is_wanted_or_is_not_installed() {
        let rig = Rig::new();
        for peer in [Peer::DItg, Peer::Iperf3] {
            for protocol in [Protocol::Udp, Protocol::Tcp] {
                let wanted = Wanted {
                    protocol,
                    bytes: 64,
                    pps: 1000.0,
                    seconds: 0.3,
                };
                match peer.send(&rig, &wanted, &AtomicBool::new(false)) {
                    Ok(came) => {
                        // How well it keeps its rate is not ours to say, least of all on a busy
                        // machine: only that its account was understood. At 1,000 packets a second
                        // for 0.3 s it cannot have sent many more than 300.
                        assert!((1..=400).contains(&came.sent_pkts), "{peer:?}: {came:?}");
                        assert!(came.received_pkts + came.lost_pkts <= came.sent_pkts);
                        assert!(came.received_pkts > 0, "{peer:?}: {came:?}");
                        assert!(
                            came.pps.is_some_and(|pps| pps > 0.0 && pps < 2000.0),
                            "{peer:?}: {came:?}"
                        );
                    }
                    Err(why) if why.is::<Unsupported>() => eprintln!("skipped: {why}"),
                    Err(why) => panic!("{peer:?}: {why:#}"),
                }
            }
        }
    }
}
