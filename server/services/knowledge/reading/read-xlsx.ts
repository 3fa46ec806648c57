import { type Section, Sections, UnreadableDocument } from "./document-text.ts";
import { readXml, relationsOf } from "./xml-part.ts";
import { ZipParts } from "./zip-parts.ts";

const MAIN = "xl/workbook.xml";
const MAX_CELLS = 1_000_000;
/** Spreadsheet programs accept no longer number format code. */
const MAX_FORMAT_LENGTH = 255;
const DAY_MS = 86_400_000;
/** Serial day 0, adjusted for 29 February 1900, which spreadsheets count although it never existed. */
const DAY_ZERO = Date.UTC(1899, 11, 30);

/** Reads visible sheets, rows and columns. The first row of each sheet labels the cells of the others. */
export async function readXlsx(content: Uint8Array): Promise<readonly Section[]> {
  const parts = await ZipParts.open(content);
  const [strings, dates] = [await sharedStrings(parts), await dateStyles(parts)];
  const relations = await relationsOf(parts, MAIN);
  const sheets: { name: string; part: string }[] = [];
  await readXml(parts, MAIN, {
    open(element, { name, state, ["r:id"]: id = "" }) {
      const part = relations.get(id)?.target;
      if (element === "sheet" && part !== undefined && (state === undefined || state === "visible"))
        sheets.push({ name: name ?? "", part });
    },
  });
  const sections = new Sections();
  let cells = 0;
  for (const { name, part } of sheets) {
    sections.heading(1, name);
    let names: string[] | null = null;
    const alone = await rowsOf(parts, part, { strings, dates }, (row) => {
      cells += row.length;
      if (cells > MAX_CELLS) throw new UnreadableDocument(`It has more than ${MAX_CELLS} cells.`);
      if (names === null) names = row;
      else sections.block(rowTexts(names, row));
    });
    if (alone === 1 && names !== null) sections.block((names as string[]).filter((cell) => cell !== "").join(", "));
  }
  return sections.close();
}

const rowTexts = (names: readonly string[], row: readonly string[]) =>
  row.flatMap((cell, i) => (cell === "" ? [] : [`${names[i] || `column ${i + 1}`}: ${cell}`])).join("; ");

const isSet = (value: string | undefined) => value === "1" || value === "true";

interface CellMeanings {
  readonly strings: readonly string[];
  /** Indexes of cell styles that format a number as a date. */
  readonly dates: ReadonlySet<number>;
}

/** Calls `take` for each row with content; returns the number of such rows. */
async function rowsOf(parts: ZipParts, part: string, meanings: CellMeanings, take: (row: string[]) => void): Promise<number> {
  let [row, rows, value, takes] = [[] as string[], 0, "", false];
  let cell = { column: 0, type: "", style: -1 };
  let rowHidden = false;
  const hiddenColumns: { readonly from: number; readonly to: number }[] = [];
  await readXml(parts, part, {
    open(name, { r = "", t = "", s, hidden, min, max }) {
      if (name === "row") [row, rowHidden] = [[], isSet(hidden)];
      else if (name === "col" && isSet(hidden)) hiddenColumns.push({ from: Number(min) - 1, to: Number(max) - 1 });
      else if (name === "c") [cell, value] = [{ column: columnOf(r) ?? row.length, type: t, style: Number(s ?? -1) }, ""];
      else if (name === "v" || name === "t") takes = true;
    },
    text(text) {
      if (takes) value += text;
    },
    close(name) {
      if (name === "v" || name === "t") takes = false;
      else if (name === "c" && value.trim() !== "") {
        // Ignore columns beyond the format's maximum: padding up to them would exhaust memory.
        if (cell.column > 16_384 || rowHidden || hiddenColumns.some(({ from, to }) => from <= cell.column && cell.column <= to)) return;
        while (row.length < cell.column) row.push("");
        row[cell.column] = meaningOf(cell, value, meanings);
      } else if (name === "row" && row.some((each) => each !== "")) {
        rows++;
        take(row);
      }
    },
  });
  return rows;
}

function meaningOf({ type, style }: { type: string; style: number }, value: string, { strings, dates }: CellMeanings): string {
  if (type === "s") return (strings[Number(value)] ?? "").trim();
  if (type === "b") return value === "1" ? "true" : "false";
  if (type !== "" && type !== "n") return value.trim();
  const number = Number(value);
  if (!dates.has(style) || !Number.isFinite(number) || number < 1 || number > 2_958_465) return value.trim();
  const at = new Date(DAY_ZERO + Math.round(number * DAY_MS)).toISOString();
  return Number.isInteger(number) ? at.slice(0, 10) : at.slice(0, 16).replace("T", " ");
}

/** Column index of a cell reference: "B7" is 1. */
function columnOf(reference: string): number | null {
  const letters = /^[A-Z]{1,3}/.exec(reference)?.[0];
  if (letters === undefined) return null;
  let column = 0;
  for (const letter of letters) column = column * 26 + letter.charCodeAt(0) - 64;
  return column - 1;
}

async function sharedStrings(parts: ZipParts): Promise<string[]> {
  const strings: string[] = [];
  let [words, takes, phonetic] = ["", false, false];
  await readXml(parts, "xl/sharedStrings.xml", {
    open(name) {
      if (name === "si") words = "";
      else if (name === "rPh") phonetic = true;
      else if (name === "t") takes = true;
    },
    text(text) {
      if (takes && !phonetic) words += text;
    },
    close(name) {
      if (name === "t") takes = false;
      else if (name === "rPh") phonetic = false;
      else if (name === "si" && strings.push(words) > MAX_CELLS) throw new UnreadableDocument(`It has more than ${MAX_CELLS} texts.`);
    },
  });
  return strings;
}

async function dateStyles(parts: ZipParts): Promise<Set<number>> {
  const own = new Map<number, string>();
  const dates = new Set<number>();
  let [inCells, style] = [false, 0];
  await readXml(parts, "xl/styles.xml", {
    open(name, { numFmtId = "", formatCode = "" }) {
      if (name === "numFmt") own.set(Number(numFmtId), formatCode.slice(0, MAX_FORMAT_LENGTH));
      else if (name === "cellXfs") inCells = true;
      else if (name === "xf" && inCells) {
        const id = Number(numFmtId);
        const code = (own.get(id) ?? "").replaceAll(/"[^"]*"|\[[^\]]*\]|\\./g, "");
        if ((id >= 14 && id <= 22) || (id >= 45 && id <= 47) || /[yd]/i.test(code)) dates.add(style);
        style++;
      }
    },
    close(name) {
      if (name === "cellXfs") inCells = false;
    },
  });
  return dates;
}
