//! What elements of the group `io` share: devices, sockets, interfaces and routes of the kernel.

pub mod adapter;
pub mod device_method;
pub mod dpdk;
pub mod kernel_interface;
pub mod kernel_routes;
pub mod link_header;
pub mod socket_element;
pub mod socket_transport;
