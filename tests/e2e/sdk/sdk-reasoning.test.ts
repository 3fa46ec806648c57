import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, jsonSchema, stepCountIs, streamText, tool } from "ai";
import OpenAI from "openai";
import { REASONING } from "../../support/vendors/matrix.ts";
import { AFTER_TOOL, SIGNATURE, THOUGHT, TOOL } from "../../support/vendors/scene.ts";
import { PROMPT, TOOL_NAME, TOOL_SCHEMA } from "../../support/vendors/sdk.ts";
import { startSdkWorld, type SdkWorld } from "../../support/vendors/sdk-world.ts";

/** A model's reasoning appears wherever the caller's format has a place for it, whichever vendor produced it. */
let world: SdkWorld;

beforeAll(async () => {
  world = await startSdkWorld();
});

afterAll(() => world.end());

const table = REASONING.providers.flatMap((id) => [[id, false] as const, [id, true] as const]);

describe("reasoning", () => {
  test.each(table)("of %s is a summary in the openai client's responses (streamed: %p)", async (id, stream) => {
    const { responses } = world.clients.openai;
    const asked = { model: `sdk-${id}`, input: PROMPT, reasoning: { effort: "high" as const, summary: "auto" as const } };
    const { output } = stream ? await responses.stream(asked).finalResponse() : await responses.create(asked);
    expect((output as OpenAI.Responses.ResponseOutputItem[]).find(({ type }) => type === "reasoning")).toMatchObject({
      summary: [{ type: "summary_text", text: THOUGHT }],
    });
  });

  test.each(table)("of %s is a thinking block in the anthropic client (streamed: %p)", async (id, stream) => {
    const { messages } = world.clients.anthropicOne;
    const asked = {
      model: `sdk-${id}`,
      max_tokens: 4000,
      messages: [{ role: "user" as const, content: PROMPT }],
      thinking: { type: "enabled" as const, budget_tokens: 2048, display: "summarized" as const },
    };
    const { content } = stream ? await messages.stream(asked).finalMessage() : await messages.create(asked);
    expect(content[0]).toMatchObject({ type: "thinking", thinking: THOUGHT });
  });

  test.each(["gemini", "vertex-gemini", "bedrock"])("of %s is returned to an anthropic client that sets no display", async (id) => {
    const { content } = await world.clients.anthropicOne.messages.create({
      model: `sdk-${id}`,
      max_tokens: 4000,
      messages: [{ role: "user" as const, content: PROMPT }],
      thinking: { type: "enabled" as const, budget_tokens: 2048 },
    });
    expect(content[0]).toMatchObject({ type: "thinking", thinking: THOUGHT });
  });

  test.each(table)("of %s is a thought part in the google client (streamed: %p)", async (id, stream) => {
    const { models } = world.clients.google;
    const asked = { model: `sdk-${id}`, contents: PROMPT, config: { thinkingConfig: { includeThoughts: true, thinkingBudget: 2048 } } };
    const answers = stream ? await Array.fromAsync(await models.generateContentStream(asked)) : [await models.generateContent(asked)];
    const parts = answers.flatMap((answer) => answer.candidates?.[0]?.content?.parts ?? []);
    expect(
      parts
        .filter(({ thought }) => thought)
        .map(({ text }) => text)
        .join(""),
    ).toBe(THOUGHT);
  });
});

test.each(table)("reasoning of %s can be referred to in a tool loop of the AI SDK (streamed: %p)", async (id, stream) => {
  const { baseURL, apiKey } = world.clients.openai;
  const asked = {
    model: createOpenAI({ baseURL, apiKey: apiKey as string })(`sdk-${id}`),
    prompt: PROMPT,
    maxRetries: 0,
    stopWhen: stepCountIs(2),
    tools: { [TOOL_NAME]: tool({ inputSchema: jsonSchema(TOOL_SCHEMA), execute: () => "4" }) },
    providerOptions: { openai: { reasoningEffort: "low", reasoningSummary: "auto", forceReasoning: true } },
  };
  expect(stream ? await streamText(asked).text : (await generateText(asked)).text).toBe(AFTER_TOOL);
});

test("a tool call's signature is not added to a call the gateway never saw", async () => {
  const tools = [{ type: "function" as const, function: { name: TOOL_NAME, parameters: TOOL_SCHEMA } }];
  const messages: OpenAI.ChatCompletionMessageParam[] = [
    { role: "user", content: PROMPT },
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "call_never_made", type: "function", function: { name: TOOL.name, arguments: JSON.stringify(TOOL.arguments) } }],
    },
    { role: "tool", tool_call_id: "call_never_made", content: "4" },
  ];
  const error = await world.clients.openai.chat.completions
    .create({ model: "sdk-gemini", messages, tools })
    .catch((thrown: unknown) => thrown);
  // The fake vendor refuses any signature but its own, so the loops above prove that it was returned.
  expect(error).toBeInstanceOf(OpenAI.BadRequestError);
  expect(String(error)).not.toContain(SIGNATURE);
});
