//! What every listener of the traffic tools asks for before it opens a port: a key, loopback, or
//! consent said aloud.

use anyhow::{Context, anyhow};
use std::fs::File;
use std::io::Read;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use trammel_traffic::signal::key::{Key, LEAST_KEY_BYTES};

/// The longest key file that is read.
const MOST_KEY_BYTES: u64 = 1 << 16;
/// Rights of anybody but the owner.
const OTHERS: u32 = 0o077;

/// What those who come to a listener can prove themselves with.
#[derive(Clone, Copy, Debug)]
pub enum Proof<'a> {
    /// A key of ours, where one was given.
    Key(Option<&'a Key>),
    /// Nothing: D-ITG's protocols know no keys.
    OfItg,
}

/// Refuses to listen where others reach `listen` and nobody has to prove anything, unless the user
/// said `--no-key`.
pub fn is_guarded(listen: SocketAddr, proof: Proof<'_>, no_key: bool) -> anyhow::Result<()> {
    if listen.ip().to_canonical().is_loopback() || no_key {
        return Ok(());
    }
    let what_to_do = match proof {
        Proof::Key(Some(_)) => return Ok(()),
        Proof::Key(None) => "this requires `--key FILE` or an explicit `--no-key`",
        Proof::OfItg => "D-ITG has no keys: give an explicit `--no-key`, or listen on 127.0.0.1",
    };
    Err(anyhow!(
        "other hosts can reach {listen} without a key: {what_to_do}"
    ))
}

/// The key that a file holds. A file that others than its owner can read or write is refused, as
/// ssh does with private keys.
pub fn key(path: &Path) -> anyhow::Result<Key> {
    let name = path.display();
    let unread = |why: std::io::Error| anyhow!("`{name}` cannot be read: {why}");
    // The rights are those of the file that is read, whatever its name leads to a moment later.
    let file = File::open(path).map_err(unread)?;
    let about = file.metadata().map_err(unread)?;
    let mode = about.permissions().mode() & 0o777;
    anyhow::ensure!(
        !about.is_file() || mode & OTHERS == 0,
        "`{name}` holds a key that others on this machine can {} (mode {mode:04o}): `chmod 600 \
         {name}`, or make another where they could have read it",
        if mode & 0o022 == 0 { "read" } else { "change" }
    );
    let mut bytes = Vec::new();
    let read = file.take(MOST_KEY_BYTES).read_to_end(&mut bytes);
    read.map_err(unread)?;
    Key::new(&bytes).with_context(|| {
        format!(
            "`{name}` has fewer than {LEAST_KEY_BYTES} bytes and can be guessed; make one: \
                 `(umask 077; head -c 24 /dev/urandom | base64 > {name})`"
        )
    })
}
