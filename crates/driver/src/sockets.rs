//! The machine's sockets, as the router asks for them: TCP, UDP, UNIX, multicast, raw, inherited.
//! None blocks.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{
    Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener, TcpStream, ToSocketAddrs, UdpSocket,
};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::path::Path;
use std::time::Duration;
use trammel_io::accept::Reserve;
use trammel_io::local::Local;
use trammel_io::socket;
use trammel_router::host::{Socket, SocketRequest};

/// The longest that a connection may take to be made: what Linux gives it by itself (tcp(7),
/// `tcp_syn_retries`).
const CONNECTING: Duration = Duration::from_secs(127);

/// Opens a socket.
pub fn open(request: &SocketRequest) -> io::Result<Box<dyn Socket>> {
    match (request.kind.as_str(), request.listen) {
        ("tcp", true) => listen_tcp(request),
        ("tcp", false) => connect_tcp(request),
        ("unix", true) => listen_unix(request),
        ("unix", false) => {
            let stream = UnixStream::connect(&request.remote)?;
            stream.set_nonblocking(true)?;
            Ok(Box::new(Stream {
                stream,
                peer: request.remote.clone(),
            }))
        }
        ("udp", _) => open_udp(request),
        ("unix-datagram", _) => open_unix_datagram(request),
        ("multicast", _) => open_multicast(request),
        ("raw", _) => open_raw(request),
        ("descriptor", _) => inherited(request),
        (kind, _) => Err(wrong(format!("there are no `{kind}` sockets"))),
    }
}

fn wrong(text: String) -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, text)
}

/// The value of an option, where it was given.
fn option<'a>(request: &'a SocketRequest, key: &str) -> Option<&'a str> {
    let found = request.options.iter().find(|(name, _)| name == key);
    found.map(|(_, value)| value.as_str())
}

fn flag(request: &SocketRequest, key: &str, default: bool) -> bool {
    option(request, key).map_or(default, |value| value == "true")
}

/// An IPv4 address and port: `127.0.0.1:80`, or a port alone for any address.
fn address(text: &str) -> io::Result<SocketAddrV4> {
    if let Ok(port) = text.parse() {
        return Ok(SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, port));
    }
    let mut all = text.to_socket_addrs()?;
    let found = all.find_map(|one| match one {
        SocketAddr::V4(one) => Some(one),
        SocketAddr::V6(_) => None,
    });
    found.ok_or_else(|| wrong(format!("`{text}` is no IPv4 address with a port")))
}

fn set_buffers(request: &SocketRequest, of: &impl AsFd) -> io::Result<()> {
    let bytes = |key| option(request, key).and_then(|value| value.parse().ok());
    socket::set_buffers(of.as_fd(), bytes("SNDBUF"), bytes("RCVBUF"))
}

/// A connection of bytes.
#[derive(Debug)]
struct Stream<T> {
    stream: T,
    peer: String,
}

impl<T: Read + Write + AsRawFd + Send + std::fmt::Debug> Socket for Stream<T> {
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
        self.peer.clone()
    }
}

/// A connection that this process was started with; it is over when this is dropped.
#[derive(Debug)]
struct Inherited(Stream<UnixStream>);

fn inherited(request: &SocketRequest) -> io::Result<Box<dyn Socket>> {
    let number = (request.local.parse())
        .map_err(|_| wrong(format!("`{}` is no descriptor", request.local)))?;
    // Any stream does, whatever its family: only what streams have in common is used.
    let stream = UnixStream::from(socket::inherited(number)?);
    stream.set_nonblocking(true)?;
    Ok(Box::new(Inherited(Stream {
        stream,
        peer: format!("descriptor {number}"),
    })))
}

impl Socket for Inherited {
    fn accept(&mut self) -> io::Result<Option<Box<dyn Socket>>> {
        Ok(None)
    }

    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.0.read(into)
    }

    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        self.0.write(from)
    }

    fn descriptor(&self) -> i32 {
        self.0.descriptor()
    }

    fn address(&self) -> String {
        self.0.address()
    }
}

impl Drop for Inherited {
    fn drop(&mut self) {
        // The number that was given stays open, so that the partner would not see the end
        // otherwise.
        let _ = self.0.stream.shutdown(std::net::Shutdown::Both);
    }
}

fn tcp_stream(stream: TcpStream, request: &SocketRequest) -> io::Result<Box<dyn Socket>> {
    stream.set_nonblocking(true)?;
    stream.set_nodelay(flag(request, "NODELAY", true))?;
    set_buffers(request, &stream)?;
    let peer = stream
        .peer_addr()
        .map_or_else(|_| String::new(), |peer| peer.to_string());
    Ok(Box::new(Stream { stream, peer }))
}

fn connect_tcp(request: &SocketRequest) -> io::Result<Box<dyn Socket>> {
    let remote = SocketAddr::from(address(&request.remote)?);
    let local = match request.local.as_str() {
        "" => Local::any(remote.ip()),
        local => Local {
            address: address(local)?.into(),
            device: None,
        },
    };
    tcp_stream(local.connect(remote, CONNECTING)?, request)
}

#[derive(Debug)]
struct Listener {
    socket: TcpListener,
    reserve: Reserve,
    request: SocketRequest,
}

fn listen_tcp(request: &SocketRequest) -> io::Result<Box<dyn Socket>> {
    let socket = match request.local.parse::<SocketAddr>() {
        Ok(local) => TcpListener::bind(local)?,
        Err(_) => TcpListener::bind(address(&request.local)?)?,
    };
    socket.set_nonblocking(true)?;
    Ok(Box::new(Listener {
        socket,
        reserve: Reserve::new(),
        request: request.clone(),
    }))
}

fn listening() -> io::Error {
    io::Error::from(ErrorKind::NotConnected)
}

impl Socket for Listener {
    fn accept(&mut self) -> io::Result<Option<Box<dyn Socket>>> {
        match self.reserve.accept(|| self.socket.accept())? {
            Some((stream, _)) => tcp_stream(stream, &self.request).map(Some),
            None => Ok(None),
        }
    }

    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(listening())
    }

    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(listening())
    }

    fn descriptor(&self) -> i32 {
        self.socket.as_raw_fd()
    }

    fn address(&self) -> String {
        self.socket
            .local_addr()
            .map_or_else(|_| String::new(), |local| local.to_string())
    }
}

#[derive(Debug)]
struct PathListener {
    listener: UnixListener,
    reserve: Reserve,
    path: String,
    /// The file that was made for it.
    made: Option<(u64, u64)>,
}

fn listen_unix(request: &SocketRequest) -> io::Result<Box<dyn Socket>> {
    let path = Path::new(&request.local);
    let listen = || match option(request, "MODE") {
        Some("0600") => socket::private_unix(path),
        _ => UnixListener::bind(path),
    };
    let listener = match listen() {
        Err(why) if why.kind() == ErrorKind::AddrInUse && is_left_over(path) => {
            std::fs::remove_file(path)?;
            listen()?
        }
        listener => listener?,
    };
    listener.set_nonblocking(true)?;
    Ok(Box::new(PathListener {
        listener,
        reserve: Reserve::new(),
        path: request.local.clone(),
        made: identity(path),
    }))
}

/// Whether a path is that of a socket on which nobody listens any more.
fn is_left_over(path: &Path) -> bool {
    let is_socket = std::fs::symlink_metadata(path).is_ok_and(|what| what.file_type().is_socket());
    let refused = |why: io::Error| why.kind() == ErrorKind::ConnectionRefused;
    is_socket && UnixStream::connect(path).is_err_and(refused)
}

/// What tells a file from another that comes to have its name.
fn identity(path: &Path) -> Option<(u64, u64)> {
    let what = std::fs::symlink_metadata(path).ok()?;
    Some((what.dev(), what.ino()))
}

impl Socket for PathListener {
    fn accept(&mut self) -> io::Result<Option<Box<dyn Socket>>> {
        let Some((stream, _)) = self.reserve.accept(|| self.listener.accept())? else {
            return Ok(None);
        };
        stream.set_nonblocking(true)?;
        Ok(Some(Box::new(Stream {
            stream,
            peer: self.path.clone(),
        })))
    }

    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(listening())
    }

    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(listening())
    }

    fn descriptor(&self) -> i32 {
        self.listener.as_raw_fd()
    }

    fn address(&self) -> String {
        self.path.clone()
    }
}

impl Drop for PathListener {
    fn drop(&mut self) {
        // Another program may have the name by now.
        if self.made.is_some() && identity(Path::new(&self.path)) == self.made {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Datagrams to one partner: the one that was named, or the one that spoke last.
#[derive(Debug)]
struct Datagrams {
    socket: UdpSocket,
    /// Sends from here rather than from `socket`: of multicast.
    sender: Option<UdpSocket>,
    partner: Option<SocketAddr>,
    /// Whom datagrams come from tells whom to answer.
    answers: bool,
    last: Option<SocketAddr>,
    /// What comes from here is our own.
    own: Option<SocketAddr>,
    is_raw: bool,
}

impl Datagrams {
    fn new(socket: UdpSocket) -> Datagrams {
        Datagrams {
            socket,
            sender: None,
            partner: None,
            answers: false,
            last: None,
            own: None,
            is_raw: false,
        }
    }
}

impl Socket for Datagrams {
    fn accept(&mut self) -> io::Result<Option<Box<dyn Socket>>> {
        Ok(None)
    }

    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            let (count, from) = self.socket.recv_from(into)?;
            if self.own == Some(from) {
                continue;
            }
            self.last = Some(from);
            if self.answers {
                self.partner = Some(from);
            }
            return Ok(count);
        }
    }

    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        let to = if self.is_raw {
            let octets = from
                .get(16..20)
                .and_then(|bytes| <[u8; 4]>::try_from(bytes).ok());
            octets.map(|to| SocketAddrV4::new(Ipv4Addr::from(to), 0).into())
        } else {
            self.partner
        };
        let to = to.ok_or_else(|| io::Error::from(ErrorKind::NotConnected))?;
        self.sender
            .as_ref()
            .unwrap_or(&self.socket)
            .send_to(from, to)
    }

    fn send_to(&mut self, from: &[u8], to: Ipv4Addr) -> io::Result<usize> {
        let port = self.partner.map_or(0, |partner| partner.port());
        self.socket.send_to(from, (to, port))
    }

    fn descriptor(&self) -> i32 {
        self.socket.as_raw_fd()
    }

    fn address(&self) -> String {
        self.last
            .or(self.partner)
            .map_or_else(String::new, |one| one.to_string())
    }
}

fn open_udp(request: &SocketRequest) -> io::Result<Box<dyn Socket>> {
    let local = match request.local.as_str() {
        "" => SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0),
        local => address(local)?,
    };
    let socket = UdpSocket::bind(local)?;
    socket.set_nonblocking(true)?;
    socket.set_broadcast(true)?;
    set_buffers(request, &socket)?;
    let mut datagrams = Datagrams::new(socket);
    if request.remote.is_empty() {
        datagrams.answers = true;
    } else {
        datagrams.partner = Some(address(&request.remote)?.into());
    }
    Ok(Box::new(datagrams))
}

fn open_multicast(request: &SocketRequest) -> io::Result<Box<dyn Socket>> {
    let group = address(&request.remote)?;
    let socket = socket::shared_udp(group)?;
    let source = match request.local.as_str() {
        "" => None,
        local => Some(address(local)?),
    };
    let interface = source.map_or(Ipv4Addr::UNSPECIFIED, |source| *source.ip());
    let from = source.unwrap_or(SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0));
    let sender = UdpSocket::bind(from)?;
    if source.is_some() {
        socket::multicast_by(&sender, interface)?;
    }
    sender.set_multicast_loop_v4(flag(request, "LOOP", true))?;
    socket.join_multicast_v4(group.ip(), &interface)?;
    for one in [&socket, &sender] {
        one.set_nonblocking(true)?;
        set_buffers(request, one)?;
    }
    let mut datagrams = Datagrams::new(socket);
    datagrams.own = source.is_some().then(|| sender.local_addr()).transpose()?;
    datagrams.sender = Some(sender);
    datagrams.partner = Some(group.into());
    Ok(Box::new(datagrams))
}

fn open_raw(request: &SocketRequest) -> io::Result<Box<dyn Socket>> {
    let protocol = option(request, "PROTOCOL").and_then(|value| value.parse().ok());
    let protocol = protocol.ok_or_else(|| wrong("a raw socket needs a protocol".to_owned()))?;
    let socket = socket::raw(protocol)?;
    socket.set_nonblocking(true)?;
    let mut datagrams = Datagrams::new(socket);
    datagrams.is_raw = true;
    Ok(Box::new(datagrams))
}

/// Datagrams by the file system's names.
#[derive(Debug)]
struct PathDatagrams {
    socket: UnixDatagram,
    partner: Option<std::path::PathBuf>,
    answers: bool,
    bound: String,
}

fn open_unix_datagram(request: &SocketRequest) -> io::Result<Box<dyn Socket>> {
    let socket = match request.local.as_str() {
        "" => UnixDatagram::unbound()?,
        path => UnixDatagram::bind(path)?,
    };
    socket.set_nonblocking(true)?;
    set_buffers(request, &socket)?;
    let answers = request.remote.is_empty();
    Ok(Box::new(PathDatagrams {
        socket,
        partner: (!answers).then(|| request.remote.clone().into()),
        answers,
        bound: request.local.clone(),
    }))
}

impl Socket for PathDatagrams {
    fn accept(&mut self) -> io::Result<Option<Box<dyn Socket>>> {
        Ok(None)
    }

    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let (count, from) = self.socket.recv_from(into)?;
        if let (true, Some(from)) = (self.answers, from.as_pathname()) {
            self.partner = Some(from.to_owned());
        }
        Ok(count)
    }

    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        match &self.partner {
            Some(partner) => self.socket.send_to(from, partner),
            None => Err(io::Error::from(ErrorKind::NotConnected)),
        }
    }

    fn descriptor(&self) -> i32 {
        self.socket.as_raw_fd()
    }

    fn address(&self) -> String {
        self.partner
            .as_ref()
            .map_or_else(|| self.bound.clone(), |path| path.display().to_string())
    }
}

impl Drop for PathDatagrams {
    fn drop(&mut self) {
        if !self.bound.is_empty() {
            let _ = std::fs::remove_file(&self.bound);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_io::clock;

    fn request(kind: &str, local: &str, remote: &str, listen: bool) -> SocketRequest {
        SocketRequest {
            kind: kind.to_owned(),
            local: local.to_owned(),
            remote: remote.to_owned(),
            listen,
            options: Vec::new(),
        }
    }

    /// Waits until the socket can be read.
    fn wait(socket: &dyn Socket) {
        let ready = clock::wait(&[socket.descriptor()], Some(10_000_000_000))
            .expect("the clock can be waited for");
        assert_eq!(ready, 1, "nothing comes");
    }

    fn exchange(client: &mut dyn Socket, server: &mut dyn Socket) {
        let mut buffer = [0; 100];
        let empty = server.read(&mut buffer).expect_err("nothing is there");
        assert_eq!(empty.kind(), ErrorKind::WouldBlock);
        assert_eq!(client.write(b"hello").expect("written"), 5);
        wait(server);
        assert_eq!(server.read(&mut buffer).expect("read"), 5);
        assert_eq!(server.write(b"hi").expect("answered"), 2);
        wait(client);
        assert_eq!(client.read(&mut buffer).expect("read"), 2);
        assert_eq!(&buffer[..2], b"hi");
    }

    #[test]
    fn connections_are_accepted_and_speak_both_ways() {
        let directory = tempfile::tempdir().expect("a temporary folder can be made");
        let path = directory.path().join("s").display().to_string();
        for (kind, local) in [("tcp", "127.0.0.1:0"), ("unix", path.as_str())] {
            let mut listener = open(&request(kind, local, "", true)).expect("it listens");
            assert!(listener.accept().expect("a client connects").is_none());
            let mut client =
                open(&request(kind, "", &listener.address(), false)).expect("a client");
            wait(&*listener);
            let mut server = listener
                .accept()
                .expect("a client connects")
                .expect("it has come");
            exchange(&mut *client, &mut *server);
            drop(client);
            wait(&*server);
            assert_eq!(server.read(&mut [0; 4]).expect("the end"), 0);
        }
        assert!(
            !std::path::Path::new(&path).exists(),
            "the name goes with the listener"
        );
    }

    #[test]
    fn datagrams_are_answered_to_whom_spoke_last() {
        let free = UdpSocket::bind("127.0.0.1:0")
            .and_then(|s| s.local_addr())
            .expect("a port");
        let mut server = open(&request("udp", &free.to_string(), "", true)).expect("a server");
        let mut client = open(&request("udp", "", &free.to_string(), false)).expect("a client");
        assert!(server.write(b"to whom").is_err());
        exchange(&mut *client, &mut *server);
        let used = open(&request("udp", &free.to_string(), "", true)).expect_err("in use");
        assert_eq!(used.kind(), ErrorKind::AddrInUse);
    }

    #[test]
    fn what_no_socket_can_be_is_refused() {
        assert!(open(&request("carrier-pigeon", "", "", false)).is_err());
        assert!(open(&request("tcp", "", "not an address", false)).is_err());
    }
}
