// Where the non-finite elements lie: a whole row, one column, scattered. The pattern says why.
import { h, svg } from "./dom";
import type { BadMap, Finding, Tensor } from "./data";

const SIDE = 200; // of a side with many cells, in units of the drawing
const LARGEST = 24; // of a cell

interface Grid {
  rows: number[]; // elements in each row of cells
  columns: number[];
  depth: number; // elements above each other: the dimensions that were added up
}

// As scan/bad_map.cc divides a dimension.
function sizes(length: number, cells: number): number[] {
  const found = new Array<number>(cells).fill(0);
  for (let cell = 0; cell < cells; ++cell)
    found[cell] = Math.ceil(((cell + 1) * length) / cells) - Math.ceil((cell * length) / cells);
  return found;
}

function gridOf(tensor: Tensor, map: BadMap): Grid {
  const [height, width] = tensor.shape.length > 1 ? tensor.shape.slice(-2) : [1, tensor.shape[0]!];
  const depth = tensor.shape.slice(0, -2).reduce((a, b) => a * b, 1);
  return { rows: sizes(height!, map.rows), columns: sizes(width!, map.columns), depth };
}

// In words; only what is true of every element is called whole.
export function pattern(tensor: Tensor, map: BadMap): string {
  const grid = gridOf(tensor, map);
  const { rows, columns, cells } = map;
  const at = (r: number, c: number): number => cells[r * columns + c]!;
  const full = (r: number, c: number): boolean => at(r, c) === grid.rows[r]! * grid.columns[c]! * grid.depth;
  const range = (n: number): number[] => [...Array(n).keys()];
  const bad = cells.reduce((a, b) => a + b, 0);
  const numel = tensor.shape.reduce((a, b) => a * b, 1);
  if (bad === numel) return "everywhere";
  if (bad === 1) return "one element";
  const badRows = range(rows).filter((r) => range(columns).some((c) => at(r, c) > 0));
  const badColumns = range(columns).filter((c) => range(rows).some((r) => at(r, c) > 0));
  const exact = rows === grid.rows.reduce((a, b) => a + b, 0);
  const exactColumns = columns === grid.columns.reduce((a, b) => a + b, 0);
  const wholeRows = badRows.every((r) => range(columns).every((c) => full(r, c)));
  const wholeColumns = badColumns.every((c) => range(rows).every((r) => full(r, c)));
  const several = (n: number, counted: boolean, word: string): string =>
    counted ? (n === 1 ? `one whole ${word}` : `${n} whole ${word}s`) : `whole ${word}s`;
  if (rows > 1 && wholeRows) return several(badRows.length, exact, "row");
  if (rows > 1 && wholeColumns) return several(badColumns.length, exactColumns, "column");
  if (exact && rows > 1 && badRows.length === 1) return "in one row";
  if (exactColumns && rows > 1 && badColumns.length === 1) return "in one column";
  if (rows === columns && rows > 2 && range(rows).every((r) => range(columns).every((c) => (c > r ? full(r, c) : c < r ? at(r, c) === 0 : true))))
    return "above the diagonal";
  const share = (r: number, c: number): number => at(r, c) / (grid.rows[r]! * grid.columns[c]!);
  const even = range(rows).every((r) => range(columns).every((c) => share(r, c) === share(0, 0)));
  if (even && grid.depth > 1) return exact && exactColumns ? `at every place in ${at(0, 0)} of ${grid.depth}` : "evenly over the whole";
  const everywhere = badRows.length === rows && badColumns.length === columns;
  return everywhere ? "scattered over the whole" : "scattered";
}

// The element is the tensor's own where it has the shape of the failing output.
function firstFailing(tensor: Tensor, finding: Finding, map: BadMap): [number, number] | null {
  const index = finding.origin.indices[0];
  const shown = finding.outputs[finding.origin.output];
  const own = finding.outputs.length === 0 || (shown && String(shown.shape) === String(tensor.shape));
  if (!index || !own || index.length !== tensor.shape.length || index.length === 0) return null;
  const row = index.length > 1 ? index.at(-2)! : 0;
  const height = index.length > 1 ? tensor.shape.at(-2)! : 1;
  return [Math.floor((row * map.rows) / height), Math.floor((index.at(-1)! * map.columns) / tensor.shape.at(-1)!)];
}

export function badMap(tensor: Tensor, finding: Finding, name: string): HTMLElement | null {
  const map = tensor.bad_map;
  if (!map || map.cells.length === 0) return null;
  const grid = gridOf(tensor, map);
  const cell = Math.min(SIDE / map.columns, LARGEST);
  const tall = Math.min(SIDE / map.rows, LARGEST);
  const [width, height] = [cell * map.columns, tall * map.rows];
  const rects: SVGElement[] = [];
  for (let r = 0; r < map.rows; ++r) {
    for (let c = 0; c < map.columns; ++c) {
      const amount = map.cells[r * map.columns + c]!;
      if (amount === 0) continue;
      const share = amount / (grid.rows[r]! * grid.columns[c]! * grid.depth);
      let end = c + 1; // cells side by side that look the same are one rectangle
      while (end < map.columns && map.cells[r * map.columns + end] === amount && grid.columns[end] === grid.columns[c]) ++end;
      rects.push(svg("rect", { class: "bad-cell", x: c * cell, y: r * tall, width: (end - c) * cell, height: tall, "fill-opacity": (0.35 + 0.65 * share).toFixed(2) }));
      c = end - 1;
    }
  }
  const first = firstFailing(tensor, finding, map);
  const words = pattern(tensor, map);
  const bad = tensor.nan + tensor.pos_inf + tensor.neg_inf;
  const dims = tensor.shape.length > 2 ? `, its first ${tensor.shape.length === 3 ? "dimension" : `${tensor.shape.length - 2} dimensions`} added up` : "";
  return h(
    "figure",
    { class: "bad-map", "data-bad": map.cells.reduce((a, b) => a + b, 0) },
    svg(
      "svg",
      { viewBox: `-1 -1 ${width + 2} ${height + 2}`, width: width + 2, height: height + 2, role: "img", "aria-label": `Map of the ${bad} non-finite elements of ${name}: ${words}` },
      svg("rect", { class: "field", x: 0, y: 0, width, height }),
      ...rects,
      first && svg("rect", { class: "first-bad", x: first[1] * cell - 1, y: first[0] * tall - 1, width: cell + 2, height: tall + 2 }),
    ),
    h("figcaption", { class: "quiet" }, h("span", {}, h("strong", {}, words.charAt(0).toUpperCase() + words.slice(1)), `${dims}${first ? "; the first is framed" : ""}.`)),
  );
}
