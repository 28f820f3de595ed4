//! Both sides of a signalling channel, without sockets and clocks: bytes go in, bytes and actions
//! come out.
//!
//! ```text
//! Sender:   Hello → [Log →] Open (each flow) → packets, finish(flow) … → Close → done
//! Receiver: Accept → [Log →] Open (action) → opened(flow) … → End (action) → ended(flow) → Closed → done
//! ```
//! In the passive mode (`-H`) the receiver answers `opened` with port 0, the sender says that its
//! port listens, and the receiver comes to it. What a peer may make ours hold is bounded:
//! [`MOST_FLOWS`] flows, and bytes of one message.

use super::signalling::{Error, LogName, Message, Open, Side};
use crate::record::Protocol;
use std::collections::{BTreeSet, VecDeque};
use std::net::IpAddr;

/// Flows of one channel, at most.
pub const MOST_FLOWS: usize = 4096;

/// Bytes that came, as far as they are no whole message yet, and bytes that are to go.
#[derive(Clone, Debug, Default)]
struct Channel {
    inwards: Vec<u8>,
    outwards: Vec<u8>,
}

impl Channel {
    fn next(&mut self, side: Side) -> Result<Option<Message>, Error> {
        Ok(
            Message::decode(&self.inwards, side)?.map(|(message, used)| {
                self.inwards.drain(..used);
                message
            }),
        )
    }

    fn send(&mut self, message: &Message) {
        message.encode(&mut self.outwards);
    }
}

/// What the caller of a [`Sender`] is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sent {
    /// The receiver waits for packets of this flow at this port, or comes to ours where that is 0:
    /// send them, then call [`Sender::finish`].
    Start {
        /// The flow.
        flow: u32,
        /// The port.
        port: u16,
    },
    /// The receiver will not have this flow.
    Refused {
        /// The flow.
        flow: u32,
    },
    /// The receiver has closed this flow.
    Ended {
        /// The flow.
        flow: u32,
    },
    /// All is over; close the channel.
    Done,
}

/// The side of ITGSend.
#[derive(Debug)]
pub struct Sender {
    channel: Channel,
    waiting: VecDeque<Open>,
    log: Option<Message>,
    asked: Option<u32>,
    running: BTreeSet<u32>,
    is_accepted: bool,
    is_closing: bool,
    is_passive: bool,
}

impl Sender {
    /// A channel for these flows, whose ports wait already where the mode is passive, with the
    /// receiver's log if there is a name; more than [`MOST_FLOWS`] are left out.
    #[must_use]
    pub fn new(flows: impl IntoIterator<Item = Open>, log: Option<LogName>) -> Sender {
        let mut channel = Channel::default();
        channel.send(&Message::Hello);
        let waiting: VecDeque<Open> = flows.into_iter().take(MOST_FLOWS).collect();
        Sender {
            channel,
            is_passive: waiting.iter().any(|open| open.back.is_some()),
            waiting,
            log: log.map(Message::Log),
            asked: None,
            running: BTreeSet::new(),
            is_accepted: false,
            is_closing: false,
        }
    }

    /// The receiver's log is to go to a server instead, under this name.
    #[must_use]
    pub fn with_log_server(self, server: IpAddr, protocol: Protocol, name: LogName) -> Sender {
        let log = Some(Message::LogAt {
            server,
            protocol,
            name,
        });
        Sender { log, ..self }
    }

    /// What is to be sent to the receiver now.
    pub fn take_outgoing(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.channel.outwards)
    }

    /// Takes bytes from the receiver.
    ///
    /// # Errors
    /// If they are no message that may come now; the channel is of no more use then.
    pub fn receive(&mut self, bytes: &[u8]) -> Result<Vec<Sent>, Error> {
        self.channel.inwards.extend(bytes);
        let mut told = Vec::new();
        while let Some(message) = self.channel.next(Side::Receiver)? {
            match message {
                Message::Accept if !self.is_accepted => {
                    self.is_accepted = true;
                    match self.log.take() {
                        Some(log) => self.channel.send(&log),
                        None => self.ask(),
                    }
                }
                Message::LogReady | Message::LogAtReady
                    if self.is_accepted && self.asked.is_none() && self.running.is_empty() =>
                {
                    self.ask();
                }
                Message::Opened { flow, port } if self.asked == Some(flow) => {
                    self.running.insert(flow);
                    if self.is_passive {
                        self.channel.send(&Message::Listening { flow });
                    }
                    told.push(Sent::Start { flow, port });
                    self.ask();
                }
                Message::Refused { flow } if self.asked == Some(flow) => {
                    told.push(Sent::Refused { flow });
                    self.ask();
                }
                Message::Ended { flow } if self.running.remove(&flow) => {
                    told.push(Sent::Ended { flow });
                    self.close_if_over();
                }
                Message::Closed if self.is_closing => told.push(Sent::Done),
                other => return Err(Error::OutOfTurn(other.kind())),
            }
        }
        Ok(told)
    }

    /// All packets of a flow are sent.
    pub fn finish(&mut self, flow: u32) {
        if self.running.contains(&flow) {
            self.channel.send(&Message::End { flow });
        }
    }

    fn ask(&mut self) {
        self.asked = self.waiting.pop_front().map(|open| {
            let flow = open.flow;
            self.channel.send(&Message::Open(open));
            flow
        });
        self.close_if_over();
    }

    fn close_if_over(&mut self) {
        if self.asked.is_none() && self.running.is_empty() && !self.is_closing {
            self.is_closing = true;
            self.channel.send(&Message::Close);
        }
    }
}

/// What the caller of a [`Receiver`] is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Received {
    /// The sender wishes that there be a log of this name. It is only a wish: the channel has said
    /// yes.
    Log(LogName),
    /// The sender wishes that a log server keep a log of this name. That too is only a wish.
    LogAt {
        /// The server.
        server: IpAddr,
        /// How it gets the records: UDP or TCP.
        protocol: Protocol,
        /// The log's name there.
        name: LogName,
    },
    /// The sender wishes to send this flow: listen, then call [`Receiver::opened`] or
    /// [`Receiver::refuse`].
    Open(Open),
    /// The port of a passive sender waits: come to it for the packets of this flow.
    Listening {
        /// The flow.
        flow: u32,
    },
    /// The sender has sent all of this flow: when what is under way has come, call
    /// [`Receiver::ended`].
    End {
        /// The flow.
        flow: u32,
    },
    /// The sender has given up this flow.
    Abort {
        /// The flow.
        flow: u32,
    },
    /// All is over; close the channel when what is outgoing has gone.
    Done,
}

/// The side of ITGRecv.
#[derive(Clone, Debug)]
pub struct Receiver {
    channel: Channel,
    peer: Side,
    has_begun: bool,
    wished: BTreeSet<u32>,
    open: BTreeSet<u32>,
}

impl Default for Receiver {
    fn default() -> Receiver {
        Receiver::new()
    }
}

impl Receiver {
    /// A channel on which nothing was said.
    #[must_use]
    pub fn new() -> Receiver {
        Receiver::of(Side::Sender)
    }

    /// A channel to a passive sender on which nothing was said.
    #[must_use]
    pub fn passive() -> Receiver {
        Receiver::of(Side::PassiveSender)
    }

    fn of(peer: Side) -> Receiver {
        Receiver {
            channel: Channel::default(),
            peer,
            has_begun: false,
            wished: BTreeSet::new(),
            open: BTreeSet::new(),
        }
    }

    /// What is to be sent to the sender now.
    pub fn take_outgoing(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.channel.outwards)
    }

    /// Takes bytes from the sender.
    ///
    /// # Errors
    /// If they are no message that may come now; the channel is of no more use then.
    pub fn receive(&mut self, bytes: &[u8]) -> Result<Vec<Received>, Error> {
        self.channel.inwards.extend(bytes);
        let mut told = Vec::new();
        while let Some(message) = self.channel.next(self.peer)? {
            match message {
                Message::Hello if !self.has_begun => {
                    self.has_begun = true;
                    self.channel.send(&Message::Accept);
                }
                Message::Log(name) if self.has_begun => {
                    self.channel.send(&Message::LogReady);
                    told.push(Received::Log(name));
                }
                Message::LogAt {
                    server,
                    protocol,
                    name,
                } if self.has_begun => {
                    self.channel.send(&Message::LogAtReady);
                    told.push(Received::LogAt {
                        server,
                        protocol,
                        name,
                    });
                }
                Message::Open(open)
                    if self.has_begun
                        && self.open.len() + self.wished.len() < MOST_FLOWS
                        && !self.open.contains(&open.flow)
                        && self.wished.insert(open.flow) =>
                {
                    told.push(Received::Open(open));
                }
                Message::Listening { flow } if self.open.contains(&flow) => {
                    told.push(Received::Listening { flow });
                }
                Message::End { flow } if self.open.contains(&flow) => {
                    told.push(Received::End { flow });
                }
                Message::Abort { flow } if self.open.remove(&flow) => {
                    told.push(Received::Abort { flow });
                }
                Message::Close if self.has_begun => {
                    self.channel.send(&Message::Closed);
                    told.push(Received::Done);
                }
                other => return Err(Error::OutOfTurn(other.kind())),
            }
        }
        Ok(told)
    }

    /// Ours listens for the flow at this port.
    pub fn opened(&mut self, flow: u32, port: u16) {
        if self.wished.remove(&flow) {
            self.open.insert(flow);
            self.channel.send(&Message::Opened { flow, port });
        }
    }

    /// Ours cannot have the flow.
    pub fn refuse(&mut self, flow: u32) {
        if self.wished.remove(&flow) {
            self.channel.send(&Message::Refused { flow });
        }
    }

    /// All of the flow has come.
    pub fn ended(&mut self, flow: u32) {
        if self.open.remove(&flow) {
            self.channel.send(&Message::Ended { flow });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::itg::command::Metadata;
    use crate::record::Protocol;
    use crate::stream::Meter;
    use proptest::prelude::*;

    fn open(flow: u32) -> Open {
        Open {
            flow,
            protocol: Protocol::Udp,
            application: 0,
            meter: Meter::OneWay,
            ds: 0,
            metadata: Metadata::Full,
            serial: None,
            back: None,
            port: 10_000,
            address: [127, 0, 0, 1].into(),
        }
    }

    #[test]
    fn both_sides_come_to_an_end_byte_by_byte() {
        let mut sender = Sender::new([open(1), open(2), open(3)], LogName::new(b"a.log"));
        let mut receiver = Receiver::new();
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        loop {
            let (to_receiver, to_sender) = (sender.take_outgoing(), receiver.take_outgoing());
            if to_receiver.is_empty() && to_sender.is_empty() {
                break;
            }
            for byte in to_receiver {
                for told in receiver.receive(&[byte]).expect("a message arrives") {
                    match &told {
                        Received::Open(open) if open.flow == 2 => receiver.refuse(2),
                        Received::Open(open) => receiver.opened(open.flow, 10_000),
                        Received::End { flow } => receiver.ended(*flow),
                        _ => {}
                    }
                    theirs.push(told);
                }
            }
            for byte in to_sender {
                for told in sender.receive(&[byte]).expect("a message arrives") {
                    if let Sent::Start { flow, .. } = told {
                        sender.finish(flow);
                    }
                    ours.push(told);
                }
            }
        }
        assert_eq!(ours.len(), 6, "{ours:?}");
        assert_eq!(ours.last(), Some(&Sent::Done));
        assert!(
            ours.contains(&Sent::Refused { flow: 2 }) && ours.contains(&Sent::Ended { flow: 3 })
        );
        assert_eq!(theirs.last(), Some(&Received::Done));
    }

    #[test]
    fn a_receiver_comes_to_a_passive_sender_once_its_port_listens() {
        let back = Open {
            back: Some(8997),
            ..open(1)
        };
        let mut sender = Sender::new([back], None);
        let mut receiver = Receiver::passive();
        let said = receiver.receive(&sender.take_outgoing());
        assert_eq!(said, Ok(vec![]));
        sender.receive(&receiver.take_outgoing()).expect("accepted");
        let said = receiver.receive(&sender.take_outgoing()).expect("a flow");
        assert!(matches!(&said[..], [Received::Open(open)] if open.back == Some(8997)));
        receiver.opened(1, 0);
        let told = sender.receive(&receiver.take_outgoing());
        assert_eq!(told, Ok(vec![Sent::Start { flow: 1, port: 0 }]));
        let said = receiver.receive(&sender.take_outgoing());
        assert_eq!(said, Ok(vec![Received::Listening { flow: 1 }]));
        // Who is not passive has no port to listen on, and a passive one none before it is asked.
        let mut receiver = Receiver::passive();
        assert!(receiver.receive(&[1, 5, 0, 0, 0, 1]).is_err());
    }

    #[test]
    fn a_peer_that_lies_ends_its_channel() {
        assert_eq!(
            Receiver::new().receive(&[0x0b]),
            Err(Error::OutOfTurn(0x0b))
        );
        assert_eq!(
            Receiver::new().receive(&[0x99]),
            Err(Error::Unknown(0x99, Side::Sender))
        );
        let mut sender = Sender::new([open(1)], None);
        assert_eq!(
            sender.receive(&[0x02, 0x05, 0, 0, 0, 7, 0, 1]),
            Err(Error::OutOfTurn(0x05))
        );
    }

    proptest! {
        #[test]
        fn no_bytes_make_either_panic(bytes in proptest::collection::vec(0_u8..0x14, 0..300)) {
            let _ = Receiver::new().receive(&bytes);
            let _ = Sender::new([open(1)], None).receive(&bytes);
        }
    }
}
