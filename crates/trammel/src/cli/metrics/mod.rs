//! `--metrics`: what a command counts while it runs, as OpenMetrics over HTTP.
//!
//! docs/metrics-endpoint.md has the metrics of each; `share/grafana` a dashboard for each.

mod bench;
mod netfpga;
mod recv;
mod run;
mod send;

pub(super) use bench::BenchCounts;
pub(super) use netfpga::CardCounts;
pub(super) use recv::{Counted, RecvCounts};
pub(super) use run::RunCounts;
pub(super) use send::SendCounts;

use std::net::SocketAddr;
use std::sync::Arc;
use trammel_ground::{Unsupported, say};
use trammel_local_http::address;
use trammel_openmetrics::page::Page;
use trammel_openmetrics::server;

/// The option.
#[derive(Clone, Copy, Debug, clap::Args)]
#[group(skip)]
pub(super) struct Args {
    /// Serve counters and histograms as OpenMetrics while it runs, at this port of 127.0.0.1 or at
    /// this address (docs/metrics-endpoint.md)
    #[arg(long, value_name = "[ADDRESS:]PORT", value_parser = address::read)]
    metrics: Option<SocketAddr>,
}

/// What counts.
pub(super) trait Counts: Send + Sync + 'static {
    /// Adds what it has to `page`.
    fn write(&self, page: &mut Page);
}

/// The whole page of what counts.
fn page(counts: &dyn Counts) -> String {
    let mut page = Page::of(env!("CARGO_PKG_VERSION"));
    counts.write(&mut page);
    page.finish()
}

impl Args {
    /// Whether it is given.
    pub(super) fn is_asked(self) -> bool {
        self.metrics.is_some()
    }

    /// Makes what counts and serves it, where that is asked for.
    pub(super) fn serve<C: Counts>(
        self,
        make: impl FnOnce() -> C,
    ) -> anyhow::Result<Option<Arc<C>>> {
        let Some(address) = self.metrics else {
            return Ok(None);
        };
        let counts = Arc::new(make());
        let shown = Arc::clone(&counts);
        let server = server::start(address, move || page(shown.as_ref())).map_err(|why| {
            let (what, mend) = server::refused(address, &why);
            Unsupported::error(&what, mend)
        })?;
        say(&format!("metrics: http://{}/metrics", server.address()));
        Ok(Some(counts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_openmetrics::reader::missing;

    /// Whether the page of `counts` is right and has what its dashboard asks for.
    pub(super) fn serves(name: &str, counts: &dyn Counts) {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../share/grafana");
        let dashboard = std::fs::read_to_string(format!("{folder}/{name}.json"));
        let dashboard = dashboard.expect("each command has a dashboard");
        let missing = missing(&page(counts), &dashboard).expect("the page is right");
        assert!(missing.is_empty(), "{name}: {missing:?}");
    }
}
