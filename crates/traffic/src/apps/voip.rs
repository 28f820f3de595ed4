//! Voice over IP: packets at a codec's rate, silent where the speaker is.
//!
//! # What it does
//! A packet of one size at each tick of the codec. Packets a second and bytes of voice are those of
//! D-ITG's models (*observed*): its `g723.1` sends 30 bytes 26 times a second, where the codec
//! itself (ITU-T G.723.1) makes 24 bytes every 30 ms at 6.3 kbit/s; and its `g729.3` sends 33 and
//! not 33⅓ a second. RTP adds 12 bytes (RFC 3550), cRTP 2 (RFC 2508).
//!
//! With `silence-suppression`, talk spurts and silences follow one another, exponential with the
//! means of ITU-T P.59 (*published*: 1.004 s and 1.587 s), and no packet is sent in a silence.
//! Differs from D-ITG 2.8.1, whose `-VAD` sends at the full rate packets that are a little smaller.
//!
//! # Example
//! ```toml
//! subject = "traffic"
//! duration = "20 s"
//! [path]
//! rate = "10 Mbit/s"
//! delay = "10 ms"
//! [[stream]]
//! app = "voip:codec=g729.2,silence-suppression=true"
//! ```
//!
//! # Parameters
//! `codec`, `header`, `silence-suppression`, `talk`, `silence`.
//!
//! # References
//! ITU-T P.59, "Artificial conversational speech", 1993, table 1; RFC 3550; RFC 2508; D-ITG,
//! `VoIP -x -h -VAD`.

use super::{D_ITG, Entry};
use crate::sources::law;
use crate::sources::laws::Laws;
use crate::sources::on_off::Bursts;
use crate::sources::sizes::Sizes;
use crate::stream::Source;
use trammel_core::entry::{About, Kind, Param, Params};
use trammel_stats::arrivals::Spans;

/// Name, packets a second, bytes of voice in a packet.
const CODECS: [(&str, f64, u32); 5] = [
    ("g711.1", 100.0, 80),
    ("g711.2", 50.0, 160),
    ("g723.1", 26.0, 30),
    ("g729.2", 50.0, 20),
    ("g729.3", 33.0, 30),
];

/// Voice in the table of applications.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "voip",
        aliases: &["voice"],
        summary: "one direction of a call, with or without silences",
        references: &[
            "ITU-T P.59, Artificial conversational speech, 1993",
            "RFC 3550",
            "RFC 2508",
            D_ITG,
        ],
        params: &[
            Param {
                name: "codec",
                kind: Kind::Choice(&["g711.1", "g711.2", "g723.1", "g729.2", "g729.3"]),
                default: "g711.1",
                unit: "",
                help: "the codec, and its frames per packet",
            },
            Param {
                name: "header",
                kind: Kind::Choice(&["rtp", "crtp"]),
                default: "rtp",
                unit: "",
                help: "RTP adds 12 bytes, compressed RTP 2",
            },
            Param {
                name: "silence-suppression",
                kind: Kind::Bool,
                default: "false",
                unit: "",
                help: "whether to suppress packets during silences",
            },
            Param {
                name: "talk",
                kind: Kind::Time,
                default: "1.004 s",
                unit: "",
                help: "the mean of a talk spurt, above 0",
            },
            Param {
                name: "silence",
                kind: Kind::Time,
                default: "1.587 s",
                unit: "",
                help: "the mean of a silence, above 0",
            },
        ],
    },
    build,
};

fn build(params: &Params) -> Result<Box<dyn Source>, String> {
    let codec = CODECS
        .iter()
        .find(|(name, _, _)| *name == params.text("codec"));
    let (_, per_second, voice_bytes) = codec.expect("each choice has a row");
    let header_bytes = if params.text("header") == "rtp" {
        12
    } else {
        2
    };
    let sizes = Sizes::always(voice_bytes + header_bytes).map_err(|error| error.to_string())?;
    let gaps = Spans::constant_rate(*per_second).expect("the rate is above 0");
    if !params.bool("silence-suppression") {
        let laws = Laws::new(gaps, sizes).map_err(|error| error.to_string())?;
        return Ok(Box::new(laws));
    }
    let period = |key: &str| {
        let mean = params.time(key).as_secs_f64();
        let law = law("exponential", &[("mean", mean)]);
        law.map(Spans::seconds)
            .map_err(|_| format!("`{key}` must be above 0"))
    };
    let bursts = Bursts::new(period("talk")?, period("silence")?, gaps, sizes);
    Ok(Box::new(bursts.map_err(|error| error.to_string())?))
}
