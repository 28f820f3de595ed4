//! A network as a drawing: nodes, edges, and which of them failed.
//!
//! The same graph gives the same bytes in the page and as a file. What failed differs by shape and
//! by dashes, not by colour alone.

use super::canvas::{Anchor, Canvas, INK, MUTED, Rgb, text_width};
use super::markup::{badge, caption, escape};
use trammel_core::label::Label;

/// A node.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// Where it is, each from 0 to 1, from the left and from above.
    pub at: (f64, f64),
    /// Whether it is a joint, such as a LAN: drawn small and without its name.
    pub is_joint: bool,
    /// Whether it stands out, as a gateway does.
    pub is_special: bool,
    /// Whether it failed.
    pub has_failed: bool,
}

/// An edge between two nodes.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// The places of its ends in [`Graph::nodes`].
    pub ends: (usize, usize),
    /// Whether it failed.
    pub has_failed: bool,
}

/// A network.
#[derive(Clone, Debug)]
pub struct Graph {
    /// The file's stem and the element's id; unique in a report.
    pub id: String,
    /// The heading.
    pub title: String,
    /// A sentence below: how to read it.
    pub caption: String,
    /// The nodes.
    pub nodes: Vec<Node>,
    /// The edges.
    pub edges: Vec<Edge>,
    /// Where what failed is from.
    pub label: Option<Label>,
}

/// Width and height of the drawing, in pixels.
const SIZE: (f64, f64) = (760.0, 560.0);
/// Around it, for names.
const MARGIN: f64 = 56.0;
/// Height of letters; smaller where there are many nodes.
const TEXT: f64 = 12.0;
/// Nodes beyond which letters are small.
const MANY: usize = 30;
const FAILED: Rgb = Rgb(194, 92, 10);
const LINE: Rgb = Rgb(0x8a, 0x8f, 0x94);
const NODE: Rgb = Rgb(24, 95, 160);
/// Shapes of the canvas.
const DISC: usize = 0;
const SQUARE: usize = 1;
const TRIANGLE: usize = 2;

impl Graph {
    /// The drawing as an SVG file.
    pub(crate) fn to_svg(&self) -> String {
        let place = |node: &Node| {
            let across = (SIZE.0 - 2.0 * MARGIN, SIZE.1 - 2.0 * MARGIN);
            (
                MARGIN + node.at.0.clamp(0.0, 1.0) * across.0,
                MARGIN + node.at.1.clamp(0.0, 1.0) * across.1,
            )
        };
        let text = if self.nodes.len() > MANY { 8.0 } else { TEXT };
        Canvas::draw(SIZE, &self.in_words(), |canvas| {
            // What failed lies above what did not.
            for failed in [false, true] {
                for edge in self.edges.iter().filter(|e| e.has_failed == failed) {
                    let (Some(a), Some(b)) =
                        (self.nodes.get(edge.ends.0), self.nodes.get(edge.ends.1))
                    else {
                        continue;
                    };
                    let line = [place(a), place(b)];
                    if failed {
                        canvas.path(&line, FAILED, 2.6, &[7, 4]);
                    } else {
                        canvas.path(&line, LINE, 1.2, &[]);
                    }
                }
            }
            for node in &self.nodes {
                let (x, y) = place(node);
                let colour = if node.has_failed { FAILED } else { NODE };
                let shape = match node {
                    Node { is_joint: true, .. } => SQUARE,
                    Node {
                        is_special: true, ..
                    } => TRIANGLE,
                    _ => DISC,
                };
                canvas.marker((x, y), shape, colour, false);
                if node.has_failed {
                    let arm = 6.0;
                    canvas.path(&[(x - arm, y - arm), (x + arm, y + arm)], FAILED, 2.0, &[]);
                    canvas.path(&[(x - arm, y + arm), (x + arm, y - arm)], FAILED, 2.0, &[]);
                }
                if !node.is_joint {
                    let ink = if node.has_failed { FAILED } else { INK };
                    let is_right = x + text_width(&node.name, text) + 8.0 > SIZE.0;
                    let (at, anchor) = if is_right {
                        ((x - 8.0, y - 8.0), Anchor::End)
                    } else {
                        ((x + 7.0, y - 8.0), Anchor::Start)
                    };
                    canvas.text(at, &node.name, text, ink, anchor);
                }
            }
            let key = "orange and dashed or crossed: failed during the run";
            if self.has_failures() {
                let at = (MARGIN, SIZE.1 - 14.0);
                canvas.text(at, key, 11.0, MUTED, Anchor::Start);
            }
        })
    }

    /// The drawing as part of a page.
    pub(super) fn to_html(&self) -> String {
        format!(
            "<figure class=\"graph\" id=\"fig-{}\">\n<figcaption><h3>{}{}</h3></figcaption>\n\
             <div class=\"static\">{}</div>\n{}</figure>\n",
            escape(&self.id),
            escape(&self.title),
            badge(self.label),
            self.to_svg(),
            caption(&self.caption),
        )
    }

    fn has_failures(&self) -> bool {
        let nodes = self.nodes.iter().any(|node| node.has_failed);
        nodes || self.edges.iter().any(|edge| edge.has_failed)
    }

    /// `Topology: 3 nodes, 3 edges; failed: r0 – r1.`
    fn in_words(&self) -> String {
        let nodes = self.nodes.iter().filter(|node| !node.is_joint).count();
        let name = |at: usize| self.nodes.get(at).map_or("", |node| node.name.as_str());
        let edges = self.edges.iter().filter(|edge| edge.has_failed);
        let edges = edges.map(|edge| format!("{} – {}", name(edge.ends.0), name(edge.ends.1)));
        let failed = self.nodes.iter().filter(|node| node.has_failed);
        let failed = failed.map(|node| node.name.clone()).chain(edges);
        let failed: Vec<String> = failed.collect();
        let failed = if failed.is_empty() {
            String::new()
        } else {
            format!("; failed: {}", failed.join(", "))
        };
        format!(
            "{}: {nodes} nodes, {} edges{failed}.",
            self.title,
            self.edges.len()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_edge_is_dashed_and_named() {
        let node = |name: &str, x| Node {
            name: name.to_owned(),
            at: (x, 0.5),
            is_joint: false,
            is_special: false,
            has_failed: false,
        };
        let mut graph = Graph {
            id: "topology".to_owned(),
            title: "Topology".to_owned(),
            caption: String::new(),
            nodes: vec![node("a<", 0.0), node("b", 1.0)],
            edges: vec![Edge {
                ends: (0, 1),
                has_failed: false,
            }],
            label: None,
        };
        let sound = graph.to_svg();
        assert!(sound.contains("<title>Topology: 2 nodes, 1 edges.</title>"));
        assert!(!sound.contains("C25C0A"), "{sound}");
        graph.edges[0].has_failed = true;
        let failed = graph.to_svg();
        assert!(failed.contains("; failed: a&lt; – b."), "{failed}");
        assert!(failed.matches("#C25C0A").count() > 2, "{failed}");
        assert!(graph.to_html().contains("id=\"fig-topology\""));
    }
}
