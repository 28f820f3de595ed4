//! The file `rtable` of SCONE: a line for each static route.

use super::{Error, columns};
use crate::dataplane::Route;
use crate::interface::Interface;
use crate::routes::{self, MOST_ROUTES};
use trammel_core::units::nearest;

/// Reads `text`, which the file `file` has: in each line network, gateway, mask and interface.
/// Gateway 0.0.0.0 means that the network is connected there.
///
/// ```
/// use trammel_control::config::{cpuhw, rtable};
///
/// let interfaces = cpuhw::read("cpuhw", "eth0 10.0.0.1 255.255.255.0 2:0:0:0:0:1").unwrap();
/// let routes = rtable::read("rtable", "0.0.0.0 10.0.0.2 0.0.0.0 eth0", &interfaces).unwrap();
/// assert_eq!(routes[0].port, 0);
/// ```
///
/// # Errors
///
/// All faults, each with its line.
pub fn read(file: &str, text: &str, interfaces: &[Interface]) -> Result<Vec<Route>, Error> {
    let names = ["NETWORK", "GATEWAY", "MASK", "INTERFACE"];
    columns::lines(
        file,
        text,
        names,
        |[network, gateway, mask, name], before| {
            let route = Route {
                network: columns::address("NETWORK", network)?,
                next_hop: columns::address("GATEWAY", gateway)?,
                mask: columns::address("MASK", mask)?,
                port: port(name, interfaces)?,
            };
            let same = |other: &Route| (other.network, other.mask) == (route.network, route.mask);
            if before.len() >= MOST_ROUTES {
                return Err(format!(
                    "there are at most {MOST_ROUTES} routes: remove this line"
                ));
            }
            if before.iter().any(same) {
                return Err(format!(
                    "{network} mask {mask} has a route already: remove one of the two"
                ));
            }
            routes::fault(&route, interfaces).map_or(Ok(route), Err)
        },
    )
}

/// The port of the interface called `name`.
pub(crate) fn port(name: &str, interfaces: &[Interface]) -> Result<usize, String> {
    let found = interfaces
        .iter()
        .position(|interface| interface.name == name);
    found.ok_or_else(|| {
        let names = interfaces.iter().map(|interface| interface.name.as_str());
        let hint = nearest(name, names.clone()).map_or_else(
            || format!("there are {}", names.collect::<Vec<_>>().join(", ")),
            |near| format!("did you mean `{near}`?"),
        );
        format!("`{}` is no interface: {hint}", name.escape_default())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::cpuhw;

    #[test]
    fn every_fault_has_its_line() {
        let interfaces = "eth0 10.0.0.1 255.255.255.0 2:0:0:0:0:1\n\
                          eth1 10.0.1.1 255.255.255.0 2:0:0:0:0:2\n";
        let interfaces = cpuhw::read("cpuhw", interfaces).expect("right");
        let text = "0.0.0.0 10.0.0.2 0.0.0.0 eth0\n\
                    0.0.0.0 10.0.1.2 0.0.0.0 eth1\n\
                    10.1.0.0 10.0.0.2 255.255.0.0 eht1\n\
                    10.1.2.3 10.0.0.2 255.255.0.0 eth1\n\
                    10.2.0.0 10.0.0.2\n";
        let error = read("rtable", text, &interfaces)
            .expect_err("faults")
            .to_string();
        let lines: Vec<_> = error.lines().collect();
        assert_eq!(
            lines,
            [
                "rtable:2: 0.0.0.0 mask 0.0.0.0 has a route already: remove one of the two",
                "rtable:3: `eht1` is no interface: did you mean `eth1`?",
                "rtable:4: 10.1.2.3 has bits that mask 255.255.0.0 lacks: give network 10.1.0.0",
                "rtable:5: the line has 2 columns, and 4 belong there: write `NETWORK GATEWAY \
                 MASK INTERFACE`",
            ]
        );
    }
}
