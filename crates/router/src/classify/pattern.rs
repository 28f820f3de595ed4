//! Classifier's byte patterns: `12/0806 20/0001%00ff !30/0a??`, or `-` for every packet.
//!
//! A clause is an offset in decimal, `/` and bytes in hexadecimal, `?` for four bits that do not
//! matter, then perhaps `%` and a mask of as many digits; `!` before it asks for the opposite. All
//! clauses of a pattern must hold.

use super::expr::{Arena, Base, Expr, Relation, Test, Word};
use crate::diagnostic::Diagnostics;

/// Offsets beyond this are in no packet; a bound keeps the arithmetic safe.
const FARTHEST: u32 = 1 << 24;

/// Reads the pattern numbered `slot`.
pub(crate) fn read(text: &str, slot: usize, arena: &mut Arena, said: &mut Diagnostics) -> Expr {
    if text == "-" {
        return Expr::TRUE;
    }
    let mut rest = text.as_bytes().trim_ascii_start();
    let mut clauses = Vec::new();
    while !rest.is_empty() {
        match clause(&mut rest, slot, arena, said) {
            Ok(clause) => clauses.push(clause),
            Err(fault) => {
                said.error(None, format!("pattern {slot}: {fault}"));
                break;
            }
        }
        rest = rest.trim_ascii_start();
    }
    arena.and(&clauses)
}

/// Reads one clause, faults of its digits told as they come; the error is one that nothing follows.
fn clause(
    rest: &mut &[u8],
    slot: usize,
    arena: &mut Arena,
    said: &mut Diagnostics,
) -> Result<Expr, &'static str> {
    let negated = rest.first() == Some(&b'!');
    if negated {
        *rest = rest[1..].trim_ascii_start();
    }
    let digits = take(rest, u8::is_ascii_digit);
    if digits.is_empty() {
        return Err("expected a digit");
    }
    let offset = digits
        .iter()
        .fold(0_u32, |n, d| (n * 10 + u32::from(d - b'0')).min(FARTHEST));
    if rest.first() != Some(&b'/') {
        return Err("expected '/'");
    }
    *rest = &rest[1..];
    let mut fault = |text: &str| said.error(None, format!("pattern {slot}: {text}"));
    let is_nibble = |c: &u8| c.is_ascii_hexdigit() || *c == b'?';
    let mut value = take(rest, is_nibble);
    let mut mask = None;
    if rest.first() == Some(&b'%') {
        *rest = &rest[1..];
        mask = Some(take(rest, is_nibble));
    }
    if value.len() < 2 {
        fault("value has less than 2 hex digits");
        return Ok(Expr::TRUE);
    }
    if value.len() % 2 != 0 {
        fault("value has odd number of hex digits");
        value = &value[..value.len() - 1];
        mask = mask.map(|m| &m[..m.len().saturating_sub(1)]);
    }
    if let Some(mask) = mask.filter(|mask| mask.len() != value.len()) {
        fault(if mask.len() > value.len() {
            "mask has too many hex digits"
        } else {
            "mask has too few hex digits"
        });
        return Ok(Expr::TRUE);
    }
    let tests = words(offset, value, mask).map(|test| arena.test(test, false));
    let tests: Vec<Expr> = tests.collect();
    let all = arena.and(&tests);
    Ok(if negated { arena.not(all) } else { all })
}

/// The longest beginning of `rest` of such characters, taken off it.
fn take<'a>(rest: &mut &'a [u8], is_such: impl Fn(&u8) -> bool) -> &'a [u8] {
    let end = rest.iter().position(|c| !is_such(c)).unwrap_or(rest.len());
    let (taken, left) = rest.split_at(end);
    *rest = left;
    taken
}

/// Four bits and which of them matter.
fn nibble(digit: u8) -> (u32, u32) {
    match char::from(digit).to_digit(16) {
        Some(value) => (value, 0xf),
        None => (0, 0),
    }
}

/// The tests of a run of bytes: one for each aligned word that it touches.
fn words<'a>(
    offset: u32,
    value: &'a [u8],
    mask: Option<&'a [u8]>,
) -> impl Iterator<Item = Test> + 'a {
    let first = offset / 4;
    let last = (offset + value.len() as u32 / 2 - 1) / 4;
    (first..=last).map(move |word| {
        let (mut bits, mut known) = (0, 0);
        for at in 0..8 {
            (bits, known) = (bits << 4, known << 4);
            let place = (word * 8 + at)
                .checked_sub(offset * 2)
                .map(|place| place as usize);
            let Some((place, &digit)) = place.and_then(|p| Some((p, value.get(p)?))) else {
                continue;
            };
            let (v, m) = nibble(digit);
            let (mv, mm) = mask.map_or((0xf, 0xf), |mask| nibble(mask[place]));
            bits |= v & m & mv & mm;
            known |= m & mv & mm;
        }
        Test {
            word: Word {
                base: Base::Data,
                offset: 4 * word as i32,
            },
            mask: known,
            relation: Relation::Equal,
            value: bits,
        }
    })
}

#[cfg(test)]
mod tests {
    use crate::classify::Program;

    fn faults(pattern: &str) -> String {
        Program::classifier(&[pattern.to_owned()])
            .expect_err("a fault")
            .click()
    }

    #[test]
    fn each_fault_is_told_in_clicks_words() {
        for (pattern, text) in [
            ("x", "pattern 0: expected a digit\n"),
            ("12", "pattern 0: expected '/'\n"),
            ("!", "pattern 0: expected a digit\n"),
            ("12/1", "pattern 0: value has less than 2 hex digits\n"),
            ("12/123", "pattern 0: value has odd number of hex digits\n"),
            ("12/1234%12", "pattern 0: mask has too few hex digits\n"),
            (
                "12/1234%123456",
                "pattern 0: mask has too many hex digits\n",
            ),
            (
                "12/123 x",
                "pattern 0: value has odd number of hex digits\npattern 0: expected a digit\n",
            ),
        ] {
            assert_eq!(faults(pattern), text, "{pattern}");
        }
    }

    #[test]
    fn a_pattern_looks_at_its_bytes_only() {
        let matches = |pattern: &str, data: &[u8]| {
            let program = Program::classifier(&[pattern.to_owned()]).expect("good");
            program.run_bytes(data).is_some()
        };
        assert!(matches("1/02", &[1, 2]));
        assert!(!matches("1/02", &[1]));
        assert!(matches("!1/02", &[1]));
        assert!(matches("! 1/02", &[1, 3]));
        assert!(matches("1/0?", &[1, 9]));
        assert!(!matches("1/0?", &[1, 0x19]));
        assert!(matches("1/ff%0f", &[0, 0x0f]));
        assert!(matches("1/12??34", &[0, 0x12, 7, 0x34]));
        assert!(!matches("1/12??34", &[0, 0x12, 7, 0x35]));
        assert!(matches("1/12??", &[0, 0x12]));
        assert!(matches("2/0102030405", &[0, 0, 1, 2, 3, 4, 5]));
        assert!(!matches("2/0102030405", &[0, 0, 1, 2, 3, 4, 6]));
        assert!(matches("0/01 2/03", &[1, 2, 3]));
        assert!(!matches("0/01 2/03 !1/02", &[1, 2, 3]));
        assert!(matches("-", &[]));
        assert!(matches("", &[]));
        assert!(!matches("99999999999999999999/00", &[0; 64]));
    }
}
