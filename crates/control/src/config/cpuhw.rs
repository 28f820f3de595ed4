//! The file `cpuhw` of SCONE: a line for each interface.

use super::{Error, MOST_INTERFACES, columns, interface_fault};
use crate::address::read_mac;
use crate::interface::Interface;

/// Reads `text`, which the file `file` has: in each line name, address, mask and MAC address. The
/// first interface is on port 0.
///
/// ```
/// use trammel_control::config::cpuhw;
///
/// let text = "eth0 10.0.0.1 255.255.255.0 ca:fe:f0:0d:00:01  # to the hosts\n";
/// let interfaces = cpuhw::read("cpuhw", text).unwrap();
/// assert_eq!(interfaces[0].name, "eth0");
/// let error = cpuhw::read("cpuhw", "eth0 10.0.0.1\n").unwrap_err();
/// assert!(error.to_string().starts_with("cpuhw:1: the line has 2 columns"));
/// ```
///
/// # Errors
///
/// All faults, each with its line.
pub fn read(file: &str, text: &str) -> Result<Vec<Interface>, Error> {
    let names = ["INTERFACE", "ADDRESS", "MASK", "MAC"];
    columns::lines(file, text, names, |[name, address, mask, mac], before| {
        let interface = Interface {
            name: name.to_owned(),
            address: columns::address("ADDRESS", address)?,
            mask: columns::address("MASK", mask)?,
            mac: read_mac(mac).ok_or_else(|| {
                format!(
                    "MAC `{}` is no MAC address: write six bytes, for example ca:fe:f0:0d:00:01",
                    mac.escape_default()
                )
            })?,
        };
        if before.len() >= MOST_INTERFACES {
            return Err(format!(
                "a router has at most {MOST_INTERFACES} interfaces: remove this line"
            ));
        }
        interface_fault(&interface, before).map_or(Ok(interface), Err)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_has_its_line() {
        let text = "# a router\n\
                    eth0 10.0.0.1 255.255.255.0 ca:fe:f0:0d:00:01\n\
                    \n\
                    eth0 10.0.1.1 255.255.255.0 ca:fe:f0:0d:00:02\n\
                    eth1 10.0.1 255.255.255.0 ca:fe:f0:0d:00:02\n\
                    eth2 10.0.2.1 255.255.255.0 ca:fe:f0:0d:00\n\
                    eth3 10.0.3.1 255.0.255.0 ca:fe:f0:0d:00:04\n";
        let error = read("cpuhw", text).expect_err("four faults").to_string();
        let lines: Vec<_> = error.lines().collect();
        assert_eq!(
            lines,
            [
                "cpuhw:4: `eth0` is there already: give it another name",
                "cpuhw:5: ADDRESS `10.0.1` is no address: write four numbers of 0 to 255, for \
                 example 10.0.0.1",
                "cpuhw:6: MAC `ca:fe:f0:0d:00` is no MAC address: write six bytes, for example \
                 ca:fe:f0:0d:00:01",
                "cpuhw:7: 255.0.255.0 is no mask of a connected network: give ones before zeros, \
                 for example 255.255.255.0",
            ]
        );
    }

    #[test]
    fn a_hostile_file_has_few_faults() {
        let error = read("cpuhw", &"x\n".repeat(1000))
            .expect_err("faults")
            .to_string();
        assert_eq!(error.lines().count(), 51);
        assert!(error.ends_with("and: 950 more faults: correct these first"));
    }
}
