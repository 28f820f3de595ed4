//! System calls.
//!
//! A call that would block is tried again after whatever happens, until it returns; so each
//! function here may be called more than once and changes nothing before it is done.

use super::socket::{Role, Socket};
use super::{Runner, Stop, option};
use crate::script::{Call, Expr};
use trammel_tcp::connection::{Failure, State};

/// What a call returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reply {
    /// A result.
    Value(i64),
    /// -1 and an error.
    Error(&'static str),
    /// Not yet anything.
    Blocks,
}

use Reply::{Blocks, Error, Value};

type Outcome = Result<Reply, Stop>;
type Handler = fn(&mut Runner<'_>, &Call) -> Outcome;

const CALLS: &[(&str, Handler)] = &[
    ("accept", accept),
    ("bind", bind),
    ("close", close),
    ("connect", connect),
    ("fcntl", fcntl),
    ("getsockopt", getsockopt),
    ("ioctl", ioctl),
    ("listen", listen),
    ("read", read),
    ("recv", read),
    ("recvfrom", read),
    ("send", write),
    ("sendmsg", write),
    ("sendto", write),
    ("setsockopt", setsockopt),
    ("shutdown", shutdown),
    ("socket", socket),
    ("write", write),
    ("writev", write),
];

/// Makes a call.
pub(super) fn make(runner: &mut Runner<'_>, call: &Call) -> Outcome {
    let known = CALLS.iter().find(|(name, _)| *name == call.name);
    let (_, handler) = known.ok_or_else(|| skip(format!("the system call `{}`", call.name)))?;
    handler(runner, call)
}

fn skip(what: String) -> Stop {
    Stop::Skip(what)
}

fn argument(call: &Call, index: usize) -> Result<&Expr, Stop> {
    let missing = || {
        skip(format!(
            "`{}` without its argument {}",
            call.name,
            index + 1
        ))
    };
    call.arguments.get(index).ok_or_else(missing)
}

fn integer(call: &Call, index: usize) -> Result<i64, Stop> {
    match argument(call, index)? {
        Expr::Int(value) => Ok(*value),
        _ => Err(skip(format!(
            "`{}` whose argument {} is no number",
            call.name,
            index + 1
        ))),
    }
}

/// The file descriptor that a call begins with.
fn descriptor(call: &Call) -> Result<i64, Stop> {
    integer(call, 0)
}

/// The words of `A|B`.
fn words(value: &Expr) -> Vec<&str> {
    match value {
        Expr::Word(word) => vec![word],
        Expr::Or(parts) => parts.iter().flat_map(words).collect(),
        _ => Vec::new(),
    }
}

fn bind(runner: &mut Runner<'_>, call: &Call) -> Outcome {
    runner.socket(descriptor(call)?)?.is_bound = true;
    Ok(Value(0))
}

fn socket(runner: &mut Runner<'_>, call: &Call) -> Outcome {
    if !words(argument(call, 1)?).contains(&"SOCK_STREAM") {
        return Err(skip("sockets other than TCP's".to_owned()));
    }
    let socket = Socket {
        is_nonblocking: words(argument(call, 1)?).contains(&"SOCK_NONBLOCK"),
        ..Socket::new(&runner.settings)
    };
    Ok(Value(runner.open(call.result, socket)))
}

fn listen(runner: &mut Runner<'_>, call: &Call) -> Outcome {
    let socket = runner.socket(descriptor(call)?)?;
    if !socket.is_bound {
        // The kernel would choose a port, and what arrives is for the one that the script binds.
        return Err(skip("`listen` without `bind`".to_owned()));
    }
    socket.role = Role::Listening;
    Ok(Value(0))
}

fn accept(runner: &mut Runner<'_>, call: &Call) -> Outcome {
    let fd = descriptor(call)?;
    let socket = runner.socket(fd)?.clone();
    let ends = &mut runner.host.ends;
    let waiting = ends.iter().position(|end| {
        let opening = [State::Listen, State::SynReceived, State::Closed];
        end.listener == Some(fd) && !opening.contains(&end.connection.state())
    });
    match waiting {
        Some(end) => {
            ends[end].listener = None;
            let mut accepted = socket.accepted(end);
            // What was set since the SYN came counts for this connection too.
            accepted.nagle = socket.nagle;
            Ok(Value(runner.open(call.result, accepted)))
        }
        None if socket.is_nonblocking => Ok(Error("EAGAIN")),
        None => Ok(Blocks),
    }
}

fn connect(runner: &mut Runner<'_>, call: &Call) -> Outcome {
    let fd = descriptor(call)?;
    let number = runner.host.ends.len();
    let settings = runner.settings.clone();
    let socket = runner.socket(fd)?;
    let Role::Connected(end) = socket.role else {
        let connection = socket.connection(&settings, number);
        socket.role = Role::Connected(number);
        let reply = if socket.is_nonblocking {
            Error("EINPROGRESS")
        } else {
            Blocks
        };
        let end = runner.host.add(connection, None);
        let now = runner.host.now;
        runner.host.ends[end].connection.connect(now);
        runner.host.drain(end);
        return Ok(reply);
    };
    let is_nonblocking = socket.is_nonblocking;
    if let Some(failure) = runner.take_failure(fd) {
        return Ok(Error(errno(failure)));
    }
    match runner.host.ends[end].connection.state() {
        State::SynSent | State::SynReceived if is_nonblocking => Ok(Error("EALREADY")),
        State::SynSent | State::SynReceived => Ok(Blocks),
        _ => Ok(Value(0)),
    }
}

fn errno(failure: Failure) -> &'static str {
    match failure {
        Failure::Reset => "ECONNRESET",
        Failure::Refused => "ECONNREFUSED",
        Failure::TimedOut => "ETIMEDOUT",
    }
}

fn is_null(call: &Call) -> bool {
    matches!(call.arguments.get(1), Some(Expr::Word(word)) if word == "NULL")
}

/// Bytes that the call moves at most.
fn bytes(call: &Call) -> Result<u64, Stop> {
    let vector = match argument(call, 1)? {
        Expr::List(vector) => Some(vector),
        Expr::Struct(fields) => fields.iter().find_map(|field| match field {
            Expr::Field(name, value) if name == "msg_iov" => match &**value {
                Expr::List(vector) => Some(vector),
                _ => None,
            },
            _ => None,
        }),
        _ => None,
    };
    let unknown = || skip(format!("the buffers of `{}`", call.name));
    let Some(vector) = vector else {
        return u64::try_from(integer(call, 2)?).map_err(|_| unknown());
    };
    let lengths = vector.iter().map(|part| match part {
        Expr::Struct(fields) => match fields.as_slice() {
            [_, Expr::Int(bytes)] => u32::try_from(*bytes).map(u64::from).map_err(|_| unknown()),
            _ => Err(unknown()),
        },
        _ => Err(unknown()),
    });
    lengths
        .into_iter()
        .try_fold(0_u64, |sum, bytes| Ok(sum.saturating_add(bytes?)))
}

/// What the flags of a call say of what follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Follows {
    Anything,
    /// `MSG_MORE`.
    More,
    /// `MSG_EOR`.
    AnotherRecord,
}

/// What follows by the flags; flags that change what else a call does are refused.
fn follows(call: &Call) -> Result<Follows, Stop> {
    let index = match call.name.as_str() {
        "sendmsg" => 2,
        "send" | "sendto" | "recv" | "recvfrom" => 3,
        _ => return Ok(Follows::Anything),
    };
    let flags = words(argument(call, index)?);
    let known = |flag: &&&str| !matches!(**flag, "MSG_NOSIGNAL" | "MSG_MORE" | "MSG_EOR");
    match flags.iter().find(known) {
        Some(flag) => Err(skip(format!("the flag `{flag}`"))),
        None if flags.contains(&"MSG_MORE") => Ok(Follows::More),
        None if flags.contains(&"MSG_EOR") => Ok(Follows::AnotherRecord),
        None => Ok(Follows::Anything),
    }
}

fn write(runner: &mut Runner<'_>, call: &Call) -> Outcome {
    let fd = descriptor(call)?;
    let follows = follows(call)?;
    let socket = runner.socket(fd)?;
    let limit = socket.send_buffer;
    let is_nonblocking = socket.is_nonblocking;
    let Role::Connected(end) = socket.role else {
        return Ok(Error("EPIPE"));
    };
    if is_null(call) {
        return Ok(Error("EFAULT"));
    }
    let bytes = bytes(call)?;
    if let Some(failure) = runner.take_failure(fd) {
        return Ok(Error(errno(failure)));
    }
    let limit = limit.unwrap_or(runner.settings.send_buffer.1);
    let connection = &mut runner.host.ends[end].connection;
    match connection.state() {
        State::SynSent | State::SynReceived if is_nonblocking => return Ok(Error("EAGAIN")),
        State::SynSent | State::SynReceived => return Ok(Blocks),
        _ if connection.is_writing_over() => return Ok(Error("EPIPE")),
        _ => {}
    }
    let tp = connection.tp();
    let held = connection.unsent() + u64::from(tp.snd_nxt.wrapping_sub(tp.snd_una));
    if held + bytes > limit {
        // How much a buffer holds depends on the sizes of the kernel's own records.
        return Err(skip("a send buffer that overflows".to_owned()));
    }
    match follows {
        Follows::More => connection.write_more(bytes),
        Follows::AnotherRecord => connection.write_record(bytes),
        Follows::Anything => connection.write(bytes),
    }
    runner.host.drain(end);
    Ok(Value(bytes as i64))
}

fn read(runner: &mut Runner<'_>, call: &Call) -> Outcome {
    let fd = descriptor(call)?;
    follows(call)?;
    let socket = runner.socket(fd)?;
    let is_over = socket.is_shut_for_reading;
    let is_nonblocking = socket.is_nonblocking;
    let Role::Connected(end) = socket.role else {
        return Ok(Error("ENOTCONN"));
    };
    let bytes = bytes(call)?;
    let now = runner.host.now;
    let connection = &mut runner.host.ends[end].connection;
    if connection.readable() > 0 {
        if is_null(call) {
            return Ok(Error("EFAULT"));
        }
        let most = u32::try_from(bytes).unwrap_or(u32::MAX);
        let bytes = connection.read(now, most);
        runner.host.drain(end);
        return Ok(Value(bytes.into()));
    }
    let is_over = is_over
        || matches!(
            connection.state(),
            State::CloseWait | State::LastAck | State::Closing | State::TimeWait | State::Closed
        );
    if let Some(failure) = runner.take_failure(fd) {
        return Ok(Error(errno(failure)));
    }
    Ok(match (is_over, is_nonblocking) {
        (true, _) => Value(0),
        (false, true) => Error("EAGAIN"),
        (false, false) => Blocks,
    })
}

fn close(runner: &mut Runner<'_>, call: &Call) -> Outcome {
    let fd = descriptor(call)?;
    runner.socket(fd)?;
    if let Some(socket) = runner.sockets.remove(&fd)
        && let Role::Connected(end) = socket.role
    {
        let connection = &mut runner.host.ends[end].connection;
        // RFC 2525 §2.17: what was not read is lost, and the peer is told so.
        if socket.resets_on_close || connection.readable() > 0 {
            connection.abort();
        } else {
            connection.close();
        }
        runner.host.drain(end);
    }
    Ok(Value(0))
}

fn shutdown(runner: &mut Runner<'_>, call: &Call) -> Outcome {
    let fd = descriptor(call)?;
    let how = words(argument(call, 1)?).concat();
    let socket = runner.socket(fd)?;
    let Role::Connected(end) = socket.role else {
        return Ok(Error("ENOTCONN"));
    };
    let (reading, writing) = match how.as_str() {
        "SHUT_RD" => (true, false),
        "SHUT_WR" => (false, true),
        "SHUT_RDWR" => (true, true),
        _ => return Err(skip(format!("`shutdown` of `{how}`"))),
    };
    socket.is_shut_for_reading |= reading;
    if writing {
        runner.host.ends[end].connection.close();
        runner.host.drain(end);
    }
    Ok(Value(0))
}

/// `O_RDWR` and `O_NONBLOCK` as Linux numbers them.
const FLAGS: [(&str, i64); 2] = [("O_RDWR", 0x2), ("O_NONBLOCK", 0x800)];

fn fcntl(runner: &mut Runner<'_>, call: &Call) -> Outcome {
    let fd = descriptor(call)?;
    let command = words(argument(call, 1)?).concat();
    let socket = runner.socket(fd)?;
    match command.as_str() {
        "F_GETFL" => {
            let nonblocking = if socket.is_nonblocking { FLAGS[1].1 } else { 0 };
            Ok(Value(FLAGS[0].1 | nonblocking))
        }
        "F_SETFL" => {
            socket.is_nonblocking = match argument(call, 2)? {
                Expr::Int(flags) => flags & FLAGS[1].1 != 0,
                flags => words(flags).contains(&FLAGS[1].0),
            };
            Ok(Value(0))
        }
        _ => Err(skip(format!("`fcntl` with `{command}`"))),
    }
}

/// Checks a value that a call gives back through a pointer.
fn give_back(call: &Call, index: usize, is: u64) -> Outcome {
    match argument(call, index)? {
        Expr::Ellipsis => Ok(Value(0)),
        Expr::List(list) => match list.as_slice() {
            [Expr::Int(expected)] if u64::try_from(*expected) == Ok(is) => Ok(Value(0)),
            [Expr::Int(expected)] => Err(Stop::Fail {
                expected: format!("`{}` that gives {expected}", call.name),
                got: is.to_string(),
            }),
            _ => Err(skip(format!("what `{}` gives back", call.name))),
        },
        _ => Err(skip(format!("what `{}` gives back", call.name))),
    }
}

fn ioctl(runner: &mut Runner<'_>, call: &Call) -> Outcome {
    let request = words(argument(call, 1)?).concat();
    let Role::Connected(end) = runner.socket(descriptor(call)?)?.role else {
        return Ok(Error("EINVAL"));
    };
    let connection = &runner.host.ends[end].connection;
    match request.as_str() {
        "SIOCINQ" | "FIONREAD" => give_back(call, 2, connection.readable().into()),
        _ => Err(skip(format!("`ioctl` with `{request}`"))),
    }
}

fn setsockopt(runner: &mut Runner<'_>, call: &Call) -> Outcome {
    let fd = descriptor(call)?;
    runner.socket(fd)?;
    option::set(
        runner,
        fd,
        argument(call, 1)?,
        argument(call, 2)?,
        argument(call, 3)?,
    )?;
    Ok(Value(0))
}

fn getsockopt(runner: &mut Runner<'_>, call: &Call) -> Outcome {
    let fd = descriptor(call)?;
    let value = option::get(runner, fd, argument(call, 1)?, argument(call, 2)?)?;
    give_back(call, 3, value)
}
