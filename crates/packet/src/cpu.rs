//! Safe words for what the processor offers: prefetching and its cycle counter.

/// Asks for the cache line of `place`, which need not be read after all.
#[inline]
#[allow(unsafe_code)]
pub fn prefetch<T>(place: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch reads nothing that the program can see, and faults at no address.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(place).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}

/// The processor's time-stamp counter; nanoseconds of a monotonic clock where there is none, and 0
/// where there is no clock either, as in WebAssembly.
#[inline]
#[allow(unsafe_code)]
pub fn cycles() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has the instruction, which reads a counter.
    unsafe {
        std::arch::x86_64::_rdtsc()
    }
    #[cfg(target_family = "wasm")]
    {
        0
    }
    #[cfg(not(any(target_arch = "x86_64", target_family = "wasm")))]
    {
        use std::sync::LazyLock;
        use std::time::Instant;
        static START: LazyLock<Instant> = LazyLock::new(Instant::now);
        START.elapsed().as_nanos() as u64
    }
}
