//! Why a command line was not understood, with what to write instead.

use super::bounds::MOST_FLOWS;

/// Why a command line was not understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The line ends where a word is missing.
    #[error("`{flag}` requires {wants}, but the line ends there; write e.g. `{example}`")]
    Missing {
        /// The flag.
        flag: &'static str,
        /// What it wants.
        wants: &'static str,
        /// How it is written.
        example: &'static str,
    },
    /// A word is not what the flag wants.
    #[error("`{word}` after `{flag}` is not valid: it requires {wants}; write e.g. `{example}`")]
    Unfit {
        /// The flag.
        flag: &'static str,
        /// The word after it.
        word: String,
        /// What it wants.
        wants: &'static str,
        /// How it is written.
        example: &'static str,
    },
    /// No flag is so called.
    #[error(
        "`{0}` is not an option of ITGSend; options look like `-C 1000`, applications like `VoIP`; \
         see the manual, §3.2.3"
    )]
    Unknown(String),
    /// No flag of the receiver is so called.
    #[error(
        "`{0}` is not an option of ITGRecv; it has `-a`, `-Sp`, `-l`, `-L`, `-q`, `-i`, `-Si`, \
         `-H`, `-n`, `-P`; see the manual, §3.2.4"
    )]
    UnknownToReceiver(String),
    /// Something follows what must be the last.
    #[error("`{word}` stands after `{last}`, which must come last; move it before `{last}`")]
    AfterLast {
        /// What stands there.
        word: String,
        /// What must be the last.
        last: &'static str,
    },
    /// An application and a law of gaps or sizes.
    #[error(
        "`{flag}` and `{application}` exclude each other, as the application says gaps and sizes; \
         leave out one of the two"
    )]
    Application {
        /// The flag of the law.
        flag: &'static str,
        /// The application.
        application: &'static str,
    },
    /// Round trips need time stamps.
    #[error(
        "`-m rttm` needs the time stamps that `-p 1` and `-p 2` leave out; leave out `-p` or write \
         `-p 0`"
    )]
    RoundTripWithoutTimes,
    /// Logs are for all flows of a script.
    #[error(
        "`{0}` has no place in a script, as logs are for all its flows; write it on the command \
         line after the script's name"
    )]
    LogInScript(&'static str),
    /// There are no words, or a script has no lines.
    #[error(
        "there is no flow: write options such as `-a 10.0.0.2 -C 1000 -c 512`, or the name of a \
         script file"
    )]
    Nothing,
    /// More flows than can be.
    #[error("more than {MOST_FLOWS} flows; use several scripts")]
    TooMany,
    /// A line of a script.
    #[error("line {line}: {error}")]
    Line {
        /// Its number, from 1.
        line: usize,
        /// What is wrong in it.
        error: Box<Error>,
    },
}
