import { expect, test } from "bun:test";
import type { Span } from "../../wire/otlp/traces.ts";
import { sha256Hex } from "../../kernel/secrets.ts";
import { spanRow } from "./span-row.ts";

const span = (attributes: Record<string, unknown>) =>
  ({
    traceId: "t",
    spanId: "s",
    parentSpanId: null,
    kind: 3,
    name: "chat",
    startNanos: 1n,
    endNanos: 2n,
    attributes,
    resource: {},
    scope: null,
    statusCode: 0,
    statusMessage: null,
    exception: null,
  }) as unknown as Span;
const context = { id: "row", rootTaskId: "run", joinedRowId: null, sessionOf: () => "session" };

test.each(["full", "redacted", "none"] as const)("the chain proves what a span reported, whatever is stored of it: %s", (storeBodies) => {
  const told = { input: `mail ada@example.com ${"x".repeat(100_000)}`, output: "it was sent" };
  const row = spanRow(span({ "gen_ai.prompt": told.input, "gen_ai.completion": told.output }), { ...context, storeBodies });
  expect(row).toMatchObject({ request_content_hash: sha256Hex(told.input), response_content_hash: sha256Hex(told.output) });
  expect(row.request_body_preview?.slice(0, 12)).toBe(
    { full: "mail ada@exa", redacted: "mail [email]", none: undefined }[storeBodies] as string,
  );
});

test("a span without content has no content hash", () => {
  expect(spanRow(span({}), { ...context, storeBodies: "full" })).toMatchObject({ request_content_hash: null, response_content_hash: null });
});

test("a model that was asked for is no model that answered", () => {
  const told = (attributes: Record<string, unknown>) => {
    const { llm_model_requested, llm_model_used } = spanRow(span(attributes), { ...context, storeBodies: "full" });
    return [llm_model_requested, llm_model_used];
  };
  expect(told({ "gen_ai.request.model": "m" })).toEqual(["m", null]);
  expect(told({ "gen_ai.request.model": "m", "gen_ai.response.model": "m-2026" })).toEqual(["m", "m-2026"]);
  // OpenInference reports the model in use, not the requested one.
  expect(told({ "llm.model_name": "m" })).toEqual([null, "m"]);
});
