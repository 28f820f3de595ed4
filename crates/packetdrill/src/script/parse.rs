//! The parser of scripts: options, then events, each a time and an action.

use super::cursor::Cursor;
use super::{Action, Event, ReadError, Script, When};
use super::{call, segment};

impl Script {
    /// Reads a script.
    ///
    /// # Errors
    /// [`ReadError::Malformed`] where it is not in the language, [`ReadError::OutOfScope`] where it
    /// uses what this crate does not model, such as UDP or fast open. The first of them in the
    /// script's order.
    pub fn read(text: &str) -> Result<Script, ReadError> {
        script(text)
    }
}

/// Reads a whole script.
fn script(text: &str) -> Result<Script, ReadError> {
    let mut cursor = Cursor::new(text);
    let mut script = Script {
        options: Vec::new(),
        events: Vec::new(),
    };
    while cursor.sees("--") {
        let place = cursor.place();
        cursor.eat("--");
        let option = cursor.until_blank();
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        let value = value.trim_matches('"');
        script
            .options
            .push((place, name.to_owned(), value.to_owned()));
    }
    while !cursor.is_at_end() {
        let event = event(&mut cursor)?;
        script.events.push(event);
    }
    let is_command = |event: &Event| matches!(event.action, Action::Command(_));
    if script.events.iter().all(is_command) {
        return Err(cursor.malformed(
            "the script has no event, so it tests nothing; begin with `0 socket(..., SOCK_STREAM, \
             IPPROTO_TCP) = 3`",
        ));
    }
    Ok(script)
}

fn event(cursor: &mut Cursor<'_>) -> Result<Event, ReadError> {
    cursor.skip_space();
    let place = cursor.place();
    // The set-up and the clean-up command have no time of their own.
    let when = if cursor.sees("`") {
        When::Relative(trammel_core::time::Span::ZERO)
    } else {
        when(cursor)?
    };
    let action = if cursor.eat("`") {
        Action::Command(cursor.until("`")?.to_owned())
    } else if cursor.eat("%{") {
        Action::Code(cursor.until("}%")?.to_owned())
    } else if cursor.eat("<") {
        let line = segment::line(cursor)?;
        if line.window.is_none() {
            let what = "a segment that arrives without its window; add one, as `win 65535`";
            return Err(cursor.malformed(what));
        }
        Action::Inject(line)
    } else if cursor.eat(">") {
        Action::Expect(segment::line(cursor)?)
    } else {
        Action::Call(call::call(cursor)?)
    };
    Ok(Event {
        place,
        when,
        action,
    })
}

fn when(cursor: &mut Cursor<'_>) -> Result<When, ReadError> {
    if cursor.eat("*") {
        return Ok(When::Any);
    }
    let relative = cursor.eat("+");
    let Some(from) = cursor.time()? else {
        let what = "the time of an event, as `+0.1`";
        return Err(cursor.expected(what));
    };
    if !cursor.eat("~") {
        return Ok(if relative {
            When::Relative(from)
        } else {
            When::Absolute(from)
        });
    }
    let place = cursor.clone();
    if relative {
        cursor.demand("+")?;
    }
    let Some(to) = cursor.time()? else {
        return Err(cursor.expected("the end of a range of times"));
    };
    if to < from {
        return Err(place.malformed("a range of times that ends before it begins; turn it round"));
    }
    Ok(if relative {
        When::RelativeRange(from, to)
    } else {
        When::AbsoluteRange(from, to)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::Place;
    use trammel_core::time::Span;

    fn whens(text: &str) -> Vec<When> {
        let script = script(text).unwrap();
        script.events.iter().map(|event| event.when).collect()
    }

    #[test]
    fn times_are_absolute_relative_ranges_or_any() {
        let text = "0 %{}% +.1 %{}% 1~2.5 %{}% +.25~+.5 %{}% * %{}%";
        let ms = Span::from_ms;
        assert_eq!(
            whens(text),
            [
                When::Absolute(ms(0)),
                When::Relative(ms(100)),
                When::AbsoluteRange(ms(1000), ms(2500)),
                When::RelativeRange(ms(250), ms(500)),
                When::Any,
            ]
        );
    }

    #[test]
    fn options_stand_at_the_top_and_commands_may_stand_alone() {
        let script =
            script("--mss=1000\n// note\n--strict_segments\n`sysctl -q a=1` 0 %{}%").unwrap();
        let options: Vec<_> = script
            .options
            .iter()
            .map(|(_, name, value)| (name.as_str(), value.as_str()))
            .collect();
        assert_eq!(options, [("mss", "1000"), ("strict_segments", "")]);
        assert_eq!(
            script.events[0].action,
            Action::Command("sysctl -q a=1".to_owned())
        );
    }

    #[test]
    fn faults_name_their_place() {
        for (text, line, column, what) in [
            ("+0 ? 1", 1, 4, "expected a segment or a system call"),
            ("0 %{ assert", 1, 5, "no `}%` ends what begins here"),
            ("\n +.5~+.1 %{}%", 2, 6, "ends before it begins"),
            ("write(3) = 1", 1, 1, "expected the time of an event"),
            ("0 < . 1:1001(999) ack 1", 1, 7, "is 1000 bytes long"),
            ("", 1, 1, "has no event"),
            ("--mss=1000\n`sysctl -q a=1`\n", 3, 1, "has no event"),
        ] {
            let Err(ReadError::Malformed { place, what: is }) = script(text) else {
                panic!("{text} was read");
            };
            assert_eq!(place, Place { line, column }, "{text}: {is}");
            assert!(is.contains(what), "{is}");
        }
    }
}
