//! Edits: what a body asks for, and how it reaches the registers.

use super::window::undisturbed;
use crate::tables::{Row, Which};
use serde_json::Value;
use trammel_netfpga::registers::{Access, Map, Registers};
use trammel_netfpga::tables::ROWS;

/// Words of a row, at most.
const MOST_WORDS: usize = 16;

/// A change of the card.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Edit {
    /// Writes a row of a table, full or empty.
    Row(Row),
    /// Writes a register by its address.
    Register(u32, u32),
    /// Sets every counter to 0.
    ClearCounters,
}

/// Reads an edit from a body, or says what would be one.
type Read = fn(&Value, &Map) -> Result<Edit, String>;

/// How the edits that are sent to `path` are read; none where no edit is.
pub(super) fn kind(path: &str) -> Option<Read> {
    match path {
        "/api/table/set" => Some(set),
        "/api/table/clear" => Some(clear),
        "/api/register" => Some(register),
        "/api/counters/clear" => Some(|_, _| Ok(Edit::ClearCounters)),
        _ => None,
    }
}

fn set(body: &Value, map: &Map) -> Result<Edit, String> {
    let form = "the body is {\"row\": \"route 0 10.1.0.0/16 via 10.2.0.1 port 1\"}";
    let text = body["row"].as_str().ok_or(form)?;
    let words: Vec<&str> = text.split_whitespace().take(MOST_WORDS).collect();
    has_tables(map)?;
    Ok(Edit::Row(Row::parse(&words)?))
}

fn clear(body: &Value, map: &Map) -> Result<Edit, String> {
    let form = "the body is {\"table\": \"route\", \"row\": 0}";
    let which = Which::find(body["table"].as_str().ok_or(form)?)?;
    let row = body["row"].as_u64().ok_or(form)?;
    has_tables(map)?;
    let place = usize::try_from(row).ok().filter(|row| *row < ROWS);
    let place = place.ok_or_else(|| format!("`{row}` is no row: they are 0 to {}", ROWS - 1))?;
    let empty = Row::empty(which, place);
    empty
        .map(Edit::Row)
        .ok_or_else(|| "a port always has a MAC address: set another one".to_owned())
}

fn has_tables(map: &Map) -> Result<(), String> {
    let found = map.find("ROUTER_OP_LUT_MAC_0_HI");
    found
        .map(drop)
        .map_err(|_| "the design of this card has no tables".to_owned())
}

fn register(body: &Value, map: &Map) -> Result<Edit, String> {
    let form = "the body is {\"register\": \"OQ_QUEUE_0_MAX_PKTS_IN_Q\", \"value\": 8}";
    let name = body["register"].as_str().ok_or(form)?;
    let value = body["value"].as_u64().ok_or(form)?;
    let named = map.find(name).map_err(|near| {
        let hint = near.map_or_else(String::new, |near| format!(": did you mean `{near}`?"));
        format!("no register `{}`{hint}", name.escape_default())
    })?;
    if named.register.access == Access::Read {
        return Err(format!("`{}` is only read", named.name));
    }
    let value = u32::try_from(value).map_err(|_| "a register has 32 bits".to_owned())?;
    Ok(Edit::Register(named.address, value))
}

impl Edit {
    /// Does it.
    pub(super) fn apply(&self, map: &Map, registers: &mut impl Registers) {
        match self {
            Edit::Row(row) => undisturbed(registers, |registers| row.write(registers)),
            Edit::Register(address, value) => registers.write(*address, *value),
            Edit::ClearCounters => {
                let all = map.all();
                let counters = all.filter(|named| named.register.access == Access::Counter);
                counters.for_each(|named| registers.write(named.address, 0));
            }
        }
    }
}
