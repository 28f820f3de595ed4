//! A file of another program becomes tables, or is refused with a reason. The first byte says which
//! format it is taken for, or that its content is to tell.
#![no_main]

use trammel_formats::{Format, read};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((first, file)) = bytes.split_first() else {
        return;
    };
    // Digits, so that a person can write a seed.
    let format = Format::ALL
        .get(usize::from(first.wrapping_sub(b'0')))
        .copied();
    let _ = read(Box::new(std::io::Cursor::new(file.to_vec())), format);
});
