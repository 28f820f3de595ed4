// A broadband network gateway, core to access: MPLS, IP and GRE come off, the inner destination says which subscriber it
// is, and two tags go on. bng.click learns subscribers from their own packets; here they are fixed.
define($ACCESS 2:0:0:0:0:1);

FromDevice(port0) -> core :: Classifier(12/8847, -);
core[0] -> Strip(14) -> MPLSPop -> CheckIPHeader -> StripIPHeader -> CheckGREHeader(CHECKSUM false)
  -> StripGREHeader(PROTOCOL 0x0800) -> CheckIPHeader -> DecIPTTL
  -> subscriber :: RadixIPLookup(10.0.0.2/32 0, 10.0.0.3/32 1);
core[1] -> Discard;
subscriber[0] -> EtherEncap(0x0800, $ACCESS, 9:9:9:9:9:2) -> VLANEncap(VLAN_ID 100)
  -> VLANEncap(VLAN_ID 7, ETHERTYPE 0x88a8) -> access :: Queue -> ToDevice(port1);
subscriber[1] -> EtherEncap(0x0800, $ACCESS, 9:9:9:9:9:3) -> VLANEncap(VLAN_ID 101)
  -> VLANEncap(VLAN_ID 7, ETHERTYPE 0x88a8) -> access;
