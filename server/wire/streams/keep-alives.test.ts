import { describe, expect, test } from "bun:test";
import { KeepAlives } from "./keep-alives.ts";

const piecesOnly = (...pieces: string[]) => {
  const keepAlives = new KeepAlives();
  return pieces.map((piece) => keepAlives.isOnly(new TextEncoder().encode(piece)));
};

describe("a piece of an event stream", () => {
  test.each([
    ": OPENROUTER PROCESSING\n\n",
    ": keep-alive\n",
    "\n",
    "\r\n\r\n",
    ":\n:\n:\n\n",
    'event: ping\ndata: {"type": "ping"}\n\n',
    'event: ping\r\ndata: {"type":"ping"}\r\n\r\n',
    'event: keepalive\ndata: {"type":"keepalive","sequence_number":3}\n\n',
    "id: 1\nretry: 3000\n\n",
    'event: ping\ndata: {"type":"ping"}\n\n'.repeat(50),
    `:${" ".repeat(5_000)}\n\n`,
  ])("is only a keep-alive: %j", (piece) => expect(piecesOnly(piece)).toEqual([true]));

  test.each([
    'data: {"choices":[]}\n\n',
    ': processing\n\ndata: {"choices":[]}\n\n',
    `data: ${"x".repeat(1_000)}\n\n`,
    'data: {"type":"content_block_delta","delta":{"text":"{\\"type\\":\\"ping\\"}"}}\n\n',
    "data: [DONE]\n\n",
    '[{"candidates":[]}\n',
    `data: ${"x".repeat(1_000)}`,
  ])("has something of the answer: %j", (piece) => expect(piecesOnly(piece)).toEqual([false]));

  test("may begin and end anywhere", () => {
    expect(piecesOnly(": OPENROUTER PROC", "ESSING\n", '\ndata: {"type"', ': "ping"}\n\n', "da", "ta: 1\n\n", ": x\n")).toEqual([
      ...[true, true, true, true, true],
      ...[false, true],
    ]);
  });
});
