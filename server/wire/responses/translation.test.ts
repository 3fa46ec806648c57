import { describe, expect, test } from "bun:test";
import type { ConversationCodec, ReplyContext } from "../conversation/codec.ts";
import type { ConversationReply } from "../conversation/reply.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { cut } from "../openai/arbitrary-cuts.ts";
import { replyOf } from "../openai/arbitrary-events.ts";
import { chatCodec } from "../openai/chat/codec.ts";
import { geminiCodec } from "../gemini/gemini-codec.ts";
import { fixturesOf } from "../openai/fixture-files.ts";
import { responsesCodec } from "./responses-codec.ts";

const chat = fixturesOf(new URL("../openai/chat/codec.ts", import.meta.url).href);
const responses = fixturesOf(import.meta.url);
const CONTEXT: ReplyContext = { callId: "k", model: "m", created: 1, request: {}, includeUsage: true };

function translated(wire: string, from: ConversationCodec, to: ConversationCodec): string {
  const reader = from.streamReader();
  const writer = to.streamWriter(CONTEXT);
  let out = "";
  for (const piece of cut(wire, [13, 200, 1])) for (const event of reader.push(piece)) out += writer.write(event);
  const end = reader.end();
  for (const event of end.events) out += writer.write(event);
  expect(end.complete).toBe(true);
  return out + writer.close();
}

function answerIn(wire: string, codec: ConversationCodec): ConversationReply {
  const reader = codec.streamReader();
  const events = reader.push(new TextEncoder().encode(wire));
  return replyOf([...events, ...reader.end().events]);
}

/** The parts of an answer that both formats can express. */
const shown = ({ candidates, usage }: ConversationReply) => ({
  parts: candidates[0]?.parts.map((part) => ({ ...part, signature: undefined })),
  stop: candidates[0]?.stop,
  usage: usage === null ? null : { ...usage, serving: undefined },
});

describe("translation between chat completions and Responses", () => {
  for (const name of ["text", "tools", "refusal", "filter"]) {
    test(`a ${name} stream of chat completions gives an equal Responses answer`, () => {
      const wire = chat.text(`stream-${name}.sse`);
      expect(shown(answerIn(translated(wire, chatCodec, responsesCodec), responsesCodec))).toEqual(shown(answerIn(wire, chatCodec)));
    });
  }
  for (const name of ["full", "length", "refusal", "interleaved"]) {
    test(`a ${name} stream of Responses gives an equal chat completion`, () => {
      const wire = responses.text(`stream-${name}.sse`);
      expect(shown(answerIn(translated(wire, responsesCodec, chatCodec), chatCodec))).toEqual(shown(answerIn(wire, responsesCodec)));
    });
  }

  test("a conversation with tools keeps calls, results and tools there and back", () => {
    const whole = chatCodec.readRequest(chat.json("request-tools.json"));
    if ("unsupported" in whole) throw new Error("unsupported");
    const there = responsesCodec.writeRequest(whole.request, { name: "m", maxOutputTokens: null });
    if ("unsupported" in there) throw new Error("unsupported");
    const back = responsesCodec.readRequest(JSON.parse(JSON.stringify(there.body)) as JsonObject);
    if ("unsupported" in back) throw new Error("unsupported");
    expect(back.request).toEqual({
      ...whole.request,
      tools: whole.request.tools.map((tool) => ({ ...tool, strict: tool.strict ?? false })),
    });
  });
});

describe("a Gemini answer with a signature in an empty text part at its end", () => {
  const chunk = (parts: JsonObject[], finishReason?: string) =>
    ({ candidates: [{ content: { role: "model", parts }, finishReason }] }) as JsonObject;
  const behind = { text: "", thoughtSignature: "c2ln" };
  const typesIn = (output: unknown) => (output as JsonObject[]).map(({ type, status }) => [type, status]);

  test.each([
    ["STOP", "completed"],
    ["MAX_TOKENS", "incomplete"],
  ])("that ends with %s becomes one message that is %s", (reason, status) => {
    const reply = geminiCodec.readReply(chunk([{ text: "Hello" }, behind], reason)) as ConversationReply;
    expect(typesIn(responsesCodec.writeReply(reply, CONTEXT).output)).toEqual([["message", status]]);
  });

  test("becomes one message in a stream", () => {
    const wire = [chunk([{ text: "Hel" }]), chunk([{ text: "lo" }]), chunk([behind], "STOP")].map(
      (one) => `data: ${JSON.stringify(one)}\r\n\r\n`,
    );
    const told = translated(wire.join(""), geminiCodec, responsesCodec);
    const events = told.split("\n").flatMap((line) => (line.startsWith("data: ") ? [JSON.parse(line.slice(6))] : []));
    expect(events.filter(({ type }) => type === "response.output_item.added")).toHaveLength(1);
    expect(typesIn(events.at(-1).response.output)).toEqual([["message", "completed"]]);
    expect(events.at(-1).response.output[0].content[0].text).toBe("Hello");
  });
});
