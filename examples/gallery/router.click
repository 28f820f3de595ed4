// An IP router with eight routes.
FromDevice(port0) -> Classifier(12/0800) -> Strip(14) -> CheckIPHeader -> rt :: RadixIPLookup(
  198.18.0.0/16 0, 198.19.0.0/20 1, 198.19.16.0/20 1, 198.19.32.0/20 1,
  198.19.0.0/16 1, 192.0.2.0/24 0, 203.0.113.0/24 1, 0.0.0.0/0 1);
rt[0] -> DecIPTTL -> EtherEncap(0x0800, 2:0:0:0:0:1, 2:0:0:0:0:a) -> Queue -> ToDevice(port0);
rt[1] -> DecIPTTL -> EtherEncap(0x0800, 2:0:0:0:0:5, 2:0:0:0:0:b) -> Queue -> ToDevice(port1);
