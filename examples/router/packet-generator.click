// The packet generator of Linguaglossa et al., "Performance Comparison between the Click Modular Router and the NetFPGA Router",
// §4: "one of the machines with a very simple fast TCP generator configuration". What it sent is printed at its end; what
// came, packet-counter.click counts on the other machine. The rate is changed by hand, as in the paper's §5.1 and §5.2:
//
//     trammel router packet-generator.click DEVICE=eth0 RATE=100000 GATEWAY=00:1b:21:aa:bb:cc
//
// RATE frames a second, the same interval between them, for SECONDS; LENGTH bytes without the checksum. A laboratory's tester is
// `trammel bench --ports`, which searches the rate, waits for what is left on its way and knows what it cannot do itself.
// Without DEVICE nothing is sent.
define($DEVICE give_a_DEVICE, $RATE 1000, $SECONDS 120, $LENGTH 60,
       $SOURCE 02:00:00:00:01:12, $GATEWAY 02:00:00:00:01:11);

FastTCPFlows($RATE, -1, $LENGTH, $SOURCE, 198.18.1.2, $GATEWAY, 198.19.1.2, 16, 1000)
    -> sent :: Counter
    -> ToDevice($DEVICE);

DriverManager(wait ${SECONDS}s,
              print "sent $(sent.count) frames, $(sent.byte_count) bytes",
              stop);
