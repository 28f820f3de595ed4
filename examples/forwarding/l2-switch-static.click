// An Ethernet switch with a fixed table: the destination address says the port.
FromDevice(eth0) -> fdb :: Classifier(0/020000000002, 0/020000000003, -);
FromDevice(eth1) -> fdb;
fdb[0] -> Queue -> ToDevice(eth0);
fdb[1] -> Queue -> ToDevice(eth1);
fdb[2] -> Discard;        // no such station
