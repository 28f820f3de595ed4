//! Times as a guest counts them.

use trammel_core::time::Span;

/// `time` in whole nanoseconds; the most there are where it has more.
pub(super) fn ns(span: Span) -> i64 {
    i64::try_from(span.as_ps() / 1000).unwrap_or(i64::MAX)
}
