//! The design as numbers, each with its unit, what kind of number it is, and where it comes from.
//!
//! One table, [`PARAMETERS`], holds what a person wants to know of a number; [`Params`] holds the
//! values. A faster or wider design is other values, not other code: [`PRESETS`].

use crate::error::Error;
use trammel_core::label::Label;
use trammel_core::units::nearest;

/// What there is to say of one parameter.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Its name, as the field of [`Params`].
    pub name: &'static str,
    /// What it is.
    pub help: &'static str,
    /// Its unit; empty for a switch or a plain number.
    pub unit: &'static str,
    /// What kind of number the 1G design's value is.
    pub label: Label,
    /// Where the 1G design's value comes from.
    pub source: &'static str,
    /// The least value that makes sense.
    pub least: u64,
    /// The greatest value that makes sense.
    pub most: u64,
}

macro_rules! parameters {
    (
        $(
            $name:ident = $value:expr, $unit:literal, $range:expr, $label:ident, $help:literal,
            $source:literal;
        )*
    ) => {
        /// The values of one design.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct Params {
            $(#[doc = concat!($help, "; `", $unit, "`.")] pub $name: u64,)*
        }

        /// Every parameter, in the order of the stages.
        pub static PARAMETERS: &[Parameter] = &[$(Parameter {
            name: stringify!($name),
            help: $help,
            unit: $unit,
            label: Label::$label,
            source: $source,
            least: *$range.start(),
            most: *$range.end(),
        },)*];

        impl Params {
            /// The reference router of 2008 to 2011 on the 1G board.
            pub const REFERENCE_1G: Params = Params { $($name: $value,)* };

            /// The value of the parameter `name`.
            pub fn get(&self, name: &str) -> Result<u64, Error> {
                match name {
                    $(stringify!($name) => Ok(self.$name),)*
                    _ => Err(unknown(name)),
                }
            }

            /// Gives the parameter `name` a value in its range.
            pub fn set(&mut self, name: &str, value: u64) -> Result<(), Error> {
                let place = match name {
                    $(stringify!($name) => &mut self.$name,)*
                    _ => return Err(unknown(name)),
                };
                in_range(name, value)?;
                *place = value;
                Ok(())
            }
        }
    };
}

const ANY: u64 = 1 << 40;

parameters! {
    clock_ps = 8_000, "ps", 100..=1_000_000, Documented,
        "a cycle of the core clock", "125 MHz";
    bus_bytes = 8, "bytes", 1..=256, Documented,
        "the width of the data path", "64 data bits";
    header_words = 1, "words", 0..=8, Documented,
        "words that the design puts before a frame", "module header";
    ports = 4, "", 1..=16, Documented,
        "Ethernet ports; as many queues to the processor", "four MACs";
    port_mbps = 1_000, "Mbit/s", 1..=1_000_000, Documented,
        "the rate of a port", "GMII";
    phy_ps = 0, "ps", 0..=ANY, Fitted,
        "what a PHY adds in each direction", "not known; 0 compares with the hardware description";
    mac_extra_gap_bytes = 1, "bytes", 0..=64, RtlSimulated,
        "gap after a sent frame beyond the 12 bytes of Ethernet",
            "the open MAC's state machine; a vendor's may have 0";
    rx_fifo_full_bytes = 6_100, "bytes", 64..=ANY, Documented,
        "a frame that begins while this much is in a port's receive FIFO of 8 KiB is dropped",
            "programmable-full threshold";
    rx_cycles = 10, "cycles", 0..=10_000, Fitted,
        "from a frame's last byte to where the input arbiter sees it",
            "part of the 70 cycles of the latency formula";
    lookup_cycles = 22, "cycles", 0..=10_000, Fitted,
        "header parsing, route and ARP look-up, decision",
            "part of the 70 cycles of the latency formula";
    pipeline_words = 40, "words", 1..=ANY, Documented,
        "what fits between input arbiter and memory before the arbiter waits",
            "FIFOs of 32 and 8 words";
    store_setup_cycles = 3, "cycles", 0..=10_000, Documented,
        "between two frames that are written: take the queue's number, ask for its address, latch \
         it",
            "state machine";
    queue_words = 65_536, "words", 1..=ANY, Documented,
        "the memory of an output queue: 512 KiB of data", "default partition of the SRAM";
    queue_reserve_words = 512, "words", 0..=ANY, Documented,
        "a queue with so many free words or fewer is full", "twice the greatest frame";
    ideal_memory = 0, "", 0..=1, Documented,
        "1: reads and writes do not share the memory, as with two ports", "0 is the design";
    write_burst = 20, "words", 0..=10_000, Documented,
        "words after which a write yields to a read that waits; one more is under way",
            "SRAM arbiter";
    read_burst = 15, "words", 0..=10_000, Documented,
        "words after which a read yields to a write that waits; one more is under way",
            "SRAM arbiter";
    turnaround_cycles = 1, "cycles", 0..=10_000, Documented,
        "idle cycles at each change of who has the memory", "SRAM arbiter";
    visible_cycles = 8, "cycles", 1..=10_000, Fitted,
        "from a frame's last written word to where the reader sees its queue filled",
            "part of the 70 cycles of the latency formula";
    read_setup_cycles = 2, "cycles", 0..=10_000, Documented,
        "from finding a queue to asking the memory for its first word", "state machine";
    tx_cycles = 14, "cycles", 0..=10_000, Fitted,
        "from a frame's last word read to the first byte that the MAC sends",
            "part of the 70 cycles of the latency formula";
    tx_fifo_words = 512, "words", 1..=ANY, Documented,
        "a port's transmit FIFO: 4 KiB", "tx queue";
    cpu_fifo_words = 256, "words", 1..=ANY, Documented,
        "the FIFO of a queue to the processor: 2 KiB", "DMA queue";
    dma_setup_ps = 10_000_000, "ps", 0..=ANY, Fitted,
        "of each frame over PCI: setting it up, interrupt", "5 to 20 us are usual";
    pci_ps_per_byte = 16_700, "ps", 1..=ANY, Fitted,
        "a byte over PCI", "32 bits at 33 MHz, used at 45 %";
    host_frames = 448, "frames", 1..=ANY, Fitted,
        "what waits for the software before the driver drops",
            "82,464 of 85,674 bytes, paper 000 section 5.4";
    host_ps = 30_000_000, "ps", 0..=ANY, Fitted,
        "what the software spends on a frame", "20 to 100 us are usual";
    restart_bitfile_bytes = 2_400_000, "bytes", 0..=ANY, Fitted,
        "the configuration of the FPGA", "about the size of a bit file of that part";
    restart_bytes_per_s = 8_000_000, "bytes/s", 1..=ANY, Fitted,
        "at which it is written over PCI", "chosen";
    restart_link_us = 100_000, "us", 0..=ANY, Fitted,
        "MACs and PHYs come up", "chosen";
    restart_registers = 480, "", 0..=ANY, Documented,
        "registers that fill the three tables of 32 entries", "register map";
    restart_register_us = 1, "us", 0..=ANY, Fitted,
        "to write one over PCI", "usual for programmed I/O";
    restart_software_us = 469_520, "us", 0..=ANY, Fitted,
        "the control software starts", "what is left of the 880 ms of paper 000, table 1";
    restart_neighbour_us = 10_000, "us", 0..=ANY, Fitted,
        "the first neighbour's address is resolved", "chosen";
}

/// The stages of the 1G design as wide and fast as those of the boards with 10 Gbit/s.
const REFERENCE_10G: Params = Params {
    clock_ps: 5_000,
    bus_bytes: 32,
    header_words: 0,
    port_mbps: 10_000,
    mac_extra_gap_bytes: 0,
    ideal_memory: 1,
    queue_words: 2_048,
    queue_reserve_words: 64,
    pipeline_words: 64,
    tx_fifo_words: 128,
    rx_fifo_full_bytes: 16_384,
    ..Params::REFERENCE_1G
};

/// Designs by name, with what each is.
pub static PRESETS: &[(&str, &str, Params)] = &[
    (
        "reference-1g",
        "the reference router on the 1G board",
        Params::REFERENCE_1G,
    ),
    (
        "ideal-memory-1g",
        "the same with a memory of two ports and a MAC without the extra gap: line rate",
        Params {
            ideal_memory: 1,
            mac_extra_gap_bytes: 0,
            ..Params::REFERENCE_1G
        },
    ),
    (
        "reference-10g",
        "the 1G design's stages with 256 bits at 200 MHz and four ports at 10 Gbit/s; compared \
         with nothing",
        REFERENCE_10G,
    ),
    (
        "reference-sume",
        "the same behind PCI Express of the third generation with eight lanes, as the SUME board \
         has it; compared with nothing",
        Params {
            dma_setup_ps: 1_000_000,
            pci_ps_per_byte: 160,
            ..REFERENCE_10G
        },
    ),
    (
        "reference-plus",
        "the 1G design's stages with 1024 bits at 250 MHz and four ports at 100 Gbit/s, after \
         NetFPGA PLUS; compared with nothing",
        Params {
            clock_ps: 4_000,
            bus_bytes: 128,
            port_mbps: 100_000,
            dma_setup_ps: 1_000_000,
            pci_ps_per_byte: 80,
            queue_words: 4_096,
            rx_fifo_full_bytes: 65_536,
            ..REFERENCE_10G
        },
    ),
];

/// The design called `name`.
pub fn preset(name: &str) -> Result<Params, Error> {
    let found = PRESETS.iter().find(|(preset, ..)| *preset == name);
    found
        .map(|(.., params)| params.clone())
        .ok_or_else(|| Error::Preset {
            name: name.to_owned(),
            known: PRESETS
                .iter()
                .map(|(name, ..)| format!("`{name}`"))
                .collect::<Vec<_>>()
                .join(", "),
        })
}

impl Params {
    /// Refuses a value that is out of its range, whoever wrote it.
    pub fn check(&self) -> Result<(), Error> {
        for parameter in PARAMETERS {
            in_range(parameter.name, self.get(parameter.name)?)?;
        }
        Ok(())
    }

    /// Picoseconds that a byte takes on a port's line; rates that do not divide 8 Tbit/s are
    /// rounded down.
    pub fn byte_ps(&self) -> u64 {
        (8_000_000 / self.port_mbps).max(1)
    }

    /// Picoseconds that a frame of `frame_bytes` takes on a port's line, with its preamble and the
    /// least gap.
    pub fn line_ps(&self, frame_bytes: u64) -> u64 {
        self.byte_ps() * (frame_bytes + PREAMBLE_BYTES + GAP_BYTES)
    }

    /// Words that a frame of `frame_bytes` with its FCS, which is not stored, takes on the data
    /// path.
    pub fn words(&self, frame_bytes: u64) -> u64 {
        frame_bytes
            .saturating_sub(FCS_BYTES)
            .div_ceil(self.bus_bytes)
            + self.header_words
    }

    /// Frames of `frame_bytes` that a line carries a second.
    pub fn line_fps(&self, frame_bytes: u64) -> f64 {
        1e12 / self.line_ps(frame_bytes) as f64
    }
}

/// Preamble and start-of-frame delimiter (IEEE 802.3 §3.1).
pub(crate) const PREAMBLE_BYTES: u64 = 8;
/// The least gap between frames (IEEE 802.3 §4.4.2).
pub const GAP_BYTES: u64 = 12;
/// The frame check sequence; frame sizes include it.
pub const FCS_BYTES: u64 = 4;

fn unknown(name: &str) -> Error {
    Error::Parameter {
        name: name.to_owned(),
        nearest: nearest(name, PARAMETERS.iter().map(|parameter| parameter.name)),
    }
}

fn in_range(name: &str, value: u64) -> Result<(), Error> {
    let parameter = PARAMETERS.iter().find(|parameter| parameter.name == name);
    let parameter = parameter.ok_or_else(|| unknown(name))?;
    if (parameter.least..=parameter.most).contains(&value) {
        return Ok(());
    }
    Err(Error::OutOfRange {
        name: parameter.name,
        value,
        least: parameter.least,
        most: parameter.most,
        unit: parameter.unit,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_is_in_range_and_found_by_its_name() {
        for (name, _, params) in PRESETS {
            params.check().unwrap();
            assert_eq!(preset(name).as_ref(), Ok(params));
        }
        assert!(
            preset("sume")
                .unwrap_err()
                .to_string()
                .contains("`reference-10g`")
        );
    }

    #[test]
    fn names_lead_to_fields_and_slips_are_told() {
        let mut params = Params::REFERENCE_1G;
        for parameter in PARAMETERS {
            assert!(!parameter.help.is_empty() && !parameter.source.is_empty());
            params.set(parameter.name, parameter.least).unwrap();
            assert_eq!(params.get(parameter.name), Ok(parameter.least));
            if parameter.least > 0 {
                assert!(params.set(parameter.name, parameter.least - 1).is_err());
            }
        }
        assert_eq!(
            params.set("read_brust", 1).unwrap_err().to_string(),
            "`read_brust` is no parameter of the model; did you mean `read_burst`?"
        );
        assert_eq!(
            params.set("ports", 99).unwrap_err().to_string(),
            "`ports` = 99 is out of range; give 1 to 16"
        );
    }

    #[test]
    fn sizes_become_words_and_rates() {
        let params = Params::REFERENCE_1G;
        assert_eq!([64, 65, 1518].map(|size| params.words(size)), [9, 9, 191]);
        assert!((params.line_fps(64) - 1_488_095.238).abs() < 1e-3);
    }
}
