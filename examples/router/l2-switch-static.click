// An Ethernet switch with a fixed table: the destination address says the port.
define($RATE 10000, $LIMIT 1000, $SECONDS 1);

fdb :: Classifier(0/020000000002, 0/020000000003, -);
fdb[0] -> out0 :: Counter -> sink0 :: Discard;
fdb[1] -> out1 :: Counter -> sink1 :: Discard;
fdb[2] -> Discard;        // no such station

RatedSource(DATA \<02000000 00030200 00000002 08004500 002e0000 00004011 aeb40a00 0002c000
  020903e8 07d0001a 00000000 00000000 00000000 00000000 00000000>,
  RATE $RATE, LIMIT $LIMIT) -> in_a :: Counter -> fdb;
RatedSource(DATA \<02000000 00020200 00000003 08004500 002e0000 00004011 aeb40a00 0002c000
  020903e8 07d0001a 00000000 00000000 00000000 00000000 00000000>,
  RATE $RATE, LIMIT $LIMIT) -> in_b :: Counter -> fdb;
RatedSource(DATA \<02000000 00090200 00000002 08004500 002e0000 00004011 aeb40a00 0002c000
  020903e8 07d0001a 00000000 00000000 00000000 00000000 00000000>,
  RATE $RATE, LIMIT $LIMIT) -> in_c :: Counter -> fdb;

DriverManager(wait $SECONDS, stop);
