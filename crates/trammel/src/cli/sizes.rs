//! Numbers of bytes of the command line.

use trammel_core::units::{Dimension, Quantity};
use trammel_scenario::traffic::words::is_share;

/// Reads a number of bytes: `512`, `64 KB`.
pub(super) fn parse(text: &str) -> Result<u64, String> {
    let wanted = [Dimension::Bytes, Dimension::Ratio];
    let quantity = Quantity::parse_as(text, &wanted).map_err(|why| why.to_string())?;
    if is_share(text) {
        return Err("give a number of bytes, such as `64 KB`".to_owned());
    }
    if (1.0..=1e18).contains(&quantity.value) {
        return Ok(quantity.value as u64);
    }
    Err("it must be from 1 byte on".to_owned())
}
