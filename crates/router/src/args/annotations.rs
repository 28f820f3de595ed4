//! Annotations as arguments: by name, by offset.

use super::Error;
use super::names::{Names, Space, number};
use trammel_packet::anno;

/// Bytes among the annotations of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct AnnoField {
    /// The first byte.
    pub offset: u8,
    /// How many bytes; 0 where neither the name nor the parameter says.
    pub size: u8,
}

/// Names that Click has besides those of the packets here.
const FURTHER: &[(&str, AnnoField)] = &[
    (
        "GRID_ROUTE_CB",
        AnnoField {
            offset: 27,
            size: 1,
        },
    ),
    (
        "VLAN",
        AnnoField {
            offset: 20,
            size: 2,
        },
    ),
    (
        "WIFI_EXTRA",
        AnnoField {
            offset: 16,
            size: 24,
        },
    ),
];

fn find(name: &str) -> Option<AnnoField> {
    let known = anno::find(name).map(|a| AnnoField {
        offset: a.offset,
        size: a.size,
    });
    known.or_else(|| {
        FURTHER
            .iter()
            .find(|(other, _)| *other == name)
            .map(|(_, field)| *field)
    })
}

/// An annotation of `size` bytes, of any number of them where that is 0.
///
/// A number is an offset, with the size in its upper 16 bits if it has one.
pub(crate) fn parse_anno(text: &str, size: u8, names: &dyn Names) -> Result<AnnoField, Error> {
    let field = if let Some(field) = find(text) {
        field
    } else {
        let packed = number(names, Space::Annotation, text).ok_or(Error::Malformed)?;
        let part = |bits: u32| u8::try_from(bits).map_err(|_| Error::Malformed);
        AnnoField {
            offset: part(packed & 0xffff)?,
            size: part(packed >> 16)?,
        }
    };
    if size != 0 && field.size != 0 && field.size != size {
        return Err(Error::Malformed);
    }
    let field = AnnoField {
        size: if size == 0 { field.size } else { size },
        ..field
    };
    let end = usize::from(field.offset) + usize::from(field.size.max(1));
    if end <= anno::SIZE {
        Ok(field)
    } else {
        Err(Error::Malformed)
    }
}

/// Prints the name of the first annotation with these bytes, or the offset.
impl std::fmt::Display for AnnoField {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let same = |a: &&anno::Anno| a.offset == self.offset && a.size == self.size;
        match anno::ALL.iter().find(same) {
            Some(anno) => f.write_str(anno.name),
            None if self.size == 0 => write!(f, "{}", self.offset),
            None => write!(
                f,
                "{:#x}",
                u32::from(self.size) << 16 | u32::from(self.offset)
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::names::BuiltIn;
    use super::*;
    use proptest::prelude::*;

    fn parse(text: &str, size: u8) -> Option<(u8, u8)> {
        parse_anno(text, size, &BuiltIn)
            .ok()
            .map(|field| (field.offset, field.size))
    }

    #[test]
    fn annotations_have_names_and_offsets() {
        assert_eq!(parse("PAINT", 1), Some((16, 1)));
        assert_eq!(parse("VLAN", 0), Some((20, 2)));
        assert_eq!(parse("7", 1), Some((7, 1)));
        assert_eq!(parse("7", 0), Some((7, 0)));
        assert_eq!(parse("0x40010", 4), Some((16, 4)));
    }

    #[test]
    fn sizes_must_agree_and_fit() {
        assert_eq!(parse("PAINT", 4), None);
        assert_eq!(parse("0x40010", 2), None);
        assert_eq!(parse("47", 1), Some((47, 1)));
        assert_eq!(parse("47", 2), None);
        assert_eq!(parse("48", 0), None);
        assert_eq!(parse("paint", 1), None);
        assert_eq!(parse("4-7", 4), None);
    }

    proptest! {
        #[test]
        fn what_is_printed_reads_back(offset in 0_u8..=40, size in 0_u8..=8) {
            let field = AnnoField { offset, size };
            prop_assert_eq!(parse_anno(&field.to_string(), size, &BuiltIn), Ok(field));
        }

        #[test]
        fn no_text_panics(text in "\\PC{0,12}|[0-9x]{0,20}", size: u8) {
            let _ = parse_anno(&text, size, &BuiltIn);
        }
    }
}
