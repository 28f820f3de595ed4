// The packet counter of Linguaglossa et al., "Performance Comparison between the Click Modular Router and the NetFPGA Router",
// §4: the "other PC to receive and count packets". It counts the frames of packet-generator.click for SECONDS, which is to be
// longer than the generator's:
//
//     trammel router packet-counter.click DEVICE=eth1 SECONDS=125
//
// The rate is that of the time between the first frame and the last one.
// Without DEVICE it opens no device.
define($DEVICE give_a_DEVICE, $SECONDS 125);

FromDevice($DEVICE, PROMISC true)
    -> kind :: Classifier(12/0800 26/c6120102, -)     // IPv4 from 198.18.1.2
    -> received :: AverageCounter
    -> Discard;
kind[1] -> Discard;

DriverManager(wait ${SECONDS}s,
              print "received $(received.count) frames, $(received.byte_count) bytes, $(received.rate) frames/s",
              stop);
