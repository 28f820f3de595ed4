//! What a guest may fail with.

/// What a guest may fail with: it is told, and there is nobody to handle it.
pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;
