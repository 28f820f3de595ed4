//! The frames of several streams with their bytes, in the order in which they begin.

use trammel_core::time::Time;
use trammel_netfpga::params::Params;
use trammel_netfpga::stream::Stream;
use trammel_workbench::{frames, samples};

/// Where a frame says of which stream it is, and which of its frames: in its payload.
const STREAM_AT: usize = 42;
const NUMBER_AT: usize = 43;
/// Bytes of a number.
const NUMBER_BYTES: usize = 8;
/// Where an IPv4 packet has its TTL and its addresses, behind a header of Ethernet.
const TTL_AT: usize = 22;
const FROM_AT: usize = 26;
const TO_AT: usize = 30;
/// Of a frame's bytes, the check sequence is none.
const FCS_BYTES: usize = 4;

/// Between which addresses a frame goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way {
    /// The MAC address that it is for.
    pub(super) mac: [u8; 6],
    /// Its addresses of IPv4.
    pub(super) from: [u8; 4],
    pub(super) to: [u8; 4],
    pub(super) ttl: u8,
}

/// A frame of `bytes`, check sequence included, which is not there.
pub(super) fn frame(way: &Way, stream: usize, bytes: u64) -> Vec<u8> {
    let mut frame = samples::plain();
    frame.resize(bytes as usize - FCS_BYTES, 0);
    frame[..6].copy_from_slice(&way.mac);
    frame[TTL_AT] = way.ttl;
    frame[FROM_AT..TO_AT].copy_from_slice(&way.from);
    frame[TO_AT..TO_AT + 4].copy_from_slice(&way.to);
    frames::mend(&mut frame);
    frame[STREAM_AT] = stream as u8;
    frame
}

/// Writes into a frame which of its stream it is.
fn number(frame: &mut [u8], number: u64) {
    frame[NUMBER_AT..NUMBER_AT + NUMBER_BYTES].copy_from_slice(&number.to_be_bytes());
}

/// Of which stream a frame is, and which of its frames; none of what is no frame of a test.
pub(super) fn which(frame: &[u8]) -> Option<(usize, u64)> {
    let bytes = frame.get(NUMBER_AT..NUMBER_AT + NUMBER_BYTES)?;
    let number = u64::from_be_bytes(bytes.try_into().ok()?);
    Some((usize::from(frame[STREAM_AT]), number))
}

/// A stream with the bytes of its frames, which are taken in turn.
struct Course<'a> {
    stream: &'a Stream,
    frames: Vec<Vec<u8>>,
    sent: u64,
    due: Time,
}

/// A frame that begins to come in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beginning {
    /// Of which stream.
    pub(super) stream: usize,
    /// Which of its frames.
    pub(super) number: u64,
    /// When.
    pub(super) start: Time,
}

/// The frames of all streams.
pub(super) struct OfferedFrames<'a> {
    params: &'a Params,
    courses: Vec<Course<'a>>,
    /// By port: until when its line is taken.
    busy: Vec<Time>,
}

impl<'a> OfferedFrames<'a> {
    /// Of `streams`, of which each has its own `frames`, on lines of `params`.
    pub(super) fn new(
        params: &'a Params,
        streams: &'a [Stream],
        frames: impl Fn(usize, &Stream) -> Vec<Vec<u8>>,
    ) -> OfferedFrames<'a> {
        let course = |(number, stream): (usize, &'a Stream)| Course {
            frames: frames(number, stream),
            stream,
            sent: 0,
            due: stream.due(0, params),
        };
        OfferedFrames {
            courses: streams.iter().enumerate().map(course).collect(),
            busy: vec![Time::ZERO; params.ports as usize],
            params,
        }
    }

    /// The next frame, with the port where it comes in and its bytes.
    pub(super) fn next(&mut self) -> Option<(Beginning, usize, &[u8])> {
        let courses = self.courses.iter().enumerate();
        let left = courses.filter(|(_, course)| course.sent < course.stream.frames);
        let (at, _) = left.min_by_key(|(_, course)| course.due)?;
        let course = &mut self.courses[at];
        let port = course.stream.from;
        let start = course.due.max(self.busy[port]);
        let on_line = self.params.line_ps(course.stream.frame_bytes);
        self.busy[port] = start.saturating_add(trammel_core::time::Span::from_ps(on_line));
        let beginning = Beginning {
            stream: at,
            number: course.sent,
            start,
        };
        let turn = (course.sent % course.frames.len() as u64) as usize;
        course.sent += 1;
        course.due = course.stream.due(course.sent, self.params);
        let frame = &mut course.frames[turn];
        number(frame, beginning.number);
        Some((beginning, port, frame))
    }
}
