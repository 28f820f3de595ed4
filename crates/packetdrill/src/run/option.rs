//! Socket options.

use super::socket::{Role, Socket};
use super::{Runner, Stop};
use crate::script::Expr;
use trammel_core::time::Span;
use trammel_tcp::connection::Failure;

type Set = fn(&mut Runner<'_>, i64, &Expr) -> Result<(), Stop>;
type Get = fn(&mut Runner<'_>, i64) -> u64;

/// A socket option: level, name, what setting it does, what getting it gives.
struct Entry {
    level: &'static str,
    name: &'static str,
    /// Nothing where it changes nothing here.
    set: Option<Set>,
    get: Option<Get>,
}

/// The options that are known. Addresses, routes and the type of service change nothing in virtual
/// time.
const OPTIONS: &[Entry] = &[
    Entry {
        level: "SOL_IP",
        name: "IP_FREEBIND",
        set: None,
        get: None,
    },
    Entry {
        level: "SOL_IP",
        name: "IP_MTU_DISCOVER",
        set: None,
        get: None,
    },
    Entry {
        level: "SOL_IP",
        name: "IP_TOS",
        set: None,
        get: None,
    },
    Entry {
        level: "SOL_SOCKET",
        name: "SO_ERROR",
        set: Some(read_only),
        get: Some(error),
    },
    Entry {
        level: "SOL_SOCKET",
        name: "SO_LINGER",
        set: Some(linger),
        get: None,
    },
    Entry {
        level: "SOL_SOCKET",
        name: "SO_RCVBUF",
        set: Some(|runner, fd, value| {
            let bytes = number(value)?;
            // What a kernel keeps at least and at most.
            let bytes = bytes.clamp(1152, runner.settings.stack.rmem_max);
            before_connection(runner.socket(fd)?, "SO_RCVBUF")?.receive_buffer = Some(bytes);
            Ok(())
        }),
        get: None,
    },
    Entry {
        level: "SOL_SOCKET",
        name: "SO_REUSEADDR",
        set: None,
        get: None,
    },
    Entry {
        level: "SOL_SOCKET",
        name: "SO_SNDBUF",
        set: Some(|runner, fd, value| {
            // The kernel doubles it, to have room for its own records.
            let bytes = number(value)?;
            runner.socket(fd)?.send_buffer = Some(2 * bytes);
            Ok(())
        }),
        get: Some(|runner, fd| {
            let default = runner.settings.send_buffer.0;
            runner.sockets[&fd].send_buffer.unwrap_or(default)
        }),
    },
    Entry {
        level: "SOL_TCP",
        name: "TCP_CONGESTION",
        set: Some(congestion),
        get: None,
    },
    Entry {
        level: "SOL_TCP",
        name: "TCP_CORK",
        set: Some(|runner, fd, value| {
            let is_corked = number(value)? != 0;
            let Role::Connected(end) = runner.socket(fd)?.role else {
                return Err(skip("`TCP_CORK` of a socket that is not connected"));
            };
            runner.host.ends[end].connection.set_cork(is_corked);
            runner.host.drain(end);
            Ok(())
        }),
        get: None,
    },
    Entry {
        level: "SOL_TCP",
        name: "TCP_MAXSEG",
        set: Some(|runner, fd, value| {
            let mss = number(value)?;
            // What Linux allows.
            let mss = u16::try_from(mss)
                .ok()
                .filter(|mss| (88..=32_767).contains(mss));
            let mss =
                mss.ok_or_else(|| skip("a segment size that is not between 88 and 32,767"))?;
            before_connection(runner.socket(fd)?, "TCP_MAXSEG")?.mss = Some(mss);
            Ok(())
        }),
        get: Some(|runner, fd| match runner.sockets[&fd].role {
            Role::Connected(end) => u64::from(runner.host.ends[end].connection.tp().mss),
            _ => runner.sockets[&fd].mss.map_or(536, u64::from),
        }),
    },
    Entry {
        level: "SOL_TCP",
        name: "TCP_NODELAY",
        set: Some(|runner, fd, value| {
            let nagle = number(value)? == 0;
            let socket = runner.socket(fd)?;
            socket.nagle = nagle;
            if let Role::Connected(end) = socket.role {
                runner.host.ends[end].connection.set_nagle(nagle);
                runner.host.drain(end);
            }
            Ok(())
        }),
        get: Some(|runner, fd| u64::from(!runner.sockets[&fd].nagle)),
    },
    Entry {
        level: "SOL_TCP",
        name: "TCP_USER_TIMEOUT",
        set: Some(|runner, fd, value| {
            let timeout = Span::from_ms(number(value)?);
            let Role::Connected(end) = runner.socket(fd)?.role else {
                return Err(skip("`TCP_USER_TIMEOUT` of a socket that is not connected"));
            };
            runner.host.ends[end].connection.set_user_timeout(timeout);
            Ok(())
        }),
        get: None,
    },
];

fn skip(what: &str) -> Stop {
    Stop::Skip(what.to_owned())
}

/// The number in `[n]`.
fn number(value: &Expr) -> Result<u64, Stop> {
    match value {
        Expr::List(list) => match list.as_slice() {
            [Expr::Int(value)] => u64::try_from(*value).map_err(|_| skip("a negative option")),
            _ => Err(skip("an option that is no number")),
        },
        _ => Err(skip("an option that is no number")),
    }
}

fn read_only(_: &mut Runner<'_>, _: i64, _: &Expr) -> Result<(), Stop> {
    Err(skip("an option that can only be read"))
}

/// `SO_ERROR`: the connection's failure, told once.
fn error(runner: &mut Runner<'_>, fd: i64) -> u64 {
    match runner.take_failure(fd) {
        None => 0,
        Some(Failure::Reset) => 104,
        Some(Failure::TimedOut) => 110,
        Some(Failure::Refused) => 111,
    }
}

/// `{onoff=1, linger=0}` makes closing a reset; any other wait is for a close in the background.
fn linger(runner: &mut Runner<'_>, fd: i64, value: &Expr) -> Result<(), Stop> {
    let value = match value {
        Expr::List(list) => list.first(),
        other => Some(other),
    };
    let Some(Expr::Struct(fields)) = value else {
        return Err(skip("a linger time in an unknown form"));
    };
    let field = |wanted: &str| {
        fields.iter().find_map(|field| match field {
            Expr::Field(name, value) if name == wanted => match **value {
                Expr::Int(value) => Some(value),
                _ => None,
            },
            _ => None,
        })
    };
    let is_on = field("onoff").is_some_and(|on| on != 0);
    if is_on && field("linger") != Some(0) {
        return Err(skip("a close that lingers"));
    }
    runner.socket(fd)?.resets_on_close = is_on;
    Ok(())
}

fn congestion(runner: &mut Runner<'_>, fd: i64, value: &Expr) -> Result<(), Stop> {
    let Expr::Text(name) = value else {
        return Err(skip("a congestion control that is no text"));
    };
    let found = trammel_tcp::cc::find(name);
    let found = found.ok_or_else(|| skip(&format!("the congestion control `{name}`")))?;
    let socket = before_connection(runner.socket(fd)?, "TCP_CONGESTION")?;
    socket.congestion_control = found.about.name;
    Ok(())
}

/// What a connection fixes when it is made cannot be changed afterwards.
fn before_connection<'a>(socket: &'a mut Socket, name: &str) -> Result<&'a mut Socket, Stop> {
    match socket.role {
        Role::Connected(_) => Err(skip(&format!("`{name}` of a connected socket"))),
        _ => Ok(socket),
    }
}

fn find(level: &Expr, name: &Expr) -> Result<&'static Entry, Stop> {
    let (Expr::Word(level), Expr::Word(name)) = (level, name) else {
        return Err(skip("a socket option without a name"));
    };
    let level = match level.as_str() {
        "IPPROTO_TCP" => "SOL_TCP",
        "IPPROTO_IP" => "SOL_IP",
        other => other,
    };
    let entry = OPTIONS
        .iter()
        .find(|entry| entry.level == level && entry.name == name);
    entry.ok_or_else(|| skip(&format!("the socket option `{name}`")))
}

/// `setsockopt`.
pub(super) fn set(
    runner: &mut Runner<'_>,
    fd: i64,
    level: &Expr,
    name: &Expr,
    value: &Expr,
) -> Result<(), Stop> {
    match find(level, name)?.set {
        Some(set) => set(runner, fd, value),
        None => Ok(()),
    }
}

/// `getsockopt`: the value.
pub(super) fn get(
    runner: &mut Runner<'_>,
    fd: i64,
    level: &Expr,
    name: &Expr,
) -> Result<u64, Stop> {
    let entry = find(level, name)?;
    let get = entry
        .get
        .ok_or_else(|| skip(&format!("reading `{}`", entry.name)))?;
    runner.socket(fd)?;
    Ok(get(runner, fd))
}
