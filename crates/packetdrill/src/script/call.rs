//! The parser of system calls: name, arguments, result, error.

use super::cursor::Cursor;
use super::{Call, Expr, ReadError};

/// How deep arguments may nest: more than any structure of a system call, less than a stack.
const DEPTH: u32 = 16;

/// A system call, after the event's time.
pub(super) fn call(cursor: &mut Cursor<'_>) -> Result<Call, ReadError> {
    let until = if cursor.eat("...") {
        let Some(until) = cursor.time()? else {
            return Err(cursor.expected("the time at which the call returns"));
        };
        Some(until)
    } else {
        None
    };
    let Some(name) = cursor.word() else {
        return Err(cursor.expected("a segment or a system call"));
    };
    cursor.demand("(")?;
    let arguments = list(cursor, ")", DEPTH)?;
    cursor.demand("=")?;
    let result = if cursor.eat("...") {
        None
    } else {
        let Some(result) = cursor.integer()? else {
            return Err(cursor.expected("the call's result"));
        };
        Some(result)
    };
    let errno = cursor.word().map(str::to_owned);
    if cursor.eat("(") {
        // What the error is called by people.
        cursor.until(")")?;
    } else if errno.is_some() {
        return Err(cursor.expected("what the error says, in brackets"));
    }
    Ok(Call {
        name: name.to_owned(),
        arguments,
        until,
        result,
        errno,
    })
}

/// Expressions up to `close`, which is taken.
fn list(cursor: &mut Cursor<'_>, close: &str, depth: u32) -> Result<Vec<Expr>, ReadError> {
    let mut list = Vec::new();
    if cursor.eat(close) {
        return Ok(list);
    }
    loop {
        list.push(expression(cursor, depth)?);
        if cursor.eat(close) {
            return Ok(list);
        }
        cursor.demand(",")?;
    }
}

fn expression(cursor: &mut Cursor<'_>, depth: u32) -> Result<Expr, ReadError> {
    let first = term(cursor, depth)?;
    if !cursor.sees("|") {
        return Ok(first);
    }
    let mut alternatives = vec![first];
    while cursor.eat("|") {
        alternatives.push(term(cursor, depth)?);
    }
    Ok(Expr::Or(alternatives))
}

fn term(cursor: &mut Cursor<'_>, depth: u32) -> Result<Expr, ReadError> {
    if depth == 0 {
        return Err(cursor.malformed(format!("arguments nest more than {DEPTH} deep")));
    }
    let depth = depth - 1;
    if cursor.eat("...") {
        return Ok(Expr::Ellipsis);
    }
    if cursor.eat("[") {
        return Ok(Expr::List(list(cursor, "]", depth)?));
    }
    if cursor.eat("{") {
        return Ok(Expr::Struct(list(cursor, "}", depth)?));
    }
    if cursor.eat("\"") {
        let text = cursor.until("\"")?.to_owned();
        // "abc"... is a string that goes on.
        cursor.eat_adjacent("...");
        return Ok(Expr::Text(text));
    }
    if let Some(value) = cursor.integer()? {
        return Ok(Expr::Int(value));
    }
    let Some(word) = cursor.word() else {
        return Err(cursor.expected("an argument"));
    };
    let word = word.to_owned();
    let applied = if cursor.eat("(") {
        Some(list(cursor, ")", depth)?)
    } else {
        None
    };
    if cursor.eat("=") {
        return Ok(Expr::Field(word, Box::new(expression(cursor, depth)?)));
    }
    Ok(match applied {
        Some(arguments) => Expr::Apply(word, arguments),
        None => Expr::Word(word),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_core::time::Span;

    fn read(text: &str) -> Call {
        call(&mut Cursor::new(text)).unwrap()
    }

    #[test]
    fn a_blocking_call_says_when_it_returns() {
        let call = read("...0.200 accept(3, ..., ...) = 4");
        assert_eq!(call.until, Some(Span::from_ms(200)));
        assert_eq!((call.name.as_str(), call.result), ("accept", Some(4)));
        let any = [Expr::Int(3), Expr::Ellipsis, Expr::Ellipsis];
        assert_eq!(call.arguments, any);
    }

    #[test]
    fn an_error_has_a_name_and_a_remark() {
        let call = read("connect(3, ..., ...) = -1 EINPROGRESS (Operation now in progress)");
        assert_eq!(call.result, Some(-1));
        assert_eq!(call.errno.as_deref(), Some("EINPROGRESS"));
        let call = read("fcntl(3, F_GETFL) = 0x2 (flags O_RDWR)");
        assert_eq!((call.result, call.errno), (Some(2), None));
    }

    #[test]
    fn structures_nest() {
        let call = read("sendmsg(4, {msg_iov(1)=[{..., 40}], msg_flags=A|B}, 0) = 40");
        let iov = Expr::List(vec![Expr::Struct(vec![Expr::Ellipsis, Expr::Int(40)])]);
        let flags = Expr::Or(vec![Expr::Word("A".into()), Expr::Word("B".into())]);
        assert_eq!(
            call.arguments[1],
            Expr::Struct(vec![
                Expr::Field("msg_iov".into(), Box::new(iov)),
                Expr::Field("msg_flags".into(), Box::new(flags)),
            ])
        );
    }

    #[test]
    fn a_thousand_brackets_are_refused_and_not_a_stack_overflow() {
        let text = format!("f({}", "[".repeat(1000));
        assert!(call(&mut Cursor::new(&text)).is_err());
    }
}
