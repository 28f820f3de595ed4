//! The counters of elements as a table that fits a terminal.
//!
//! A column is as wide as what it holds. Where the terminal is narrower, texts are shortened with
//! `…`, and then whole columns are left out, the least important first; the last line says which. A
//! number is never cut: one that ends at the edge would read as a smaller one.

use super::watch::Row;

/// Between two columns.
const GAP: usize = 2;
/// A shortened name has so many characters at least.
const LEAST_NAME: usize = 8;
/// What stands for the rest of a text.
const REST: &str = "…";
/// What the column `ticks` is.
pub(crate) const LEGEND: &str = "ticks: of the time-stamp counter, a packet, in the element itself";

/// A column, in the order in which they are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Element,
    Class,
    Packets,
    Batch,
    Ticks,
    Ended,
}

use Column::{Batch, Class, Element, Ended, Packets, Ticks};

impl Column {
    const ALL: [Column; 6] = [Element, Class, Packets, Batch, Ticks, Ended];
    /// The least important first; an element's name stays.
    const LEFT_OUT: [Column; 5] = [Class, Batch, Ticks, Ended, Packets];
    /// Those that get room first.
    const WIDENED: [Column; 3] = [Element, Ended, Class];

    fn head(self) -> &'static str {
        match self {
            Element => "element",
            Class => "class",
            Packets => "packets",
            Batch => "a batch",
            Ticks => "ticks",
            Ended => "ended there",
        }
    }

    fn is_number(self) -> bool {
        matches!(self, Packets | Batch | Ticks)
    }

    /// What a row has in it.
    fn text(self, row: &Row) -> String {
        match self {
            Element => row.name.clone(),
            Class => row.class.clone(),
            Packets => row.packets.clone(),
            Batch => row.batch.clone(),
            Ticks => row.ticks.clone(),
            Ended => row.ended.join(", "),
        }
    }

    /// The width of all that it holds.
    fn whole(self, rows: &[Row]) -> usize {
        let texts = rows.iter().map(|row| length(&self.text(row)));
        texts.fold(length(self.head()), usize::max)
    }

    /// The width with which it is of use.
    fn least(self, rows: &[Row]) -> usize {
        let whole = self.whole(rows);
        match self {
            Element | Class => whole.min(LEAST_NAME),
            Packets | Batch | Ticks => whole,
            // The first count, a space and that there is more.
            Ended => {
                let firsts = rows.iter().filter_map(|row| row.ended.first());
                let counts = firsts.map(|first| first.find(' ').unwrap_or(0) + 2);
                counts.fold(length(self.head()), usize::max)
            }
        }
    }

    /// What a row has in it, in so much room.
    fn within(self, row: &Row, width: usize) -> String {
        let text = self.text(row);
        match self {
            _ if length(&text) <= width => text,
            Element => shortened_in_front(&text, width),
            Ended => reasons(&row.ended, width),
            _ if self.is_number() => REST.to_owned(),
            _ => shortened(&text, width),
        }
    }
}

fn length(text: &str) -> usize {
    text.chars().count()
}

/// The beginning of `text`, which is longer than `width`.
fn shortened(text: &str, width: usize) -> String {
    let kept: String = text.chars().take(width.saturating_sub(1)).collect();
    kept.trim_end().to_owned() + REST
}

/// The end of `text`: names within others differ there.
fn shortened_in_front(text: &str, width: usize) -> String {
    let skipped = length(text) - width.saturating_sub(1).min(length(text));
    REST.to_owned() + &text.chars().skip(skipped).collect::<String>()
}

/// As many of `ended` as there is room for, which is not all; a count is whole or not there.
fn reasons(ended: &[String], width: usize) -> String {
    for count in (1..ended.len()).rev() {
        let some = ended[..count].join(", ") + ", " + REST;
        if length(&some) <= width {
            return some;
        }
    }
    let first = ended.first().map_or("", String::as_str);
    let digits = first.find(' ').unwrap_or(0);
    if width < digits + 2 {
        return REST.to_owned();
    }
    let rest = if ended.len() > 1 { ", " } else { "" };
    let text = format!("{first}{rest}{REST}{REST}");
    shortened(&text, width)
}

/// The columns that a terminal of so many characters has room for, with their widths.
fn columns(rows: &[Row], room: usize) -> Vec<(Column, usize)> {
    let mut shown = Column::ALL.to_vec();
    let needed = |shown: &[Column], width: fn(Column, &[Row]) -> usize| {
        let widths = shown.iter().map(|column| width(*column, rows));
        widths.sum::<usize>() + GAP * (shown.len() - 1)
    };
    for column in Column::LEFT_OUT {
        if needed(&shown, Column::least) <= room {
            break;
        }
        shown.retain(|one| *one != column);
    }
    let mut spare = room.saturating_sub(needed(&shown, Column::least));
    let widths = shown.iter().map(|column| (*column, column.least(rows)));
    let mut widths: Vec<_> = widths.collect();
    for column in Column::WIDENED {
        if let Some((_, width)) = widths.iter_mut().find(|(one, _)| *one == column) {
            let more = spare.min(column.whole(rows).saturating_sub(*width));
            *width += more;
            spare -= more;
        }
    }
    if let [(_, width)] = widths.as_mut_slice() {
        *width = (*width).min(room);
    }
    widths
}

/// A line of the table.
fn line(widths: &[(Column, usize)], text: impl Fn(Column, usize) -> String) -> String {
    let cells = widths.iter().map(|(column, width)| {
        let text = text(*column, *width);
        let blank = " ".repeat(width.saturating_sub(length(&text)));
        if column.is_number() {
            blank + &text
        } else {
            text + &blank
        }
    });
    let line = cells.collect::<Vec<_>>().join(&" ".repeat(GAP));
    line.trim_end().to_owned()
}

/// `rows` as text for a terminal of so many columns and lines. The last line stays free: the text
/// ends with a line end.
pub(crate) fn fitted(rows: &[Row], (room, lines): (usize, usize)) -> String {
    let widths = columns(rows, room);
    let cut = |text: String| {
        if length(&text) <= room {
            text
        } else {
            shortened(&text, room)
        }
    };
    let is_shown = |column: &Column| widths.iter().any(|(one, _)| one == column);
    let left_out = Column::ALL.iter().filter(|column| !is_shown(column));
    let left_out: Vec<_> = left_out.map(|column| column.head()).collect();
    let mut below = Vec::new();
    if !left_out.is_empty() {
        below.push(cut(format!("no room for: {}", left_out.join(", "))));
    }
    let lines = lines.saturating_sub(1);
    let mut count = rows.len();
    if 1 + count + below.len() > lines {
        count = lines.saturating_sub(2 + below.len());
        let more = rows.len() - count;
        let texts = [
            format!("{REST} {more} elements more"),
            format!("{REST} {more}"),
        ];
        let fits = texts.into_iter().find(|text| length(text) <= room);
        below.insert(0, fits.unwrap_or_else(|| REST.to_owned()));
    } else if is_shown(&Ticks) && 1 + count + below.len() < lines {
        below.push(cut(LEGEND.to_owned()));
    }
    let mut all = vec![line(&widths, |column, width| {
        let head = column.head();
        if length(head) <= width {
            head.to_owned()
        } else {
            shortened(head, width)
        }
    })];
    all.extend(
        rows.iter()
            .take(count)
            .map(|row| line(&widths, |column, width| column.within(row, width))),
    );
    all.extend(below);
    all.truncate(lines.max(1));
    all.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, class: &str, numbers: [&str; 3], ended: &[&str]) -> Row {
        let [packets, batch, ticks] = numbers.map(str::to_owned);
        Row {
            name: name.to_owned(),
            class: class.to_owned(),
            packets,
            batch,
            ticks,
            ended: ended.iter().map(|one| (*one).to_owned()).collect(),
        }
    }

    /// A source that is faster than what takes from its queue.
    fn rows() -> Vec<Row> {
        vec![
            row("rs", "RatedSource", ["22512", "1.0", "1622.4"], &[]),
            row("c", "Counter", ["22512", "1.0", "871.0"], &[]),
            row(
                "q2",
                "Queue",
                ["22512", "0.6", "1872.1"],
                &["3235 queue full"],
            ),
            row("u", "RatedUnqueue", ["19267", "1.0", "504.9"], &[]),
            row(
                "d",
                "Discard",
                ["19267", "1.0", "12.0"],
                &["19267 consumed", "12 queue full"],
            ),
        ]
    }

    #[test]
    fn eighty_columns_have_room_for_whole_numbers_and_reasons() {
        assert_eq!(
            fitted(&rows(), (80, 14)),
            "\
element  class         packets  a batch   ticks  ended there
rs       RatedSource     22512      1.0  1622.4
c        Counter         22512      1.0   871.0
q2       Queue           22512      0.6  1872.1  3235 queue full
u        RatedUnqueue    19267      1.0   504.9
d        Discard         19267      1.0    12.0  19267 consumed, 12 queue full
ticks: of the time-stamp counter, a packet, in the element itself
"
        );
    }

    #[test]
    fn what_is_less_important_is_left_out_first_and_said() {
        assert_eq!(
            fitted(&rows(), (44, 14)),
            "\
element  packets   ticks  ended there
rs         22512  1622.4
c          22512   871.0
q2         22512  1872.1  3235 queue full
u          19267   504.9
d          19267    12.0  19267 consumed, …
no room for: class, a batch
ticks: of the time-stamp counter, a packet,…
"
        );
    }

    /// Every number of a row is one of its own at every size, and no line is too long.
    #[test]
    fn no_number_is_cut_at_any_size() {
        let mut rows = rows();
        rows[0].name = "router/within/another/source".to_owned();
        for room in 1..120 {
            for lines in [1, 2, 5, 7, 24] {
                let text = fitted(&rows, (room, lines));
                let at = format!("{room} × {lines}:\n{text}");
                assert!(text.lines().all(|line| length(line) <= room), "{at}");
                assert!(text.lines().count() <= (lines - 1).max(1), "{at}");
                let is_of_rows = |line: &&str| !line.starts_with("… ");
                for line in text.lines().skip(1).filter(is_of_rows) {
                    let numbers = line
                        .split_whitespace()
                        .filter(|word| word.starts_with(|c: char| c.is_ascii_digit()));
                    for number in numbers {
                        let is_whole = rows.iter().any(|row| {
                            [&row.packets, &row.batch, &row.ticks].contains(&&number.to_owned())
                                || row
                                    .ended
                                    .iter()
                                    .any(|one| one.split(' ').next() == Some(number))
                        });
                        assert!(is_whole, "{number} at {at}");
                    }
                }
            }
        }
    }

    #[test]
    fn elements_that_have_no_line_are_counted() {
        let text = fitted(&rows(), (80, 6));
        assert_eq!(text.lines().count(), 5, "{text}");
        assert!(text.ends_with("\n… 2 elements more\n"), "{text}");
    }
}
