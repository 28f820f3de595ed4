//! Why a card cannot run, or cannot be reached.

use std::io;
#[cfg(target_os = "linux")]
use std::net::SocketAddr;

/// Why something was not done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The machine lacks something: an interface, a right, a running card.
    #[error("{what}")]
    Lack {
        /// What was tried, and why it failed.
        what: String,
        /// What would mend it.
        mend: Option<String>,
    },
    /// A wish that cannot be met: a fault of the command line or of a file.
    #[error("{0}")]
    Usage(String),
    /// The card refused a request, or did not speak its protocol.
    #[error("{place}: {why}")]
    Protocol {
        /// The socket.
        place: String,
        /// What the card said, or what was wrong with it.
        why: String,
    },
    /// Anything else that the system said.
    #[error("cannot {what}: {source}")]
    System {
        /// What was tried.
        what: String,
        /// What the system said.
        source: io::Error,
    },
}

impl Error {
    /// What would mend it, where that is known.
    pub fn mend(&self) -> Option<&str> {
        match self {
            Error::Lack { mend, .. } => mend.as_deref(),
            _ => None,
        }
    }

    /// Whether the machine lacks something (exit code 3), rather than the wish being wrong.
    pub fn is_lack(&self) -> bool {
        !matches!(self, Error::Usage(_))
    }

    /// For `map_err`: the address of an option that cannot be listened on.
    #[cfg(target_os = "linux")]
    pub(crate) fn unheard(
        option: &'static str,
        address: SocketAddr,
    ) -> impl FnOnce(io::Error) -> Error {
        move |why| Error::Lack {
            what: format!("{option}: {address} cannot be listened on: {why}"),
            mend: Some("give another port".to_owned()),
        }
    }

    /// For `map_err`: what was tried.
    #[cfg(target_os = "linux")]
    pub(crate) fn of(what: impl Into<String>) -> impl FnOnce(io::Error) -> Error {
        let what = what.into();
        move |source| Error::System { what, source }
    }
}

#[cfg(target_os = "linux")]
impl From<trammel_io::Error> for Error {
    fn from(error: trammel_io::Error) -> Error {
        let (what, mend) = (error.to_string(), error.mend());
        if error.is_lack() {
            Error::Lack { what, mend }
        } else {
            Error::Usage(what)
        }
    }
}
