import type { Difference } from "./differences.ts";
import type { PortkeyProvider } from "./portkey.ts";

/** Why some differences are expected, and which ones. */
export interface Explanation {
  readonly reason: string;
  /** Path of the difference: `*` matches one member or index, a trailing `**` everything below. */
  readonly at: string;
  /** If omitted: any provider. */
  readonly to?: readonly PortkeyProvider[];
  /** If omitted: any exchange. */
  readonly in?: readonly string[];
  /** If omitted: any value. A missing member is passed as undefined. */
  readonly ours?: (value: unknown) => boolean;
  readonly theirs?: (value: unknown) => boolean;
}

export function explains(explanation: Explanation, to: PortkeyProvider, name: string, { at, ours, theirs }: Difference): boolean {
  return (
    (explanation.to?.includes(to) ?? true) &&
    (explanation.in?.includes(name) ?? true) &&
    patternOf(explanation.at).test(at) &&
    (explanation.ours?.(ours) ?? true) &&
    (explanation.theirs?.(theirs) ?? true)
  );
}

function patternOf(at: string): RegExp {
  const source = at
    .split(".")
    .map((part) => (part === "**" ? ".*" : part === "*" ? "[^.]+" : part.replace(/[$()[\]\\^|+?{}]/g, "\\$&")))
    .join("\\.");
  return new RegExp(`^${source}$`);
}

const absent = (value: unknown) => value === undefined;
const is = (wanted: unknown) => (value: unknown) => JSON.stringify(value) === JSON.stringify(wanted);
const TRANSLATED: readonly PortkeyProvider[] = ["anthropic", "google", "bedrock"];
/** The fake of Google refuses made-up call histories, so the request and the refusal are compared. */
const FAILING = [
  "a request the vendor refuses",
  "a vendor's rate limit error",
  "a failing vendor",
  "a tool's result",
  "results of parallel calls",
];
const STREAMED = ["one text, streamed", "one text, streamed with usage", "tools, streamed"];

/** In the order of a call: first what is sent to the vendor, then what is answered. */
export const EXPLAINED: readonly Explanation[] = [
  // Requests to every vendor.
  { at: "request.0.body.**", to: ["anthropic", "bedrock"], theirs: is(0.9), reason: "Claude refuses top p beside a temperature." },
  {
    at: "request.0.body.stream_options",
    to: ["openai"],
    in: STREAMED,
    theirs: absent,
    ours: is({ include_usage: true }),
    reason:
      "Usage is always asked for, so that a stream is metered by what the vendor counted; the chunk is withheld from a caller who did not ask.",
  },

  // Requests to Anthropic.
  {
    at: "request.0.body.max_tokens",
    to: ["anthropic"],
    in: ["no output token limit"],
    ours: is(64_000),
    theirs: absent,
    reason:
      "Anthropic refuses a request without a ceiling, so the most the model writes is sent; the other gateway leaves the refusal to the vendor.",
  },
  {
    at: "request.0.body.system",
    to: ["anthropic"],
    ours: absent,
    theirs: is([]),
    reason: "No system prompt is no member; an empty list says nothing more.",
  },
  {
    at: "request.0.body.system",
    to: ["anthropic"],
    in: ["a system message", "a developer message"],
    ours: is("Be brief."),
    theirs: is([{ text: "Be brief.", type: "text" }]),
    reason: "One text may be written as a string or as a block: the same to the vendor.",
  },
  {
    at: "request.0.body.messages.*.content",
    to: ["anthropic"],
    in: ["earlier turns"],
    ours: is("Hi."),
    theirs: is([{ type: "text", text: "Hi." }]),
    reason: "One text may be written as a string or as a block: the same to the vendor.",
  },
  {
    at: "request.0.body.messages.0.content",
    to: ["anthropic"],
    in: ["two turns of the same role"],
    reason: "Turns of one role in a row are merged here; the vendor merges what the other gateway sends apart.",
  },
  {
    at: "request.0.body.messages.1",
    to: ["anthropic"],
    in: ["two turns of the same role"],
    ours: absent,
    reason: "The second of the turns merged above.",
  },
  {
    at: "request.0.body.messages.2.content.1",
    to: ["anthropic"],
    in: ["results of parallel calls"],
    theirs: absent,
    reason:
      "Results of parallel calls must stand in the one turn behind the calls; apart, the vendor takes them as one turn only because it merges.",
  },
  {
    at: "request.0.body.messages.3",
    to: ["anthropic"],
    in: ["results of parallel calls"],
    ours: absent,
    reason: "The turn of the second result, see above.",
  },
  {
    at: "request.0.body.tools.*.input_schema.$defs",
    to: ["anthropic"],
    ours: absent,
    theirs: is({}),
    reason: "A tool's schema is sent as the caller wrote it, without members of the gateway's own.",
  },
  {
    at: "request.0.body.output_config",
    to: ["anthropic"],
    in: ["an answer with a JSON schema"],
    theirs: absent,
    reason: "The vendor enforces a schema that is sent with the request; the other gateway drops response_format.",
  },
  {
    at: "request.0.body.system",
    to: ["anthropic"],
    in: ["an answer as JSON"],
    theirs: is([]),
    reason: "The vendor has no JSON mode without a schema: it is asked for in words, where the other gateway drops it.",
  },
  {
    at: "request.0.body.stop_sequences",
    to: ["anthropic"],
    in: ["a stop sequence as a string"],
    ours: is(["END"]),
    theirs: is("END"),
    reason: "The vendor takes a list only; a text would be refused.",
  },

  // Requests to Google.
  { at: "request.0.body.model", to: ["google"], ours: absent, reason: "The model stands in the address; the body has no such member." },
  {
    at: "request.0.body.generationConfig.stopSequences",
    to: ["google"],
    in: ["a stop sequence as a string"],
    ours: is(["END"]),
    theirs: is("END"),
    reason: "The vendor takes a list only.",
  },
  {
    at: "request.0.body.contents.*",
    to: ["google"],
    in: ["two turns of the same role"],
    theirs: absent,
    reason: "Turns stay apart as the caller wrote them; the vendor takes both forms.",
  },
  {
    at: "request.0.body.contents.0.parts.1",
    to: ["google"],
    in: ["two turns of the same role"],
    ours: absent,
    reason: "The second of the turns that the other gateway merges.",
  },
  { at: "request.0.body.systemInstruction.role", to: ["google"], ours: absent, reason: "A system instruction has no role." },
  {
    at: "request.0.body.systemInstruction.parts.1",
    to: ["google"],
    in: ["a system message in parts"],
    theirs: absent,
    reason: "The other gateway sends only the first part of a system message.",
  },
  {
    at: "request.0.body.toolConfig",
    to: ["google"],
    theirs: absent,
    reason: "The documented spelling; the vendor takes the other one too.",
  },
  { at: "request.0.body.tool_config", to: ["google"], ours: absent, reason: "See toolConfig." },
  {
    at: "request.0.body.tools.0.functionDeclarations.*.parametersJsonSchema",
    to: ["google"],
    theirs: absent,
    reason:
      "Tool schemas go where the vendor takes JSON Schema whole; `parameters` takes a subset, into which the other gateway cuts them.",
  },
  { at: "request.0.body.tools.0.functionDeclarations.*.parameters", to: ["google"], ours: absent, reason: "See parametersJsonSchema." },
  {
    at: "request.0.body.generationConfig.responseJsonSchema",
    to: ["google"],
    in: ["an answer with a JSON schema"],
    theirs: absent,
    reason: "As for tools: the schema goes whole where JSON Schema is taken.",
  },
  {
    at: "request.0.body.generationConfig.responseSchema",
    to: ["google"],
    in: ["an answer with a JSON schema"],
    ours: absent,
    reason: "See responseJsonSchema.",
  },
  {
    at: "request.0.body.contents.2.role",
    to: ["google"],
    in: ["a tool's result", "results of parallel calls"],
    ours: is("user"),
    theirs: is("function"),
    reason: "Results stand in a user's turn; `function` is a role of an earlier version of the API.",
  },
  {
    at: "request.0.body.contents.2.parts.*.functionResponse.name",
    to: ["google"],
    in: ["a tool's result", "results of parallel calls"],
    theirs: is("gateway-tool-filler-name"),
    reason: "The vendor matches results to calls by name: it is found at the call, where the other gateway writes a filler.",
  },
  {
    at: "request.0.body.contents.2.parts.*.functionResponse.id",
    to: ["google"],
    in: ["a tool's result", "results of parallel calls"],
    theirs: absent,
    reason: "The ids of calls are kept, so that results of two calls of one tool cannot be confused.",
  },
  {
    at: "request.0.body.contents.1.parts.*.functionCall.id",
    to: ["google"],
    in: ["a tool's result", "results of parallel calls"],
    theirs: absent,
    reason: "See functionResponse.id.",
  },
  {
    at: "request.0.body.contents.1.parts.*.thoughtSignature",
    to: ["google"],
    in: ["a tool's result", "results of parallel calls"],
    ours: is("skip_thought_signature_validator"),
    theirs: absent,
    reason:
      "Newer models refuse a history whose calls have no signature; for calls the gateway has no signature of, the vendor documents this value.",
  },
  {
    at: "request.0.body.contents.1.parts.**",
    to: ["google"],
    in: ["results of parallel calls"],
    reason: "The other gateway drops the text that stands beside the calls, and all parts move up.",
  },
  {
    at: "request.0.path",
    to: ["google"],
    in: STREAMED,
    ours: (path) => String(path).endsWith("?alt=sse"),
    reason: "Streams are asked for as events, as Google's own clients do; the other gateway reads the stream that is one JSON array.",
  },
  {
    at: "request.0.path",
    to: ["google"],
    in: ["the embedding of one text"],
    reason: "Every embeddings call is a batch here, of one text too; the other gateway uses the vendor's method for one.",
  },
  { at: "request.0.body.requests", to: ["google"], in: ["the embedding of one text"], theirs: absent, reason: "See the path above." },
  { at: "request.0.body.content", to: ["google"], in: ["the embedding of one text"], ours: absent, reason: "See the path above." },

  // Requests to Bedrock.
  {
    at: "request.0.body.additionalModelRequestFields",
    to: ["bedrock"],
    in: ["an end user's ID"],
    ours: absent,
    reason:
      "An end user is no field of Converse; for other models than Claude the vendor would refuse it. It is named as dropped in x-gw-dropped-parameters.",
  },
  {
    at: "request.0.body.additionalModelResponseFieldPaths",
    to: ["bedrock"],
    theirs: absent,
    ours: is(["/stop_sequence"]),
    reason: "Asked for so that the answer can say which sequence stopped the model.",
  },
  {
    at: "request.0.body.inferenceConfig.stopSequences",
    to: ["bedrock"],
    in: ["a stop sequence as a string"],
    ours: is(["END"]),
    theirs: is("END"),
    reason: "The vendor takes a list only.",
  },
  {
    at: "request.0.body.outputConfig",
    to: ["bedrock"],
    in: ["an answer with a JSON schema"],
    theirs: absent,
    reason: "The vendor enforces a schema that is sent with the request; the other gateway drops response_format.",
  },
  {
    at: "request.0.body.system",
    to: ["bedrock"],
    in: ["an answer as JSON"],
    theirs: absent,
    reason: "JSON without a schema is asked for in words.",
  },
  {
    at: "request.0.body.toolConfig",
    to: ["bedrock"],
    in: ["no tool"],
    ours: absent,
    reason: "Converse has no choice of none: the tools are left out, where the other gateway sends them and the model may call them.",
  },
  {
    at: "request.0.body.toolConfig.toolChoice",
    to: ["bedrock"],
    in: ["tools"],
    ours: absent,
    theirs: is({ auto: {} }),
    reason: "The vendor's default is not said.",
  },

  // Answers of every provider.
  {
    at: "answer.body.provider",
    ours: absent,
    reason: "The answer is in OpenAI's form and nothing else; the provider stands on the audit row.",
  },
  {
    at: "answer.body.first.*",
    to: TRANSLATED,
    in: STREAMED,
    reason: "The member `provider` of a chunk, see above, and the position of what follows it.",
  },
  {
    at: "answer.body.error",
    in: ["a failing vendor"],
    ours: is("The model provider failed (HTTP 500)."),
    reason: "A provider's failure is the gateway's own error, which tells nothing of the vendor's inside.",
  },
  { at: "answer.body.code", in: ["a failing vendor"], ours: is("upstream_error"), theirs: absent, reason: "See above." },
  { at: "answer.body.type", in: ["a failing vendor"], ours: is("server_error"), theirs: absent, reason: "See above." },
  { at: "answer.status", in: ["a failing vendor"], ours: is(502), theirs: is(500), reason: "What failed is behind the gateway: 502." },
  { at: "answer.body.error.message", in: FAILING, reason: "The vendor's words without a prefix." },
  {
    at: "answer.body.error.code",
    in: FAILING,
    to: TRANSLATED,
    reason: "The vendor's own word for the error, where OpenAI's own clients look for one.",
  },
  { at: "answer.body.error.type", in: FAILING, to: TRANSLATED, reason: "One of OpenAI's own types, by the status." },

  // Translated answers.
  {
    at: "answer.body.id",
    to: ["google", "bedrock"],
    reason: "The vendor's id of the answer where it has one, else one in OpenAI's form; the other gateway makes up its own.",
  },
  {
    at: "answer.body.choices.0.logprobs",
    to: ["google", "bedrock"],
    ours: is(null),
    theirs: absent,
    reason: "OpenAI's answers always have the member.",
  },
  {
    at: "answer.body.choices.0.message.refusal",
    to: TRANSLATED,
    ours: is(null),
    theirs: absent,
    reason: "OpenAI's answers always have the member.",
  },
  {
    at: "answer.body.choices.0.message.content",
    to: ["google"],
    ours: is(null),
    theirs: absent,
    reason: "OpenAI's answers always have the member, null beside calls.",
  },
  { at: "answer.body.choices.0.message.tool_calls.0.id", to: ["google"], reason: "The vendor gave no id: each gateway makes one." },
  { at: "answer.body.calls.0.id", to: ["google"], reason: "The vendor gave no id: each gateway makes one." },
  {
    at: "answer.body.choices.0.finish_reason",
    to: ["google"],
    ours: is("tool_calls"),
    theirs: is("stop"),
    reason: "Google stops with STOP at calls too; OpenAI's clients look for tool_calls.",
  },
  {
    at: "answer.body.choices.0.finish_reason",
    to: ["bedrock"],
    in: ["no tool"],
    ours: is("stop"),
    reason: "The fake model calls a tool whenever it is told of one, and the other gateway told it.",
  },
  { at: "answer.body.choices.0.message.tool_calls", to: ["bedrock"], in: ["no tool"], ours: absent, reason: "See above." },
  {
    at: "answer.body.choices.0.message.content",
    to: ["anthropic", "bedrock"],
    in: ["an answer with a JSON schema", "no tool"],
    reason: "The fake answers by the schema, or without the tool, only where it was told of it.",
  },
  {
    at: "answer.body.choices.0.message.content",
    to: ["anthropic", "bedrock"],
    ours: is(null),
    theirs: is(""),
    reason: "OpenAI's answers have null beside calls, not an empty text.",
  },
  {
    at: "answer.body.**",
    to: ["anthropic"],
    in: ["no output token limit"],
    reason: "The other gateway's call was refused for want of a ceiling, see above.",
  },
  { at: "answer.status", to: ["anthropic"], in: ["no output token limit"], ours: is(200), theirs: is(400), reason: "See above." },
  {
    at: "answer.body.usage.completion_tokens_details",
    to: ["anthropic", "bedrock"],
    theirs: absent,
    reason: "How many of the tokens were reasoning, in OpenAI's place for it.",
  },
  {
    at: "answer.body.usage.completion_tokens_details.audio_tokens",
    to: ["google"],
    ours: absent,
    theirs: is(0),
    reason: "No counts of what was not asked for.",
  },
  {
    at: "answer.body.usage.prompt_tokens_details.audio_tokens",
    to: ["google"],
    ours: absent,
    theirs: is(0),
    reason: "No counts of what was not asked for.",
  },
  {
    at: "answer.body.usage.prompt_tokens_details.cache_write_tokens",
    to: TRANSLATED,
    ours: is(0),
    theirs: absent,
    reason: "Tokens written to a cache have a price of their own and a place in OpenAI's usage.",
  },
  {
    at: "answer.body.usage.prompt_tokens",
    to: ["google"],
    in: ["the embedding of one text"],
    ours: is(3),
    theirs: is(-1),
    reason: "The vendor tells how many tokens it has read.",
  },
  {
    at: "answer.body.usage.total_tokens",
    to: ["google"],
    in: ["the embedding of one text"],
    ours: is(3),
    theirs: is(-1),
    reason: "See above.",
  },
  { at: "answer.body.usage", in: STREAMED, ours: is(null), reason: "A caller who did not ask for usage gets no chunk of it." },
  {
    at: "answer.body.finish",
    to: ["google"],
    in: ["tools, streamed"],
    ours: is("tool_calls"),
    theirs: is("stop"),
    reason: "As in a whole answer.",
  },
  {
    at: "answer.body.closed",
    to: ["google"],
    in: STREAMED,
    ours: is(true),
    theirs: is(false),
    reason: "A complete stream ends with [DONE], which OpenAI's clients wait for.",
  },
  {
    at: "answer.body.usage.prompt_tokens_details.cached_tokens",
    to: ["google"],
    in: ["one text, streamed with usage"],
    ours: is(0),
    theirs: absent,
    reason: "OpenAI's usage always has the member.",
  },
  {
    at: "answer.body.message.content",
    to: ["bedrock", "google"],
    in: ["tools, streamed"],
    ours: is(""),
    theirs: absent,
    reason: "The first chunk has an empty text, as OpenAI's first chunks have.",
  },
];
