//! What `trammel doc design` says of a NetFPGA reference design: what it does, and its registers.

use trammel_core::units::nearest;
use trammel_netfpga::designs::{ALL, DOCS};

/// The page of the design `name`, as Markdown.
pub(super) fn page(name: &str) -> anyhow::Result<String> {
    let mut all = ALL.iter().zip(DOCS);
    let Some((design, head)) = all.find(|(design, _)| design.name == name) else {
        match nearest(name, ALL.iter().map(|design| design.name)) {
            Some(near) => anyhow::bail!("no design is called `{name}`; did you mean `{near}`?"),
            None => anyhow::bail!("no design is called `{name}`; `trammel list designs` shows all"),
        }
    };
    // The first paragraph is the summary again.
    let more = head.split_once("\n\n").map_or("", |(_, more)| more.trim());
    Ok(format!(
        "# {name}\n\n{}: {}.\n\n{more}\n\n```text\ntrammel netfpga run --design {name} --ports \
         eth1,eth2\n```\n\nThese are its registers. An address is a block's and an offset, in \
         bytes; a name is a block's, with its number where there are several, and a register's, \
         with `_REG`. An address without a register reads 0xdeadbeef.\n\n{}",
        design.title,
        design.summary,
        design.map().markdown()
    ))
}
