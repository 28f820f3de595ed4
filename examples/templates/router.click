// A small IP router between two ports.
//
// Check it:             trammel check router.click
// Draw it:              trammel graph router.click -o router.svg
// Estimate its rate:    trammel estimate router.click --machine epyc-7532:data-sheet
// Run it on interfaces: put their names for port0 and port1, then: trammel router router.click
// What a class does:    trammel explain RadixIPLookup

// Which networks lie behind which output.
routes :: RadixIPLookup(198.18.0.0/16 0, 198.19.0.0/16 1, 0.0.0.0/0 1);

// Packets come in; what is not IP is dropped, and the headers of the rest are checked.
FromDevice(port0) -> input :: Classifier(12/0800) -> Strip(14) -> CheckIPHeader -> routes;
FromDevice(port1) -> other :: Classifier(12/0800) -> Strip(14) -> CheckIPHeader -> routes;

// Each hop takes one from the time to live, and writes new Ethernet addresses.
routes[0] -> DecIPTTL -> EtherEncap(0x0800, 2:0:0:0:0:1, 2:0:0:0:0:a) -> Queue -> ToDevice(port0);
routes[1] -> DecIPTTL -> EtherEncap(0x0800, 2:0:0:0:0:5, 2:0:0:0:0:b) -> Queue -> ToDevice(port1);
