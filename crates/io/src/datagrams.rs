//! Datagrams, many a system call: `sendmmsg` and `recvmmsg`, segmentation of UDP and its
//! counterpart (GSO and GRO), and the time at which the kernel received each.

use crate::{socket, sys};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

/// Bytes at the start of a datagram that are its own; what follows, all share.
pub const HEAD_BYTES: usize = 16;
/// Datagrams of one call that the kernel cuts, at most (`UDP_MAX_SEGMENTS`), and their bytes
/// together.
pub const MOST_SEGMENTS: usize = 128;
/// See [`MOST_SEGMENTS`].
pub const MOST_SEGMENTED_BYTES: usize = 65_507;
/// Bytes that messages of the kernel about a datagram take: a time, a count of losses, the length
/// of segments.
const CONTROL_BYTES: usize = 128;

/// Room for one message of the kernel's, aligned as it wants.
#[repr(C, align(8))]
#[derive(Clone, Copy)]
struct Control([u8; CONTROL_BYTES]);

/// A datagram that is to be sent: its own first bytes, and its length.
#[derive(Clone, Copy, Debug)]
pub struct Outgoing<const HEAD: usize = HEAD_BYTES> {
    /// Its first bytes; of a shorter one, as many as it has.
    pub head: [u8; HEAD],
    /// Bytes of the whole.
    pub bytes: usize,
}

/// Sends datagrams by a connected socket.
pub struct Sender {
    vectors: Vec<[libc::iovec; 2]>,
    headers: Vec<libc::mmsghdr>,
    segments: Vec<u8>,
}

// SAFETY: the pointers in `vectors` and `headers` are written right before the call that reads
// them.
unsafe impl Send for Sender {}

impl std::fmt::Debug for Sender {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sender")
            .field("most", &self.headers.len())
            .finish_non_exhaustive()
    }
}

impl Sender {
    /// Sends so many datagrams a call at most.
    pub fn new(most: usize) -> Sender {
        Sender {
            // SAFETY: zeroes are null pointers and lengths of zero.
            vectors: vec![unsafe { std::mem::zeroed() }; most],
            // SAFETY: as above.
            headers: vec![unsafe { std::mem::zeroed() }; most],
            segments: Vec::new(),
        }
    }

    /// Sends `datagrams` in one call; after its head each goes on with the bytes of `filler` from
    /// the head's length on. Says how many went; one at least, or an error. What `filler` has too
    /// few bytes for, and what is more than a call sends, waits for the next call.
    pub fn send<const HEAD: usize>(
        &mut self,
        socket: &UdpSocket,
        datagrams: &[Outgoing<HEAD>],
        filler: &[u8],
    ) -> io::Result<usize> {
        let count = datagrams.len().min(self.headers.len());
        for ((datagram, vectors), header) in (datagrams.iter())
            .zip(&mut self.vectors)
            .zip(&mut self.headers)
        {
            let own = datagram.bytes.min(HEAD);
            let rest = filler.get(HEAD..datagram.bytes.max(HEAD));
            let rest = rest.ok_or_else(|| too_long(datagram.bytes))?;
            vectors[0].iov_base = datagram.head.as_ptr().cast_mut().cast();
            vectors[0].iov_len = own;
            vectors[1].iov_base = rest.as_ptr().cast_mut().cast();
            vectors[1].iov_len = rest.len();
            header.msg_hdr.msg_iov = vectors.as_mut_ptr();
            header.msg_hdr.msg_iovlen = 2;
        }
        // SAFETY: the first `count` headers point to vectors of ours that point into `datagrams`
        // and `filler`, which are borrowed until the call returns; the kernel copies.
        let sent = unsafe {
            libc::sendmmsg(
                socket.as_raw_fd(),
                self.headers.as_mut_ptr(),
                count as libc::c_uint,
                0,
            )
        };
        sys::check(sent).map(|sent| sent as usize)
    }

    /// Sends `datagrams`, all of the same length, as one that the kernel or the device cuts
    /// (`UDP_SEGMENT`): a burst without gaps. All go or none.
    pub fn send_segments(
        &mut self,
        socket: &UdpSocket,
        datagrams: &[Outgoing],
        filler: &[u8],
    ) -> io::Result<()> {
        let Some(bytes) = datagrams.first().map(|first| first.bytes) else {
            return Ok(());
        };
        let is_right = datagrams.len() <= MOST_SEGMENTS
            && datagrams.len() * bytes <= MOST_SEGMENTED_BYTES
            && datagrams.iter().all(|other| other.bytes == bytes);
        if !is_right || bytes == 0 {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "segments have one length, and all of them together 65,507 bytes at most",
            ));
        }
        self.segments.clear();
        for datagram in datagrams {
            let rest = filler.get(HEAD_BYTES..bytes.max(HEAD_BYTES));
            let rest = rest.ok_or_else(|| too_long(bytes))?;
            let own = bytes.min(HEAD_BYTES);
            self.segments.extend_from_slice(&datagram.head[..own]);
            self.segments.extend_from_slice(rest);
        }
        let mut vector = libc::iovec {
            iov_base: self.segments.as_mut_ptr().cast(),
            iov_len: self.segments.len(),
        };
        let mut control = Control([0; CONTROL_BYTES]);
        // SAFETY: all zeroes is a `msghdr` without anything.
        let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
        header.msg_iov = &raw mut vector;
        header.msg_iovlen = 1;
        header.msg_control = control.0.as_mut_ptr().cast();
        // SAFETY: the macros' functions compute sizes, and give a place within `control`, which has
        // room for it.
        unsafe {
            header.msg_controllen = libc::CMSG_SPACE(2) as _;
            let message = libc::CMSG_FIRSTHDR(&raw const header);
            (*message).cmsg_level = libc::SOL_UDP;
            (*message).cmsg_type = libc::UDP_SEGMENT;
            (*message).cmsg_len = libc::CMSG_LEN(2) as _;
            libc::CMSG_DATA(message)
                .cast::<u16>()
                .write_unaligned(bytes as u16);
        }
        // SAFETY: the header points to things of ours that live until the call returns.
        let sent = unsafe { libc::sendmsg(socket.as_raw_fd(), &raw const header, 0) };
        sys::check_size(sent).map(drop)
    }
}

fn too_long(bytes: usize) -> io::Error {
    let text = format!("a datagram of {bytes} bytes is longer than what fills it");
    io::Error::new(io::ErrorKind::InvalidInput, text)
}

/// A datagram that came, or several that came as one.
#[derive(Clone, Copy, Debug)]
pub struct Incoming<'a> {
    /// As many of its bytes as are kept.
    pub data: &'a [u8],
    /// Bytes that it had.
    pub bytes: usize,
    /// Bytes of each datagram of it but the last, where it is several (GRO); its own otherwise.
    pub segment: usize,
    /// Where it came from.
    pub from: Option<SocketAddr>,
    /// When the kernel received it, in nanoseconds since 1970.
    pub time_ns: Option<i64>,
}

/// Receives datagrams.
pub struct Receiver {
    each: usize,
    data: Vec<u8>,
    vectors: Vec<libc::iovec>,
    headers: Vec<libc::mmsghdr>,
    names: Vec<libc::sockaddr_storage>,
    controls: Vec<Control>,
    count: usize,
    lost: u32,
}

// SAFETY: the pointers in `vectors` and `headers` are written right before the call that reads
// them.
unsafe impl Send for Receiver {}

impl std::fmt::Debug for Receiver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Receiver")
            .field("each", &self.each)
            .field("count", &self.count)
            .finish_non_exhaustive()
    }
}

impl Receiver {
    /// Receives so many datagrams a call at most and keeps `each` bytes of every one.
    pub fn new(most: usize, each: usize) -> Receiver {
        Receiver {
            each,
            data: vec![0; most * each],
            // SAFETY: zeroes are null pointers, lengths of zero and addresses of no family.
            vectors: vec![unsafe { std::mem::zeroed() }; most],
            // SAFETY: as above.
            headers: vec![unsafe { std::mem::zeroed() }; most],
            // SAFETY: as above.
            names: vec![unsafe { std::mem::zeroed() }; most],
            controls: vec![Control([0; CONTROL_BYTES]); most],
            count: 0,
            lost: 0,
        }
    }

    /// Receives what has come, without waiting; says how many. Those of the call before are gone.
    pub fn receive(&mut self, socket: &UdpSocket) -> io::Result<usize> {
        self.count = 0;
        for at in 0..self.headers.len() {
            let data = &mut self.data[at * self.each..][..self.each];
            self.vectors[at].iov_base = data.as_mut_ptr().cast();
            self.vectors[at].iov_len = data.len();
            let header = &mut self.headers[at].msg_hdr;
            header.msg_iov = &raw mut self.vectors[at];
            header.msg_iovlen = 1;
            header.msg_name = (&raw mut self.names[at]).cast();
            header.msg_namelen = size_of::<libc::sockaddr_storage>() as _;
            header.msg_control = self.controls[at].0.as_mut_ptr().cast();
            header.msg_controllen = CONTROL_BYTES as _;
        }
        // SAFETY: the headers point to memory of ours, as long as they say.
        let came = unsafe {
            libc::recvmmsg(
                socket.as_raw_fd(),
                self.headers.as_mut_ptr(),
                self.headers.len() as libc::c_uint,
                (libc::MSG_DONTWAIT | libc::MSG_TRUNC) as _,
                std::ptr::null_mut(),
            )
        };
        self.count = match sys::check(came) {
            Ok(came) => came as usize,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => 0,
            Err(error) => return Err(error),
        };
        Ok(self.count)
    }

    /// What came with the last call.
    pub fn datagrams(&mut self) -> impl Iterator<Item = Incoming<'_>> {
        let mut lost = self.lost;
        let all: Vec<_> = (0..self.count)
            .map(|at| {
                let about = about(&self.headers[at].msg_hdr);
                lost = about.lost.unwrap_or(lost);
                about
            })
            .collect();
        self.lost = lost;
        let this = &*self;
        all.into_iter().enumerate().map(move |(at, about)| {
            let bytes = this.headers[at].msg_len as usize;
            let data = &this.data[at * this.each..][..bytes.min(this.each)];
            Incoming {
                data,
                bytes,
                segment: about.segment.unwrap_or(bytes),
                from: address(&this.names[at]),
                time_ns: about.time_ns,
            }
        })
    }

    /// Datagrams that the socket has had no room for, by what the kernel told with the last one
    /// that came; counts to 2³² and begins anew.
    pub fn lost(&self) -> u32 {
        self.lost
    }
}

/// What the kernel says of a datagram.
#[derive(Default)]
struct About {
    time_ns: Option<i64>,
    lost: Option<u32>,
    segment: Option<usize>,
}

fn about(header: &libc::msghdr) -> About {
    let mut about = About::default();
    // SAFETY: the kernel has filled in the messages and their length; the macros' functions walk
    // them within that length, and each kind's value has the type that Linux gives it.
    unsafe {
        let mut message = libc::CMSG_FIRSTHDR(header);
        while !message.is_null() {
            let data = libc::CMSG_DATA(message);
            match ((*message).cmsg_level, (*message).cmsg_type) {
                (libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS) => {
                    let time = data.cast::<libc::timespec>().read_unaligned();
                    about.time_ns = Some(time.tv_sec * 1_000_000_000 + time.tv_nsec);
                }
                (libc::SOL_SOCKET, libc::SO_RXQ_OVFL) => {
                    about.lost = Some(data.cast::<u32>().read_unaligned());
                }
                (libc::SOL_UDP, libc::UDP_GRO) => {
                    let segment = data.cast::<libc::c_int>().read_unaligned();
                    about.segment = usize::try_from(segment).ok().filter(|bytes| *bytes > 0);
                }
                _ => {}
            }
            message = libc::CMSG_NXTHDR(header, message);
        }
    }
    about
}

fn address(name: &libc::sockaddr_storage) -> Option<SocketAddr> {
    let storage = std::ptr::from_ref(name);
    match libc::c_int::from(name.ss_family) {
        libc::AF_INET => {
            // SAFETY: the family says what it is, and the storage is large and aligned enough for
            // any.
            let raw = unsafe { &*storage.cast::<libc::sockaddr_in>() };
            let ip = Ipv4Addr::from(u32::from_be(raw.sin_addr.s_addr));
            Some((IpAddr::V4(ip), u16::from_be(raw.sin_port)).into())
        }
        libc::AF_INET6 => {
            // SAFETY: as above.
            let raw = unsafe { &*storage.cast::<libc::sockaddr_in6>() };
            let ip = Ipv6Addr::from(raw.sin6_addr.s6_addr);
            Some((IpAddr::V6(ip), u16::from_be(raw.sin6_port)).into())
        }
        _ => None,
    }
}

/// What a socket of datagrams is to do.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Has each datagram come with the time at which the kernel received it, and with how many were
    /// lost for want of room.
    pub tells: bool,
    /// Has datagrams of one flow come as one (GRO).
    pub gathers: bool,
    /// Bytes of the buffer of what comes, as far as this user may.
    pub receive_bytes: Option<usize>,
    /// The same of what goes.
    pub send_bytes: Option<usize>,
    /// The byte of differentiated services (RFC 2474).
    pub ds: Option<u8>,
    /// The time to live, or the hop limit.
    pub ttl: Option<u8>,
}

/// Sets `options` of `socket`.
pub fn configure(socket: &UdpSocket, options: &Options) -> io::Result<()> {
    let is_ipv6 = socket.local_addr()?.is_ipv6();
    socket::mark(socket.as_fd(), is_ipv6, options.ds, options.ttl)?;
    let owned: OwnedFd = socket.try_clone()?.into();
    let set = |level, name, value: i32| sys::set_option(&owned, level, name, &value);
    // What a kernel does not know is done without: datagrams then come without their time or one by
    // one.
    let set_where_known = |level, name| match set(level, name, 1) {
        Err(error) if error.raw_os_error() == Some(libc::ENOPROTOOPT) => Ok(()),
        other => other,
    };
    if options.tells {
        set_where_known(libc::SOL_SOCKET, libc::SO_TIMESTAMPNS)?;
        set_where_known(libc::SOL_SOCKET, libc::SO_RXQ_OVFL)?;
    }
    if options.gathers {
        set_where_known(libc::SOL_UDP, libc::UDP_GRO)?;
    }
    let buffers = [
        (options.receive_bytes, libc::SO_RCVBUFFORCE, libc::SO_RCVBUF),
        (options.send_bytes, libc::SO_SNDBUFFORCE, libc::SO_SNDBUF),
    ];
    for (bytes, forced, usual) in buffers {
        if let Some(bytes) = bytes {
            let bytes = i32::try_from(bytes).unwrap_or(i32::MAX);
            set(libc::SOL_SOCKET, forced, bytes)
                .or_else(|_| set(libc::SOL_SOCKET, usual, bytes))?;
        }
    }
    Ok(())
}

/// Datagrams that a socket has had no room for by now, as the kernel counts them (`SO_MEMINFO`,
/// Linux 4.12); counts to 2³² and begins anew. What [`Receiver::lost`] tells is as old as the last
/// datagram that came.
pub fn drops(socket: &impl AsFd) -> io::Result<u32> {
    memory(socket).map(|info| info[libc::SK_MEMINFO_DROPS as usize])
}

/// Whether datagrams wait in a socket to be received.
pub fn has_waiting(socket: &impl AsFd) -> io::Result<bool> {
    memory(socket).map(|info| info[libc::SK_MEMINFO_RMEM_ALLOC as usize] > 0)
}

fn memory(socket: &impl AsFd) -> io::Result<[u32; 9]> {
    sys::option(socket, libc::SOL_SOCKET, libc::SO_MEMINFO)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair() -> (UdpSocket, UdpSocket) {
        let to = UdpSocket::bind("127.0.0.1:0").expect("loopback has a free port");
        let from = UdpSocket::bind("127.0.0.1:0").expect("loopback has a free port");
        from.connect(to.local_addr().expect("a bound socket has an address"))
            .expect("it is there");
        (from, to)
    }

    fn outgoing(number: u8, bytes: usize) -> Outgoing {
        Outgoing {
            head: [number; HEAD_BYTES],
            bytes,
        }
    }

    #[test]
    fn what_is_sent_comes_with_its_time_and_its_length() {
        let (from, to) = pair();
        let tells = Options {
            tells: true,
            ..Options::default()
        };
        configure(&to, &tells).expect("Linux has it");
        let lengths = [0, 5, 16, 17, 900];
        let all: Vec<Outgoing> = (0..5)
            .map(|at| outgoing(at, lengths[at as usize]))
            .collect();
        let filler = [7; 1000];
        let before = crate::clock::wall_ns();
        let sent = Sender::new(4).send(&from, &all, &filler).expect("it goes");
        assert_eq!(sent, 4);
        let sent = Sender::new(4)
            .send(&from, &all[4..], &filler)
            .expect("it goes");
        assert_eq!(sent, 1);
        let mut receiver = Receiver::new(8, 20);
        assert_eq!(receiver.receive(&to).expect("a message arrives"), 5);
        let local = from.local_addr().expect("a bound socket has an address");
        for (at, one) in receiver.datagrams().enumerate() {
            assert_eq!((one.bytes, one.from), (lengths[at], Some(local)));
            assert_eq!(one.data.len(), one.bytes.min(20));
            let own = one.data.len().min(HEAD_BYTES);
            assert!(one.data[..own].iter().all(|byte| usize::from(*byte) == at));
            assert!(one.data[own..].iter().all(|byte| *byte == 7));
            let time = one.time_ns.expect("it was asked for");
            assert!((before..=crate::clock::wall_ns()).contains(&time));
        }
        assert_eq!(receiver.receive(&to).expect("nothing waits"), 0);
        let long = [outgoing(0, 2000)];
        assert!(Sender::new(1).send(&from, &long, &filler).is_err());
    }

    #[test]
    fn segments_are_cut_and_put_together_again() {
        let (from, to) = pair();
        let gathers = Options {
            gathers: true,
            ..Options::default()
        };
        configure(&to, &gathers).expect("Linux has it");
        let all: Vec<Outgoing> = (0..10).map(|at| outgoing(at, 100)).collect();
        Sender::new(1)
            .send_segments(&from, &all, &[0; 100])
            .expect("it goes");
        let mut receiver = Receiver::new(16, 65_536);
        let mut numbers = Vec::new();
        while receiver.receive(&to).expect("a message arrives") > 0 {
            for one in receiver.datagrams() {
                assert_eq!(one.segment, 100);
                numbers.extend(one.data.chunks(one.segment).map(|part| part[0]));
            }
        }
        assert_eq!(numbers, (0..10).collect::<Vec<u8>>());
        let uneven = [outgoing(0, 10), outgoing(1, 11)];
        let mut sender = Sender::new(1);
        assert!(sender.send_segments(&from, &uneven, &[0; 100]).is_err());
    }

    #[test]
    fn what_finds_no_room_is_counted() {
        let (from, to) = pair();
        let small = Options {
            tells: true,
            receive_bytes: Some(1),
            ..Options::default()
        };
        configure(&to, &small).expect("Linux has it");
        let (mut sender, filler) = (Sender::new(64), [0; 1000]);
        let all = vec![outgoing(1, 1000); 64];
        assert_eq!(sender.send(&from, &all, &filler).expect("it goes"), 64);
        let mut receiver = Receiver::new(64, 20);
        let came = receiver.receive(&to).expect("a message arrives");
        assert!(came < 64);
        // The kernel tells of losses with the next one that comes.
        sender.send(&from, &all[..1], &filler).expect("it goes");
        assert_eq!(receiver.receive(&to).expect("a message arrives"), 1);
        assert_eq!(receiver.datagrams().count(), 1);
        assert_eq!(receiver.lost() as usize, 64 - came);
    }
}
