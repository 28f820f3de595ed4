//! Addresses with their prefixes.

use std::net::Ipv4Addr;

/// The address and the mask that `text` says, such as `10.1.0.1/24`; or what is wrong with it.
pub(super) fn read(text: &str) -> Result<(Ipv4Addr, Ipv4Addr), &'static str> {
    let (address, length) = text.split_once('/').ok_or("it has no prefix")?;
    let address: Ipv4Addr = address
        .parse()
        .map_err(|_| "this is no address of four numbers from 0 to 255")?;
    let length = length.parse::<u32>().ok();
    let length = length.filter(|length| (1..=31).contains(length));
    let length = length.ok_or("a prefix is from 1 to 31 bits long")?;
    let mask = Ipv4Addr::from(u32::MAX << (32 - length));
    let first = address.octets()[0];
    if !(1..=223).contains(&first) || first == 127 {
        return Err("no host has such an address");
    }
    let is_end = address & mask == address || address | !mask == address;
    if length < 31 && is_end {
        return Err("it names all hosts of its subnet");
    }
    Ok((address, mask))
}

/// Whether two subnets have an address in common.
pub(super) fn overlap(one: (Ipv4Addr, Ipv4Addr), other: (Ipv4Addr, Ipv4Addr)) -> bool {
    let mask = one.1 & other.1;
    one.0 & mask == other.0 & mask
}

/// A subnet as people write it.
pub(super) fn show((network, mask): (Ipv4Addr, Ipv4Addr)) -> String {
    format!("{network}/{}", u32::from(mask).count_ones())
}
