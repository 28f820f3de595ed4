//! `ar` archives: what `click-fastclassifier` and its like write, a configuration with files beside
//! it.

/// A file of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub data: Vec<u8>,
}

/// What an archive begins with.
pub const MAGIC: &[u8] = b"!<arch>\n";
const HEADER: usize = 60;

/// Reads the members of an archive.
///
/// # Errors
/// Click's words for what is wrong with it.
pub fn members(bytes: &[u8]) -> Result<Vec<Member>, String> {
    let mut rest = bytes.strip_prefix(MAGIC).ok_or("not an archive")?;
    let mut members = Vec::new();
    let mut long_names: &[u8] = &[];
    while rest.len() >= HEADER {
        let (header, after) = rest.split_at(HEADER);
        if &header[58..60] != b"`\n" {
            return Err("bad archive: missing header magic number".to_owned());
        }
        let size = number(&header[48..58]).ok_or("truncated archive")?;
        let Some(mut data) = after.get(..size) else {
            return Err(format!(
                "truncated archive, {} bytes short",
                size - after.len()
            ));
        };
        let padded = size.saturating_add(size % 2).min(after.len());
        rest = &after[padded..];
        let field = &header[..16];
        let name = if field.starts_with(b"// ") {
            long_names = data;
            continue;
        } else if let Some(offset) = field.strip_prefix(b"/").and_then(number) {
            word(long_names.get(offset..).ok_or("bad long name in archive")?)
        } else if let Some(length) = field.strip_prefix(b"#1/").and_then(number) {
            let name = data.get(..length).ok_or("bad long name in archive")?;
            data = &data[length..];
            name
        } else {
            word(field)
        };
        let name = String::from_utf8_lossy(name).into_owned();
        members.push(Member {
            name,
            data: data.to_vec(),
        });
    }
    if rest.is_empty() {
        Ok(members)
    } else {
        Err("truncated archive".to_owned())
    }
}

/// The number that a field holds, blanks after it.
fn number(field: &[u8]) -> Option<usize> {
    std::str::from_utf8(field).ok()?.trim_end().parse().ok()
}

/// The name that `field` begins with, up to a slash or blank.
fn word(field: &[u8]) -> &[u8] {
    let ends = |b: &u8| *b == b'/' || b.is_ascii_whitespace();
    &field[..field.iter().position(ends).unwrap_or(field.len())]
}

/// Writes an archive of `members`, dated 1970.
pub fn write(members: &[Member]) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    for Member { name, data } in members {
        let is_long = name.len() > 14 || name.starts_with("#1/") || name.contains([' ', '/', '\n']);
        let (field, inline) = if is_long {
            (format!("#1/{}", name.len()), name.as_str())
        } else {
            (name.clone(), "")
        };
        let size = inline.len() + data.len();
        out.extend(
            format!(
                "{field:<16}{:<12}{:<6}{:<6}{:<8}{size:<10}`\n",
                0, 0, 0, 644
            )
            .bytes(),
        );
        out.extend(inline.bytes());
        out.extend(data);
        if size % 2 == 1 {
            out.push(b'\n');
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_come_back() {
        let member = |name: &str, data: &[u8]| Member {
            name: name.into(),
            data: data.into(),
        };
        let all = [
            member("config", b"Idle;\n!"),
            member("a name of many letters", b"xy"),
            member("z", b""),
        ];
        assert_eq!(members(&write(&all)), Ok(all.to_vec()));
    }

    #[test]
    fn damage_is_told() {
        assert_eq!(members(b"!<arc"), Err("not an archive".into()));
        let whole = write(&[Member {
            name: "config".into(),
            data: b"abcd".to_vec(),
        }]);
        assert_eq!(
            members(&whole[..70]),
            Err("truncated archive, 2 bytes short".into())
        );
        assert_eq!(members(&whole[..30]), Err("truncated archive".into()));
        let mut bad = whole.clone();
        bad[66] = b'x';
        assert_eq!(
            members(&bad),
            Err("bad archive: missing header magic number".into())
        );
    }
}
