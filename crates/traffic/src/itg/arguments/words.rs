//! The words after a flag, one after the other, each as what the flag wants.

use super::applications::application;
use super::error::Error;
use super::flags::Flag;
use super::reader::Reader;
use crate::itg::command::{Host, LogServer};
use crate::itg::log_protocol;
use crate::record::Protocol;
use std::net::IpAddr;
use trammel_core::time::Span;

static PROTOCOLS: [(&str, Protocol); 5] = [
    ("UDP", Protocol::Udp),
    ("TCP", Protocol::Tcp),
    ("ICMP", Protocol::Icmp),
    ("SCTP", Protocol::Sctp),
    ("DCCP", Protocol::Dccp),
];

/// A host by its address or name, if it is one.
fn host(word: &str) -> Option<Host> {
    if let Ok(address) = word.parse::<IpAddr>() {
        return Some(Host::Address(address));
    }
    let is_name = word
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || ".:%_-".contains(c));
    (is_name && !word.starts_with('-') && word.len() <= 255).then(|| Host::Name(word.to_owned()))
}

impl<'a> Reader<'a> {
    pub(super) fn word(&mut self) -> Result<&'a str, Error> {
        let flag = self.flag;
        let word = self.words.get(self.at).copied().ok_or(Error::Missing {
            flag: flag.word,
            wants: flag.wants,
            example: flag.example,
        })?;
        self.at += 1;
        Ok(word)
    }

    pub(super) fn unfit(&self, word: &str) -> Error {
        let Flag {
            word: flag,
            wants,
            example,
            ..
        } = *self.flag;
        Error::Unfit {
            flag,
            word: word.to_owned(),
            wants,
            example,
        }
    }

    /// The next word, if it belongs to the flag.
    pub(super) fn peek(&self) -> Option<&'a str> {
        let word = self.words.get(self.at).copied()?;
        (!word.starts_with('-') && application(word).is_none()).then_some(word)
    }

    pub(super) fn optional(&mut self, otherwise: &str) -> String {
        let word = self.peek();
        self.at += usize::from(word.is_some());
        word.unwrap_or(otherwise).to_owned()
    }

    pub(super) fn choice<T: Copy>(&mut self, of: &[(&str, T)]) -> Result<T, Error> {
        let word = self.word()?;
        of.iter()
            .find(|(name, _)| *name == word)
            .map(|(_, value)| *value)
            .ok_or_else(|| self.unfit(word))
    }

    pub(super) fn number(&mut self, least: f64, most: f64) -> Result<f64, Error> {
        let word = self.word()?;
        let number: f64 = word.parse().map_err(|_| self.unfit(word))?;
        if number.is_finite() && (least..=most).contains(&number) {
            Ok(number)
        } else {
            Err(self.unfit(word))
        }
    }

    pub(super) fn whole(&mut self, least: u64, most: u64) -> Result<u64, Error> {
        let word = self.word()?;
        word.parse()
            .ok()
            .filter(|number| (least..=most).contains(number))
            .ok_or_else(|| self.unfit(word))
    }

    pub(super) fn byte(&mut self) -> Result<u8, Error> {
        let word = self.word()?;
        let byte = match word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")) {
            // `from_str_radix` would take a sign.
            Some(digits) if !digits.starts_with('+') => u8::from_str_radix(digits, 16),
            _ => word.parse(),
        };
        byte.map_err(|_| self.unfit(word))
    }

    pub(super) fn port(&mut self) -> Result<u16, Error> {
        // In range by the bounds.
        Ok(self.whole(0, u16::MAX.into())? as u16)
    }

    /// As long as [`Time`] can hold.
    pub(super) fn milliseconds(&mut self) -> Result<Span, Error> {
        Ok(Span::from_secs_f64(self.number(0.0, 1e10)? / 1e3))
    }

    pub(super) fn host(&mut self) -> Result<Host, Error> {
        let word = self.word()?;
        host(word).ok_or_else(|| self.unfit(word))
    }

    pub(super) fn server(&mut self) -> Result<LogServer, Error> {
        let is_protocol = |word: &str| word == "UDP" || word == "TCP";
        let host = match self.peek() {
            Some(word) if !is_protocol(word) => self.host()?,
            _ => Host::Address(IpAddr::from([127, 0, 0, 1])),
        };
        let protocol = match self.peek() {
            Some(word) if is_protocol(word) => self.choice(&PROTOCOLS)?,
            Some(word) => return Err(self.unfit(word)),
            None => Protocol::Udp,
        };
        Ok(LogServer {
            host,
            port: log_protocol::PORT,
            protocol,
        })
    }

    /// The log server of a receiver: `a:` address, `p:` port, `P:` protocol, each of which may be
    /// left out.
    pub(super) fn server_by_parts(&mut self) -> Result<LogServer, Error> {
        let mut server = LogServer {
            host: Host::Address(IpAddr::from([127, 0, 0, 1])),
            port: log_protocol::PORT,
            protocol: Protocol::Udp,
        };
        while let Some(word) = self.peek() {
            match word.split_once(':') {
                Some(("a", word)) if !word.is_empty() => {
                    server.host = host(word).ok_or_else(|| self.unfit(word))?;
                }
                Some(("p", port)) => {
                    server.port = port.parse().map_err(|_| self.unfit(word))?;
                }
                Some(("P", name)) => {
                    let found = PROTOCOLS.iter().find(|(known, _)| *known == name);
                    let found = found.map(|(_, protocol)| *protocol);
                    server.protocol = found
                        .filter(|one| matches!(one, Protocol::Udp | Protocol::Tcp))
                        .ok_or_else(|| self.unfit(word))?;
                }
                _ => return Err(self.unfit(word)),
            }
            self.at += 1;
        }
        Ok(server)
    }

    pub(super) fn protocol(&mut self) -> Result<(), Error> {
        self.command.protocol = self.choice(&PROTOCOLS)?;
        match self.command.protocol {
            Protocol::Icmp
                if self
                    .peek()
                    .is_some_and(|word| word.starts_with(|c: char| c.is_ascii_digit())) =>
            {
                self.command.icmp_type = self.byte()?;
            }
            Protocol::Sctp => {
                let most = u64::from(u32::MAX);
                self.command.sctp =
                    Some((self.whole(0, most)? as u32, self.whole(1, most)? as u32));
            }
            _ => {}
        }
        Ok(())
    }
}
