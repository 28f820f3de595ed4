//! Other traffic generators, measured on the same path in turn with ours.

/// A generator with its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Peer {
    /// ITGSend and ITGRecv of D-ITG, with `-poll`
    #[value(name = "d-itg")]
    DItg,
    /// iperf3
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
    /// Sends `wanted` over `rig` by it.
    pub fn send(
        self,
        rig: &super::rig::Rig,
        wanted: &super::achieved::Wanted,
        stop: &std::sync::atomic::AtomicBool,
    ) -> anyhow::Result<super::achieved::Achieved> {
        let _ = (rig, wanted, stop);
        Err(crate::engine::Lacks::error("not yet", "wait"))
    }
}
