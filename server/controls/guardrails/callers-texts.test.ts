import { describe, expect, test } from "bun:test";
import { ANSWER_FORMATS } from "../../../tests/support/formats/answer-formats.ts";
import { answerGuardRun } from "../../../tests/support/formats/answer-guard-run.ts";
import { cpuMs, fixedWorkMs } from "../../../tests/support/processes/cpu-time.ts";
import { runToEnd } from "../../kernel/scheduling/in-turns.ts";
import type { Call } from "../../road/call.ts";
import type { Exchange } from "../../road/surface.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { readResponsesRequest } from "../../wire/responses/responses-request.ts";
import { AnswerGuard } from "./answers/answer-guard.ts";
import { callersTexts } from "./callers-texts.ts";

const MAIL = "joe@example.com";
const REDACTED = "[REDACTED:email]";
const tool = (description: string) => ({ type: "function", name: "f", parameters: { properties: { to: { description } } } });

const REQUEST = {
  model: "m",
  input: "Hello",
  instructions: `Sign as ${MAIL}`,
  tools: [tool(`Mail to ${MAIL}`)],
  metadata: { [`who ${MAIL}`]: `by ${MAIL}` },
};

function exchange(): Exchange {
  const inbound = readResponsesRequest(new TextEncoder().encode(JSON.stringify(REQUEST)));
  return { conversation: { inbound } } as unknown as Exchange;
}
const call = { target: { kind: "model", route: { members: [{ model: { systemPrompt: `Ask ${MAIL}` } }] } } } as unknown as Call;

function guarded(body: object): JsonObject {
  const said = structuredClone(body) as JsonObject;
  runToEnd(
    new AnswerGuard(ANSWER_FORMATS.responses, answerGuardRun({ pii: { action: "redact" } }), callersTexts(call, exchange())).whole(said),
  );
  return said;
}

describe("a response's copy of request members", () => {
  test.each([
    { instructions: REQUEST.instructions, tools: REQUEST.tools, metadata: REQUEST.metadata, tool_choice: "auto" },
    { instructions: `Ask ${MAIL}` },
    { instructions: `Ask ${MAIL}\nSign as ${MAIL}` },
    // Vendors add default values.
    { tools: [{ ...REQUEST.tools[0], strict: true, description: null }], text: { format: { type: "text" }, verbosity: "medium" } },
  ])("is not inspected if it is the same as in the request: %j", (repeated) => {
    const body = { object: "response", output: [], ...repeated };
    expect(guarded(body)).toEqual(body as never);
  });

  test.each([
    { instructions: `Write ${MAIL}` },
    { instructions: `Sign as ${MAIL}\nAsk ${MAIL}` },
    { tools: [tool(`Write ${MAIL}`)] },
    { metadata: { who: `Write ${MAIL}` } },
    { text: { format: { type: "text", note: `Write ${MAIL}` } } },
    { prompt: { variables: { a: `Write ${MAIL}` } } },
    { tool_choice: `Write ${MAIL}` },
  ])("is inspected if it differs from the request: %j", (repeated) => {
    expect(guarded({ object: "response", output: [], ...repeated })).toEqual(
      JSON.parse(JSON.stringify({ object: "response", output: [], ...repeated }).replaceAll(MAIL, REDACTED)) as JsonObject,
    );
  });

  test("is inspected if it appears as the answer", () => {
    const output = [{ type: "message", content: [{ type: "output_text", text: REQUEST.instructions, annotations: [] }] }];
    expect(JSON.stringify(guarded({ object: "response", output }))).not.toContain(MAIL);
  });
});

test("text in place of image bytes is inspected, and many images take no more time than other items", () => {
  const item = (result: string) => ({ type: "image_generation_call", result });
  expect(guarded({ object: "response", output: [item(`Write ${MAIL}`), item("AAAA")] })).toEqual({
    object: "response",
    output: [item(`Write ${REDACTED}`), item("AAAA")],
  } as never);
  const body = { object: "response", output: Array.from({ length: 60_000 }, () => item("AAAA")) };
  const started = cpuMs();
  guarded(body);
  expect(cpuMs(started)).toBeLessThan(8 * fixedWorkMs());
});
