import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { ConversationEvent } from "../conversation/reply.ts";
import { DEFAULT_REQUEST } from "../conversation/default-request.ts";
import type { ConversationRequest } from "../conversation/request.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { mutated } from "../openai/arbitrary-cuts.ts";
import { replyOf } from "../openai/arbitrary-events.ts";
import { responsesCodec } from "./responses-codec.ts";
import { statefulFields } from "./stateful-fields.ts";
import { fixturesOf } from "../openai/fixture-files.ts";
import { SEALED, said } from "../../../tests/support/formats/responses-codec-parts.ts";

const fixtures = fixturesOf(import.meta.url);

describe("what other formats do not support of a Responses request", () => {
  const read = (more: JsonObject) => responsesCodec.readRequest({ model: "m", input: "hi", ...more });
  test.each([
    ["previous_response_id", { previous_response_id: "resp_1" }],
    ["conversation", { conversation: "conv_1" }],
    ["prompt", { prompt: { id: "pmpt_1" } }],
    ["store", { store: true }],
    ["background", { background: true }],
    ["input[0]", { input: [{ type: "item_reference", id: "msg_1" }] }],
    ["input[0]", { input: [{ type: "compaction", id: "cmp_1", encrypted_content: "x" }] }],
    ["tools[0]", { tools: [{ type: "file_search" }] }],
    ["tools[0]", { tools: [{ type: "mcp", server_label: "x" }] }],
    ["tools[0]", { tools: [{ type: "shell", environment: { type: "container_auto" } }] }],
    [
      "input[0].tools[0].tools[0]",
      { input: [{ type: "additional_tools", tools: [{ type: "namespace", name: "n", tools: [{ type: "mcp" }] }] }] },
    ],
    ["tool_choice", { tools: [{ type: "web_search" }], tool_choice: "required" }],
    ["tool_choice", { tool_choice: { type: "file_search" } }],
    ["context_management", { context_management: [{ type: "compaction" }] }],
    ["reasoning.effort", { reasoning: { effort: "huge" } }],
    ["text.format", { text: { format: { type: "grammar" } } }],
    ["input[0].content[0]", { input: [{ role: "user", content: [{ type: "input_audio" }] }] }],
    ["input[0].role", { input: [{ role: "critic", content: "x" }] }],
  ] as [string, JsonObject][])("%s is refused by name", (field, more) => {
    const result = read(more);
    expect("unsupported" in result ? result.unsupported.map((problem) => problem.field) : []).toEqual([field]);
  });

  test("harmless members are dropped by name, and empty ones are not mentioned", () => {
    const result = read({
      metadata: { a: "b" },
      max_tool_calls: 3,
      truncation: "disabled",
      store: false,
      background: false,
      include: ["reasoning.encrypted_content", "file_search_call.results"],
      text: { verbosity: "low" },
      reasoning: { mode: "pro" },
    });
    expect("dropped" in result ? [...result.dropped].sort() : result).toEqual([
      "include",
      "max_tool_calls",
      "metadata",
      "reasoning.mode",
      "text.verbosity",
    ]);
    expect(read({ metadata: {}, service_tier: null, plugins: [] })).toMatchObject({ dropped: [] });
    const plain = { type: "function", name: "f", description: "d", parameters: {}, strict: true, defer_loading: true };
    const group = { type: "namespace", name: "n", tools: [{ ...plain, output_schema: { type: "object" } }] };
    expect(read({ tools: [plain, group] })).toMatchObject({ dropped: ["tools[1].tools[0].output_schema"] });
  });

  test("a missing store does not count as store: true", () => {
    expect(statefulFields({ input: "hi" })).toEqual([]);
    expect(
      statefulFields({ input: [{ type: "item_reference", id: "a" }], store: true, background: false, prompt: null, conversation: "c" }),
    ).toEqual(["conversation", "store", "input[0]"]);
  });
});

describe("writing a request of another format as a Responses request", () => {
  const hello = { role: "user" as const, parts: [{ kind: "text" as const, text: "hi" }] };
  const write = (request: Partial<ConversationRequest>) =>
    responsesCodec.writeRequest({ ...DEFAULT_REQUEST, turns: [hello], ...request }, { name: "m", maxOutputTokens: null });
  test("drops and reports what does no harm", () => {
    expect(write({ topK: 5, seed: 1, presencePenalty: 1, frequencyPenalty: 0 })).toMatchObject({
      dropped: ["seed", "top_k", "presence_penalty"],
    });
  });
  test.each([
    ["candidates", { candidates: 2 }],
    ["stop", { stop: ["a"] }],
    ["logprobs", { logprobs: 2 }],
    ["audio", { turns: [{ role: "user", parts: [{ kind: "audio", base64: "", mediaType: "audio/wav" }] }] }],
    ["messages", { turns: [] }],
  ] as [string, Partial<ConversationRequest>][])("refuses %s", (feature, request) => {
    const result = write(request);
    expect("unsupported" in result ? result.unsupported.map((problem) => problem.feature) : []).toEqual([feature] as never);
  });

  test("requests encrypted reasoning only with reasoning, and sends back only OpenAI's own", () => {
    expect(write({})).toMatchObject({ body: { store: false } });
    expect(write({})).not.toHaveProperty("body.include");
    expect(write({ reasoning: { effort: "none", budgetTokens: null, visible: null } })).not.toHaveProperty("body.include");
    const foreign = write({
      turns: [
        hello,
        {
          role: "assistant",
          parts: [{ kind: "reasoning", text: "x", signature: { family: "anthropic", value: "SEAL" }, redacted: false }, said("y")],
        },
      ],
    });
    expect(JSON.stringify(foreign)).not.toContain("SEAL");
    expect(write({ turns: [hello, { role: "assistant", parts: [SEALED] }] })).toMatchObject({
      body: { include: ["reasoning.encrypted_content"] },
    });
  });
});

describe("invalid input in the Responses format", () => {
  const sources = ["request-multipart", "request-tools", "reply-full", "reply-refusal", "error"].map((name) =>
    fixtures.json(`${name}.json`),
  );
  const events = ["full", "refusal", "interleaved", "failed"].flatMap((name) =>
    fixtures
      .text(`stream-${name}.sse`)
      .split("\n\n")
      .filter((frame) => frame !== ""),
  );
  test("never makes the readers throw", () => {
    fc.assert(
      fc.property(fc.constantFrom(...sources), fc.infiniteStream(fc.nat()), fc.jsonValue(), (source, dice, junk) => {
        const body = mutated(source, dice, junk);
        responsesCodec.readRequest(body);
        responsesCodec.readReply(body);
        responsesCodec.readFault(500, body);
        statefulFields(body);
      }),
      { numRuns: 300 },
    );
  });

  test("an item that begins again after its end is read once", () => {
    const reader = responsesCodec.streamReader();
    const send = (event: JsonObject) => reader.push(new TextEncoder().encode(`data: ${JSON.stringify(event)}\n\n`));
    const item = { type: "function_call", call_id: "a", name: "f", arguments: "{}" };
    const read = [
      { type: "response.output_item.done", output_index: 0, item: { type: "other" } },
      { type: "response.output_item.added", output_index: 0, item },
      { type: "response.completed", response: { status: "completed", output: [item] } },
    ].flatMap(send);
    expect(replyOf(read).candidates[0]?.parts).toEqual([{ kind: "tool_call", id: "a", name: "f", arguments: "{}" }]);
  });

  test("lost, repeated or altered events never make the reader throw or break the order of events", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...events), { maxLength: 30 }),
        fc.infiniteStream(fc.nat()),
        fc.jsonValue(),
        (frames, dice, junk) => {
          const reader = responsesCodec.streamReader();
          const read: ConversationEvent[] = [];
          for (const frame of frames) {
            const event = mutated(JSON.parse(frame.slice(frame.indexOf("data: ") + 6)) as JsonObject, dice, junk);
            read.push(...reader.push(new TextEncoder().encode(`data: ${JSON.stringify(event)}\n\n`)));
          }
          const end = reader.end();
          const all = [...read, ...end.events];
          if (end.complete) replyOf(all);
          else expect(all.filter(({ kind }) => kind === "start").length).toBeLessThanOrEqual(1);
        },
      ),
      { numRuns: 300 },
    );
  });
});
