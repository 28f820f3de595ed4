//! The tests of rules as a list of steps for people, in the form that Click's users know.
//!
//! ```text
//!  0 264/00110000%00ff0000  yes->step 1  no->[X]
//! ```
//! The list shows the rules' tests in order (`in_order`), not the graph that runs. A step compares
//! four bytes of the packet, under a mask, with a value. Offsets count from the data; in filters
//! from two bytes before the link header, plus 256 from the network header, plus 512 from the
//! transport header. `[1]` is an output, `[X]` none. A packet too short for a step goes on as if
//! the answer were no, or yes where it says `short->yes`.

use super::compile::{DROP, OUTPUT, Target};
use super::expr::{Base, Relation, Word};
use super::in_order::Step;
use std::fmt::Write;

/// The list of the steps from `root` on.
pub(crate) fn text(steps: &[Step], root: Target) -> String {
    let place = |target: Target| match target {
        DROP => "[X]".to_owned(),
        target if target & OUTPUT != 0 => format!("[{}]", target & !OUTPUT),
        target => format!("step {target}"),
    };
    let mut out = String::new();
    let mut safe_length = 0;
    for (number, step) in steps.iter().enumerate() {
        let test = &step.test;
        let (offset, mask, value) = (offset(test.word), test.mask, test.value);
        safe_length = safe_length.max(offset + 4 - mask.trailing_zeros() as i32 / 8);
        let sign = match test.relation {
            Relation::Equal => "",
            Relation::Greater => ">",
        };
        let (yes, no) = (place(step.yes), place(step.no));
        let short = if step.is_short_yes {
            "  short->yes"
        } else {
            ""
        };
        writeln!(
            out,
            "{number:2} {offset:3}/{sign}{value:08x}%{mask:08x}  yes->{yes}  no->{no}{short}"
        )
        .expect("a string takes any text");
    }
    if steps.is_empty() {
        writeln!(out, "all->{}", place(root)).expect("a string takes any text");
    }
    writeln!(out, "safe length {safe_length}\nalignment offset 0")
        .expect("a string takes any text");
    out
}

fn offset(word: Word) -> i32 {
    match word.base {
        Base::Data | Base::Length => word.offset,
        Base::Link => word.offset + 2,
        Base::Network => word.offset + 256,
        Base::Transport => word.offset + 512,
    }
}

#[cfg(test)]
mod tests {
    use crate::classify::names::Usual;
    use crate::classify::{Action, Program};

    #[test]
    fn a_program_lists_its_steps_in_the_order_of_the_rules() {
        let program = Program::classifier(&["2/0102".to_owned(), "-".to_owned()]).expect("good");
        assert_eq!(
            program.text(),
            " 0   0/00000102%0000ffff  yes->[0]  no->[1]\nsafe length 4\nalignment offset 0\n"
        );
        let rules = ["udp dst port ntp", "udp src port 5", "9.9.0.0/16"].map(str::to_owned);
        let rules: Vec<(Action, String)> = rules
            .into_iter()
            .enumerate()
            .map(|(at, rule)| (Action::Output(at), rule))
            .collect();
        let program = Program::ip(&rules, &Usual).expect("good");
        assert_eq!(
            program.text(),
            " 0 264/00110000%00ff0000  yes->step 1  no->step 4
 1 260/00000000%00001fff  yes->step 2  no->step 4
 2 512/0000007b%0000ffff  yes->[0]  no->step 3
 3 512/00050000%ffff0000  yes->[1]  no->step 4
 4 268/09090000%ffff0000  yes->[2]  no->step 5
 5 272/09090000%ffff0000  yes->[2]  no->[X]
safe length 516
alignment offset 0
"
        );
        let none = Program::filter(&["allow false".to_owned()], 1, &Usual).expect("good");
        assert!(none.text().starts_with("all->[X]\nsafe length 0\n"));
        assert_eq!(none.unused_outputs(1).collect::<Vec<_>>(), [0]);
    }
}
