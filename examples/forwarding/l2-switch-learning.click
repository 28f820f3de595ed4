// An Ethernet switch that learns at which port a station is (IEEE 802.1D).
switch :: EtherSwitch(TIMEOUT 300);
FromDevice(eth0) -> [0]switch;
FromDevice(eth1) -> [1]switch;
switch[0] -> Queue -> ToDevice(eth0);
switch[1] -> Queue -> ToDevice(eth1);
