//! Devices that elements share: `FromDevice` and `ToDevice` of one interface use one.
//!
//! Elements say in `prepare` what they want; wishes for one interface become one device, which the first that
//! opens it opens for all. A device may lie in the packets' own memory, so the pool is made as large as the
//! devices need before the first is opened, when there are no packets yet.

use super::Ctx;
use crate::host::DeviceRequest;
use std::io;
use trammel_packet::batch::Packets;
use trammel_packet::device::{Device, DeviceCounters};
use trammel_packet::pool::Pool;

/// A device of the router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceId(usize);

/// Slots that each device's rings may hold, and as many again for packets on their way.
const PACKETS_A_DEVICE: usize = 4096;

/// A device that several elements may use.
#[derive(Debug)]
struct Shared {
    request: DeviceRequest,
    device: Option<Box<dyn Device>>,
    /// Remarks that were said, without their numbers.
    said: Vec<String>,
}

/// All devices.
#[derive(Debug, Default)]
pub(super) struct Devices {
    all: Vec<Shared>,
    is_pool_ready: bool,
}

/// A remark without its numbers: the same remark comes with other numbers later.
fn kind_of(remark: &str) -> String {
    remark.chars().filter(|c| !c.is_ascii_digit()).collect()
}

fn not_open() -> io::Error {
    io::Error::from(io::ErrorKind::NotConnected)
}

impl Ctx {
    /// Wishes for a device. Wishes for one name are one device, unless each names another method; options of
    /// the first that gives them hold.
    pub fn want_device(&mut self, wish: DeviceRequest) -> DeviceId {
        let same = |other: &DeviceRequest| {
            let methods = [&other.method, &wish.method];
            other.name == wish.name
                && (methods[0] == methods[1] || methods.iter().any(|method| method.is_empty()))
        };
        if let Some(at) = (self.devices.all.iter()).position(|shared| same(&shared.request)) {
            let shared = &mut self.devices.all[at].request;
            if shared.method.is_empty() {
                shared.method = wish.method;
            }
            shared.promiscuous |= wish.promiscuous;
            shared.address = shared.address.take().or(wish.address);
            for (key, value) in wish.options {
                if !shared.options.iter().any(|(other, _)| *other == key) {
                    shared.options.push((key, value));
                }
            }
            self.wanted.push(DeviceId(at));
            return DeviceId(at);
        }
        self.want_own_device(wish)
    }

    /// Wishes for a device that is no one else's.
    pub fn want_own_device(&mut self, wish: DeviceRequest) -> DeviceId {
        let id = DeviceId(self.devices.all.len());
        self.wanted.push(id);
        self.devices.all.push(Shared {
            request: wish,
            device: None,
            said: Vec::new(),
        });
        id
    }

    /// Opens a device that was wished for, where it is not open; the text of a refusal says what would mend it.
    pub fn open_wanted(&mut self, id: DeviceId) -> Result<(), String> {
        if self.devices.all[id.0].device.is_some() {
            return Ok(());
        }
        if !self.devices.is_pool_ready && self.pool.in_use() == 0 {
            let packets = self
                .options
                .packets
                .max(PACKETS_A_DEVICE * self.devices.all.len());
            let most = self.options.most_packets.max(packets);
            self.pool = Pool::new(packets, most);
        }
        self.devices.is_pool_ready = true;
        let request = self.devices.all[id.0].request.clone();
        let device = self.open_device(&request)?;
        self.devices.all[id.0].device = Some(device);
        self.opened.push(id);
        self.say_remarks(id);
        Ok(())
    }

    /// An open device.
    pub fn device(&self, id: DeviceId) -> Option<&dyn Device> {
        self.devices.all[id.0].device.as_deref()
    }

    /// What was asked for.
    pub fn device_request(&self, id: DeviceId) -> &DeviceRequest {
        &self.devices.all[id.0].request
    }

    /// The open devices: how they were asked for, and what they counted.
    pub fn open_devices(&self) -> Vec<(&DeviceRequest, DeviceCounters)> {
        let all = self.devices.all.iter();
        let open = |shared: &'_ Shared| shared.device.as_ref().map(|device| device.counters());
        all.filter_map(|shared| Some((&shared.request, open(shared)?)))
            .collect()
    }

    /// What a device counted.
    pub fn device_counters(&self, id: DeviceId) -> DeviceCounters {
        self.device(id).map(Device::counters).unwrap_or_default()
    }

    /// Receives from a device.
    #[inline]
    pub fn receive(&mut self, id: DeviceId, into: &mut Packets) -> io::Result<usize> {
        match &mut self.devices.all[id.0].device {
            Some(device) => device.receive(&mut self.pool, into),
            None => Err(not_open()),
        }
    }

    /// Gives packets to a device; those it has no room for stay.
    #[inline]
    pub fn transmit(&mut self, id: DeviceId, from: &mut Packets) -> io::Result<usize> {
        match &mut self.devices.all[id.0].device {
            Some(device) => device.transmit(&mut self.pool, from),
            None => Err(not_open()),
        }
    }

    /// Has a device send what it gathered; says how many it still holds.
    #[inline]
    pub fn flush(&mut self, id: DeviceId) -> io::Result<usize> {
        match &mut self.devices.all[id.0].device {
            Some(device) => {
                device.flush(&mut self.pool)?;
                Ok(device.unsent())
            }
            None => Err(not_open()),
        }
    }

    /// Says on standard error what a device has to remark and was not said yet.
    pub fn say_remarks(&mut self, id: DeviceId) {
        let shared = &mut self.devices.all[id.0];
        let Some(device) = &shared.device else {
            return;
        };
        for remark in device.remarks() {
            let kind = kind_of(&remark);
            if !shared.said.contains(&kind) {
                shared.said.push(kind);
                self.host.say(&format!("{remark}\n"));
            }
        }
    }

    /// Closes the devices that this router opened, which does not come to run.
    pub(super) fn close_opened(&mut self) {
        let opened = std::mem::take(&mut self.opened);
        self.close_devices(|id| opened.contains(&id));
    }

    /// Closes the devices that the router before this one used and this one does not.
    pub(super) fn close_unwanted(&mut self) {
        let wanted = std::mem::take(&mut self.wanted);
        self.close_devices(|id| !wanted.contains(&id));
        self.wanted = wanted;
    }

    /// Closes devices, which give their packets back.
    pub(super) fn close_devices(&mut self, which: impl Fn(DeviceId) -> bool) {
        for at in 0..self.devices.all.len() {
            if !which(DeviceId(at)) {
                continue;
            }
            self.say_remarks(DeviceId(at));
            if let Some(mut device) = self.devices.all[at].device.take() {
                device.close(&mut self.pool);
            }
        }
    }
}
