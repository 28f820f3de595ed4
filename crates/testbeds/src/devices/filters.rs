//! Filters of the kernel's router, by nftables: none, one, or RFC 2544's 25.

use trammel_io::error::{Error, Result};
use trammel_io::netns::Namespace;

/// The conditions that refuse frames of nobody, before the one that lets the test frames pass.
const REFUSING: u8 = 24;

/// How many conditions there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filters {
    /// Test frames pass, all else does not.
    One,
    /// So too, behind 24 conditions that refuse frames of others.
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
            Filters::Many => u32::from(REFUSING) + 1,
        }
    }

    /// The rules for what comes in at `interface`, as `nft` reads them.
    //= rfc2544 §11.4
    //# The last filter SHOULD permit
    //# the forwarding of the test data stream.
    // Differs from RFC 2544, §11.4.1, which has that one between the 12th and the 13th of the
    // others, and counts the networks of the first three 100, 101 and 103 where it has 100 + n for
    // the rest: all are 100 + n here. What is let through are the networks of the test frames, of
    // which there may be many, and not one pair of addresses.
    fn rules(self, interface: &str) -> String {
        let refused = match self {
            Filters::One => 0,
            Filters::Many => REFUSING,
        };
        let refuse = |n: u8| {
            let away = 100 + n;
            format!("    ip saddr 198.18.{n}.{n} ip daddr 198.19.{away}.{n} drop\n")
        };
        let refusing: String = (1..=refused).map(refuse).collect();
        format!(
            "table ip bench {{
  chain conditions {{
{refusing}    ip saddr 198.18.0.0/16 ip daddr 198.19.0.0/16 accept
    drop
  }}
  chain forward {{
    type filter hook forward priority filter;
    iifname \"{interface}\" jump conditions
  }}
}}"
        )
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
        assert_eq!(
            conditions[23],
            "ip saddr 198.18.24.24 ip daddr 198.19.124.24 drop"
        );
        assert!(conditions[24].ends_with("accept"));
        let one = Filters::One.rules("eth0");
        assert_eq!(one.matches("saddr").count(), 1);
        assert!(one.contains("iifname \"eth0\""));
        assert_eq!(
            ["0", "1", "2", "25"].map(|text| Filters::of(text).is_some()),
            [false, true, false, true]
        );
    }
}
