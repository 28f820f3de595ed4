//! Makes mappings for the data connections that FTP's PORT commands announce.
//!
//! # What it does
//! A packet of a control connection that begins with a PORT command gets the address and port by
//! which the data connection will be seen on the other side; the mapping is made in `DATA_REWRITER`
//! as if a packet had come by its input. As the command changes its length, `CONTROL_REWRITER`,
//! which must come after, moves sequence numbers from there on. Only a whole command at the front
//! of a packet is seen.
//!
//! # Example
//! ```click
//! // The addresses within FTP's commands are translated too, and the way is opened for its data.
//! rw :: TCPRewriter(pattern 1.0.0.1 1024-65535 - - 0 1, drop);
//! m :: FTPPortMapper(rw, rw, 0) -> [0] rw;
//! FromDevice(eth0) -> Strip(14) -> CheckIPHeader -> c :: IPClassifier(tcp dst port 21, tcp, -);
//! c[0] -> m; c[1] -> [0] rw; c[2] -> Discard;
//! FromDevice(eth1) -> Strip(14) -> CheckIPHeader -> [1] rw; rw[0] -> Discard; rw[1] -> Discard
//! ```
//!
//! # References
//! RFC 959 §5.3.1 (PORT), RFC 2663 §4.1.1 (application level gateways).

use super::shared::rewriter::element::lookup::Want;
use super::shared::rewriter::element::{Class, Rewriter};
use super::shared::rewriter::flow::FlowId;
use crate::args::{Args, Kind, Param, kinds::INT, mandatory};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::element::PHASE_LATE;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, ElementId};
use crate::headers::ip_packet::final_header;
use trammel_packet::batch::Packets;
use trammel_packet::headers::checksum::Sum;
use trammel_packet::headers::ipv4::{self, Ipv4, protocol};
use trammel_packet::headers::tcp::Tcp;
use trammel_packet::packet::Packet;
use trammel_packet::pool::Handle;

const fn element(name: &'static str, help: &'static str) -> Param {
    mandatory(name, Kind::Element, help)
}

/// The class.
pub static ENTRY: Entry = Entry::new(
    "FTPPortMapper",
    "makes mappings for FTP's data connections",
    || Box::<FtpPortMapper>::default(),
)
.phase(PHASE_LATE)
.params(&[
    element("CONTROL_REWRITER", "the rewriter of the control connection"),
    element("DATA_REWRITER", "the rewriter of the data connections"),
    mandatory(
        "DATA_REWRITER_INPUT",
        INT,
        "by which of its inputs mappings are made",
    ),
])
.ops("parse(20); parse(20); work(70)");

#[derive(Debug, Default)]
struct FtpPortMapper {
    control: ElementId,
    data: ElementId,
    input: usize,
}

/// A packet with a PORT command.
#[derive(Debug, PartialEq, Eq)]
struct Command {
    flow: FlowId,
    sequence: u32,
    /// Where the payload begins and ends, from the start of the data.
    payload: [usize; 2],
    /// Where the numbers of the command begin and end.
    numbers: [usize; 2],
    address: u32,
    port: u16,
}

/// `PORT` and six numbers with commas between them, to the end of a line: the place of the numbers,
/// and address and port.
fn parse(payload: &[u8]) -> Option<([usize; 2], u32, u16)> {
    let arguments = payload
        .get(5..)
        .filter(|_| payload[..4].eq_ignore_ascii_case(b"PORT"))?;
    let spaces = arguments.iter().take_while(|byte| **byte == b' ').count();
    if payload[4] != b' ' {
        return None;
    }
    let arguments = &arguments[spaces..];
    let end = arguments
        .iter()
        .position(|byte| !byte.is_ascii_digit() && *byte != b',')?;
    if !matches!(arguments[end], b'\r' | b'\n') {
        return None;
    }
    let text = std::str::from_utf8(&arguments[..end]).ok()?;
    let mut numbers = [0_u8; 6];
    let mut parts = text.split(',');
    for number in &mut numbers {
        *number = parts.next()?.parse().ok()?;
    }
    let [a, b, c, d, high, low] = numbers;
    let place = [5 + spaces, 5 + spaces + end];
    let address = u32::from_be_bytes([a, b, c, d]);
    parts
        .next()
        .is_none()
        .then_some((place, address, u16::from_be_bytes([high, low])))
}

fn command(packet: &Packet) -> Option<Command> {
    let ip = Ipv4::read(packet.network_header())?;
    let tcp = Tcp::read(packet.transport_header())?;
    if ip.protocol != protocol::TCP || !ip.is_first_fragment() || tcp.header_len() < Tcp::LEN {
        return None;
    }
    let network = usize::try_from(packet.network_header_at()?).ok()?;
    let transport = usize::try_from(packet.transport_header_at()?).ok()?;
    let begin = transport + tcp.header_len();
    // What stands after the IP packet is padding, not payload.
    let end = packet
        .len()
        .min(network + usize::from(ip.total_length.get()));
    let (numbers, address, port) = parse(packet.data().get(begin..end)?)?;
    Some(Command {
        flow: FlowId {
            src: u32::from_be_bytes(ip.src),
            dst: u32::from_be_bytes(ip.dst),
            sport: tcp.sport.get(),
            dport: tcp.dport.get(),
        },
        sequence: tcp.seq.get(),
        payload: [begin, end],
        numbers: numbers.map(|at| begin + at),
        address,
        port,
    })
}

/// Replaces the numbers of the command; says how much longer the packet became.
fn replace(packet: &mut Packet, command: &Command, address: u32, port: u16) -> i32 {
    let [a, b, c, d] = address.to_be_bytes();
    let [high, low] = port.to_be_bytes();
    let mut text = [0_u8; 24];
    let mut len = 0;
    for (at, number) in [a, b, c, d, high, low].into_iter().enumerate() {
        let digits = [number / 100, number / 10 % 10, number % 10];
        let first = digits.iter().position(|digit| *digit != 0).unwrap_or(2);
        if at > 0 {
            text[len] = b',';
            len += 1;
        }
        for digit in &digits[first..] {
            text[len] = b'0' + digit;
            len += 1;
        }
    }
    let ([begin, end], last) = (command.numbers, command.payload[1]);
    packet.take(packet.len() - last);
    let (old, tail) = (end - begin, last - end);
    if len > old {
        packet.put(len - old);
    }
    let data = packet.data_mut();
    data.copy_within(end..last, begin + len);
    data[begin..begin + len].copy_from_slice(&text[..len]);
    packet.take(packet.len() - (begin + len + tail));
    let header = packet.network_header_mut();
    let total = header.len() as u16;
    if let Some(ip) = Ipv4::read_mut(header) {
        ip.total_length.set(total);
    }
    ipv4::set_checksum(header);
    let ip = final_header(packet.network_header()).unwrap_or_default();
    let segment = packet.transport_header_mut();
    let sum = Sum::ZERO.pseudo_v4(ip.src, ip.dst, protocol::TCP, segment.len() as u16);
    if let Some(tcp) = Tcp::read_mut(segment) {
        tcp.checksum.set(0);
    }
    let checksum = sum.bytes(segment).checksum();
    if let Some(tcp) = Tcp::read_mut(segment) {
        tcp.checksum.set(checksum);
    }
    len as i32 - old as i32
}

impl FtpPortMapper {
    /// Translates the command of a packet, where it has one and the rewriters know the connection.
    fn translate(&self, ctx: &mut Ctx, packet: &Handle) -> Option<()> {
        let command = command(&ctx.pool()[packet])?;
        let ask = |ctx: &mut Ctx, rewriter, flow, want| {
            let found = ctx.with_element(rewriter, |one: &mut Rewriter, ctx| {
                one.lookup(ctx, protocol::TCP, flow, want)
            });
            found?
        };
        let control = ask(ctx, self.control, command.flow, Want::Check)?;
        let data = FlowId {
            src: command.address,
            sport: command.port,
            dst: command.flow.dst,
            // The server's data port is the one below its control port.
            dport: command.flow.dport.wrapping_sub(1),
        };
        let forward = ask(ctx, self.data, data, Want::Make(self.input))?;
        let to = forward.rewritten;
        let longer = replace(&mut ctx.pool()[packet], &command, to.src, to.sport);
        let [begin, end] = command.payload;
        let from = command.sequence.wrapping_add((end - begin) as u32);
        ctx.with_element(self.control, |one: &mut Rewriter, ctx| {
            one.move_sequence(ctx, control.entry, from, longer);
        });
        ctx.with_element(self.data, |one: &mut Rewriter, ctx| {
            one.set_reply_anno(ctx, forward.entry, control.reply_anno);
        })
    }
}

impl Element for FtpPortMapper {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let mut errors = Diagnostics::new();
        let mut rewriter = |name: &str, is: &str| {
            let id = args.element(name).filter(|id| setup.is::<Rewriter>(*id));
            if id.is_none() {
                let text = format!("{name}: element type mismatch, expected {is}");
                errors.error(None, text);
            }
            id.unwrap_or(0)
        };
        self.control = rewriter("CONTROL_REWRITER", "TCPRewriter");
        self.data = rewriter("DATA_REWRITER", "IPRewriterBase");
        if errors.has_errors() {
            return Err(errors);
        }
        let inputs = setup.ports_of(self.data).0 as i64;
        let input = args.int("DATA_REWRITER_INPUT");
        if !(0..inputs).contains(&input) {
            errors.error(None, "DATA_REWRITER_INPUT out of range");
            return Err(errors);
        }
        self.input = input as usize;
        Ok(())
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        let class = ctx.get::<Rewriter>(self.control).map(|one| one.class());
        match class {
            Some(Class::Ip | Class::Tcp) => Ok(()),
            _ => Err("CONTROL_REWRITER: element type mismatch, expected TCPRewriter".into()),
        }
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        for packet in batch.iter() {
            self.translate(ctx, packet);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_command_with_six_bytes_is_one() {
        let good = ([5, 20], 0x0102_0304, 0x0102);
        assert_eq!(
            parse(b"PORT 1,2,3,4,1,002\r\n"),
            Some(([5, 18], good.1, good.2))
        );
        assert_eq!(
            parse(b"port   1,2,3,4,1,2\nx"),
            Some(([7, 18], good.1, good.2))
        );
        for bad in [
            &b"PORT 1,2,3,4,1,2"[..],
            b"PORT 1,2,3,4,1\n",
            b"PORT 1,2,3,4,1,2,3\n",
            b"PORT 1,2,3,4,1,256\n",
            b"PORT1,2,3,4,1,2\n",
            b"PORT 1,2,,4,1,2\n",
            b"POR",
            b"",
        ] {
            assert_eq!(parse(bad), None, "{:?}", String::from_utf8_lossy(bad));
        }
    }
}
