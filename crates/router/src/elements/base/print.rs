//! Prints each packet on standard error.
//!
//! # What it does
//! One line a packet: the label, the time, the length, the room before and after the data,
//! annotations, and bytes as hexadecimal digits or as text.
//!
//! # Example
//! ```click
//! // The first 20 bytes of each packet, in hexadecimal, after `in`.
//! FromDevice(eth0) -> Print(in, 20) -> Discard
//! ```

use crate::args::kinds::INT;
use crate::args::numbers::parse_bool;
use crate::args::times::unparse_timestamp;
use crate::args::{Args, Kind, flag, keyword, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use std::fmt::Write;
use trammel_packet::batch::Packets;
use trammel_packet::packet::Packet;

/// The class.
pub static ENTRY: Entry = Entry::new("Print", "prints packets", || Box::<Print>::default())
    .live()
    .params(&[
        positional("LABEL", Kind::Text, "", "printed first"),
        positional("MAXLENGTH", INT, "24", "bytes printed; -1 is all"),
        keyword("LENGTH", INT, "", "as `MAXLENGTH`"),
        keyword("NBYTES", INT, "", "as `MAXLENGTH`"),
        keyword("CONTENTS", Kind::Word, "HEX", "`HEX`, `ASCII` or `NONE`"),
        flag("TIMESTAMP", "false", "whether the time is printed"),
        flag("PRINTANNO", "false", "whether annotations are"),
        flag("ACTIVE", "true", "whether it prints"),
        flag("HEADROOM", "false", "whether the room around the data is"),
    ])
    .ops("work(360 * length + 1500)");

/// Bytes that are taken to be printed where no bound is given: those of a common frame.
const LONGEST: usize = 1514;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Contents {
    None,
    #[default]
    Hex,
    Ascii,
}

#[derive(Debug, Default)]
struct Print {
    label: String,
    /// `None`: all.
    bytes: Option<usize>,
    contents: Contents,
    stamps: bool,
    annotations: bool,
    room: bool,
    active: bool,
    /// The line that is made, kept for its memory.
    line: String,
}

impl Print {
    fn describe(&mut self, packet: &Packet) -> std::fmt::Result {
        let line = &mut self.line;
        line.clear();
        line.push_str(&self.label);
        let mut separator = if self.label.is_empty() { "" } else { ": " };
        if self.stamps {
            write!(line, "{separator}{}", unparse_timestamp(packet.timestamp()))?;
            separator = ": ";
        }
        write!(line, "{separator}{:4}", packet.len())?;
        if self.room {
            write!(line, " (h{} t{})", packet.headroom(), packet.tailroom())?;
        }
        if self.annotations {
            line.push_str(" | ");
            for byte in packet.annotations() {
                write!(line, "{byte:02x}")?;
            }
        }
        let data = packet.data();
        let data = &data[..self.bytes.unwrap_or(data.len()).min(data.len())];
        if !data.is_empty() && self.contents != Contents::None {
            line.push_str(" | ");
        }
        for (at, byte) in data.iter().enumerate() {
            match self.contents {
                Contents::None => break,
                Contents::Hex => {
                    let space = if at > 0 && at % 4 == 0 { " " } else { "" };
                    write!(line, "{space}{byte:02x}")?;
                }
                Contents::Ascii => {
                    if at % 8 == 0 {
                        line.push(' ');
                    }
                    let printable = (32..127).contains(byte);
                    line.push(if printable { char::from(*byte) } else { '.' });
                }
            }
        }
        line.push('\n');
        Ok(())
    }
}

impl Element for Print {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let given = args.text("CONTENTS");
        self.contents = match (parse_bool(given), given.to_ascii_uppercase().as_str()) {
            (Ok(false), _) | (_, "NONE") => Contents::None,
            (Ok(true), _) | (_, "HEX") => Contents::Hex,
            (_, "ASCII") => Contents::Ascii,
            (_, other) => {
                let text =
                    format!("bad contents value '{other}'; should be 'NONE', 'HEX', or 'ASCII'");
                return Err(Diagnostics::of(text));
            }
        };
        args.text("LABEL").clone_into(&mut self.label);
        let old = ["LENGTH", "NBYTES"].into_iter();
        let bytes = old.filter_map(|name| args.opt_int(name)).next_back();
        self.bytes = usize::try_from(bytes.unwrap_or(args.int("MAXLENGTH"))).ok();
        self.stamps = args.bool("TIMESTAMP");
        self.annotations = args.bool("PRINTANNO");
        self.room = args.bool("HEADROOM");
        self.active = args.bool("ACTIVE");
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        if !self.active {
            return;
        }
        for packet in batch.iter() {
            self.describe(&ctx.pool()[packet])
                .expect("a string takes any text");
            ctx.host().say(&self.line);
        }
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![Handler::new("active", "rwc.")]
    }

    fn read(&mut self, _: &mut Ctx, _: &str, _: &str) -> Result<String, String> {
        Ok(self.active.to_string())
    }

    fn write(&mut self, _: &mut Ctx, _: &str, value: &str) -> Result<(), String> {
        self.active = parse_bool(value.trim()).map_err(|_| "syntax error".to_owned())?;
        Ok(())
    }

    fn quantities(&self) -> Vec<(&'static str, f64)> {
        let length = match self.contents {
            Contents::None => 0,
            _ => self.bytes.unwrap_or(LONGEST),
        };
        vec![("length", length as f64)]
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::{errors, loaded};

    fn says(print: &str) -> String {
        let mut run = loaded(&format!(
            "InfiniteSource(\\<00 41 ff 7e 20 41 42 43 44 45>, LIMIT 1, STOP true) -> {print} \
             -> Discard"
        ));
        run.run(1.0);
        run.host.memory().said.clone()
    }

    #[test]
    fn lines_have_the_form_that_was_asked_for() {
        assert_eq!(says("Print"), "  10 | 0041ff7e 20414243 4445\n");
        assert_eq!(says("Print(a, 2)"), "a:   10 | 0041\n");
        assert_eq!(says("Print(CONTENTS ASCII)"), "  10 |  .A.~ ABC DE\n");
        assert_eq!(says("Print(x, CONTENTS none)"), "x:   10\n");
        assert_eq!(says("Print(ACTIVE false)"), "");
        let all = format!("  10 | {}\n", "00".repeat(48));
        assert_eq!(says("Print(PRINTANNO true, CONTENTS false)"), all);
        assert!(says("Print(TIMESTAMP true)").starts_with("1000000000."));
        assert!(
            errors("Idle -> Print(CONTENTS foo) -> Discard")
                .contains("bad contents value 'FOO'; should be 'NONE', 'HEX', or 'ASCII'")
        );
    }
}
