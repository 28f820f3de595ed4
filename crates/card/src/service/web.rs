//! The socket of the web page, polled between frames.

use super::Waits;
use crate::error::Error;
use crate::web::{Card, Site};
use std::net::SocketAddr;
use std::time::Duration;
use trammel_core::Time;
use trammel_local_http::desk::Desk;
use trammel_local_http::token;
use trammel_netfpga::device::Design;
use trammel_netfpga::registers::Registers;

/// The listener with its connections, and the site.
#[derive(Debug)]
pub(crate) struct WebService {
    desk: Desk,
    token: String,
    site: Site,
}

impl WebService {
    /// Listens at `address` with the page of a card with `design`.
    pub(crate) fn open(address: SocketAddr, design: &'static Design) -> Result<WebService, Error> {
        let desk = Desk::open(address).map_err(Error::unheard("--web", address))?;
        let token = token::draw().map_err(Error::of("draw a token for the web page"))?;
        Ok(WebService {
            site: Site::new(design, desk.address(), &token),
            desk,
            token,
        })
    }

    /// The address to open, with the token that edits need.
    pub(crate) fn link(&self) -> String {
        format!("http://{}/#token={}", self.desk.address(), self.token)
    }

    /// What the user should know of who reaches it.
    pub(crate) fn remark(&self) -> Option<String> {
        let address = self.desk.address();
        let is_far = !address.ip().is_loopback();
        is_far.then(|| {
            format!(
                "everybody who reaches {address} sees the web page, and the token passes \
                 unencrypted: `--web {}` and a tunnel (`ssh -L`) are safer",
                address.port()
            )
        })
    }

    /// Notes the events in a frame that the design itself has sent.
    pub(crate) fn record(&mut self, frame: &[u8]) {
        self.site.record(frame);
    }

    /// Does what can be done at once. Whether there was anything to do.
    pub(crate) fn poll<R: Registers>(
        &mut self,
        now: Time,
        card: &mut Card<R>,
    ) -> Result<bool, Error> {
        self.site.sample(now, card.registers);
        let answer = |input: &[u8]| self.site.answer(now, input, card);
        let polled = self.desk.poll(since_start(now), answer);
        polled.map_err(Error::of("accept a connection to the web page"))
    }

    /// When [`Self::poll`] has something to do though nothing came.
    pub(crate) fn next_timeout(&self) -> Option<Time> {
        let until = self.desk.next_timeout()?;
        Some(Time::from_ns(
            u64::try_from(until.as_nanos()).unwrap_or(u64::MAX),
        ))
    }

    /// What is to be waited for.
    pub(crate) fn waits(&self, waits: &mut Waits) {
        self.desk.waits(&mut waits.readable, &mut waits.writable);
    }
}

/// The time as the desk counts it.
fn since_start(now: Time) -> Duration {
    Duration::from_nanos(now.as_ns())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpStream;
    use trammel_netfpga::{Device, design};

    struct Rig {
        service: WebService,
        card: Device,
    }

    impl Rig {
        fn new() -> Rig {
            let card = Device::new(design("reference-router").unwrap());
            let address = ([127, 0, 0, 1], 0).into();
            Rig {
                service: WebService::open(address, card.design()).unwrap(),
                card,
            }
        }

        fn poll(&mut self, now: Time) -> bool {
            let mut card = Card {
                registers: &mut self.card,
                ports: &[],
                control: None,
                has_mirror: false,
            };
            self.service.poll(now, &mut card).unwrap()
        }

        /// What is answered to `request`, until the connection ends.
        fn ask(&mut self, request: &str) -> String {
            let mut stream = TcpStream::connect(self.service.desk.address()).unwrap();
            stream.write_all(request.as_bytes()).unwrap();
            stream.set_nonblocking(true).unwrap();
            let mut bytes = Vec::new();
            loop {
                self.poll(Time::ZERO);
                let mut part = [0; 4096];
                match stream.read(&mut part) {
                    Ok(0) => return String::from_utf8(bytes).unwrap(),
                    Ok(count) => bytes.extend(&part[..count]),
                    Err(_) => std::thread::yield_now(),
                }
            }
        }
    }

    #[test]
    fn the_state_is_answered_and_what_is_no_request_refused() {
        let mut rig = Rig::new();
        let answer = rig.ask("GET /api/state HTTP/1.1\r\nHost: localhost\r\n\r\n");
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
        let state: serde_json::Value = serde_json::from_str(body).unwrap();
        assert_eq!(state["design"]["name"], "reference-router");
        let long = "A".repeat(20000);
        for wrong in ["\u{16}\u{3}\u{1}", "SSH-2.0-x\r\n", &long] {
            assert!(rig.ask(wrong).starts_with("HTTP/1.1 4"), "{wrong}");
        }
    }

    #[test]
    fn who_is_late_is_waited_for_and_closed() {
        let mut rig = Rig::new();
        assert_eq!(rig.service.next_timeout(), None);
        let stream = TcpStream::connect(rig.service.desk.address()).unwrap();
        while rig.service.next_timeout().is_none() {
            rig.poll(Time::from_secs(1));
        }
        let late = rig.service.next_timeout().unwrap();
        assert_eq!(late, Time::from_secs(11));
        rig.poll(late);
        assert_eq!(rig.service.next_timeout(), None);
        drop(stream);
    }

    #[test]
    fn a_page_for_others_is_remarked_upon() {
        assert_eq!(Rig::new().service.remark(), None);
        let design = design("reference-router").unwrap();
        let far = WebService::open(([0, 0, 0, 0], 0).into(), design).unwrap();
        assert!(far.remark().unwrap().contains("ssh -L"));
    }

    #[test]
    fn the_link_has_a_token_of_its_own() {
        let links = [(); 2].map(|()| Rig::new().service.link());
        let tokens = links
            .each_ref()
            .map(|link| link.split_once("#token=").unwrap().1);
        assert_ne!(tokens[0], tokens[1]);
        assert!(tokens.iter().all(|token| token.len() == 32));
    }
}
