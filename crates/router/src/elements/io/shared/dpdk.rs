//! What the elements of DPDK devices have in common: which interface a port is, and which arguments mean something.

use super::adapter::ALLOW_NONEXISTENT;
use crate::args::kinds::INT;
use crate::args::{Args, Kind, Need, Param};
use crate::engine::setup::Setup;

/// The device.
pub(crate) const PORT: Param = Param {
    name: "PORT",
    need: Need::Mandatory,
    kind: Kind::Text,
    default: "",
    help: "an interface; of a number N the one whose name, or alternative name, is `dpdkN`",
};

/// Its queue, which the machine chooses.
pub(crate) const QUEUE: Param = Param {
    name: "QUEUE",
    need: Need::Positional,
    kind: INT,
    default: "-1",
    help: "the queue; the machine's choice where it is below 0",
};

/// Frames of a run.
pub(crate) const BURST: Param = Param {
    name: "BURST",
    need: Need::Keyword,
    kind: INT,
    default: "32",
    help: "frames of each run",
};

/// Frames of the device's ring.
pub(crate) const NDESC: Param = Param {
    name: "NDESC",
    need: Need::Keyword,
    kind: INT,
    default: "0",
    help: "frames that the device's ring holds; the machine's choice where it is 0",
};

/// Whether there need be no such device.
pub(crate) const MAY_LACK: Param = Param {
    name: ALLOW_NONEXISTENT,
    need: Need::Keyword,
    kind: Kind::Bool,
    default: "false",
    help: "whether it stays idle where there is no such interface",
};

/// What DPDK alone has.
pub(crate) const OTHERS: Param = Param {
    name: "OTHERS",
    need: Need::KeywordRest,
    kind: Kind::Raw,
    default: "",
    help: "further keywords, which mean something to DPDK only: queues, offloads, memory",
};

/// Further places, which were queues and sizes.
pub(crate) const PLACES: Param = Param {
    name: "PLACES",
    need: Need::Rest,
    kind: Kind::Raw,
    default: "",
    help: "further arguments, which mean something to DPDK only",
};

/// The interface that `PORT` means, which is told.
pub(crate) fn interface(args: &Args, setup: &mut Setup) -> String {
    let port = args.text("PORT");
    let is_number = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    let name = if is_number {
        format!("dpdk{port}")
    } else {
        port.to_owned()
    };
    if is_number {
        setup.notes.push(format!(
            "port {port} is the interface `{name}`, by AF_XDP or AF_PACKET rather than DPDK: \
             `ip link property add dev IFACE altname {name}` gives one this name"
        ));
    }
    name
}
