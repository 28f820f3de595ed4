//! Where an element writes an address, and which: `[ADDR,] OFFSET`, the offset a number, `src` or
//! `dst`.

use crate::args::numbers::parse_uint;
use crate::args::{Args, Error, Kind, Need, Param};
use crate::diagnostic::Diagnostics;

/// The arguments.
pub(crate) const PARAMS: &[Param] = &[Param {
    name: "PLACES",
    need: Need::Rest,
    kind: Kind::Raw,
    default: "",
    help: "an address, if given, and an offset, `src` or `dst`",
}];

/// Where the address goes, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    /// From the start of the data.
    Data(usize),
    /// From the start of the network header.
    Header(usize),
}

impl Default for Place {
    fn default() -> Place {
        Place::Data(0)
    }
}

/// The address that is given, if one is, as `parse` reads it, and the place; `header` is where the
/// network header has its source and its destination.
pub(crate) fn read<A>(
    args: &Args,
    parse: impl Fn(&str) -> Result<A, Error>,
    header: [usize; 2],
) -> Result<(Option<A>, Place), Diagnostics> {
    let mut said = Diagnostics::new();
    let (address, place) = match args.rest() {
        [place] => (None, place),
        [address, place] => match parse(address) {
            Ok(address) => (Some(address), place),
            Err(why) => {
                said.error(None, format!("ADDR: {why}"));
                (None, place)
            }
        },
        [] => {
            said.error(None, "OFFSET: required argument missing");
            return Err(said);
        }
        _ => {
            said.error(None, "too many arguments");
            return Err(said);
        }
    };
    let place = match place.to_ascii_lowercase().as_str() {
        "src" => Place::Header(header[0]),
        "dst" => Place::Header(header[1]),
        number => match parse_uint(number, i32::MAX as u64) {
            Ok(at) => Place::Data(at as usize),
            Err(_) => {
                said.error(None, "type mismatch: OFFSET requires integer");
                Place::default()
            }
        },
    };
    if said.has_errors() {
        Err(said)
    } else {
        Ok((address, place))
    }
}
