//! The words of ITGRecv's command line.

use super::error::Error;
use super::flags::{Flag, Part, row};
use super::reader::Reader;
use crate::itg::command::Serve;

const DEVICE: &str = "a network device";

/// What ITGRecv understands.
#[rustfmt::skip] // one flag a line
pub(super) static FLAGS: &[Flag] = &[
    row(
        Part::Flow, "-a", "an address or a host's name", "-a 10.0.0.2",
        |r| { r.serve.address = Some(r.host()?); Ok(()) }
    ),
    row(
        Part::Flow, "-Sp", "a port, 0 to 65535", "-Sp 9000",
        |r| { r.serve.port = Some(r.port()?); Ok(()) }
    ),
    row(
        Part::Flow, "-l", "the name of a file", "-l receiver.log",
        |r| { r.serve.log = Some(r.optional("/tmp/ITGRecv.log")); Ok(()) }
    ),
    row(
        Part::Flow, "-L",
        "a log server's address, port and protocol (UDP or TCP), each of which may be left out",
        "-L a:10.0.0.9 p:9001 P:TCP",
        |r| { r.serve.log_server = Some(r.server_by_parts()?); Ok(()) }
    ),
    row(Part::Flow, "-q", "packets, 1 or more", "-q 50", |r| {
        r.serve.batch = Some(r.whole(1, u32::MAX.into())? as u32);
        r.serve.remarks.push(
            "`-q`: packets are logged one by one into a buffer, which is written as it fills and \
             as flows end; a log server gets so many at a time"
                .to_owned(),
        );
        Ok(())
    }),
    row(
        Part::Flow, "-i", DEVICE, "-i eth0",
        |r| { r.serve.device = Some(r.word()?.to_owned()); Ok(()) }
    ),
    row(
        Part::Flow, "-Si", DEVICE, "-Si eth0",
        |r| { r.serve.signalling_device = Some(r.word()?.to_owned()); Ok(()) }
    ),
    row(
        Part::Flow, "-H", "the address of a sender", "-H 10.0.0.1",
        |r| { r.serve.passive = Some(r.host()?); Ok(()) }
    ),
    row(
        Part::Flow, "-n", "a number of datagrams", "-n 3",
        |r| { r.serve.punches = Some(r.whole(0, 1000)? as u32); Ok(()) }
    ),
    row(
        Part::Flow, "-P", "nothing", "-P",
        |r| { r.serve.remarks.push("`-P` is for Windows and does nothing here".to_owned()); Ok(()) }
    ),
];

/// Reads the command line of ITGRecv, without the program's name.
///
/// # Errors
/// If it is not one; the message names the word.
pub fn serve<S: AsRef<str>>(words: &[S]) -> Result<Serve, Error> {
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    let mut reader = Reader::new(&words, false);
    while let Some(word) = words.get(reader.at).copied() {
        reader.at += 1;
        let Some(flag) = FLAGS.iter().find(|flag| flag.word == word) else {
            return Err(Error::UnknownToReceiver(word.to_owned()));
        };
        reader.flag = flag;
        (flag.set)(&mut reader)?;
    }
    Ok(reader.serve)
}
