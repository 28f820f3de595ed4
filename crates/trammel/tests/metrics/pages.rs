//! What docs/metrics-endpoint.md shows of a page, against one.

use crate::running::Running;

#[path = "../shown/mod.rs"]
mod shown;

#[test]
fn a_page_is_what_the_document_shows() {
    let document = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/metrics-endpoint.md"
    );
    let document = std::fs::read_to_string(document).expect("the document is there");
    let begin = "```text\n# TYPE trammel_build info\n";
    let (_, block) = document.split_once(begin).expect("it shows a page");
    let (rest, _) = block.split_once("```").expect("a block ends");
    let text = format!("{}{rest}", begin.trim_start_matches("```text\n"));
    let shown: Vec<&str> = text.lines().collect();
    let recv = Running::start(&["recv", "--port", "0"]);
    let page = recv.page("application/openmetrics-text");
    let lines: Vec<&str> = page.lines().collect();
    assert!(shown::fits(&shown, &lines), "{page}");
}
