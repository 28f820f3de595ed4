//! A live card as a forwarder between two interfaces.

use crate::{Forwarder, failed, refused};
use trammel_card::live::Method;
use trammel_card::tables::Row;
use trammel_card::{Card, Options};
use trammel_io::clock;
use trammel_io::error::Result;
use trammel_io::netlink::Socket;
use trammel_netfpga::registers::Registers;

/// `ROUTER_OP_LUT_NUM_PKTS_FORWARDED_REG`.
const FORWARDED: u32 = 0x200_001c;

/// The reference router from `in0` to `out0`. All rows of its route table are used, and the frames
/// match the last.
pub(crate) struct Live(Card);

impl Live {
    /// On the interfaces of the calling thread's namespace.
    pub(crate) fn open(method: Method) -> Result<Live> {
        let mut options = Options::new(&["in0", "out0"]);
        (options.method, options.has_hosts) = (method, false);
        let card = Card::open(&options);
        let mut card = card.map_err(|why| refused(why.to_string()))?;
        let mac = Socket::open(&[]).and_then(|mut kernel| kernel.link("in0"));
        let mac = mac.map_err(failed)?.mac.unwrap_or_default();
        let mac = mac.map(|byte| format!("{byte:x}")).join(":");
        let mut rows: Vec<String> = (0..31)
            .map(|row| format!("route {row} 10.3.{row}.0/24 port 0"))
            .collect();
        rows.push("route 31 10.2.0.0/16 port 1".to_owned());
        rows.push("arp 31 10.2.0.9 2:0:0:0:0:9".to_owned());
        rows.push(format!("mac 0 {mac}"));
        for row in rows {
            let words: Vec<&str> = row.split(' ').collect();
            let row = Row::parse(&words).map_err(refused)?;
            row.write(card.registers());
        }
        Ok(Live(card))
    }
}

impl Forwarder for Live {
    fn forward(&mut self, ns: i64) -> Result<bool> {
        let until = clock::monotonic_ns() + ns;
        let ran = self.0.run(&|| clock::monotonic_ns() >= until);
        ran.map_err(|why| refused(why.to_string()))?;
        Ok(self.0.registers().read(FORWARDED) > 0)
    }

    fn end(&mut self) -> Vec<String> {
        let mut remarks = self.0.remarks();
        let dropped = self.0.registers().read(0x200_1418);
        remarks.push(format!("dropped by the output queue {dropped}"));
        remarks
    }
}
