import { beginningOf } from "../../kernel/text/character-start.ts";
import type { WebPage } from "../../upstreams/web-search/fetch-page.ts";

/** Parses HTML incrementally into text blocks under their headings. Throws if the HTML cannot be read. */
export interface PageReader {
  push(piece: string): void;
  end(): readonly { readonly headings: readonly string[]; readonly blocks: readonly string[] }[];
}

/** Reads a PDF document into the same sections. A string is the reason why it cannot be read. */
export type PdfReader = (content: Uint8Array, tenantId: string) => Promise<ReturnType<PageReader["end"]> | string>;

/** Readers for pages that are not plain text. */
export interface PageReaders {
  readonly reader: () => PageReader;
  readonly readPdf: PdfReader;
}

/** A page reduced to its visible title and text; `addresses` are those visited, redirects included, the final one last. */
export interface ReadPage {
  readonly addresses: readonly URL[];
  readonly title: string;
  readonly text: string;
}

/** In characters. */
const MAX_PAGE_LENGTH = 500_000;
const PIECE = 32 * 1024;

/** Extracts the text of a page. A string is the reason why it cannot be read. */
export async function readablePage(
  { addresses, type, charset, bytes }: WebPage,
  { reader, readPdf }: PageReaders,
  tenantId: string,
): Promise<ReadPage | string> {
  if (type === "application/pdf") {
    const sections = await readPdf(bytes, tenantId);
    return typeof sections === "string" ? sections : { addresses, title: "", text: written(sections) };
  }
  const raw = decoded(bytes, charset);
  if (!type.includes("html")) return { addresses, title: "", text: beginningOf(raw, MAX_PAGE_LENGTH) };
  const parser = reader();
  try {
    for (let at = 0; at < raw.length; at += PIECE) {
      parser.push(raw.slice(at, at + PIECE));
      // Yield to the event loop while a large page is parsed.
      if (at > 0) await new Promise((go) => setImmediate(go));
    }
    return { addresses, title: titleOf(raw), text: written(parser.end()) };
  } catch {
    return "Its HTML cannot be read.";
  }
}

function decoded(bytes: Uint8Array, charset: string | null): string {
  const named = charset ?? /<meta[^>]{0,200}charset\s*=\s*["']?([\w.:-]{1,40})/i.exec(latin(bytes.subarray(0, 2_048)))?.[1] ?? "utf-8";
  try {
    return new TextDecoder(named).decode(bytes).replaceAll("\0", "");
  } catch {
    return new TextDecoder().decode(bytes).replaceAll("\0", "");
  }
}

const latin = (bytes: Uint8Array) => new TextDecoder("latin1").decode(bytes);

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };

function titleOf(html: string): string {
  const found = /<title[^>]{0,200}>([^<]{0,1000})<\/title>/i.exec(html.slice(0, 200_000))?.[1] ?? "";
  const title = found
    .replaceAll(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => ENTITIES[name] ?? "")
    .replaceAll(/\s+/g, " ")
    .trim();
  return beginningOf(title, 300);
}

function written(sections: ReturnType<PageReader["end"]>): string {
  const parts: string[] = [];
  let above: readonly string[] = [];
  let length = 0;
  for (const { headings, blocks } of sections) {
    const lines = [
      ...headings.flatMap((heading, level) => (above[level] === heading ? [] : [`${"#".repeat(level + 1)} ${heading}`])),
      ...blocks,
    ];
    above = headings;
    for (const line of lines) {
      if (length > MAX_PAGE_LENGTH) return beginningOf(parts.join("\n\n"), MAX_PAGE_LENGTH);
      parts.push(line);
      length += line.length;
    }
  }
  return beginningOf(parts.join("\n\n"), MAX_PAGE_LENGTH);
}
