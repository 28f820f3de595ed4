//! Restart: the phases in which the card does not forward, one after the other.
//!
//! No phase was measured by itself: they are chosen to sum to the 880 ms that paper 000 gives in
//! its table 1, the mean of 1000 restarts. The sum is *fitted*; the parts show what such a time may
//! be made of.

use crate::params::Params;
use trammel_core::time::Span;

/// The phases of `params` by name, in their order, each with its length; *fitted*.
pub fn phases(params: &Params) -> [(&'static str, Span); 5] {
    let program = params.restart_bitfile_bytes as f64 / params.restart_bytes_per_s as f64;
    [
        ("program the FPGA over PCI", Span::from_secs_f64(program)),
        (
            "bring up MACs and PHYs",
            Span::from_us(params.restart_link_us),
        ),
        (
            "write the tables",
            Span::from_us(params.restart_registers * params.restart_register_us),
        ),
        (
            "start the control software",
            Span::from_us(params.restart_software_us),
        ),
        (
            "resolve the first neighbour",
            Span::from_us(params.restart_neighbour_us),
        ),
    ]
}

/// How long the card does not forward: all phases together; *fitted*.
pub fn outage(params: &Params) -> Span {
    phases(params).into_iter().map(|(_, phase)| phase).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_phases_sum_to_what_was_published() {
        assert_eq!(outage(&Params::REFERENCE_1G), Span::from_ms(880));
    }
}
