//! The configuration of a router whose tables control software writes.
//!
//! ```text
//! FromDevice(ethP) -> [P] gates [P] -> HostEtherFilter -> Paint(P) -> IPv4, no options? ─> routes
//! routes [P] -> DecIPTTL -> forwardedP -> arpP :: ARPQuerier -> [N + P] gates [N + P] -> Queue -> ToDevice(ethP)
//! the rest, routes [N], TTL 1 -> ToDevice(cpuP)                       FromDevice(cpuP) -> [N + P] gates
//! ```
//! Port `P` of `N` has a device `ethP`, and `cpuP` is the software's side of it: frames that came
//! in by the port leave by `cpuP` as they came, and frames that come from `cpuP` leave by the port.
//! Order and exceptions are those of the NetFPGA 1G reference router, but that a next hop without a
//! neighbour is asked for by its `ARPQuerier`, which keeps the packet.

use std::fmt::Write;
use trammel_control::Interface;

/// The configuration of a router with `interfaces`, one for each port, in the order of the ports.
pub fn configuration(interfaces: &[Interface]) -> String {
    let ports = interfaces.len();
    let mut text = format!(
        "routes :: RadixIPLookup(0.0.0.0/0 {ports});\nneighbours :: ARPTable(TIMEOUT 0);\n\
         gates :: Suppressor;\nto_software :: Counter;\nby_port :: PaintSwitch;\n\
         routes[{ports}] -> software :: Unstrip(14) -> to_software -> by_port;\n"
    );
    for (port, interface) in interfaces.iter().enumerate() {
        one(&mut text, (port, ports), interface);
    }
    text
}

/// The elements of port `port` of `ports`.
fn one(text: &mut String, (port, ports): (usize, usize), interface: &Interface) {
    let mac = interface.mac.map(|byte| format!("{byte:02x}")).join(":");
    let address = interface.address;
    let bits = interface.mask.to_bits().leading_ones();
    let out = ports + port;
    let written = write!(
        text,
        "arp{port} :: ARPQuerier({address}/{bits}, {mac}, TABLE neighbours, POLL_TIMEOUT 0);\n\
         FromDevice(eth{port}) -> [{port}] gates;\n\
         gates[{port}] -> HostEtherFilter({mac}) -> Paint({port}) \
         -> kind{port} :: Classifier(12/0806, 12/0800 14/45, -);\n\
         kind{port}[0] -> tee{port} :: Tee;\n\
         tee{port}[0] -> to_software;\n\
         tee{port}[1] -> reply{port} :: Classifier(20/0002, -);\n\
         reply{port}[0] -> [1] arp{port};\n\
         reply{port}[1] -> Discard;\n\
         kind{port}[1] -> Strip(14) -> CheckIPHeader -> routes;\n\
         kind{port}[2] -> to_software;\n\
         routes[{port}] -> DropBroadcasts -> ttl{port} :: DecIPTTL -> forwarded{port} :: Counter \
         -> arp{port} -> [{out}] gates;\n\
         ttl{port}[1] -> software;\n\
         gates[{out}] -> Queue(1000) -> ToDevice(eth{port});\n\
         by_port[{port}] -> Queue(1000) -> ToDevice(cpu{port});\n\
         FromDevice(cpu{port}) -> [{out}] gates;\n"
    );
    written.expect("a string takes any text");
}
