//! How a plug-in that cannot go on ends the run that it is in.

use std::any::Any;
use std::panic::resume_unwind;

/// What a plug-in says as it ends its run: one that is written in another language, whose code
/// failed. Hooks return no errors, since none of ours fails; so it unwinds, as a panic does, but
/// without a panic's words on standard error. Whoever makes runs shows its text as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Raised(pub String);

impl Raised {
    /// Ends the run.
    pub fn raise(self) -> ! {
        resume_unwind(Box::new(self))
    }

    /// What was raised, where it was this that unwound.
    pub fn of(payload: &(dyn Any + Send)) -> Option<&Raised> {
        payload.downcast_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::catch_unwind;

    #[test]
    fn it_is_told_from_a_panic() {
        let raised = catch_unwind(|| Raised("no window".to_owned()).raise());
        let payload = raised.unwrap_err();
        assert_eq!(
            Raised::of(payload.as_ref()),
            Some(&Raised("no window".to_owned()))
        );
        let other: Box<dyn Any + Send> = Box::new("a panic");
        assert_eq!(Raised::of(other.as_ref()), None);
    }
}
