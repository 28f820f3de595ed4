// An MPLS switch: one label is swapped, its time to live counted down, the next hop's frame put on.
// RFC 3031, §3.10. Sources stand for the network; every counter `in…` and `out…` says what passed.
define($RATE 10000, $LIMIT 1000, $SECONDS 1);

lsr :: MPLSDecTTL -> fib :: MPLSLookup(100 200 0, 101 201 1);
strip :: Classifier(12/8847, -);
strip[0] -> Strip(14) -> lsr;
strip[1] -> Discard;      // not MPLS
lsr[1] -> Discard;        // time to live expired
fib[0] -> EtherEncap(0x8847, 2:0:0:0:0:1, 2:0:0:0:0:a) -> out0 :: Counter -> sink0 :: Discard;
fib[1] -> EtherEncap(0x8847, 2:0:0:0:0:1, 2:0:0:0:0:b) -> out1 :: Counter -> sink1 :: Discard;

RatedSource(DATA \<02000000 00010200 00000002 88470006 41404500 002e0000 00004011 aeb40a00
  0002c000 020903e8 07d0001a 00000000 00000000 00000000 00000000 00000000>,
  RATE $RATE, LIMIT $LIMIT) -> in_a :: Counter -> strip;
RatedSource(DATA \<02000000 00010200 00000002 88470006 51404500 002e0000 00004011 aeb40a00
  0002c000 020903e8 07d0001a 00000000 00000000 00000000 00000000 00000000>,
  RATE $RATE, LIMIT $LIMIT) -> in_b :: Counter -> strip;
RatedSource(DATA \<02000000 00010200 00000002 88470006 61404500 002e0000 00004011 aeb40a00
  0002c000 020903e8 07d0001a 00000000 00000000 00000000 00000000 00000000>,
  RATE $RATE, LIMIT $LIMIT) -> in_unknown :: Counter -> strip;
RatedSource(DATA \<02000000 00010200 00000002 88470006 41014500 002e0000 00004011 aeb40a00
  0002c000 020903e8 07d0001a 00000000 00000000 00000000 00000000 00000000>,
  RATE $RATE, LIMIT $LIMIT) -> in_old :: Counter -> strip;

DriverManager(wait $SECONDS, stop);
