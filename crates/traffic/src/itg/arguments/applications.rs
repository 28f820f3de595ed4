//! The applications and codecs that a command line may name.

use crate::itg::command::{Application, Codec};
use crate::record::Protocol;

/// Name, what it is, and what always carries it.
pub(super) static APPLICATIONS: [(&str, Application, Option<Protocol>); 6] = [
    ("Telnet", Application::Telnet, Some(Protocol::Tcp)),
    ("DNS", Application::Dns, None),
    ("Quake3", Application::Quake3, Some(Protocol::Udp)),
    ("CSa", Application::CounterStrikeActive, Some(Protocol::Udp)),
    ("CSi", Application::CounterStrikeIdle, Some(Protocol::Udp)),
    (
        "VoIP",
        Application::Voip {
            codec: Codec::G711One,
            is_compressed: false,
            is_silent_in_pauses: false,
        },
        Some(Protocol::Udp),
    ),
];

pub(super) static CODECS: [(&str, Codec); 5] = [
    ("G.711.1", Codec::G711One),
    ("G.711.2", Codec::G711Two),
    ("G.723.1", Codec::G723),
    ("G.729.2", Codec::G729Two),
    ("G.729.3", Codec::G729Three),
];

pub(super) fn application(
    word: &str,
) -> Option<&'static (&'static str, Application, Option<Protocol>)> {
    APPLICATIONS.iter().find(|(name, ..)| *name == word)
}
