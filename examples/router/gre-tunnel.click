// A GRE tunnel with key and checksum, both ways (RFC 2784, RFC 2890).
define($RATE 10000, $LIMIT 1000, $SECONDS 1);

// Into the tunnel.
up :: CheckIPHeader -> dt_up :: DecIPTTL -> GREEncap(KEY 4711, CHECKSUM true)
  -> IPEncap(gre, 203.0.113.254, 203.0.113.1) -> EtherEncap(0x0800, 2:0:0:0:0:1, 2:0:0:0:0:a)
  -> out_up :: Counter -> sink_up :: Discard;

// Out of the tunnel: the checksum covers the payload, so a damaged packet ends at `check`.
down :: Strip(14) -> CheckIPHeader -> StripIPHeader -> check :: CheckGREHeader
  -> StripGREHeader(PROTOCOL 0x0800) -> CheckIPHeader -> dt_down :: DecIPTTL
  -> EtherEncap(0x0800, 2:0:0:0:0:1, 2:0:0:0:0:2) -> out_down :: Counter -> sink_down :: Discard;

RatedSource(DATA \<4500002e 00000000 4011aeb4 0a000002 c0000209 03e807d0 001a0000 00000000
  00000000 00000000 00000000 0000>,
  RATE $RATE, LIMIT $LIMIT) -> in_up :: Counter -> up;
RatedSource(DATA \<02000000 00010200 00000003 08004500 004e0000 0000402f 0181cb00 7101cb00
  71fea000 080039c6 00000000 12674500 002e0000 00004011 aeb4c000 02090a00
  000203e8 07d0001a 00000000 00000000 00000000 00000000 00000000>,
  RATE $RATE, LIMIT $LIMIT) -> in_down :: Counter -> down;
RatedSource(DATA \<02000000 00010200 00000003 08004500 004e0000 0000402f 0181cb00 7101cb00
  71fea000 080039c6 00000000 12674500 002e0000 00004011 aeb4c000 02090a00
  000203e8 07d0001a 00000000 00000000 00000000 00000000 00000055>,
  RATE $RATE, LIMIT $LIMIT) -> in_damaged :: Counter -> down;

DriverManager(wait $SECONDS, stop);
