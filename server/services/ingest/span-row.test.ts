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

test.each(["full", "redacted", "none"] as const)(
  "the row has the hash of a span's content, whatever is stored of it: %s",
  (storeBodies) => {
    const reported = { input: `mail ada@example.com ${"x".repeat(100_000)}`, output: "it was sent" };
    const row = spanRow(span({ "gen_ai.prompt": reported.input, "gen_ai.completion": reported.output }), { ...context, storeBodies });
    expect(row).toMatchObject({ request_content_hash: sha256Hex(reported.input), response_content_hash: sha256Hex(reported.output) });
    expect(row.request_body_preview?.slice(0, 12)).toBe(
      { full: "mail ada@exa", redacted: "mail [email]", none: undefined }[storeBodies] as string,
    );
  },
);

test("a span without content has no content hash", () => {
  expect(spanRow(span({}), { ...context, storeBodies: "full" })).toMatchObject({ request_content_hash: null, response_content_hash: null });
});

test("the requested model is not recorded as the used one", () => {
  const modelsOf = (attributes: Record<string, unknown>) => {
    const { llm_model_requested, llm_model_used } = spanRow(span(attributes), { ...context, storeBodies: "full" });
    return [llm_model_requested, llm_model_used];
  };
  expect(modelsOf({ "gen_ai.request.model": "m" })).toEqual(["m", null]);
  expect(modelsOf({ "gen_ai.request.model": "m", "gen_ai.response.model": "m-2026" })).toEqual(["m", "m-2026"]);
  // OpenInference reports the model in use, not the requested one.
  expect(modelsOf({ "llm.model_name": "m" })).toEqual([null, "m"]);
});
