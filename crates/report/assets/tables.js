// Tables that sort by a click on a heading, and boxes that say where more of a table is.
const Tables = (() => {
  "use strict";
  // What is wider than its box says so on the side where there is more.
  const cue = (box) => {
    const words = Dom.make("p", "cue", "Scroll sideways for more columns.");
    box.after(words);
    const look = () => {
      const more = box.scrollWidth - box.clientWidth;
      box.classList.toggle("more-left", box.scrollLeft > 1);
      box.classList.toggle("more-right", box.scrollLeft < more - 1);
      words.hidden = more <= 1;
      box.style.setProperty("--bar", `${box.offsetWidth - box.clientWidth - box.clientLeft}px`);
      box.style.setProperty("--foot", `${box.offsetHeight - box.clientHeight}px`);
    };
    box.addEventListener("scroll", look, { passive: true });
    new ResizeObserver(look).observe(box);
    look();
  };

  const keyOf = (row, at) => {
    const cell = row.cells[at];
    return cell.dataset.v === undefined ? cell.textContent.trim() : Number(cell.dataset.v);
  };
  const sortable = (table) => {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, at) => {
      const button = Dom.button("", "", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const isBlank = (key) => key === "" || key === "–";
        const rows = [...table.tBodies[0].rows].map((row) => ({ row, key: keyOf(row, at) }));
        rows.sort((a, b) => {
          if (isBlank(a.key) || isBlank(b.key)) return isBlank(a.key) - isBlank(b.key);
          const both = typeof a.key === "number" && typeof b.key === "number";
          const order = both ? a.key - b.key : String(a.key).localeCompare(String(b.key), "en", { numeric: true });
          return down ? -order : order;
        });
        table.tBodies[0].append(...rows.map(({ row }) => row));
      });
      button.append(...head.childNodes);
      head.append(button);
    });
  };
  return { cue, sortable };
})();
