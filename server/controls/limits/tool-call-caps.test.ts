import { expect, test } from "bun:test";
import { plan, window } from "../../../tests/support/records/counter-parts.ts";
import type { Call } from "../../road/call.ts";
import type { Exchange } from "../../road/surface.ts";
import { chatCodec } from "../../wire/openai/chat/codec.ts";
import type { Reservation } from "./counters/counters.ts";
import type { CallPlan } from "./plans/plan.ts";
import { ToolCallCaps } from "./tool-call-caps.ts";

test("tool calls admitted by shared counters after their call ended are settled with it, each separately", async () => {
  const counters = Promise.withResolvers<void>();
  const gate: ConstructorParameters<typeof ToolCallCaps>[0] = {
    async pass(_limited, admitted) {
      await counters.promise;
      admitted({ kind: "admitted", spent: [1], levels: [], inFlight: [] });
      return null;
    },
  };
  const of = { ...plan("t", { windows: [window("w", "tool_calls", 10)] }), needsPrice: false, needsBound: false } satisfies CallPlan;
  const caps = new ToolCallCaps(gate, () => of);
  const call = {
    id: "call",
    scope: {},
    target: { kind: "model", model: {} },
    row: { timestamp: "2026-11-21T12:00:00Z" },
  } as unknown as Call;
  const check = caps.prepare(call, { conversation: { caller: chatCodec, writer: null } } as unknown as Exchange);
  const message = { role: "assistant", tool_calls: [{ id: "1", type: "function", function: { name: "pay", arguments: "{}" } }] };
  const body = new TextEncoder().encode(JSON.stringify({ choices: [{ index: 0, message }] }));
  const asked = [1, 2].map(() => check?.({ kind: "whole", status: 200, headers: {}, body, usage: null, failure: null }));
  const settled: Reservation[] = [];
  const settling = caps.settle(call, (taken) => {
    settled.push(taken);
    return null;
  });
  expect(settled).toEqual([]);
  counters.resolve();
  await Promise.all([...asked, ...settling]);
  expect(settled.map(({ id }) => id)).toEqual(["call/tools/0", "call/tools/1"]);
});
