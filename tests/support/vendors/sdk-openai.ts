import OpenAI from "openai";
import type { Feature } from "./matrix.ts";
import { ANSWER_SCHEMA, parsed, PIXEL_URL, PROMPT, type Sdk, TOOL_DESCRIPTION, TOOL_NAME, TOOL_SCHEMA, sdkAnswer } from "./sdk.ts";

const statusOf = (error: unknown) => (error instanceof OpenAI.APIError ? (error.status ?? null) : null);

export function openaiChat(client: OpenAI): Sdk {
  return {
    statusOf,
    async ask(model, feature, stream) {
      const asked = { model, messages: [chatMessage(feature)], ...chatOptions(feature) };
      const answer = stream
        ? await client.chat.completions.stream(asked).finalChatCompletion()
        : await client.chat.completions.create(asked);
      const message = answer.choices[0]?.message;
      const call = message?.tool_calls?.[0];
      return sdkAnswer(message?.content, call?.type === "function" ? parsed(call.function.name, call.function.arguments) : null);
    },
  };
}

function chatMessage(feature: Feature): OpenAI.ChatCompletionUserMessageParam {
  return {
    role: "user",
    content:
      feature === "picture"
        ? [
            { type: "text", text: PROMPT },
            { type: "image_url", image_url: { url: PIXEL_URL } },
          ]
        : PROMPT,
  };
}

function chatOptions(feature: Feature): Pick<OpenAI.ChatCompletionCreateParamsNonStreaming, "tools" | "response_format"> {
  if (feature === "tools")
    return { tools: [{ type: "function", function: { name: TOOL_NAME, description: TOOL_DESCRIPTION, parameters: TOOL_SCHEMA } }] };
  return feature === "structured"
    ? { response_format: { type: "json_schema", json_schema: { name: "answer", schema: ANSWER_SCHEMA, strict: true } } }
    : {};
}

export function openaiResponses(client: OpenAI): Sdk {
  return {
    statusOf,
    async ask(model, feature, stream) {
      const asked = { model, input: [responsesMessage(feature)], ...responsesOptions(feature) };
      const answer = stream ? await client.responses.stream(asked).finalResponse() : await client.responses.create(asked);
      const call = (answer.output as OpenAI.Responses.ResponseOutputItem[]).find((item) => item.type === "function_call");
      return sdkAnswer(answer.output_text, parsed(call?.name, call?.arguments));
    },
  };
}

function responsesMessage(feature: Feature): OpenAI.Responses.EasyInputMessage {
  return {
    role: "user",
    content:
      feature === "picture"
        ? [
            { type: "input_text", text: PROMPT },
            { type: "input_image", detail: "auto", image_url: PIXEL_URL },
          ]
        : PROMPT,
  };
}

function responsesOptions(feature: Feature): Pick<OpenAI.Responses.ResponseCreateParamsNonStreaming, "tools" | "text"> {
  if (feature === "tools")
    return { tools: [{ type: "function", name: TOOL_NAME, description: TOOL_DESCRIPTION, parameters: TOOL_SCHEMA, strict: true }] };
  return feature === "structured" ? { text: { format: { type: "json_schema", name: "answer", schema: ANSWER_SCHEMA, strict: true } } } : {};
}

export function openaiCompletions(client: OpenAI): Sdk {
  return {
    statusOf,
    async ask(model, _feature, stream) {
      const asked = { model, prompt: PROMPT };
      if (!stream) return sdkAnswer((await client.completions.create(asked)).choices[0]?.text);
      let text = "";
      for await (const chunk of await client.completions.create({ ...asked, stream: true })) text += chunk.choices[0]?.text ?? "";
      return sdkAnswer(text);
    },
  };
}
