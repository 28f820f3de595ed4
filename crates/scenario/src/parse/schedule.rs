//! Reads what changes on a path: `schedule`, `schedule_period` and `schedule_file`.

use crate::keys::{BETWEEN, FILE_ENDS, OUTAGES, WAYS};
use crate::path::{Between, Change, Direction, Line, LinkState};
use crate::preset;
use crate::reader::Reader;
use crate::schedule_file::{self, Row, Values};
use std::borrow::Cow;
use trammel_core::time::{Span, Time};

/// What a file's name begins with where a preset has it.
const OF_PRESET: &str = "preset:";

/// The direction that a table names.
pub(super) fn way(r: &Reader<'_>) -> Option<Direction> {
    Some(match WAYS[r.word("direction")?] {
        "data" | "down" => Direction::Data,
        "ack" | "up" => Direction::Ack,
        _ => Direction::Both,
    })
}

/// What an outage of the table does with the queue.
fn outage(r: &Reader<'_>) -> LinkState {
    match r.word("outage").map(|word| OUTAGES[word]) {
        Some("drop") => LinkState::Cut,
        _ => LinkState::Held,
    }
}

/// Reads the schedule of `line`.
pub(super) fn read(r: &Reader<'_>, line: &mut Line) {
    let rows = r.tables("schedule");
    line.schedule = rows.iter().filter_map(change).collect();
    line.schedule_period = r.span("schedule_period");
    let Some(file) = r.table("schedule_file") else {
        return;
    };
    for key in ["schedule", "schedule_period"] {
        if let Some(entry) = r.entry(key) {
            let what = format!("`{key}` and `schedule_file` exclude each other");
            let help = "keep one of them; `end = \"repeat\"` repeats a file";
            r.cx.fault(&entry.node.span, what, "each is the whole schedule", help);
        }
    }
    let Some(rows) = rows_of(&file) else { return };
    if file.word("between").map(|word| BETWEEN[word]) == Some("linear") {
        line.between = Between::Linear;
    }
    let repeats = file.word("end").map(|word| FILE_ENDS[word]) == Some("repeat");
    let options = Options {
        direction: way(&file).unwrap_or(Direction::Both),
        gap: file.span("gap").unwrap_or(Span::ZERO),
        outage: outage(&file),
        period: repeats.then(|| period(&rows)),
        offset: file.span("offset").unwrap_or(Span::ZERO),
    };
    line.schedule_period = options.period;
    line.schedule = changes(&rows, &options);
}

fn change(r: &Reader<'_>) -> Option<Change> {
    let rate = r.rate("rate");
    let is_zero = rate.is_some_and(|rate| rate.as_bps() == 0);
    let state = match r.flag("down") {
        Some(true) => Some(outage(r)),
        Some(false) => Some(LinkState::Up),
        None if is_zero => Some(outage(r)),
        None => {
            outage(r);
            None
        }
    };
    let has_rate = rate.is_some() && !is_zero;
    if state.is_some_and(|state| state != LinkState::Up)
        && has_rate
        && let Some(entry) = r.entry("down")
    {
        let what = "`down = true` and a `rate` exclude each other";
        let help = "give the rate where the outage ends";
        r.cx.fault(&entry.node.span, what, "nothing passes in an outage", help);
    }
    if r.entry("outage").is_some()
        && state.is_none_or(|state| state == LinkState::Up)
        && let Some(entry) = r.entry("outage")
    {
        let help = "add `down = true`, or remove it";
        r.cx.fault(
            &entry.node.span,
            "`outage` is given without an outage",
            "nothing goes down",
            help,
        );
    }
    let names = ["rate", "delay", "loss", "jitter", "down"];
    if r.entry("at").is_some() && names.iter().all(|name| r.entry(name).is_none()) {
        let help = "give `rate`, `delay`, `loss`, `jitter` or `down`";
        let span = &r.entry("at")?.node.span;
        r.cx.fault(
            span,
            "this change changes nothing",
            "it has only a time",
            help,
        );
    }
    Some(Change {
        at: r.instant("at")?,
        direction: way(r)?,
        rate: rate.filter(|_| !is_zero),
        delay: r.span("delay"),
        loss: r.number("loss"),
        jitter: r.span("jitter"),
        state,
    })
}

/// The rows of the file that the table names.
fn rows_of(r: &Reader<'_>) -> Option<Vec<Row>> {
    let name = r.text("file")?;
    let span = &r.entry("file")?.node.span;
    let what = format!("the schedule `{name}` cannot be used");
    let text = match name.strip_prefix(OF_PRESET) {
        Some(preset) => match preset::find(preset).and_then(|preset| preset.file.as_deref()) {
            Some(text) => Cow::Borrowed(text),
            None => {
                let help = "`trammel list presets` shows all presets";
                r.cx.fault(span, what, format!("no preset `{preset}` has a file"), help);
                return None;
            }
        },
        None => match std::fs::read_to_string(r.cx.dir.join(&name)) {
            Ok(text) => Cow::Owned(text),
            Err(error) => {
                let help = "give a file relative to the scenario file";
                r.cx.fault(span, what, error.to_string(), help);
                return None;
            }
        },
    };
    match schedule_file::parse(&text) {
        Ok(rows) => Some(rows),
        Err(why) => {
            let help = "a header such as `time_s,rate_mbps,delay_ms,loss`, then rows in order of \
                        time; or a log of paths as LeoEM computes them";
            r.cx.fault(span, what, why.to_string(), help);
            None
        }
    }
}

/// What a scenario says of a file's rows.
#[derive(Debug)]
struct Options {
    direction: Direction,
    gap: Span,
    outage: LinkState,
    period: Option<Span>,
    offset: Span,
}

/// The length of a file that repeats: its last row holds as long as the one before it.
fn period(rows: &[Row]) -> Span {
    let last = rows.last().map_or(Time::ZERO, |row| row.at);
    let before = rows
        .len()
        .checked_sub(2)
        .map_or(Time::ZERO, |at| rows[at].at);
    (last - Time::ZERO) + (last - before).max(Span::from_secs(u64::from(rows.len() == 1)))
}

/// Rows as changes of the run, which begins at the file's `offset`. What has a column of its own
/// for the way back is of the data direction elsewhere.
fn changes(rows: &[Row], options: &Options) -> Vec<Change> {
    let has = |of: fn(&Values) -> bool| rows.iter().any(|row| of(&row.ack));
    let own = [
        has(|ack| ack.rate.is_some()),
        has(|ack| ack.delay.is_some()),
        has(|ack| ack.loss.is_some()),
        has(|ack| ack.jitter.is_some()),
        has(|ack| ack.down.is_some()),
    ];
    let mut all: Vec<Change> = Vec::new();
    for (n, row) in rows.iter().enumerate() {
        let of = |direction: Direction, values: &Values| Change {
            at: row.at,
            direction,
            rate: values.rate.filter(|rate| rate.as_bps() > 0),
            delay: values.delay,
            loss: values.loss,
            jitter: values.jitter,
            state: match (values.down, values.rate) {
                (Some(true), _) => Some(options.outage),
                (Some(false), _) => Some(LinkState::Up),
                (None, Some(rate)) if rate.as_bps() == 0 => Some(options.outage),
                (None, _) => None,
            },
        };
        let mut here = if own.contains(&true) {
            let is_both = options.direction == Direction::Both;
            let (data, ack) = (&row.data, &row.ack);
            let also = |is_own: bool| is_both && !is_own;
            let home = Values {
                rate: ack.rate.or(data.rate.filter(|_| also(own[0]))),
                delay: ack.delay.or(data.delay.filter(|_| also(own[1]))),
                loss: ack.loss.or(data.loss.filter(|_| also(own[2]))),
                jitter: ack.jitter.or(data.jitter.filter(|_| also(own[3]))),
                down: ack.down.or(data.down.filter(|_| also(own[4]))),
            };
            vec![of(Direction::Data, data), of(Direction::Ack, &home)]
        } else {
            vec![of(options.direction, &row.data)]
        };
        let gap = (row.is_new_path && options.gap > Span::ZERO).then_some(options.gap);
        if gap.is_some() {
            for change in &mut here {
                change.state = Some(options.outage);
            }
        }
        let ways: Vec<Direction> = here.iter().map(|change| change.direction).collect();
        all.extend(here);
        let Some(gap) = gap else { continue };
        // A gap that reaches beyond the next row ends there, where another begins or not.
        let next = rows.get(n + 1);
        let at = next.map_or(row.at + gap, |next| next.at.min(row.at + gap));
        // A period begins with the link up.
        let is_over = options
            .period
            .is_some_and(|period| at.since_start() >= period);
        let goes_on = next.is_some_and(|next| next.at == at && next.is_new_path);
        if !is_over && !goes_on {
            all.extend(ways.into_iter().map(|way| Change {
                state: Some(LinkState::Up),
                ..Change::new(at, way)
            }));
        }
    }
    from_offset(all, options)
}

/// The changes as a run sees them that begins at the file's offset.
fn from_offset(all: Vec<Change>, options: &Options) -> Vec<Change> {
    if options.offset == Span::ZERO {
        return all;
    }
    let offset = match options.period {
        Some(period) => Time::from_ps(options.offset.as_ps() % period.as_ps()),
        None => Time::ZERO + options.offset,
    };
    let later = all.partition_point(|change| change.at <= offset);
    // What came before holds at the start.
    let mut shifted: Vec<Change> = Vec::new();
    for way in [Direction::Data, Direction::Ack] {
        let mut first = Change::new(Time::ZERO, way);
        let earlier = all[..later].iter().filter(|change| change.is_of(way));
        let mut any = false;
        for change in earlier {
            any = true;
            first.rate = change.rate.or(first.rate);
            first.delay = change.delay.or(first.delay);
            first.loss = change.loss.or(first.loss);
            first.jitter = change.jitter.or(first.jitter);
            first.state = change.state.or(first.state);
        }
        if any {
            shifted.push(first);
        }
    }
    let at = |change: &Change, at: Time| Change { at, ..*change };
    shifted.extend(
        all[later..]
            .iter()
            .map(|change| at(change, Time::ZERO + (change.at - offset))),
    );
    if let Some(period) = options.period {
        // Those at the offset itself begin the next period.
        let again = all[..later].iter().filter(|change| change.at < offset);
        let rest = period - offset.since_start();
        shifted.extend(again.map(|change| at(change, change.at + rest)));
    }
    shifted
}

#[cfg(test)]
mod tests {
    use crate::File;
    use crate::path::{Direction, Line, LinkState};
    use crate::topology::Topology;
    use trammel_core::time::{Span, Time};

    fn read(keys: &str, file: &str) -> Result<Line, String> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("p.csv"), file).unwrap();
        let text = format!(
            "[path]\nrate = '10 Mbit/s'\nrtt = '40 ms'\n{keys}\n[[flow]]\nvariant = 'reno'\n"
        );
        let file = File::parse("t.toml", &text, folder.path()).map_err(|why| why.to_string())?;
        match &file.points[0].scenario.topology {
            Topology::Path(path) => Ok(path.line.clone()),
            Topology::Graph(_) => unreachable!("it is a path"),
        }
    }

    #[test]
    fn a_gap_opens_at_each_new_path_and_closes() {
        let keys = "schedule_file = { file = 'p.csv', gap = '50 ms', outage = 'drop' }";
        let line = read(keys, "time_s,delay_ms,handover\n0,20,0\n1,25,1\n2,26,0\n").unwrap();
        let states: Vec<_> = line
            .schedule
            .iter()
            .map(|one| (one.at.as_ms(), one.state))
            .collect();
        let (cut, up) = (Some(LinkState::Cut), Some(LinkState::Up));
        assert_eq!(states, [(0, None), (1000, cut), (1050, up), (2000, None)]);
        assert_eq!(line.schedule_period, None);
    }

    #[test]
    fn columns_of_the_way_back_are_of_it_alone_and_the_others_of_both() {
        let line = read(
            "schedule_file = { file = 'p.csv' }",
            "time_s,rate_mbps,delay_ms,ack_rate_mbps\n0,5,30,2\n1,4,,\n",
        );
        let line = line.unwrap();
        let course = |way: Direction| {
            line.course(way, Span::ZERO, Span::ZERO, Time::from_secs(9))
                .unwrap()
        };
        let (data, ack) = (course(Direction::Data), course(Direction::Ack));
        let rates = |course: &crate::course::Course| {
            let all = course.rate.as_ref().unwrap();
            [0, 1000].map(|ms| all.at(Time::from_ms(ms)).as_bps() / 1_000_000)
        };
        assert_eq!((rates(&data), rates(&ack)), ([5, 4], [2, 2]));
        let delay = |course: &crate::course::Course| {
            course
                .conditions
                .as_ref()
                .unwrap()
                .at(Time::ZERO)
                .delay
                .as_ms()
        };
        assert_eq!((delay(&data), delay(&ack)), (30, 30));
    }

    #[test]
    fn a_file_begins_at_its_offset_and_repeats() {
        let keys = "schedule_file = { file = 'p.csv', offset = '1.5 s', end = 'repeat' }";
        let line = read(keys, "time_s,delay_ms\n0,20\n1,25\n2,30\n").unwrap();
        assert_eq!(line.schedule_period, Some(Span::from_secs(3)));
        let course = line.course(Direction::Data, Span::ZERO, Span::ZERO, Time::from_secs(9));
        let delays = course.unwrap().conditions.unwrap();
        let at = |ms: u64| delays.at(Time::from_ms(ms)).delay.as_ms();
        assert_eq!(
            [0, 499, 500, 1499, 1500, 2500, 3000, 3500].map(at),
            [25, 25, 30, 30, 20, 25, 25, 30]
        );
    }

    #[test]
    fn what_excludes_each_other_is_refused() {
        for (keys, word) in [
            ("schedule = [{ at = '1 s' }]", "changes nothing"),
            (
                "schedule = [{ at = '1 s', rate = '1 Mbit/s', outage = 'drop' }]",
                "without an outage",
            ),
            (
                "schedule = [{ at = '1 s', rate = '1 Mbit/s', down = true }]",
                "exclude",
            ),
            ("schedule = [{ at = '1 s', loss = 1.5 }]", "loss"),
            ("schedule_file = { file = 'none.csv' }", "none.csv"),
            ("schedule_file = { file = 'preset:none' }", "preset `none`"),
            ("schedule_file = { file = 'p.csv' }", "line 2"),
            (
                "schedule_file = { file = 'p.csv' }\nschedule_period = '1 s'",
                "exclude",
            ),
        ] {
            let why = read(keys, "time_s,delay_ms\n0\n").unwrap_err();
            assert!(why.contains(word), "{keys}: {why}");
        }
    }
}
