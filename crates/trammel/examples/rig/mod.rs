//! Three namespaces in a row, for examples that forward between two interfaces.
//!
//! ```text
//! source: out ═ in0 :middle: out0 ═ in :sink
//! ```

use trammel_io::error::Result;
use trammel_io::netns::{Namespace, veth};

/// The namespaces; they are gone when it is dropped.
pub(crate) struct Rig {
    pub(crate) source: Namespace,
    pub(crate) middle: Namespace,
    pub(crate) sink: Namespace,
}

impl Rig {
    pub(crate) fn new() -> Result<Rig> {
        let rig = Rig {
            source: Namespace::new()?,
            middle: Namespace::new()?,
            sink: Namespace::new()?,
        };
        veth(&rig.source, "out", &rig.middle, "in0")?;
        veth(&rig.middle, "out0", &rig.sink, "in")?;
        for (namespace, name) in [
            (&rig.source, "out"),
            (&rig.middle, "in0"),
            (&rig.middle, "out0"),
            (&rig.sink, "in"),
        ] {
            namespace.set_offloads(name, false)?;
        }
        Ok(rig)
    }

    /// Frames that came to the sink.
    pub(crate) fn delivered(&self) -> Result<u64> {
        Ok(self.sink.link("in")?.counters.received)
    }
}
