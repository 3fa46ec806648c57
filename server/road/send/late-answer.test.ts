import { describe, expect, test } from "bun:test";
import { systemClock } from "../../kernel/clock.ts";
import { refuse, type Refusal } from "../../kernel/errors.ts";
import { jsonLog } from "../../kernel/log.ts";
import { COMMENT_LINE } from "../../wire/streams/sse-data.ts";
import { type Answer, jsonAnswer } from "../answer.ts";
import type { AbortReason, Call } from "../call.ts";
import type { Govern } from "../govern.ts";
import { answeredOrLate, type LateAnswer } from "./late-answer.ts";
import { OpenCalls, type OpenCallsParts } from "../open-calls.ts";
import { Sender, type SenderParts } from "./sender.ts";
import type { Awaited, Exchange, Surface } from "../surface.ts";

const awaited: Awaited = { headers: { "content-type": "text/event-stream" }, said: COMMENT_LINE, asRest: () => null };
const answer: Answer = jsonAnswer({});
const surface = {
  streamError: ({ code }: Refusal) => new TextEncoder().encode(`data: ${JSON.stringify({ error: { code } })}\n\n`),
} as unknown as Surface;

function someCall(begun = true): Call {
  const calls = new OpenCalls({ clock: systemClock() } as unknown as OpenCallsParts);
  const request = { method: "POST", url: "http://gateway/x", headers: new Headers() };
  const call = calls.start(request, "127.0.0.1", { proxyType: "llm", proxySubtype: "chat_completions" });
  call.begun = begun;
  return call;
}

describe("an exchange with a slow answer", () => {
  const asked = (call: Call, exchange: Partial<Exchange>, govern: Govern) =>
    answeredOrLate(call, { awaited, answer: async () => answer, ...exchange } as Exchange, govern, 5);

  test("becomes late once a model was called and nothing has arrived for some time", async () => {
    const { promise, resolve } = Promise.withResolvers<Answer>();
    const late = await asked(someCall(), { answer: () => promise }, (call, exchange) => exchange.answer(call));
    expect(late).toMatchObject({ kind: "late" });
    resolve(answer);
    expect(await (late as LateAnswer).coming).toBe(answer);
  });

  test("becomes late, too, if something else delayed the call to the model", async () => {
    const call = someCall(false);
    const preparing = () => {
      setTimeout(() => (call.begun = true), 20);
      return new Promise<Answer>(() => undefined);
    };
    expect(await asked(call, { answer: preparing }, (governed, exchange) => exchange.answer(governed))).toMatchObject({ kind: "late" });
  });

  const slowly = () => new Promise<Answer>((resolve) => setTimeout(resolve, 50, answer));
  test.each<[string, Partial<Exchange>, Govern, boolean]>([
    ["while no model was called yet", { answer: slowly }, (call, exchange) => exchange.answer(call), false],
    ["while a control inspects the request, because its refusal has its own status", {}, slowly, true],
  ])("does not become late %s", async (_when, exchange, govern, begun) => {
    expect(await asked(someCall(begun), exchange, govern)).toBe(answer);
  });
});

describe("a late answer", () => {
  async function ended(comes: () => Promise<Answer | Refusal>, given: { sealed?: boolean; aborted?: AbortReason } = {}) {
    const call = someCall();
    const calls = { begin: () => undefined, seal: async () => given.sealed !== false };
    const sender = new Sender({
      calls,
      log: jsonLog("error", () => undefined),
      upstreamTimeoutMs: 1_000,
      unrecorded: () => undefined,
    } as unknown as SenderParts);
    const late = { kind: "late", coming: comes(), awaited } as const;
    const response = sender.late(call, surface, late, async () => true);
    if (given.aborted !== undefined) call.abort.abort(given.aborted);
    const [comment, ...rest] = (await response.text()).split("\n");
    return { status: response.status, comment, error: rest.join("\n"), row: call.row };
  }

  test.each<[string, () => Promise<Answer | Refusal>, object, string, string]>([
    ["a policy blocked it", () => Promise.resolve(refuse("guardrail_blocked")), {}, "guardrail_blocked", "guardrail_blocked"],
    ["it is no stream", () => Promise.resolve(answer), {}, "upstream_invalid_response", "upstream_invalid_response"],
    ["an unexpected error occurred", () => Promise.reject(new Error("a bug")), {}, "internal_error", "internal_error"],
    [
      "it could not be recorded",
      () => Promise.resolve(refuse("upstream_timeout")),
      { sealed: false },
      "audit_unavailable",
      "upstream_timeout",
    ],
    [
      "the gateway stops",
      () => Promise.resolve(refuse("upstream_interrupted")),
      { aborted: "gateway_interrupted" },
      "draining",
      "gateway_interrupted",
    ],
  ])("ends with an error frame if %s, and the row has the status that was sent", async (_why, comes, given, code, errorType) => {
    const { status, comment, error, row } = await ended(comes, given);
    expect([status, comment]).toEqual([200, ": keep-alive"]);
    expect(error).toStartWith('data: {"error":{');
    expect(error).toContain(`"code":"${code}"`);
    expect(row).toMatchObject({ http_status_code: 200, success: false, error_type: errorType });
    expect(row.response_size_bytes).toBeGreaterThan(COMMENT_LINE.byteLength);
  });
});
