// The way of a frame through a router whose neighbours are known, from one port to another: for rings in memory, on which nobody
// answers ARP.

FromDevice(in)
    -> Strip(14)
    -> CheckIPHeader
    -> routes :: StaticIPLookup(198.18.0.0/16 0, 198.19.0.0/16 1);

routes[0] -> Discard;
routes[1]
    -> DecIPTTL
    -> EtherEncap(0x0800, 02:00:00:00:01:21, 02:00:00:00:01:22)
    -> Queue(1000)
    -> ToDevice(out);
