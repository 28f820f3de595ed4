//! One transfer of the simulator's TCP to this machine's kernel, over a TAP in a namespace of its
//! own.
//!
//! ```text
//! cargo run --release -p trammel-peer --example over_tap -- --cc cubic --bytes 100MB
//! ```
//! `--help` lists the options. Needs root, or CAP_NET_ADMIN and CAP_SYS_ADMIN. The faults and the
//! delay are made in this process; the kernel only receives, and its contents are checked.
//! Processor time is this program's thread with the host, its system calls included: not the thread
//! that reads from the kernel.
#![allow(clippy::print_stdout)]

#[path = "../tests/common/tap.rs"]
mod tap;

use std::error::Error;
use std::io::Read;
use std::net::{SocketAddrV4, TcpListener, TcpStream};
use std::process::ExitCode;
use tap::KERNEL;
use trammel_core::entry::Params;
use trammel_core::time::{Span, Time};
use trammel_core::units::{Dimension, Quantity};
use trammel_io::clock::thread_cpu_ns;
use trammel_peer::drive::Turn;
use trammel_peer::faults::Rates;
use trammel_peer::host::Maker;
use trammel_peer::pattern;
use trammel_tcp::cc;
use trammel_tcp::connection::State;
use trammel_tcp::stack::{EcnMode, Stack};

/// Each option with its default and its help.
const OPTIONS: [(&str, &str, &str); 8] = [
    (
        "--cc",
        "cubic",
        "congestion control, as `trammel list variants` has them",
    ),
    ("--bytes", "100MB", "what is sent"),
    ("--stack", "linux-6", "linux-6, linux-2.6 or rfc"),
    ("--delay", "0ms", "that frames from the kernel take"),
    (
        "--loss",
        "0",
        "fraction of frames to the kernel that are lost",
    ),
    (
        "--marks",
        "0",
        "fraction of them that are marked Congestion Experienced; above 0 both ends do ECN",
    ),
    ("--seed", "1", "of the faults and of sequence numbers"),
    (
        "--patience",
        "60s",
        "after which an unfinished transfer is given up",
    ),
];

/// The options' texts, in the order of [`OPTIONS`].
struct Texts(Vec<String>);

impl Texts {
    fn read(mut args: impl Iterator<Item = String>) -> Result<Texts, String> {
        let mut texts: Vec<_> = OPTIONS.map(|(_, default, _)| default.to_owned()).into();
        while let Some(arg) = args.next() {
            let at = OPTIONS.iter().position(|(name, ..)| *name == arg);
            let at = at.ok_or_else(|| format!("`{arg}` is no option; `--help` lists them"))?;
            texts[at] = args
                .next()
                .ok_or_else(|| format!("`{arg}` lacks its value: {}", OPTIONS[at].2))?;
        }
        Ok(Texts(texts))
    }

    fn get(&self, name: &str) -> &str {
        let at = OPTIONS.iter().position(|(option, ..)| *option == name);
        &self.0[at.expect("an option of the table")]
    }

    fn number(&self, name: &str, dimension: Dimension, most: f64) -> Result<f64, String> {
        let quantity = Quantity::parse_as(self.get(name), &[dimension]);
        let value = quantity.map_err(|why| format!("{name}: {why}"))?.value;
        if (0.0..=most).contains(&value) {
            Ok(value)
        } else {
            Err(format!(
                "{name}: `{}` is not from 0 to {most}",
                self.get(name)
            ))
        }
    }

    fn time(&self, name: &str) -> Result<Span, String> {
        const DAY_S: f64 = 86_400.0;
        self.number(name, Dimension::Time, DAY_S)
            .map(Span::from_secs_f64)
    }
}

fn main() -> ExitCode {
    if std::env::args().any(|arg| arg == "--help") {
        for (name, default, help) in OPTIONS {
            println!("{name:<11}{default:<9}{help}");
        }
        return ExitCode::SUCCESS;
    }
    let texts = match Texts::read(std::env::args().skip(1)) {
        Ok(texts) => texts,
        Err(why) => {
            eprintln!("over_tap: {why}");
            return ExitCode::from(2);
        }
    };
    match transfer(&texts) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("over_tap: {why}");
            ExitCode::FAILURE
        }
    }
}

/// Reads to the end; says how many bytes came and how many of them were wrong.
fn receive(listener: &TcpListener) -> std::io::Result<(u64, u64)> {
    let (mut stream, _): (TcpStream, _) = listener.accept()?;
    let mut buffer = vec![0; 1 << 18];
    let (mut done, mut wrong) = (0_u64, 0);
    loop {
        let count = stream.read(&mut buffer)?;
        if count == 0 {
            return Ok((done, wrong));
        }
        wrong += pattern::wrong_bytes(done as u32, &buffer[..count]);
        done += count as u64;
    }
}

fn transfer(texts: &Texts) -> Result<(), Box<dyn Error>> {
    let entry = cc::FAMILY.get(texts.get("--cc"))?;
    let params = Params::resolve(&entry.about, &[]).expect("every variant has defaults");
    let mut stack = Stack::preset(texts.get("--stack"))
        .ok_or_else(|| format!("--stack: one of {}", Stack::PRESETS.join(", ")))?;
    let bytes = texts.number("--bytes", Dimension::Bytes, 1e15)? as u64;
    let delay = texts.time("--delay")?;
    let marking = texts.number("--marks", Dimension::Ratio, 1.0)?;
    let loss = texts.number("--loss", Dimension::Ratio, 1.0)?;
    let seed = texts
        .get("--seed")
        .parse()
        .map_err(|why| format!("--seed: {why}"))?;
    let patience = texts.time("--patience")?;
    if marking > 0.0 {
        stack.ecn = EcnMode::Classic;
    }

    let inward = Rates {
        reordering: f64::from(u8::from(delay > Span::ZERO)),
        hold: delay,
        ..Rates::default()
    };
    let outward = Rates {
        loss,
        marking,
        ..Rates::default()
    };
    let mut wire = tap::wire(seed, [inward, outward])?;
    if marking > 0.0 || entry.about.name == "dctcp" {
        wire.kernel.set_sysctl("ipv4/tcp_ecn", "1")?;
    }
    let listener = wire.kernel.run(|| TcpListener::bind((KERNEL, 0)))?;
    let to = SocketAddrV4::new(KERNEL, listener.local_addr()?.port());
    let reader = std::thread::spawn(move || receive(&listener));

    let maker = Maker::new(&stack, move || (entry.build)(&params));
    let (start, cpu_start) = (wire.driver.now(), thread_cpu_ns());
    let flow = wire.driver.host.connect(start, to, &maker);
    let connection = wire.driver.host.connection(flow);
    connection.write(bytes);
    connection.close_when_written();
    // The kernel's reader closes when it has all; then our side is over.
    let is_done = wire.driver.run(start + patience, |_, host| {
        match host.connection(flow).state() {
            State::Closed | State::TimeWait => Turn::Done,
            _ => Turn::Until(Time::MAX),
        }
    })?;
    let (end, cpu_ns) = (wire.driver.now(), thread_cpu_ns() - cpu_start);
    let connection = &wire.driver.host.flow(flow).connection;
    if let Some(failure) = connection.failure() {
        return Err(failure.into());
    }
    if !is_done {
        return Err(format!("not done after {patience}; `--patience` gives it more time").into());
    }
    let (came, wrong) = reader.join().expect("the thread does not panic")?;
    if (came, wrong) != (bytes, 0) {
        return Err(format!("{came} bytes of {bytes} came, {wrong} of them wrong").into());
    }
    let (ours, hosts) = (connection.counters(), wire.driver.host.counters());
    let segments = hosts.segments_sent + hosts.segments_received;
    let lasted = end.saturating_since(start).as_secs_f64();
    println!("variant           {}", entry.about.name);
    println!("bytes             {bytes}");
    println!("time              {lasted:.3} s");
    println!(
        "goodput           {:.1} Mbit/s",
        bytes as f64 * 8e-6 / lasted
    );
    println!(
        "segments          {} sent, {} received",
        hosts.segments_sent, hosts.segments_received
    );
    println!("lost on the wire  {}", wire.driver.outward.counters().lost);
    println!("retransmissions   {}", ours.retransmissions);
    println!("timeouts          {}", ours.timeouts);
    println!(
        "marked            {}, {} reductions",
        wire.driver.outward.counters().marked,
        ours.ecn_reductions
    );
    println!(
        "processor time    {:.0} ns a segment",
        cpu_ns as f64 / segments as f64
    );
    Ok(())
}
