//! From packets to a dump.

use super::VERSION;
use super::fields::Fields;
use super::row::{Value, Width};
use super::tcp_options;
use super::text::{put, quote};
use super::view::{Care, View};
use std::io::Write;
use trammel_packet::packet::Packet;

/// How a dump is written.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Records in binary, not lines.
    pub is_binary: bool,
    /// A line `!bad …` before a packet whose headers are wrong.
    pub bad_packets: bool,
    /// Such a line also before packets that are shorter than their IP length.
    pub careful_truncation: bool,
    /// Lengths count the EXTRA_LENGTH annotation.
    pub extra_length: bool,
}

impl Default for Options {
    /// As ToIPSummaryDump without arguments.
    fn default() -> Options {
        Options {
            is_binary: false,
            bad_packets: false,
            careful_truncation: true,
            extra_length: true,
        }
    }
}

/// Writes packets as a dump of some fields.
#[derive(Clone, Debug)]
pub struct Writer {
    fields: Fields,
    needs_ip: bool,
    options: Options,
}

/// A record that is no packet.
const METADATA: u32 = 1 << 31;

impl Writer {
    /// A writer; or the fields that have no binary form, where that was asked for.
    pub fn new(fields: Fields, options: Options) -> Result<Writer, Vec<&'static str>> {
        let never = fields
            .rows
            .iter()
            .filter(|row| options.is_binary && row.width == Width::Never);
        let never: Vec<_> = never.map(|row| row.name).collect();
        if !never.is_empty() {
            return Err(never);
        }
        let needs_ip = fields.rows.iter().any(|row| row.needs_ip());
        Ok(Writer {
            fields,
            needs_ip,
            options,
        })
    }

    /// Writes the head of a dump: version, creator where there is one, further lines as they are
    /// (each with `!` and newline), fields, and the mark of a binary dump.
    pub fn header(&self, creator: &str, lines: &str, out: &mut Vec<u8>) {
        put!(out, "!IPSummaryDump {}.{}\n", VERSION.0, VERSION.1);
        if !creator.is_empty() {
            out.extend(b"!creator ");
            quote(out, creator.as_bytes());
            out.push(b'\n');
        }
        out.extend(lines.as_bytes());
        out.extend(b"!data ");
        for (n, name) in self.fields.names().enumerate() {
            // In text, both are the same.
            let is_time = name == "ntimestamp" && !self.options.is_binary;
            put!(
                out,
                "{}{}",
                if n > 0 { " " } else { "" },
                if is_time { "timestamp" } else { name }
            );
        }
        out.push(b'\n');
        if self.options.is_binary {
            out.extend(b"!binary\n");
        }
    }

    /// Appends a packet's line or record, and before it, if asked for, what is wrong with the
    /// packet.
    pub fn packet(&self, packet: &Packet, out: &mut Vec<u8>) {
        let care = Care {
            truncation: self.options.careful_truncation,
            extra_length: self.options.extra_length,
        };
        let mut view = View::new(packet, self.needs_ip, care);
        let start = out.len();
        if self.options.is_binary {
            out.extend([0; 4]);
        }
        for (n, row) in self.fields.rows.iter().enumerate() {
            if n > 0 && !self.options.is_binary {
                out.push(b' ');
            }
            let value = (row.get)(&view);
            let missing = value.as_ref().err().copied();
            if self.options.is_binary {
                binary(row.name, row.width, value.ok(), out);
            } else {
                match value {
                    Ok(value) => (row.print)(&value, &view, out),
                    Err(_) => out.push(b'-'),
                }
            }
            if let Some(missing) = missing {
                view.note(missing);
            }
        }
        if self.options.is_binary {
            let len = (out.len() - start) as u32;
            out[start..start + 4].copy_from_slice(&len.to_be_bytes());
        } else {
            out.push(b'\n');
        }
        if let Some(what) = view.bad.filter(|_| self.options.bad_packets) {
            let mut line = Vec::new();
            self.line(format!("!bad {what}\n").as_bytes(), &mut line);
            out.splice(start..start, line);
        }
    }

    /// Appends a line that is no packet; it ends with a newline.
    pub fn line(&self, line: &[u8], out: &mut Vec<u8>) {
        if self.options.is_binary {
            // Differs from Click 2.1, which reads the length's own four bytes as counted, but
            // writes it without.
            out.extend((METADATA | (line.len() as u32 + 4)).to_be_bytes());
        }
        out.extend(line);
    }

    /// Appends a comment.
    pub fn note(&self, text: &str, out: &mut Vec<u8>) {
        self.line(
            format!("#{}\n", text.trim_end_matches('\n')).as_bytes(),
            out,
        );
    }

    /// The fields.
    pub fn fields(&self) -> &Fields {
        &self.fields
    }
}

/// Appends the line of `packet`, without its newline.
pub fn write_line(packet: &Packet, fields: &Fields, out: &mut Vec<u8>) {
    let needs_ip = fields.rows.iter().any(|row| row.needs_ip());
    let view = View::new(
        packet,
        needs_ip,
        Care {
            truncation: true,
            extra_length: true,
        },
    );
    for (n, row) in fields.rows.iter().enumerate() {
        if n > 0 {
            out.push(b' ');
        }
        match (row.get)(&view) {
            Ok(value) => (row.print)(&value, &view, out),
            Err(_) => out.push(b'-'),
        }
    }
}

/// Appends a value in binary; what is missing is zero.
fn binary(name: &str, width: Width, value: Option<Value<'_>>, out: &mut Vec<u8>) {
    let start = out.len();
    match (width, value) {
        (Width::Never, _) => {}
        (Width::Counted, value) => {
            let Some(Value::Bytes(options)) = value else {
                return out.push(0);
            };
            let options = match name {
                "tcp_ntopt" => tcp_options::not_time(&options).into(),
                "tcp_sack" => tcp_options::sack(&options).into(),
                _ => options,
            };
            out.push(options.len() as u8);
            out.extend(&*options);
        }
        (Width::TimeMicro | Width::TimeNano, value) => {
            let Some(Value::Time(time)) = value else {
                return out.extend([0; 8]);
            };
            let secs = (time.secs() as u32).to_be_bytes();
            let ns = time.subsec_ns() as u32;
            match width {
                Width::TimeMicro => out.extend([secs, (ns / 1000).to_be_bytes()].concat()),
                _ => out.extend([ns.to_be_bytes(), secs].concat()),
            }
        }
        (Width::Bytes(bytes), value) => {
            match value {
                Some(Value::Number(number)) => {
                    out.extend(&number.to_be_bytes()[8 - bytes.min(8)..]);
                }
                Some(Value::Ether(address)) => out.extend(address),
                Some(Value::Bytes(digest)) => out.extend(&*digest),
                _ => {}
            }
            out.resize(start + bytes, 0);
        }
    }
}
