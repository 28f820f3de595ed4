//! How a label looks: one colour (in `assets/report.css`, class `label-<key>`) and one dash pattern in every report.

use trammel_core::label::Label;

/// Strokes and gaps of its lines, in pixels; a solid line has none.
pub(super) fn dash(label: Label) -> &'static [i32] {
    match label {
        Label::Predicted | Label::Modelled => &[7, 4],
        Label::Measured => &[14, 3],
        Label::LinuxVt => &[10, 3, 2, 3],
        Label::Fitted => &[4, 3],
        Label::Published => &[2, 3],
        _ => &[],
    }
}
