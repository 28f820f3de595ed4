//! A table as part of a page: collapsible, sortable, scrolling inside its box.

use super::TableView;
use super::markup::escape;
use super::ticks::group_thousands;
use std::collections::BTreeSet;
use std::fmt::Write;
use trammel_stats::table::{Cell, CellType, format_float};

impl TableView {
    pub(super) fn to_html(&self, files: &BTreeSet<String>) -> String {
        let table = &self.table;
        let rows = match table.len() {
            1 => "1 row".to_owned(),
            n => format!("{} rows", group_thousands(&n.to_string())),
        };
        let open = if self.is_open { " open" } else { "" };
        let mut out = format!(
            "<details class=\"table\"{open}><summary><h3>{}</h3> <small>{rows}</small></summary>\n\
             <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">\
             <table class=\"sortable\"><caption class=\"unseen\">{}</caption><thead><tr>",
            escape(&self.title),
            escape(&self.title),
            escape(&self.title)
        );
        for column in table.columns() {
            let class = match column.cell_type {
                CellType::Int | CellType::Float => " class=\"number\"",
                _ => "",
            };
            let title = escape(&column.title()).into_owned();
            let unit = column
                .unit()
                .map_or(String::new(), |unit| format!("<small>{unit}</small>"));
            let _ = write!(out, "<th scope=\"col\"{class}>{title}{unit}</th>");
        }
        out += "</tr></thead>\n<tbody>\n";
        for row in table.rows().take(TableView::MAX_ROWS) {
            out += "<tr>";
            row.cells().iter().for_each(|one| out += &cell(one));
            out += "</tr>\n";
        }
        out += "</tbody></table></div>\n";
        if table.len() > TableView::MAX_ROWS {
            let _ = writeln!(
                out,
                "<p class=\"caption\">The first {} of {rows}; all are in <code>{}.csv</code>.</p>",
                TableView::MAX_ROWS,
                escape(table.name())
            );
        }
        out += &super::markup::file_link(files, table.name());
        out + "</details>\n"
    }
}

fn cell(cell: &Cell) -> String {
    match cell {
        Cell::Empty => "<td class=\"none\"></td>".to_owned(),
        Cell::Text(text) => format!("<td>{}</td>", escape(text)),
        Cell::Bool(v) => format!("<td>{}</td>", if *v { "yes" } else { "no" }),
        // A whole number may be a seed: no blanks in it.
        Cell::Int(v) => format!("<td class=\"number\" data-v=\"{v}\">{v}</td>"),
        Cell::Float(v) => format!(
            "<td class=\"number\" data-v=\"{cell}\" title=\"{cell}\">{}</td>",
            group_thousands(&format_float(*v, 5))
        ),
    }
}
