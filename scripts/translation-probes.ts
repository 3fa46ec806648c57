import type { TargetModel } from "../server/wire/conversation/codec.ts";
import type { TextPart, UserPart } from "../server/wire/conversation/conversation-parts.ts";
import type { ConversationRequest } from "../server/wire/conversation/request.ts";
import type { JsonObject } from "../server/kernel/json-value.ts";

/** A probe of the codecs for the page on translation: its description on the page, and the request. */
export type ReaderProbe = readonly [what: string, members: JsonObject];
/** `target`: how the model differs from the format's usual one. */
export type WriterProbe = readonly [what: string, asked: Partial<ConversationRequest>, target?: Partial<TargetModel>];

const members = (...names: string[]): ReaderProbe[] => names.map((name) => [`\`${name}\``, { [name]: "x" }]);
const said = (role: string, ...content: JsonObject[]) => ({ role, content });
const sound = { type: "input_audio", input_audio: { data: "UklGRg==", format: "wav" } };

export const CHAT_PROBES: readonly ReaderProbe[] = [
  ...members("service_tier", "metadata", "verbosity", "prediction", "prompt_cache_key", "store"),
  ["fields the gateway does not know", { something_new: 1 }],
  ["members of a tool without a common equivalent", { tools: [{ type: "function", function: { name: "f", something_new: 1 } }] }],
  ["`messages[].name`", { messages: [{ role: "user", name: "ada", content: "hello" }] }],
  [
    "members of messages and content parts that the gateway does not know",
    { messages: [{ role: "user", content: "hello", something_new: 1 }] },
  ],
  [
    "unknown content parts of an assistant's message",
    { messages: [said("assistant", { type: "smell" }), said("user", { type: "text", text: "go on" })] },
  ],
  ["`modalities` other than text and audio (a model that draws does so unasked)", { modalities: ["text", "image"] }],
  ["`audio` if no audio is requested", { audio: { voice: "alloy", format: "wav" } }],
  ["`functions`", { functions: [{ name: "f" }] }],
  ["`function_call`", { function_call: "auto" }],
  ["`function` messages (send `tools`)", { messages: [{ role: "function", name: "f", content: "1" }] }],
  ["`web_search_options`", { web_search_options: {} }],
  ["`logit_bias`", { logit_bias: { "1": 2 } }],
  ["`moderation`", { moderation: { model: "x" } }],
  ["audio answers (`modalities`)", { modalities: ["text", "audio"] }],
  ["audio of an earlier answer", { messages: [{ role: "assistant", audio: { id: "a" } }, said("user", { type: "text", text: "go on" })] }],
  ["audio outside user messages", { messages: [said("system", sound)] }],
  ["tools that are not functions", { tools: [{ type: "custom", custom: { name: "f" } }] }],
  [
    "tool calls that are not functions",
    { messages: [{ role: "assistant", tool_calls: [{ id: "1", type: "custom", custom: { name: "f", input: "" } }] }] },
  ],
  ["tool choices that are not functions", { tool_choice: { type: "custom", custom: { name: "f" } } }],
  ["unknown roles", { messages: [{ role: "critic", content: "x" }] }],
  ["unknown content parts", { messages: [said("user", { type: "smell" })] }],
  ["unknown response formats", { response_format: { type: "grammar" } }],
  ["unknown efforts", { reasoning_effort: "extreme" }],
];

const item = (value: JsonObject): JsonObject => ({ input: [said("user", { type: "input_text", text: "hello" }), value] });

export const RESPONSES_PROBES: readonly ReaderProbe[] = [
  ...members("metadata", "service_tier", "max_tool_calls"),
  ["`truncation`", { truncation: "auto" }],
  ["fields the gateway does not know", { something_new: 1 }],
  ["members of a tool without a common equivalent", { tools: [{ type: "function", name: "f", something_new: 1 }] }],
  ["members of messages and content parts that the gateway does not know", item({ role: "user", content: "hello", something_new: 1 })],
  ["`text.verbosity`", { text: { verbosity: "low" } }],
  ["`include` values other than reasoning and log probabilities", { include: ["file_search_call.results"] }],
  ["members of `reasoning` other than effort and summary", { reasoning: { something_new: 1 } }],
  ...members("previous_response_id", "conversation"),
  ["`prompt`", { prompt: { id: "pmpt_1" } }],
  ["`store: true`", { store: true }],
  ["`background: true`", { background: true }],
  ["an `item_reference` to an item that the gateway did not write", item({ type: "item_reference", id: "msg_1" })],
  ["`context_management`", { context_management: [{ type: "compaction" }] }],
  ["`moderation`", { moderation: { model: "x" } }],
  ["the vendor's own search and image tools", { tools: [{ type: "web_search" }] }],
  ["items that record the vendor's searches", item({ type: "web_search_call", id: "ws_1", status: "completed" })],
  ["other tools that the client does not run itself", { tools: [{ type: "file_search", vector_store_ids: ["vs"] }] }],
  [
    "items other than messages, reasoning, calls of tools the client runs and their results",
    item({ type: "compaction", encrypted_content: "x" }),
  ],
];

export const COMPLETIONS_PROBES: readonly ReaderProbe[] = [
  ["fields the gateway does not know", { something_new: 1 }],
  ["more than one prompt", { prompt: ["a", "b"] }],
  ["prompts given as tokens", { prompt: [1, 2] }],
  ["`suffix`", { suffix: "x" }],
  ["`echo`", { echo: true }],
  ["`best_of` above 1", { best_of: 2 }],
  ["`logprobs`", { logprobs: 1 }],
  ["`logit_bias`", { logit_bias: { "1": 2 } }],
];

export const MESSAGES_PROBES: readonly ReaderProbe[] = [
  ...members("service_tier"),
  ["fields the gateway does not know", { something_new: 1 }],
  ["members of a tool without a common equivalent", { tools: [{ name: "f", input_schema: { type: "object" }, something_new: 1 }] }],
  ["members of messages and blocks that the gateway does not know", { messages: [{ role: "user", content: "hello", something_new: 1 }] }],
  ["members of `metadata` other than `user_id`", { metadata: { something_new: 1 } }],
  ["members of `output_config` other than format and effort", { output_config: { something_new: 1 } }],
  ...members("container", "inference_geo", "thread"),
  ["`mcp_servers`", { mcp_servers: [{ type: "url", url: "https://tools.example", name: "x" }] }],
  ["`max_tokens: 0`", { max_tokens: 0 }],
  ["the vendor's own tools", { tools: [{ type: "web_search_20250305", name: "web_search" }] }],
  ["content blocks that only the vendor has", { messages: [said("user", { type: "container_upload", file_id: "f" })] }],
  ["an `output_config.format` other than a JSON schema", { output_config: { format: { type: "grammar" } } }],
];

const config = (value: JsonObject): JsonObject => ({ generationConfig: value });
const parts = (...list: JsonObject[]): JsonObject => ({ contents: [{ role: "user", parts: list }] });

export const GEMINI_PROBES: readonly ReaderProbe[] = [
  ["`safetySettings`", { safetySettings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_NONE" }] }],
  ["`labels`", { labels: { team: "x" } }],
  ["fields the gateway does not know", { somethingNew: 1 }],
  ["members of `generationConfig` without a common equivalent", config({ mediaResolution: "MEDIA_RESOLUTION_LOW" })],
  ["members of `toolConfig` other than function calling", { toolConfig: { retrievalConfig: { languageCode: "de" } } }],
  [
    "members of declarations without a common equivalent",
    { tools: [{ functionDeclarations: [{ name: "f", response: { type: "OBJECT" } }] }] },
  ],
  ["members of parts, and of what they hold, that the gateway does not know", parts({ text: "hello", somethingNew: 1 })],
  ["`speechConfig`", config({ speechConfig: { languageCode: "de" } })],
  ...members("cachedContent", "continuationToken"),
  ["answers other than text (`responseModalities`)", config({ responseModalities: ["IMAGE"] })],
  ["a `responseMimeType` other than text and JSON", config({ responseMimeType: "text/x.enum" })],
  ["tools that Google runs", { tools: [{ googleSearch: {} }] }],
  ["parts other than text, inline data, calls and results", parts({ executableCode: { language: "PYTHON", code: "1" } })],
  ["`fileData` that only Google can fetch", parts({ fileData: { fileUri: "gs://bucket/a.png", mimeType: "image/png" } })],
  [
    "audio in a tool's result",
    parts({ functionResponse: { name: "f", response: {}, parts: [{ inlineData: { mimeType: "audio/wav", data: "UklGRg==" } }] } }),
  ],
];

const text = (words: string, cached = false): TextPart => ({ kind: "text", text: words, ...(cached ? { cache: { ttl: "5m" } } : {}) });
const withParts = (...added: UserPart[]): Partial<ConversationRequest> => ({ turns: [{ role: "user", parts: [text("hello"), ...added] }] });
const picture = (source: { base64: string } | { url: string } | { fileId: string }, mediaType: string | null) =>
  withParts({ kind: "image", source, mediaType });
const file = (source: { base64: string } | { url: string } | { fileId: string }, mediaType: string | null) =>
  withParts({ kind: "file", source, mediaType, name: null });
const tool = (name: string) => ({ tools: [{ name, description: null, schema: { type: "object" }, strict: null }] });
const effort = { reasoning: { effort: "high", budgetTokens: null, visible: null } } as const;
const budget = (tokens: number) => ({ reasoning: { effort: null, budgetTokens: tokens, visible: null } });

const SYSTEM_TURN: Partial<ConversationRequest> = {
  turns: [
    { role: "user", parts: [text("hello")] },
    { role: "system", parts: [text("Be brief.")] },
    { role: "user", parts: [text("go on")] },
  ],
};
const LOOP: ConversationRequest["turns"] = [
  { role: "user", parts: [text("hello")] },
  { role: "assistant", parts: [{ kind: "tool_call", id: "call_1", name: "f", arguments: "{}" }] },
  { role: "user", parts: [{ kind: "tool_result", callId: "call_1", toolName: null, content: [text("1")], isError: false }] },
];

/** Tested with every provider format and its usual model. */
export const WRITER_PROBES: readonly WriterProbe[] = [
  ["more than one candidate", { candidates: 2 }],
  ["log probabilities", { logprobs: 0 }],
  ["seed", { seed: 7 }],
  ["a seed beyond 32 bits", { seed: 2 ** 40 }],
  ["top k", { topK: 5 }],
  ["presence penalty", { presencePenalty: 0.5 }],
  ["frequency penalty", { frequencyPenalty: 0.5 }],
  ["a temperature above 1", { temperature: 1.5 }],
  ["a stop sequence", { stop: ["END"] }],
  ["five stop sequences", { stop: ["1", "2", "3", "4", "5"] }],
  ["six stop sequences", { stop: ["1", "2", "3", "4", "5", "6"] }],
  ["a blank stop sequence", { stop: [" "] }],
  ["JSON mode without a schema", { output: { kind: "json" } }],
  ["a JSON schema", { output: { kind: "schema", name: "answer", description: null, schema: { type: "object" }, strict: null } }],
  ["reasoning by effort", effort],
  ["reasoning by tokens", { ...budget(8192), maxOutputTokens: 20_000 }],
  ["an end user's name", { endUser: "ada" }],
  ["an end user's name that looks like an e-mail address", { endUser: "ada@example.com" }],
  ["a cache breakpoint", { instructions: [text("Be brief.", true)] }],
  ["a fifth cache breakpoint", { instructions: ["1", "2", "3", "4", "5"].map((words) => text(words, true)) }],
  ["the position of a system turn", SYSTEM_TURN],
  ["one tool call at a time (`parallel_tool_calls: false`)", { ...tool("f"), parallelToolCalls: false }],
  ["tool choice `none`", { ...tool("f"), toolChoice: { kind: "none" } }],
  ["a forced tool that is not offered", { toolChoice: { kind: "tool", name: "f" } }],
  [
    "a call's arguments held to their schema (`strict`)",
    { tools: [{ name: "f", description: null, schema: { type: "object" }, strict: true }] },
  ],
  ["a tool name with a dot", tool("files.read")],
  ["a tool name with a space", tool("read files")],
  ["a tool name of 65 to 128 characters", tool("f".repeat(100))],
  ["a picture by another vendor's file ID", picture({ fileId: "file-1" }, null)],
  ["a picture as TIFF", picture({ base64: "SUkqAA==" }, "image/tiff")],
  [
    "how closely to look at a picture (`detail`)",
    withParts({ kind: "image", source: { base64: "/9j/4AAQ" }, mediaType: "image/jpeg", detail: "low" }),
  ],
  ["a file's name", withParts({ kind: "file", source: { base64: "JVBERi0=" }, mediaType: "application/pdf", name: "a.pdf" })],
  [
    "citations of a file",
    withParts({ kind: "file", source: { base64: "JVBERi0=" }, mediaType: "application/pdf", name: null, cited: true }),
  ],
  ["a PDF as data", file({ base64: "JVBERi0=" }, "application/pdf")],
  ["a spreadsheet as data", file({ base64: "UEsDBA==" }, "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet")],
  ["audio as WAV", withParts({ kind: "audio", base64: "UklGRg==", mediaType: "audio/wav" })],
  ["audio as FLAC", withParts({ kind: "audio", base64: "ZkxhQw==", mediaType: "audio/flac" })],
  ["a request without turns", { turns: [], instructions: [text("Be brief.")] }],
];

/** Depends on the model, or applies to one format only. */
export const MODEL_PROBES: Readonly<Record<"chat" | "messages" | "gemini" | "converse", readonly WriterProbe[]>> = {
  chat: [
    ["a file by URL", file({ url: "https://example.com/a.pdf" }, "application/pdf")],
    ["reasoning switched off, for a model that has a setting for it", budget(0), { name: "gpt-5.4" }],
    ["reasoning switched off, for a model without such a setting", budget(0), { name: "llama-4" }],
  ],
  messages: [
    ["reasoning, for a Claude that does not reason", effort, { name: "claude-3-5-haiku-latest" }],
    ["reasoning whose budget leaves no room below `max_tokens`", { ...budget(8192), maxOutputTokens: 1000 }, { name: "claude-sonnet-4-5" }],
    ["the position of a system turn, for a model that accepts none", SYSTEM_TURN, { name: "claude-sonnet-4-5", systemTurns: false }],
    ["reasoning in a tool loop that lost its thoughts", { ...effort, ...tool("f"), turns: LOOP }, { name: "claude-sonnet-4-5" }],
    ["top p together with temperature", { temperature: 0.5, topP: 0.5 }, { name: "claude-sonnet-4-5" }],
    ["top p together with temperature, for a Claude before 4.1", { temperature: 0.5, topP: 0.5 }, { name: "claude-sonnet-4-0" }],
    ["temperature together with reasoning", { ...effort, temperature: 0.5 }, { name: "claude-sonnet-5" }],
    ["top k together with reasoning", { ...effort, topK: 5 }, { name: "claude-sonnet-5" }],
    [
      "reasoning together with a forced tool",
      { ...effort, ...tool("f"), toolChoice: { kind: "tool", name: "f" } },
      { name: "claude-sonnet-5" },
    ],
  ],
  gemini: [["reasoning, for a model that does not reason", effort, { name: "gemini-2.0-flash" }]],
  converse: [
    ["top k, for a Nova model", { topK: 5 }, { name: "amazon.nova-pro-v1:0" }],
    [
      "citations of a file, for a model other than Claude",
      withParts({ kind: "file", source: { base64: "JVBERi0=" }, mediaType: "application/pdf", name: null, cited: true }),
      { name: "amazon.nova-pro-v1:0" },
    ],
    ["top k, for another family", { topK: 5 }, { name: "meta.llama3-3-70b-instruct-v1:0" }],
    ["reasoning, for a model without a field for it", effort, { name: "meta.llama3-3-70b-instruct-v1:0" }],
    [
      "tool choice `none` in a tool loop, for a model without a field for it",
      { ...tool("f"), toolChoice: { kind: "none" }, turns: LOOP },
      { name: "meta.llama3-3-70b-instruct-v1:0" },
    ],
    [
      "one tool call at a time, for a model without a field for it",
      { ...tool("f"), parallelToolCalls: false },
      { name: "meta.llama3-3-70b-instruct-v1:0" },
    ],
    [
      "a cache breakpoint, for a model without them",
      { instructions: [text("Be brief.", true)] },
      { name: "meta.llama3-3-70b-instruct-v1:0" },
    ],
    ["top p together with temperature", { temperature: 0.5, topP: 0.5 }, { name: "anthropic.claude-sonnet-4-5-20250929-v1:0" }],
    ["temperature together with reasoning", { ...effort, temperature: 0.5 }, { name: "anthropic.claude-sonnet-4-5-20250929-v1:0" }],
  ],
};
