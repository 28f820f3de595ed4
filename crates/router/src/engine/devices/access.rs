//! Opening and using devices, by the element that runs.

use super::{DeviceId, PACKETS_A_DEVICE, Shared, kind_of, not_open};
use crate::engine::Ctx;
use crate::host::DeviceRequest;
use std::io;
use trammel_packet::batch::Packets;
use trammel_packet::device::{Device, DeviceCounters};
use trammel_packet::pool::Pool;

impl Ctx {
    /// Wishes for a device. Wishes for one name are one device, unless each names another method;
    /// options of the first that gives them hold.
    pub fn want_device(&mut self, wish: DeviceRequest) -> DeviceId {
        let same = |other: &DeviceRequest| {
            let methods = [&other.method, &wish.method];
            other.name == wish.name
                && (methods[0] == methods[1] || methods.iter().any(|method| method.is_empty()))
        };
        if let Some(at) = (self.world.devices.all.iter()).position(|shared| same(&shared.request)) {
            let shared = &mut self.world.devices.all[at].request;
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
            self.world.wanted.push(DeviceId(at));
            return DeviceId(at);
        }
        self.want_own_device(wish)
    }

    /// Wishes for a device that is no one else's.
    pub fn want_own_device(&mut self, wish: DeviceRequest) -> DeviceId {
        let id = DeviceId(self.world.devices.all.len());
        self.world.wanted.push(id);
        self.world.devices.all.push(Shared {
            request: wish,
            device: None,
            said: Vec::new(),
        });
        id
    }

    /// Opens a device that was wished for, where it is not open; the text of a refusal says what
    /// would mend it.
    pub fn open_wanted(&mut self, id: DeviceId) -> Result<(), String> {
        if self.world.devices.all[id.0].device.is_some() {
            return Ok(());
        }
        if !self.world.devices.is_pool_ready && self.path.pool.in_use() == 0 {
            let packets = self
                .options
                .packets
                .max(PACKETS_A_DEVICE * self.world.devices.all.len());
            let most = self.options.most_packets.max(packets);
            self.path.pool = Pool::new(packets, most);
        }
        self.world.devices.is_pool_ready = true;
        let request = self.world.devices.all[id.0].request.clone();
        let device = self.open_device(&request)?;
        self.world.devices.all[id.0].device = Some(device);
        self.world.opened.push(id);
        self.say_remarks(id);
        Ok(())
    }

    /// An open device.
    pub fn device(&self, id: DeviceId) -> Option<&dyn Device> {
        self.world.devices.all[id.0].device.as_deref()
    }

    /// What was asked for.
    pub fn device_request(&self, id: DeviceId) -> &DeviceRequest {
        &self.world.devices.all[id.0].request
    }

    /// The open devices: how they were asked for, and what they counted.
    pub fn open_devices(&self) -> Vec<(&DeviceRequest, DeviceCounters)> {
        let all = self.world.devices.all.iter();
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
        match &mut self.world.devices.all[id.0].device {
            Some(device) => device.receive(&mut self.path.pool, into),
            None => Err(not_open()),
        }
    }

    /// Gives packets to a device; those it has no room for stay.
    #[inline]
    pub fn transmit(&mut self, id: DeviceId, from: &mut Packets) -> io::Result<usize> {
        match &mut self.world.devices.all[id.0].device {
            Some(device) => device.transmit(&mut self.path.pool, from),
            None => Err(not_open()),
        }
    }

    /// Has a device send what it gathered; says how many it still holds.
    #[inline]
    pub fn flush(&mut self, id: DeviceId) -> io::Result<usize> {
        match &mut self.world.devices.all[id.0].device {
            Some(device) => {
                device.flush(&mut self.path.pool)?;
                Ok(device.unsent())
            }
            None => Err(not_open()),
        }
    }

    /// Says on standard error what a device has to remark and was not said yet.
    pub fn say_remarks(&mut self, id: DeviceId) {
        let shared = &mut self.world.devices.all[id.0];
        let Some(device) = &shared.device else {
            return;
        };
        for remark in device.remarks() {
            let kind = kind_of(&remark);
            if !shared.said.contains(&kind) {
                shared.said.push(kind);
                self.world.host.say(&format!("{remark}\n"));
            }
        }
    }

    /// Closes the devices that this router opened, which does not come to run.
    pub(in crate::engine) fn close_opened(&mut self) {
        let opened = std::mem::take(&mut self.world.opened);
        self.close_devices(|id| opened.contains(&id));
    }

    /// Closes the devices that the router before this one used and this one does not.
    pub(in crate::engine) fn close_unwanted(&mut self) {
        let wanted = std::mem::take(&mut self.world.wanted);
        self.close_devices(|id| !wanted.contains(&id));
        self.world.wanted = wanted;
    }

    /// Closes devices, which give their packets back.
    pub(in crate::engine) fn close_devices(&mut self, which: impl Fn(DeviceId) -> bool) {
        for at in 0..self.world.devices.all.len() {
            if !which(DeviceId(at)) {
                continue;
            }
            self.say_remarks(DeviceId(at));
            if let Some(mut device) = self.world.devices.all[at].device.take() {
                device.close(&mut self.path.pool);
            }
        }
    }
}
