// A broadband network gateway, both directions (Sapio et al. 2016, §3.2).
//
// Subscribers come in QinQ frames; the two tags name one and give the key of its GRE tunnel. The core is reached
// through MPLS: a longest prefix says which CGNAT the tunnel ends at, its next hop and label. From the core, key and
// inner destination give tags and address of the subscriber, as they were learnt from its own packets.
define($RATE 10000, $LIMIT 1000, $SECONDS 1);

define($ACCESS_ETH 2:0:0:0:0:1, $CORE_ETH 2:0:0:0:0:5, $LOCAL 203.0.113.254);

bng :: SubscriberGateway($ACCESS_ETH, 7 100 4711, 7 101 4712);

// Access to core: rules, time to live, route, GRE over IP over MPLS.
access :: Null -> [0]bng;
bng[0] -> CheckIPHeader -> acl :: IPFilter(deny dst port 25, allow all) -> ttl_up :: DecIPTTL
  -> rt :: RadixIPLookup(192.0.2.0/24 203.0.113.1 0, 198.51.100.0/24 203.0.113.2 1);
rt[0] -> GREEncap(KEY ANNO, CHECKSUM true) -> IPEncap(gre, $LOCAL, 203.0.113.1) -> MPLSPush(200, TTL 64)
  -> EtherEncap(0x8847, $CORE_ETH, 2:0:0:0:0:a) -> out_core0 :: Counter -> sink_core0 :: Discard;
rt[1] -> GREEncap(KEY ANNO, CHECKSUM true) -> IPEncap(gre, $LOCAL, 203.0.113.2) -> MPLSPush(201, TTL 64)
  -> EtherEncap(0x8847, $CORE_ETH, 2:0:0:0:0:b) -> out_core1 :: Counter -> sink_core1 :: Discard;

// Core to access.
core :: Classifier(12/8847, -);
core[0] -> Strip(14) -> MPLSPop -> CheckIPHeader -> StripIPHeader -> CheckGREHeader(CHECKSUM false)
  -> StripGREHeader(PROTOCOL 0x0800) -> CheckIPHeader -> ttl_down :: DecIPTTL -> [1]bng;
core[1] -> Discard;
bng[1] -> out_access :: Counter -> sink_access :: Discard;

RatedSource(DATA \<02000000 00010209 09090909 88a80007 81000064 08004500 002e0000 00004011
  aeb40a00 0002c000 020903e8 07d0001a 00000000 00000000 00000000 00000000
  00000000>,
  RATE $RATE, LIMIT $LIMIT) -> in_cpe0 :: Counter -> access;
RatedSource(DATA \<02000000 00010209 09090909 88a80007 81000065 08004500 002e0000 00004011
  46880a00 0003c633 640103e8 07d0001a 00000000 00000000 00000000 00000000
  00000000>,
  RATE $RATE, LIMIT $LIMIT) -> in_cpe1 :: Counter -> access;
RatedSource(DATA \<02000000 00010209 09090909 88a80007 81000066 08004500 002e0000 00004011
  aeb40a00 0002c000 020903e8 07d0001a 00000000 00000000 00000000 00000000
  00000000>,
  RATE $RATE, LIMIT $LIMIT) -> in_stranger :: Counter -> access;
RatedSource(DATA \<02000000 00010209 09090909 88a80007 81000064 08004500 002e0000 00004011
  aeb40a00 0002c000 020903e8 0019001a 00000000 00000000 00000000 00000000
  00000000>,
  RATE $RATE, LIMIT $LIMIT) -> in_mail :: Counter -> access;
RatedSource(DATA \<02000000 00010209 09090909 88a80007 81000064 08004500 002e0000 00004011
  60ae0a00 00020808 080803e8 07d0001a 00000000 00000000 00000000 00000000
  00000000>,
  RATE $RATE, LIMIT $LIMIT) -> in_noroute :: Counter -> access;
RatedSource(DATA \<02000000 00010200 00000003 88470012 c1404500 004e0000 0000402f 0181cb00
  7101cb00 71fea000 080039c6 00000000 12674500 002e0000 00004011 aeb4c000
  02090a00 000203e8 07d0001a 00000000 00000000 00000000 00000000 00000000>,
  RATE $RATE, LIMIT $LIMIT) -> in_core :: Counter -> core;
RatedSource(DATA \<02000000 00010200 00000003 88470012 c1404500 004e0000 0000402f 0181cb00
  7101cb00 71fea000 080039c5 00000000 12684500 002e0000 00004011 ae53c000
  02090a00 006303e8 07d0001a 00000000 00000000 00000000 00000000 00000000>,
  RATE $RATE, LIMIT $LIMIT) -> in_nobody :: Counter -> core;

DriverManager(wait $SECONDS, stop);
