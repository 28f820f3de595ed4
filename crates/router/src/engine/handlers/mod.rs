//! Handlers: reading and writing elements, and the router as a whole, by name.

mod calls;

use super::ids::ElementId;
use crate::engine::Handler;

/// What a handler's name begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// An element.
    Element(ElementId),
    /// The router.
    Router,
}

/// A handler, found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandlerRef {
    /// Whose it is.
    pub owner: Owner,
    /// What it is called and may do.
    pub handler: Handler,
    /// Who asks is outside of this program: a control connection.
    pub is_outside: bool,
}

/// Why a handler is not found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotFound {
    /// There is no such element.
    #[error("no element named '{0}'")]
    Element(String),
    /// The element has no such handler.
    #[error("no handler named '{0}'")]
    Handler(String),
}
