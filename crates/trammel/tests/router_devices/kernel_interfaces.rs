//! Interfaces of the kernel whose other end is the router.

use crate::rig::{Router, has, or_skip, ping, said};
use trammel_io::netns::Namespace;

fn is_pinged(config: &str, address: &str) {
    if !has("ping") {
        return;
    }
    let Some(middle) = or_skip(Namespace::new()) else {
        return;
    };
    let Some(_router) = Router::run(&middle, config) else {
        return;
    };
    let output = ping(&middle, address);
    assert!(output.status.success(), "{}", said(&output));
}

#[test]
fn a_tap_answers_the_kernel() {
    is_pinged(
        "tap :: KernelTap(10.8.0.1/24, DEVNAME tap8, ETHER 2:0:0:0:0:8) \
         -> c :: Classifier(12/0806 20/0001, 12/0800, -); \
         c[0] -> ARPResponder(10.8.0.0/24 2:0:0:0:0:9) -> tap; \
         c[1] -> Strip(14) -> CheckIPHeader -> ICMPPingResponder \
         -> EtherEncap(0x0800, 2:0:0:0:0:9, 2:0:0:0:0:8) -> tap; c[2] -> Discard;",
        "10.8.0.77",
    );
}

#[test]
fn a_tun_answers_the_kernel() {
    is_pinged(
        "tun :: KernelTun(10.8.0.1/24, DEVNAME tun8) -> CheckIPHeader -> ICMPPingResponder -> q :: \
         Queue -> tun; tun[1] -> Discard;",
        "10.8.0.77",
    );
}

#[test]
fn what_is_beyond_a_tuns_gateway_comes_to_it() {
    is_pinged(
        "tun :: KernelTun(10.8.0.1/24, 10.8.0.9, DEVNAME tun8) -> CheckIPHeader -> \
         ICMPPingResponder -> tun;",
        "192.0.2.5",
    );
}

#[test]
fn from_host_and_to_host_are_two_halves_of_an_interface() {
    is_pinged(
        "FromHost(fake0, 10.8.0.1/24, ETHER 2:0:0:0:0:8) -> c :: Classifier(12/0806 20/0001, \
         12/0800, -); host :: ToHost(fake0); c[0] -> ARPResponder(10.8.0.0/24 2:0:0:0:0:9) -> \
         host; c[1] -> Strip(14) -> CheckIPHeader -> ICMPPingResponder \
         -> EtherEncap(0x0800, 2:0:0:0:0:9, 2:0:0:0:0:8) -> host; c[2] -> Discard;",
        "10.8.0.77",
    );
}

#[test]
fn a_tap_by_method_is_an_interface_like_another() {
    if !has("ping") {
        return;
    }
    let Some(middle) = or_skip(Namespace::new()) else {
        return;
    };
    let config = "FromDevice(tap8, METHOD tap) -> c :: Classifier(12/0806 20/0001, 12/0800, -); \
         to :: Queue -> ToDevice(tap8, METHOD tap); c[0] -> ARPResponder(10.8.0.0/24 2:0:0:0:0:9) \
         -> to; c[1] -> Strip(14) -> CheckIPHeader -> ICMPPingResponder -> Unstrip(14) -> \
         EtherMirror -> to; c[2] -> Discard;";
    let Some(_router) = Router::run(&middle, config) else {
        return;
    };
    middle
        .add_address("tap8", "10.8.0.1/24")
        .expect("the address is free");
    let output = ping(&middle, "10.8.0.77");
    assert!(output.status.success(), "{}", said(&output));
}
