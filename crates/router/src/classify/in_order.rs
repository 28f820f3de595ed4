//! The tests of rules one after the other, for people to read: what a rule set asks in the order it
//! is written.
//!
//! Each rule becomes a chain of tests in which the first that fails leads to the next rule. A way
//! past a test whose answer is known on all paths that lead there goes to where they all go on; a
//! test that nothing leads to is left out; tests of one word that stand in a row and go astray
//! alike are one.
//!
//! ```text
//! tcp and port 5, tcp and port 6:   tcp? ─yes→ port 5? ─no→ (tcp? is known) port 6?
//! ```
//! These steps decide as the rules do, of packets that have the bytes asked of. They are not what
//! runs, which asks in another order and of several words at once.

use super::compile::{DROP, OUTPUT, Target};
use super::expr::{Arena, Base, Expr, Relation, Shape, Test, Word};

/// Paths to a test that are told apart; what more have in common is all that is known beyond.
const MOST_PATHS: usize = 16;
/// Values known not to be there that one path remembers of a word.
const MOST_VALUES: usize = 32;
/// Tests looked at before the rest stays as it is.
const MOST_WORK: usize = 1_000_000;

/// A test and where its answers lead: to later steps of the list, or out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) test: Test,
    pub(crate) yes: Target,
    pub(crate) no: Target,
    /// A packet without these bytes, those of the first test where they are of two, goes where a
    /// yes leads.
    pub(crate) is_short_yes: bool,
}

/// What is known of a word.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Known {
    mask: u32,
    value: u32,
    /// Masks under which the word is not a value.
    not: Vec<(u32, u32)>,
    /// Masks under which the word is within bounds.
    within: Vec<(u32, u32, u32)>,
}

/// What is known on a path, of the words asked of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Path(Vec<(Word, Known)>);

impl Step {
    /// Asks the opposite of a test of one bit.
    fn turn(&mut self) {
        self.test.value ^= self.test.mask;
        (self.yes, self.no) = (self.no, self.yes);
        self.is_short_yes = !self.is_short_yes;
    }
}

impl Known {
    fn answer(&self, test: &Test) -> Option<bool> {
        let Test { mask, value, .. } = *test;
        let all = mask & !self.mask == 0;
        match test.relation {
            Relation::Equal if (value ^ self.value) & mask & self.mask != 0 => Some(false),
            Relation::Equal if all => Some(true),
            Relation::Equal => {
                let is_not = |&(of, not): &(u32, u32)| {
                    let asked = of & (mask | self.mask);
                    asked == of && (value & mask | self.value & !mask) & of == not
                };
                self.not.iter().any(is_not).then_some(false)
            }
            Relation::Greater if all => Some(self.value & mask > value),
            Relation::Greater => {
                let bounds = self.within.iter().filter(|bounds| bounds.0 == mask);
                let mut answers = bounds.filter_map(|&(_, low, high)| {
                    (low > value || high <= value).then_some(low > value)
                });
                answers.next()
            }
        }
    }

    fn learn(&mut self, test: &Test, yes: bool) {
        let Test { mask, value, .. } = *test;
        match (test.relation, yes) {
            (Relation::Equal, true) => {
                (self.mask, self.value) = (self.mask | mask, self.value | value);
            }
            (Relation::Equal, false) if mask.is_power_of_two() => {
                (self.mask, self.value) = (self.mask | mask, self.value | (value ^ mask));
            }
            (Relation::Equal, false) => {
                self.not.push((mask, value));
                if self.not.len() > MOST_VALUES {
                    self.not.remove(0);
                }
            }
            (Relation::Greater, _) => {
                let (mut low, mut high) = if yes { (value + 1, mask) } else { (0, value) };
                if let Some(at) = self.within.iter().position(|bounds| bounds.0 == mask) {
                    let (_, old_low, old_high) = self.within.remove(at);
                    (low, high) = (low.max(old_low), high.min(old_high));
                }
                self.within.push((mask, low, high));
            }
        }
    }

    /// What is known here and there.
    fn common(&self, other: &Known) -> Known {
        let mask = self.mask & other.mask & !(self.value ^ other.value);
        let (not, within) = (self.not.iter(), self.within.iter());
        Known {
            mask,
            value: self.value & mask,
            not: not.filter(|one| other.not.contains(one)).copied().collect(),
            within: within
                .filter(|one| other.within.contains(one))
                .copied()
                .collect(),
        }
    }
}

impl Path {
    fn answer(&self, test: &Test) -> Option<bool> {
        let known = self.0.iter().find(|(word, _)| *word == test.word);
        known.and_then(|(_, known)| known.answer(test))
    }

    fn learned(&self, test: &Test, yes: bool) -> Path {
        let mut path = self.clone();
        if let Some((_, known)) = path.0.iter_mut().find(|(word, _)| *word == test.word) {
            known.learn(test, yes);
        } else {
            let mut known = Known::default();
            known.learn(test, yes);
            path.0.push((test.word, known));
            // Equal knowledge is equal paths.
            path.0.sort_by_key(|(word, _)| *word);
        }
        path
    }

    fn common(&self, other: &Path) -> Path {
        let both = self.0.iter().filter_map(|(word, known)| {
            let (_, there) = other.0.iter().find(|(other, _)| other == word)?;
            Some((*word, known.common(there)))
        });
        Path(both.collect())
    }
}

/// The steps of these rules, and where to start.
pub(crate) fn steps(arena: &Arena, rules: &[(Expr, Target)]) -> (Vec<Step>, Target) {
    let mut made = Vec::new();
    let mut next = DROP;
    for &(expr, target) in rules.iter().rev() {
        next = chain(arena, &mut made, expr, target, next, None);
    }
    // They were made from the last to the first.
    let count = made.len() as Target;
    let turn = |to: Target| if to & OUTPUT == 0 { count - 1 - to } else { to };
    let mut steps: Vec<Step> = made.into_iter().rev().collect();
    for step in &mut steps {
        (step.yes, step.no) = (turn(step.yes), turn(step.no));
    }
    let root = thread(&mut steps, turn(next));
    join(&mut steps);
    keep_reached(&steps, root)
}

/// The steps that ask `expr`, made from its end; `short` is where a packet goes that is too short
/// for the first of them, where that is known.
fn chain(
    arena: &Arena,
    steps: &mut Vec<Step>,
    expr: Expr,
    yes: Target,
    no: Target,
    short: Option<Target>,
) -> Target {
    match arena.shape(expr) {
        Shape::True => yes,
        Shape::False => no,
        Shape::Not(inner) => chain(arena, steps, *inner, no, yes, short),
        // Of the length only what becomes of short packets is shown.
        Shape::Test(test) if test.word.base == Base::Length => yes,
        Shape::Test(test) => {
            let (mut test, mut yes, mut no) = (*test, yes, no);
            if let Some(plain) = without_order(&test) {
                (test, yes, no) = (plain, no, yes);
            }
            steps.push(Step {
                test,
                yes,
                no,
                is_short_yes: short == Some(yes) && yes != no,
            });
            steps.len() as Target - 1
        }
        Shape::And(parts) => {
            let mut next = yes;
            for (at, &part) in parts.iter().enumerate().rev() {
                let of_length = at.checked_sub(1).is_some_and(|before| {
                    matches!(arena.shape(parts[before]), Shape::Test(test)
                        if test.word.base == Base::Length)
                });
                next = chain(arena, steps, part, next, no, of_length.then_some(no));
            }
            next
        }
        Shape::Or(parts) => {
            let mut next = no;
            for &part in parts.iter().rev() {
                next = chain(arena, steps, part, yes, next, None);
            }
            next
        }
    }
}

/// The test of equality that is the opposite of `word & mask > value`, where only ones are below:
/// more than 1023 is to have a bit of the upper ones.
fn without_order(test: &Test) -> Option<Test> {
    let below = u32::MAX
        .checked_shr(test.value.leading_zeros())
        .unwrap_or(0);
    (test.relation == Relation::Greater && test.mask & below == test.value).then_some(Test {
        mask: test.mask & !below,
        relation: Relation::Equal,
        value: 0,
        ..*test
    })
}

/// Leads every answer past the tests that are then known; gives the new start.
fn thread(steps: &mut [Step], root: Target) -> Target {
    let mut paths: Vec<Vec<Path>> = vec![Vec::new(); steps.len()];
    let mut work = 0;
    if root & OUTPUT == 0 {
        paths[root as usize].push(Path::default());
    }
    for at in 0..steps.len() {
        let known = std::mem::take(&mut paths[at]);
        let test = steps[at].test;
        for yes in [true, false] {
            let possible = known.iter().filter(|p| p.answer(&test) != Some(!yes));
            let after: Vec<Path> = possible.map(|path| path.learned(&test, yes)).collect();
            let step = &mut steps[at];
            let old = if yes { step.yes } else { step.no };
            if work > MOST_WORK {
                if old & OUTPUT == 0 {
                    paths[old as usize] = vec![Path::default()];
                }
                continue;
            }
            let new = past(steps, old, &after, &mut work);
            let step = &mut steps[at];
            *(if yes { &mut step.yes } else { &mut step.no }) = new;
            if new & OUTPUT == 0 {
                for path in after {
                    arrive(&mut paths[new as usize], path);
                }
            }
        }
    }
    // What leads to the same by either answer need not be asked.
    for at in (0..steps.len()).rev() {
        let skip = |to: Target| match steps.get(to as usize) {
            Some(step) if step.yes == step.no => step.yes,
            _ => to,
        };
        (steps[at].yes, steps[at].no) = (skip(steps[at].yes), skip(steps[at].no));
    }
    match steps.get(root as usize) {
        Some(step) if step.yes == step.no => step.yes,
        _ => root,
    }
}

/// Notes that a path leads to a test.
fn arrive(paths: &mut Vec<Path>, path: Path) {
    if paths.contains(&path) {
        return;
    }
    paths.push(path);
    if paths.len() > MOST_PATHS {
        let common = paths.iter().skip(1);
        let common = common.fold(paths[0].clone(), |one, other| one.common(other));
        *paths = vec![common];
    }
}

/// The last step that all paths pass, from `to` on.
fn past(steps: &[Step], to: Target, paths: &[Path], work: &mut usize) -> Target {
    let walk = |path: &Path, work: &mut usize| {
        let (mut way, mut at) = (vec![to], to);
        while at & OUTPUT == 0 {
            let step = &steps[at as usize];
            *work += 1;
            at = match path.answer(&step.test) {
                _ if step.yes == step.no => step.yes,
                Some(true) => step.yes,
                Some(false) => step.no,
                None => break,
            };
            way.push(at);
        }
        way
    };
    let Some((first, others)) = paths.split_first() else {
        return to;
    };
    let mut way = walk(first, work);
    for path in others {
        let other = walk(path, work);
        // Steps lead on, so ways are sorted.
        way.retain(|at| other.binary_search(at).is_ok());
    }
    way.last().copied().unwrap_or(to)
}

/// Makes one test of two in a row, of one word, that go astray alike.
fn join(steps: &mut [Step]) {
    let is_bit = |step: &Step| step.test.mask.is_power_of_two();
    let is_plain = |step: &Step| step.test.relation == Relation::Equal;
    for at in (0..steps.len()).rev() {
        let after = steps.get(steps[at].no as usize);
        if after.is_some_and(|next| next.no == steps[at].yes && is_plain(&steps[at]))
            && is_bit(&steps[at])
        {
            steps[at].turn();
        }
        let one = steps[at];
        let Some(mut next) = steps.get(one.yes as usize).copied() else {
            continue;
        };
        if !is_plain(&one) || !is_plain(&next) || one.test.word != next.test.word {
            continue;
        }
        if next.no != one.no && next.yes == one.no && is_bit(&next) {
            next.turn();
        }
        let shared = one.test.mask & next.test.mask;
        if next.no == one.no && (one.test.value ^ next.test.value) & shared == 0 {
            let step = &mut steps[at];
            step.yes = next.yes;
            step.test.mask |= next.test.mask;
            step.test.value |= next.test.value;
        }
    }
}

/// The steps that something leads to.
fn keep_reached(steps: &[Step], root: Target) -> (Vec<Step>, Target) {
    let mut reached = vec![false; steps.len()];
    let mut numbers: Vec<Target> = vec![0; steps.len()];
    if root & OUTPUT == 0 {
        reached[root as usize] = true;
    }
    let mut count = 0;
    for (at, step) in steps.iter().enumerate() {
        if !reached[at] {
            continue;
        }
        (numbers[at], count) = (count, count + 1);
        for to in [step.yes, step.no] {
            if to & OUTPUT == 0 {
                reached[to as usize] = true;
            }
        }
    }
    let number = |to: Target| numbers.get(to as usize).copied().unwrap_or(to);
    let kept = steps.iter().zip(&reached).filter(|(_, reached)| **reached);
    let kept = kept.map(|(step, _)| Step {
        yes: number(step.yes),
        no: number(step.no),
        ..*step
    });
    (kept.collect(), number(root))
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_core::rng::Rng;

    fn random_test(rng: &mut Rng) -> Test {
        let mask = [0xF0, 0x0F, 0xFF, 0x10, 0x01, 0x3C][rng.below(6) as usize];
        let relation = [Relation::Equal, Relation::Equal, Relation::Greater];
        Test {
            word: Word {
                base: Base::Network,
                offset: 4 * rng.below(3) as i32,
            },
            mask,
            relation: relation[rng.below(3) as usize],
            value: rng.below(256) as u32 & mask,
        }
    }

    fn random_expr(arena: &mut Arena, rng: &mut Rng, depth: u32) -> Expr {
        if depth == 0 || rng.below(4) == 0 {
            let test = random_test(rng);
            return arena.test(test, rng.below(2) == 0);
        }
        let parts: Vec<Expr> = (0..=rng.below(3))
            .map(|_| random_expr(arena, rng, depth - 1))
            .collect();
        match rng.below(3) {
            0 => arena.and(&parts),
            1 => arena.or(&parts),
            _ => arena.not(parts[0]),
        }
    }

    fn walk(steps: &[Step], root: Target, word: &impl Fn(Word) -> u32) -> Target {
        let mut at = root;
        while at & OUTPUT == 0 {
            let step = &steps[at as usize];
            let next = if step.test.holds(word(step.test.word)) {
                step.yes
            } else {
                step.no
            };
            assert!(next > at, "steps lead on");
            at = next;
        }
        at
    }

    #[test]
    fn steps_decide_as_the_rules_do() {
        let mut rng = Rng::new(1, "steps");
        for set in 0..2000 {
            let mut arena = Arena::default();
            let rules: Vec<(Expr, Target)> = (0..5)
                .map(|at| (random_expr(&mut arena, &mut rng, 3), at | OUTPUT))
                .collect();
            let (steps, root) = steps(&arena, &rules);
            for _ in 0..40 {
                let words: [u32; 3] = std::array::from_fn(|_| rng.below(256) as u32);
                let word = |word: Word| match word.base {
                    Base::Length => u32::MAX,
                    _ => words[word.offset as usize / 4],
                };
                let first = rules.iter().find(|(expr, _)| arena.evaluate(*expr, &word));
                let right = first.map_or(DROP, |(_, target)| *target);
                assert_eq!(walk(&steps, root, &word), right, "set {set}, {words:?}");
            }
        }
    }

    #[test]
    fn what_is_known_is_not_asked_again_and_bits_of_a_word_are_asked_at_once() {
        let mut arena = Arena::default();
        let mut test = |offset, mask, value| {
            let base = Base::Network;
            let test = Test {
                word: Word { base, offset },
                mask,
                relation: Relation::Equal,
                value,
            };
            arena.bare(test)
        };
        let (a, b, c, d) = (
            test(0, 0xFF, 6),
            test(4, 2, 2),
            test(4, 0x10, 0x10),
            test(8, 0xFF, 7),
        );
        let not_b = arena.not(b);
        let rules = [
            (arena.and(&[a, not_b, c]), OUTPUT),
            (arena.and(&[a, d]), 1 | OUTPUT),
        ];
        let listed = |rules: &[(Expr, Target)]| -> Vec<_> {
            let (steps, root) = steps(&arena, rules);
            assert_eq!(root, 0);
            let parts = |step: &Step| (step.test.mask, step.test.value, step.yes, step.no);
            steps.iter().map(parts).collect()
        };
        let first = [(0xFF, 6, 1, DROP), (0x12, 0x10, OUTPUT, DROP)];
        assert_eq!(listed(&rules[..1]), first);
        let both = [
            (0xFF, 6, 1, DROP),
            (0x12, 0x10, OUTPUT, 2),
            (0xFF, 7, 1 | OUTPUT, DROP),
        ];
        assert_eq!(listed(&rules), both);
    }
}
