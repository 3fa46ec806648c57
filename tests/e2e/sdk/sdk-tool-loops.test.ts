import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type Anthropic from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import type { Content } from "@google/genai";
import type OpenAI from "openai";
import { PROVIDERS } from "../../support/vendors/matrix.ts";
import { AFTER_TOOL, scripted, SIGNATURE, THOUGHT, TOOL } from "../../support/vendors/scene.ts";
import { PROMPT, TOOL_DESCRIPTION, TOOL_NAME, TOOL_SCHEMA } from "../../support/vendors/sdk.ts";
import { startSdkWorld, type SdkWorld } from "../../support/vendors/sdk-world.ts";

/**
 * A tool is called, its result is returned, and the model continues. The fake Gemini, Claude and Bedrock refuse a history whose reasoning
 * or calls lost their signatures.
 */
let world: SdkWorld;

beforeAll(async () => {
  world = await startSdkWorld();
});

afterAll(() => world.end());

const vendors = PROVIDERS.map(({ id }) => id).filter((id) => id !== "echo");
const table = vendors.flatMap((id) => [[id, false] as const, [id, true] as const]);

describe("a tool loop of the openai client", () => {
  const tools = [{ type: "function" as const, function: { name: TOOL_NAME, description: TOOL_DESCRIPTION, parameters: TOOL_SCHEMA } }];

  test.each(table)("completes with %s (streamed: %p)", async (id, stream) => {
    const { openai } = world.clients;
    const ask = (messages: OpenAI.ChatCompletionMessageParam[]) =>
      stream
        ? openai.chat.completions.stream({ model: `sdk-${id}`, messages, tools }).finalChatCompletion()
        : openai.chat.completions.create({ model: `sdk-${id}`, messages, tools });
    const question: OpenAI.ChatCompletionMessageParam = { role: "user", content: PROMPT };
    const called = (await ask([question])).choices[0]?.message;
    const call = called?.tool_calls?.[0];
    expect(JSON.stringify(called)).not.toContain(SIGNATURE);
    // Return only the members of a message that every client keeps.
    const turn: OpenAI.ChatCompletionMessageParam = {
      role: "assistant",
      content: called?.content ?? null,
      tool_calls: [{ id: call?.id as string, type: "function", function: { name: TOOL.name, arguments: JSON.stringify(TOOL.arguments) } }],
    };
    const answer = await ask([question, turn, { role: "tool", tool_call_id: call?.id as string, content: "4" }]);
    expect(answer.choices[0]?.message.content).toBe(AFTER_TOOL);
  });

  test.each(["anthropic", "bedrock", "vertex-claude"])(
    "returns the reasoning of %s, for which the chat format has no place",
    async (id) => {
      const { openai } = world.clients;
      const ask = (messages: OpenAI.ChatCompletionMessageParam[]) =>
        openai.chat.completions.create({ model: `sdk-${id}`, messages, tools, reasoning_effort: "high" });
      const question: OpenAI.ChatCompletionMessageParam = { role: "user", content: PROMPT };
      const called = (await ask([question])).choices[0]?.message as OpenAI.ChatCompletionMessage;
      const answer = await ask([
        question,
        { role: "assistant", content: called.content, tool_calls: called.tool_calls as OpenAI.ChatCompletionMessageFunctionToolCall[] },
        { role: "tool", tool_call_id: called.tool_calls?.[0]?.id as string, content: "4" },
      ]);
      expect(answer.choices[0]?.message.content).toBe(AFTER_TOOL);
    },
  );
});

describe("a tool loop of the openai client's responses", () => {
  const tools = [{ type: "function" as const, name: TOOL_NAME, description: TOOL_DESCRIPTION, parameters: TOOL_SCHEMA, strict: true }];

  test.each(vendors)("completes with %s", async (id) => {
    const { openai } = world.clients;
    const ask = (input: OpenAI.Responses.ResponseInput) =>
      openai.responses.create({ model: `sdk-${id}`, input, tools, store: false, include: ["reasoning.encrypted_content"] });
    const question = { role: "user" as const, content: PROMPT };
    const { output } = await ask([question]);
    const call = output.find(({ type }) => type === "function_call") as OpenAI.Responses.ResponseFunctionToolCall;
    const answer = await ask([
      question,
      ...(output as OpenAI.Responses.ResponseInput),
      { type: "function_call_output", call_id: call.call_id, output: "4" },
    ]);
    expect(answer.output_text).toBe(AFTER_TOOL);
  });
});

describe("a tool loop of both anthropic clients", () => {
  const tools = [{ name: TOOL_NAME, description: TOOL_DESCRIPTION, input_schema: TOOL_SCHEMA }];
  const thinking = { type: "enabled" as const, budget_tokens: 1024 };
  const question = { role: "user" as const, content: PROMPT };

  const loop = async (id: string, stream: boolean, thinks: boolean) => {
    const answers: Anthropic.Message[] = [];
    for (const { messages } of [world.clients.anthropicOne, world.clients.anthropicZero] as Anthropic[]) {
      const ask = (turns: Anthropic.MessageParam[]) => {
        const asked: Anthropic.MessageCreateParamsNonStreaming = {
          model: `sdk-${id}`,
          max_tokens: 4000,
          messages: turns,
          tools,
          ...(thinks ? { thinking } : {}),
        };
        return stream ? messages.stream(asked).finalMessage() : messages.create(asked);
      };
      const called = await ask([question]);
      const call = called.content.find(({ type }) => type === "tool_use") as Anthropic.ToolUseBlock;
      const result: Anthropic.MessageParam = { role: "user", content: [{ type: "tool_result", tool_use_id: call.id, content: "4" }] };
      const answer = await ask([question, { role: "assistant", content: called.content as Anthropic.ContentBlockParam[] }, result]);
      expect(answer.content.at(-1)).toMatchObject({ type: "text", text: AFTER_TOOL });
      answers.push(called);
    }
    return answers;
  };

  test.each(table)("completes with %s (streamed: %p)", async (id, stream) => {
    for (const { content, stop_reason } of await loop(id, stream, false)) {
      expect(content.at(-1)).toMatchObject({ type: "tool_use", name: TOOL.name, input: TOOL.arguments });
      expect(stop_reason).toBe("tool_use");
    }
  });

  test.each(["anthropic", "bedrock", "vertex-claude"].flatMap((id) => [[id, false] as const, [id, true] as const]))(
    "returns the signed thinking of %s (streamed: %p)",
    async (id, stream) => {
      for (const { content } of await loop(id, stream, true))
        expect(content[0]).toMatchObject({ type: "thinking", thinking: THOUGHT, signature: SIGNATURE });
    },
  );
});

describe("a tool loop of the anthropic client's tool runner, which keeps conversations at the vendor", () => {
  let calls = 0;
  const run = () => `${++calls}`;
  const tool = betaTool({ name: TOOL_NAME, description: TOOL_DESCRIPTION, inputSchema: TOOL_SCHEMA, run });

  test.each(table)("completes with %s (streamed: %p)", async (id, stream) => {
    const { messages } = world.clients.anthropicOne.beta;
    // Only the first message requests the second call, so a model that sees only the newest message makes none.
    const content = `${PROMPT} ${scripted(TOOL)} ${scripted(TOOL)}`;
    const asked = { model: `sdk-${id}`, max_tokens: 4000, messages: [{ role: "user" as const, content }], tools: [tool] };
    calls = 0;
    const answer = await (stream ? messages.toolRunner({ ...asked, stream }) : messages.toolRunner(asked)).runUntilDone();
    expect(answer.content.at(-1)).toMatchObject({ type: "text", text: AFTER_TOOL });
    expect(calls).toBe(2);
  });

  test("a thread to be stored at the vendor is refused with the vendor's error code", async () => {
    const thread = world.clients.anthropicOne.beta.messages.thread({ model: "sdk-openai", max_tokens: 100 });
    const refused = (await thread.send({ role: "user", content: PROMPT }).catch((error: unknown) => error)) as { error: unknown };
    expect(refused).toMatchObject({
      status: 400,
      error: {
        type: "error",
        error: {
          type: "invalid_request_error",
          code: "unsupported_parameter",
          message: expect.stringContaining("thread") as string,
          details: { error_code: "thread_unsupported_request", unsupported: ["thread"] },
        },
      },
    });
  });
});

describe("a tool loop of the google client", () => {
  const config = {
    tools: [{ functionDeclarations: [{ name: TOOL_NAME, description: TOOL_DESCRIPTION, parametersJsonSchema: TOOL_SCHEMA }] }],
  };

  test.each(table)("completes with %s (streamed: %p)", async (id, stream) => {
    const { models } = world.clients.google;
    const ask = async (contents: Content[]) => {
      const asked = { model: `sdk-${id}`, contents, config };
      const answers = stream ? await Array.fromAsync(await models.generateContentStream(asked)) : [await models.generateContent(asked)];
      return answers.flatMap((answer) => answer.candidates?.[0]?.content?.parts ?? []);
    };
    const question: Content = { role: "user", parts: [{ text: PROMPT }] };
    const called = await ask([question]);
    const call = called.find(({ functionCall }) => functionCall !== undefined)?.functionCall;
    const result = { functionResponse: { name: TOOL.name, response: { output: "4" }, ...(call?.id === undefined ? {} : { id: call.id }) } };
    const answer = await ask([question, { role: "model", parts: called }, { role: "user", parts: [result] }]);
    expect(answer.map(({ text }) => text ?? "").join("")).toBe(AFTER_TOOL);
  });
});
