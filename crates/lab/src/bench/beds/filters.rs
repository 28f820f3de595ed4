//! Filters of the kernel's router, by nftables: none, one, or RFC 2544's 25.

use std::fmt::Write as _;
use trammel_io::error::{Error, Result};
use trammel_io::netns::Namespace;

/// The conditions that refuse frames of nobody, before the one that lets the test frames pass and behind it.
const EACH_SIDE: u8 = 12;

/// How many conditions there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filters {
    /// Test frames pass, all else does not.
    One,
    /// So too, among 24 that refuse frames of others.
    Many,
}

impl Filters {
    /// One or 25.
    pub fn of(number: &str) -> Option<Filters> {
        match number {
            "1" => Some(Filters::One),
            "25" => Some(Filters::Many),
            _ => None,
        }
    }

    /// Its conditions.
    pub fn number(self) -> u32 {
        match self {
            Filters::One => 1,
            Filters::Many => 2 * u32::from(EACH_SIDE) + 1,
        }
    }

    /// The rules for what comes in at `interface`, as `nft` reads them.
    //= rfc2544 §11.4.1
    //# The sequence is selected to test to
    //# see if the router sorts the filter conditions or accepts them in the
    //# order that they were entered.
    // Differs from RFC 2544: its first three lines count the last network's numbers 100, 101, 103, the others 100 + n; all are 100 + n
    // here. What is let through are the networks of the test frames, of which there may be many, and not one pair of addresses.
    fn rules(self, interface: &str) -> String {
        let side = match self {
            Filters::One => 0,
            Filters::Many => EACH_SIDE,
        };
        let mut rules = String::from("table ip bench {\n  chain conditions {\n");
        let refuse = |from: u8, to: u8, rules: &mut String| {
            for n in from..=to {
                let away = 100 + n;
                writeln!(
                    rules,
                    "    ip saddr 198.18.{n}.{n} ip daddr 198.19.{away}.{n} drop"
                )
                .expect("a text takes what is written");
            }
        };
        refuse(1, side, &mut rules);
        rules.push_str("    ip saddr 198.18.0.0/16 ip daddr 198.19.0.0/16 accept\n");
        refuse(side + 1, 2 * side, &mut rules);
        write!(
            rules,
            "    drop\n  }}\n  chain forward {{\n    type filter hook forward priority filter;\n    iifname \"{interface}\" jump conditions\n  }}\n}}"
        )
        .expect("a text takes what is written");
        rules
    }

    /// Puts them before what comes in at `interface` of `router`.
    pub fn put(self, router: &Namespace, interface: &str) -> Result<()> {
        let rules = self.rules(interface);
        match router.command("nft", &[&rules]) {
            Ok(_) => Ok(()),
            Err(Error::Kernel { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
                Err(Error::Kernel {
                    what: "filters are set by `nft`: apt-get install nftables".to_owned(),
                    source,
                })
            }
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_25_are_those_of_the_text() {
        let rules = Filters::Many.rules("in");
        let conditions: Vec<&str> = rules
            .lines()
            .filter(|line| line.starts_with("    ip saddr"))
            .map(str::trim)
            .collect();
        assert_eq!(conditions.len() as u32, Filters::Many.number());
        assert_eq!(
            conditions[0],
            "ip saddr 198.18.1.1 ip daddr 198.19.101.1 drop"
        );
        assert_eq!(
            conditions[11],
            "ip saddr 198.18.12.12 ip daddr 198.19.112.12 drop"
        );
        assert!(conditions[12].ends_with("accept"));
        assert_eq!(
            conditions[24],
            "ip saddr 198.18.24.24 ip daddr 198.19.124.24 drop"
        );
        let one = Filters::One.rules("eth0");
        assert_eq!(one.matches("saddr").count(), 1);
        assert!(one.contains("iifname \"eth0\""));
        assert_eq!(
            ["0", "1", "2", "25"].map(|text| Filters::of(text).is_some()),
            [false, true, false, true]
        );
    }
}
