//! A graph for `dot`: an element is a table with its inputs above and its outputs below.

use super::{Look, Picture};
use std::fmt::Write;

/// Where labels end.
const WIDEST: usize = 48;

/// The graph.
pub fn dot(picture: &Picture<'_>) -> String {
    let mut out = String::from(
        "digraph click {\n  node [shape=plain, fontname=\"sans-serif\", \
         fontsize=10];\n  edge [arrowsize=0.6];\n",
    );
    for at in 0..picture.flat.elements.len() {
        let (inputs, outputs) = (picture.inputs(at), picture.outputs(at));
        let lines: Vec<String> = picture
            .label(at, WIDEST)
            .iter()
            .map(|l| escaped(l))
            .collect();
        let span = inputs.len().max(outputs.len()).max(1);
        let (above, below) = (ports(&inputs, 'i'), ports(&outputs, 'o'));
        writeln!(
            out,
            "  e{at} [label=<<table border=\"1\" cellborder=\"0\" cellspacing=\"0\" \
             cellpadding=\"2\">{above}<tr><td colspan=\"{span}\">{}</td></tr>{below}</table>>];",
            lines.join("<br/>")
        )
        .expect("a string takes any text");
    }
    for c in &picture.flat.connections {
        let ((a, o), (b, i)) = ((c.from.element, c.from.port), (c.to.element, c.to.port));
        writeln!(out, "  e{a}:o{o}:s -> e{b}:i{i}:n;").expect("a string takes any text");
    }
    out + "}\n"
}

/// A row of ports; one that is agnostic stands in a second frame.
fn ports(looks: &[Look], letter: char) -> String {
    if looks.is_empty() {
        return String::new();
    }
    let cells = looks.iter().enumerate().map(|(at, look)| {
        let mark = if letter == 'i' {
            if look.is_push { "▼" } else { "▽" }
        } else if look.is_push {
            "■"
        } else {
            "□"
        };
        let frame = if look.is_agnostic {
            " border=\"1\""
        } else {
            ""
        };
        format!("<td port=\"{letter}{at}\"{frame}>{mark}</td>")
    });
    format!("<tr>{}</tr>", cells.collect::<String>())
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::{Options, parse};

    #[test]
    fn ports_are_filled_where_packets_are_pushed() {
        let (flat, _) = parse(
            "i :: InfiniteSource -> c :: Counter -> Discard;",
            "config",
            &Options::default(),
        );
        let text = dot(&Picture::of(&flat));
        assert!(text.contains("e0:o0:s -> e1:i0:n;"), "{text}");
        assert!(text.contains("▼") && !text.contains("▽"), "{text}");
    }
}
