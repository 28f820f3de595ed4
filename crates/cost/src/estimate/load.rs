//! What comes to a function, and how it is run.

use super::ports::Ports;
use crate::expr::Values;
use crate::machine::Missing;
use crate::residency::Locality;

/// What comes to a function, and how it is run.
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    /// Bytes of a frame, its FCS included.
    pub frame: f64,
    /// Flows: different keys that come to each table at most.
    pub flows: f64,
    /// How often which flow comes.
    pub locality: Locality,
    /// The share of packets that are in the other socket's last level, 0 to 1.
    pub remote: f64,
    /// Cores that run the function, each on packets of its own.
    pub cores: f64,
    /// The ways in and out.
    pub ports: Ports,
    /// What other names in formulas stand for.
    pub values: Values,
}

impl Default for Load {
    fn default() -> Load {
        Load {
            frame: 64.0,
            flows: f64::INFINITY,
            locality: Locality::Uniform,
            remote: 0.0,
            cores: 1.0,
            ports: Ports::default(),
            values: Values::new(),
        }
    }
}

/// Why there is no estimate.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The machine lacks a constant.
    #[error("{0}")]
    Missing(#[from] Missing),
    /// A name in a formula stands for nothing.
    #[error("`{name}` in {operation} has no value; give it as --what-if \"{name}=…\"")]
    Open {
        /// The name.
        name: String,
        /// The operation it stands in.
        operation: String,
    },
    /// A quantity of the load is impossible.
    #[error("{0}")]
    Load(String),
}
