//! What the kernel refuses, and the command that would mend it.

use std::io;

/// Why a device, a namespace or a table could not be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No interface of this name in the namespace of the caller.
    #[error("no network interface `{name}`")]
    NoInterface {
        /// The name asked for.
        name: String,
    },
    /// The caller lacks a capability.
    #[error("no right to {what}: it needs {right}")]
    NoRight {
        /// What was tried: `open a packet socket`.
        what: String,
        /// The capability and where: `CAP_NET_RAW`.
        right: &'static str,
    },
    /// The kernel is built or configured without it.
    #[error("this kernel has no {what}")]
    Unsupported {
        /// What is missing: `AF_XDP`.
        what: String,
        /// What would mend it.
        mend: String,
    },
    /// Another user holds it.
    #[error("`{name}` is in use: {what}")]
    Busy {
        /// The interface or file.
        name: String,
        /// What is taken.
        what: String,
        /// What would mend it.
        mend: String,
    },
    /// A limit of the process, or the mode of a file, stands in the way.
    #[error("not allowed to {what}")]
    Limit {
        /// What was tried.
        what: String,
        /// What would mend it.
        mend: String,
    },
    /// A wish that cannot be met: a name too long, a size of zero.
    #[error("{0}")]
    Invalid(String),
    /// Anything else.
    #[error("{what}: {source}")]
    Kernel {
        /// What was tried.
        what: String,
        /// What the kernel said.
        source: io::Error,
    },
}

/// What this crate's functions return.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// From what the kernel said to `what`, done with the interface or file `name`, which needs
    /// `right`.
    pub(crate) fn from_kernel(
        what: &str,
        name: &str,
        right: &'static str,
        source: io::Error,
    ) -> Error {
        match source.raw_os_error() {
            Some(libc::EPERM | libc::EACCES) => Error::NoRight {
                what: what.to_owned(),
                right,
            },
            Some(libc::ENODEV | libc::ENXIO) if !name.is_empty() => Error::NoInterface {
                name: name.to_owned(),
            },
            Some(libc::EBUSY) => Error::Busy {
                name: name.to_owned(),
                what: format!("cannot {what}"),
                mend: format!("ip link show dev {name}"),
            },
            _ => Error::Kernel {
                what: format!("cannot {what}"),
                source,
            },
        }
    }

    /// For `map_err`: see [`Error::from_kernel`].
    pub(crate) fn of<'a>(
        what: &'a str,
        name: &'a str,
        right: &'static str,
    ) -> impl FnOnce(io::Error) -> Error + 'a {
        move |source| Error::from_kernel(what, name, right, source)
    }

    /// The command that would mend it, or would show what is wrong.
    pub fn mend(&self) -> Option<String> {
        match self {
            Error::NoInterface { .. } => Some("ip link show".to_owned()),
            Error::NoRight { right, .. } if right.contains("initial") => {
                Some("run it as root outside any user namespace, or use METHOD afpacket".to_owned())
            }
            Error::NoRight { .. } => Some(
                "run it as root, or inside `unshare -Urn` where the interfaces are its own"
                    .to_owned(),
            ),
            Error::Unsupported { mend, .. }
            | Error::Busy { mend, .. }
            | Error::Limit { mend, .. } => Some(mend.clone()),
            Error::Invalid(_) | Error::Kernel { .. } => None,
        }
    }

    /// Whether the machine lacks something (exit code 3), rather than the wish being wrong.
    pub fn is_lack(&self) -> bool {
        !matches!(self, Error::Invalid(_))
    }
}

impl From<Error> for io::Error {
    fn from(error: Error) -> io::Error {
        let kind = match &error {
            Error::NoInterface { .. } => io::ErrorKind::NotFound,
            Error::NoRight { .. } => io::ErrorKind::PermissionDenied,
            Error::Unsupported { .. } => io::ErrorKind::Unsupported,
            Error::Busy { .. } => io::ErrorKind::ResourceBusy,
            Error::Limit { .. } => io::ErrorKind::QuotaExceeded,
            Error::Invalid(_) => io::ErrorKind::InvalidInput,
            Error::Kernel { source, .. } => source.kind(),
        };
        io::Error::new(kind, error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_kernel_says_becomes_a_thing_and_a_command() {
        let from = |errno, name| {
            let source = io::Error::from_raw_os_error(errno);
            Error::from_kernel("open a packet socket", name, "CAP_NET_RAW", source)
        };
        let missing = from(libc::ENODEV, "eth9");
        assert_eq!(missing.to_string(), "no network interface `eth9`");
        assert!(missing.mend().is_some() && missing.is_lack());
        let right = from(libc::EPERM, "eth0");
        assert_eq!(
            right.to_string(),
            "no right to open a packet socket: it needs CAP_NET_RAW"
        );
        assert!(
            right
                .mend()
                .is_some_and(|mend| mend.contains("unshare -Urn"))
        );
        assert_eq!(
            io::Error::from(right).kind(),
            io::ErrorKind::PermissionDenied
        );
        let other = from(libc::EIO, "eth0");
        assert!(
            other
                .to_string()
                .starts_with("cannot open a packet socket: ")
        );
        assert!(!Error::Invalid(String::new()).is_lack());
    }
}
