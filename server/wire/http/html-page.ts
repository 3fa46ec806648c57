import { hash } from "node:crypto";

const STYLE =
  ":root{color-scheme:light dark}body{font:16px/1.5 " +
  "system-ui,sans-serif;margin:0;background:#f4f5f7;color:#1b1f24}main{max-width:30rem;margin:8vh " +
  "auto;padding:2rem;background:#fff;border-radius:12px;box-shadow:0 1px 4px " +
  "#0002;overflow-wrap:anywhere}h1{font-size:1.3rem;margin:0 0 " +
  "1rem}ul{padding-left:1.2rem}pre{white-space:pre-wrap}code{background:#eef;padding:0 .3em;border-radius:4px}label{display:block;margin:1rem 0 " +
  ".3rem}input{width:100%;box-sizing:border-box;padding:.5rem;font:inherit}button{font:inherit;padding:.5rem " +
  "1.2rem;margin:1rem .5rem 0 0;border-radius:8px;border:1px solid " +
  "#888;background:#fff}button.main{background:#1a5fb4;color:#fff;border-color:#1a5fb4}p.problem{color:#a51d2d;font-weigh" +
  "t:600}@media(prefers-color-scheme:dark){body{background:#16181c;color:#e8e8e8}main{background:#22252b}code{background:" +
  "#334}button{background:#333;color:#eee}p.problem{color:#ff9d9d}}";

/** Headers for HTML pages: no external resources, no scripts, no framing, no referrer. */
export const PAGE_HEADERS: Record<string, string> = {
  "content-type": "text/html; charset=utf-8",
  "cache-control": "no-store",
  "content-security-policy": `default-src 'none'; style-src 'sha256-${hash("sha256", STYLE, "base64")}'; base-uri 'none'; frame-ancestors 'none'`,
  "x-frame-options": "DENY",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
};

/** A complete page; `body` is HTML. With `renewSeconds`, the page reloads after that time. */
export function page(title: string, body: string, renewSeconds: number | null = null): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">${renewSeconds === null ? "" : `<meta http-equiv="refresh" content="${renewSeconds}">`}<title>${escaped(title)}</title><style>${STYLE}</style></head><body><main><h1>${escaped(title)}</h1>${body}</main></body></html>`;
}

/** Escapes a text for HTML. */
export function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;").replaceAll("'", "&#39;");
}

export function plainPage(title: string, text: string): string {
  return page(title, `<p>${escaped(text)}</p>`);
}
