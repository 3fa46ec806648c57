import { expect, test } from "bun:test";
import { systemClock } from "../kernel/clock.ts";
import { OpenCalls, type OpenCallsParts } from "./open-calls.ts";

test("what a call holds is released when it leaves in a provider's batch", async () => {
  const calls = new OpenCalls({ limits: { left: { leave: async () => null } }, clock: systemClock() } as unknown as OpenCallsParts);
  const call = calls.start({ method: "POST", url: "http://gateway/x", headers: new Headers() }, "", {
    proxyType: "batch",
    proxySubtype: "chat_completions",
  });
  const ended: (string | null)[] = [];
  call.whenEnded.push((errorType) => ended.push(errorType));
  expect(await calls.leave(call)).toBeNull();
  expect([calls.has(call), ended]).toEqual([false, ["left_in_batch"]]);
});

test("the journal reserves space for open calls, except those whose bodies are still arriving", () => {
  const beside: (number | undefined)[] = [];
  const ledger = { accepting: (calls?: number) => (beside.push(calls), true) };
  const calls = new OpenCalls({ ledger, clock: systemClock() } as unknown as OpenCallsParts);
  for (let i = 0; i < 3; i++)
    calls.start({ method: "POST", url: "http://gateway/x", headers: new Headers() }, "", {
      proxyType: "llm",
      proxySubtype: "chat_completions",
    });
  calls.arriving = 2;
  expect([calls.accepting, beside]).toEqual([true, [1]]);
});
