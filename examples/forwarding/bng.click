// A broadband network gateway, both directions (Sapio et al. 2016, §3.2): port0 is the access network, port1 the core.
//
// Subscribers come in QinQ frames; the two tags name one and give the key of its GRE tunnel. From the core, key and
// inner destination give tags and address of the subscriber, as they were learnt from its own packets.
define($ACCESS 2:0:0:0:0:1, $CORE 2:0:0:0:0:5, $LOCAL 203.0.113.254);

bng :: SubscriberGateway($ACCESS, 7 100 4711, 7 101 4712);

// Access to core: rules, time to live, route, GRE over IP over MPLS.
FromDevice(port0) -> [0]bng;
bng[0] -> CheckIPHeader -> IPFilter(deny dst port 25, allow all) -> DecIPTTL
  -> rt :: RadixIPLookup(192.0.2.0/24 203.0.113.1 0, 198.51.100.0/24 203.0.113.2 1);
rt[0] -> GREEncap(KEY ANNO, CHECKSUM true) -> IPEncap(gre, $LOCAL, 203.0.113.1) -> MPLSPush(200, TTL 64)
  -> EtherEncap(0x8847, $CORE, 2:0:0:0:0:a) -> up :: Queue -> ToDevice(port1);
rt[1] -> GREEncap(KEY ANNO, CHECKSUM true) -> IPEncap(gre, $LOCAL, 203.0.113.2) -> MPLSPush(201, TTL 64)
  -> EtherEncap(0x8847, $CORE, 2:0:0:0:0:b) -> up;

// Core to access.
FromDevice(port1) -> core :: Classifier(12/8847, -);
core[0] -> Strip(14) -> MPLSPop -> CheckIPHeader -> StripIPHeader -> CheckGREHeader(CHECKSUM false)
  -> StripGREHeader(PROTOCOL 0x0800) -> CheckIPHeader -> DecIPTTL -> [1]bng;
core[1] -> Discard;
bng[1] -> Queue -> ToDevice(port0);
