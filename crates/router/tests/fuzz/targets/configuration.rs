//! Any text is a configuration that runs for a while or is refused with reasons: no panic, no hang,
//! and no more memory than it may have; and when it has run, no packet is lost.

use super::small;
use trammel_packet::timestamp::Timestamp;
use trammel_router::MemoryHost;
use trammel_router::lang;
use trammel_router::{BuiltIn, load};

/// Rounds of the driver: a source without end is cut off.
const ROUNDS: u64 = 20;

pub(crate) fn run(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let options = lang::Options {
        classes: Some(&BuiltIn),
        ..lang::Options::default()
    };
    let host = Box::new(MemoryHost::new());
    match load(&text, "config", &options, host, small()) {
        Ok((mut ctx, said)) => {
            said.click();
            let until = ctx.now() + Timestamp::from_secs(10);
            ctx.run_rounds(Some(until), ROUNDS);
            ctx.cleanup();
            assert_eq!(ctx.pool().in_use(), 0, "every packet was given back");
        }
        Err(refused) => {
            assert!(refused.said.has_errors(), "a refusal has a reason");
            assert!(!refused.said.click().is_empty());
        }
    }
}
