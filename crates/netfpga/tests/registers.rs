//! Addresses, names, access, and what is made of the table of registers.

use std::collections::BTreeSet;
use trammel_netfpga::designs::ALL;
use trammel_netfpga::registers::{Access, Registers, UNKNOWN};
use trammel_netfpga::{Device, design};

/// Addresses of the NetFPGA 1G reference router, release 3.0.1.
const PUBLISHED: &[(u32, &str)] = &[
    (0x0400000, "DEV_ID_MD5_0"),
    (0x0400010, "DEV_ID_DEVICE_ID"),
    (0x0400014, "DEV_ID_VERSION"),
    (0x040001c, "DEV_ID_PROJ_DIR_0"),
    (0x040005c, "DEV_ID_PROJ_NAME_0"),
    (0x04000fc, "DEV_ID_PROJ_DESC_24"),
    (0x0440000, "MDIO_PHY_0_CONTROL"),
    (0x0440084, "MDIO_PHY_1_STATUS"),
    (0x0500000, "DMA_CTRL"),
    (0x0500014, "DMA_NUM_TIMEOUTS"),
    (0x0600000, "MAC_GRP_0_CONTROL"),
    (0x0600030, "MAC_GRP_0_TX_QUEUE_NUM_BYTES_PUSHED"),
    (0x06c0008, "MAC_GRP_3_RX_QUEUE_NUM_PKTS_STORED"),
    (0x06c0028, "MAC_GRP_3_TX_QUEUE_NUM_PKTS_SENT"),
    (0x0700000, "CPU_QUEUE_0_CONTROL"),
    (0x0700008, "CPU_QUEUE_0_RX_QUEUE_NUM_PKTS_ENQUEUED"),
    (0x074003c, "CPU_QUEUE_1_TX_QUEUE_NUM_BYTES_PUSHED"),
    (0x2000000, "ROUTER_OP_LUT_ARP_NUM_MISSES"),
    (0x2000004, "ROUTER_OP_LUT_LPM_NUM_MISSES"),
    (0x2000008, "ROUTER_OP_LUT_NUM_CPU_PKTS_SENT"),
    (0x200000c, "ROUTER_OP_LUT_NUM_BAD_OPTS_VER"),
    (0x2000010, "ROUTER_OP_LUT_NUM_BAD_CHKSUMS"),
    (0x2000014, "ROUTER_OP_LUT_NUM_BAD_TTLS"),
    (0x2000018, "ROUTER_OP_LUT_NUM_NON_IP_RCVD"),
    (0x200001c, "ROUTER_OP_LUT_NUM_PKTS_FORWARDED"),
    (0x2000020, "ROUTER_OP_LUT_NUM_WRONG_DEST"),
    (0x2000024, "ROUTER_OP_LUT_NUM_FILTERED_PKTS"),
    (0x2000028, "ROUTER_OP_LUT_MAC_0_HI"),
    (0x2000044, "ROUTER_OP_LUT_MAC_3_LO"),
    (0x2000048, "ROUTER_OP_LUT_ROUTE_TABLE_ENTRY_IP"),
    (0x2000054, "ROUTER_OP_LUT_ROUTE_TABLE_ENTRY_OUTPUT_PORT"),
    (0x2000058, "ROUTER_OP_LUT_ROUTE_TABLE_RD_ADDR"),
    (0x200005c, "ROUTER_OP_LUT_ROUTE_TABLE_WR_ADDR"),
    (0x2000060, "ROUTER_OP_LUT_ARP_TABLE_ENTRY_MAC_HI"),
    (0x2000068, "ROUTER_OP_LUT_ARP_TABLE_ENTRY_NEXT_HOP_IP"),
    (0x2000070, "ROUTER_OP_LUT_ARP_TABLE_WR_ADDR"),
    (0x2000074, "ROUTER_OP_LUT_DST_IP_FILTER_TABLE_ENTRY_IP"),
    (0x200007c, "ROUTER_OP_LUT_DST_IP_FILTER_TABLE_WR_ADDR"),
    (0x2000100, "IN_ARB_NUM_PKTS_SENT"),
    (0x2000104, "IN_ARB_LAST_PKT_WORD_0_HI"),
    (0x200011c, "IN_ARB_STATE"),
    (0x2001000, "OQ_QUEUE_0_CTRL"),
    (0x2001018, "OQ_QUEUE_0_NUM_PKTS_DROPPED"),
    (0x2001220, "OQ_QUEUE_1_ADDR_LO"),
    (0x2001234, "OQ_QUEUE_1_MAX_PKTS_IN_Q"),
    (0x2001e40, "OQ_QUEUE_7_FULL_THRESH"),
];

#[test]
fn registers_have_the_published_addresses() {
    let map = design("reference-router").unwrap().map();
    for (address, name) in PUBLISHED {
        assert_eq!(
            map.find(name).map(|named| named.address),
            Ok(*address),
            "{name}"
        );
        assert_eq!(map.at(*address).unwrap().name, format!("{name}_REG"));
    }
    let near = map.find("oq_queue_9_ctrl").unwrap_err();
    assert!(near.is_some_and(|name| name.ends_with("CTRL_REG")));
    assert!(map.at(0x2000002).is_none() && map.at(0x2001e44).is_none());
}

#[test]
fn every_register_of_every_design_is_there_and_nothing_else_is() {
    for entry in ALL {
        let map = entry.map();
        let mut device = Device::new(entry);
        let mut addresses = BTreeSet::new();
        for named in map.all() {
            assert!(addresses.insert(named.address), "{}", named.name);
            assert!(named.address < 1 << 27 && named.address.is_multiple_of(4));
            let before = device.read(named.address);
            assert_ne!(before, UNKNOWN, "{}: {}", entry.name, named.name);
            device.write(named.address, u32::MAX);
            let after = device.read(named.address);
            let most = u32::MAX >> (32 - u32::from(named.register.width));
            match named.register.access {
                Access::Read => (),
                Access::Counter | Access::ReadWrite => assert_eq!(after, most, "{}", named.name),
                Access::Command => assert!(after <= most, "{}", named.name),
            }
        }
        let near = addresses
            .iter()
            .flat_map(|address| [address + 1, address + 4, address - 4]);
        // Around the window on the memory, which is not of the map.
        let window = [0x0ff_fffc, 0x180_0000];
        for address in near.chain(window).chain([0, 0x7ff_fffc, u32::MAX]) {
            if !addresses.contains(&address) {
                assert_eq!(device.read(address), UNKNOWN, "{address:#x}");
                device.write(address, 1);
            }
        }
    }
}

#[test]
fn what_is_only_read_cannot_be_written() {
    let mut device = Device::new(design("reference-router").unwrap());
    for named in device.design().map().all() {
        if named.register.access == Access::Read {
            let before = device.read(named.address);
            device.write(named.address, !before);
            assert_eq!(device.read(named.address), before, "{}", named.name);
        }
    }
}

#[test]
fn a_card_says_which_design_it_has_and_whether_its_links_are_up() {
    let mut digests = BTreeSet::new();
    for entry in ALL {
        let mut device = Device::new(entry);
        let words: Vec<_> = (0..16)
            .map(|word| device.read(0x40001c + 4 * word))
            .collect();
        let bytes: Vec<_> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
        let text = String::from_utf8(bytes).unwrap();
        assert_eq!(text.trim_end_matches('\0'), entry.name);
        assert_eq!(device.read(0x400010), entry.id);
        digests.insert([0, 4, 8, 12].map(|offset| device.read(0x400000 + offset)));
        assert_eq!(device.read(0x440084) >> 2 & 1, 1);
        device.set_link(1, false);
        assert_eq!(device.read(0x440084) >> 2 & 1, 0);
    }
    assert!(digests.len() > 2);
}

#[test]
fn the_page_and_the_header_have_every_register() {
    for entry in ALL {
        let map = entry.map();
        let (page, header) = (map.markdown(), map.c_header());
        for named in map.all() {
            let line = format!("#define {} 0x{:07x}\n", named.name, named.address);
            assert_eq!(header.matches(&line).count(), 1, "{line}");
            assert!(page.contains(named.register.help), "{}", named.name);
        }
        assert!(page.contains("## OQ_QUEUE") && header.ends_with("#endif\n"));
        assert!(page.lines().all(|line| !line.contains("  ")));
    }
}
