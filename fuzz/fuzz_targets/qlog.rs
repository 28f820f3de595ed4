//! A qlog of any format is read, or refused with a message.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = trammel_qlog::read(bytes, &mut |_| {});
});
