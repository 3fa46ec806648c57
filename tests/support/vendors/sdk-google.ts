import { ApiError, type GenerateContentParameters, type GoogleGenAI } from "@google/genai";
import type { Feature } from "./matrix.ts";
import { ANSWER_SCHEMA, PIXEL, PROMPT, type Sdk, TOOL_DESCRIPTION, TOOL_NAME, TOOL_SCHEMA, sdkAnswer } from "./sdk.ts";

export function googleGenai(client: GoogleGenAI): Sdk {
  return {
    statusOf: (error) => (error instanceof ApiError ? error.status : null),
    async ask(model, feature, stream) {
      const asked = paramsOf(model, feature);
      const answers = stream
        ? await Array.fromAsync(await client.models.generateContentStream(asked))
        : [await client.models.generateContent(asked)];
      const parts = answers.flatMap((answer) => answer.candidates?.[0]?.content?.parts ?? []);
      const call = parts.find(({ functionCall }) => functionCall !== undefined)?.functionCall;
      return sdkAnswer(
        parts.map(({ text }) => text ?? "").join(""),
        call === undefined ? null : { name: call.name ?? "", arguments: call.args },
      );
    },
  };
}

function paramsOf(model: string, feature: Feature): GenerateContentParameters {
  const parts = [{ text: PROMPT }, ...(feature === "picture" ? [{ inlineData: { mimeType: "image/png", data: PIXEL } }] : [])];
  const asked = { model, contents: [{ role: "user", parts }] };
  if (feature === "tools")
    return {
      ...asked,
      config: {
        tools: [{ functionDeclarations: [{ name: TOOL_NAME, description: TOOL_DESCRIPTION, parametersJsonSchema: TOOL_SCHEMA }] }],
      },
    };
  return feature === "structured"
    ? { ...asked, config: { responseMimeType: "application/json", responseJsonSchema: ANSWER_SCHEMA } }
    : asked;
}
