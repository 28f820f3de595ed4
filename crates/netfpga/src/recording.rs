//! What a run is asked for beside counts and latencies.

use trammel_core::time::Time;

/// What is recorded. Nothing of it changes what becomes of the frames.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recording {
    /// So many frames one by one: the first whose ways end.
    pub passages: usize,
    /// Latencies count from the last bit of a frame in, not from the first bit of its preamble.
    //= rfc1242 §3.8
    //# The time interval starting when the last bit of the
    //# input frame reaches the input port and ending when
    //# the first bit of the output frame is seen on the
    //# output port.
    pub is_from_last_bit: bool,
    /// Instants, in their order: the latency of the first frame that comes in then or later is told
    /// by itself. States are not repeated across them, so each costs as many simulated frames as it
    /// takes to find the repetition anew.
    pub tags: Vec<Time>,
    /// How much neighbours differ is counted.
    pub has_variation: bool,
    /// Frames that come out later are counted by themselves.
    pub until: Option<Time>,
}

impl Recording {
    /// The first `passages` frames one by one.
    pub fn of_passages(passages: usize) -> Recording {
        Recording {
            passages,
            ..Recording::default()
        }
    }
}
