//! A program that listens, and says first where.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, ChildStderr, Command, Stdio};

/// Starts `command`: the program, the address that its first line ends with, and what it says from
/// then on.
pub(crate) fn listening(command: &mut Command) -> (Child, SocketAddr, BufReader<ChildStderr>) {
    let started = command.stderr(Stdio::piped()).spawn();
    let mut child = started.expect("it starts");
    let mut said = BufReader::new(child.stderr.take().expect("the stream is piped"));
    let mut line = String::new();
    said.read_line(&mut line)
        .expect("the other end writes a line");
    let address = line.trim_end().rsplit(' ').next().expect("the last word");
    (child, address.parse().expect(&line), said)
}
