import { INFERENCE_OPERATIONS } from "../../kernel/operations/inference-operations.ts";
import { ownEntry } from "../../kernel/collections/own-entry.ts";
import { plausibleCount } from "../usage.ts";
import { type Attributes, countAttribute, textAttribute } from "./attributes.ts";
import type { Span } from "./traces.ts";
import { OLD_OPERATIONS, genAiProviderOf } from "./gen-ai-names.ts";

/** The facts about a call to a model, tool or agent in a span, for all supported instrumentations. Null if absent. */
export interface GenAiFacts {
  readonly kind: "llm" | "mcp" | "a2a" | null;
  readonly operation: string;
  /** Only these spans count tokens; the spans around them repeat the sums. */
  readonly inference: boolean;
  readonly provider: string | null;
  readonly modelRequested: string | null;
  readonly modelUsed: string | null;
  readonly promptTokens: number | null;
  readonly completionTokens: number | null;
  readonly cacheReadTokens: number | null;
  readonly cacheWriteTokens: number | null;
  readonly temperature: number | null;
  readonly maxTokens: number | null;
  readonly streaming: boolean | null;
  readonly responseId: string | null;
  readonly conversation: string | null;
  readonly agent: string | null;
  readonly tool: string | null;
  readonly mcpMethod: string | null;
  readonly errorType: string | null;
  readonly input: string | null;
  readonly output: string | null;
  /** The remaining attributes, without content. */
  readonly rest: Attributes;
}

const INFERENCE: ReadonlySet<string> = new Set(INFERENCE_OPERATIONS);
const TOOL_OPERATIONS = new Set(["execute_tool"]);
const AGENT_OPERATIONS = new Set(["invoke_agent", "create_agent", "invoke_workflow"]);

const INPUT = [
  "gen_ai.input.messages",
  "gen_ai.prompt",
  "input.value",
  "traceloop.entity.input",
  "gen_ai.tool.call.arguments",
  "ai.prompt.messages",
  "ai.prompt",
  "ai.toolCall.args",
  "gcp.vertex.agent.llm_request",
  "gcp.vertex.agent.tool_call_args",
] as const;
const OUTPUT = [
  "gen_ai.output.messages",
  "gen_ai.completion",
  "output.value",
  "traceloop.entity.output",
  "gen_ai.tool.call.result",
  "ai.response.text",
  "ai.response.object",
  "ai.response.toolCalls",
  "ai.toolCall.result",
  "gcp.vertex.agent.llm_response",
  "gcp.vertex.agent.tool_response",
] as const;
/** Words in attribute names that mark content, anywhere in a name or at its end. Headers may contain credentials. */
const WITHIN = "prompts?|completion|messages?|content|arguments|result|system_instructions|definitions|headers?|body";
const AT_THE_END =
  "texts?|inputs?|outputs?|args|values?|object|query|transcript|embeddings?|vector|reasoning|tool_calls?|function_call|" +
  "files|documents|ranking|events|(?:llm|tool)_(?:request|response)|(?:request|response|agent)[._]data|tool[._]parameters";
const IS_CONTENT = new RegExp(String.raw`(?:^|[._])(?:(?:${WITHIN})(?:[._]|$)|(?:${AT_THE_END})(?:_json)?$)`);

/** Whether an attribute is content of the call, which numbers never are. Names may be in snake case or camel case. */
function isContent(name: string, value: unknown): boolean {
  if (typeof value === "number" || typeof value === "boolean") return false;
  return IS_CONTENT.test(name.replaceAll(/([a-z])([A-Z])/g, "$1_$2").toLowerCase());
}

function contentOf(attributes: Attributes, names: readonly string[]): string | null {
  for (const name of names) {
    const value = attributes[name];
    if (value === undefined || value === null) continue;
    return typeof value === "string" ? value : JSON.stringify(value);
  }
  return null;
}

const MAPPED_ATTRIBUTES = new RegExp(
  String.raw`^gen_ai\.(?:operation\.name|provider\.name|system|request\.(?:model|temperature|max_tokens|stream)|` +
    String.raw`response\.(?:model|id)|conversation\.id|agent\.name|tool\.name)$`,
);

function numberOf(attributes: Attributes, ...names: string[]): number | null {
  const value = names.map((name) => attributes[name]).find((one) => typeof one === "number");
  return (value as number | undefined) ?? null;
}

/** Implausible counts are dropped, because their sums could overflow the totals of a run or group. */
function tokensOf(attributes: Attributes, ...names: readonly string[]): number | null {
  return plausibleCount(countAttribute(attributes, ...names));
}

export function genAiFacts(span: Span): GenAiFacts {
  const { attributes, resource } = span;
  const mcpMethod = textAttribute(attributes, "mcp.method.name");
  const a2aMethod = textAttribute(attributes, "a2a.method.name");
  const old = textAttribute(attributes, "llm.request.type", "openinference.span.kind", "ai.operationId");
  const named = textAttribute(attributes, "gen_ai.operation.name") ?? (old === null ? null : (ownEntry(OLD_OPERATIONS, old) ?? null));
  const aboutModels = Object.keys(attributes).some((name) => name.startsWith("gen_ai.") || name.startsWith("llm."));
  // In instrumentations without operation names, a span with a model and usage is a call to the model.
  const inference =
    named === null
      ? mcpMethod === null &&
        a2aMethod === null &&
        textAttribute(attributes, "gen_ai.request.model", "gen_ai.response.model", "llm.model_name") !== null
      : INFERENCE.has(named);
  const kind =
    (named !== null && TOOL_OPERATIONS.has(named)) || mcpMethod !== null
      ? "mcp"
      : (named !== null && AGENT_OPERATIONS.has(named)) || a2aMethod !== null
        ? "a2a"
        : named !== null || aboutModels
          ? "llm"
          : null;
  const failed = span.statusCode === 2 || textAttribute(attributes, "error.type") !== null;
  return {
    kind,
    operation: named ?? mcpMethod ?? a2aMethod ?? (inference ? "chat" : "span"),
    inference,
    provider: kind === null ? null : genAiProviderOf(attributes),
    modelRequested: textAttribute(attributes, "gen_ai.request.model"),
    modelUsed: textAttribute(attributes, "gen_ai.response.model", "llm.model_name"),
    promptTokens: inference
      ? tokensOf(attributes, "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt", "llm.usage.prompt_tokens")
      : null,
    completionTokens: inference
      ? tokensOf(
          attributes,
          "gen_ai.usage.output_tokens",
          "gen_ai.usage.completion_tokens",
          "llm.token_count.completion",
          "llm.usage.completion_tokens",
        )
      : null,
    cacheReadTokens: inference ? tokensOf(attributes, "gen_ai.usage.cache_read.input_tokens") : null,
    cacheWriteTokens: inference
      ? tokensOf(attributes, "gen_ai.usage.cache_write.input_tokens", "gen_ai.usage.cache_creation.input_tokens")
      : null,
    temperature: numberOf(attributes, "gen_ai.request.temperature"),
    maxTokens: countAttribute(attributes, "gen_ai.request.max_tokens"),
    streaming: typeof attributes["gen_ai.request.stream"] === "boolean" ? attributes["gen_ai.request.stream"] : null,
    responseId: textAttribute(attributes, "gen_ai.response.id"),
    conversation: textAttribute(attributes, "gen_ai.conversation.id", "session.id"),
    agent: textAttribute(attributes, "gen_ai.agent.name", "gen_ai.agent.id") ?? textAttribute(resource, "service.name"),
    tool: textAttribute(attributes, "gen_ai.tool.name", "tool.name", "ai.toolCall.name"),
    mcpMethod,
    errorType: failed ? (textAttribute(attributes, "error.type") ?? span.exception?.type ?? "error") : null,
    input: contentOf(attributes, INPUT),
    output: contentOf(attributes, OUTPUT),
    rest: Object.fromEntries(
      Object.entries(attributes).filter(([name, value]) => !MAPPED_ATTRIBUTES.test(name) && !isContent(name, value)),
    ),
  };
}
