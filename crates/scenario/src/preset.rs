//! Named paths: the keys that `path.preset` stands for where the file does not give them.

/// A named path.
#[derive(Debug)]
pub struct Preset {
    /// Its name.
    pub name: &'static str,
    /// What it is like, in a line.
    pub summary: &'static str,
    /// Its keys of `[path]`, as TOML.
    pub keys: &'static str,
}

/// Every preset, from the nearest to the farthest.
pub static PRESETS: &[Preset] = &[
    Preset {
        name: "datacentre-10g",
        summary: "one switch of a data centre: 10 Gbit/s, 100 us",
        keys: "rate = '10 Gbit/s'\nrtt = '100 us'\nqueue = { limit = '200 packets' }",
    },
    Preset {
        name: "lan-1g",
        summary: "a campus network: 1 Gbit/s, 1 ms",
        keys: "rate = '1 Gbit/s'\nrtt = '1 ms'\nqueue = { limit = '1000 packets' }",
    },
    Preset {
        name: "wifi-80211g",
        summary: "a good 802.11g cell, then 20 ms of Internet",
        keys: "rtt = '20 ms'\nwifi = { received_power = '-55 dBm' }\n\
               queue = { limit = '256 packets' }",
    },
    Preset {
        name: "dsl-16",
        summary: "an ADSL2+ line: 16 Mbit/s down, 1 Mbit/s up, 30 ms",
        keys: "rate = '16 Mbit/s'\nack_rate = '1 Mbit/s'\nrtt = '30 ms'\n\
               queue = { limit = '256 kB' }",
    },
    Preset {
        name: "transatlantic-1g",
        summary: "a clean long path: 1 Gbit/s, 80 ms",
        keys: "rate = '1 Gbit/s'\nrtt = '80 ms'",
    },
    Preset {
        name: "satellite-626",
        summary: "a geostationary satellite: 10 Mbit/s, 626 ms round trip",
        keys: "rate = '10 Mbit/s'\nrtt = '626 ms'",
    },
];

/// The preset called `name`.
pub fn find(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::File;

    #[test]
    fn every_preset_reads_clean_but_for_plug_ins_not_built() {
        for preset in PRESETS {
            let text = format!(
                "path.preset = '{}'\nflow = [{{ variant = 'reno' }}]",
                preset.name
            );
            let outcome = File::parse("preset", &text, std::path::Path::new("."));
            assert!(outcome.is_ok(), "{}: {}", preset.name, outcome.unwrap_err());
        }
    }
}
