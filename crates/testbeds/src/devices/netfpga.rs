//! The live NetFPGA card as a device: `netfpga`, `netfpga:KEY=VALUE,…`.
//!
//! The card is `trammel netfpga run` between the two interfaces, as ports 0 and 1. A router has
//! control software on its CPU queues with the addresses of RFC 2544, appendix C.2.2, which answers
//! ARP and fills the tables, or leaves them as a file has them. What the software is told comes by
//! pipes and the card offers no socket, so that no file stays however it ends.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use trammel_card::tables::{Row, read_rows};
use trammel_core::units::nearest;
use trammel_io::program;
use trammel_netfpga::design;
use trammel_traffic::tester::port::Way;
use trammel_workbench::source::os_text;

/// The design of a card of which nothing else is said.
const ROUTER: &str = "reference-router";
/// Designs that forward frames between two ports by themselves, and whether a tester asks them for
/// an Ethernet address.
const FORWARDING: [(&str, bool); 3] = [
    (ROUTER, true),
    ("buffer-sizing", true),
    ("reference-switch", false),
];
/// Its interfaces, as SCONE's file `cpuhw` has them.
const INTERFACES: &str = "\
in  198.18.1.1 255.255.255.0 ca:fe:f0:0d:00:01
out 198.19.1.1 255.255.255.0 ca:fe:f0:0d:00:02
";
/// Its routes, as SCONE's file `rtable` has them.
const ROUTES: &str = "\
198.18.0.0 198.18.1.2 255.255.0.0 in
198.19.0.0 198.19.1.2 255.255.0.0 out
";
/// The rows that the control software comes to from the two.
pub(crate) const ROWS: &str = "\
route 0 198.18.1.0/24 port 0
route 1 198.19.1.0/24 port 1
route 2 198.18.0.0/16 via 198.18.1.2 port 0
route 3 198.19.0.0/16 via 198.19.1.2 port 1
arp 0 198.18.1.2 02:00:00:00:00:01
arp 1 198.19.1.2 02:00:00:00:00:02
filter 0 198.18.1.1
filter 1 198.19.1.1
filter 2 224.0.0.5
mac 0 ca:fe:f0:0d:00:01
mac 1 ca:fe:f0:0d:00:02
";

/// Bytes of a file of tables, at most.
const LONGEST_FILE: u64 = 1 << 20;

/// The rows that `file` has; the error is what a person is told.
pub(crate) fn rows(file: &Path) -> Result<Vec<Row>, String> {
    let name = file.display().to_string();
    let mut text = String::new();
    let read = File::open(file).and_then(|file| {
        let mut bounded = file.take(LONGEST_FILE + 1);
        bounded.read_to_string(&mut text)
    });
    match read {
        Ok(bytes) if bytes as u64 <= LONGEST_FILE => read_rows(&name, &text),
        Ok(_) => Err(format!(
            "{name}: more than {LONGEST_FILE} bytes: that is no file of tables"
        )),
        Err(why) => Err(format!("{name}: {}", os_text(&why))),
    }
}

/// How frames of a card's ports come and go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Method {
    /// AF_XDP.
    AfXdp,
    /// Packet sockets.
    AfPacket,
}

impl Method {
    fn word(self) -> &'static str {
        match self {
            Method::AfXdp => "afxdp",
            Method::AfPacket => "afpacket",
        }
    }
}

/// A live card between two interfaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveCard {
    design: &'static str,
    method: Option<Method>,
    tables: Option<PathBuf>,
}

impl Default for LiveCard {
    fn default() -> LiveCard {
        LiveCard {
            design: ROUTER,
            method: None,
            tables: None,
        }
    }
}

/// Reads what follows `netfpga:`; nothing is the reference router.
impl FromStr for LiveCard {
    type Err = String;

    fn from_str(text: &str) -> Result<LiveCard, String> {
        let mut card = LiveCard::default();
        for change in text.split(',').filter(|change| !change.is_empty()) {
            let (key, value) = change.split_once('=').ok_or_else(|| {
                format!("`netfpga:{text}`: `{change}` says nothing; write it as KEY=VALUE")
            })?;
            match (key, value) {
                ("design", _) => card.design = forwarding(value)?,
                ("tables", _) => card.tables = Some(value.into()),
                ("method", "afxdp") => card.method = Some(Method::AfXdp),
                ("method", "afpacket") => card.method = Some(Method::AfPacket),
                ("method", _) => {
                    return Err(format!("`method={value}`: it is `afxdp` or `afpacket`"));
                }
                _ => {
                    let known = ["design", "method", "tables"];
                    return Err(match nearest(key, known.into_iter()) {
                        Some(near) => {
                            format!("a live card has no `{key}`; did you mean `{near}`?")
                        }
                        None => format!("a live card has no `{key}`, but {}", known.join(", ")),
                    });
                }
            }
        }
        if card.tables.is_some() && !card.is_router() {
            return Err(format!(
                "`tables` is for routers, and `{}` is none: leave one out",
                card.design
            ));
        }
        Ok(card)
    }
}

/// The design called `name`, if it forwards between two ports.
fn forwarding(name: &str) -> Result<&'static str, String> {
    let known = FORWARDING.iter().find(|(known, _)| *known == name);
    if let Some((known, _)) = known {
        return Ok(known);
    }
    design(name).map_err(|why| why.to_string())?;
    Err(format!(
        "`{name}` forwards no frame from one port to another; `reference-router`, `buffer-sizing` \
         and `reference-switch` do"
    ))
}

impl LiveCard {
    /// What it is, for reports.
    pub(crate) fn name(&self) -> String {
        let mut name = format!("NetFPGA {}, live", self.design);
        if let Some(method) = self.method {
            name += match method {
                Method::AfXdp => ", AF_XDP",
                Method::AfPacket => ", packet sockets",
            };
        }
        if let Some(file) = &self.tables {
            let file = file.file_name().unwrap_or(file.as_os_str());
            name += &format!(", {}", file.to_string_lossy());
        }
        name
    }

    /// Whether it forwards by addresses of IP.
    pub(crate) fn is_router(&self) -> bool {
        FORWARDING.contains(&(self.design, true))
    }

    /// The file of its tables, if it has one.
    pub fn tables(&self) -> Option<&Path> {
        self.tables.as_deref()
    }

    /// The same, with a file named relative to `folder`.
    pub fn beside(mut self, folder: &Path) -> LiveCard {
        self.tables = self.tables.map(|file| folder.join(file));
        self
    }

    /// Refuses a file of tables that cannot be read.
    pub(crate) fn check(&self) -> Result<(), String> {
        match &self.tables {
            Some(file) => rows(file).map(|_| ()),
            None => Ok(()),
        }
    }

    /// The program that it is, with its arguments; `own` is this program, and the tester's frames
    /// go by `way`.
    pub(crate) fn program(
        &self,
        own: &str,
        [inward, outward]: &[String; 2],
        way: Way,
    ) -> Vec<String> {
        let method = self.method.unwrap_or(match way {
            Way::AfPacket => Method::AfPacket,
            Way::AfXdp | Way::Live => Method::AfXdp,
        });
        let card = [
            own,
            "netfpga",
            "run",
            "--no-sockets",
            "--design",
            self.design,
            "--ports",
        ];
        let mut words: Vec<String> = card.map(str::to_owned).to_vec();
        words.push(format!("{inward},{outward}"));
        words.extend(["--method", method.word()].map(str::to_owned));
        if let Some(file) = &self.tables {
            words.extend(["--tables".to_owned(), file.display().to_string()]);
        }
        if !self.is_router() {
            return words;
        }
        let of_software = [
            "--control",
            "/proc/self/fd/3",
            "--rtable",
            "/proc/self/fd/4",
        ];
        words.extend(of_software.map(str::to_owned));
        // The program itself, with its two files in pipes of the shell.
        let script = format!(
            "exec \"$@\" 3<<INTERFACES 4<<ROUTES\n{INTERFACES}INTERFACES\n{ROUTES}ROUTES\n"
        );
        let shell = [program::SHELL, "-c", &script, "sh"].map(str::to_owned);
        [shell.to_vec(), words].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_card::RegisterDataplane;
    use trammel_card::tables::Tables;
    use trammel_control::config::{cpuhw, rtable};
    use trammel_control::{Config, Control};
    use trammel_core::Time;
    use trammel_netfpga::Device;

    #[test]
    fn what_is_said_of_a_card_is_kept_and_faults_say_what_would_be_right() {
        let of = |text: &str| text.parse::<LiveCard>();
        assert_eq!(of(""), Ok(LiveCard::default()));
        let card = of("method=afxdp,tables=a/b.rows").unwrap();
        let name = card.name();
        assert_eq!(name, "NetFPGA reference-router, live, AF_XDP, b.rows");
        assert_eq!(card.tables(), Some(Path::new("a/b.rows")));
        assert!(!of("design=reference-switch").unwrap().is_router());
        for (text, says) in [
            ("tables", "KEY=VALUE"),
            ("table=x", "did you mean `tables`?"),
            ("method=x", "`afxdp` or `afpacket`"),
            ("design=reference-nic", "forwards no frame"),
            ("design=reference-ruter", "no design"),
            ("design=reference-switch,tables=x", "for routers"),
        ] {
            let error = of(text).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
        assert!(of("tables=/none").unwrap().check().is_err());
    }

    #[test]
    fn the_rows_are_those_of_control_software_with_the_two_files() {
        let interfaces = cpuhw::read("cpuhw", INTERFACES).unwrap();
        let routes = rtable::read("rtable", ROUTES, &interfaces).unwrap();
        let mut control = Control::new(Config::new(interfaces, routes)).unwrap();
        let mut card = Device::new(design(ROUTER).unwrap());
        control.handle_timeout(Time::ZERO, &mut RegisterDataplane::new(&mut card));
        let by_software = Tables::read(&mut card);
        let mut other = Device::new(design(ROUTER).unwrap());
        for row in read_rows("rows", ROWS).unwrap() {
            row.write(&mut other);
        }
        let by_rows = Tables::read(&mut other);
        assert_eq!(by_software.routes, by_rows.routes);
        assert_eq!(by_software.filter, by_rows.filter);
        assert_eq!(by_software.macs, by_rows.macs);
    }
}
