//! Sockets of this machine for elements that serve: TCP and UNIX streams, without waiting.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::os::unix::net::{UnixListener, UnixStream};
use trammel_router::host::{Socket, SocketRequest};

#[derive(Debug)]
enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener, String),
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Listener::Unix(_, path) = self {
            // It may have been removed meanwhile.
            let _ = std::fs::remove_file(path);
        }
    }
}

#[derive(Debug)]
struct Stream<S> {
    stream: S,
    address: String,
}

fn stream<S>(stream: S, address: String) -> Box<dyn Socket>
where
    Stream<S>: Socket + 'static,
{
    Box::new(Stream { stream, address })
}

/// Opens what is asked for: a listener.
pub fn open(request: &SocketRequest) -> io::Result<Box<dyn Socket>> {
    let listener = match (request.kind.as_str(), request.listen) {
        ("tcp", true) => {
            let listener = TcpListener::bind(&request.local)?;
            listener.set_nonblocking(true)?;
            Listener::Tcp(listener)
        }
        ("unix", true) => {
            let listener = UnixListener::bind(&request.local)?;
            listener.set_nonblocking(true)?;
            Listener::Unix(listener, request.local.clone())
        }
        (kind, _) => {
            let text = format!("no {kind} sockets");
            return Err(io::Error::new(io::ErrorKind::Unsupported, text));
        }
    };
    Ok(Box::new(listener))
}

impl Socket for Listener {
    fn accept(&mut self) -> io::Result<Option<Box<dyn Socket>>> {
        let accepted = match self {
            Listener::Tcp(listener) => listener.accept().and_then(|(one, from)| {
                one.set_nonblocking(true)?;
                Ok(stream(one, from.to_string()))
            }),
            Listener::Unix(listener, path) => listener.accept().and_then(|(one, _)| {
                one.set_nonblocking(true)?;
                Ok(stream(one, path.clone()))
            }),
        };
        match accepted {
            Ok(one) => Ok(Some(one)),
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(e) => Err(e),
        }
    }

    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::ErrorKind::NotConnected.into())
    }

    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::NotConnected.into())
    }

    fn descriptor(&self) -> i32 {
        match self {
            Listener::Tcp(listener) => listener.as_raw_fd(),
            Listener::Unix(listener, _) => listener.as_raw_fd(),
        }
    }

    fn address(&self) -> String {
        match self {
            Listener::Tcp(listener) => listener
                .local_addr()
                .map(|address| address.to_string())
                .unwrap_or_default(),
            Listener::Unix(_, path) => path.clone(),
        }
    }
}

macro_rules! socket_for {
    ($stream:ty) => {
        impl Socket for Stream<$stream> {
            fn accept(&mut self) -> io::Result<Option<Box<dyn Socket>>> {
                Ok(None)
            }

            fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
                self.stream.read(into)
            }

            fn write(&mut self, from: &[u8]) -> io::Result<usize> {
                self.stream.write(from)
            }

            fn descriptor(&self) -> i32 {
                self.stream.as_raw_fd()
            }

            fn address(&self) -> String {
                self.address.clone()
            }
        }
    };
}

socket_for!(TcpStream);
socket_for!(UnixStream);
