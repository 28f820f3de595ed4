// A broadband network gateway, access to core (Sapio et al. 2016, §3.2): two tags name a subscriber; rules, time to live,
// route; GRE with the subscriber's key over IP over MPLS.
define($ACCESS 2:0:0:0:0:1, $CORE 2:0:0:0:0:5, $LOCAL 203.0.113.254);

FromDevice(port0) -> [0]bng :: SubscriberGateway($ACCESS, 7 100 4711, 7 101 4712);
bng[0] -> CheckIPHeader -> IPFilter(deny dst port 25, allow all) -> DecIPTTL
  -> rt :: RadixIPLookup(192.0.2.0/24 203.0.113.1 0, 198.51.100.0/24 203.0.113.2 1);
rt[0] -> GREEncap(KEY ANNO, CHECKSUM true) -> IPEncap(gre, $LOCAL, 203.0.113.1) -> MPLSPush(200, TTL 64)
  -> EtherEncap(0x8847, $CORE, 2:0:0:0:0:a) -> core :: Queue -> ToDevice(port1);
rt[1] -> GREEncap(KEY ANNO, CHECKSUM true) -> IPEncap(gre, $LOCAL, 203.0.113.2) -> MPLSPush(201, TTL 64)
  -> EtherEncap(0x8847, $CORE, 2:0:0:0:0:b) -> core;
Idle -> [1]bng;
bng[1] -> Discard;
