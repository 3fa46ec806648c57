import { z } from "zod";
import { timestamp } from "./conventions.ts";
import { DECLARED_END_STATES, RUN_OUTCOMES, RUN_STATES } from "./runs.ts";

/**
 * Requests and answers of the runtime plane's surfaces. Requests in vendor formats are open: unknown members pass to a provider of the same
 * format. Only members that the gateway reads, or that every answer has, are listed.
 */

const count = z.number().int();
const open = z.record(z.string(), z.unknown());
const text = z.string();

const part = z.looseObject({ type: text, text: text.optional() });
const content = z.union([text, z.array(part), z.null()]);
const functionCall = z.looseObject({ name: text, arguments: text });
const chatToolCall = z.looseObject({ id: text, type: text, function: functionCall.optional() }).meta({ id: "ChatToolCall" });

export const chatRequest = z
  .looseObject({
    model: text.describe("a model or routing group of the gateway, by name or id"),
    messages: z
      .array(
        z.looseObject({
          role: z.enum(["developer", "system", "user", "assistant", "tool", "function"]),
          content: content.optional(),
          name: text.optional(),
          tool_calls: z.array(chatToolCall).optional(),
          tool_call_id: text.optional(),
        }),
      )
      .min(1),
    stream: z.boolean().nullable().optional(),
    temperature: z.number().nullable().optional(),
    top_p: z.number().nullable().optional(),
    max_tokens: count.nullable().optional(),
    max_completion_tokens: count.nullable().optional(),
    n: count.nullable().optional(),
    stop: z.union([text, z.array(text), z.null()]).optional(),
    tools: z.array(z.looseObject({ type: text, function: open.optional() })).optional(),
    tool_choice: z.union([text, open]).optional(),
    response_format: open.optional(),
    user: text.optional(),
  })
  .meta({ id: "ChatRequest" });

const chatUsage = z
  .looseObject({ prompt_tokens: count, completion_tokens: count, total_tokens: count })
  .nullable()
  .describe("as reported by the provider");

export const chatCompletion = z
  .looseObject({
    id: text,
    object: text,
    created: count,
    model: text,
    choices: z.array(
      z.looseObject({
        index: count,
        finish_reason: text.nullable(),
        message: z.looseObject({
          role: text,
          content: text.nullable(),
          refusal: text.nullable().optional(),
          tool_calls: z.array(chatToolCall).optional(),
        }),
      }),
    ),
    usage: chatUsage.optional(),
  })
  .meta({ id: "ChatCompletion" });

export const completionRequest = z
  .looseObject({
    model: text,
    prompt: z.union([text, z.array(text), z.array(count), z.array(z.array(count))]),
    stream: z.boolean().nullable().optional(),
    max_tokens: count.nullable().optional(),
    temperature: z.number().nullable().optional(),
  })
  .meta({ id: "CompletionRequest" });

export const completion = z
  .looseObject({
    id: text,
    object: text,
    created: count,
    model: text,
    choices: z.array(z.looseObject({ index: count, text, finish_reason: text.nullable() })),
    usage: chatUsage.optional(),
  })
  .meta({ id: "Completion" });

export const responsesRequest = z
  .looseObject({
    model: text,
    input: z.union([text, z.array(open)]).optional(),
    instructions: text.nullable().optional(),
    stream: z.boolean().nullable().optional(),
    max_output_tokens: count.nullable().optional(),
    temperature: z.number().nullable().optional(),
    previous_response_id: text.nullable().optional(),
    background: z.boolean().nullable().optional(),
    store: z.boolean().nullable().optional(),
    tools: z.array(z.looseObject({ type: text })).optional(),
  })
  .meta({ id: "ResponsesRequest" });

export const responsesAnswer = z
  .looseObject({
    id: text,
    object: text,
    created_at: z.number(),
    status: text.optional(),
    model: text,
    output: z.array(z.looseObject({ type: text })),
    usage: z.looseObject({ input_tokens: count, output_tokens: count, total_tokens: count }).nullable().optional(),
  })
  .meta({ id: "ResponseObject" });

export const storedResponseQuery = z.object({
  include: text.optional(),
  "include[]": text.optional(),
  stream: z.enum(["true", "false"]).optional(),
  include_obfuscation: z.enum(["true", "false"]).optional(),
  starting_after: count.optional(),
});

export const realtimeQuery = z.object({ model: text });

export const inputItemsQuery = z.object({
  include: text.optional(),
  "include[]": text.optional(),
  limit: count.optional(),
  order: z.enum(["asc", "desc"]).optional(),
  after: text.optional(),
  before: text.optional(),
});

export const responseDeleted = z.looseObject({ id: text, object: text.optional(), deleted: z.boolean() }).meta({ id: "ResponseDeleted" });

export const inputItemList = z
  .looseObject({ object: text, data: z.array(z.looseObject({ type: text })), has_more: z.boolean() })
  .meta({ id: "ResponseInputItems" });

export const embeddingsRequest = z
  .looseObject({
    model: text,
    input: z.union([text, z.array(text), z.array(count), z.array(z.array(count))]),
    dimensions: count.optional(),
    encoding_format: z.enum(["float", "base64"]).optional(),
  })
  .meta({ id: "EmbeddingsRequest" });

export const embeddingsAnswer = z
  .looseObject({
    object: text,
    model: text,
    data: z.array(z.looseObject({ index: count, embedding: z.union([z.array(z.number()), text.describe("base64")]) })),
    usage: z.looseObject({ prompt_tokens: count, total_tokens: count }).optional(),
  })
  .meta({ id: "EmbeddingsAnswer" });

const passage = z.union([text, z.looseObject({})]);

export const rerankRequest = z
  .looseObject({
    model: text,
    query: passage,
    documents: z.array(passage).min(1),
    top_n: z.number().int().min(1).describe("`top_k` of Voyage's models").optional(),
    return_documents: z.boolean().optional(),
  })
  .meta({ id: "RerankRequest" });

export const rerankAnswer = z
  .looseObject({
    results: z
      .array(z.looseObject({ index: z.number().int(), relevance_score: z.number() }))
      .describe("`data` of Voyage's models")
      .optional(),
  })
  .meta({ id: "RerankAnswer" });

export const listedModel = z
  .strictObject({
    id: text.describe("its name"),
    object: z.literal("model"),
    created: count,
    owned_by: text,
    gw_model_id: text,
    mode: text,
    modes: z.array(text),
    context_window: count.nullable(),
    max_output_tokens: count.nullable(),
  })
  .meta({ id: "ListedModel" });
export const modelList = z.strictObject({ object: z.literal("list"), data: z.array(listedModel) }).meta({ id: "ModelList" });

const block = z.looseObject({ type: text, text: text.optional() });

export const messagesRequest = z
  .looseObject({
    model: text,
    max_tokens: count,
    messages: z.array(z.looseObject({ role: z.enum(["user", "assistant", "system"]), content: z.union([text, z.array(block)]) })),
    system: z.union([text, z.array(block)]).optional(),
    stream: z.boolean().optional(),
    temperature: z.number().optional(),
    tools: z.array(z.looseObject({ name: text.optional() })).optional(),
    tool_choice: open.optional(),
    stop_sequences: z.array(text).optional(),
  })
  .meta({ id: "MessagesRequest" });

export const messagesAnswer = z
  .looseObject({
    id: text,
    type: text,
    role: text,
    model: text,
    content: z.array(block),
    stop_reason: text.nullable(),
    usage: z.looseObject({ input_tokens: count, output_tokens: count }),
  })
  .meta({ id: "MessagesAnswer" });

export const responsesCompaction = z
  .looseObject({
    id: text,
    object: text,
    created_at: z.number(),
    output: z.array(z.looseObject({ type: text })),
    usage: z.looseObject({ input_tokens: count, output_tokens: count, total_tokens: count }),
  })
  .meta({ id: "ResponsesCompaction" });

export const responsesCount = z.looseObject({ object: text, input_tokens: count }).meta({ id: "ResponsesCount" });

export const messagesCount = z.looseObject({ input_tokens: count }).meta({ id: "MessagesCount" });
export const messagesCountRequest = messagesRequest.omit({ max_tokens: true }).meta({ id: "MessagesCountRequest" });

/** Lists and models under this path use the format of the client, recognized by `anthropic-version` or Google's headers. */
export const vendorModel = z.looseObject({}).meta({ id: "VendorModel" });

const geminiContent = z.looseObject({ role: text.optional(), parts: z.array(z.looseObject({ text: text.optional() })).optional() });

export const geminiRequest = z
  .looseObject({
    contents: z.array(geminiContent),
    systemInstruction: geminiContent.optional(),
    tools: z.array(open).optional(),
    toolConfig: open.optional(),
    generationConfig: open.optional(),
    safetySettings: z.array(open).optional(),
  })
  .meta({ id: "GeminiRequest" });

export const geminiAnswer = z
  .looseObject({
    candidates: z
      .array(z.looseObject({ content: geminiContent.optional(), finishReason: text.optional(), index: count.optional() }))
      .optional(),
    usageMetadata: z.looseObject({ promptTokenCount: count.optional(), totalTokenCount: count.optional() }).optional(),
    modelVersion: text.optional(),
  })
  .meta({ id: "GeminiAnswer" });

export const geminiCount = z.looseObject({ totalTokens: count }).meta({ id: "GeminiCount" });
export const geminiCountRequest = z
  .looseObject({ contents: z.array(geminiContent).optional(), generateContentRequest: open.optional() })
  .meta({ id: "GeminiCountRequest" });
export const geminiEmbedRequest = z.looseObject({ content: geminiContent }).meta({ id: "GeminiEmbedRequest" });
export const geminiEmbedding = z.looseObject({ embedding: z.looseObject({ values: z.array(z.number()) }) }).meta({ id: "GeminiEmbedding" });
export const geminiBatchEmbedRequest = z
  .looseObject({ requests: z.array(z.looseObject({ content: geminiContent })) })
  .meta({ id: "GeminiBatchEmbedRequest" });
export const geminiEmbeddingsAnswer = z
  .looseObject({ embeddings: z.array(z.looseObject({ values: z.array(z.number()) })) })
  .meta({ id: "GeminiEmbeddings" });
export const geminiModelAnswer = z.looseObject({ name: text }).meta({ id: "GeminiModel" });
export const geminiModelList = z.looseObject({ models: z.array(geminiModelAnswer) }).meta({ id: "GeminiModelList" });

export const rpcMessage = z
  .looseObject({
    jsonrpc: z.literal("2.0"),
    id: z.union([text, z.number(), z.null()]).optional(),
    method: text.optional(),
    params: open.optional(),
    result: open.optional(),
    error: z.looseObject({ code: count, message: text, data: z.unknown().optional() }).optional(),
  })
  .meta({ id: "RpcMessage" });

export const metadataDocument = z.looseObject({}).meta({ id: "MetadataDocument" });
export const oauthAnswer = z.looseObject({}).meta({ id: "OAuthAnswer" });
export const oauthError = z.looseObject({ error: text, error_description: text.optional() }).meta({ id: "OAuthError" });

const sums = {
  calls: count,
  llm_calls: count,
  tool_calls: count,
  errors: count,
  prompt_tokens: count,
  completion_tokens: count,
  cost_usd: z.number(),
};

export const runOfCaller = z
  .looseObject({
    root_task_id: text,
    run_id: text,
    state: z.enum(RUN_STATES),
    outcome: z.enum(RUN_OUTCOMES).nullable(),
    started_at: timestamp,
    ended_at: timestamp.nullable(),
    ...z.object(sums).partial().shape,
  })
  .meta({ id: "RunOfCaller" });

export const runEndRequest = z
  .strictObject({ state: z.enum(DECLARED_END_STATES).optional(), outcome: z.enum(RUN_OUTCOMES).optional() })
  .meta({ id: "RunEndRequest" });

export const otelRequest = z.looseObject({ resourceSpans: z.array(open).optional() }).meta({ id: "OtelTraces" });
export const otelAnswer = z.looseObject({ partialSuccess: open.optional() }).meta({ id: "OtelAnswer" });

export const agentMessage = z.looseObject({}).describe("as A2A has it").meta({ id: "AgentMessage" });
export const agentCardDocument = z.looseObject({}).describe("in A2A's format, signed").meta({ id: "AgentCardDocument" });
export const agentProblem = z.looseObject({}).describe("an error in A2A's format").meta({ id: "AgentProblem" });

/** Answer of `/healthz` and the other health paths. */
export const planeHealth = z.strictObject({ status: text, detail: text.optional() }).meta({ id: "PlaneHealth" });
