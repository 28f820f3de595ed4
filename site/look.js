// What `site/check.py` asks of a page in a browser. Each page is loaded in a frame, and looked at
// in both themes and at several widths. The faults go back to the server that served this.

const WIDTHS = [400, 1280, 1920];
const THEMES = ["light", "navy"];

/** Red, green and blue from 0 to 255, and alpha, of a computed colour. */
function parts(colour) {
    const numbers = colour.match(/[\d.]+/g)?.map(Number) ?? [0, 0, 0, 0];
    return numbers.length === 3 ? [...numbers, 1] : numbers;
}

/** One colour over another that is opaque. */
function over(top, ground) {
    const alpha = top[3];
    return [0, 1, 2].map((n) => top[n] * alpha + ground[n] * (1 - alpha)).concat(1);
}

/** The relative luminance of WCAG 2.2. */
function luminance(colour) {
    const [r, g, b] = colour.slice(0, 3).map((part) => {
        const share = part / 255;
        return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** What an element stands on: the colours of its ancestors over one another. */
function ground(view, element, known) {
    if (known.has(element)) return known.get(element);
    const layers = [];
    for (let one = element; one; one = one.parentElement) {
        const colour = parts(view.getComputedStyle(one).backgroundColor);
        if (colour[3] > 0) layers.push(colour);
        if (colour[3] === 1) break;
    }
    const colour = layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255, 1]);
    known.set(element, colour);
    return colour;
}

/** Whether somebody can see an element. */
function isShown(view, element) {
    const style = view.getComputedStyle(element);
    const box = element.getBoundingClientRect();
    if (style.visibility === "hidden" || style.display === "none") return false;
    return box.width > 1 && box.height > 1;
}

/** Elements that hold text of their own. */
function withText(document) {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const found = new Set();
    while (walker.nextNode()) {
        const parent = walker.currentNode.parentElement;
        if (walker.currentNode.data.trim() && !parent.closest("script,style,noscript,title")) {
            found.add(parent);
        }
    }
    return found;
}

/** Texts whose contrast is too low. */
function contrasts(view) {
    const faults = new Map();
    const known = new Map();
    // Of elements that look alike by class, style and place, the first stands for all.
    const seen = new Set();
    for (const element of withText(view.document)) {
        const parent = element.parentElement;
        const look = [element, parent, parent?.parentElement].map(
            (one) => ["class", "style"].map((name) => one?.getAttribute(name)).concat(one?.tagName)
        ).join(" ");
        if (seen.has(look) || !isShown(view, element)) continue;
        seen.add(look);
        const style = view.getComputedStyle(element);
        const isDrawn = element instanceof view.SVGElement;
        const colour = parts(isDrawn ? style.fill : style.color);
        const below = ground(view, element, known);
        colour[3] *= Number(style.opacity);
        const [a, b] = [luminance(over(colour, below)), luminance(below)].sort((x, y) => y - x);
        const ratio = (a + 0.05) / (b + 0.05);
        const size = parseFloat(style.fontSize);
        const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
        if (ratio < (isLarge ? 3 : 4.5)) {
            const kind = `${element.tagName}.${element.getAttribute("class") ?? ""}`;
            const text = element.textContent.trim().slice(0, 40);
            faults.set(kind, `contrast ${ratio.toFixed(2)} of ${kind}: ${text}`);
        }
    }
    return [...faults.values()];
}

/** The accessible name of a control, as far as these pages need it. */
function nameOf(document, element) {
    const labelled = element.getAttribute("aria-labelledby");
    const label = element.id && document.querySelector(`label[for="${CSS.escape(element.id)}"]`);
    return (
        element.getAttribute("aria-label") ||
        (labelled && labelled.split(/\s+/)
            .map((id) => document.getElementById(id)?.textContent).join(" ")) ||
        label?.getAttribute?.("aria-label") || label?.textContent ||
        [...(element.labels || [])].map((one) => one.textContent).join(" ") ||
        element.textContent.trim() ||
        element.querySelector("img[alt]")?.alt ||
        element.getAttribute("title") || ""
    ).trim();
}

/** Controls without a name. */
function nameless(view) {
    const controls = view.document.querySelectorAll(
        "a[href],button,input:not([type=hidden]),select,textarea,[role=button],[role=img],iframe");
    return [...controls]
        .filter((one) => isShown(view, one) && !nameOf(view.document, one))
        .map((one) => `no name: ${one.outerHTML.slice(0, 100)}`);
}

/** What does not fit into the width of the window and cannot be scrolled to. */
function cut(view) {
    const faults = [];
    // mdBook lets the content scroll as a whole: then somebody must move it to read each line.
    const boxes = [view.document.documentElement, view.document.querySelector(".content")];
    for (const page of boxes.filter((box) => box && box.scrollWidth > box.clientWidth + 1)) {
        const wide = [...view.document.querySelectorAll("main *")].find(
            (one) => one.getBoundingClientRect().right > view.innerWidth + 1
                && !one.closest(".table-wrapper,pre,figure"));
        const what = wide?.outerHTML.slice(0, 100) ?? "?";
        faults.push(`the page is ${page.scrollWidth} wide: ${what}`);
    }
    for (const table of view.document.querySelectorAll("main table")) {
        const box = table.parentElement;
        const scrolls = ["auto", "scroll"].includes(view.getComputedStyle(box).overflowX);
        if (table.scrollWidth > box.clientWidth + 1 && !scrolls) faults.push("a table is cut off");
    }
    return faults;
}

/** Loads a page in the frame; its errors are faults. */
function load(frame, page, faults) {
    return new Promise((done) => {
        frame.onload = () => {
            frame.contentWindow.addEventListener(
                "error", (event) => faults.push(`${page}: ${event.message}`));
            setTimeout(done, 30);
        };
        frame.src = page;
    });
}

/** Whether the search of a page finds a word; it needs no server, only the index beside it. */
async function search(view, word) {
    const { document } = view;
    document.getElementById("mdbook-search-toggle").click();
    const field = document.getElementById("mdbook-searchbar");
    field.value = word;
    field.dispatchEvent(new view.KeyboardEvent("keyup", { bubbles: true }));
    field.dispatchEvent(new view.InputEvent("input", { bubbles: true }));
    // The index has some megabytes, and a busy machine takes its time with it.
    for (let tries = 0; tries < 900; tries += 1) {
        const found = document.querySelectorAll("#mdbook-searchresults li a");
        if ([...found].some((one) => one.textContent.includes(word))) return [];
        await new Promise((done) => { setTimeout(done, 100); });
    }
    return [`the search does not find \`${word}\``];
}

async function main() {
    const pages = await (await fetch("/pages")).json();
    const frame = document.createElement("iframe");
    frame.style.cssText = "border:0;height:2000px";
    document.body.append(frame);
    const faults = [];
    for (const page of pages) {
        frame.style.width = `${WIDTHS[0]}px`;
        await load(frame, page, faults);
        const view = frame.contentWindow;
        const root = view.document.documentElement;
        // Colours change at once, not over time.
        const still = view.document.createElement("style");
        still.textContent = "*{transition:none!important;animation:none!important}";
        view.document.head.append(still);
        for (const width of WIDTHS) {
            frame.style.width = `${width}px`;
            faults.push(...cut(view).map((fault) => `${page} at ${width}: ${fault}`));
        }
        for (const theme of THEMES) {
            root.classList.remove(...THEMES);
            root.classList.add(theme);
            faults.push(...contrasts(view).map((fault) => `${page} in ${theme}: ${fault}`));
        }
        faults.push(...nameless(view).map((fault) => `${page}: ${fault}`));
    }
    await load(frame, "/glossary.html", faults);
    faults.push(...await search(frame.contentWindow, "codel"));
    await fetch("/faults", { method: "POST", body: JSON.stringify(faults) });
}

main().catch((why) => fetch("/faults", { method: "POST", body: JSON.stringify([`${why.stack}`]) }));
