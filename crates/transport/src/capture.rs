//! Captures of a simulated run: one pcapng file a link, with both of its directions, and one qlog a
//! flow.

use super::network_of::Built;
use super::qlog_of;
use anyhow::Context;
use std::fs::{File, create_dir_all};
use std::io::BufWriter;
use std::path::Path;
use trammel_core::label::Label;
use trammel_netsim::ids::FlowId;
use trammel_report::run_folder::file_name;
use trammel_scenario::model::Pcap;

/// Opens a file in `folder` for each link that `wanted` names.
pub(super) fn begin(
    built: &mut Built,
    wanted: &Pcap,
    folder: &Path,
    point: &str,
) -> anyhow::Result<()> {
    for at in 0..built.links.len() {
        let link = &built.links[at];
        let is_wanted = match wanted {
            Pcap::Off => false,
            Pcap::All => true,
            Pcap::Links(names) => names.contains(&link.name),
        };
        if !link.is_forward || !is_wanted {
            continue;
        }
        // The way back of a link follows it.
        let back = built.links.get(at + 1).filter(|next| !next.is_forward);
        let both: Vec<_> = [Some(link.index), back.map(|back| back.index)]
            .into_iter()
            .flatten()
            .collect();
        create_dir_all(folder).with_context(|| format!("`{}`", folder.display()))?;
        let path = folder.join(format!("{point}.{}.pcapng", file_name(&link.name)));
        let file = File::create(&path).with_context(|| format!("`{}`", path.display()))?;
        built.network.capture(&both, Box::new(BufWriter::new(file)));
    }
    Ok(())
}

/// Writes the log of every flow of a run that is over into the folder `qlog` beside `folder`.
pub(super) fn logs(built: &mut Built, folder: &Path, point: &str) -> anyhow::Result<()> {
    let folder = folder.with_file_name("qlog");
    create_dir_all(&folder).with_context(|| format!("`{}`", folder.display()))?;
    for index in 0..built.flows.len() {
        let id = FlowId::new(index);
        let passed = built.network.take_passed(id);
        let samples = &built.network.flow_trace(id).samples;
        let flow = &built.flows[index];
        let path = folder.join(format!("{point}.{}.sqlog", file_name(&flow.name)));
        let file = File::create(&path).with_context(|| format!("`{}`", path.display()))?;
        let out = BufWriter::new(file);
        let (label, payload) = (Label::Simulated, flow.payload_bytes);
        qlog_of::write(out, label, &flow.name, payload, samples, &passed)
            .with_context(|| format!("`{}`", path.display()))?;
    }
    Ok(())
}
