import { describe, expect, test } from "bun:test";
import type { ArgumentPolicyEntry, PolicyHit, ToolCallPolicy } from "../../directory/policies/argument-policy-entry.ts";
import { policiesByTool } from "../../directory/policies/policies-by-tool.ts";
import { toolSpelling } from "../../kernel/text/folded-name.ts";
import type { Call } from "../../road/call.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { ANSWER_FORMATS } from "../../../tests/support/formats/answer-formats.ts";
import { EventFraming } from "../../road/output/frames.ts";
import { governToolCall } from "./govern-tool-call.ts";
import { judgeToolCall, MAX_ARGUMENTS_LENGTH } from "./judge-tool-call.ts";
import { compileStoredPolicy } from "./stored-policy.ts";
import { ToolCallGate } from "./tool-call-gate.ts";
import { runToEnd } from "../../kernel/scheduling/in-turns.ts";
import { ContentWork } from "../../road/policy/content-work.ts";
import { judged } from "../../../tests/support/vendors/judged.ts";

type Severity = "deny" | "warn";

function policy(target: string, severity: Severity, violates: (text: string) => boolean): ToolCallPolicy {
  const unjudged = (message: string): PolicyHit => ({
    policy_id: `id of ${target}`,
    policy: target,
    tool: target,
    argument_key: "q",
    severity,
    rule: "unparseable",
    message,
  });
  return {
    id: `id of ${target}`,
    target,
    severity,
    *judge(text) {
      yield;
      return violates(text) ? { ...unjudged("No."), rule: "in" } : null;
    },
    unjudged,
  };
}

function callUnder(...policies: readonly ToolCallPolicy[]): Call {
  const byTool = new Map<string, ToolCallPolicy[]>();
  for (const each of policies) byTool.set(toolSpelling(each.target), [...(byTool.get(toolSpelling(each.target)) ?? []), each]);
  return { scope: { toolCallPolicies: byTool }, row: {}, answerHeaders: {} } as unknown as Call;
}

const bad = (text: string) => text.includes("bad");
const denying = policy("run", "deny", bad);

describe("argument policies on a tool call", () => {
  test("apply to the tool of that name only, and the row records the verdict", () => {
    const call = callUnder(
      denying,
      policy("run", "warn", (text) => text.includes("odd")),
    );
    expect(runToEnd(governToolCall(call, "walk", '{"q":"bad"}'))).toBeNull();
    expect(call.row).toEqual({});
    expect(runToEnd(governToolCall(call, "run", '{"q":"good"}'))).toBeNull();
    expect(call.row).toEqual({ argument_policy_denied: false });
    expect(runToEnd(governToolCall(call, "run", '{"q":"odd"}'))).toBeNull();
    expect(call.row).toMatchObject({ argument_policy_denied: false, argument_policy_id: "id of run", tags: ["argument_policy_warned"] });
    expect(runToEnd(governToolCall(call, "run", '{"q":"bad"}'))).toMatchObject({
      code: "argument_policy_denied",
      message: "No.",
      extra: { policy: "run", tool: "run", argument_key: "q" },
    });
    expect(call.row).toMatchObject({ argument_policy_denied: true, argument_policy_id: "id of run" });
    // A later call that passes does not clear the denial.
    runToEnd(governToolCall(call, "run", '{"q":"good"}'));
    expect(call.row.argument_policy_denied).toBe(true);
  });

  test("apply to every spelling of the name that a server may accept", () => {
    const entry = { id: "e", groupIds: null, policy: denying } as unknown as ArgumentPolicyEntry;
    const call = { scope: { toolCallPolicies: policiesByTool([entry], []) }, row: {} } as unknown as Call;
    for (const name of ["run", "RUN", " run", "\uff52un"])
      expect(runToEnd(governToolCall(call, name, '{"q":"bad"}'))).toMatchObject({ code: "argument_policy_denied" });
    for (const name of ["runs", "ru"]) expect(runToEnd(governToolCall(call, name, '{"q":"bad"}'))).toBeNull();
  });

  test("deny a call whose arguments are too long to judge or unreadable", () => {
    const { scope } = callUnder(denying) as { scope: NonNullable<Call["scope"]> };
    expect(runToEnd(judgeToolCall(scope, "run", " ".repeat(MAX_ARGUMENTS_LENGTH + 1), new ContentWork())).denied?.message).toContain(
      "longer than",
    );
    expect(runToEnd(judgeToolCall(scope, "run", { unreadable: "Torn." }, new ContentWork())).denied?.message).toBe("Torn.");
    expect(
      runToEnd(judgeToolCall(callUnder(policy("run", "warn", bad)).scope as never, "run", { unreadable: "Torn." }, new ContentWork())),
    ).toMatchObject({ denied: null, warnings: [{ message: "Torn." }] });
  });

  test.each(["deny", "warn"] as const)("count as violated (%s) when the policy itself fails", async (severity) => {
    const row = {
      id: "p",
      tenant_id: "t",
      name: "Deep",
      description: null,
      surface: "llm_output_tool_calls",
      target: "run",
      argument_key: null,
      analyzer: "json_schema",
      severity,
      enabled: true,
      rules: [{ deny_if: "invalid", message: "No." }],
      dialect: null,
      read_functions: null,
      schema: { $defs: { a: { type: "array", items: { $ref: "#/$defs/a" } } }, $ref: "#/$defs/a" },
      all_groups: true,
      group_ids: [],
      created_at: new Date(),
      updated_at: new Date(),
    };
    // Too deep for the validator, which overflows its stack.
    const deep = "[".repeat(60_000) + "]".repeat(60_000);
    expect(judged(await compileStoredPolicy(row), deep)).toMatchObject({ severity, rule: "unparseable" });
    expect(judged(await compileStoredPolicy({ ...row, analyzer: "gone" }), "{}")).toMatchObject({
      severity,
      rule: "unparseable",
      message: "The policy on this tool cannot be read.",
    });
  });
});

const frame = (value: object) => `data: ${JSON.stringify(value)}\n\n`;

/** What a gate returns for each frame. */
function passed(
  format: "chat" | "responses" | "messages",
  frames: readonly object[],
  call = callUnder(denying),
): { readonly out: string[][]; readonly gate: ToolCallGate } {
  const gate = new ToolCallGate(call, ANSWER_FORMATS[format]);
  const framing = new EventFraming();
  const out = frames.map((each) =>
    framing
      .push(new TextEncoder().encode(frame(each)))
      .flatMap((one) => runToEnd(gate.frame(one)))
      .map((given) => new TextDecoder().decode(framing.write(given))),
  );
  return { out, gate };
}

const piece = (delta: object, finish: string | null = null, index = 0) => ({ choices: [{ index, delta, finish_reason: finish }] });
const fragment = (index: number, text: string, name?: string, choice = 0) =>
  piece(
    {
      tool_calls: [
        {
          index,
          ...(name === undefined ? {} : { id: `c${index}` }),
          function: { ...(name === undefined ? {} : { name }), arguments: text },
        },
      ],
    },
    null,
    choice,
  );

describe("frames of a stream", () => {
  test("with a held call wait, text between them does not, and all are sent before the end", () => {
    const frames = [
      fragment(0, "", "run"),
      piece({ content: "Now" }),
      fragment(0, '{"q":1}'),
      piece({ content: " then" }),
      piece({}, "tool_calls"),
    ];
    const { out } = passed("chat", frames);
    expect(out).toEqual([
      [],
      [frame(frames[1] as object)],
      [],
      [frame(frames[3] as object)],
      [frames[0], frames[2], frames[4]].map((each) => frame(each as object)),
    ]);
  });

  test("with parallel calls wait for a held call before them, but only until their own choice ends", () => {
    const frames = [
      fragment(0, "", "walk"),
      fragment(0, "{}"),
      fragment(1, "", "run"),
      fragment(0, "", "run", 1),
      fragment(0, "{}", undefined, 1),
      piece({}, "tool_calls", 1),
      fragment(1, "{}"),
      piece({}, "tool_calls"),
    ];
    const { out } = passed("chat", frames);
    const at = (...places: number[]) => places.map((place) => frame(frames[place] as object));
    expect(out).toEqual([at(0), at(1), [], [], [], at(3, 4, 5), [], at(2, 6, 7)]);
  });

  test("with a call that has no name yet wait for its name", () => {
    const frames = [fragment(0, '{"q":'), fragment(0, "", "walk"), fragment(0, "1}")];
    const at = (...places: number[]) => places.map((place) => frame(frames[place] as object));
    expect(passed("chat", frames).out).toEqual([[], at(0, 1), at(2)]);
    const { out, gate } = passed("chat", [fragment(0, '{"q":"bad"}'), fragment(0, "", "run"), piece({}, "tool_calls")]);
    expect([out.flat(), gate.refusal?.code]).toEqual([[], "argument_policy_denied"]);
  });

  test.each(["tool_calls", ""])(
    "with a call that continues after a finish reason (%p) are judged together with its earlier part",
    (finish) => {
      const begun = (text: string, name?: string) =>
        piece({ tool_calls: [{ index: 0, function: { ...(name === undefined ? {} : { name }), arguments: text } }] }, finish);
      for (const pieces of [
        ["", '{"q":"bad"}'],
        ['{"q":', '"bad"}'],
        ["", '{"q"', ':"bad"}'],
      ]) {
        const { out, gate } = passed("chat", [...pieces.map((text, at) => begun(text, at === 0 ? "run" : undefined)), piece({}, "stop")]);
        expect([gate.refusal?.code, out.flat().join("").includes("bad")]).toEqual(["argument_policy_denied", false]);
      }
    },
  );

  describe("of calls that share one index", () => {
    const named = (id: string, name: string, text: string) =>
      piece({ tool_calls: [{ index: 0, id, function: { name, arguments: text } }] });
    const more = (text: string) => piece({ tool_calls: [{ index: 0, function: { arguments: text } }] });
    const end = piece({}, "tool_calls");
    const parsing = callUnder(policy("run", "deny", (text) => text.includes("bad") || (text !== "" && !isJson(text))));
    const isJson = (text: string) => {
      try {
        JSON.parse(text);
        return true;
      } catch {
        return false;
      }
    };

    test.each([
      [[named("a", "run", '{"q":'), more("1}"), named("b", "run", ""), more('{"q":2}'), end]],
      [[named("a", "walk", "{}"), named("b", "run", '{"q":2}'), end]],
      [[named("a", "run", '{"q":1}'), named("b", "walk", "bad"), end]],
      [[named("a", "walk", ""), named("b", "run", '{"q":2}'), named("c", "run", "{}"), end]],
      [[named("a", "run", ""), named("b", "run", '{"q":2}'), end]],
    ])("are judged as separate calls (%#)", (frames) => {
      const { out, gate } = passed("chat", frames, parsing);
      expect([gate.refusal, out.flat()]).toEqual([null, frames.map((each) => frame(each))]);
    });

    test.each([
      [[named("a", "run", "{}"), named("b", "run", '{"q":"bad"}'), end]],
      [[named("a", "run", '{"q":"bad"}'), named("b", "run", "{}"), end]],
      [[named("a", "walk", "{}"), named("b", "run", '{"q":"bad"}'), end]],
      [[named("a", "run", ""), named("b", "walk", '{"q":"bad"}'), end]],
      [[named("a", "run", '{"q":'), named("b", "run", '"bad"}'), end]],
      [[named("a", "walk", '{"q":"bad","x":'), named("b", "run", "{}}"), end]],
      [[named("a", "walk", '"ba'), named("b", "run", 'd"'), end]],
    ])("are denied whichever call is bad, and however a client may assemble them (%#)", (frames) => {
      const { out, gate } = passed("chat", frames, parsing);
      expect(gate.refusal?.code).toBe("argument_policy_denied");
      expect(out.flat().join("")).not.toContain('"name":"run"');
    });
  });

  test("with both text and a held call also hold back the text after them", () => {
    const mixed = {
      choices: [
        {
          index: 0,
          delta: { content: "a", tool_calls: [{ index: 0, id: "c", function: { name: "run", arguments: "{}" } }] },
          finish_reason: null,
        },
      ],
    };
    const frames = [mixed, piece({ content: "b" }), piece({}, "tool_calls")];
    expect(passed("chat", frames).out).toEqual([[], [], frames.map(frame)]);
  });

  test("of interleaved items stay in order, with increasing sequence numbers", () => {
    const item = (index: number, given: object) => ({ output_index: index, item: { id: `i${index}`, ...given } });
    const frames: Record<string, unknown>[] = [
      { type: "response.output_item.added", ...item(0, { type: "message", content: [] }) },
      { type: "response.output_item.added", ...item(1, { type: "function_call", name: "run", arguments: "" }) },
      { type: "response.output_text.delta", output_index: 0, content_index: 0, delta: "Text of an open item" },
      { type: "response.output_item.added", ...item(2, { type: "message", content: [] }) },
      { type: "response.output_text.delta", output_index: 2, content_index: 0, delta: "Text of a later item" },
      { type: "response.function_call_arguments.delta", output_index: 1, delta: "{}" },
      { type: "response.output_item.done", ...item(1, { type: "function_call", name: "run", arguments: "{}" }) },
      { type: "response.output_text.delta", output_index: 0, content_index: 0, delta: "More" },
    ].map((each, sequence_number) => ({ ...each, sequence_number }));
    const { out } = passed("responses", frames);
    const events = out.flat().map((text) => JSON.parse(text.slice(6)) as { type: string; sequence_number: number; output_index: number });
    expect(out.map((given) => given.length)).toEqual([1, 0, 1, 0, 0, 0, 5, 1]);
    expect(events.map(({ output_index }) => output_index)).toEqual([0, 0, 1, 2, 2, 1, 1, 0]);
    for (const [i, { sequence_number }] of events.entries()) expect(sequence_number).toBeGreaterThan(events[i - 1]?.sequence_number ?? -1);
  });
});

describe("no unjudged call passes:", () => {
  const denied = (format: "chat" | "responses" | "messages", frames: readonly object[]) => {
    const { out, gate } = passed(format, frames);
    expect(out.flat().join("")).not.toContain("bad");
    expect(gate.refusal?.code).toBe("argument_policy_denied");
  };

  test("the final event has other arguments than the deltas", () => {
    const item = (text: string) => ({ type: "function_call", id: "f", call_id: "c", name: "run", arguments: text });
    denied("responses", [
      { type: "response.output_item.added", output_index: 0, item: item("") },
      { type: "response.function_call_arguments.delta", output_index: 0, delta: '{"q":1}' },
      { type: "response.output_item.done", output_index: 0, item: item('{"q":1}') },
      { type: "response.completed", response: { output: [item('{"q":"bad"}')] } },
    ]);
  });

  test("a block starts with its complete input, or a hosted tool makes the call", () => {
    denied("messages", [
      { type: "content_block_start", index: 0, content_block: { type: "tool_use", id: "t", name: "run", input: { q: "bad" } } },
      { type: "content_block_stop", index: 0 },
    ]);
    denied("messages", [
      { type: "content_block_start", index: 0, content_block: { type: "server_tool_use", id: "t", name: "run", input: {} } },
      { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: '{"q":"bad"}' } },
      { type: "content_block_stop", index: 0 },
    ]);
  });

  test("a call is a legacy function call, a custom tool call, or has an object as arguments", () => {
    denied("chat", [piece({ function_call: { name: "run", arguments: '{"q":"bad"}' } }), piece({}, "function_call")]);
    denied("chat", [
      piece({ tool_calls: [{ index: 0, id: "c", type: "custom", custom: { name: "run", input: "bad" } }] }),
      piece({}, "tool_calls"),
    ]);
    denied("chat", [
      piece({ tool_calls: [{ index: 0, id: "c", function: { name: "run", arguments: { q: "bad" } } }] }),
      piece({}, "tool_calls"),
    ]);
  });

  test("a call changes its name midway", () => {
    const { gate } = passed("chat", [fragment(0, "", "walk"), fragment(0, '{"q":1}'), fragment(0, "", "run"), piece({}, "tool_calls")]);
    expect(gate.refusal?.message).toBe("The call changed its name after it had begun.");
  });

  test("the held frames exceed the memory limit", () => {
    const frames = Array.from({ length: 1_100 }, () => fragment(0, " ".repeat(8_000)));
    const { out, gate } = passed("chat", [fragment(0, '{"q":1}', "run"), ...frames]);
    expect(out.flat()).toEqual([]);
    expect(gate.refusal?.message).toMatch(/too large|longer than/);
    // If policies only warn, the call continues unjudged, and the row records that once.
    const call = callUnder(policy("run", "warn", bad));
    const warned = passed("chat", [fragment(0, "{", "run"), ...frames, piece({}, "tool_calls")], call);
    expect([warned.gate.refusal, warned.out.flat().length]).toEqual([null, frames.length + 2]);
    expect((call.row.custom_metadata as { argument_policies: unknown[] }).argument_policies).toHaveLength(1);
  });

  test("the provider breaks off the answer before a call is complete", () => {
    const { out, gate } = passed("chat", [fragment(0, '{"q":"bad', "run")]);
    gate.breakOff();
    const framing = new EventFraming();
    const last = framing
      .push(new TextEncoder().encode(frame(fragment(0, 'bad"}')) + frame({ error: { message: "Torn." } })))
      .flatMap((one) => runToEnd(gate.frame(one)));
    expect(out.flat()).toEqual([]);
    expect(last.map(({ body }) => body)).toEqual([{ error: { message: "Torn." } }]);
  });
});

test.each([
  ["chat", { choices: [{ index: 0, message: { tool_calls: [{ id: "c", function: { name: "run", arguments: ["bad"] } }] } }] }],
  ["responses", { output: [{ type: "function_call", name: "run", arguments: ["bad"] }] }],
  ["messages", { content: [{ type: "tool_use", name: "run", input: ["bad"] }] }],
  ["messages", { content: [{ type: "tool_use", name: "run", input: "bad" }] }],
] as const)("arguments that are not an object are judged as they are (%s, %#)", (format, body) => {
  const gate = new ToolCallGate(callUnder(denying), ANSWER_FORMATS[format]);
  expect(runToEnd(gate.whole(structuredClone(body) as unknown as JsonObject))?.code).toBe("argument_policy_denied");
});

test("arguments given as an object are judged with their exact digits, in a whole answer and in a stream", () => {
  const block = '{"type":"tool_use","name":"run","input":{"to":9007199254740993}}';
  const denied = (digits: string) => callUnder(policy("run", "deny", (text) => text.includes(digits)));
  const bytes = (text: string) => new TextEncoder().encode(text);
  const whole = `{"content":[${block}]}`;
  const event = `data: {"type":"content_block_start","index":0,"content_block":${block}}\n\n`;
  for (const [digits, code] of [
    ["9007199254740993", "argument_policy_denied"],
    ["9007199254740992", undefined],
  ] as const) {
    const gate = new ToolCallGate(denied(digits), ANSWER_FORMATS.messages);
    expect(runToEnd(gate.whole(JSON.parse(whole), bytes(whole)))?.code).toBe(code as never);
    const streamed = new ToolCallGate(denied(digits), ANSWER_FORMATS.messages);
    for (const one of new EventFraming().push(bytes(event))) runToEnd(streamed.frame(one));
    runToEnd(streamed.end());
    expect(streamed.refusal?.code).toBe(code as never);
  }
});
