// A firewall, address translation and a route, one after the other: what a home gateway does.
FromDevice(port0) -> Classifier(12/0800) -> Strip(14) -> CheckIPHeader
  -> IPFilter(deny udp && dst port 53, allow all)
  -> rewriter :: IPRewriter(pattern 203.0.113.1 1024-65535 - - 0 1)
  -> DecIPTTL -> EtherEncap(0x0800, 2:0:0:0:0:5, 2:0:0:0:0:b) -> Queue -> ToDevice(port1);
rewriter[1] -> Discard; // answers of the other side, which this file has not
