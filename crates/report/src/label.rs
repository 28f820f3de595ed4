//! How a label looks: one colour (in `assets/curves.css`, class `label-<key>`) and one dash pattern
//! in every report.

use trammel_core::label::Label;

/// Strokes and gaps of its lines, in pixels; a solid line has none. Of several predictions the one
/// that comes at `turn` has its own.
pub(super) fn dash(label: Label, turn: usize) -> &'static [i32] {
    const MODELS: [&[i32]; 4] = [&[7, 4], &[7, 3, 2, 3], &[4, 6], &[9, 3, 2, 3, 2, 3]];
    match label {
        Label::Predicted | Label::Modelled => MODELS[turn % MODELS.len()],
        Label::Measured => &[14, 3],
        Label::LinuxVt => &[10, 3, 2, 3],
        Label::Fitted => &[4, 3],
        Label::Published => &[2, 3],
        _ => &[],
    }
}
