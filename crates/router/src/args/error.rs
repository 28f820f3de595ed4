//! Why a text is not a value.

/// Why a text is not a value of a type, in Click's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Not of the form that the type has.
    #[error("parse error")]
    Malformed,
    /// No number.
    #[error("invalid number")]
    NotANumber,
    /// A number beyond a bound, which is told.
    #[error("out of range, bound {0}")]
    Beyond(String),
    /// A number beyond the largest there is.
    #[error("out of range")]
    OutOfRange,
    /// A number too near to zero.
    #[error("underflow, rounded to 0")]
    Underflow,
    /// A number that no port has.
    #[error("overflow, range 0-65535")]
    NotAPort,
    /// No element has this name.
    #[error("does not name an element")]
    NotAnElement,
    /// Not the description of a handler.
    #[error("syntax error")]
    Syntax,
}
