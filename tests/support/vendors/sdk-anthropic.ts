import Anthropic from "@anthropic-ai/sdk";
import AnthropicZero from "anthropic-sdk-0";
import type { Feature } from "./matrix.ts";
import { ANSWER_SCHEMA, PIXEL, PROMPT, type Sdk, TOOL_DESCRIPTION, TOOL_NAME, TOOL_SCHEMA, sdkAnswer } from "./sdk.ts";

/** The current client, which sends a bearer token and the newest API version. */
export function anthropicOne(client: Anthropic): Sdk {
  return {
    statusOf: (error) => (error instanceof Anthropic.APIError ? (error.status ?? null) : null),
    async ask(model, feature, stream) {
      const asked: Anthropic.MessageCreateParamsNonStreaming = bodyOf(model, feature);
      return toldBy(stream ? await client.messages.stream(asked).finalMessage() : await client.messages.create(asked));
    },
  };
}

/** The last client before 1.0, with `x-api-key` and the API version of 2023. */
export function anthropicZero(client: AnthropicZero): Sdk {
  return {
    statusOf: (error) => (error instanceof AnthropicZero.APIError ? (error.status ?? null) : null),
    async ask(model, feature, stream) {
      const asked: AnthropicZero.MessageCreateParamsNonStreaming = bodyOf(model, feature);
      return toldBy(stream ? await client.messages.stream(asked).finalMessage() : await client.messages.create(asked));
    },
  };
}

function bodyOf(model: string, feature: Feature) {
  const picture = { type: "image" as const, source: { type: "base64" as const, media_type: "image/png" as const, data: PIXEL } };
  return {
    model,
    max_tokens: 1000,
    messages: [{ role: "user" as const, content: feature === "picture" ? [{ type: "text" as const, text: PROMPT }, picture] : PROMPT }],
    ...(feature === "tools" ? { tools: [{ name: TOOL_NAME, description: TOOL_DESCRIPTION, input_schema: TOOL_SCHEMA }] } : {}),
    ...(feature === "structured" ? { output_config: { format: { type: "json_schema" as const, schema: ANSWER_SCHEMA } } } : {}),
  };
}

function toldBy({
  content,
}: {
  readonly content: readonly { readonly type: string; readonly text?: string; readonly name?: string; readonly input?: unknown }[];
}) {
  const call = content.find(({ type }) => type === "tool_use");
  const text = content.map((block) => (block.type === "text" ? block.text : "")).join("");
  return sdkAnswer(text, call === undefined ? null : { name: call.name ?? "", arguments: call.input });
}
