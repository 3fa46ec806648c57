import { expect, test } from "bun:test";
import type { JsonObject } from "../../kernel/json-value.ts";
import { responsesCodec } from "./responses-codec.ts";
import { readResponsesRequest, type ResponsesRequest } from "./responses-request.ts";
import { statefulFields } from "./stateful-fields.ts";

const encoder = new TextEncoder();
const context = (request: JsonObject) => ({ callId: "01M830KD0RSWFXX4JPW6VYXEYY", model: "m", created: 1, request, includeUsage: false });
const parts = [
  { kind: "reasoning", text: "Hm", redacted: false },
  { kind: "text", text: "Let me see." },
  { kind: "tool_call", id: "c", name: "f", arguments: '{"a":1}' },
] as const;
const reply = {
  id: null,
  candidates: [{ index: 0, parts, stop: "tool_call", stopSequence: null, stopDetail: null }],
  usage: null,
} as const;

function requestOf(input: JsonObject[]): ResponsesRequest {
  const read = readResponsesRequest(encoder.encode(JSON.stringify({ model: "m", input })));
  if ("fields" in read) throw new Error(JSON.stringify(read.fields));
  return read;
}

test("references to items of an answer are replaced by their content, and those to reasoning are removed", () => {
  const answer = responsesCodec.writeReply(reply, context({}));
  const kept = responsesCodec.referable?.(answer, {}) ?? new Map<string, string>();
  const references = (answer.output as { id: string }[]).map(({ id }) => ({ type: "item_reference", id }));
  const request = requestOf([{ role: "user", content: "hi" }, ...references, { type: "function_call_output", call_id: "c", output: "4" }]);
  expect(statefulFields(request.body)).toEqual([]);
  expect(request.putNamedItems(new Map([...kept].filter(([id]) => request.namedItems.includes(id)))).problems).toEqual([]);
  expect(request.body.input).toMatchObject([
    { role: "user" },
    { type: "message", role: "assistant", content: [{ type: "output_text", text: "Let me see." }] },
    { type: "function_call", call_id: "c", name: "f", arguments: '{"a":1}' },
    { type: "function_call_output" },
  ]);
  // The inserted item is inspected like any other text for the model.
  expect(request.texts().map(({ text }) => text)).toContain("Let me see.");
  expect(responsesCodec.readRequest(request.body)).toMatchObject({
    dropped: [],
    request: { turns: [{ role: "user" }, { role: "assistant", parts: [parts[1], parts[2]] }, { role: "user" }] },
  });
});

test("items of a streamed answer can be referenced like those of a complete one", () => {
  const writer = responsesCodec.streamWriter(context({}));
  for (const event of [
    { kind: "start", id: null },
    { kind: "part_start", candidate: 0, part: 0, type: "text" },
    { kind: "delta", candidate: 0, part: 0, text: "Let me see." },
    { kind: "part_end", candidate: 0, part: 0 },
    { kind: "stop", candidate: 0, reason: "end", stopSequence: null, stopDetail: null },
  ] as const)
    writer.write(event);
  writer.close();
  const said = responsesCodec.writeReply({ ...reply, candidates: [{ ...reply.candidates[0], parts: [parts[1]] }] }, context({}));
  expect(writer.referable?.()).toEqual(responsesCodec.referable?.(said, {}) as Map<string, string>);
  expect(writer.referable?.().size).toBe(1);
});

test("no item is kept with store: false", () => {
  const answer = responsesCodec.writeReply(reply, context({ store: false }));
  expect(responsesCodec.referable?.(answer, { store: false }).size).toBe(0);
});

test("an unknown reference names its field, and a vendor's own reference needs a provider with storage", () => {
  const own = { type: "item_reference", id: "msg_01M830KD0RSWFXX4JPW6VYXEYY00" };
  expect(requestOf([{ role: "user", content: "hi" }, own]).putNamedItems(new Map()).problems).toMatchObject([{ field: "input[1].id" }]);
  expect(statefulFields({ input: [own, { type: "item_reference", id: "msg_68af2c0b7a3c81a2" }] })).toEqual(["input[1]"]);
});

test("referenced items have a total size limit, and at most twenty unknown references are reported", () => {
  const own = { type: "item_reference", id: "msg_01M830KD0RSWFXX4JPW6VYXEYY00" };
  const kept = new Map([[own.id, JSON.stringify({ type: "message", role: "assistant", content: "x".repeat(200_000) })]]);
  const often = requestOf(Array.from({ length: 5_000 }, () => own));
  expect(often.putNamedItems(kept).problems).toEqual([{ field: "input[104].id", message: expect.stringContaining("20 MiB") }]);
  expect((often.body.input as unknown[]).length).toBe(104);
  expect(requestOf(Array.from({ length: 5_000 }, () => own)).putNamedItems(new Map()).problems).toHaveLength(20);
});
