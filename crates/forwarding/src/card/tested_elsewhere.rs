//! A card under trials where the testbeds are not: they need Linux.

use super::{Asked, Found, Lack};
use trammel_scenario::forwarding::{CardUnderTest, Tested};

/// Why there is nothing.
const LINUX: &str = "trials of a NetFPGA card need Linux; its prediction does not";

/// The model.
pub(crate) fn simulate(_: &CardUnderTest, _: &Tested, _: &Asked<'_>) -> Result<Found, String> {
    Err(LINUX.to_owned())
}

/// The live card.
pub(crate) fn measure(
    _: &CardUnderTest,
    _: &Tested,
    _: &Asked<'_>,
) -> Result<(Found, Vec<String>), Lack> {
    Err(Lack::Machine(LINUX.to_owned()))
}
