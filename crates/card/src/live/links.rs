//! Whether the links of the ports are up, told by the kernel.

use crate::error::Error;
use std::os::fd::RawFd;
use trammel_io::netlink::Socket;
use trammel_netfpga::Device;

/// `RTNLGRP_LINK` (`linux/rtnetlink.h`).
const LINK_GROUP: u32 = 1;

/// The links of the ports.
#[derive(Debug)]
pub(super) struct Links {
    notices: Socket,
    asking: Socket,
    ports: Vec<String>,
    has_begun: bool,
}

impl Links {
    /// Of the interfaces `ports`.
    pub(super) fn open(ports: &[String]) -> Result<Links, Error> {
        let open = |groups: &[u32]| Socket::open(groups).map_err(Error::of("follow the links"));
        Ok(Links {
            notices: open(&[LINK_GROUP])?,
            asking: open(&[])?,
            ports: ports.to_vec(),
            has_begun: false,
        })
    }

    pub(super) fn descriptor(&self) -> RawFd {
        self.notices.descriptor()
    }

    /// Tells the card how its links are, if any may have changed.
    pub(super) fn poll(&mut self, card: &mut Device) {
        let mut has_any = !std::mem::replace(&mut self.has_begun, true);
        // Where notices were lost, some link may have changed too.
        has_any |= self.notices.poll(|_| has_any = true).is_err();
        if !has_any {
            return;
        }
        for (port, name) in self.ports.iter().enumerate() {
            // One that is gone ends the card where its frames come in.
            let link = self.asking.link(name);
            card.set_link(port, link.is_ok_and(|link| link.is_up && link.is_running));
        }
    }
}
