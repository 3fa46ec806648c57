import { completionsCodec } from "../server/wire/completions/completions-codec.ts";
import type { CallerCodec, ProviderCodec } from "../server/wire/conversation/codec.ts";
import { DEFAULT_REQUEST } from "../server/wire/conversation/default-request.ts";
import type { ConversationRequest } from "../server/wire/conversation/request.ts";
import { converseCodec } from "../server/wire/converse/converse-codec.ts";
import type { JsonObject } from "../server/kernel/json-value.ts";
import { geminiCodec } from "../server/wire/gemini/gemini-codec.ts";
import { messagesCodec } from "../server/wire/messages/messages-codec.ts";
import { chatCodec } from "../server/wire/openai/chat/codec.ts";
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

/** A provider format with a model that supports most of its features. */
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

/** An empty cell means that it is kept. */
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

const BESIDE = `## Other rules

- **Sampling.** A model that accepts only default sampling (\`supports_sampling\`) is not sent temperature, top p or top k; they count as dropped unless they request the default.
- **Output ceiling.** Anthropic requires one: if the caller sends none it is the model's \`max_output_tokens\`, otherwise 4096.
- **Reasoning.** Effort and token budget are converted into each other if a format has only one of them, or if a Claude accepts only one: tokens from 3.7 on, effort from 4.6 on. What a provider signs (thinking blocks, thought signatures, encrypted reasoning) goes back only to a provider of the same family. OpenAI's encrypted reasoning, which another account refuses, goes back only to the provider record that it came from.
- **Pictures in answers** are \`images\` of a chat message or delta (data URLs, as OpenRouter returns them) and \`image_generation_call\` items of a response. An Anthropic message has no place for one: a text says that it was left out. If a caller sends them back (as \`images\`, as picture parts of an assistant's message, as such items, as inline data of Gemini's model), the model sees them before the user's next text; without such a turn they are dropped.
- **Citations in answers** are carried over to [what the caller's format has for them](#citations). Sent back in the next request, they are dropped: other vendors take only their own.
- **Files for OpenAI's formats** get a name with the extension of their type, and text files are sent as text, under their name.
- **Tool-call IDs** that a vendor does not accept (more than 40 characters for OpenAI's chat, more than 64 for its responses, other characters for Anthropic and Bedrock) are replaced in the request, in the call and in its result alike.
- **Failed tools.** OpenAI's formats cannot mark a result as an error: its text then begins with \`Error\`, unless it already does.
- **Fees.** Audio tokens that a provider reports are metered at the model's audio prices. The vendor's own web searches (Anthropic's \`server_tool_use\`, the \`web_search_call\` items of a response, one for a chat completion with \`web_search_options\`) are metered at \`web_search_cost_per_thousand\`. A search without a price leaves the call unpriced. Other tools that a vendor runs for a fee (\`file_search\`, \`code_interpreter\`, \`image_generation\`, Anthropic's code execution, Google Maps) are metered at the model's \`tool_prices\`. [Limits](../guides/limits.md#web-searches) says what a budget holds for them.
- **Usage** is converted into the caller's format. If a provider reports none it is estimated, the vendor's tools that the answer shows are added, and the row says so.
- **Errors** of a provider come in the caller's own envelope.

## Citations

Answers come with the web pages and documents that a model cites: its own vendor's searches, the documents of a Messages request with \`citations: {"enabled": true}\` (asked of Claude at Bedrock, too), or a server that searches unasked.

| format | member | positions |
| --- | --- | --- |
| chat completions | \`annotations\` of a message or delta: \`url_citation\` | characters of all of \`content\`, as Python counts them (Unicode code points), the end exclusive |
| responses | \`annotations\` of a text and \`response.output_text.annotation.added\`: \`url_citation\`, \`file_citation\` for documents with an ID or name of their own | code points of the text part; for a file the point where the citation belongs |
| messages | \`citations\` of a text block and \`citations_delta\` | none: the block is the cited passage |
| Gemini | \`groundingMetadata\` of the candidate, in a stream in its last piece | bytes in UTF-8: of the part that \`partIndex\` names, in a stream of all text |
| Converse (read only) | \`citationsContent\`, and \`citation\` deltas | none, as with messages |
| completions | none | |

Google's \`citationMetadata\` (recited text) is read like its grounding.

- **Blocks.** A whole answer is cut into blocks where cited passages begin and end. A stream has sent its text before its sources are known, so the block holds the passage and what was sent before it since the last citation. For Gemini and chat completions, which report sources at the end, that is the whole text.
- **Documents.** Anthropic's callers get the page, characters or block of a document where the provider reports them (Anthropic, Bedrock). Documents of other providers, which have no index in the request, are left out there. Chat completions have only web pages, so a document is left out unless it has a web address.
- **Quotes** (\`cited_text\`) are left out for OpenAI's formats and for web pages in Gemini's.
- **\`encrypted_index\`** is empty in citations of other vendors' pages, and such citations are removed before the request reaches a Claude.
- At most 1,000 citations are carried over of a stream, and of a text in OpenAI's and Google's formats.

## Embeddings

For \`gemini\`, \`vertex\` and \`bedrock\` the input must be text: one vendor's tokens mean nothing to another. \`dimensions\` is refused for Bedrock models with a fixed vector length, and Bedrock serves only Titan and Cohere models. The gateway itself applies \`encoding_format\`. Other fields are not passed on.
`;

/** What a translation loses. Each statement of the tables is tested on the codecs when the page is generated. */
export function translationPage(note: string, table: Table): string {
  return `# Translation

${note}

A call whose surface and model's provider speak different formats is translated: the surface's **reader** parses the request into a common form, and the provider's **writer** writes it in the provider's format. A pair loses what its reader loses and what its writer loses.

- **Dropped** can be lost without harm. The answer lists it, with the caller's field names, in the header \`x-gw-dropped-parameters\`.
- **Refused** would change the answer. The call ends with 400 \`unsupported_parameter\`, which names each field. In a routing group other members are tried first.

None of this applies to a request in the provider's own format, which passes unchanged. A field without effect (null, an empty list, a default) is neither dropped nor refused.

## Readers: what a surface's request loses

${readersTable(table)}

## Writers: what a provider does not support

Tried with ${WRITERS.map(([name, , model]) => `\`${model}\` (${name})`).join(", ")}. An empty cell: supported.

${writersTable(table)}

A temperature outside a vendor's range is refused rather than clamped, because another temperature gives another answer. The gateway fetches pictures and files given by URL before it writes them for Gemini and Converse, so URLs are not in the table.

### What depends on the model, or concerns one format alone

${modelsTable(table)}

${BESIDE}`;
}
