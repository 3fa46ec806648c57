import { describe, expect, test } from "bun:test";
import type { ConversationEvent } from "./reply.ts";
import type { ConversationRequest, Turn } from "./request.ts";
import type { ReasoningPart, ToolCallPart } from "./conversation-parts.ts";
import { SignedCallsOfStream, signedCalls, unsignedCallIds, withSignatures } from "./signatures.ts";

const thinking: ReasoningPart = { kind: "reasoning", text: "hm", signature: { family: "anthropic", value: "s1" }, redacted: false };
const call = (id: string, signature?: string): ToolCallPart => ({
  kind: "tool_call",
  id,
  name: "f",
  arguments: "{}",
  ...(signature === undefined ? {} : { signature: { family: "gemini" as const, value: signature } }),
});
const request = (turns: readonly Turn[]) => ({ turns }) as ConversationRequest;

describe("reasoning signatures stored for later requests", () => {
  test("are collected from an answer by tool call ID", () => {
    const signed = signedCalls({
      index: 0,
      parts: [thinking, call("a", "g"), call("b")],
      stop: "tool_call",
      stopSequence: null,
      stopDetail: null,
    });
    expect(signed.get("a")).toEqual({ call: { family: "gemini", value: "g" }, reasoning: [thinking] });
    expect(signed.get("b")).toEqual({ call: null, reasoning: [thinking] });
    expect(signedCalls({ index: 0, parts: [call("c")], stop: "tool_call", stopSequence: null, stopDetail: null })).toEqual(
      new Map([["c", null]]),
    );
  });

  test("are collected equally from a stream", () => {
    const events: ConversationEvent[] = [
      { kind: "part_start", candidate: 0, part: 0, type: "reasoning" },
      { kind: "delta", candidate: 0, part: 0, text: "h" },
      { kind: "delta", candidate: 0, part: 0, text: "m" },
      { kind: "signature", candidate: 0, part: 0, signature: { family: "anthropic", value: "s1" }, redacted: false },
      { kind: "part_start", candidate: 0, part: 1, type: "tool_call", id: "a", name: "f" },
      { kind: "signature", candidate: 0, part: 1, signature: { family: "gemini", value: "g" }, redacted: false },
    ];
    const gathered = new SignedCallsOfStream();
    for (const event of events) gathered.note(event);
    expect(gathered.signed(0).get("a")).toEqual({ call: { family: "gemini", value: "g" }, reasoning: [thinking] });
  });

  test("are distinguished if two calls share an ID, and restored to the call renamed for the caller", () => {
    const signed = signedCalls({
      index: 0,
      parts: [call("a", "first"), call("a", "second")],
      stop: "tool_call",
      stopSequence: null,
      stopDetail: null,
    });
    const find = (id: string) => signed.get(id) ?? null;
    const renamed = request([{ role: "assistant", parts: [call("a"), call("a_2")] }]);
    expect(unsignedCallIds(renamed)).toEqual(["a", "a_2"]);
    expect(withSignatures(renamed, find).turns[0]?.parts).toEqual([call("a", "first"), call("a_2", "second")]);
    const asTheyCame = request([{ role: "assistant", parts: [call("a"), call("a")] }]);
    expect(withSignatures(asTheyCame, find).turns[0]?.parts).toEqual([call("a", "first"), call("a", "second")]);
  });

  test("are restored where a history lost them, and nowhere else", () => {
    const kept = new Map([["a", { call: { family: "gemini" as const, value: "g" }, reasoning: [thinking] }]]);
    const find = (id: string) => kept.get(id) ?? null;
    const lost = request([{ role: "assistant", parts: [{ kind: "text", text: "one moment" }, call("a"), call("b")] }]);
    expect(withSignatures(lost, find).turns[0]?.parts).toEqual([thinking, { kind: "text", text: "one moment" }, call("a", "g"), call("b")]);
    const own = request([{ role: "assistant", parts: [thinking, call("a", "x")] }]);
    expect(withSignatures(own, find).turns).toEqual(own.turns);
    const unknown = request([{ role: "assistant", parts: [call("z")] }]);
    expect(withSignatures(unknown, find)).toBe(unknown);
  });
});
