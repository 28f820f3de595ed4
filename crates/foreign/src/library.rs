//! Opens a library, checks what it says of itself, and makes a variant of it.

use crate::abi::{ABI, HOST, Host, Ops, Param as ForeignParam, Tp};
use crate::controller::Foreign;
use core::ffi::{CStr, c_char};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use trammel_core::entry::{About, Kind, Param, Params};
use trammel_tcp::cc::{self, CongestionControl, Entry};

/// `trammel.h`, the interface in C.
pub const HEADER: &str = include_str!("../include/trammel.h");

/// What a library must define.
const SYMBOL: &str = "trammel_congestion_control";
/// Tells libraries apart, and names a library's file in the hash of a scenario.
const DIGEST: &str = "library_sha256";
/// More parameters than this are a mistake in `n_params`.
const MOST_PARAMS: usize = 64;

/// Why a library is not used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file cannot be read.
    #[error("{}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// The system's loader refuses the file.
    #[error("{} is no library that can be loaded: {error}", path.display())]
    Load {
        /// The file.
        path: PathBuf,
        /// What the loader says.
        error: libloading::Error,
    },
    /// What it says of itself is not as `trammel.h` asks.
    #[error("{}: {fault}", path.display())]
    Interface {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        fault: String,
    },
    /// The name is taken.
    #[error("{}: {error}", path.display())]
    Name {
        /// The file.
        path: PathBuf,
        /// By which variant.
        error: trammel_core::family::Refused,
    },
}

/// A library that is loaded.
struct Loaded {
    digest: &'static str,
    ops: &'static Ops,
    name: &'static str,
}

// SAFETY: the table of functions is constant, and each of its functions may be called from any
// thread, as the header says.
unsafe impl Send for Loaded {}

/// The libraries of this program. None is ever unloaded, so what they point to stays.
static LOADED: Mutex<Vec<Loaded>> = Mutex::new(Vec::new());

/// Loads the library at `path` and registers its congestion control; returns the variant's name. A
/// file that was loaded before, even from elsewhere, is not loaded again.
///
/// # Errors
///
/// If the file cannot be loaded, is of another version of the interface, says something wrong of
/// itself, or has the name of another variant.
pub fn load(path: &Path) -> Result<&'static str, Error> {
    let read = |error| Error::Read {
        path: path.to_owned(),
        error,
    };
    if !std::fs::metadata(path).map_err(read)?.is_file() {
        return Err(read(std::io::Error::other("it is not a file")));
    }
    let digest = trammel_ground::sha256::of_file(path).map_err(read)?;
    let mut loaded = LOADED.lock().expect("nothing panics while it loads");
    if let Some(known) = loaded.iter().find(|known| known.digest == digest) {
        return Ok(known.name);
    }
    let ops = open(path)?;
    let wrong = |fault: String| Error::Interface {
        path: path.to_owned(),
        fault,
    };
    let digest: &'static str = digest.leak();
    let about = about(ops, digest).map_err(wrong)?;
    let name = about.name;
    // The constructor looks the library up by its digest.
    loaded.push(Loaded { digest, ops, name });
    drop(loaded);
    let entry: &'static Entry = Box::leak(Box::new(Entry { about, build }));
    if let Err(error) = cc::register(entry) {
        let mut loaded = LOADED.lock().expect("nothing panics while it loads");
        loaded.retain(|known| known.digest != digest);
        let path = path.to_owned();
        return Err(Error::Name { path, error });
    }
    Ok(name)
}

type Entrance = unsafe extern "C" fn(*const Host) -> *const Ops;

/// Opens the file for ever, and asks it for its table.
fn open(path: &Path) -> Result<&'static Ops, Error> {
    let load = |error| Error::Load {
        path: path.to_owned(),
        error,
    };
    let wrong = |fault: String| Error::Interface {
        path: path.to_owned(),
        fault,
    };
    // A bare name would be searched in the system's folders.
    let full = path.canonicalize().map_err(|error| Error::Read {
        path: path.to_owned(),
        error,
    })?;
    // SAFETY: the file's initialisers run. Whoever names a library in a scenario trusts it.
    let library = unsafe { libloading::Library::new(full) }.map_err(load)?;
    let library: &'static libloading::Library = Box::leak(Box::new(library));
    // SAFETY: `trammel.h` declares the function so.
    let entrance = unsafe { library.get::<Entrance>(SYMBOL.as_bytes()) };
    let entrance = entrance.map_err(|_| {
        wrong(format!(
            "it does not define `{SYMBOL}`; include `trammel.h` and define it"
        ))
    })?;
    // SAFETY: as above; `HOST` is constant.
    let ops = unsafe { entrance(&raw const HOST) };
    // SAFETY: the header says that the table stays valid. Its first two fields are those of every
    // version, so they may be read before the version is known.
    let version = unsafe { ops.cast::<[u32; 2]>().as_ref() };
    let [abi, tp_bytes] = *version.ok_or_else(|| wrong(format!("`{SYMBOL}` returned no table")))?;
    if abi != ABI {
        return Err(wrong(format!(
            "it is of version {abi} of the interface, and this program of version {ABI}; \
             compile it with the `trammel.h` that `trammel header` prints"
        )));
    }
    let expected = size_of::<Tp>();
    if tp_bytes as usize != expected {
        return Err(wrong(format!(
            "`tp_bytes` is {tp_bytes}, not {expected}; set it to `sizeof(struct trammel_tp)`"
        )));
    }
    // SAFETY: the table is of this version, not null, and stays valid.
    let ops = unsafe { &*ops };
    let missing = if ops.create.is_none() {
        "`create`"
    } else if ops.ssthresh.is_none() {
        "`ssthresh`"
    } else if ops.cong_avoid.is_none() && ops.cong_control.is_none() {
        "`cong_avoid` or `cong_control`"
    } else {
        return Ok(ops);
    };
    Err(wrong(format!("its table lacks the function {missing}")))
}

/// What a library says of itself, as every variant does.
fn about(ops: &'static Ops, digest: &'static str) -> Result<About, String> {
    let name = text(ops.name, "name")?;
    let is_fit = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    if name.is_empty() || name.len() > 40 || !name.chars().all(is_fit) {
        return Err(format!(
            "its name `{}` is not of 1 to 40 letters a to z, digits, `-` and `_`",
            name.escape_debug()
        ));
    }
    let summary = text(ops.summary, "summary")?;
    let mut params = Vec::new();
    if ops.n_params > MOST_PARAMS || (ops.n_params > 0 && ops.params.is_null()) {
        return Err(format!(
            "it says that it has {} parameters; at most {MOST_PARAMS} can be",
            ops.n_params
        ));
    }
    if ops.n_params > 0 {
        // SAFETY: the library says that so many are there, for ever.
        let all = unsafe { core::slice::from_raw_parts(ops.params, ops.n_params) };
        for param in all {
            params.push(parameter(param)?);
        }
    }
    params.push(Param {
        name: DIGEST,
        // Nothing but itself: a scenario cannot ask for the file that it does not name.
        kind: Kind::Choice(Box::leak(Box::new([digest]))),
        default: digest,
        unit: "",
        help: "the library's file, by its SHA-256; set by the program",
    });
    Ok(About {
        name,
        aliases: &[],
        summary,
        references: &[],
        params: params.leak(),
    })
}

fn parameter(param: &'static ForeignParam) -> Result<Param, String> {
    let name = text(param.name, "the name of a parameter")?;
    let (fallback, least, most) = (param.fallback, param.least, param.most);
    let is_fit = least.is_finite() && most.is_finite() && (least..=most).contains(&fallback);
    if !is_fit {
        return Err(format!(
            "the parameter `{name}` is {fallback} by default, which is not within {least} to {most}"
        ));
    }
    Ok(Param {
        name,
        kind: Kind::Float(least, most),
        default: fallback.to_string().leak(),
        unit: "",
        help: text(param.help, "the help of a parameter")?,
    })
}

/// A text of the library's, which is there as long as the library: for ever.
fn text(text: *const c_char, what: &str) -> Result<&'static str, String> {
    if text.is_null() {
        return Err(format!("{what} is NULL"));
    }
    // SAFETY: the header asks for a text that ends, and stays.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map_err(|_| format!("{what} is not UTF-8"))
}

/// An object of the library that the parameters belong to.
fn build(params: &Params) -> Box<dyn CongestionControl> {
    let digest = params.text(DIGEST);
    let loaded = LOADED.lock().expect("nothing panics while it loads");
    let known = loaded.iter().find(|known| known.digest == digest);
    let known = known.expect("a library's parameters have the digest of one that is loaded");
    let (ops, name) = (known.ops, known.name);
    drop(loaded);
    let names = params.iter().map(|(name, _)| name);
    let values: Vec<f64> = names
        .filter(|name| *name != DIGEST)
        .map(|name| params.float(name))
        .collect();
    let made = Foreign::new(ops, &values);
    Box::new(made.unwrap_or_else(|| panic!("`create` of the library `{name}` returned NULL")))
}
