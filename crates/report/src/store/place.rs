//! Where a store is: texts by name, each written whole and, at first, once.

use std::fmt::Debug;
use std::io;
use std::thread::sleep;
use std::time::Duration;
use trammel_ground::say;

/// Texts by name; a name has `/` between its parts.
pub(super) trait Place: Debug + Send + Sync {
    /// The text `name`; nothing where there is none.
    fn get(&self, name: &str) -> io::Result<Option<String>>;

    /// The texts `names`, in order.
    fn get_all(&self, names: &[String]) -> Vec<io::Result<Option<String>>> {
        names.iter().map(|name| self.get(name)).collect()
    }

    /// Writes a text that is not there yet; false where it is, whatever it says.
    fn put_new(&self, name: &str, text: &str) -> io::Result<bool>;

    /// Writes a text in place of the one that is there.
    fn replace(&self, name: &str, text: &str) -> io::Result<()>;

    /// The name as a person finds it.
    fn shown(&self, name: &str) -> String;
}

/// The first pause before a place is asked again; each later one is twice as long, up to the
/// longest. Together they are a minute: a file server starts anew in this time, or somebody makes
/// room, and a run of hours is not lost.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
const PAUSES: u32 = 17;

/// What `ask` gives, asked again while a place refuses that may serve again soon.
pub(super) fn patiently<T>(
    place: &dyn Place,
    name: &str,
    mut ask: impl FnMut() -> io::Result<T>,
) -> io::Result<T> {
    let mut pause = FIRST_PAUSE;
    for tried in 0..PAUSES {
        match ask() {
            Err(why) if is_passing(&why) => {
                if tried == 0 {
                    let shown = place.shown(name);
                    say(&format!(
                        "warning: `{shown}`: {why}; trying again for a minute"
                    ));
                }
            }
            settled => return settled,
        }
        sleep(pause);
        pause = (2 * pause).min(LONGEST_PAUSE);
    }
    ask()
}

/// Whether the place may serve again soon. A folder that was there and is not is a file server's
/// that went away.
fn is_passing(why: &io::Error) -> bool {
    use io::ErrorKind as Kind;
    const INPUT_OUTPUT: i32 = 5;
    let kinds = [
        Kind::NotFound,
        Kind::StorageFull,
        Kind::QuotaExceeded,
        Kind::ReadOnlyFilesystem,
        Kind::StaleNetworkFileHandle,
        Kind::ResourceBusy,
        Kind::TimedOut,
        Kind::Interrupted,
        Kind::WouldBlock,
        Kind::ConnectionRefused,
        Kind::ConnectionReset,
        Kind::ConnectionAborted,
        Kind::NotConnected,
        Kind::HostUnreachable,
        Kind::NetworkUnreachable,
        Kind::NetworkDown,
        Kind::BrokenPipe,
        Kind::UnexpectedEof,
    ];
    kinds.contains(&why.kind()) || why.raw_os_error() == Some(INPUT_OUTPUT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[derive(Debug)]
    struct Nowhere;

    impl Place for Nowhere {
        fn get(&self, _: &str) -> io::Result<Option<String>> {
            Ok(None)
        }
        fn put_new(&self, _: &str, _: &str) -> io::Result<bool> {
            Ok(true)
        }
        fn replace(&self, _: &str, _: &str) -> io::Result<()> {
            Ok(())
        }
        fn shown(&self, name: &str) -> String {
            name.to_owned()
        }
    }

    #[test]
    fn a_full_disk_is_waited_for_and_a_place_that_is_closed_is_not() {
        let asked = Cell::new(0);
        let ask = |kind| {
            asked.set(asked.get() + 1);
            if asked.get() < 3 {
                Err(io::Error::from(kind))
            } else {
                Ok(asked.get())
            }
        };
        let full = patiently(&Nowhere, "a", || ask(io::ErrorKind::StorageFull));
        assert_eq!(full.unwrap(), 3);
        asked.set(0);
        let closed = patiently(&Nowhere, "a", || ask(io::ErrorKind::PermissionDenied));
        assert!(closed.is_err() && asked.get() == 1);
    }
}
