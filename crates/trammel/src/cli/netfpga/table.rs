//! `trammel netfpga table`: the tables of a router by their registers.

use super::place::Place;
use super::words::refused;
use anyhow::anyhow;
use clap::Subcommand;
use std::process::ExitCode;
use trammel_card::tables::{Row, Which};
use trammel_card::{Client, Tables};
use trammel_ground::{DONE, print};
use trammel_netfpga::tables::ROWS;

/// Look at the tables of a card and change them: route, arp, filter, mac
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List the rows that are used, of a table or of all
    #[command(after_help = "Example:\n  trammel netfpga table list route --json")]
    List {
        /// The table: route, arp, filter or mac
        #[arg(value_name = "TABLE", value_parser = Which::find)]
        table: Option<Which>,
        /// Write them as JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        place: Place,
    },
    /// Write a row; the lowest row of `route` that matches a packet counts
    ///
    /// route ROW NETWORK/BITS [via NEXT_HOP] port N; arp ROW ADDRESS MAC; filter ROW ADDRESS; mac
    /// PORT MAC. A network may have a mask instead of bits, and any mask. Without a next hop, it is
    /// the packet's destination.
    #[command(
        after_help = "Examples:\n  trammel netfpga table set route 0 10.1.0.0/16 via 10.2.0.1 port \
                      1\n  trammel netfpga table set arp 0 10.2.0.1 02:00:00:00:00:01\n  trammel \
                      netfpga table set filter 0 10.2.0.254"
    )]
    Set {
        #[command(flatten)]
        place: Place,
        /// Table, row and fields
        #[arg(value_name = "ROW", required = true)]
        words: Vec<String>,
    },
    /// Empty a row, a table or all tables; MAC addresses stay
    #[command(after_help = "Example:\n  trammel netfpga table clear route 3")]
    Clear {
        /// The table: route, arp or filter
        #[arg(value_name = "TABLE", value_parser = Which::find)]
        table: Option<Which>,
        /// The row
        #[arg(value_name = "ROW", value_parser = row)]
        row: Option<usize>,
        #[command(flatten)]
        place: Place,
    },
}

fn row(word: &str) -> Result<usize, String> {
    let row = word.parse().ok().filter(|row| *row < ROWS);
    row.ok_or_else(|| format!("rows are 0 to {}", ROWS - 1))
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    match &args.command {
        Command::List { table, json, place } => list(&mut router(place)?, *table, *json)?,
        Command::Set { place, words } => {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let row = Row::parse(&words).map_err(anyhow::Error::msg)?;
            let mut card = router(place)?;
            card.together(|accesses| row.write(accesses))
                .map_err(refused)?;
        }
        Command::Clear { table, row, place } => {
            if *table == Some(Which::Mac) {
                return Err(anyhow!(
                    "MAC addresses cannot be cleared: `table set mac PORT MAC` gives others"
                ));
            }
            clear(&mut router(place)?, *table, *row)?;
        }
    }
    Ok(ExitCode::from(DONE))
}

/// A card that has the tables.
fn router(place: &Place) -> anyhow::Result<Client> {
    let card = place.connect()?;
    let design = card.design();
    if design.map().find("ROUTER_OP_LUT_MAC_0_HI").is_err() {
        return Err(anyhow!(
            "`{}` has no such tables: use `trammel netfpga reg`, or run `reference-router`",
            design.name
        ));
    }
    Ok(card)
}

fn list(card: &mut Client, table: Option<Which>, is_json: bool) -> anyhow::Result<()> {
    let read = card.together(|accesses| Tables::read(accesses));
    let tables = read.map_err(refused)?;
    let wanted = |which: &Which| table.is_none_or(|table| table == *which);
    let all: Vec<Which> = Which::ALL.into_iter().filter(wanted).collect();
    if is_json {
        let all = all
            .into_iter()
            .map(|which| (which.name().to_owned(), tables.json(which)));
        return Ok(print(
            &serde_json::Value::Object(all.collect()).to_string(),
        )?);
    }
    let text = |which: &Which| match table {
        Some(_) => tables.text(*which),
        None => format!("{}\n{}", which.name(), tables.text(*which)),
    };
    let texts: Vec<String> = all.iter().map(text).collect();
    Ok(print(texts.join("\n").trim_end())?)
}

fn clear(card: &mut Client, table: Option<Which>, row: Option<usize>) -> anyhow::Result<()> {
    let wanted = |which: &Which| table.is_none_or(|table| table == *which);
    let rows = row.map_or(0..ROWS, |row| row..row + 1);
    let cleared = card.together(|accesses| {
        for which in Which::ALL.into_iter().filter(wanted) {
            for row in rows.clone() {
                if let Some(empty) = Row::empty(which, row) {
                    empty.write(accesses);
                }
            }
        }
    });
    cleared.map_err(refused)
}
