import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { compilePolicy } from "./compile-policy.ts";
import { toolSpelling } from "../../kernel/text/folded-name.ts";
import type { Call } from "../../road/call.ts";
import { ANSWER_FORMATS } from "../../../tests/support/formats/answer-formats.ts";
import { GatedStream } from "./gated-stream.ts";
import { ToolCallGate } from "./tool-call-gate.ts";
import { FORMATS, type FormatName, framesOf, type Item, streamOf, textsIn } from "../../../tests/support/vendors/scripted-streams.ts";

/** The secret of a denied call: its arguments, and nothing else, consist of this letter. */
const SECRET = "ж";
const GOVERNED = "run_query";

function gated(format: FormatName): { readonly codec: GatedStream; readonly call: Call } {
  const made = compilePolicy({
    id: "p",
    name: "Queries",
    target: GOVERNED,
    argument_key: "q",
    analyzer: "values",
    severity: "deny",
    rules: [{ deny_if: "not_in", values: ["fine"], message: "Not this." }],
  });
  if (!made.ok) throw new Error("the policy does not compile");
  const call = { scope: { toolCallPolicies: new Map([[toolSpelling(GOVERNED), [made.policy]]]) }, row: {} } as unknown as Call;
  const { texts, framing } = FORMATS[format];
  return { codec: new GatedStream(streamOf(format), new ToolCallGate(call, ANSWER_FORMATS[texts]), framing), call };
}

const words = fc.array(fc.constantFrom("Look", " up", "a call ", "the tool", "Grüße", "👋", "\n\n", '"function_call":'), {
  minLength: 1,
  maxLength: 4,
});
const text: fc.Arbitrary<Item> = words.map((said) => ({ kind: "text", pieces: said }));
const cut = (value: string) =>
  fc.array(fc.integer({ min: 1, max: Math.max(1, value.length - 1) }), { maxLength: 4 }).map((places) => pieces(value, places));
const callOf = (name: string, args: object) => cut(JSON.stringify(args)).map((parts): Item => ({ kind: "call", name, pieces: parts }));
const harmless = fc.oneof(callOf(GOVERNED, { q: "fine" }), callOf("weather", { city: "Oslo" }), callOf("weather", {}));
const denied = fc.integer({ min: 1, max: 30 }).chain((length) => callOf(GOVERNED, { q: SECRET.repeat(length) }));

function pieces(value: string, places: readonly number[]): string[] {
  const ends = [...new Set(places)].toSorted((a, b) => a - b).filter((place) => place < value.length);
  return [0, ...ends].map((from, i) => value.slice(from, ends[i] ?? value.length));
}

const sizes = fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 30 });

function chunks(bytes: Uint8Array, lengths: readonly number[]): Uint8Array[] {
  const cutBytes: Uint8Array[] = [];
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const size = lengths[i % lengths.length] as number;
    cutBytes.push(bytes.subarray(at, at + size));
    at += size;
  }
  return cutBytes;
}

interface Run {
  readonly out: string;
  readonly complete: boolean;
  readonly codec: GatedStream;
  readonly call: Call;
}

/** `after` gets everything received and sent so far, after each piece. */
function run(
  format: FormatName,
  items: readonly Item[],
  lengths: readonly number[],
  after: (received: string, sent: string) => void = () => undefined,
): Run {
  const { codec, call } = gated(format);
  const bytes = new TextEncoder().encode(framesOf(format, items).join(""));
  const sent: Uint8Array[] = [];
  let received = 0;
  const given = () => new TextDecoder().decode(Buffer.concat(sent));
  for (const chunk of chunks(bytes, lengths)) {
    const piece = codec.push(chunk);
    if (piece !== null) sent.push(piece);
    received += chunk.length;
    after(new TextDecoder().decode(bytes.subarray(0, received)), given());
  }
  const { complete, last } = codec.end();
  if (last !== null) sent.push(last);
  return { out: given(), complete, codec, call };
}

const RUNS = { numRuns: 400 };
/** These parse the whole stream again after every piece. */
const FEWER_RUNS = { numRuns: 100 };

describe.each(Object.keys(FORMATS) as FormatName[])("a gated stream (%s), however it is split into chunks,", (format) => {
  test("passes byte for byte when no call is denied", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(text, harmless), { minLength: 1, maxLength: 6 }), sizes, (items, lengths) => {
        const { out, complete, codec } = run(format, items, lengths);
        const whole = framesOf(format, items);
        expect([complete, codec.refusal(true)]).toEqual([true, null]);
        // If the format allows texts between the frames of a call, they are sent first; each frame is unchanged.
        if (FORMATS[format].ordered) expect(out).toBe(whole.join(""));
        else expect(out.split("\n\n").toSorted()).toEqual(whole.join("").split("\n\n").toSorted());
        expect(textsIn(format, out)).toBe(textsIn(format, whole.join("")));
      }),
      RUNS,
    );
  });

  test("sends no byte of a denied call's arguments, and no end", () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(text, harmless), { maxLength: 3 }),
        denied,
        fc.array(fc.oneof(text, harmless, denied), { maxLength: 3 }),
        sizes,
        (before, call, behind, lengths) => {
          const items = [...before, call, ...behind];
          const { out, complete, codec, call: streamCall } = run(format, items, lengths);
          expect(out).not.toContain(SECRET);
          expect(out).not.toContain("\\u0436");
          expect([
            complete,
            codec.refusal(false),
            codec.refusal(true)?.code,
            codec.refusal(true)?.message,
            streamCall.row.argument_policy_denied,
          ]).toEqual([false, null, "argument_policy_denied", "Not this.", true]);
          expect(textsIn(format, framesOf(format, items).join("")).startsWith(textsIn(format, out))).toBe(true);
          // Usage reported by the provider is metered although the answer is not given.
          expect(codec.usage?.output).toBe(7);
        },
      ),
      RUNS,
    );
  });

  test("does not hold back text", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(text, harmless), { minLength: 1, maxLength: 6 }), sizes, (items, lengths) => {
        run(format, items, lengths, (received, sent) => expect(textsIn(format, sent)).toBe(textsIn(format, received)));
      }),
      FEWER_RUNS,
    );
  });
});

test("a tool call that the provider would make after the caller's approval is subject to its policy", () => {
  const { codec } = gated("responses");
  const item = { type: "mcp_approval_request", id: "a", server_label: "s", name: GOVERNED, arguments: JSON.stringify({ q: SECRET }) };
  const frames = [
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response: { status: "completed", output: [item] } },
  ].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  const given = frames.map((frame) => codec.push(new TextEncoder().encode(frame)));
  const { last } = codec.end();
  expect(new TextDecoder().decode(Buffer.concat([...given, last].filter((piece) => piece !== null)))).not.toContain(SECRET);
  expect(codec.refusal(true)).toMatchObject({ code: "argument_policy_denied" });
});
