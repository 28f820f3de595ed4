// An MPLS switch: one label is swapped, its time to live counted down, the next hop's frame put on (RFC 3031, §3.10).
FromDevice(port0) -> strip :: Classifier(12/8847, -);
FromDevice(port1) -> strip;
strip[0] -> Strip(14) -> lsr :: MPLSDecTTL -> fib :: MPLSLookup(100 200 0, 101 201 1);
strip[1] -> Discard;      // not MPLS
lsr[1] -> Discard;        // time to live expired
fib[0] -> EtherEncap(0x8847, 2:0:0:0:0:1, 2:0:0:0:0:a) -> Queue -> ToDevice(port0);
fib[1] -> EtherEncap(0x8847, 2:0:0:0:0:1, 2:0:0:0:0:b) -> Queue -> ToDevice(port1);
