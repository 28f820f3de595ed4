//! The registers that designs share. A design's own are in its file.
//!
//! A row: name, offset in bytes, words, bits, access, what it holds.

use crate::registers::block;

block! {
    device_id, "DEV_ID" at 0x0400000, 1 of 0x100,
    "Which design this is";
    MD5, 0x00, 4, 32, Read, "digest of the register map: FNV-1a, 128 bits, names and addresses";
    DEVICE_ID, 0x10, 1, 32, Read, "number of the design";
    VERSION, 0x14, 1, 24, Read, "version: major, minor, revision, 8 bits each";
    CPCI_ID, 0x18, 1, 32, Read, "version of the PCI bridge; 0, there is none";
    PROJ_DIR, 0x1c, 16, 32, Read, "name of the design, four characters a word, then zeros";
    PROJ_NAME, 0x5c, 16, 32, Read, "name of the design for people";
    PROJ_DESC, 0x9c, 25, 32, Read, "what the design does";
}

block! {
    mdio, "MDIO_PHY" at 0x0440000, 4 of 0x80,
    "The PHY of a port (IEEE 802.3 clause 22)";
    CONTROL, 0x00, 1, 16, ReadWrite, "basic mode control";
    STATUS, 0x04, 1, 16, Read, "basic mode status; bit 2: the link is up";
    PHY_ID_HI, 0x08, 1, 16, Read, "identifier; 0, there is no PHY";
    PHY_ID_LO, 0x0c, 1, 16, Read, "identifier; 0, there is no PHY";
    AUTONEGOTIATION_ADVERT, 0x10, 1, 16, ReadWrite, "what the port offers";
    AUTONEG_LINK_PARTNER_BASE_PAGE_ABILITY, 0x14, 1, 16, Read, "what the other side offers";
    AUTONEG_EXPANSION, 0x18, 1, 16, Read, "expansion of the negotiation";
    AUTONEG_NEXT_PAGE_TX, 0x1c, 1, 16, ReadWrite, "next page to send";
    AUTONEG_LINK_PARTNER_RCVD_NEXT_PAGE, 0x20, 1, 16, Read, "next page received";
    MASTER_SLAVE_CTRL, 0x24, 1, 16, ReadWrite, "1000BASE-T control";
    MASTER_SLAVE_STATUS, 0x28, 1, 16, Read, "1000BASE-T status";
    PSE_CTRL, 0x2c, 1, 16, ReadWrite, "power sourcing control";
    PSE_STATUS, 0x30, 1, 16, Read, "power sourcing status";
}

block! {
    dma, "DMA" at 0x0500000, 1 of 0x40,
    "Transfers between card and host";
    CTRL, 0x00, 1, 2, ReadWrite, "bit 0: disabled; bit 1: reset";
    NUM_INGRESS_PKTS, 0x04, 1, 32, Counter, "frames to the host";
    NUM_INGRESS_BYTES, 0x08, 1, 32, Counter, "their bytes";
    NUM_EGRESS_PKTS, 0x0c, 1, 32, Counter, "frames from the host";
    NUM_EGRESS_BYTES, 0x10, 1, 32, Counter, "their bytes";
    NUM_TIMEOUTS, 0x14, 1, 32, Counter, "transfers that took too long";
}

block! {
    mac_group, "MAC_GRP" at 0x0600000, 4 of 0x40000,
    "The MAC of a port with its receive and transmit queues; bytes count without FCS";
    CONTROL, 0x00, 1, 9, ReadWrite, "bits 0, 1: transmit, receive queue off; 2: reset; 3, 4: MAC \
        transmit, receive off; 5, 6: no frames above 1518 bytes out, in; 7: FCS not checked; 8: \
        FCS not made";
    RX_QUEUE_NUM_PKTS_IN_QUEUE, 0x04, 1, 32, Read, "frames in the receive queue";
    RX_QUEUE_NUM_PKTS_STORED, 0x08, 1, 32, Counter, "frames that it took";
    RX_QUEUE_NUM_PKTS_DROPPED_FULL, 0x0c, 1, 32, Counter, "frames dropped: no room, or queue off";
    RX_QUEUE_NUM_PKTS_DROPPED_BAD, 0x10, 1, 32, Counter, "frames dropped: FCS, length";
    RX_QUEUE_NUM_PKTS_DEQUEUED, 0x14, 1, 32, Counter, "frames that left it for the arbiter";
    RX_QUEUE_NUM_WORDS_PUSHED, 0x18, 1, 32, Counter, "words of 8 bytes that it took";
    RX_QUEUE_NUM_BYTES_PUSHED, 0x1c, 1, 32, Counter, "bytes that it took";
    TX_QUEUE_NUM_PKTS_IN_QUEUE, 0x20, 1, 32, Read, "frames in the transmit queue";
    TX_QUEUE_NUM_PKTS_ENQUEUED, 0x24, 1, 32, Counter, "frames that it took";
    TX_QUEUE_NUM_PKTS_SENT, 0x28, 1, 32, Counter, "frames that the MAC sent";
    TX_QUEUE_NUM_WORDS_PUSHED, 0x2c, 1, 32, Counter, "words of 8 bytes that it took";
    TX_QUEUE_NUM_BYTES_PUSHED, 0x30, 1, 32, Counter, "bytes that it took";
}

block! {
    cpu_queue, "CPU_QUEUE" at 0x0700000, 4 of 0x40000,
    "The queues of a host interface: rx from the host, tx to the host";
    CONTROL, 0x00, 1, 2, ReadWrite, "bits 0, 1: transmit, receive queue off";
    RX_QUEUE_NUM_PKTS_IN_QUEUE, 0x04, 1, 32, Read, "frames from the host in the queue";
    RX_QUEUE_NUM_PKTS_ENQUEUED, 0x08, 1, 32, Counter, "frames from the host that it took";
    RX_QUEUE_NUM_PKTS_DROPPED_BAD, 0x0c, 1, 32, Counter, "frames from the host dropped: length, or \
        queue off";
    RX_QUEUE_NUM_PKTS_DEQUEUED, 0x10, 1, 32, Counter, "frames that left it for the arbiter";
    RX_QUEUE_NUM_UNDERRUNS, 0x14, 1, 32, Counter, "transfers that ended early";
    RX_QUEUE_NUM_OVERRUNS, 0x18, 1, 32, Counter, "transfers that found no room";
    RX_QUEUE_NUM_WORDS_PUSHED, 0x1c, 1, 32, Counter, "words of 8 bytes that it took";
    RX_QUEUE_NUM_BYTES_PUSHED, 0x20, 1, 32, Counter, "bytes that it took";
    TX_QUEUE_NUM_PKTS_IN_QUEUE, 0x24, 1, 32, Read, "frames to the host in the queue";
    TX_QUEUE_NUM_PKTS_ENQUEUED, 0x28, 1, 32, Counter, "frames to the host that it took";
    TX_QUEUE_NUM_PKTS_DEQUEUED, 0x2c, 1, 32, Counter, "frames that the host got";
    TX_QUEUE_NUM_UNDERRUNS, 0x30, 1, 32, Counter, "transfers that ended early";
    TX_QUEUE_NUM_OVERRUNS, 0x34, 1, 32, Counter, "transfers that found no room";
    TX_QUEUE_NUM_WORDS_PUSHED, 0x38, 1, 32, Counter, "words of 8 bytes that it took";
    TX_QUEUE_NUM_BYTES_PUSHED, 0x3c, 1, 32, Counter, "bytes that it took";
}

block! {
    router_lookup, "ROUTER_OP_LUT" at 0x2000000, 1 of 0x100,
    "The router's output port lookup: counters of decisions, MAC addresses, tables of 32 rows";
    ARP_NUM_MISSES, 0x00, 1, 32, Counter, "to the host: next hop not in the ARP table";
    LPM_NUM_MISSES, 0x04, 1, 32, Counter, "to the host: no route";
    NUM_CPU_PKTS_SENT, 0x08, 1, 32, Counter, "from the host, sent as they are";
    NUM_BAD_OPTS_VER, 0x0c, 1, 32, Counter, "to the host: options, or not version 4";
    NUM_BAD_CHKSUMS, 0x10, 1, 32, Counter, "dropped: wrong header checksum";
    NUM_BAD_TTLS, 0x14, 1, 32, Counter, "to the host: TTL 0 or 1";
    NUM_NON_IP_RCVD, 0x18, 1, 32, Counter, "to the host: not IPv4, ARP included";
    NUM_PKTS_FORWARDED, 0x1c, 1, 32, Counter, "forwarded";
    NUM_WRONG_DEST, 0x20, 1, 32, Counter, "dropped: for another MAC address, or group and routable";
    NUM_FILTERED_PKTS, 0x24, 1, 32, Counter, "to the host: destination in the filter";
    MAC_0_HI, 0x28, 1, 16, ReadWrite, "MAC address of port 0, upper 16 bits";
    MAC_0_LO, 0x2c, 1, 32, ReadWrite, "MAC address of port 0, lower 32 bits";
    MAC_1_HI, 0x30, 1, 16, ReadWrite, "MAC address of port 1, upper 16 bits";
    MAC_1_LO, 0x34, 1, 32, ReadWrite, "MAC address of port 1, lower 32 bits";
    MAC_2_HI, 0x38, 1, 16, ReadWrite, "MAC address of port 2, upper 16 bits";
    MAC_2_LO, 0x3c, 1, 32, ReadWrite, "MAC address of port 2, lower 32 bits";
    MAC_3_HI, 0x40, 1, 16, ReadWrite, "MAC address of port 3, upper 16 bits";
    MAC_3_LO, 0x44, 1, 32, ReadWrite, "MAC address of port 3, lower 32 bits";
    ROUTE_TABLE_ENTRY_IP, 0x48, 1, 32, ReadWrite, "route: network";
    ROUTE_TABLE_ENTRY_MASK, 0x4c, 1, 32, ReadWrite, "route: mask, any bits";
    ROUTE_TABLE_ENTRY_NEXT_HOP_IP, 0x50, 1, 32, ReadWrite, "route: next hop; 0 is the destination";
    ROUTE_TABLE_ENTRY_OUTPUT_PORT, 0x54, 1, 8, ReadWrite, "route: output queue, one bit set";
    ROUTE_TABLE_RD_ADDR, 0x58, 1, 5, Command, "fills the entry's registers from this row";
    ROUTE_TABLE_WR_ADDR, 0x5c, 1, 5, Command, "writes the entry's registers to this row";
    ARP_TABLE_ENTRY_MAC_HI, 0x60, 1, 16, ReadWrite, "neighbour: MAC address, upper 16 bits";
    ARP_TABLE_ENTRY_MAC_LO, 0x64, 1, 32, ReadWrite, "neighbour: MAC address, lower 32 bits";
    ARP_TABLE_ENTRY_NEXT_HOP_IP, 0x68, 1, 32, ReadWrite, "neighbour: IP address";
    ARP_TABLE_RD_ADDR, 0x6c, 1, 5, Command, "fills the entry's registers from this row";
    ARP_TABLE_WR_ADDR, 0x70, 1, 5, Command, "writes the entry's registers to this row";
    DST_IP_FILTER_TABLE_ENTRY_IP, 0x74, 1, 32, ReadWrite, "filter: a destination for the host";
    DST_IP_FILTER_TABLE_RD_ADDR, 0x78, 1, 5, Command, "fills the entry's register from this row";
    DST_IP_FILTER_TABLE_WR_ADDR, 0x7c, 1, 5, Command, "writes the entry's register to this row";
}

block! {
    input_arbiter, "IN_ARB" at 0x2000100, 1 of 0x40,
    "The input arbiter: the frame that passed last";
    NUM_PKTS_SENT, 0x00, 1, 32, Counter, "frames that passed";
    LAST_PKT_WORD_0_HI, 0x04, 1, 32, Read, "module header: destinations, words";
    LAST_PKT_WORD_0_LO, 0x08, 1, 32, Read, "module header: source port, bytes";
    LAST_PKT_CTRL_0, 0x0c, 1, 8, Read, "0xff: module header";
    LAST_PKT_WORD_1_HI, 0x10, 1, 32, Read, "bytes 0 to 3";
    LAST_PKT_WORD_1_LO, 0x14, 1, 32, Read, "bytes 4 to 7";
    LAST_PKT_CTRL_1, 0x18, 1, 8, Read, "0: packet word";
    STATE, 0x1c, 1, 32, Read, "0: idle";
}

block! {
    output_queues, "OQ_QUEUE" at 0x2001000, 8 of 0x200,
    "An output queue in the memory: even numbers to ports, odd ones to the host. Words have 8 \
     bytes; a frame takes one more than its bytes need";
    CTRL, 0x00, 1, 2, Command, "bit 0: the queue sends; bit 1: empties it and starts at ADDR_LO";
    NUM_PKT_BYTES_STORED, 0x04, 1, 32, Counter, "bytes of stored frames";
    NUM_OVERHEAD_BYTES_STORED, 0x08, 1, 32, Counter, "bytes stored beside them, 8 a frame";
    NUM_PKT_BYTES_REMOVED, 0x0c, 1, 32, Counter, "bytes of frames taken out";
    NUM_OVERHEAD_BYTES_REMOVED, 0x10, 1, 32, Counter, "bytes taken out beside them, 8 a frame";
    NUM_PKTS_STORED, 0x14, 1, 32, Counter, "frames stored";
    NUM_PKTS_DROPPED, 0x18, 1, 32, Counter, "frames dropped: full";
    NUM_PKTS_REMOVED, 0x1c, 1, 32, Counter, "frames taken out";
    ADDR_LO, 0x20, 1, 19, ReadWrite, "its first word in the memory";
    ADDR_HI, 0x24, 1, 19, ReadWrite, "its last word in the memory";
    RD_ADDR, 0x28, 1, 19, Read, "the word that is read next";
    WR_ADDR, 0x2c, 1, 19, Read, "the word that is written next";
    NUM_PKTS_IN_Q, 0x30, 1, 32, Read, "frames in it";
    MAX_PKTS_IN_Q, 0x34, 1, 32, ReadWrite, "with so many frames it is full; 0 is no limit";
    NUM_WORDS_IN_Q, 0x38, 1, 32, Read, "words in it";
    NUM_WORDS_LEFT, 0x3c, 1, 32, Read, "free words";
    FULL_THRESH, 0x40, 1, 32, ReadWrite, "with so many free words or fewer it is full";
}
