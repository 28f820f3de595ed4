//! Where the routers of a topology are drawn: forces push them apart, links pull them together
//! (Fruchterman and Reingold 1991).

use trammel_control::network::{Change, Topology};
use trammel_report::graph::{Edge, Graph, Node};
use trammel_scenario::routing::Routing;

/// Rounds of movement; the steps shrink from the first to the last.
const ROUNDS: usize = 300;
/// Routers beyond which fewer rounds are made.
const MANY: usize = 200;

/// The drawing of a scenario's topology, with what failed during the run.
pub(crate) fn graph(scenario: &Routing, id: &str) -> Graph {
    let topology = &scenario.topology;
    let mut edges = Vec::new();
    let mut nodes = topology.routers.len();
    let has_failed = |wanted: Change| scenario.changes.iter().any(|(_, one)| *one == wanted);
    let mut joints = Vec::new();
    for (number, subnet) in topology.subnets.iter().enumerate() {
        let failed = has_failed(Change::SubnetDown(number));
        let mut join = |ends| {
            edges.push(Edge {
                ends,
                has_failed: failed,
            });
        };
        match subnet.routers.as_slice() {
            [_] | [] => {}
            [one, two] => join((*one, *two)),
            several => {
                for router in several {
                    join((*router, nodes));
                }
                joints.push(scenario.links[number].clone());
                nodes += 1;
            }
        }
    }
    let places = places(nodes, &edges);
    let router = |(number, name): (usize, &String)| Node {
        name: name.clone(),
        at: places[number],
        is_joint: false,
        is_special: topology.gateway == Some(number),
        has_failed: has_failed(Change::RouterDown(number)),
    };
    let mut drawn: Vec<Node> = topology.routers.iter().enumerate().map(router).collect();
    let joint = |(place, name)| Node {
        name,
        at: place,
        is_joint: true,
        is_special: false,
        has_failed: false,
    };
    let left = places[topology.routers.len()..].iter().copied();
    drawn.extend(left.zip(joints).map(joint));
    Graph {
        id: id.to_owned(),
        title: "Topology".to_owned(),
        caption: caption(topology),
        nodes: drawn,
        edges,
        label: None,
    }
}

fn caption(topology: &Topology) -> String {
    let mut text =
        "Each disc is a router, each line a link; subnets of hosts are left out.".to_owned();
    if topology.gateway.is_some() {
        text += " The triangle is the gateway.";
    }
    if topology
        .subnets
        .iter()
        .any(|subnet| subnet.routers.len() > 2)
    {
        text += " A square joins the routers of a LAN.";
    }
    text
}

/// A place for each node, from 0 to 1 in both directions.
fn places(nodes: usize, edges: &[Edge]) -> Vec<(f64, f64)> {
    let ideal = (1.0 / nodes.max(1) as f64).sqrt();
    let mut at: Vec<(f64, f64)> = (0..nodes).map(|n| on_circle(n, nodes)).collect();
    let rounds = if nodes > MANY { ROUNDS / 6 } else { ROUNDS };
    for round in 0..rounds {
        let mut pull = vec![(0.0, 0.0); nodes];
        for a in 0..nodes {
            for b in a + 1..nodes {
                let (dx, dy, far) = apart(at[a], at[b]);
                let force = ideal * ideal / (far * far);
                pull[a].0 += dx * force;
                pull[a].1 += dy * force;
                pull[b].0 -= dx * force;
                pull[b].1 -= dy * force;
            }
        }
        for edge in edges {
            let (a, b) = edge.ends;
            let (dx, dy, far) = apart(at[a], at[b]);
            let force = far / ideal;
            pull[a].0 -= dx * force;
            pull[a].1 -= dy * force;
            pull[b].0 += dx * force;
            pull[b].1 += dy * force;
        }
        let most = 0.1 * (1.0 - round as f64 / rounds as f64);
        for (place, (dx, dy)) in at.iter_mut().zip(pull) {
            let length = (dx * dx + dy * dy).sqrt().max(1e-9);
            let step = length.min(most) / length;
            place.0 += dx * step;
            place.1 += dy * step;
        }
    }
    fitted(at)
}

/// How far `a` is from `b`, in both directions and in all; never nothing.
fn apart(a: (f64, f64), b: (f64, f64)) -> (f64, f64, f64) {
    let (dx, dy) = (a.0 - b.0, a.1 - b.1);
    (dx, dy, (dx * dx + dy * dy).sqrt().max(1e-3))
}

/// A place on a circle round the middle; by a fraction of a turn, without angles whose functions
/// differ between platforms.
fn on_circle(n: usize, of: usize) -> (f64, f64) {
    // Half a circle by the rational parametrisation, the other half mirrored.
    let turn = 2.0 * n as f64 / of.max(1) as f64;
    let (part, side) = if turn < 1.0 {
        (turn, 1.0)
    } else {
        (turn - 1.0, -1.0)
    };
    let t = 2.0 * part - 1.0;
    let (x, y) = (2.0 * t / (1.0 + t * t), (1.0 - t * t) / (1.0 + t * t));
    (0.5 + 0.4 * x * side, 0.5 - 0.4 * y * side)
}

/// The places, stretched to the whole area.
fn fitted(mut at: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let fold = |of: fn(&(f64, f64)) -> f64| {
        let values = at.iter().map(of);
        let ends = (f64::INFINITY, f64::NEG_INFINITY);
        values.fold(ends, |(low, high), v| (low.min(v), high.max(v)))
    };
    let (across, down) = (fold(|p| p.0), fold(|p| p.1));
    let within = |v: f64, (low, high): (f64, f64)| {
        if high - low > 1e-6 {
            (v - low) / (high - low)
        } else {
            0.5
        }
    };
    for place in &mut at {
        *place = (within(place.0, across), within(place.1, down));
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_apart_and_inside() {
        let edges: Vec<Edge> = (0..8)
            .map(|n| Edge {
                ends: (n, (n + 1) % 8),
                has_failed: false,
            })
            .collect();
        let places = places(8, &edges);
        for (n, a) in places.iter().enumerate() {
            assert!((0.0..=1.0).contains(&a.0) && (0.0..=1.0).contains(&a.1));
            for b in &places[..n] {
                assert!(apart(*a, *b).2 > 0.15, "{places:?}");
            }
        }
    }
}
