//! Reads the words of a line into a flow.

use super::applications::{APPLICATIONS, application};
use super::error::Error;
use super::flags::{FLAGS, Flag, Part};
use crate::itg::command::{Command, Logs, Metadata, Serve};
use crate::record::Protocol;
use crate::stream::Meter;
use trammel_core::time::Span;

/// The words of a line, how far it is read, and what was understood.
pub(super) struct Reader<'a> {
    pub(super) words: &'a [&'a str],
    pub(super) at: usize,
    pub(super) flag: &'static Flag,
    pub(super) is_script: bool,
    pub(super) command: Command,
    pub(super) logs: Logs,
    pub(super) serve: Serve,
    pub(super) duration: Option<Span>,
    pub(super) gap_flag: Option<&'static str>,
    pub(super) size_flag: Option<&'static str>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(words: &'a [&'a str], is_script: bool) -> Reader<'a> {
        Reader {
            words,
            at: 0,
            flag: &FLAGS[0],
            is_script,
            command: Command::default(),
            logs: Logs::default(),
            serve: Serve::default(),
            duration: None,
            gap_flag: None,
            size_flag: None,
        }
    }

    pub(super) fn flow(mut self) -> Result<Command, Error> {
        let mut last = None;
        while let Some(word) = self.words.get(self.at).copied() {
            self.at += 1;
            let is_voip = last == Some("VoIP");
            let flag = FLAGS
                .iter()
                .find(|flag| flag.word == word && (flag.part == Part::Voip) == is_voip);
            if let Some(last) = last
                && (flag.is_none() || !is_voip)
            {
                return Err(Error::AfterLast {
                    word: word.to_owned(),
                    last,
                });
            }
            if let Some((name, chosen, _)) = application(word) {
                last = Some(*name);
                self.command.application = Some(*chosen);
                continue;
            }
            let Some(flag) = flag else {
                return Err(Error::Unknown(word.to_owned()));
            };
            self.flag = flag;
            if flag.part == Part::Log && self.is_script {
                return Err(Error::LogInScript(flag.word));
            }
            (flag.set)(&mut self)?;
            if word == "-B" {
                last = Some("-B");
            }
        }
        self.finish()
    }

    /// What only the whole line tells.
    fn finish(mut self) -> Result<Command, Error> {
        if let Some(chosen) = self.command.application
            && let Some((application, _, carrier)) = APPLICATIONS.iter().find(|(_, known, _)| {
                std::mem::discriminant(known) == std::mem::discriminant(&chosen)
            })
        {
            if let Some(flag) = self.gap_flag.or(self.size_flag) {
                return Err(Error::Application { flag, application });
            }
            if let Some(carrier) = *carrier
                && carrier != std::mem::replace(&mut self.command.protocol, carrier)
                && self.words.contains(&"-T")
            {
                self.remark(format!(
                    "`-T` has no effect: `{application}` goes over {carrier:?}"
                ));
            }
        }
        if self.command.meter == Meter::RoundTrip && self.command.metadata != Metadata::Full {
            return Err(Error::RoundTripWithoutTimes);
        }
        let limits = &mut self.command.limits;
        if self.duration.is_some() || (limits.packets.is_some() || limits.bytes.is_some()) {
            limits.duration = self.duration;
        }
        if !self.is_script {
            self.command.logs = std::mem::take(&mut self.logs);
        }
        if self.command.protocol == Protocol::Icmp {
            self.remark(
                "`-T ICMP`: ours counts each request once; where a host sends to itself ITGRecv \
                 counts the replies too",
            );
        }
        self.remark_on_laws();
        Ok(self.command)
    }

    pub(super) fn only_logs(mut self, last: &'static str) -> Result<Logs, Error> {
        while let Some(word) = self.words.get(self.at).copied() {
            self.at += 1;
            let Some(flag) = FLAGS
                .iter()
                .find(|flag| flag.word == word && flag.part == Part::Log)
            else {
                return Err(if FLAGS.iter().any(|flag| flag.word == word) {
                    Error::AfterLast {
                        word: word.to_owned(),
                        last,
                    }
                } else {
                    Error::Unknown(word.to_owned())
                });
            };
            self.flag = flag;
            (flag.set)(&mut self)?;
        }
        Ok(self.logs)
    }
}
