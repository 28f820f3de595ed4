//! Files by FTP and HTTP through the kernel's router and through ours, with real servers and clients.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stdout)]

use trammel::bench::beds::dut::Dut;
use trammel::engine::Lacks;
use trammel::transfer::{Path, Protocol, transfer};
use trammel_io::error::Error;

/// A little more than what fits into buffers, and no multiple of a segment.
const BYTES: u64 = 5_000_001;

#[test]
fn a_file_comes_whole_through_the_kernel_and_through_our_router() {
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../papers/linguaglossa-click-netfpga/router.click"
    );
    for device in [Dut::Kernel, Dut::Click(file.into())] {
        let path = match Path::new(&device, env!("CARGO_BIN_EXE_trammel")) {
            Ok(path) => path,
            Err(why) => match why.downcast_ref::<Error>() {
                Some(Error::NoRight { .. } | Error::Unsupported { .. }) => {
                    println!("skipped: {why}");
                    return;
                }
                _ => panic!("{why:#}"),
            },
        };
        for protocol in [Protocol::Ftp, Protocol::Http] {
            match transfer(&path, protocol, BYTES, 2) {
                Ok(all) => {
                    assert_eq!(all.len(), 2);
                    for one in all {
                        assert!(one.bytes == BYTES && one.seconds > 0.0, "{one:?}");
                        let mbps = BYTES as f64 * 8e-6 / one.seconds;
                        assert!((one.mbps() - mbps).abs() < 1e-9);
                    }
                }
                Err(why) if why.is::<Lacks>() => println!("skipped: {why:#}"),
                Err(why) => panic!("{} through {}: {why:#}", protocol.name(), device.name()),
            }
        }
    }
}
