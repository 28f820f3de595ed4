//! Whatever packets come, at whatever times, each is taken or refused for one reason, and tables
//! and queue stay within their limits.
//!
//! The input is a list of steps: what is done, where, the time that passes, a length, and that many
//! bytes of a packet, whose length field and checksum are set right for most steps.

use std::net::Ipv4Addr;
use trammel_control::pwospf::{Config, InterfaceConfig, Limits, Pwospf, Refusal};
use trammel_core::{Span, Time};

const LIMITS: Limits = Limits {
    routers: 4,
    adverts: 6,
    neighbours: 2,
    queue: 30,
};

fn router() -> Pwospf {
    let interfaces = (0..2).map(|third| InterfaceConfig {
        address: Ipv4Addr::new(10, 0, third, 1),
        mask: Ipv4Addr::new(255, 255, 255, 0),
        up: true,
    });
    let config = Config {
        limits: LIMITS,
        ..Config::new(Ipv4Addr::new(10, 0, 0, 1), interfaces.collect())
    };
    Pwospf::new(config, Time::ZERO).expect("right settings")
}

/// Sets length and checksum right.
fn seal(packet: &mut [u8]) {
    let length = (packet.len() as u16).to_be_bytes();
    packet[2..4].copy_from_slice(&length);
    packet[12..16].fill(0);
    let words = packet[..16].chunks(2).chain(packet[24..].chunks(2));
    let word = |w: &[u8]| u32::from(w[0]) << 8 | u32::from(w.get(1).copied().unwrap_or(0));
    let mut sum: u32 = words.map(word).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    packet[12..14].copy_from_slice(&(!(sum as u16)).to_be_bytes());
}

pub(crate) fn run(mut bytes: &[u8]) {
    let mut router = router();
    let (mut now, mut received) = (Time::ZERO, 0_u64);
    while let [what, place, wait, length, rest @ ..] = bytes {
        let (packet, after) = rest.split_at(rest.len().min(usize::from(*length)));
        bytes = after;
        now += Span::from_ms(u64::from(*wait) * u64::from(*wait));
        router.handle_timeout(now);
        let interface = usize::from(place & 3);
        match what & 15 {
            0 => {
                let done = router.set_interface_up(now, interface, place & 4 != 0);
                assert_eq!(done.is_ok(), interface < 2);
            }
            1 => router.set_area(now, u32::from(place & 1)),
            2 => router.send_lsu(now),
            3 => router.set_lsu_broadcast(now, place & 1 == 0),
            4 => router.set_originated(now, &[(Ipv4Addr::UNSPECIFIED, Ipv4Addr::UNSPECIFIED)]),
            _ => {
                let mut packet = packet.to_vec();
                if what & 16 == 0 && packet.len() >= 24 {
                    packet[0] = 2;
                    seal(&mut packet);
                }
                let source = Ipv4Addr::new(10, 0, interface as u8, place >> 2);
                router.receive(now, interface, source, &packet);
                received += 1;
            }
        }
        check(&mut router, now, received);
    }
}

fn check(router: &mut Pwospf, now: Time, received: u64) {
    let counters = router.counters();
    let refused: u64 = Refusal::ALL
        .iter()
        .map(|reason| counters.refused(*reason))
        .sum();
    let taken = counters.hellos_accepted + counters.lsus_accepted + counters.sequence_jumps;
    assert_eq!(refused + taken, received);
    assert!(router.neighbours().count() <= 2 * LIMITS.neighbours);
    assert!(router.database(now).count() <= 1 + LIMITS.routers);
    assert!(
        router
            .database(now)
            .all(|entry| entry.adverts.len() <= LIMITS.adverts)
    );
    assert!(router.next_timeout() < Time::MAX);
    let routes = router.routes().windows(2);
    let ones = |mask: Ipv4Addr| mask.to_bits().count_ones();
    assert!(
        routes
            .into_iter()
            .all(|pair| ones(pair[0].mask) >= ones(pair[1].mask))
    );
    let sent = std::iter::from_fn(|| router.poll_transmit()).count();
    assert!(sent <= LIMITS.queue);
}
