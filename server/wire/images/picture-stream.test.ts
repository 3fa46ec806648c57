import { expect, test } from "bun:test";
import { PictureStream } from "./picture-stream.ts";

const asked = { count: 1, tokensEach: 5_243 };
const event = (what: string, more: object = {}) => {
  const type = `image_generation.${what}`;
  return `event: ${type}\ndata: ${JSON.stringify({ type, b64_json: "AAAA", ...more })}\n\n`;
};
const usage = { input_tokens: 20, output_tokens: 1_000 };
const encoder = new TextEncoder();
const decoder = new TextDecoder();

function passed(stream: PictureStream, wire: string, size = wire.length) {
  let out = "";
  for (let at = 0; at < wire.length && !stream.closed; at += size) {
    const piece = stream.push(encoder.encode(wire.slice(at, at + size)));
    if (piece !== null) out += decoder.decode(piece);
  }
  const { complete, last } = stream.end();
  return { out, complete, last: last === null ? null : decoder.decode(last) };
}

test.each([1, 7, 1_000])("image events cut into pieces of %i bytes pass unchanged, and the last is held back", (size) => {
  const shown = event("partial_image");
  const finished = event("completed", { usage });
  const stream = new PictureStream(asked, 12);
  expect(passed(stream, `: hello\n\n${shown}${finished}`, size)).toEqual({ out: `: hello\n\n${shown}`, complete: true, last: finished });
  expect(stream.usage).toMatchObject({ inputUncached: 20, output: 1_000, images: 1, estimated: false });
});

test("an event that may be the last is held back until it is known what follows", () => {
  const finished = event("completed", { usage });
  const done = "data: [DONE]\n\n";
  expect(passed(new PictureStream({ ...asked, count: 3 }, 12), `${finished}: still here\n\n`)).toEqual({
    out: "",
    complete: true,
    last: finished,
  });
  expect(passed(new PictureStream({ ...asked, count: 3 }, 12), `${finished}${finished}${done}`)).toEqual({
    out: finished,
    complete: true,
    last: `${finished}${done}`,
  });
});

test("an image with implausible usage is metered by what was requested", () => {
  const stream = new PictureStream({ ...asked, asked: { quality: "high", size: null } }, 12);
  passed(stream, event("completed", { usage: { input_tokens: -5, output_tokens: 1.5 } }));
  expect(stream.usage).toMatchObject({ images: 1, requestedImages: { quality: "high", size: null }, estimated: true });
});

test("an unfinished image is estimated by its size and by the number of input images", () => {
  const of = (shown: number, more: object) => {
    const stream = new PictureStream({ ...asked, ...(shown > 0 && { shown: { count: shown, textBytes: 9 } }) }, 12);
    expect(passed(stream, event("partial_image", more)).complete).toBe(false);
    return stream.usage;
  };
  expect(of(0, { size: "512x512" })).toMatchObject({ inputUncached: 3, output: 1_311, imageOutput: 1_311, images: 1, estimated: true });
  expect(of(2, { size: "9000x9000" })).toMatchObject({ inputUncached: 20_003, imageInput: 20_000, output: 5_243 });
  expect(new PictureStream(asked, 12).usage).toBeNull();
});
