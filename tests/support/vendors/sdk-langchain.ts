import { ChatOpenAI } from "@langchain/openai";
import { HumanMessage } from "langchain";
import { ANSWER_SCHEMA, PIXEL_URL, PROMPT, type Sdk, TOOL_DESCRIPTION, TOOL_NAME, TOOL_SCHEMA, sdkAnswer } from "./sdk.ts";

export function langchain(baseURL: string, apiKey: string): Sdk {
  return {
    statusOf: (error) => (error instanceof Error && "status" in error && typeof error.status === "number" ? error.status : null),
    async ask(model, feature, stream) {
      const chat = new ChatOpenAI({ model, apiKey, configuration: { baseURL }, maxRetries: 0 });
      const message = new HumanMessage({
        content:
          feature === "picture"
            ? [
                { type: "text", text: PROMPT },
                { type: "image_url", image_url: { url: PIXEL_URL } },
              ]
            : PROMPT,
      });
      const runnable =
        feature === "tools"
          ? chat.bindTools([{ type: "function", function: { name: TOOL_NAME, description: TOOL_DESCRIPTION, parameters: TOOL_SCHEMA } }])
          : feature === "structured"
            ? chat.withConfig({
                response_format: { type: "json_schema", json_schema: { name: "answer", schema: ANSWER_SCHEMA, strict: true } },
              })
            : chat;
      let answer = stream ? null : await runnable.invoke([message]);
      if (stream)
        for await (const chunk of await runnable.stream([message]))
          answer = answer === null ? chunk : (answer as typeof chunk).concat(chunk);
      const call = answer?.tool_calls?.[0];
      return sdkAnswer(answer?.text, call === undefined ? null : { name: call.name, arguments: call.args });
    },
  };
}
