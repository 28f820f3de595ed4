//! The boundary to the kernel: the one crate that speaks to it about packets, namespaces and clocks.
