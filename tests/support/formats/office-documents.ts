import { strToU8, zipSync } from "fflate";

const RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const relations = (entries: readonly (readonly [id: string, type: string, target: string])[]) =>
  `<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${entries
    .map(([id, type, target]) => `<Relationship Id="${id}" Type="${RELATIONS}/${type}" Target="${target}"/>`)
    .join("")}</Relationships>`;

export const zipped = (parts: Record<string, string>): Uint8Array =>
  zipSync(Object.fromEntries(Object.entries(parts).map(([name, text]) => [name, strToU8(text)])));

const W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';
export const docxStyles = `<w:styles ${W}><w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style><w:style w:styleId="h2"><w:name w:val="heading 2"/></w:style></w:styles>`;

export function docx(body: string, more: Record<string, string> = {}): Uint8Array {
  return zipped({ "word/document.xml": `<w:document ${W}><w:body>${body}</w:body></w:document>`, "word/styles.xml": docxStyles, ...more });
}

export const paragraph = (text: string, style = "", run = "") =>
  `<w:p>${style === "" ? "" : `<w:pPr><w:pStyle w:val="${style}"/></w:pPr>`}<w:r>${run}<w:t xml:space="preserve">${text}</w:t></w:r></w:p>`;

export function xlsx(
  sheets: readonly { name: string; xml: string; state?: string }[],
  strings: readonly string[],
  styles = "",
): Uint8Array {
  return zipped({
    "xl/workbook.xml": `<workbook xmlns:r="${RELATIONS}"><sheets>${sheets
      .map(
        ({ name, state }, i) => `<sheet name="${name}" sheetId="${i + 1}" r:id="r${i}"${state === undefined ? "" : ` state="${state}"`}/>`,
      )
      .join("")}</sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": relations(sheets.map((_, i) => [`r${i}`, "worksheet", `worksheets/sheet${i}.xml`] as const)),
    "xl/sharedStrings.xml": `<sst>${strings.map((text) => `<si><t>${text}</t></si>`).join("")}</sst>`,
    "xl/styles.xml": `<styleSheet><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/>${styles}</cellXfs></styleSheet>`,
    ...Object.fromEntries(sheets.map(({ xml }, i) => [`xl/worksheets/sheet${i}.xml`, `<worksheet>${xml}</worksheet>`])),
  });
}

export function pptx(slides: readonly { title: string; body: string; notes?: string; hidden?: boolean }[]): Uint8Array {
  const shape = (text: string, type: string) =>
    `<p:sp><p:nvSpPr><p:nvPr>${type === "" ? "" : `<p:ph type="${type}"/>`}</p:nvPr></p:nvSpPr><p:txBody><a:p><a:r><a:t>${text}</a:t></a:r></a:p></p:txBody></p:sp>`;
  const parts: Record<string, string> = {
    "ppt/presentation.xml": `<p:presentation><p:sldIdLst>${slides.map((_, i) => `<p:sldId id="${256 + i}" r:id="r${i}"/>`).join("")}</p:sldIdLst></p:presentation>`,
    // The display order differs from the numbering of the parts.
    "ppt/_rels/presentation.xml.rels": relations(slides.map((_, i) => [`r${i}`, "slide", `slides/slide${slides.length - i}.xml`] as const)),
  };
  for (const [i, { title, body, notes, hidden }] of slides.entries()) {
    const number = slides.length - i;
    parts[`ppt/slides/slide${number}.xml`] =
      `<p:sld${hidden === true ? ' show="0"' : ""}>${shape(title, "title")}${shape(body, "")}</p:sld>`;
    if (notes === undefined) continue;
    parts[`ppt/slides/_rels/slide${number}.xml.rels`] = relations([["n", "notesSlide", `../notesSlides/notesSlide${number}.xml`]]);
    parts[`ppt/notesSlides/notesSlide${number}.xml`] = `<p:notes>${shape(notes, "body")}</p:notes>`;
  }
  return zipped(parts);
}

/** A PDF document with one text per page. `loop`: its page tree contains itself. */
export function pdf(pages: readonly string[], { loop = false }: { readonly loop?: boolean } = {}): Uint8Array {
  return pdfOf([
    "<< /Type /Catalog /Pages 2 0 R >>",
    `<< /Type /Pages /Count ${pages.length + (loop ? 1000 : 0)} /Kids [${pages.map((_, i) => `${4 + i * 2} 0 R`).join(" ")}${loop ? " 2 0 R" : ""}] >>`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ...pages.flatMap((text, i) => {
      const stream = text === "" ? "" : words(text);
      return [
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Contents ${5 + i * 2} 0 R >>`,
        `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`,
      ];
    }),
  ]);
}

/** A content stream that shows text. `how`: operators that precede it. */
export const words = (text: string, { at = "72 720", size = 12, how = "" } = {}) => `BT /F1 ${size} Tf ${how} ${at} Td (${text}) Tj ET `;

/** A one-page PDF document drawn by these operators, with a visible area of 612 by 792 and an image named /Picture. */
export function drawnPdf(stream: string): Uint8Array {
  return pdfOf([
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Count 1 /Kids [4 0 R] >>",
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    "<< /Type /Page /Parent 2 0 R /MediaBox [-500 -500 2000 2000] /CropBox [0 0 612 792] /Contents 5 0 R /Resources << /Font << /F1 3 0 R >> /XObject << /Picture 6 0 R /Form 7 0 R >> /ExtGState << /Clear << /ca 0 >> >> >> >>",
    `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`,
    "<< /Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8 /Length 1 >>\nstream\nx\nendstream",
    "<< /Type /XObject /Subtype /Form /BBox [0 0 1 1] /Resources << /XObject << /Picture 6 0 R >> >> /Length 11 >>\nstream\n/Picture Do\nendstream",
  ]);
}

function pdfOf(objects: readonly string[]): Uint8Array {
  const pieces = ["%PDF-1.4\n"];
  let at = pieces[0]?.length ?? 0;
  const offsets: number[] = [];
  for (const [i, object] of objects.entries()) {
    const piece = `${i + 1} 0 obj\n${object}\nendobj\n`;
    offsets.push(at);
    at += piece.length;
    pieces.push(piece);
  }
  const table = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  pieces.push(`xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}`);
  pieces.push(`trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${at}\n%%EOF\n`);
  return new Uint8Array(Buffer.from(pieces.join(""), "latin1"));
}
