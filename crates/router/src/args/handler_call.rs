//! Calls of handlers as they are written in a configuration.

use super::Error;
use super::text::{parse_text, take_word};

/// `element.handler argument`, as it is written: which element is meant depends on what handlers
/// there are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HandlerCall {
    /// What stands before the first point; `Some("")` for the router's own, `None` without a point.
    pub element: Option<String>,
    /// What stands after it.
    pub handler: String,
    /// The rest, as it is written.
    pub argument: String,
}

/// `element.handler argument`.
pub(crate) fn parse_handler_call(text: &str) -> Result<HandlerCall, Error> {
    let mut rest = text;
    let word = take_word(&mut rest).ok_or(Error::Syntax)?;
    let name = parse_text(word).map_err(|_| Error::Syntax)?;
    let (element, handler) = match name.split_once('.') {
        Some((element, handler)) => (Some(element.to_string()), handler.to_string()),
        None => (None, name),
    };
    if handler.is_empty() {
        return Err(Error::Syntax);
    }
    Ok(HandlerCall {
        element,
        handler,
        argument: rest.to_string(),
    })
}

impl std::fmt::Display for HandlerCall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(element) = &self.element {
            write!(f, "{element}.")?;
        }
        f.write_str(&self.handler)?;
        if self.argument.is_empty() {
            Ok(())
        } else {
            write!(f, " {}", self.argument)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_call_has_an_element_a_handler_and_an_argument() {
        let call = parse_handler_call("c/q.reset  1, 2").unwrap();
        assert_eq!(
            (call.element.as_deref(), &*call.handler, &*call.argument),
            (Some("c/q"), "reset", "1, 2")
        );
        assert_eq!(call.to_string(), "c/q.reset 1, 2");
        assert_eq!(
            parse_handler_call(".stop").unwrap().element.as_deref(),
            Some("")
        );
        assert_eq!(parse_handler_call("stop").unwrap().element, None);
        assert_eq!(parse_handler_call("q."), Err(Error::Syntax));
        assert_eq!(parse_handler_call(" "), Err(Error::Syntax));
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[a-z./ '\"]{0,20}|\\PC{0,12}") {
            let _ = parse_handler_call(&text);
        }

        #[test]
        fn what_is_printed_reads_back(text in "[a-z/]{0,4}\\.?[a-z]{1,4}( [a-z, ]{1,6}[a-z])?") {
            if let Ok(call) = parse_handler_call(&text) {
                prop_assert_eq!(parse_handler_call(&call.to_string()), Ok(call));
            }
        }
    }
}
