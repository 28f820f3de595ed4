// An Ethernet switch with a fixed table: the destination address says the port.
FromDevice(port0) -> fdb :: Classifier(0/020000000002, 0/020000000003, -);
FromDevice(port1) -> fdb;
fdb[0] -> Queue -> ToDevice(port0);
fdb[1] -> Queue -> ToDevice(port1);
fdb[2] -> Discard;        // no such station
