import { expect, test } from "bun:test";
import { cpuMs } from "../../../../tests/support/processes/cpu-time.ts";
import { readHtml } from "./read-html.ts";

const wordsOf = (html: string) => readHtml(html).flatMap(({ blocks }) => blocks);

test.each([
  "display:none",
  "DISPLAY : none !important",
  "dis/* */play:none",
  "visibility:hidden",
  "visibility: collapse",
  "font-size:0",
  "font-size: 0.0px",
  "text-indent:-9999px",
  "position:absolute;left:-10000px",
  "top: -999em; position: fixed",
  "position:absolute;clip:rect(0 0 0 0)",
  "position:absolute;clip:rect(1px,1px,1px,1px)",
  "clip-path:inset(50%)",
  "clip-path: inset(100%)",
  "color:transparent",
])("content hidden from people by style=%p is not read, nor are its children", (style) => {
  expect(wordsOf(`<p>seen</p><div style="${style}">hidden<p>deep</p></div><p>seen too</p>`)).toEqual(["seen", "seen too"]);
});

test.each([
  "display:block",
  "font-size:0.5em",
  "font-size:0.05rem",
  "opacity:0;transform:translateY(20px)",
  "position:absolute;left:-10px",
  "position:relative;left:-1000px",
  "margin-left:-1000px;position:absolute",
  "clip-path:inset(10%)",
  "background-color:transparent",
  "color:transparent;background-clip:text",
  "color:transparent;-webkit-background-clip:text",
  "text-indent:-20px",
])("content that people see with style=%p is read", (style) => {
  expect(wordsOf(`<p style="${style}">seen</p>`)).toEqual(["seen"]);
});

test("styles of any length are read quickly", () => {
  for (const part of [
    "/*",
    "display ",
    "color:",
    "position:absolute;left:",
    "font-size:",
    "0",
    "a",
    "font-size:000",
    "0.",
    "clip-path:inset(5",
  ])
    for (const begin of ["", "font-size:", "position:absolute;left:-", "clip-path:circle("]) {
      const from = cpuMs();
      expect(wordsOf(`<p style="${begin}${part.repeat(100_000)}1;">seen</p>`).length).toBeLessThan(2);
      expect([begin, part, cpuMs() - from < 500]).toEqual([begin, part, true]);
    }
});
