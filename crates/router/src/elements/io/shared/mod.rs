//! What elements of the group `io` share: devices, sockets, interfaces and routes of the kernel.

pub(crate) mod adapter;
pub(crate) mod device_method;
pub(crate) mod dpdk;
pub(crate) mod kernel_interface;
pub(crate) mod kernel_routes;
pub(crate) mod link_header;
pub(crate) mod socket_element;
pub(crate) mod socket_transport;
