// An IP router between the two networks of RFC 2544's tests, with ARP on both sides: what `--dut router.click` and
// `trammel paper linguaglossa-click-netfpga` put between their ports.

AddressInfo(inside 198.18.1.1/24 02:00:00:00:01:11,
            outside 198.19.1.1/24 02:00:00:00:01:21);

elementclass Port { $device, $address |
    // ARP queries, ARP replies, IP, what is none of them
    from :: FromDevice($device, PROMISC true)
        -> kind :: Classifier(12/0806 20/0001, 12/0806 20/0002, 12/0800, -);
    to :: Queue(1000) -> ToDevice($device);
    arp :: ARPQuerier($address) -> to;
    kind[0] -> ARPResponder($address) -> to;
    kind[1] -> [1]arp;
    kind[2] -> Strip(14) -> CheckIPHeader -> output;
    kind[3] -> Discard;
    input -> DecIPTTL -> arp;
}

left :: Port(in, inside);
right :: Port(out, outside);
routes :: StaticIPLookup(198.18.0.0/16 198.18.1.2 0, 198.19.0.0/16 198.19.1.2 1);

left -> routes;
right -> routes;
routes[0] -> left;
routes[1] -> right;
