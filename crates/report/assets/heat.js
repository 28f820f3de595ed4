// A heat map that says the cell under the pointer.
const Heat = (() => {
  "use strict";
  const of = (figure) => {
    const table = figure.querySelector("table");
    const read = figure.querySelector("output");
    const heads = [...table.tHead.rows[0].cells];
    const dark = () => Dom.all("th.lit", table).forEach((head) => head.classList.remove("lit"));
    table.addEventListener("mouseover", (event) => {
      dark();
      const cell = event.target.closest("td");
      if (!cell || cell.dataset.v === undefined) { read.textContent = ""; return; }
      const row = cell.parentElement.cells[0];
      const column = heads[cell.cellIndex];
      row.classList.add("lit");
      column.classList.add("lit");
      const spread = cell.dataset.spread ? ` (${cell.dataset.spread})` : "";
      read.textContent = `${row.textContent} × ${column.textContent}: ${Numbers.show(Number(cell.dataset.v), 4)}${spread}`;
    });
    table.addEventListener("mouseleave", () => {
      dark();
      read.textContent = "";
    });
  };
  return { of };
})();
