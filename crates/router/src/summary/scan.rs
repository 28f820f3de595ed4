//! Reading text from its front: words, numbers, fixed strings.

/// What is left to read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scan<'a>(pub(super) &'a [u8]);

impl Scan<'_> {
    pub(super) fn is_done(self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn peek(self) -> Option<u8> {
        self.0.first().copied()
    }

    /// Whether a digit comes next.
    pub(super) fn is_digit(self) -> bool {
        self.peek().is_some_and(|byte| byte.is_ascii_digit())
    }

    /// Reads past `text` where it comes next.
    pub(super) fn eat(&mut self, text: &[u8]) -> bool {
        match self.0.strip_prefix(text) {
            Some(rest) => {
                self.0 = rest;
                true
            }
            None => false,
        }
    }

    /// Reads past `text` where it comes next and a digit follows.
    pub(super) fn eat_before_digit(&mut self, text: &[u8]) -> bool {
        let mut ahead = *self;
        if ahead.eat(text) && ahead.is_digit() {
            *self = ahead;
            return true;
        }
        false
    }

    /// Reads a decimal number.
    pub(super) fn decimal(&mut self) -> Option<u64> {
        let (mut number, mut count) = (0_u64, 0);
        for byte in self.0 {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                break;
            }
            // Nineteen digits always fit.
            if count >= 19 {
                return self.digits(10);
            }
            number = number * 10 + u64::from(digit);
            count += 1;
        }
        self.0 = &self.0[count..];
        (count > 0).then_some(number)
    }

    /// Reads a number as C writes it: `0x` for sixteen, `0` for eight. Too large a number is none.
    pub(super) fn number(&mut self) -> Option<u64> {
        if self.0.first() != Some(&b'0') {
            return self.decimal();
        }
        let mut ahead = *self;
        let base = if ahead.eat(b"0x") || ahead.eat(b"0X") {
            16
        } else if ahead.eat(b"0b") || ahead.eat(b"0B") {
            2
        } else {
            return self.digits(8);
        };
        if let Some(number) = ahead.digits(base) {
            *self = ahead;
            return Some(number);
        }
        self.digits(10)
    }

    fn digits(&mut self, base: u32) -> Option<u64> {
        let digit = |byte: &u8| char::from(*byte).to_digit(base);
        let count = self
            .0
            .iter()
            .take_while(|byte| digit(byte).is_some())
            .count();
        let (digits, rest) = self.0.split_at(count);
        let first = u64::from(digit(digits.first()?)?);
        let number = digits[1..].iter().try_fold(first, |number, byte| {
            number
                .checked_mul(u64::from(base))?
                .checked_add(u64::from(digit(byte)?))
        })?;
        self.0 = rest;
        Some(number)
    }

    /// Reads an IPv4 address.
    pub(super) fn address(&mut self) -> Option<[u8; 4]> {
        let mut address = [0; 4];
        for (n, byte) in address.iter_mut().enumerate() {
            if n > 0 && !self.eat(b".") {
                return None;
            }
            *byte = u8::try_from(self.decimal()?).ok()?;
        }
        Some(address)
    }
}

/// Where a line's words are, up to `max` of them, as [`words`] finds them.
pub(super) fn spans(line: &[u8], max: usize, spans: &mut Vec<(u32, u32)>) {
    spans.clear();
    let mut at = 0;
    while spans.len() < max {
        while line.get(at).is_some_and(u8::is_ascii_whitespace) {
            at += 1;
        }
        let start = at;
        while line
            .get(at)
            .is_some_and(|byte| *byte > b' ' && *byte != b'"')
        {
            at += 1;
        }
        if line.get(at).is_some_and(|byte| !byte.is_ascii_whitespace()) {
            // A quote, or a byte that separates nothing.
            let Some(word) = words(&line[start..]).next() else {
                return;
            };
            at = start + word.len();
        }
        if at == start {
            return;
        }
        spans.push((start as u32, at as u32));
    }
}

/// The words of a line; a space within double quotes separates none.
pub(super) fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = line;
    std::iter::from_fn(move || {
        rest = rest.trim_ascii_start();
        let (mut is_quoted, mut is_escaped) = (false, false);
        let end = rest.iter().position(|byte| {
            if is_escaped {
                is_escaped = false;
            } else if *byte == b'"' {
                is_quoted = !is_quoted;
            } else if is_quoted && *byte == b'\\' {
                is_escaped = true;
            }
            !is_quoted && byte.is_ascii_whitespace()
        });
        let (word, after) = rest.split_at(end.unwrap_or(rest.len()));
        rest = after;
        (!word.is_empty()).then_some(word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_in_c() {
        let read = |text: &str| Scan(text.as_bytes()).number();
        assert_eq!(
            (read("0x1F"), read("017"), read("0b101"), read("0")),
            (Some(31), Some(15), Some(5), Some(0))
        );
        assert_eq!(
            (read("12x"), read("x"), read("99999999999999999999")),
            (Some(12), None, None)
        );
    }

    #[test]
    fn quoted_spaces_are_within_a_word() {
        let line = b" a \"b \\\" c\" - ";
        let mut places = Vec::new();
        spans(line, 9, &mut places);
        let texts = places
            .iter()
            .map(|(from, to)| &line[*from as usize..*to as usize]);
        assert!(texts.eq(words(line)));
        spans(line, 2, &mut places);
        assert_eq!(places.len(), 2);
        let all: Vec<_> = words(line).collect();
        assert_eq!(all, [&b"a"[..], b"\"b \\\" c\"", b"-"]);
    }
}
