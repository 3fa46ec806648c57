import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { concat } from "./adjoining-bytes.ts";
import { frameData } from "./sse-data.ts";
import { FrameTooLarge } from "./stream-bounds.ts";
import { FrameCutter } from "./sse-frames.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

describe("cutting a stream into frames", () => {
  test("ends a frame at its blank line, with any line ending and however the bytes arrive", () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.string({ unit: "grapheme" }).map((text) => text.replace(/[\r\n]/g, "")),
          { minLength: 1 },
        ),
        fc.constantFrom("\n", "\r\n", "\r"),
        fc.array(fc.nat(40)),
        (texts, eol, cuts) => {
          const bytes = encoder.encode(texts.map((text) => `data: ${text}${eol}${eol}`).join(""));
          const cutter = new FrameCutter();
          const frames: Uint8Array[] = [];
          let at = 0;
          for (const cut of [...cuts, bytes.length]) {
            frames.push(...cutter.push(bytes.subarray(at, Math.min(at + cut, bytes.length))).map((frame) => frame.slice()));
            at = Math.min(at + cut, bytes.length);
          }
          const rest = cutter.rest();
          expect(decoder.decode(concat([...frames, rest]))).toBe(decoder.decode(bytes));
          const whole = rest.byteLength > 0 ? [...frames, rest] : frames;
          // Consecutive events without data may arrive as one frame.
          const said = whole.map((frame) => frameData(decoder.decode(frame))).filter((data) => data?.trim() !== "");
          expect(said).toEqual(texts.filter((text) => text.trim() !== ""));
        },
      ),
      { numRuns: 1000 },
    );
  });

  test("returns a frame as soon as its blank line arrived", () => {
    for (const eol of ["\n", "\r\n", "\r"]) {
      const frame = `event: x${eol}data: a${eol}${eol}`;
      expect(new FrameCutter().push(encoder.encode(frame)).map((cut) => decoder.decode(cut))).toEqual([frame]);
    }
  });

  test("joins the data lines of one event and ignores comments", () => {
    expect(frameData(": hello\nevent: x\ndata: a\ndata:b\n\n")).toBe("a\nb");
    expect(frameData(": keep-alive\n\n")).toBeNull();
  });

  test("refuses an event that is too large", () => {
    const cutter = new FrameCutter();
    const piece = new Uint8Array(1024 * 1024).fill(65);
    expect(() => {
      for (let i = 0; i < 17; i++) cutter.push(piece);
    }).toThrow(FrameTooLarge);
  });
});
