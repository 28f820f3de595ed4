//! What became of streams, as a table and as text.

use super::{FlowOutcome, SendOutcome};
use trammel_stats::histogram::Histogram;
use trammel_stats::table::{Cell, CellType, Table, format_float};
use trammel_traffic::send::choice::Chosen;
use trammel_traffic::signal::message::Count;

/// A quantile of times in microseconds.
fn us(times: &Histogram, fraction: f64) -> Option<f64> {
    times
        .quantile_time(fraction)
        .map(|time| time.as_secs_f64() * 1e6)
}

impl FlowOutcome {
    /// From the first packet to the last, in seconds.
    fn duration_s(&self) -> f64 {
        self.sent.last_ns.saturating_sub(self.sent.first_ns) as f64 / 1e9
    }

    /// Packets a second: gaps by the time that they took.
    fn rate_pps(&self) -> Option<f64> {
        let (gaps, secs) = (self.sent.count.packets.saturating_sub(1), self.duration_s());
        (gaps > 0 && secs > 0.0).then(|| gaps as f64 / secs)
    }

    /// Packets that were sent and did not come, as far as the receiver told.
    fn missing(&self) -> Option<u64> {
        let received = self.received.as_ref().ok()?;
        Some(self.sent.count.packets.saturating_sub(received.packets))
    }

    /// Whether all that was to be sent was, and came.
    fn is_whole(&self) -> bool {
        self.missing() == Some(0) && self.sent.fault.is_none() && self.sent.unsent == 0
    }

    /// Its row in the table `streams`: names and kinds of columns, and what is in them.
    fn row(&self) -> Vec<(&'static str, CellType, Cell)> {
        let late = &self.sent.lateness;
        let received = self.received.as_ref().ok();
        let (sent, float_t, int_t) = (&self.sent, CellType::Float, CellType::Int);
        let chosen = sent.chosen.as_ref();
        let how = |text: fn(&Chosen) -> String| Cell::from(chosen.map(text));
        vec![
            ("stream", CellType::Text, Cell::Text(self.name.clone())),
            ("mechanism", CellType::Text, how(|one| one.name.to_owned())),
            (
                "threads",
                int_t,
                Cell::from(chosen.map(|one| one.threads as u64)),
            ),
            ("why", CellType::Text, how(|one| one.why.clone())),
            ("sent_pkts", int_t, Cell::from(Some(sent.count.packets))),
            ("sent_bytes", int_t, Cell::from(Some(sent.count.bytes))),
            ("duration_s", float_t, Cell::from(Some(self.duration_s()))),
            ("packet_rate_pps", float_t, Cell::from(self.rate_pps())),
            (
                "received_pkts",
                int_t,
                Cell::from(received.map(|count| count.packets)),
            ),
            ("lost_pkts", int_t, Cell::from(self.missing())),
            (
                "duplicate_pkts",
                int_t,
                Cell::from(received.map(|count| count.duplicates)),
            ),
            (
                "receiver_lost_pkts",
                int_t,
                Cell::from(received.map(|count| count.lost)),
            ),
            (
                "receiver_lost_unattributed_pkts",
                int_t,
                Cell::from(received.map(|count| count.unattributed)),
            ),
            ("skipped_pkts", int_t, Cell::from(Some(sent.count.lost))),
            ("unsent_pkts", int_t, Cell::from(Some(sent.unsent))),
            ("overdue_pkts", int_t, Cell::from(Some(sent.overdue))),
            (
                "put_off_s",
                float_t,
                Cell::from(Some(sent.shift_ns as f64 / 1e9)),
            ),
            ("errors", int_t, Cell::from(Some(sent.errors))),
            ("resized_pkts", int_t, Cell::from(Some(sent.resized))),
            ("late_p50_us", float_t, Cell::from(us(late, 0.5))),
            ("late_p99_us", float_t, Cell::from(us(late, 0.99))),
            ("late_p999_us", float_t, Cell::from(us(late, 0.999))),
            ("late_max_us", float_t, Cell::from(us(late, 1.0))),
        ]
    }

    /// The same for people.
    fn text(&self) -> String {
        let number = |value: f64| format_float(value, 6);
        let sent = &self.sent;
        let rate = self.rate_pps().map_or(String::new(), |rate| {
            let bits = rate * 8.0 * sent.count.bytes as f64 / sent.count.packets as f64;
            format!(
                ": {} packets/s, {} Mbit/s of payload",
                number(rate),
                number(bits / 1e6)
            )
        });
        let mut text = format!(
            "sent      {} packets, {} bytes in {} s{rate}\n",
            sent.count.packets,
            sent.count.bytes,
            number(self.duration_s())
        );
        text += &match &self.received {
            Ok(received) => format!(
                "received  {} packets, {} lost{}{}{}\n",
                received.packets,
                self.missing().unwrap_or(0),
                match received.duplicates {
                    0 => String::new(),
                    1 => ", 1 further copy".to_owned(),
                    copies => format!(", {copies} further copies"),
                },
                match received.lost {
                    0 => String::new(),
                    own => format!("; {own} dropped at the receiver's full port"),
                },
                match received.unattributed {
                    0 => String::new(),
                    some => format!(
                        "; {some} of this or other streams dropped at the receiver's full port, \
                         which they share"
                    ),
                }
            ),
            Err(why) => format!("received  unknown: {why}\n"),
        };
        if let Some(how) = &sent.chosen {
            let threads = match how.threads {
                1 => "1 thread".to_owned(),
                more => format!("{more} threads"),
            };
            text += &format!("by        {}, {threads}: {}\n", how.name, how.why);
        }
        let late = &sent.lateness;
        let shown = |fraction| us(late, fraction).map_or(String::new(), number);
        text += &format!(
            "schedule  {} us late (p50), {} (p99), {} (p99.9), {} at most, when given to the \
             kernel\n",
            shown(0.5),
            shown(0.99),
            shown(0.999),
            shown(1.0)
        );
        if sent.overdue > 0 {
            let what = match (sent.count.lost, sent.shift_ns) {
                (0, 0) => "sent at once".to_owned(),
                (0, shift) => format!("the plan was put off by {} s", number(shift as f64 / 1e9)),
                (skipped, _) => format!("{skipped} left out"),
            };
            text += &format!(
                "limit     the sender: {} packets were overdue, {what}\n",
                sent.overdue
            );
        }
        if sent.unsent > 0 {
            let more = if sent.unsent_more { "more than " } else { "" };
            text += &format!(
                "unsent    {more}{} packets of the plan: the time was over\n",
                sent.unsent
            );
        }
        if sent.resized > 0 {
            text += &format!(
                "lengths   {} payloads were adjusted: at least 16 bytes, at most what the \
                 interface or protocol allows\n",
                sent.resized
            );
        }
        if sent.errors > 0 {
            text += &format!(
                "errors    {} calls failed: no listener, or no buffers\n",
                sent.errors
            );
        }
        if let Some(why) = &sent.fault {
            text += &format!("stopped   before its end: {why}\n");
        }
        text
    }
}

impl SendOutcome {
    /// Whether all that was to be sent was, and came.
    pub fn is_whole(&self) -> bool {
        self.flows.iter().all(FlowOutcome::is_whole)
    }

    /// What came of several sessions, as of one.
    pub fn of_all(all: Vec<SendOutcome>) -> SendOutcome {
        let mut together = SendOutcome {
            flows: Vec::new(),
            log_fault: None,
            reports: Vec::new(),
        };
        for one in all {
            together.flows.extend(one.flows);
            together.log_fault = together.log_fault.or(one.log_fault);
            together.reports.extend(one.reports);
        }
        together
    }

    /// All flows as one; none where there is one only.
    fn total(&self) -> Option<FlowOutcome> {
        let (first, rest) = self
            .flows
            .split_first()
            .filter(|(_, rest)| !rest.is_empty())?;
        let mut total = first.clone();
        total.name = "total".to_owned();
        // Each flow has its own.
        total.sent.chosen = None;
        for one in rest {
            let (all, sent) = (&mut total.sent, &one.sent);
            add(&mut all.count, sent.count);
            // 0 is of who sent nothing.
            if all.first_ns == 0 || (sent.first_ns != 0 && sent.first_ns < all.first_ns) {
                all.first_ns = sent.first_ns;
            }
            all.last_ns = all.last_ns.max(sent.last_ns);
            all.errors += sent.errors;
            all.unsent += sent.unsent;
            all.unsent_more |= sent.unsent_more;
            all.overdue += sent.overdue;
            all.shift_ns = all.shift_ns.max(sent.shift_ns);
            all.lateness.merge(&sent.lateness);
            match (&mut total.received, &one.received) {
                (Ok(all), Ok(received)) => add(all, *received),
                (Ok(_), Err(why)) => total.received = Err(why.clone()),
                (Err(_), _) => {}
            }
        }
        Some(total)
    }

    /// The table `streams`, a row for each; where they are several, `total` as well.
    pub fn tables(&self) -> Vec<Table> {
        let mut tables = vec![table("streams", &self.flows)];
        tables.extend(self.total().map(|total| table("total", &[total])));
        tables
    }

    /// The same for people: one stream in words, several as a table with their total.
    pub fn text(&self) -> String {
        match self.flows.as_slice() {
            [one] => one.text(),
            _ => {
                let mut rows = self.flows.clone();
                let total = self.total();
                let words = total.as_ref().map_or(String::new(), FlowOutcome::text);
                rows.extend(total);
                format!("{}\n{words}", table("streams", &rows))
            }
        }
    }
}

fn table(name: &str, flows: &[FlowOutcome]) -> Table {
    let rows: Vec<_> = flows.iter().map(FlowOutcome::row).collect();
    let columns: Vec<_> = rows
        .first()
        .map(|row| row.iter().map(|(name, kind, _)| (*name, *kind)).collect())
        .unwrap_or_default();
    let mut table = Table::with(name, &columns);
    for row in rows {
        let cells = row.into_iter().map(|(.., cell)| cell).collect();
        table
            .push(cells)
            .expect("the row has a cell for each column");
    }
    table
}

fn add(all: &mut Count, one: Count) {
    all.packets += one.packets;
    all.bytes += one.bytes;
    all.lost += one.lost;
    all.duplicates += one.duplicates;
    // Of flows that share a port each is told all that it lost.
    all.unattributed = all.unattributed.max(one.unattributed);
}
