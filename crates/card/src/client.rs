//! A client of the register socket of a card that runs on this machine.

use crate::accesses::{Access, Accesses};
use crate::error::Error;
use crate::protocol::{Answer, MOST_ACCESSES, MOST_WATCHED, Request, WRITE_BIT, kind};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;
use trammel_netfpga::device::Design;
use trammel_netfpga::registers::{Map, Registers};

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// What a read gives where the card cannot be reached: what a card's register ring gives when it
/// times out.
const TIMED_OUT: u32 = 0xDEAD_0000;
/// Words of the name of the design.
const NAME_WORDS: u32 = 16;

/// A connection to a card.
///
/// It has the registers of the card by [`Registers`], one access a request; [`Client::together`]
/// does many in one. Where the card cannot be reached any more, reads give 0xDEAD0000 and
/// [`Client::take_error`] tells why.
///
/// ```no_run
/// use trammel_card::Client;
/// use trammel_netfpga::registers::Registers;
///
/// let mut card = Client::connect("/run/trammel-nf2c.registers".as_ref())?;
/// let forwarded = card.map().find("ROUTER_OP_LUT_NUM_PKTS_FORWARDED").unwrap();
/// println!("{}", card.read(forwarded.address));
/// # Ok::<(), trammel_card::Error>(())
/// ```
#[derive(Debug)]
pub struct Client {
    stream: UnixStream,
    place: String,
    input: Vec<u8>,
    tag: u32,
    design: Option<&'static Design>,
    error: Option<Error>,
}

impl Client {
    /// Connects to the card whose register socket is at `path`.
    ///
    /// # Errors
    /// Where no card runs there, or what runs is none.
    pub fn connect(path: &Path) -> Result<Client, Error> {
        let place = path.display().to_string();
        let stream = UnixStream::connect(path).map_err(|why| Error::Lack {
            what: format!("no card at `{place}`: {why}"),
            mend: Some(
                "start one by `trammel netfpga run --ports …`, or name its socket by `--socket`"
                    .to_owned(),
            ),
        })?;
        let set = stream.set_read_timeout(Some(PATIENCE));
        set.and(stream.set_write_timeout(Some(PATIENCE)))
            .map_err(Error::of(format!("use `{place}`")))?;
        let mut client = Client {
            stream,
            place,
            input: Vec::new(),
            tag: 0,
            design: None,
            error: None,
        };
        client.design = Some(client.ask_design()?);
        Ok(client)
    }

    /// The design of the card, by the name in its registers.
    fn ask_design(&mut self) -> Result<&'static Design, Error> {
        let any =
            trammel_netfpga::design("reference-router").map_err(|_| self.fault("no design"))?;
        let first = any.map().find("DEV_ID_PROJ_DIR_0");
        let first = first.map_err(|_| self.fault("no register has the design's name"))?;
        let words = self.read_many((0..NAME_WORDS).map(|word| first.address + 4 * word))?;
        let bytes = words.iter().flat_map(|word| word.to_be_bytes());
        let name: Vec<u8> = bytes.take_while(|byte| *byte != 0).collect();
        let name = String::from_utf8_lossy(&name).into_owned();
        let found = trammel_netfpga::design(&name);
        found.map_err(|_| self.fault(&format!("this program has no design `{name}`")))
    }

    /// The path of the socket.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// The design of the card.
    pub fn design(&self) -> &'static Design {
        self.design.expect("a client that is connected has asked")
    }

    /// The registers of the card.
    pub fn map(&self) -> Map {
        self.design().map()
    }

    /// Why the last accesses of [`Registers`] were not done.
    pub fn take_error(&mut self) -> Option<Error> {
        self.error.take()
    }

    /// The values of registers at the same instant.
    ///
    /// # Errors
    /// Where the card cannot be reached or refuses.
    pub fn read_many(
        &mut self,
        addresses: impl IntoIterator<Item = u32>,
    ) -> Result<Vec<u32>, Error> {
        let addresses: Vec<u32> = addresses.into_iter().collect();
        let mut all = Vec::with_capacity(addresses.len());
        for some in addresses.chunks(MOST_ACCESSES) {
            all.extend(self.items(&Request::Read(some.to_vec()), some.len())?);
        }
        Ok(all)
    }

    /// Writes registers in turn, with nothing in between.
    ///
    /// # Errors
    /// As [`Self::read_many`].
    pub fn write_many(&mut self, writes: &[(u32, u32)]) -> Result<(), Error> {
        for some in writes.chunks(MOST_ACCESSES) {
            self.items(&Request::Write(some.to_vec()), 0)?;
        }
        Ok(())
    }

    /// Every register's address and value, at one instant.
    ///
    /// # Errors
    /// As [`Self::read_many`].
    pub fn dump(&mut self) -> Result<Vec<(u32, u32)>, Error> {
        let items = self.request(&Request::Dump)?;
        Ok(in_pairs(&items))
    }

    /// Does `work` with nothing in between, at most 4,096 accesses; what accesses it does must not
    /// depend on what it reads.
    ///
    /// # Errors
    /// As [`Self::read_many`].
    pub fn together<T>(&mut self, work: impl Fn(&mut Accesses) -> T) -> Result<T, Error> {
        let gathered = Accesses::gathered(&work);
        let wire = |(address, value): &Access| match value {
            None => (*address & !WRITE_BIT, 0),
            Some(value) => (address | WRITE_BIT, *value),
        };
        let accesses: Vec<_> = gathered.iter().map(wire).collect();
        if accesses.len() > MOST_ACCESSES {
            return Err(self.fault(&format!("more than {MOST_ACCESSES} accesses at once")));
        }
        let answers = self.items(&Request::Access(accesses), gathered.len())?;
        Ok(work(&mut Accesses::repeating(&answers)))
    }

    /// Gives `each` the registers at `addresses` with their values, at once and whenever some have
    /// changed, at most once in `interval`, 10 ms to a minute; until `each` says that it has enough
    /// or is to be asked again no more.
    ///
    /// # Errors
    /// As [`Self::read_many`]; where there are more than 1,024 addresses.
    pub fn watch(
        &mut self,
        addresses: &[u32],
        interval: Duration,
        mut each: impl FnMut(&[(u32, u32)]) -> bool,
    ) -> Result<(), Error> {
        if addresses.is_empty() {
            return Ok(());
        }
        if addresses.len() > MOST_WATCHED {
            return Err(Error::Usage(format!(
                "{} registers to watch: name at most {MOST_WATCHED}",
                addresses.len()
            )));
        }
        let watch = Request::Watch {
            interval_ms: interval.as_millis().try_into().unwrap_or(u32::MAX),
            addresses: addresses.to_vec(),
        };
        let tag = self.send(&watch)?;
        // Registers may stay as they are for ever.
        self.set_patience(None)?;
        let watched = loop {
            match self.receive(tag, kind::WATCH) {
                Ok(items) if each(&in_pairs(&items)) => {}
                Ok(_) => break Ok(()),
                Err(why) => break Err(why),
            }
        };
        self.set_patience(Some(PATIENCE))?;
        watched?;
        let end = Request::Watch {
            interval_ms: 0,
            addresses: Vec::new(),
        };
        self.request(&end).map(drop)
    }

    fn set_patience(&self, patience: Option<Duration>) -> Result<(), Error> {
        let set = self.stream.set_read_timeout(patience);
        set.map_err(Error::of(format!("use `{}`", self.place)))
    }

    fn items(&mut self, request: &Request, count: usize) -> Result<Vec<u32>, Error> {
        let items = self.request(request)?;
        if items.len() == count {
            Ok(items)
        } else {
            Err(self.fault("it answered with another number of values"))
        }
    }

    fn request(&mut self, request: &Request) -> Result<Vec<u32>, Error> {
        let tag = self.send(request)?;
        let kind = match request {
            Request::Read(_) => kind::READ,
            Request::Write(_) => kind::WRITE,
            Request::Dump => kind::DUMP,
            Request::Watch { .. } => kind::WATCH,
            Request::Access(_) => kind::ACCESS,
        };
        self.receive(tag, kind)
    }

    fn send(&mut self, request: &Request) -> Result<u32, Error> {
        self.tag = self.tag.wrapping_add(1);
        let sent = self.stream.write_all(&request.bytes(self.tag));
        match sent {
            // Who refuses a client says why and closes the connection: that is read next.
            Err(why) if why.kind() != ErrorKind::BrokenPipe => Err(self.lost(&why)),
            _ => Ok(self.tag),
        }
    }

    /// The answer with `tag`; what answers earlier requests is passed over.
    fn receive(&mut self, tag: u32, wanted: u8) -> Result<Vec<u32>, Error> {
        loop {
            let parsed = Answer::parse(&self.input);
            let Some((answer, of, length)) = parsed.map_err(|why| self.fault(why))? else {
                self.fill()?;
                continue;
            };
            self.input.drain(..length);
            match answer {
                Answer::Refused(why) => return Err(self.fault(&why)),
                Answer::Items { kind, items } if of == tag && kind == wanted => return Ok(items),
                Answer::Items { .. } => {}
            }
        }
    }

    fn fill(&mut self) -> Result<(), Error> {
        let mut chunk = [0; 16 << 10];
        loop {
            match self.stream.read(&mut chunk) {
                Ok(0) => return Err(self.fault("the card ended")),
                Ok(count) => {
                    self.input.extend_from_slice(&chunk[..count]);
                    return Ok(());
                }
                Err(why) if why.kind() == ErrorKind::Interrupted => {}
                Err(why) => return Err(self.lost(&why)),
            }
        }
    }

    fn lost(&self, why: &std::io::Error) -> Error {
        match why.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => self.fault("the card does not answer"),
            _ => self.fault(&why.to_string()),
        }
    }

    fn fault(&self, why: &str) -> Error {
        Error::Protocol {
            place: self.place.clone(),
            why: why.to_owned(),
        }
    }
}

fn in_pairs(items: &[u32]) -> Vec<(u32, u32)> {
    let (pairs, _) = items.as_chunks::<2>();
    pairs
        .iter()
        .map(|[address, value]| (*address, *value))
        .collect()
}

impl Registers for Client {
    fn read(&mut self, address: u32) -> u32 {
        match self.read_many([address]) {
            Ok(values) => values[0],
            Err(why) => {
                self.error.get_or_insert(why);
                TIMED_OUT
            }
        }
    }

    fn write(&mut self, address: u32, value: u32) {
        if let Err(why) = self.write_many(&[(address, value)]) {
            self.error.get_or_insert(why);
        }
    }
}
