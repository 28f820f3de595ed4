//! The tests that run on a card and in simulation, for the device that takes no time and for the
//! one in virtual time.

#![allow(non_snake_case)] // The tests' own names.

mod bench;

use bench::both::every_both;

/// Each function is a test of either device.
macro_rules! both {
    ($($name:ident)*) => {
        mod untimed_device {
            $(#[test] fn $name() {
                crate::bench::both::$name(crate::bench::untimed("reference-router").routing());
            })*
        }

        mod in_virtual_time {
            $(#[test] fn $name() {
                crate::bench::both::$name(crate::bench::timed("reference-router").routing());
            })*
        }
    };
}

every_both!(both);
