//! Tables for people, and as JSON.

use super::{Tables, Which};
use serde_json::{Value, json};
use std::net::Ipv4Addr;
use trammel_netfpga::tables::{ArpRow, RouteRow};

/// The columns of a table, and its rows.
type Cells = (&'static [&'static str], Vec<Vec<String>>);

impl Tables {
    /// The rows of `which` in use, a line each below a line of headings.
    pub fn text(&self, which: Which) -> String {
        let (columns, rows) = self.cells(which);
        let width = |at: usize| {
            let cells = rows.iter().map(|row| row[at].len());
            cells.chain([columns[at].len()]).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns.len()).map(width).collect();
        let mut text = String::new();
        let heading = columns.iter().map(|name| (*name).to_owned()).collect();
        for row in std::iter::once(&heading).chain(&rows) {
            let cells = row.iter().zip(&widths);
            let line: Vec<String> = cells
                .map(|(cell, width)| format!("{cell:<width$}"))
                .collect();
            text += line.join("  ").trim_end();
            text.push('\n');
        }
        text
    }

    /// The rows of `which` in use, as objects.
    pub fn json(&self, which: Which) -> Value {
        let (columns, rows) = self.cells(which);
        let object = |row: Vec<String>| {
            let cells = columns.iter().zip(row).map(|(name, cell)| {
                let value = cell.parse::<u64>().map_or(json!(cell), Value::from);
                ((*name).to_owned(), value)
            });
            Value::Object(cells.collect())
        };
        rows.into_iter().map(object).collect()
    }

    fn cells(&self, which: Which) -> Cells {
        match which {
            Which::Route => (
                &["row", "network", "mask", "next_hop", "port"],
                rows(&self.routes, &RouteRow::EMPTY, |row| {
                    vec![
                        row.network.to_string(),
                        row.mask.to_string(),
                        row.next_hop.to_string(),
                        ports(row.queues),
                    ]
                }),
            ),
            Which::Arp => (
                &["row", "next_hop", "mac"],
                rows(&self.neighbours, &ArpRow::EMPTY, |row| {
                    vec![row.address.to_string(), mac(row.mac)]
                }),
            ),
            Which::Filter => (
                &["row", "address"],
                rows(&self.filter, &Ipv4Addr::UNSPECIFIED, |row| {
                    vec![row.to_string()]
                }),
            ),
            Which::Mac => {
                let macs = self.macs.iter().enumerate();
                let cells = macs.map(|(port, of)| vec![port.to_string(), mac(*of)]);
                (&["port", "mac"], cells.collect())
            }
        }
    }
}

/// The rows that are not as `empty` is, with their numbers before them.
fn rows<T: PartialEq>(all: &[T], empty: &T, cells: impl Fn(&T) -> Vec<String>) -> Vec<Vec<String>> {
    let used = all.iter().enumerate().filter(|(_, row)| *row != empty);
    used.map(|(number, row)| {
        let mut line = vec![number.to_string()];
        line.extend(cells(row));
        line
    })
    .collect()
}

/// Output queues as ports: `1`, or `host1` for the host's interface beside it.
fn ports(queues: u8) -> String {
    let names = (0..8).filter(|bit| queues >> bit & 1 == 1).map(|bit| {
        let kind = if bit % 2 == 1 { "host" } else { "" };
        format!("{kind}{}", bit / 2)
    });
    let names: Vec<String> = names.collect();
    if names.is_empty() {
        return "none".to_owned();
    }
    names.join(",")
}

fn mac(bytes: [u8; 6]) -> String {
    bytes.map(|byte| format!("{byte:02x}")).join(":")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::Row;
    use trammel_netfpga::{Device, design};

    #[test]
    fn rows_in_use_are_shown_as_text_and_as_objects() {
        let mut card = Device::new(design("reference-router").unwrap());
        let words = ["route", "7", "10.1.0.0/16", "via", "10.2.0.1", "port", "1"];
        Row::parse(&words).unwrap().write(&mut card);
        let tables = Tables::read(&mut card);
        assert_eq!(
            tables.text(Which::Route),
            "row  network   mask         next_hop  port\n\
             7    10.1.0.0  255.255.0.0  10.2.0.1  1\n"
        );
        assert_eq!(
            tables.json(Which::Route),
            json!([{
                "row": 7, "network": "10.1.0.0", "mask": "255.255.0.0", "next_hop": "10.2.0.1",
                "port": 1
            }])
        );
        assert_eq!(tables.text(Which::Arp), "row  next_hop  mac\n");
        assert_eq!(tables.json(Which::Filter), json!([]));
        assert!(
            tables
                .text(Which::Mac)
                .contains("0     ca:fe:f0:0d:00:01\n")
        );
    }
}
