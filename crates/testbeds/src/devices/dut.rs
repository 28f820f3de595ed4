//! Which device is built and tested between two interfaces:
//! `--dut wire|kernel|bridge|netfpga|FILE.click|"COMMAND"`.

use super::filters::Filters;
use super::netfpga::LiveCard;
use std::path::PathBuf;
use std::str::FromStr;
use trammel_io::program;
use trammel_router::BuiltIn;
use trammel_router::lang;
use trammel_traffic::tester::port::Way;
use trammel_workbench::source::Source;

/// Where the names of the two interfaces stand in a command.
const PLACES: [&str; 2] = ["{in}", "{out}"];
/// The names of the interfaces where nobody cares.
const NAMES: [&str; 2] = ["in", "out"];
/// Classes that name an interface: those that frames come from, and go to.
const FROM: &[&str] = &["FromDevice", "PollDevice"];
const TO: &[&str] = &["ToDevice"];

/// What a number of filters follows.
const FILTERED: &str = "kernel:filters=";
/// The live card; what is said of it follows a colon.
const CARD: &str = "netfpga";

/// A device that the bench builds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dut {
    /// Nothing: the ports of the tester are the ends of one wire.
    Wire,
    /// The kernel's router.
    Kernel,
    /// The kernel's router behind filters (RFC 2544 §11.4).
    Filtered(Filters),
    /// The kernel's bridge.
    Bridge,
    /// The NetFPGA card on this machine.
    NetFpga(LiveCard),
    /// `trammel router` with a configuration.
    Click(PathBuf),
    /// Any program, told the names of its interfaces.
    Command(String),
}

impl FromStr for Dut {
    type Err = String;

    fn from_str(text: &str) -> Result<Dut, String> {
        let is_click = |text: &str| trammel_workbench::source::is_configuration(text.as_ref());
        if let Some(number) = text.strip_prefix(FILTERED) {
            let filters = Filters::of(number).map(Dut::Filtered);
            return filters.ok_or_else(|| {
                format!(
                    "`{text}`: RFC 2544 §11.4 has 1 or 25 filters; put others into your own \
                         configuration or command"
                )
            });
        }
        let of_card = text.strip_prefix(CARD);
        if let Some(of_card) = of_card.and_then(|rest| rest.strip_prefix(':')) {
            return of_card.parse().map(Dut::NetFpga);
        }
        match text {
            CARD => Ok(Dut::NetFpga(LiveCard::default())),
            "wire" => Ok(Dut::Wire),
            "kernel" => Ok(Dut::Kernel),
            "bridge" => Ok(Dut::Bridge),
            command if PLACES.iter().all(|place| command.contains(place)) => {
                Ok(Dut::Command(command.to_owned()))
            }
            file if is_click(file) => Ok(Dut::Click(file.into())),
            other => Err(format!(
                "`{other}` is no device; give `wire`, `kernel`, `kernel:filters=25`, `bridge`, \
                 `netfpga`, a file whose name ends with `.click`, or a command with `{{in}}` and \
                 `{{out}}` for the names of its interfaces"
            )),
        }
    }
}

impl Dut {
    /// What it is, for reports.
    pub fn name(&self) -> String {
        match self {
            Dut::Wire => "wire".to_owned(),
            Dut::Kernel => "kernel's router".to_owned(),
            Dut::Filtered(Filters::One) => "kernel's router, 1 filter".to_owned(),
            Dut::Filtered(filters) => format!("kernel's router, {} filters", filters.number()),
            Dut::Bridge => "kernel's bridge".to_owned(),
            Dut::NetFpga(card) => card.name(),
            Dut::Click(file) => {
                let name = file.file_name().unwrap_or(file.as_os_str());
                name.to_string_lossy().into_owned()
            }
            Dut::Command(command) => command.clone(),
        }
    }

    /// Whether the tester sends to the Ethernet address of a router; where it does not, to that of
    /// its own other port. Of configurations and programs `is_bridged` says it.
    pub fn is_routed(&self, is_bridged: bool) -> bool {
        match self {
            Dut::Wire | Dut::Bridge => false,
            Dut::Kernel | Dut::Filtered(_) => true,
            Dut::NetFpga(card) => card.is_router(),
            Dut::Click(_) | Dut::Command(_) => !is_bridged,
        }
    }

    /// The names of its interfaces, that which frames come in by first. The error is what a person
    /// is told.
    pub fn interfaces(&self) -> Result<[String; 2], String> {
        match self {
            Dut::Click(file) => {
                let source = Source::read(&file.to_string_lossy())?;
                of_configuration(&source.text, &source.name)
            }
            Dut::NetFpga(card) => {
                card.check()?;
                Ok(NAMES.map(str::to_owned))
            }
            _ => Ok(NAMES.map(str::to_owned)),
        }
    }

    /// The program that it is, with its arguments; `own` is this program, and the tester's frames
    /// go by `way`.
    pub(crate) fn program(&self, own: &str, names: &[String; 2], way: Way) -> Option<Vec<String>> {
        let [inward, outward] = names;
        match self {
            Dut::NetFpga(card) => Some(card.program(own, names, way)),
            Dut::Click(file) => Some(vec![
                own.to_owned(),
                "router".to_owned(),
                file.to_string_lossy().into_owned(),
            ]),
            Dut::Command(command) => {
                let command = command
                    .replace(PLACES[0], inward)
                    .replace(PLACES[1], outward);
                Some(vec![program::SHELL.to_owned(), "-c".to_owned(), command])
            }
            Dut::Wire | Dut::Kernel | Dut::Filtered(_) | Dut::Bridge => None,
        }
    }
}

/// The first interface that a configuration takes frames from, and the first other one that it
/// sends to.
fn of_configuration(text: &str, name: &str) -> Result<[String; 2], String> {
    let options = lang::Options {
        classes: Some(&BuiltIn),
        expand_definitions: true,
        ..lang::Options::default()
    };
    let (flat, said) = lang::parse(text, name, &options);
    if said.has_errors() {
        return Err(trammel_router::diagnostic::render(&said));
    }
    let names = |classes: &[&str]| -> Vec<String> {
        let elements = flat.elements.iter();
        let elements = elements.filter(|one| classes.contains(&one.class.as_str()));
        elements.map(|one| device_name(&one.config)).collect()
    };
    let (from, to) = (names(FROM), names(TO));
    let pair = from.first().and_then(|inward| {
        let outward = to.iter().find(|outward| *outward != inward)?;
        Some([inward.clone(), outward.clone()])
    });
    pair.ok_or_else(|| {
        format!(
            "{name}: the device is between two interfaces, and this one takes frames from {from:?} \
             and sends to {to:?}; it needs a FromDevice on one interface and a ToDevice on another"
        )
    })
}

/// The first argument, which may be named.
fn device_name(config: &str) -> String {
    let first = config.split(',').next().unwrap_or_default().trim();
    let name = first.strip_prefix("DEVNAME").map_or(first, str::trim);
    name.trim_matches('"').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_have_their_words() {
        let of = |text: &str| text.parse::<Dut>();
        assert_eq!(of("wire"), Ok(Dut::Wire));
        assert_eq!(of("a/b.click"), Ok(Dut::Click("a/b.click".into())));
        let command = "my-router --in {in} --out {out}";
        let Ok(dut) = of(command) else {
            panic!("it has both places")
        };
        let names = dut.interfaces().unwrap();
        let program = dut.program("trammel", &names, Way::AfPacket).unwrap();
        assert_eq!(program, ["/bin/sh", "-c", "my-router --in in --out out"]);
        assert_eq!(of("netfpga"), Ok(Dut::NetFpga(LiveCard::default())));
        let card = of("netfpga:tables=x.rows").map(|dut| dut.name());
        assert_eq!(
            card,
            Ok("NetFPGA reference-router, live, x.rows".to_owned())
        );
        for wrong in ["kernels", "netfpgas", "my-router --in {in}", "b.toml"] {
            assert!(of(wrong).unwrap_err().contains("is no device"), "{wrong}");
        }
        let filtered = of("kernel:filters=25").map(|dut| dut.name());
        assert_eq!(filtered, Ok("kernel's router, 25 filters".to_owned()));
        assert!(
            of("kernel:filters=2")
                .unwrap_err()
                .contains("1 or 25 filters")
        );
    }

    #[test]
    fn interfaces_of_a_configuration_are_those_of_its_elements() {
        let of = |text: &str| of_configuration(text, "x.click");
        let two = "FromDevice(eth0, METHOD afxdp) -> Queue -> ToDevice(eth1); FromDevice(eth1) -> \
                   Queue -> ToDevice(eth0);";
        assert_eq!(of(two), Ok(["eth0".to_owned(), "eth1".to_owned()]));
        let one = of("FromDevice(eth0) -> Queue -> ToDevice(eth0);").unwrap_err();
        assert!(
            one.contains("x.click") && one.contains("FromDevice on one"),
            "{one}"
        );
        let wrong = of("FromDevice(eth0) -> Nonsense -> ToDevice(eth1);").unwrap_err();
        assert!(wrong.contains("Nonsense"), "{wrong}");
    }
}
