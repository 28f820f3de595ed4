//! `trammel netfpga reg`: registers by name or address.

use super::place::Place;
use super::words::refused;
use anyhow::anyhow;
use clap::Subcommand;
use serde_json::{Map as Object, Value};
use std::process::ExitCode;
use std::time::Duration;
use trammel_ground::{DONE, output_lost, print};
use trammel_netfpga::registers::{Access, Map};

/// Bits of an address.
const ADDRESS_BITS: u32 = 27;
/// Registers that are watched at once, at most.
const MOST_WATCHED: usize = 1024;

/// Read, write and watch the registers of a card, by name or address
///
/// A name may be in small letters and without `_REG`. An address without a register reads
/// 0xdeadbeef.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Read registers, all at the same instant
    #[command(
        after_help = "Example:\n  trammel netfpga reg read router_op_lut_num_pkts_forwarded \
                      0x2000020"
    )]
    Read {
        /// Names or addresses
        #[arg(value_name = "REGISTER", required = true)]
        registers: Vec<String>,
        #[command(flatten)]
        how: How,
    },
    /// Write registers in turn, with nothing in between
    #[command(after_help = "Example:\n  trammel netfpga reg write router_op_lut_num_wrong_dest 0")]
    Write {
        /// A name or address and a value, and so on
        #[arg(value_name = "REGISTER VALUE", required = true)]
        pairs: Vec<String>,
        #[command(flatten)]
        place: Place,
    },
    /// Read all registers, or those whose names have one of some parts, at the same instant
    #[command(after_help = "Example:\n  trammel netfpga reg dump mac_grp_0 oq_queue_2")]
    Dump {
        /// Parts of names
        #[arg(value_name = "PART")]
        parts: Vec<String>,
        /// Leave out those that are 0
        #[arg(long)]
        nonzero: bool,
        #[command(flatten)]
        how: How,
    },
    /// Write registers whenever they change
    #[command(
        after_help = "Example:\n  trammel netfpga reg watch --interval 100 router_op_lut_num"
    )]
    Watch {
        /// Parts of names, or addresses [default: all counters]
        #[arg(value_name = "PART")]
        parts: Vec<String>,
        /// Least milliseconds between two lines of the same register, 10 to 60000
        #[arg(long, value_name = "MS", default_value_t = 1000,
              value_parser = clap::value_parser!(u32).range(10..=60_000))]
        interval: u32,
        /// End after so many changes of any of them
        #[arg(long, value_name = "N")]
        count: Option<u64>,
        #[command(flatten)]
        how: How,
    },
    /// Write a header for C with the addresses of a design's registers
    #[command(after_help = "Example:\n  trammel netfpga reg header > registers.h")]
    Header {
        /// The design
        #[arg(long, value_name = "DESIGN", default_value = "reference-router")]
        design: String,
    },
}

#[derive(Debug, clap::Args)]
struct How {
    /// Write them as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: Place,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    match &args.command {
        Command::Read { registers, how } => {
            let mut card = how.place.connect()?;
            let map = card.map();
            let addresses = registers.iter().map(|word| address(&map, word));
            let addresses = addresses.collect::<anyhow::Result<Vec<u32>>>()?;
            let values = card.read_many(addresses.iter().copied()).map_err(refused)?;
            let pairs: Vec<(u32, u32)> = addresses.into_iter().zip(values).collect();
            show(&map, &pairs, how.json)?;
        }
        Command::Write { pairs, place } => write(pairs, place)?,
        Command::Dump {
            parts,
            nonzero,
            how,
        } => {
            let mut card = how.place.connect()?;
            let map = card.map();
            let mut all = card.dump().map_err(refused)?;
            let chosen = chosen(&map, parts)?;
            all.retain(|(address, value)| chosen.contains(address) && !(*nonzero && *value == 0));
            show(&map, &all, how.json)?;
        }
        Command::Watch {
            parts,
            interval,
            count,
            how,
        } => watch(parts, *interval, *count, how)?,
        Command::Header { design } => {
            let map = trammel_netfpga::design(design)?.map();
            print(map.c_header().trim_end())?;
        }
    }
    Ok(ExitCode::from(DONE))
}

/// A number, in decimal or with `0x`.
fn number(word: &str) -> Option<u32> {
    match word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")) {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => word.parse().ok(),
    }
}

/// The address that a word means.
fn address(map: &Map, word: &str) -> anyhow::Result<u32> {
    if let Some(address) = number(word) {
        if address >> ADDRESS_BITS != 0 || !address.is_multiple_of(4) {
            return Err(anyhow!(
                "`{word}` is no register's address: they are multiples of 4 below 0x{:x}",
                1_u32 << ADDRESS_BITS
            ));
        }
        return Ok(address);
    }
    let found = map.find(word).map_err(|near| {
        let hint = near.map_or_else(
            || "`trammel netfpga reg dump` lists them".to_owned(),
            |near| format!("did you mean `{near}`?"),
        );
        anyhow!("no register `{word}`: {hint}")
    })?;
    Ok(found.address)
}

/// The addresses of the registers whose names have one of `parts`; of all where there are none.
fn chosen(map: &Map, parts: &[String]) -> anyhow::Result<Vec<u32>> {
    if parts.is_empty() {
        return Ok(map.all().map(|named| named.address).collect());
    }
    let mut all = Vec::new();
    for part in parts {
        let upper = part.to_ascii_uppercase();
        let before = all.len();
        let matching = map.all().filter(|named| named.name.contains(&upper));
        all.extend(matching.map(|named| named.address));
        if all.len() == before {
            // An address, or the nearest name is told.
            all.push(address(map, part)?);
        }
    }
    all.sort_unstable();
    all.dedup();
    Ok(all)
}

fn write(words: &[String], place: &Place) -> anyhow::Result<()> {
    let mut card = place.connect()?;
    let map = card.map();
    let mut writes = Vec::new();
    for pair in words.chunks(2) {
        let [register, value] = pair else {
            return Err(anyhow!("`{}` has no value: give one after it", pair[0]));
        };
        let value = number(value)
            .ok_or_else(|| anyhow!("`{value}` is no value: 0 to 4294967295, or as 0x…"))?;
        let address = address(&map, register)?;
        if let Some(named) = map.at(address)
            && named.register.access == Access::Read
        {
            return Err(anyhow!("`{}` can only be read", named.name));
        }
        writes.push((address, value));
    }
    card.write_many(&writes).map_err(refused)
}

fn watch(parts: &[String], interval: u32, count: Option<u64>, how: &How) -> anyhow::Result<()> {
    let mut card = how.place.connect()?;
    let map = card.map();
    let addresses = if parts.is_empty() {
        let counters = map
            .all()
            .filter(|named| named.register.access == Access::Counter);
        counters.map(|named| named.address).collect()
    } else {
        chosen(&map, parts)?
    };
    if addresses.len() > MOST_WATCHED {
        return Err(anyhow!(
            "{} registers to watch: name parts that at most {MOST_WATCHED} have",
            addresses.len()
        ));
    }
    let mut left = count;
    let interval = Duration::from_millis(interval.into());
    let watched = card.watch(&addresses, interval, |changed| {
        if let Err(why) = show(&map, changed, how.json) {
            output_lost(why);
            return false;
        }
        left = left.map(|left| left.saturating_sub(1));
        left != Some(0)
    });
    watched.map_err(refused)
}

/// Writes registers: address, name and value in both notations, or an object.
fn show(map: &Map, pairs: &[(u32, u32)], is_json: bool) -> std::io::Result<()> {
    let name = |address: u32| map.at(address).map(|named| named.name);
    if is_json {
        let entry = |(address, value): &(u32, u32)| {
            let name = name(*address).unwrap_or_else(|| format!("0x{address:07x}"));
            (name, Value::from(*value))
        };
        let object: Object<String, Value> = pairs.iter().map(entry).collect();
        return print(&Value::Object(object).to_string());
    }
    let line = |(address, value): &(u32, u32)| {
        let name = name(*address).unwrap_or_else(|| "-".to_owned());
        format!("0x{address:07x}  {name}  {value}  0x{value:08x}")
    };
    let lines: Vec<String> = pairs.iter().map(line).collect();
    if lines.is_empty() {
        return Ok(());
    }
    print(&lines.join("\n"))
}
