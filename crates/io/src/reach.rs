//! Reaching a host by its name: all its addresses, and a connection to the first that answers.
//!
//! A name may have addresses of both versions of IP, and one of them may lead nowhere. They are
//! tried in the system's order (RFC 6724), the versions in turn, each a quarter of a second after
//! the one before or as soon as that has failed; the first connection that is made is taken, and
//! the others are given up (RFC 8305, "happy eyeballs").
//!
//! An address of one link only (`fe80::…`) means nothing without its interface, its *zone* (RFC
//! 4007 §11): `fe80::1%eth0`.

use crate::poll::{Interest, Poll};
use crate::tcp;
use crate::{route, sys};
use std::io::{Error, ErrorKind, Result};
use std::net::{IpAddr, Ipv6Addr, SocketAddr, SocketAddrV6, TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

/// After so long without an answer the next address is tried as well.
/// RFC 8305 §8: the recommended connection attempt delay.
const ATTEMPT_DELAY: Duration = Duration::from_millis(250);

/// The forms that a place may have.
pub const FORMS: &str = "give HOST, HOST:PORT or [IPv6]:PORT, of a link's own address with its \
                         interface, `fe80::1%eth0`";

/// A host, its port where one is named.
fn split(text: &str) -> Result<(&str, Option<u16>)> {
    let wrong = || Error::new(ErrorKind::InvalidInput, "it is no port from 0 to 65535");
    let number = |port: &str| port.parse().map_err(|_| wrong());
    if let Some(rest) = text.strip_prefix('[') {
        let (host, rest) = rest
            .split_once(']')
            .ok_or_else(|| Error::new(ErrorKind::InvalidInput, "`[` has no `]`"))?;
        return match rest.strip_prefix(':') {
            Some(port) => Ok((host, Some(number(port)?))),
            None if rest.is_empty() => Ok((host, None)),
            None => Err(wrong()),
        };
    }
    match text.split_once(':') {
        // An address of IPv6 has several.
        Some((host, port)) if !port.contains(':') => Ok((host, Some(number(port)?))),
        _ => Ok((text, None)),
    }
}

/// The address that `text` is, where it is one, with its zone.
fn literal(text: &str) -> Result<Option<SocketAddr>> {
    let invalid = |text: String| Error::new(ErrorKind::InvalidInput, text);
    let Some((address, zone)) = text.split_once('%') else {
        let Ok(address) = text.parse::<IpAddr>() else {
            return Ok(None);
        };
        return match address {
            IpAddr::V6(address) if address.is_unicast_link_local() => Err(invalid(format!(
                "it is an address of one link only: say of which interface, `{address}%eth0`"
            ))),
            address => Ok(Some((address, 0).into())),
        };
    };
    let address: Ipv6Addr = address
        .parse()
        .map_err(|_| invalid("only an address of IPv6 has a zone".to_owned()))?;
    let number = match zone.parse::<u32>() {
        Ok(number) => number,
        Err(_) => route::interface(zone).map_err(|why| invalid(why.to_string()))?,
    };
    Ok(Some(SocketAddrV6::new(address, 0, 0, number).into()))
}

/// The addresses that `text` names, in the order in which they are tried, with `port` where it
/// names none.
///
/// # Errors
/// If it is in none of the forms, or a name that nobody knows.
pub fn addresses(text: &str, port: u16) -> Result<Vec<SocketAddr>> {
    found(text, Some(port))
}

fn found(text: &str, port: Option<u16>) -> Result<Vec<SocketAddr>> {
    let (host, named) = split(text)?;
    let missing = || Error::new(ErrorKind::InvalidInput, "it names no port");
    let port = named.or(port).ok_or_else(missing)?;
    if let Some(mut address) = literal(host)? {
        address.set_port(port);
        return Ok(vec![address]);
    }
    let found = in_turn((host, port).to_socket_addrs()?.collect());
    if found.is_empty() {
        return Err(Error::new(ErrorKind::NotFound, "it has no address"));
    }
    Ok(found)
}

/// An address to listen on, with `port` where it names none, or else it has to: the first that
/// `text` names.
///
/// # Errors
/// As for [`addresses`].
pub fn own(text: &str, port: Option<u16>) -> Result<SocketAddr> {
    Ok(found(text, port)?[0])
}

/// `address` at another port. Its zone stays.
#[must_use]
pub fn at_port(mut address: SocketAddr, port: u16) -> SocketAddr {
    address.set_port(port);
    address
}

/// Each once, the two versions of IP in turn, beginning with that of the first.
fn in_turn(all: Vec<SocketAddr>) -> Vec<SocketAddr> {
    let mut once: Vec<SocketAddr> = Vec::new();
    for address in all {
        if !once.contains(&address) {
            once.push(address);
        }
    }
    let Some(first) = once.first().copied() else {
        return once;
    };
    // RFC 8305 §4, with a first address family count of 1.
    let (own, other): (Vec<_>, Vec<_>) = once
        .into_iter()
        .partition(|one| one.is_ipv4() == first.is_ipv4());
    let mut sorted = Vec::new();
    let (mut own, mut other) = (own.into_iter(), other.into_iter());
    loop {
        let (one, two) = (own.next(), other.next());
        if one.is_none() && two.is_none() {
            return sorted;
        }
        sorted.extend(one);
        sorted.extend(two);
    }
}

/// A connection to the first of `addresses` that answers; all of them together may take `within`.
///
/// # Errors
/// If none answers: why the first does not, and of several why each does not.
pub fn connect(addresses: &[SocketAddr], within: Duration) -> Result<TcpStream> {
    connect_by(addresses, within, &begin)
}

/// The same with connections that `begin` begins without waiting, as [`crate::local::Local::begin`]
/// does of a chosen near end.
///
/// # Errors
/// As for [`connect`].
pub fn connect_by(
    addresses: &[SocketAddr],
    within: Duration,
    begin: &dyn Fn(SocketAddr) -> Result<TcpStream>,
) -> Result<TcpStream> {
    let (begun, mut poll) = (Instant::now(), Poll::new()?);
    let mut waiting = addresses.iter().enumerate();
    let mut left = waiting.next();
    let mut tried: Vec<Option<TcpStream>> = addresses.iter().map(|_| None).collect();
    let mut failed: Vec<(SocketAddr, Error)> = Vec::new();
    let mut next_at = begun;
    loop {
        let now = Instant::now();
        while let Some((at, address)) = left
            && (now >= next_at || tried.iter().all(Option::is_none))
        {
            left = waiting.next();
            next_at = now + ATTEMPT_DELAY;
            match begin(*address) {
                Ok(stream) => {
                    poll.add(&stream, at as u64, Interest::Writable)?;
                    tried[at] = Some(stream);
                }
                Err(why) => failed.push((*address, why)),
            }
        }
        if left.is_none() && tried.iter().all(Option::is_none) {
            return Err(together(failed));
        }
        let over = begun + within;
        if now >= over {
            // Neither do those answer whose turn has not come.
            let silent = addresses
                .iter()
                .zip(&tried)
                .filter(|(_, one)| one.is_some());
            let late = silent
                .map(|(at, _)| at)
                .chain(left.into_iter().chain(waiting).map(|(_, at)| at));
            failed.extend(late.map(|at| (*at, ErrorKind::TimedOut.into())));
            return Err(together(failed));
        }
        let until = if left.is_some() {
            over.min(next_at)
        } else {
            over
        };
        let mut ready = Vec::new();
        let nanos = until.saturating_duration_since(now).as_nanos();
        poll.wait(i64::try_from(nanos).unwrap_or(i64::MAX), |at| {
            ready.push(at as usize);
        })?;
        for at in ready {
            let Some(stream) = tried[at].take() else {
                continue;
            };
            poll.remove(&stream)?;
            match sys::pending_error(&stream.try_clone()?.into()) {
                None => {
                    stream.set_nonblocking(false)?;
                    return Ok(stream);
                }
                Some(why) => failed.push((addresses[at], why)),
            }
        }
    }
}

/// `addresses` in words, for who is told that none of them answers.
#[must_use]
pub fn named(addresses: &[SocketAddr]) -> String {
    match addresses {
        [one] => one.to_string(),
        // Why none answers names each.
        several => format!("any of {} addresses", several.len()),
    }
}

/// Begins to connect, and does not wait.
fn begin(address: SocketAddr) -> Result<TcpStream> {
    tcp::connect(address, &tcp::Options::default()).map_err(|error| match error {
        crate::error::Error::Kernel { source, .. } => source,
        other => Error::other(other),
    })
}

/// Why none of several answers.
fn together(mut failed: Vec<(SocketAddr, Error)>) -> Error {
    match failed.as_slice() {
        [] => Error::new(ErrorKind::NotFound, "no address was given"),
        [_] => failed.remove(0).1,
        several => {
            let all: Vec<String> = several
                .iter()
                .map(|(address, why)| format!("{address}: {why}"))
                .collect();
            Error::new(several[0].1.kind(), all.join("; "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::held::Held;
    use std::net::TcpListener;

    fn named(text: &str) -> String {
        match addresses(text, 9310) {
            Ok(found) => found
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join(" "),
            Err(why) => format!("wrong: {why}"),
        }
    }

    #[test]
    fn every_form_of_a_place_is_understood() {
        for (text, wanted) in [
            ("127.0.0.1", "127.0.0.1:9310"),
            ("127.0.0.1:7", "127.0.0.1:7"),
            ("::1", "[::1]:9310"),
            ("[::1]", "[::1]:9310"),
            ("[::1]:7", "[::1]:7"),
            ("fe80::2%lo", "[fe80::2%1]:9310"),
            ("[fe80::2%lo]:7", "[fe80::2%1]:7"),
            ("[fe80::2%1]", "[fe80::2%1]:9310"),
        ] {
            assert_eq!(named(text), wanted, "{text}");
        }
        for (text, said) in [
            ("127.0.0.1:70000", "no port"),
            ("[::1]7", "no port"),
            ("[::1", "no `]`"),
            ("fe80::2", "which interface"),
            ("fe80::2%nowhere0", "nowhere0"),
            ("10.0.0.1%lo", "IPv6"),
            ("nobody.invalid", "wrong"),
        ] {
            assert!(named(text).contains(said), "{text}: {}", named(text));
        }
        let own = own("fe80::2%lo", Some(0)).expect("it is one");
        assert!(super::own("127.0.0.1", None).is_err());
        assert_eq!(at_port(own, 5).to_string(), "[fe80::2%1]:5");
    }

    #[test]
    fn versions_of_ip_take_turns() {
        let all = [
            "[::1]:1",
            "[::2]:1",
            "[::1]:1",
            "1.1.1.1:1",
            "[::3]:1",
            "2.2.2.2:1",
        ];
        let all = all
            .map(|one| one.parse().expect("the address is well formed"))
            .to_vec();
        let sorted: Vec<String> = in_turn(all).iter().map(ToString::to_string).collect();
        let wanted = ["[::1]:1", "1.1.1.1:1", "[::2]:1", "2.2.2.2:1", "[::3]:1"];
        assert_eq!(sorted, wanted);
        assert!(in_turn(Vec::new()).is_empty());
    }

    #[test]
    fn an_address_that_refuses_or_keeps_silent_does_not_keep_from_the_next() {
        let live = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
        let live = live.local_addr().map(|at| (live, at)).expect("it is bound");
        let held = Held::at(live.1.ip()).expect("loopback has a free port");
        let refusing = held.address();
        // Its queue has room for one: whoever comes later hears nothing.
        let silent = tcp::listen(
            "127.0.0.1:0".parse().expect("the address is well formed"),
            0,
            &tcp::Options::default(),
        );
        let silent = silent.expect("loopback has ports");
        let silent_at = silent.local_addr().expect("a bound socket has an address");
        let patience = Duration::from_secs(10);
        let _filling = begin(silent_at).expect("it begins");
        let mut poll = Poll::new().expect("Linux has it");
        poll.add(&silent, 0, Interest::Readable).expect("a socket");
        let mut is_full = false;
        let long = i64::try_from(patience.as_nanos()).expect("it is short");
        poll.wait(long, |_| is_full = true).expect("it waits");
        assert!(is_full, "nobody came");
        for first in [refusing, silent_at] {
            let begun = Instant::now();
            let made = connect(&[first, live.1], patience).expect("the second answers");
            assert_eq!(made.peer_addr().ok(), Some(live.1));
            assert!(begun.elapsed() < patience / 2, "{:?}", begun.elapsed());
        }
        // The second of these is silent before the third has its turn.
        for short in [0, 100, 300].map(Duration::from_millis) {
            let all = [refusing, silent_at, refusing];
            let said = connect(&all, short)
                .expect_err("nobody answers")
                .to_string();
            let names = |at: SocketAddr| said.matches(&at.to_string()).count();
            assert_eq!((names(refusing), names(silent_at)), (2, 1), "{said}");
        }
        assert_eq!(
            connect(&[refusing], patience).expect_err("nobody").kind(),
            ErrorKind::ConnectionRefused
        );
    }
}
