//! What `KernelTun`, `KernelTap`, `FromHost` and `ToHost` share: a TUN or TAP interface and the
//! ways to and from it.

use super::link_header::{ip_offset, mark_ip};
use crate::args::kinds::{INT, UINT};
use crate::args::packet_length::within_most;
use crate::args::{self, Args, Need, Param, param};
use crate::diagnostic::Diagnostics;
use crate::engine::devices::DeviceId;
use crate::engine::notify::Signal;
use crate::engine::setup::Setup;
use crate::engine::task::TaskId;
use crate::engine::{Ctx, Handler};
use crate::graph::processing::Mode;
use crate::host::DeviceRequest;
use crate::reason::Reason;
use trammel_packet::batch::{Batch, CAPACITY};

/// What an interface carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// IP packets.
    Tun,
    /// Ethernet frames.
    Tap,
}

/// The arguments of `KernelTun` and `KernelTap`.
pub(crate) static PARAMS: &[Param] = &[
    param(
        "ADDR",
        Need::Mandatory,
        args::Kind::Prefix,
        "",
        "the kernel's address and its network",
    ),
    param(
        "GATEWAY",
        Need::Positional,
        args::Kind::Ip,
        "0.0.0.0",
        "the router of a default route",
    ),
    param(
        "HEADROOM",
        Need::Keyword,
        UINT,
        "28",
        "bytes free before the packet, at least",
    ),
    param(
        "BURST",
        Need::Keyword,
        INT,
        "32",
        "packets of each run, rounded up to whole batches",
    ),
    param(
        "ETHER",
        Need::Keyword,
        args::Kind::Ether,
        "00:01:02:03:04:05",
        "the kernel's Ethernet address",
    ),
    param(
        "IGNORE_QUEUE_OVERFLOWS",
        Need::Keyword,
        args::Kind::Bool,
        "false",
        "whether a full queue is told only once",
    ),
    param("MTU", Need::Keyword, INT, "1500", "the longest IP packet"),
    param(
        "DEVNAME",
        Need::Keyword,
        args::Kind::Text,
        "",
        "the interface's name",
    ),
];

/// Tasks: what comes from the kernel, and what goes to it.
const FROM_KERNEL: u32 = 0;
const TO_KERNEL: u32 = 1;

/// An interface of the kernel and what passes by it.
#[derive(Debug)]
pub(crate) struct KernelInterface {
    kind: Kind,
    /// What the device is asked to be.
    pub wish: DeviceRequest,
    /// The longest IP packet to the kernel.
    pub mtu: usize,
    headroom: usize,
    bursts: usize,
    pulls: bool,
    device: Option<DeviceId>,
    receiving: Option<TaskId>,
    sending: Option<TaskId>,
    signal: Option<Signal>,
    descriptor: Option<i32>,
    packets: u64,
    calls: u64,
    was_told: bool,
}

impl KernelInterface {
    /// Not yet configured.
    pub(crate) fn new(kind: Kind) -> KernelInterface {
        KernelInterface {
            kind,
            wish: DeviceRequest {
                method: match kind {
                    Kind::Tun => "tun",
                    Kind::Tap => "tap",
                }
                .to_owned(),
                ..DeviceRequest::default()
            },
            mtu: 1500,
            headroom: 28,
            bursts: 1,
            pulls: false,
            device: None,
            receiving: None,
            sending: None,
            signal: None,
            descriptor: None,
            packets: 0,
            calls: 0,
            was_told: false,
        }
    }

    /// Takes the arguments of [`PARAMS`].
    pub(crate) fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let mut said = Diagnostics::new();
        let (near, gateway) = (args.prefix("ADDR"), args.ip("GATEWAY"));
        let is_near = |one: std::net::Ipv4Addr| u32::from(one) & u32::from(near.mask);
        if !gateway.is_unspecified() && is_near(gateway) != is_near(near.address) {
            said.error(None, "bad GATEWAY");
        }
        if args.int("BURST") < 1 {
            said.error(None, "BURST must be >= 1");
        }
        if args.int("MTU") < 20 {
            said.error(None, "MTU must be greater than 20");
        }
        if args.uint("HEADROOM") > 8192 {
            said.error(None, "HEADROOM too big");
        }
        if said.has_errors() {
            return Err(said);
        }
        self.wish.name = args.text("DEVNAME").to_owned();
        self.wish.address = Some(near.to_string());
        self.mtu = args.int("MTU") as usize;
        self.wish
            .options
            .push(("MTU".to_owned(), self.mtu.to_string()));
        if self.kind == Kind::Tap {
            let mac = args.ether("ETHER").to_string();
            self.wish.options.push(("ETHER".to_owned(), mac));
        }
        if !gateway.is_unspecified() {
            self.wish
                .options
                .push(("GATEWAY".to_owned(), gateway.to_string()));
        }
        self.headroom = within_most("HEADROOM", args.uint("HEADROOM"))?;
        self.bursts = (args.int("BURST") as usize).div_ceil(CAPACITY);
        self.pulls = setup.inputs.first() == Some(&Mode::Pull);
        Ok(())
    }

    /// Asks for the device. Without a name each element has an interface of its own.
    pub(crate) fn prepare(&mut self, ctx: &mut Ctx) {
        if self.wish.name.is_empty() {
            // The machine gives the first free number; the element's place tells wishes apart.
            let kind = &self.wish.method;
            self.wish.name = format!("{kind}%d");
            self.device = Some(ctx.want_own_device(self.wish.clone()));
        } else {
            self.device = Some(ctx.want_device(self.wish.clone()));
        }
    }

    /// Whether another element has opened it.
    pub(crate) fn is_open(&self, ctx: &Ctx) -> bool {
        self.device.is_some_and(|id| ctx.device(id).is_some())
    }

    /// Opens it and makes the tasks.
    pub(crate) fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        let Some(device) = self.device else {
            return Ok(());
        };
        ctx.open_wanted(device)?;
        self.descriptor = ctx
            .device(device)
            .and_then(trammel_packet::device::Device::descriptor);
        if ctx.outputs() > 0 {
            let task = ctx.new_task(FROM_KERNEL);
            ctx.schedule(task);
            self.receiving = Some(task);
        }
        if self.pulls {
            let task = ctx.new_task(TO_KERNEL);
            self.signal = Some(ctx.upstream_signal(0, Some(task)));
            ctx.schedule(task);
            self.sending = Some(task);
        }
        Ok(())
    }

    /// Sends to the kernel.
    pub(crate) fn push(&mut self, ctx: &mut Ctx, mut batch: Batch) {
        let Some(device) = self.device else {
            ctx.recycle(batch);
            return;
        };
        let (kind, mtu) = (self.kind, self.mtu);
        batch.filter(|handle| {
            let packet = &mut ctx.pool()[&handle];
            let longest = match kind {
                Kind::Tap => mtu + 14 + 8,
                Kind::Tun => {
                    // Bare IP: what lies before the network header goes.
                    match packet.network_header_at() {
                        Some(at) if at > 0 => packet.pull(at as usize),
                        _ => {}
                    }
                    mtu
                }
            };
            let reason = match kind {
                Kind::Tap if packet.len() < 14 => Reason::TooShort,
                Kind::Tun if ip_offset(packet.data(), false).is_none() => Reason::BadHeader,
                _ if packet.len() > longest => Reason::TooBig,
                _ => return Some(handle),
            };
            ctx.drop(handle, reason);
            None
        });
        let sent = ctx.transmit(device, &mut batch);
        if let (Err(why), false) = (&sent, self.was_told) {
            self.was_told = true;
            let text = format!("{}: write failed: {why}\n", ctx.declaration(ctx.me()));
            ctx.host().say(&text);
        }
        // The kernel's queue is full, as on a wire.
        ctx.drop_all(&mut batch, Reason::SendFailed);
        ctx.recycle(batch);
    }

    /// Runs a task of its own.
    pub(crate) fn run_task(&mut self, ctx: &mut Ctx, token: u32) -> bool {
        if token == FROM_KERNEL {
            return self.receive(ctx);
        }
        let mut batch = ctx.batch();
        let count = ctx.pull(0, CAPACITY, &mut batch);
        if count > 0 {
            self.push(ctx, batch);
        } else {
            ctx.recycle(batch);
        }
        let is_on = self
            .signal
            .as_ref()
            .is_some_and(|signal| ctx.is_active(signal));
        if let (Some(task), true) = (self.sending, is_on) {
            ctx.schedule(task);
        }
        count > 0
    }

    fn receive(&mut self, ctx: &mut Ctx) -> bool {
        let (Some(device), Some(task)) = (self.device, self.receiving) else {
            return false;
        };
        let before = self.packets;
        for _ in 0..self.bursts.min(ctx.most_burst() / CAPACITY) {
            let mut batch = ctx.batch();
            let came = match ctx.receive(device, &mut batch) {
                Ok(came) => came,
                Err(why) => {
                    ctx.recycle(batch);
                    let text = format!("{}: {why}\n", ctx.declaration(ctx.me()));
                    ctx.host().say(&text);
                    return false;
                }
            };
            self.packets += came as u64;
            let (kind, headroom) = (self.kind, self.headroom);
            batch.filter(|handle| {
                let packet = &mut ctx.pool()[&handle];
                if packet.headroom() < headroom {
                    packet.set_headroom(headroom);
                }
                if kind == Kind::Tun && !mark_ip(packet, false) {
                    ctx.reject(1, handle, Reason::BadHeader);
                    return None;
                }
                Some(handle)
            });
            ctx.emit_all(0, batch);
            if came < CAPACITY {
                break;
            }
        }
        if self.packets > before {
            ctx.schedule(task);
            return true;
        }
        match self.descriptor {
            Some(descriptor) => ctx.watch(descriptor, false),
            None => ctx.schedule(task),
        }
        false
    }

    /// The kernel has sent something.
    pub(crate) fn ready(&mut self, ctx: &mut Ctx, descriptor: i32) {
        self.calls += 1;
        ctx.unwatch(descriptor, false);
        if let Some(task) = self.receiving {
            ctx.schedule(task);
        }
    }

    /// The handlers.
    pub(crate) fn handlers() -> Vec<Handler> {
        vec![
            Handler::new("dev_name", "r"),
            Handler::new("selected_calls", "r"),
            Handler::new("packets", "r"),
        ]
    }

    /// Answers them.
    pub(crate) fn read(&self, ctx: &Ctx, name: &str) -> String {
        match name {
            "dev_name" => {
                let device = self.device.and_then(|id| ctx.device(id));
                device.map_or_else(|| self.wish.name.clone(), |device| device.name().to_owned())
            }
            "selected_calls" => self.calls.to_string(),
            _ => self.packets.to_string(),
        }
    }
}
