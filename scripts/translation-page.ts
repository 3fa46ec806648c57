import { completionsCodec } from "../server/wire/completions/completions-codec.ts";
import type { CallerCodec, ProviderCodec } from "../server/wire/conversation/codec.ts";
import { DEFAULT_REQUEST } from "../server/wire/conversation/default-request.ts";
import type { ConversationRequest } from "../server/wire/conversation/request.ts";
import { converseCodec } from "../server/wire/converse/converse-codec.ts";
import type { JsonObject } from "../server/wire/document.ts";
import { geminiCodec } from "../server/wire/gemini/gemini-codec.ts";
import { messagesCodec } from "../server/wire/messages/messages-codec.ts";
import { chatCodec } from "../server/wire/openai/chat-codec.ts";
import { responsesCodec } from "../server/wire/responses/responses-codec.ts";
import {
  CHAT_PROBES,
  COMPLETIONS_PROBES,
  GEMINI_PROBES,
  MESSAGES_PROBES,
  MODEL_PROBES,
  type ReaderProbe,
  RESPONSES_PROBES,
  WRITER_PROBES,
  type WriterProbe,
} from "./translation-probes.ts";

type Table = (head: readonly string[], rows: readonly (readonly string[])[]) => string;
type Fate = "kept" | "dropped" | "refused";

const MESSAGES = { messages: [{ role: "user", content: "hello" }] };
const READERS: readonly (readonly [string, CallerCodec, JsonObject, readonly ReaderProbe[]])[] = [
  ["chat completions", chatCodec, MESSAGES, CHAT_PROBES],
  ["responses", responsesCodec, { input: "hello" }, RESPONSES_PROBES],
  ["completions", completionsCodec, { prompt: "hello" }, COMPLETIONS_PROBES],
  ["messages", messagesCodec, { max_tokens: 100, ...MESSAGES }, MESSAGES_PROBES],
  ["Gemini", geminiCodec, { contents: [{ role: "user", parts: [{ text: "hello" }] }] }, GEMINI_PROBES],
];

/** A provider's format with a model that can do most of what it can say. */
const WRITERS = [
  ["chat", chatCodec, "gpt-5.4"],
  ["responses", responsesCodec, "gpt-5.4"],
  ["messages", messagesCodec, "claude-sonnet-4-5"],
  ["Gemini", geminiCodec, "gemini-3.5-flash"],
  ["Converse", converseCodec, "anthropic.claude-sonnet-4-5-20250929-v1:0"],
] as const satisfies readonly (readonly [string, ProviderCodec, string])[];

const EMPTY: ConversationRequest = { ...DEFAULT_REQUEST, turns: [{ role: "user", parts: [{ kind: "text", text: "hello" }] }] };

const fateOf = (read: { readonly unsupported: readonly unknown[] } | { readonly dropped: readonly unknown[] }): Fate =>
  "unsupported" in read ? "refused" : read.dropped.length > 0 ? "dropped" : "kept";

const written = (codec: ProviderCodec, [, asked, target]: WriterProbe, usual: string): Fate =>
  fateOf(codec.writeRequest({ ...EMPTY, ...asked }, { name: usual, maxOutputTokens: null, ...target }));

/** What is kept says so by an empty cell. */
const told = (fate: Fate) => (fate === "kept" ? "" : fate);

const readersTable = (table: Table) =>
  table(
    ["surface", "dropped", "refused"],
    READERS.map(([name, codec, body, probes]) => {
      const those = (fate: Fate) => probes.filter(([, members]) => fateOf(codec.readRequest({ ...body, ...members })) === fate);
      const kept = those("kept").map(([what]) => what);
      if (kept.length > 0) throw new Error(`${name} loses nothing of ${kept.join(", ")}: take that out of the probes`);
      return [
        name,
        ...(["dropped", "refused"] as const).map((fate) =>
          those(fate)
            .map(([what]) => what)
            .join("; "),
        ),
      ];
    }),
  );

const writersTable = (table: Table) =>
  table(
    ["asked for", ...WRITERS.map(([name]) => name)],
    WRITER_PROBES.map((probe) => [probe[0], ...WRITERS.map(([, codec, usual]) => written(codec, probe, usual)).map(told)]),
  );

const modelsTable = (table: Table) =>
  table(
    ["to", "asked for", "for example of", ""],
    WRITERS.flatMap(([name, codec, usual]) =>
      (codec.format in MODEL_PROBES ? MODEL_PROBES[codec.format as keyof typeof MODEL_PROBES] : []).map((probe) => [
        name,
        probe[0],
        `\`${probe[2]?.name ?? usual}\``,
        told(written(codec, probe, usual)),
      ]),
    ),
  );

const BESIDE = `## Beside the parameters

- **Sampling.** A model that takes default sampling alone (\`supports_sampling\`) is not told temperature, top p and top k; they count as dropped, unless they asked for the default.
- **Output ceiling.** Anthropic requires one: without a caller's it is the model's \`max_output_tokens\`, else 4096.
- **Reasoning.** Effort and budget stand for each other where a format has only one of them, and where a Claude takes only one: tokens from 3.7 on, effort from 4.6 on. What a provider signs (thinking blocks, thought signatures, sealed reasoning) goes back only to a provider of the same family; OpenAI's sealed reasoning, which another account refuses, is put back only for the provider record that it came from.
- **Pictures in answers** are \`images\` of a chat message or delta (data URLs, as OpenRouter gives them) and \`image_generation_call\` items of a response. A message of Anthropic's has no place for one: a text says that it was left out. What of them a caller sends back (as \`images\`, as picture parts of an assistant's message, as such items, as inline data of Gemini's model) is shown to the model before what the user says next; without such a turn it is dropped.
- **Files to OpenAI's formats** have a name that ends as their type does, and text files are sent as the texts they are, under their name.
- **Ids of tool calls** that a vendor does not take (OpenAI's chat beyond 40 characters, its responses beyond 64, Anthropic and Bedrock other letters) are replaced in the request, alike in the call and in its result.
- **Failed tools.** OpenAI's formats have no mark for a result that is an error: its text begins with \`Error\` there, unless it does already.
- **Fees.** Audio tokens that a provider reports are metered at the model's audio prices, and searches of the vendor's own web search (Anthropic's \`server_tool_use\`, the \`web_search_call\` items of a response, one for a chat completion with \`web_search_options\`) at \`web_search_cost_per_thousand\`; a search without a price leaves the call unpriced. Other tools that a vendor runs for a fee (\`file_search\`, \`code_interpreter\`, \`image_generation\`, Anthropic's code execution, Google Maps) are metered at the model's \`tool_prices\`. What a budget holds for them [stands elsewhere](../guides/limits.md#web-searches).
- **Usage** is brought into the caller's format. A provider that tells none is estimated, and the row says so.
- **Errors** of a provider come in the caller's own envelope.

## Embeddings

For \`gemini\`, \`vertex\` and \`bedrock\` the input must be texts: tokens of one vendor mean nothing to another. \`dimensions\` is refused for Bedrock models whose vectors have one length, and Bedrock serves Titan and Cohere models only. \`encoding_format\` is served by the gateway. Other fields are not passed on.
`;

/** What a translation loses: each statement of the tables is tried on the codecs when the page is made. */
export function translationPage(note: string, table: Table): string {
  return `# Translation

${note}

A call whose surface and model's provider speak different formats is translated: the surface's **reader** takes the request apart, the provider's **writer** puts it together again. What a pair loses is what its reader loses and what its writer loses.

- **Dropped** is what can be lost without harm. The answer names it, in the caller's own field names, in the header \`x-gw-dropped-parameters\`.
- **Refused** is what would change the answer. The call ends with 400 \`unsupported_parameter\`, which names each field. In a routing group another member is tried first.

A request of the provider's own format passes whole, and none of this applies to it. A field that says nothing (null, an empty list, a default) is neither.

## Readers: what a surface's request loses

${readersTable(table)}

## Writers: what a provider cannot be told

Tried with ${WRITERS.map(([name, , model]) => `\`${model}\` (${name})`).join(", ")}. An empty cell: it is told.

${writersTable(table)}

A temperature outside a vendor's range is refused and not moved into it: another temperature is another answer. Pictures and files at an address are fetched by the gateway before they are written for Gemini and Converse, so no address stands in the table.

### What depends on the model, or concerns one format alone

${modelsTable(table)}

${BESIDE}`;
}
