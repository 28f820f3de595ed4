//! Fields of a block's body, taken one after the other without ever reading past its end.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};

/// What is left of a body.
pub(super) struct Fields<'a>(pub(super) &'a [u8]);

impl Fields<'_> {
    pub(super) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (field, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*field)
    }

    /// An unsigned number of `bytes`, at most 8.
    pub(super) fn number(&mut self, bytes: usize) -> Option<u64> {
        let (field, rest) = self.0.split_at_checked(bytes)?;
        self.0 = rest;
        Some(
            field
                .iter()
                .fold(0, |number, byte| number << 8 | u64::from(*byte)),
        )
    }

    pub(super) fn text(&mut self) -> Option<String> {
        let [length] = self.array()?;
        let (text, rest) = self.0.split_at_checked(usize::from(length))?;
        self.0 = rest;
        str::from_utf8(text).ok().map(String::from)
    }

    /// An address or none; `None` where it is neither.
    #[expect(
        clippy::option_option,
        reason = "a field that may hold nothing, and fields end as all others here"
    )]
    pub(super) fn address(&mut self) -> Option<Option<SocketAddr>> {
        Some(match self.array()? {
            [0] => None,
            [4] => {
                let ip = Ipv4Addr::from(self.array::<4>()?);
                Some(SocketAddrV4::new(ip, u16::from_be_bytes(self.array()?)).into())
            }
            [6] => {
                let ip = Ipv6Addr::from(self.array::<16>()?);
                let port = u16::from_be_bytes(self.array()?);
                let label = u32::from_be_bytes(self.array()?);
                let scope = u32::from_be_bytes(self.array()?);
                Some(SocketAddrV6::new(ip, port, label, scope).into())
            }
            _ => return None,
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Texts are at most 255 bytes long: writers check it.
pub(super) fn put_text(body: &mut Vec<u8>, text: &str) {
    body.push(text.len() as u8);
    body.extend(text.as_bytes());
}

pub(super) fn put_address(body: &mut Vec<u8>, address: Option<SocketAddr>) {
    match address {
        None => body.push(0),
        Some(SocketAddr::V4(address)) => {
            body.push(4);
            body.extend(address.ip().octets());
            body.extend(address.port().to_be_bytes());
        }
        Some(SocketAddr::V6(address)) => {
            body.push(6);
            body.extend(address.ip().octets());
            body.extend(address.port().to_be_bytes());
            body.extend(address.flowinfo().to_be_bytes());
            body.extend(address.scope_id().to_be_bytes());
        }
    }
}
