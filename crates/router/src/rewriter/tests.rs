//! Behaviour of the rewriters together.
