//! A card in memory with its site on a local port.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use trammel_card::web::{Card, Site};
use trammel_control::Control;
use trammel_core::Time;
use trammel_io::clock;
use trammel_netfpga::{Device, design};

pub(crate) const TOKEN: &str = "0123456789abcdef0123456789abcdef";

/// The card, with the control software on it if it has one.
pub(crate) struct Inside {
    pub(crate) device: Device,
    pub(crate) control: Option<Control>,
}

/// A server that ends when this is dropped.
pub(crate) struct Server {
    pub(crate) inside: Arc<Mutex<Inside>>,
    pub(crate) address: SocketAddr,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    pub(crate) fn new(name: &str, control: Option<Control>) -> Server {
        let mut device = Device::new(design(name).expect("there is such a design"));
        device.copy_own();
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port is free");
        let address = listener.local_addr().expect("it listens");
        let site = Site::new(device.design(), address, TOKEN);
        let inside = Arc::new(Mutex::new(Inside { device, control }));
        let is_over = Arc::new(AtomicBool::new(false));
        let (card, end) = (Arc::clone(&inside), Arc::clone(&is_over));
        let thread = std::thread::spawn(move || serve(&listener, site, &card, &end));
        Server {
            inside,
            address,
            is_over,
            thread: Some(thread),
        }
    }

    /// Ends it: from now on nobody answers.
    pub(crate) fn end(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // Somebody has to knock for it to look.
            let _ = std::net::TcpStream::connect(self.address);
            thread.join().expect("the server does not panic");
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}

fn serve(listener: &TcpListener, mut site: Site, card: &Mutex<Inside>, is_over: &AtomicBool) {
    let ports = ["eth1", "eth2", "eth3"].map(str::to_owned);
    let began = clock::monotonic_ns();
    for stream in listener.incoming() {
        if is_over.load(Ordering::Relaxed) {
            return;
        }
        let Ok(mut stream) = stream else { continue };
        // A browser opens connections in advance that may stay silent.
        let patience = std::time::Duration::from_millis(200);
        stream.set_read_timeout(Some(patience)).expect("above 0");
        let mut input = Vec::new();
        let mut part = [0; 4096];
        while let Ok(count @ 1..) = stream.read(&mut part) {
            input.extend_from_slice(&part[..count]);
            let now = Time::from_ns((clock::monotonic_ns() - began).cast_unsigned());
            let mut inside = card.lock().expect("nobody panicked");
            let Inside { device, control } = &mut *inside;
            site.sample(now, device);
            while let Some(frame) = device.own_copy() {
                site.record(&frame);
            }
            let mut card = Card {
                registers: device,
                ports: &ports,
                control: control.as_mut(),
                has_mirror: false,
            };
            if let Some(answer) = site.answer(now, &input, &mut card) {
                drop(inside);
                let _ = stream.write_all(&answer);
                break;
            }
        }
    }
}
