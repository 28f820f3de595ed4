//! A sender that libITG's programs order flows of, as `ITGSend -Q`.
//!
//! Whoever reaches the port is obeyed, and no key is known to libITG. So an order reads and writes
//! no file, waits on no port, and no more than `MOST_ORDERS` are carried out at once.

use super::{ItgJob, begin_own, send_all};
use crate::send::LOOK;
use anyhow::{Context, bail};
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use trammel_traffic::itg::arguments::{self, Invocation};
use trammel_traffic::itg::command::{Command, Logs, Values};
use trammel_traffic::itg::log_file::BinaryLog;
use trammel_traffic::itg::orders::{Answer, MOST_BYTES, order};
use trammel_traffic::signal::places::Places;

/// Orders at once, at most, and those of one client.
const MOST_ORDERS: usize = 256;
const MOST_OF_CLIENT: usize = 192;

/// A sender that waits for orders.
#[derive(Debug)]
pub struct Daemon {
    socket: UdpSocket,
    logs: Logs,
    log: Option<Arc<BinaryLog>>,
    job: ItgJob,
}

/// Who hears what a person should know.
pub type Say<'a> = &'a (dyn Fn(&str) + Sync);

impl Daemon {
    /// Takes orders that come by `socket`; `logs` are of all flows.
    ///
    /// # Errors
    /// If the log cannot be begun.
    pub fn new(socket: UdpSocket, logs: Logs, job: ItgJob) -> anyhow::Result<Daemon> {
        socket.set_read_timeout(Some(LOOK))?;
        Ok(Daemon {
            socket,
            log: begin_own(&logs)?,
            logs,
            job,
        })
    }

    /// Carries orders out until `stop` is set; what is wrong with one is said, and others are not
    /// touched.
    pub fn run(&self, stop: &AtomicBool, say: Say<'_>) {
        // One more than the largest order, so that a longer one is seen.
        let (mut bytes, mut next) = ([0; MOST_BYTES + 1], 1);
        let places = Arc::new(Places::new(MOST_ORDERS, MOST_OF_CLIENT));
        std::thread::scope(|scope| {
            while !stop.load(Ordering::Relaxed) {
                // Nothing yet, or the answer to one who is gone.
                let Ok((count, from)) = self.socket.recv_from(&mut bytes) else {
                    continue;
                };
                let command = order(&bytes[..count])
                    .filter(|_| count <= MOST_BYTES)
                    .context("no order is a datagram that is not one line of text")
                    .and_then(|text| Ok((text.to_owned(), ordered(text)?)));
                let (text, command) = match command {
                    Ok(both) => both,
                    Err(why) => {
                        say(&format!("{from}: {why}"));
                        continue;
                    }
                };
                let number = next;
                next += 1;
                let obey = move |command| {
                    self.obey((from, &text), command, number, (stop, say));
                };
                let begun = places.take(from).and_then(|place| {
                    let spawned = place.spawn(scope, command, obey);
                    spawned.map_err(|(_, why)| why.to_string())
                });
                if let Err(why) = begun {
                    say(&format!("{from}: its order is not carried out: {why}"));
                }
            }
        });
        if let Some(log) = &self.log {
            log.flush();
        }
    }

    fn obey(
        &self,
        (from, text): (SocketAddr, &str),
        command: Command,
        number: u32,
        (stop, say): (&AtomicBool, Say<'_>),
    ) {
        // One that is gone hears nothing, and the flow is sent none the less.
        let tell = |answer: Answer| drop(self.socket.send_to(&answer.to(text), from));
        tell(Answer::Begins);
        let job = ItgJob {
            first: number,
            seed: self.job.seed.wrapping_add(number.into()),
            ..self.job.clone()
        };
        let sent = send_all(&[command], &self.logs, &job, (stop, say), self.log.as_ref());
        let told = match sent {
            Err(why) => why.to_string(),
            Ok(outcome) => match outcome.flows.iter().find_map(|one| one.sent.fault.clone()) {
                Some(fault) => fault,
                None => {
                    let packets: u64 = outcome.flows.iter().map(|one| one.sent.count.packets).sum();
                    format!("{packets} packets are sent")
                }
            },
        };
        say(&format!("{from}: flow {number}: {told}"));
        tell(Answer::Ended);
    }
}

/// The flow that an order asks for.
fn ordered(text: &str) -> anyhow::Result<Command> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let Invocation::Flow(command) = arguments::invocation(&words)? else {
        bail!("`{}` orders no flow", text.escape_debug());
    };
    let is_list = |values: &Values| matches!(values, Values::File { .. });
    let bursts = command.bursts.as_ref();
    let reads = command.content.is_some()
        || [&command.gap, &command.size].into_iter().any(is_list)
        || bursts.is_some_and(|bursts| is_list(&bursts.on) || is_list(&bursts.off));
    if reads || command.logs != Logs::default() {
        bail!(
            "an order names no files (`-Fp`, `-Fs`, `-Ft`, `-l`, `-x`, `-L`, `-X`); logs are those \
             of `-Q`"
        );
    }
    if command.is_passive {
        bail!("an order has no passive mode (`-H`)");
    }
    Ok(*command)
}
