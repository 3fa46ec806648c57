import { providerAnswer } from "../formats/provider-answers.ts";
import type { RawAnswer } from "./raw-upstream.ts";

/** What the caller must get: the answer, an error, or either, depending on where the fault struck. */
export type Expected = "answer" | "error" | "either";

export interface Fault {
  readonly name: string;
  readonly expected: Expected;
  /** Restricts the fault to streamed or non-streamed answers. */
  readonly only?: "stream" | "whole";
  answer(path: string, body: string, random: () => number): RawAnswer;
}

const encoder = new TextEncoder();
const GIANT = encoder.encode(`data: {"choices":[{"index":0,"delta":{"content":"${"a".repeat(18 * 1024 * 1024)}`);

/** Every upstream fault that is tested. `random` (0 to below 1, seeded per case) decides where it strikes. */
export const FAULTS: readonly Fault[] = [
  { name: "none", expected: "answer", answer: (path, body) => whole(path, body) },
  { name: "tiny pieces", expected: "answer", answer: (path, body, random) => whole(path, body, (bytes) => inPieces(bytes, random)) },
  {
    name: "no usage",
    expected: "answer",
    answer: (path, body) => answered(providerAnswer(path, body, false).contentType, [bytesOf(path, body, false)]),
  },
  {
    name: "empty body",
    expected: "error",
    answer: (path, body) => ({ head: headOf(typeOf(path, body), "content-length: 0\r\n"), pieces: [], ending: "end" }),
  },
  {
    name: "cut",
    expected: "error",
    answer: (path, body, random) => whole(path, body, (bytes) => [bytes.subarray(0, early(path, body, random))]),
  },
  {
    name: "cut in the tail",
    expected: "either",
    only: "stream",
    answer: (path, body, random) => whole(path, body, (bytes) => [bytes.subarray(0, late(path, body, random))]),
  },
  {
    name: "cut in a character",
    expected: "error",
    answer: (path, body) =>
      whole(path, body, (bytes) => [bytes.subarray(0, Buffer.from(bytes).indexOf(0xc3) < 0 ? 5 : Buffer.from(bytes).indexOf(0xc3) + 1)]),
  },
  {
    name: "torn",
    expected: "error",
    answer: (path, body, random) => ({
      head: headOf(typeOf(path, body), "transfer-encoding: chunked\r\n"),
      pieces: [chunk(bytesOf(path, body).subarray(0, early(path, body, random)))],
      ending: "tear",
    }),
  },
  {
    name: "shorter than it said",
    expected: "error",
    answer: (path, body, random) => ({
      head: headOf(typeOf(path, body), `content-length: ${bytesOf(path, body).byteLength}\r\n`),
      pieces: [bytesOf(path, body).subarray(0, early(path, body, random))],
      ending: "end",
    }),
  },
  { name: "another content type", expected: "either", answer: (path, body) => answered("text/html", [bytesOf(path, body)]) },
  { name: "a page", expected: "error", answer: () => answered("text/html", [encoder.encode("<html><body>Bad gateway</body></html>")]) },
  {
    name: "a page that says it is the answer",
    expected: "error",
    answer: (path, body) => answered(typeOf(path, body), [encoder.encode("<html><body>Bad gateway</body></html>")]),
  },
  {
    name: "nonsense frames",
    expected: "error",
    answer: (path, body) => answered(typeOf(path, body), [encoder.encode("data: {not json\n\ndata: 7\n\n: ping\n\n")]),
  },
  { name: "null", expected: "error", answer: (path, body) => answered(typeOf(path, body), [encoder.encode("null")]) },
  { name: "a giant frame", expected: "error", only: "stream", answer: (path, body) => answered(typeOf(path, body), [GIANT]) },
  {
    name: "packed, it says",
    expected: "error",
    answer: (path, body) => ({
      ...whole(path, body),
      head: headOf(typeOf(path, body), "content-encoding: gzip\r\ntransfer-encoding: chunked\r\n"),
    }),
  },
  {
    name: "failing",
    expected: "error",
    answer: () => ({
      head: `HTTP/1.1 500 Oh\r\ncontent-length: 2\r\nconnection: close\r\n\r\n`,
      pieces: [encoder.encode("no")],
      ending: "end",
    }),
  },
  {
    name: "a status that HTTP does not have, with nonsense that is packed, it says",
    expected: "error",
    answer: () => ({
      head: "HTTP/1.1 600 Oh\r\ncontent-encoding: gzip\r\ncontent-length: 2\r\nconnection: close\r\n\r\n",
      pieces: [encoder.encode("no")],
      ending: "end",
    }),
  },
  { name: "no HTTP", expected: "error", answer: () => ({ head: "NONSENSE 17\r\n\r\n", pieces: [], ending: "end" }) },
  { name: "no answer", expected: "error", answer: () => ({ head: null, pieces: [], ending: "tear" }) },
  { name: "silent", expected: "error", answer: () => ({ head: null, pieces: [], ending: "hold" }) },
  {
    name: "silent in the middle",
    expected: "error",
    answer: (path, body, random) => ({
      head: headOf(typeOf(path, body), "transfer-encoding: chunked\r\n"),
      pieces: [chunk(bytesOf(path, body).subarray(0, early(path, body, random)))],
      ending: "hold",
    }),
  },
  {
    name: "other bytes here and there",
    expected: "either",
    answer: (path, body, random) => whole(path, body, (bytes) => [flipped(bytes, random)]),
  },
];

function whole(path: string, body: string, pieces: (bytes: Uint8Array) => Uint8Array[] = (bytes) => [bytes]): RawAnswer {
  return answered(typeOf(path, body), pieces(bytesOf(path, body)));
}

function answered(contentType: string, pieces: readonly Uint8Array[]): RawAnswer {
  const sent = pieces.filter(({ byteLength }) => byteLength > 0).map(chunk);
  return { head: headOf(contentType, "transfer-encoding: chunked\r\n"), pieces: [...sent, encoder.encode("0\r\n\r\n")], ending: "end" };
}

const headOf = (contentType: string, more: string) => `HTTP/1.1 200 OK\r\ncontent-type: ${contentType}\r\nconnection: close\r\n${more}\r\n`;
const chunk = (bytes: Uint8Array) =>
  bytes.byteLength === 0 ? bytes : Buffer.concat([Buffer.from(`${bytes.byteLength.toString(16)}\r\n`), bytes, Buffer.from("\r\n")]);
const typeOf = (path: string, body: string) => providerAnswer(path, body, true).contentType;
const bytesOf = (path: string, body: string, usage = true): Uint8Array => Buffer.concat(providerAnswer(path, body, usage).frames);

/** A position before the end: before the last byte of a whole answer, or before the frame that ends a stream. */
function early(path: string, body: string, random: () => number): number {
  const { frames, endsAt } = providerAnswer(path, body, true);
  const end =
    frames.length === 1
      ? (frames[0] as Uint8Array).byteLength - 1
      : frames.slice(0, endsAt).reduce((sum, { byteLength }) => sum + byteLength, 0);
  return 1 + Math.floor(random() * end);
}

function late(path: string, body: string, random: () => number): number {
  const { frames, endsAt } = providerAnswer(path, body, true);
  const before = frames.slice(0, endsAt).reduce((sum, { byteLength }) => sum + byteLength, 0);
  return before + Math.floor(random() * (bytesOf(path, body).byteLength - before));
}

function inPieces(bytes: Uint8Array, random: () => number): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < bytes.byteLength;) {
    const next = Math.min(bytes.byteLength, at + 1 + Math.floor(random() * 40));
    pieces.push(bytes.subarray(at, next));
    at = next;
  }
  return pieces;
}

function flipped(bytes: Uint8Array, random: () => number): Uint8Array {
  const copy = Uint8Array.from(bytes);
  for (let i = 0; i < 4; i++) copy[Math.floor(random() * copy.length)] = Math.floor(random() * 256);
  return copy;
}
