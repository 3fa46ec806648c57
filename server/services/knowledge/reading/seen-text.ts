import type { PDFiumPage } from "@hyzyla/pdfium";

/** The PDFium functions that tell how a character is drawn. */
const FUNCTIONS = [
  "FPDF_GetPageBoundingBox",
  "FPDFPage_CountObjects",
  "FPDFPage_GetObject",
  "FPDFFormObj_CountObjects",
  "FPDFFormObj_GetObject",
  "FPDFPageObj_GetType",
  "FPDFPageObj_GetBounds",
  "FPDFPageObj_GetFillColor",
  "FPDFText_LoadPage",
  "FPDFText_ClosePage",
  "FPDFText_CountChars",
  "FPDFText_IsGenerated",
  "FPDFText_GetTextObject",
  "FPDFText_GetCharBox",
  "FPDFText_GetFontSize",
  "FPDFText_GetMatrix",
  "FPDFText_GetText",
  "FPDFTextObj_GetTextRenderMode",
] as const;
type PdfiumFunction = (...numbers: number[]) => number;
type PdfiumFunctions = Readonly<Record<(typeof FUNCTIONS)[number], PdfiumFunction>>;

/** The library exposes all of PDFium but declares types only for what it uses itself. */
interface PdfiumModule extends Readonly<Record<`_${string}`, PdfiumFunction>> {
  readonly HEAPU8: Uint8Array<ArrayBuffer>;
  readonly wasmExports: { malloc(bytes: number): number; free(at: number): void };
}

interface Box {
  readonly left: number;
  readonly right: number;
  readonly bottom: number;
  readonly top: number;
}

const [IMAGE, FORM] = [3, 5];
const [FILLED, UNSEEN_MODE] = [0, 3];
const MAX_FORM_DEPTH = 8;
const SCRATCH_BYTES = 64;
/** Characters smaller than this fraction of the page's longer side (about 0.2 points on a letter page) are unreadable. */
const TINY = 1 / 4_000;
/** If images cover this share of a page, its invisible text may be their OCR layer. */
const PICTURE_SHARE = 0.5;

const SEEN = 0;
/** Invisible but positioned on the page, as an OCR layer is. */
const UNSEEN = 1;
/** Off the page, or too small to read. */
const AWAY = 2;

/**
 * The visible text of a page. Text off the page or too small to read is left out, and so is invisible text, unless it is the OCR layer of a
 * scanned page.
 */
export function seenText(page: PDFiumPage): string {
  const { module, pageIdx } = page as unknown as { module: PdfiumModule; pageIdx: number };
  const pdfium = Object.fromEntries(FUNCTIONS.map((name) => [name, module[`_${name}`]])) as PdfiumFunctions;
  const text = pdfium.FPDFText_LoadPage(pageIdx);
  if (text === 0) throw new Error("the text of a page cannot be read");
  const scratch = module.wasmExports.malloc(SCRATCH_BYTES);
  try {
    return textOf({ module, pdfium, page: pageIdx, text, scratch });
  } finally {
    module.wasmExports.free(scratch);
    pdfium.FPDFText_ClosePage(text);
  }
}

interface OpenPage {
  readonly module: PdfiumModule;
  readonly pdfium: PdfiumFunctions;
  readonly page: number;
  readonly text: number;
  readonly scratch: number;
}

function textOf(open: OpenPage): string {
  const count = open.pdfium.FPDFText_CountChars(open.text);
  const bounds = pageBox(open);
  const modes = new Map<number, boolean>();
  const drawn = new Uint8Array(Math.max(0, count));
  let [seen, unseen] = [0, 0];
  for (let index = 0; index < count; index++) {
    // Spaces and line ends that PDFium inserts between drawn characters.
    if (open.pdfium.FPDFText_IsGenerated(open.text, index) === 1) continue;
    const how = drawnAs(open, index, bounds, modes);
    drawn[index] = how;
    if (how === SEEN) seen++;
    else if (how === UNSEEN) unseen++;
  }
  const scanned = unseen > seen && pictureShare(open, bounds) >= PICTURE_SHARE;
  const taken = (index: number) => drawn[index] === SEEN || (scanned && drawn[index] === UNSEEN);
  let words = "";
  for (let from = 0; from < count;) {
    let to = from;
    while (to < count && taken(to)) to++;
    if (to > from) words += stretch(open, from, to - from);
    from = to + 1;
  }
  return words;
}

function drawnAs(open: OpenPage, index: number, page: Box, modes: Map<number, boolean>): number {
  const { pdfium, text, scratch } = open;
  if (pdfium.FPDFText_GetCharBox(text, index, scratch, scratch + 8, scratch + 16, scratch + 24) === 1) {
    const [left, right, bottom, top] = doubles(open);
    if (right < page.left || left > page.right || top < page.bottom || bottom > page.top) return AWAY;
    const tiny = Math.max(page.right - page.left, page.top - page.bottom) * TINY;
    // A glyph missing from its font has an empty box, so the size decides as well.
    if (Math.max(right - left, top - bottom) < tiny && sizeOf(open, index) < tiny) return AWAY;
  }
  const object = pdfium.FPDFText_GetTextObject(text, index);
  if (object === 0) return SEEN;
  let without = modes.get(object);
  if (without === undefined) modes.set(object, (without = isWithoutTrace(open, object)));
  return without ? UNSEEN : SEEN;
}

function isWithoutTrace(open: OpenPage, object: number): boolean {
  const { module, pdfium, scratch } = open;
  const mode = pdfium.FPDFTextObj_GetTextRenderMode(object);
  if (mode !== FILLED) return mode === UNSEEN_MODE;
  return (
    pdfium.FPDFPageObj_GetFillColor(object, scratch, scratch + 4, scratch + 8, scratch + 12) === 1 &&
    new DataView(module.HEAPU8.buffer).getUint32(scratch + 12, true) === 0
  );
}

/** The effective size of a character on the page: its font size scaled by its matrix. */
function sizeOf(open: OpenPage, index: number): number {
  const { pdfium, text, scratch } = open;
  if (pdfium.FPDFText_GetMatrix(text, index, scratch) !== 1) return Infinity;
  const [a, b, c, d] = floats(open);
  return pdfium.FPDFText_GetFontSize(text, index) * Math.max(Math.hypot(a, b), Math.hypot(c, d));
}

function pageBox(open: OpenPage): Box {
  if (open.pdfium.FPDF_GetPageBoundingBox(open.page, open.scratch) !== 1)
    return { left: -Infinity, right: Infinity, bottom: -Infinity, top: Infinity };
  const [left, top, right, bottom] = floats(open);
  return { left, right, bottom, top };
}

/** Share of the page covered by images; overlapping areas count more than once. */
function pictureShare(open: OpenPage, page: Box): number {
  const { pdfium, scratch } = open;
  let area = 0;
  for (let index = pdfium.FPDFPage_CountObjects(open.page) - 1; index >= 0; index--) {
    const object = pdfium.FPDFPage_GetObject(open.page, index);
    if (!isPicture(pdfium, object, MAX_FORM_DEPTH)) continue;
    if (pdfium.FPDFPageObj_GetBounds(object, scratch, scratch + 4, scratch + 8, scratch + 12) !== 1) continue;
    const [left, bottom, right, top] = floats(open);
    const width = Math.min(right, page.right) - Math.max(left, page.left);
    const height = Math.min(top, page.top) - Math.max(bottom, page.bottom);
    if (width > 0 && height > 0) area += width * height;
  }
  return area / ((page.right - page.left) * (page.top - page.bottom));
}

function isPicture(pdfium: PdfiumFunctions, object: number, deep: number): boolean {
  const type = pdfium.FPDFPageObj_GetType(object);
  if (type !== FORM || deep === 0) return type === IMAGE;
  for (let index = pdfium.FPDFFormObj_CountObjects(object) - 1; index >= 0; index--)
    if (isPicture(pdfium, pdfium.FPDFFormObj_GetObject(object, index), deep - 1)) return true;
  return false;
}

function stretch({ module, pdfium, text }: OpenPage, from: number, count: number): string {
  const into = module.wasmExports.malloc((count + 1) * 2);
  try {
    const units = pdfium.FPDFText_GetText(text, from, count, into) - 1;
    return units <= 0 ? "" : new TextDecoder("utf-16le").decode(module.HEAPU8.subarray(into, into + units * 2));
  } finally {
    module.wasmExports.free(into);
  }
}

type Four = readonly [number, number, number, number];

// The view is created on each call, because the WASM memory's buffer is replaced whenever it grows.
function floats({ module, scratch }: OpenPage): Four {
  const view = new DataView(module.HEAPU8.buffer, scratch);
  return [view.getFloat32(0, true), view.getFloat32(4, true), view.getFloat32(8, true), view.getFloat32(12, true)];
}

function doubles({ module, scratch }: OpenPage): Four {
  const view = new DataView(module.HEAPU8.buffer, scratch);
  return [view.getFloat64(0, true), view.getFloat64(8, true), view.getFloat64(16, true), view.getFloat64(24, true)];
}
