//! The tests of SCONE, the reference router's software, in virtual time.

mod common;

use common::Router;
use common::scone::every_scone;

macro_rules! scone {
    ($($name:ident)*) => {
        $(#[test] fn $name() {
            common::scone::$name(&mut Router::new(common::config()));
        })*
    };
}

every_scone!(scone);
