//! What transformations know of a class: how packets pass through it, whether it makes or ends
//! them.
//!
//! Port codes come from the class itself where this build has it. What no port code tells is in a
//! table; for a class that is in neither, its ports tell: without inputs it makes packets, without
//! outputs it ends them.

use crate::elements;

/// Whether packets begin or end in an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// They pass.
    Passes,
    /// They begin.
    Makes,
    /// They end.
    Ends,
    /// Both.
    MakesAndEnds,
}

/// A row of the table.
struct Row {
    class: &'static str,
    role: Option<Role>,
    wants_alignment: bool,
    mixes: bool,
}

const fn role(class: &'static str, role: Role) -> Row {
    Row {
        class,
        role: Some(role),
        wants_alignment: false,
        mixes: false,
    }
}

const fn aligned(class: &'static str) -> Row {
    Row {
        class,
        role: None,
        wants_alignment: true,
        mixes: false,
    }
}

/// Sorted by class.
const TABLE: &[Row] = &[
    Row {
        class: "ARPQuerier",
        role: None,
        wants_alignment: false,
        mixes: true,
    },
    aligned("CheckIPHeader"),
    aligned("CheckIPHeader2"),
    aligned("Classifier"),
    role("DRRSched", Role::Passes),
    aligned("DynamicUDPIPEncap"),
    aligned("ICMPIPEncap"),
    aligned("ICMPPingEncap"),
    aligned("IPInputCombo"),
    role("Idle", Role::Passes),
    role("InfiniteSource", Role::Makes),
    role("KernelTap", Role::MakesAndEnds),
    role("KernelTun", Role::MakesAndEnds),
    role("PrioSched", Role::Passes),
    role("RawSocket", Role::MakesAndEnds),
    role("RoundRobinSched", Role::Passes),
    role("RouterLink", Role::MakesAndEnds),
    role("SimplePrioSched", Role::Passes),
    role("SimpleRoundRobinSched", Role::Passes),
    role("Socket", Role::MakesAndEnds),
    role("StrideSched", Role::Passes),
    role("TimeSortedSched", Role::Passes),
    role("ToDevice", Role::Ends),
    role("ToDump", Role::Ends),
    role("ToHost", Role::Ends),
    role("ToIPSummaryDump", Role::Ends),
    aligned("UDPIP6Encap"),
    aligned("UDPIPEncap"),
];

fn row(class: &str) -> Option<&'static Row> {
    let at = TABLE.binary_search_by(|row| row.class.cmp(class)).ok()?;
    Some(&TABLE[at])
}

/// Whether packets begin or end in an element of `class` that has this many ports.
pub(crate) fn role_of(class: &str, inputs: usize, outputs: usize) -> Role {
    let known = row(class).and_then(|row| row.role);
    known.unwrap_or(match (inputs, outputs) {
        (0, 0) => Role::MakesAndEnds,
        (0, _) => Role::Makes,
        (_, 0) => Role::Ends,
        _ => Role::Passes,
    })
}

/// Whether elements of `class` ask `AlignmentInfo` how their packets are aligned.
pub(crate) fn wants_alignment(class: &str) -> bool {
    row(class).is_some_and(|row| row.wants_alignment)
}

/// Which inputs' packets leave by which outputs.
pub(crate) fn flow(class: &str) -> &'static str {
    elements::find(class).map_or("x/x", |entry| entry.flow)
}

/// Which inputs keep an element alive by which outputs: as [`flow`], but that an answer at one
/// input lets packets of another leave.
pub(crate) fn liveness(class: &str) -> &'static str {
    match row(class) {
        Some(row) if row.mixes => "x/x",
        _ => flow(class),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted() {
        assert!(TABLE.is_sorted_by(|a, b| a.class < b.class));
    }

    #[test]
    fn ports_tell_where_the_table_does_not() {
        assert_eq!(role_of("Whatever", 0, 1), Role::Makes);
        assert_eq!(role_of("Whatever", 2, 0), Role::Ends);
        assert_eq!(role_of("ToDevice", 1, 1), Role::Ends);
        assert!(wants_alignment("Classifier") && !wants_alignment("Whatever"));
    }
}
