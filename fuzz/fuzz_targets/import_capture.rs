//! A capture of TCP becomes flows, or is refused with a reason.
#![no_main]

use trammel_formats::{Format, read};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = read(
        Box::new(std::io::Cursor::new(bytes.to_vec())),
        Some(Format::Capture),
    );
});
