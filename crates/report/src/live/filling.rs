//! What came of a run so far, for subjects that collect it as runs end: the page is made of it anew
//! when that is due.

use super::{Live, locked};
use crate::Report;
use std::fmt;
use std::sync::Mutex;

/// Makes the report of what came so far.
type Make<'a, T> = Box<dyn Fn(&mut T) -> Report + Sync + 'a>;

/// What came so far, and the page that shows it, where one is asked for.
pub struct Filling<'a, T> {
    page: Option<(&'a Live, Mutex<T>, Make<'a, T>)>,
}

impl<T> fmt::Debug for Filling<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_followed = self.page.is_some();
        f.debug_struct("Filling")
            .field("page", &is_followed)
            .finish()
    }
}

impl<'a, T> Filling<'a, T> {
    /// Begins with what `begin` gives, of which `make` makes reports. Where there is no page,
    /// neither is called, and nothing is kept.
    pub fn new(
        live: Option<&'a Live>,
        begin: impl FnOnce() -> T,
        make: impl Fn(&mut T) -> Report + Sync + 'a,
    ) -> Filling<'a, T> {
        Filling {
            page: live.map(|live| (live, Mutex::new(begin()), Box::new(make) as Make<'a, T>)),
        }
    }

    /// Has `change` add what came, and fills the page if that is due.
    pub fn add(&self, change: impl FnOnce(&mut T)) {
        let Some((live, so_far, make)) = &self.page else {
            return;
        };
        let mut so_far = locked(so_far);
        change(&mut so_far);
        if live.is_due() {
            live.refill(&make(&mut so_far));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_page_is_made_of_all_that_came() {
        let live = Live::begin("t").unwrap();
        let of = |so_far: &mut Vec<u32>| Report {
            title: format!("{so_far:?}"),
            ..Report::default()
        };
        let filling = Filling::new(Some(&live), Vec::new, of);
        filling.add(|so_far| so_far.push(1));
        assert!(!locked(&live.shown).page.contains("<h1>[1"), "not yet");
        let pause = super::super::LEAST_PAUSE + Duration::from_millis(50);
        std::thread::sleep(pause);
        filling.add(|so_far| so_far.push(2));
        assert!(locked(&live.shown).page.contains("<h1>[1, 2]</h1>"));
        let nobody = Filling::new(None, Vec::<u32>::new, of);
        nobody.add(|_| panic!("nothing is kept where nobody looks"));
    }
}
