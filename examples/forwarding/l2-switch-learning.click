// An Ethernet switch that learns at which port a station is (IEEE 802.1D).
switch :: EtherSwitch(TIMEOUT 300);
FromDevice(port0) -> [0]switch;
FromDevice(port1) -> [1]switch;
switch[0] -> Queue -> ToDevice(port0);
switch[1] -> Queue -> ToDevice(port1);
