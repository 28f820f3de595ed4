//! The ways into a machine and out of it.

/// Ways in and out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ports {
    /// How many receive.
    pub count: f64,
    /// Bits a second of each; infinite where links are left out.
    pub bits_per_s: f64,
}

impl Default for Ports {
    fn default() -> Ports {
        Ports {
            count: 1.0,
            bits_per_s: f64::INFINITY,
        }
    }
}
