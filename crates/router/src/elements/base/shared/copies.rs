//! Copies of a packet for several outputs.

use crate::engine::Ctx;
use crate::reason::Reason;
use trammel_packet::pool::Handle;

/// Sends a packet out by every output that `is_meant`, the packet itself by the last. One that is
/// meant for none ends here.
pub(crate) fn to_all(ctx: &mut Ctx, packet: Handle, is_meant: impl Fn(usize) -> bool) {
    let Some(last) = (0..ctx.outputs()).rev().find(|output| is_meant(*output)) else {
        ctx.drop(packet, Reason::Discarded);
        return;
    };
    for output in (0..last).filter(|output| is_meant(*output)) {
        if let Some(copy) = ctx.pool().duplicate(&packet) {
            ctx.emit(output, copy);
        }
    }
    ctx.emit(last, packet);
}
