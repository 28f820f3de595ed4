//! A function that is a NetFPGA card: `design = "reference-router"`.

use crate::reader::Reader;
use crate::tree::Extent;
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use trammel_card::tables::read_rows;
use trammel_core::units::nearest;
use trammel_netfpga::params::preset;
use trammel_workbench::source::os_text;

/// A NetFPGA card that is tested between its ports 0 and 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardUnderTest {
    /// Its design.
    pub design: String,
    /// Its timing, by a name of `trammel list devices`.
    pub model: String,
    /// A file with the rows of its tables; without one they are those for RFC 2544's networks.
    pub tables: Option<PathBuf>,
}

/// The designs that are tested so.
const DESIGNS: [&str; 1] = ["reference-router"];
/// Keys that only a card has.
const OWN: [&str; 2] = ["model", "tables"];
/// Keys that it has not.
const OTHERS: [&str; 4] = ["define", "vary", "sample", "frames"];
/// Bytes of a file of tables, at most.
const LONGEST_FILE: u64 = 1 << 20;

/// Notes keys of a card that stand beside a file or a list.
pub(super) fn refuse_own_keys(r: &Reader<'_>) {
    for key in OWN {
        if let Some(entry) = r.entry(key) {
            let what = format!("`{key}` is of a design");
            let help = "leave it out, or give `design` in place of the file";
            r.cx.fault(&entry.node.span, what, "this function is a program", help);
        }
    }
}

/// Reads the card of one `[[function]]` whose streams come in at these ports, or at both where they
/// say none; nothing after a fault. The number is of ports at which frames come in.
pub(super) fn card<'s>(
    r: &Reader<'_>,
    streams: impl Iterator<Item = Option<(usize, &'s Extent)>>,
) -> Option<(CardUnderTest, usize)> {
    let span = |key: &str| r.entry(key).map_or(r.span.clone(), |e| e.node.span.clone());
    let mut is_right = true;
    let design = r.text("design")?;
    if !DESIGNS.contains(&design.as_str()) {
        let help = match nearest(&design, DESIGNS.into_iter()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there is `{}`", DESIGNS.join("`, `")),
        };
        let what = format!("no design `{design}` is tested so");
        r.cx.fault(&span("design"), what, "unknown name", help);
        is_right = false;
    }
    for key in OTHERS {
        if let Some(entry) = r.entry(key) {
            let what = format!("a card has no `{key}`");
            let why = "it is offered the frames of RFC 2544";
            r.cx.fault(&entry.node.span, what, why, "leave it out");
            is_right = false;
        }
    }
    let model = r.text("model")?;
    if let Err(why) = preset(&model) {
        let help = "`trammel list devices` shows all";
        r.cx.fault(
            &span("model"),
            format!("no model `{model}`"),
            why.to_string(),
            help,
        );
        is_right = false;
    }
    let tables = r.text("tables").map(|file| r.cx.dir.join(file));
    if let Some(file) = &tables {
        let name = file.display().to_string();
        let mut text = String::new();
        let read = File::open(file)
            .and_then(|file| file.take(LONGEST_FILE).read_to_string(&mut text))
            .map_err(|why| format!("{name}: {}", os_text(&why)))
            .and_then(|_| read_rows(&name, &text));
        if let Err(why) = read {
            let help =
                "give a file with a row in each line, as `trammel netfpga table set` takes it";
            let what = "`tables` cannot be used";
            r.cx.fault(&span("tables"), what, why, help);
            is_right = false;
        }
    }
    let mut froms = Vec::new();
    for from in streams {
        let Some((port, span)) = from else {
            froms.extend([0, 1]);
            continue;
        };
        if port > 1 {
            let what = format!("`{design}` has no port {port} here");
            let why = "it is tested between its ports 0 and 1";
            r.cx.fault(span, what, why, "give 0 or 1");
            is_right = false;
        }
        froms.push(port);
    }
    froms.sort_unstable();
    froms.dedup();
    if froms == [1] {
        let what = "frames come in at port 1 alone";
        let help = "give `from = 0`, or a stream for each of the two";
        r.cx.fault(
            &r.span,
            what,
            "a card is tested from port 0, or both ways",
            help,
        );
        is_right = false;
    }
    let card = CardUnderTest {
        design,
        model,
        tables,
    };
    is_right.then(|| (card, froms.len().max(1)))
}
