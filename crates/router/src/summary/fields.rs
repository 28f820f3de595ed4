//! The fields of a summary, in the order of its line.

use super::row::Row;
use super::scan::words;
use super::table::{FIELDS, NONE};
use super::text::unquote;

/// A list of fields.
#[derive(Clone, Debug, Default)]
pub struct Fields {
    pub(super) rows: Vec<&'static Row>,
}

impl Fields {
    /// Reads names separated by spaces, for writing or reading. Names may be quoted, then may have
    /// a space for an underscore; `ip_` may be left out: `src` is `ip_src`. Gives the fields, with
    /// a column that is always missing for each unknown name, and the unknown names.
    pub fn parse(text: &str) -> (Fields, Vec<String>) {
        let mut fields = Fields::default();
        let mut unknown = Vec::new();
        for word in words(text.as_bytes()) {
            let name = String::from_utf8_lossy(&unquote(word)).into_owned();
            fields.rows.push(find(&name).unwrap_or(&NONE));
            if find(&name).is_none() {
                unknown.push(name);
            }
        }
        (fields, unknown)
    }

    /// The canonical names.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.rows.iter().map(|row| row.name)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Whether the field of this canonical name is among them; `count` matters to MULTIPACKET.
    pub fn has(&self, name: &str) -> bool {
        self.names().any(|other| other == name)
    }
}

/// Every field's canonical name, in the order of the table.
pub fn all() -> impl Iterator<Item = &'static str> {
    FIELDS.iter().map(|row| row.name)
}

fn find(name: &str) -> Option<&'static Row> {
    let is_it = |row: &&Row| row.name == name || row.aliases.contains(&name);
    if let Some(row) = FIELDS.iter().find(is_it) {
        return Some(row);
    }
    if name.contains(' ') {
        return find(&name.replacen(' ', "_", 1));
    }
    if name.contains('_') {
        return None;
    }
    find(&format!("ip_{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_aliases_spaces_and_a_default_prefix() {
        let (fields, unknown) = Fields::parse("src \"tcp seq\" ts proto length  colour ip_colour");
        let names: Vec<_> = fields.names().collect();
        assert_eq!(
            names[..5],
            ["ip_src", "tcp_seq", "timestamp", "ip_proto", "ip_len"]
        );
        assert_eq!(fields.len(), 7);
        assert_eq!(unknown, ["colour", "ip_colour"]);
    }

    #[test]
    fn no_two_fields_share_a_name() {
        let mut names: Vec<_> = FIELDS
            .iter()
            .flat_map(|row| row.aliases.iter().copied().chain([row.name]))
            .collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
