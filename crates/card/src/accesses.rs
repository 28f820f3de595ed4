//! Several accesses to registers as one: nobody else's come between them.
//!
//! The tables of a card are read and written by several registers in turn, so two programs that do
//! so at once would read and write each other's rows. Work is done twice: first its accesses are
//! gathered, all reads giving 0, and sent in one request; then it is repeated with the answers.

use trammel_netfpga::registers::Registers;

/// Accesses that belong together. What they are must not depend on what is read.
#[derive(Debug)]
pub struct Accesses<'a>(Kind<'a>);

/// A read, or a write with its value.
pub(crate) type Access = (u32, Option<u32>);

#[derive(Debug)]
enum Kind<'a> {
    Gathers(Vec<Access>),
    Repeats { answers: &'a [u32], at: usize },
}

impl<'a> Accesses<'a> {
    /// The accesses that `work` does.
    pub(crate) fn gathered<T>(work: &impl Fn(&mut Accesses) -> T) -> Vec<Access> {
        let mut accesses = Accesses(Kind::Gathers(Vec::new()));
        work(&mut accesses);
        match accesses.0 {
            Kind::Gathers(gathered) => gathered,
            Kind::Repeats { .. } => unreachable!("what gathers goes on to gather"),
        }
    }

    /// For the same work once its accesses have been done: an answer for each of them.
    pub(crate) fn repeating(answers: &'a [u32]) -> Accesses<'a> {
        Accesses(Kind::Repeats { answers, at: 0 })
    }
}

impl Registers for Accesses<'_> {
    fn read(&mut self, address: u32) -> u32 {
        match &mut self.0 {
            Kind::Gathers(gathered) => {
                gathered.push((address, None));
                0
            }
            Kind::Repeats { answers, at } => {
                *at += 1;
                answers.get(*at - 1).copied().unwrap_or(0)
            }
        }
    }

    fn write(&mut self, address: u32, value: u32) {
        match &mut self.0 {
            Kind::Gathers(gathered) => gathered.push((address, Some(value))),
            Kind::Repeats { at, .. } => *at += 1,
        }
    }
}
