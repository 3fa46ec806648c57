import fc from "fast-check";
import type { ConversationRequest, Tool, Turn } from "../conversation/request.ts";
import type { AssistantPart, ToolResultPart, UserPart } from "../conversation/conversation-parts.ts";

/** Small conversations for property tests of the OpenAI codecs. Each function's parameters are what a format can express. */

const word = fc.string({ minLength: 1, maxLength: 8, unit: "binary" }).filter((text) => text.trim() !== "" && text.isWellFormed());
const name = fc.stringMatching(/^[A-Za-z0-9_-]{1,12}$/);
const json = fc.json({ maxDepth: 2 }).map((text) => JSON.stringify({ a: JSON.parse(text) as unknown }));
const schema = fc.constantFrom({ type: "object" }, { type: "object", properties: { a: { type: "string" } }, required: ["a"] });
const nothing = fc.constant(null);

const text = fc.record({ kind: fc.constant("text" as const), text: word });

const userPart: fc.Arbitrary<UserPart> = fc.oneof(
  text,
  fc.record({
    kind: fc.constant("image" as const),
    source: fc.record({ base64: fc.constantFrom("aGk=", "AAAA") }),
    mediaType: fc.constantFrom("image/png", "image/jpeg"),
  }),
  fc.record({
    kind: fc.constant("image" as const),
    source: fc.record({ url: fc.constant("https://example.com/a.png") }),
    mediaType: nothing,
    detail: fc.constantFrom("low", "high"),
  }),
  fc.record({
    kind: fc.constant("file" as const),
    source: fc.record({ base64: fc.constant("JVBERi0=") }),
    mediaType: fc.constant("application/pdf"),
    name: fc.constant("a.pdf"),
  }),
);

/** An assistant's parts in the order that a format keeps. */
export type AssistantParts = fc.Arbitrary<AssistantPart[]>;

const refusalPart = fc.record({ kind: fc.constant("refusal" as const), text: word });
const call = (id: string) => fc.record({ kind: fc.constant("tool_call" as const), id: fc.constant(id), name, arguments: json });
const calls = fc.integer({ min: 0, max: 3 }).chain((count) => fc.tuple(...Array.from({ length: count }, (_, i) => call(`call_${i}`))));

const sealedReasoning = fc
  .record({ text: fc.oneof(fc.constant(""), word), value: name })
  .map(({ text: shown, value }): AssistantPart => ({
    kind: "reasoning",
    text: shown,
    signature: { family: "openai", value },
    redacted: shown === "",
  }));

/** Texts, then a refusal, then calls. */
export const plainAssistant: AssistantParts = fc
  .tuple(fc.array(text, { maxLength: 2 }), fc.option(refusalPart, { nil: undefined, freq: 8 }), calls)
  .map(([texts, refusal, made]) => [...texts, ...(refusal === undefined ? [] : [refusal]), ...made]);

/** Any order, with reasoning encrypted by OpenAI; at least one part. */
export const sealedAssistant: AssistantParts = fc
  .tuple(fc.array(fc.oneof(text, refusalPart, sealedReasoning), { maxLength: 3 }), calls)
  .map(([textParts, made]) => [...textParts, ...made])
  .filter((parts) => parts.length > 0);

/** A user's turn, the assistant's answer, and the results of its calls. */
function exchange(assistant: AssistantParts, extra: fc.Arbitrary<UserPart>): fc.Arbitrary<Turn[]> {
  return fc
    .tuple(
      fc.array(fc.oneof(userPart, extra), { minLength: 1, maxLength: 3 }),
      assistant,
      fc.option(fc.array(text, { minLength: 1, maxLength: 2 }), { freq: 4 }),
      fc.array(text, { maxLength: 2 }),
    )
    .map(([textParts, parts, system, found]) => {
      const results = parts.flatMap((part): ToolResultPart[] =>
        part.kind === "tool_call" ? [{ kind: "tool_result", callId: part.id, toolName: null, content: found, isError: false }] : [],
      );
      const turns: Turn[] = [
        { role: "user", parts: textParts },
        { role: "assistant", parts },
      ];
      if (results.length > 0) turns.push({ role: "user", parts: results });
      if (system !== null) turns.push({ role: "system", parts: system });
      return turns;
    });
}

export interface RequestKinds {
  readonly assistant: AssistantParts;
  readonly extra: fc.Arbitrary<UserPart>;
  readonly mostInstructions: number;
  readonly strict: fc.Arbitrary<boolean | null>;
  readonly own: fc.Arbitrary<Partial<ConversationRequest>>;
}

export function conversations(kinds: RequestKinds): fc.Arbitrary<ConversationRequest> {
  const tool: fc.Arbitrary<Tool> = fc.record({ name, description: fc.option(word), schema: fc.option(schema), strict: kinds.strict });
  const choice = fc.oneof(
    fc.constantFrom(null, { kind: "auto" as const }, { kind: "none" as const }, { kind: "required" as const }),
    fc.record({ kind: fc.constant("tool" as const), name }),
    fc.record({ kind: fc.constant("subset" as const), names: fc.array(name, { minLength: 1, maxLength: 2 }), required: fc.boolean() }),
  );
  return fc
    .record({
      instructions: fc.array(text, { maxLength: kinds.mostInstructions }),
      turns: fc.array(exchange(kinds.assistant, kinds.extra), { minLength: 1, maxLength: 2 }).map((turns) => turns.flat()),
      // A reader keeps only one tool of each name.
      tools: fc.uniqueArray(tool, { maxLength: 2, selector: (each) => each.name }),
      toolChoice: choice,
      parallelToolCalls: fc.option(fc.boolean()),
      maxOutputTokens: fc.option(fc.nat()),
      temperature: fc.option(fc.constantFrom(0, 0.5, 1)),
      topP: fc.option(fc.constantFrom(0.1, 1)),
      output: fc.option(
        fc.oneof(
          fc.constantFrom({ kind: "text" as const }, { kind: "json" as const }),
          fc.record({ kind: fc.constant("schema" as const), name, description: fc.option(word), schema, strict: fc.option(fc.boolean()) }),
        ),
      ),
      endUser: fc.option(word),
      stream: fc.boolean(),
      own: kinds.own,
    })
    .map(({ own, ...request }) => ({
      ...request,
      ...(request.tools.length === 0 ? { toolChoice: null, parallelToolCalls: null } : {}),
      topK: null,
      stop: [],
      seed: null,
      presencePenalty: null,
      frequencyPenalty: null,
      candidates: null,
      logprobs: null,
      reasoning: null,
      ...own,
    }));
}

const shownReasoning = fc.record({ kind: fc.constant("reasoning" as const), text: word, redacted: fc.constant(false) });

/** At most one each of reasoning, text and refusal, then calls. */
export const chatAnswer: AssistantParts = fc
  .tuple(
    fc.option(shownReasoning, { nil: undefined }),
    fc.option(text, { nil: undefined }),
    fc.option(refusalPart, { nil: undefined, freq: 8 }),
    calls,
  )
  .map(([reasoning, textParts, refusal, made]) => [reasoning, textParts, refusal, ...made].filter((part) => part !== undefined));
