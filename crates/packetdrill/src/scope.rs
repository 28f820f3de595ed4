//! What scripts test that a simulated connection does not have: why a script that uses it is none
//! of those that could pass.

use crate::script::{Action, Expr, Place, Script};

/// Words in what a script was skipped for, and the reason.
const INAPPLICABLE: &[(&str, &str)] = &[
    ("fast open", "fast open"),
    ("FASTOPEN", "fast open"),
    ("MD5", "signatures"),
    ("TCP_AO", "signatures"),
    ("TCP_ULP", "TLS"),
    ("urgent", "urgent data"),
    ("MSG_OOB", "urgent data"),
    ("ZEROCOPY", "memory of the application"),
    ("sendfile", "files of the application"),
    ("splice", "files of the application"),
    ("`open`", "files of the application"),
    ("/bin/rm", "files of the application"),
    ("/bin/dd", "files of the application"),
    ("TIMESTAMPING", "time stamps for the application"),
    ("TCP_INQ", "ancillary data"),
    ("MSG_ERRQUEUE", "ancillary data"),
    ("epoll", "polling"),
    ("`poll`", "polling"),
    ("nstat", "the kernel's counters"),
    ("SK_MEMINFO", "the kernel's memory"),
    ("pfifo limit 0", "a queue in the host that drops"),
    ("ICMP", "ICMP"),
    ("IPv6", "IPv6"),
];

/// What of a script is out of scope: its place, and what it is. What it expects before that need
/// not hold in a simulation, so this is asked of scripts that do not pass.
pub(crate) fn out_of_scope(script: &Script) -> Option<(Place, String)> {
    script.events.iter().find_map(|event| {
        let what = match &event.action {
            Action::Command(text) => {
                let mut lines = text.lines();
                let line = lines.find(|line| inapplicable(line).is_some())?;
                format!("the command `{}`", line.trim())
            }
            Action::Code(text) => format!("`{}`", text.trim()),
            Action::Call(call) => {
                let mut words = vec![call.name.as_str()];
                for argument in &call.arguments {
                    words_of(argument, &mut words);
                }
                let named = words.into_iter().find(|word| inapplicable(word).is_some());
                format!("`{}`", named?)
            }
            Action::Inject(_) | Action::Expect(_) => return None,
        };
        inapplicable(&what).map(|_| (event.place, what))
    })
}

fn words_of<'a>(argument: &'a Expr, words: &mut Vec<&'a str>) {
    match argument {
        Expr::Ellipsis | Expr::Int(_) | Expr::Text(_) => {}
        Expr::Word(word) => words.push(word),
        Expr::Or(parts) | Expr::List(parts) | Expr::Struct(parts) | Expr::Apply(_, parts) => {
            for part in parts {
                words_of(part, words);
            }
        }
        Expr::Field(_, value) => words_of(value, words),
    }
}

/// Why a script that was skipped for `what` tests nothing that a simulated connection has; nothing
/// where it could be made to.
pub fn inapplicable(what: &str) -> Option<&'static str> {
    let mut all = INAPPLICABLE.iter();
    all.find(|(word, _)| what.contains(word))
        .map(|(_, reason)| *reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_modelled_is_told_from_what_is_missing() {
        assert_eq!(inapplicable("fast open"), Some("fast open"));
        let option = inapplicable("the socket option `SO_TIMESTAMPING`");
        assert_eq!(option, Some("time stamps for the application"));
        for missing in [
            "a send buffer that overflows",
            "the flag `MSG_EOR`",
            "the socket option `TCP_USER_TIMEOUT`",
            "`tcpi_rwnd_limited` in an assertion",
        ] {
            assert_eq!(inapplicable(missing), None, "{missing}");
        }
    }
}
