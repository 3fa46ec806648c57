import { APICallError, generateText, jsonSchema, type LanguageModel, Output, streamText, tool } from "ai";
import type { Feature } from "./matrix.ts";
import { ANSWER_SCHEMA, PIXEL, PROMPT, type Sdk, TOOL_DESCRIPTION, TOOL_NAME, TOOL_SCHEMA, sdkAnswer } from "./sdk.ts";

/** The AI SDK with one of its provider packages. */
export function aiSdk(modelOf: (name: string) => LanguageModel): Sdk {
  return {
    statusOf: (error) => (APICallError.isInstance(error) ? (error.statusCode ?? null) : null),
    async ask(name, feature, stream) {
      const asked = {
        model: modelOf(name),
        maxRetries: 0,
        messages: [{ role: "user" as const, content: contentOf(feature) }],
        ...optionsOf(feature),
      };
      if (!stream) {
        const { text, toolCalls } = await generateText(asked);
        return sdkAnswer(text, callOf(toolCalls));
      }
      let failure: unknown;
      const result = streamText({
        ...asked,
        onError({ error }) {
          failure = error;
        },
      });
      await result.consumeStream();
      if (failure !== undefined) throw failure;
      return sdkAnswer(await result.text, callOf(await result.toolCalls));
    },
  };
}

function contentOf(feature: Feature) {
  const text = { type: "text" as const, text: PROMPT };
  return feature === "picture" ? [text, { type: "file" as const, data: Buffer.from(PIXEL, "base64"), mediaType: "image/png" }] : [text];
}

function optionsOf(feature: Feature) {
  // The package infers a model's abilities from vendor names, and would otherwise request a tool call instead of a schema.
  if (feature === "structured")
    return {
      output: Output.object({ schema: jsonSchema(ANSWER_SCHEMA) }),
      providerOptions: { anthropic: { structuredOutputMode: "outputFormat" } },
    };
  return feature === "tools"
    ? { tools: { [TOOL_NAME]: tool({ description: TOOL_DESCRIPTION, inputSchema: jsonSchema(TOOL_SCHEMA) }) } }
    : {};
}

function callOf(calls: readonly { readonly toolName: string; readonly input: unknown }[]) {
  const [call] = calls;
  return call === undefined ? null : { name: call.toolName, arguments: call.input };
}
