import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type FrameReader, lengthUnder, PassingFrames } from "./passing-frames.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const plain = (text: string) => `data: {"content":${JSON.stringify(text)}}\n\n`;
const TELLING = 'data: {"telling":1}\n\n';

/** Records which frames were read, and passes all except the telling ones. */
function reader() {
  const read: string[] = [];
  const unread: string[] = [];
  const frames: FrameReader = {
    telling: /"telling"|\r/,
    passes: () => true,
    note: (text) => unread.push(text) > 0,
    keep(frame) {
      const text = decoder.decode(frame);
      read.push(text);
      return text !== TELLING;
    },
  };
  return { read, unread, frames: new PassingFrames(frames) };
}

const push = (frames: PassingFrames, text: string) => decoder.decode(frames.push(encoder.encode(text)) ?? new Uint8Array());

describe("stream frames passed through", () => {
  test("are passed without parsing up to the first relevant one", () => {
    const { read, unread, frames } = reader();
    expect(push(frames, plain("a") + plain("b") + TELLING + plain("c"))).toBe(plain("a") + plain("b") + plain("c"));
    expect([unread, read]).toEqual([[plain("a") + plain("b")], [TELLING, plain("c")]]);
  });

  test("are passed without parsing again after a partial frame", () => {
    const { read, unread, frames } = reader();
    expect(push(frames, plain("a") + plain("b").slice(0, 9))).toBe(plain("a"));
    expect(push(frames, plain("b").slice(9) + plain("c"))).toBe(plain("b") + plain("c"));
    expect([unread, read]).toEqual([[plain("a"), plain("c")], [plain("b")]]);
  });

  test("lose no byte and are each read once, however they are cut", () => {
    const frame = fc.oneof(fc.constantFrom("a", 'say "x"', "é\\", "").map(plain), fc.constantFrom(TELLING, ": \n\n", "data: 1\r\n\r\n"));
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 12 }), fc.array(fc.nat(400), { maxLength: 6 }), (texts, places) => {
        const bytes = encoder.encode(texts.join(""));
        const cuts = [0, ...places.filter((place) => place <= bytes.length).sort((a, b) => a - b), bytes.length];
        const { read, unread, frames } = reader();
        const sent = new TextDecoder();
        let out = "";
        for (let i = 1; i < cuts.length; i++)
          out += sent.decode(frames.push(bytes.subarray(cuts[i - 1], cuts[i])) ?? new Uint8Array(), { stream: true });
        out += decoder.decode(frames.rest());
        expect(out).toBe(texts.filter((text) => text !== TELLING).join(""));
        const looked =
          [...read, ...unread.map((text) => Buffer.from(text, "latin1").toString())].join("").length + decoder.decode(frames.rest()).length;
        expect(looked).toBe(texts.join("").length);
        expect(unread.join("")).not.toContain("telling");
      }),
      { numRuns: 500 },
    );
  });
});

test("texts in stream frames are measured up to their closing quote, also with escaped quotes in them", () => {
  expect(lengthUnder("content", plain("abc") + plain('{"a":"b"}') + plain("\\"))).toBe(3 + '{\\"a\\":\\"b\\"}'.length + 2);
  expect(lengthUnder("content", 'data: {"content":"abc')).toBe(0);
});
