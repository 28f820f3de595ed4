//! What the elements of DPDK devices have in common: which interface a port is, and which arguments
//! mean something.

use super::adapter::ALLOW_NONEXISTENT;
use crate::args::kinds::INT;
use crate::args::{Args, Kind, Need, Param, flag, keyword, mandatory, param, positional};
use crate::engine::setup::Setup;

/// The device.
pub(crate) const PORT: Param = mandatory(
    "PORT",
    Kind::Text,
    "an interface; of a number N the one whose name, or alternative name, is `dpdkN`",
);

/// Its queue, which the machine chooses.
pub(crate) const QUEUE: Param = positional(
    "QUEUE",
    INT,
    "-1",
    "the queue; the machine's choice where it is below 0",
);

/// Frames of a run.
pub(crate) const BURST: Param = keyword("BURST", INT, "32", "frames of each run");

/// Frames of the device's ring.
pub(crate) const NDESC: Param = keyword(
    "NDESC",
    INT,
    "0",
    "frames that the device's ring holds; the machine's choice where it is 0",
);

/// Whether there need be no such device.
pub(crate) const MAY_LACK: Param = flag(
    ALLOW_NONEXISTENT,
    "false",
    "whether it stays idle where there is no such interface",
);

/// What DPDK alone has.
pub(crate) const OTHERS: Param = param(
    "OTHERS",
    Need::KeywordRest,
    Kind::Raw,
    "",
    "further keywords, which mean something to DPDK only: queues, offloads, memory",
);

/// Further places, which were queues and sizes.
pub(crate) const PLACES: Param = param(
    "PLACES",
    Need::Rest,
    Kind::Raw,
    "",
    "further arguments, which mean something to DPDK only",
);

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
