//! Wires that an emulator stands in, where the host's own TCP is measured.

use crate::job::GuestJob;

/// A wire that an emulator stands in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cable {
    /// The wire.
    pub wire: usize,
    /// The ways that packets pass here which enter at its first end, and at its second, in their
    /// order: wire and end of each.
    pub ways: [Vec<(usize, usize)>; 2],
}

impl Cable {
    /// The emulator's interface towards an end of the wire.
    pub fn interface(&self, end: usize) -> String {
        format!("w{}{}", self.wire, ["a", "b"][end])
    }
}

/// Where the emulator stands. Of a line, whose queue is before its first wire and whose losses are
/// before its second, it does both at once.
pub fn cables(job: &GuestJob) -> Vec<Cable> {
    let mut cables = Vec::new();
    let mut wire = 0;
    while wire < job.wires.len() {
        let is_line = is_line(job, wire);
        if is_line || job.wires[wire].ways.iter().any(|way| way.queue.is_some()) {
            let next = wire + usize::from(is_line);
            let mut ways = [vec![(wire, 0)], vec![(next, 1)]];
            if is_line {
                ways[0].push((next, 0));
                ways[1].push((wire, 1));
            }
            cables.push(Cable { wire, ways });
        }
        wire += 1 + usize::from(is_line);
    }
    cables
}

/// Whether packets that pass the wire all pass the next one too, and one of the two has a queue.
fn is_line(job: &GuestJob, wire: usize) -> bool {
    let Some([first, second]) = job.wires.get(wire..wire + 2) else {
        return false;
    };
    let middle = first.ends[1];
    let wires = job.wires.iter().filter(|wire| wire.ends.contains(&middle));
    let mut ways = first.ways.iter().chain(&second.ways);
    second.ends[0] == middle && wires.count() == 2 && ways.any(|way| way.queue.is_some())
}
