//! The page in a real browser, at the width of a telephone, a small window and a large screen:
//! nothing is cut off, everything has its words, and the script runs without an error.

use super::demo;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How long a browser may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// Notes errors from the first script on.
const EARLY: &str = "<script>window.faults=[];addEventListener('error',e=>faults.push(e.message));\
    console.error=(...all)=>faults.push(all.join(' '))</script>";

/// What a page lacks for who cannot see it, or not well.
const ACCESSIBLE: &str = include_str!("accessible.js");

/// Looks at the finished page and leaves what it saw in the page.
const LATE: &str = r##"<script>
// What the plot says after arrow keys.
const readByKeys = () => {
  const over = document.querySelector("#fig-goodput .u-over");
  for (const key of ["Home", "ArrowRight"]) over.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  return document.querySelector("#fig-goodput .tip").textContent;
};
addEventListener("load", () => setTimeout(() => {
  const over = document.querySelector("#fig-goodput .u-over");
  const box = over.getBoundingClientRect();
  const at = { clientX: box.left + box.width / 2, clientY: box.top + box.height / 2, bubbles: true };
  over.dispatchEvent(new MouseEvent("mouseenter", at));
  over.dispatchEvent(new MouseEvent("mousemove", at));
  const shownBefore = [...document.querySelectorAll(".option")].map((one) => !one.hidden);
  document.querySelectorAll(".picker button")[1].click();
  setTimeout(() => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const isShown = (one) => one.offsetParent !== null;
  const inside = (one) => {
    const { left, right } = one.getBoundingClientRect();
    return left >= -1 && right <= innerWidth + 1;
  };
  const boxes = all(".scroll").filter(isShown);
  const wide = boxes.filter((box) => box.scrollWidth > box.clientWidth + 1);
  const seen = {
    width: innerWidth,
    page: document.documentElement.scrollWidth,
    main: document.querySelector("main").getBoundingClientRect().width,
    faults: window.faults,
    canvases: all("canvas").length,
    unlabelled: all("canvas").filter((one) => !(one.getAttribute("aria-label") || "").includes(" ")).length,
    tables: all(".comparison tbody tr").length,
    firstCut: all(".comparison .pin").filter((one) => !inside(one)).length,
    lastCut: all(".comparison table:has(td.verdict) tr > :last-child").filter((one) => !inside(one)).length,
    wide: wide.length,
    cues: wide.filter((box) => isShown(box.nextElementSibling) && box.classList.contains("more-right")).length,
    before: shownBefore,
    after: all(".option").map((one) => !one.hidden),
    tip: document.querySelector("#fig-goodput .tip").textContent,
    lacking: lacking(),
    read: readByKeys(),
    legends: all(".legend.shared").length,
    tall: Math.max(0, ...all(".live .canvas").filter(isShown).map((one) => one.clientWidth - one.parentElement.clientWidth)),
  };
  document.documentElement.dataset.seen = JSON.stringify(seen);
  }, 50);
}, 50));</script>"##;

/// The browser, or why there is none.
fn chromium() -> Option<PathBuf> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let path = std::env::var_os("PATH")?;
    let places: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let found = places
        .iter()
        .flat_map(|place| names.map(|name| place.join(name)));
    found.into_iter().find(|file| file.is_file())
}

/// What a browser of `width` pixels sees of the page at `file` in a theme.
fn seen(browser: &Path, file: &Path, width: u32, theme: &str) -> Result<Value, String> {
    let profile = tempfile::tempdir().map_err(|why| why.to_string())?;
    let out = profile.path().join("dom.html");
    let written = std::fs::File::create(&out).map_err(|why| why.to_string())?;
    // A window has a least width; a frame in it has none.
    let frame = file.with_file_name(format!("frame-{width}.html"));
    let page = format!(
        "<!doctype html><iframe style='border:0;width:{width}px;height:3000px' \
         src='{}?theme={theme}'></iframe>\
         <script>\
         addEventListener('message',e=>document.documentElement.dataset.seen=e.data)</script>",
        file.file_name().unwrap_or_default().to_string_lossy()
    );
    std::fs::write(&frame, page).map_err(|why| why.to_string())?;
    let mut child = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
        ])
        .args(["--no-first-run", "--disable-background-networking"])
        .args(["--disable-component-update", "--disable-sync"])
        .arg("--virtual-time-budget=8000")
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("--window-size={},1400", width.max(800)))
        .arg("--dump-dom")
        .arg(format!("file://{}", frame.display()))
        .stdout(written)
        .stderr(Stdio::null())
        .spawn()
        .map_err(|why| why.to_string())?;
    let begun = Instant::now();
    while child.try_wait().map_err(|why| why.to_string())?.is_none() {
        if begun.elapsed() > PATIENCE {
            let _ = child.kill();
            let _ = child.wait();
            return Err(format!(
                "{} did not end within {PATIENCE:?}",
                browser.display()
            ));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let dom = std::fs::read_to_string(&out).map_err(|why| why.to_string())?;
    let Some((_, rest)) = dom.split_once("data-seen=\"") else {
        return Err(format!("{} shows no page here", browser.display()));
    };
    let text = rest.split('"').next().unwrap_or_default();
    let text = text.replace("&quot;", "\"").replace("&nbsp;", "\u{a0}");
    let text = text.replace("&amp;", "&");
    serde_json::from_str(&text).map_err(|why| format!("{why}: {text}"))
}

#[test]
fn nothing_is_cut_off_at_any_width() {
    let Some(browser) = chromium() else {
        eprintln!("skipped: no Chromium on the PATH");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("report.html");
    let late = LATE.replacen("<script>", &format!("<script>{ACCESSIBLE}"), 1);
    let late = late.replace(
        "document.documentElement.dataset.seen = JSON.stringify(seen);",
        "parent.postMessage(JSON.stringify(seen), \"*\");",
    );
    let html = demo().to_html();
    let html = html.replacen("<head>", &format!("<head>{EARLY}"), 1);
    let html = html.replacen("</body>", &format!("{late}</body>"), 1);
    std::fs::write(&file, html).unwrap();
    for (width, theme) in [
        (400, "light"),
        (400, "dark"),
        (1000, "dark"),
        (1920, "light"),
    ] {
        let seen = match seen(&browser, &file, width, theme) {
            Ok(seen) => seen,
            Err(why) => {
                eprintln!("skipped: {why}");
                return;
            }
        };
        let number = |name: &str| seen[name].as_f64().unwrap();
        assert_eq!(number("width"), f64::from(width), "{seen}");
        assert_eq!(seen["faults"], serde_json::json!([]), "{seen}");
        assert!(number("page") <= f64::from(width), "{seen}");
        assert!(
            number("canvases") >= 6.0 && number("unlabelled") == 0.0,
            "{seen}"
        );
        assert!(number("tables") > 0.0, "{seen}");
        assert_eq!(
            (number("firstCut"), number("lastCut")),
            (0.0, 0.0),
            "{seen}"
        );
        assert_eq!(number("wide"), number("cues"), "{seen}");
        let picked = [&seen["before"], &seen["after"]].map(Value::to_string);
        assert_eq!(picked, ["[true,false]", "[false,true]"], "{seen}");
        let tip = seen["tip"].as_str().unwrap();
        assert!(
            tip.contains("\u{a0}s") && tip.contains("\u{a0}Mbit/s"),
            "{tip}"
        );
        assert!(number("tall") <= 0.0, "{seen}");
        assert_eq!(seen["lacking"], serde_json::json!([]), "{theme}");
        let read = seen["read"].as_str().unwrap();
        assert!(read.contains("\u{a0}s") && read != tip, "{read}");
        if width == 1920 {
            assert!(number("main") > 0.75 * f64::from(width), "{seen}");
        }
        if width == 400 {
            assert!(number("wide") > 0.0, "the page tests what is wide: {seen}");
        }
    }
}

/// A page of somebody else's with a plot, which is drawn once and then given other numbers; what is
/// zoomed stays, also by the keyboard, and in the other plot of its group.
const ALONE: &str = r#"<!doctype html><html lang="en"><meta charset="utf-8">
<body><div id="here" style="width:600px"></div><script>
const data = (n) => ({
  x: { text: "time (s)", unit: "s", range: [0, 60] }, y: { text: "cwnd (packets)", unit: "packets", zero: true },
  series: ["cubic", "bbr"].map((name) => ({ name, x: [...Array(n).keys()], y: [...Array(n).keys()], step: true })),
  spans: [{ from: 20, to: 40, colour: 0 }], ticks: [30],
});
const [curves, other] = ["Windows over time", "The same"].map((name) =>
  Curves.draw(document.getElementById("here"), data(2), { name, group: "both", height: () => 200 }));
const first = document.querySelector("canvas");
for (let n = 3; n <= 61; n++) curves.set(data(n));
// A plot takes a zoom at the end of a turn.
const turn = () => new Promise((done) => setTimeout(done, 0));
const over = curves.element.querySelector(".u-over");
// Whether something is painted above the curves at an instant.
const isPainted = (x) => {
  const [at, from] = [over, first].map((one) => one.getBoundingClientRect());
  const place = [at.left - from.left + (x / 60) * at.width, at.top - from.top + 20].map((one) => Math.round(one * devicePixelRatio));
  return first.getContext("2d").getImageData(...place, 1, 1).data[3] > 0;
};
(async () => {
await turn();
const shaded = [10, 25].map(isPainted);
const press = async (key) => { over.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true })); await turn(); };
await press("ArrowUp");
const byKey = curves.view();
curves.set(data(61));
await turn();
const kept = [curves.view(), other.view()];
await press("ArrowDown");
const seen = {
  shaded, byKey, kept, whole: curves.view(),
  faults: window.faults,
  isKept: document.querySelector("canvas") === first,
  name: first.getAttribute("aria-label"),
  legend: [...curves.element.querySelectorAll(".legend button")].map((one) => one.textContent),
  top: curves.data.y.range[1],
};
parent.postMessage(JSON.stringify(seen), "*");
})();
</script></body></html>"#;

#[test]
fn plots_are_drawn_on_any_page() {
    let Some(browser) = chromium() else {
        eprintln!("skipped: no Chromium on the PATH");
        return;
    };
    let assets = Path::new(env!("CARGO_MANIFEST_DIR")).join("../report/assets");
    let read = |name: &str| std::fs::read_to_string(assets.join(name)).unwrap();
    let mut needed = format!("<script>{}</script>", read("uplot/uPlot.iife.min.js"));
    for name in [
        "dom", "numbers", "axes", "marks", "colours", "readout", "legend", "curves",
    ] {
        needed += &format!("<script>{}</script>", read(&format!("{name}.js")));
    }
    for name in ["uplot/uPlot.min", "colours", "curves"] {
        needed += &format!("<style>{}</style>", read(&format!("{name}.css")));
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("alone.html");
    let page = ALONE.replacen("<body>", &format!("{EARLY}<body>{needed}"), 1);
    std::fs::write(&file, page).unwrap();
    let seen = match seen(&browser, &file, 800, "light") {
        Ok(seen) => seen,
        Err(why) => {
            eprintln!("skipped: {why}");
            return;
        }
    };
    let wanted = serde_json::json!({
        "faults": [],
        "shaded": [false, true],
        "byKey": [15, 45],
        "kept": [[15, 45], [15, 45]],
        "whole": null,
        "isKept": true,
        "name": "Windows over time",
        "legend": ["cubic", "bbr"],
        "top": 63,
    });
    assert_eq!(seen, wanted);
}
