import { COUNTED, events, EMBEDDED, SIGNATURE, sceneOf, THOUGHT, USAGE, VECTORS } from "./scene.ts";
import { has, listOf, type Loose } from "./loose.ts";

/** Google's Gemini API and the same methods of Vertex. Like Gemini 3, it refuses a history with a call that lost its signature. */
export function answerGemini(path: string, body: Loose): Response {
  const [, model = "", method] = /\/models\/([^:?]+):(\w+)/.exec(path) ?? [];
  switch (method) {
    case "countTokens":
      return Response.json({ totalTokens: COUNTED });
    case "embedContent":
      return Response.json({ embedding: { values: VECTORS[0] }, usageMetadata: EMBEDDED });
    case "batchEmbedContents":
      return Response.json({
        embeddings: listOf(body.requests).map((_, at) => ({ values: VECTORS[at % VECTORS.length] })),
        usageMetadata: EMBEDDED,
      });
    case "generateContent":
    case "streamGenerateContent":
      return generate(model, body, method === "generateContent" ? "whole" : path.includes("alt=sse") ? "events" : "array");
    default:
      return fault(404);
  }
}

function generate(model: string, body: Loose, form: "whole" | "events" | "array"): Response {
  const contents = listOf(body.contents);
  const calls = contents.flatMap(({ parts }) => listOf(parts)).filter(({ functionCall }) => functionCall !== undefined);
  if (calls.some(({ thoughtSignature }) => thoughtSignature !== SIGNATURE))
    return fault(400, "Function call is missing a thought_signature in functionCall parts.");
  const config = body.generationConfig ?? {};
  const scene = sceneOf(
    {
      model,
      tools: listOf(body.tools).some(({ functionDeclarations }) => listOf(functionDeclarations).length > 0),
      toolResult: listOf(contents.at(-1)?.parts).some(({ functionResponse }) => functionResponse !== undefined),
      structured: config.responseJsonSchema !== undefined || config.responseSchema !== undefined,
      picture: has(contents, "inlineData"),
    },
    body,
  );
  if (scene.kind === "fault") return fault(scene.status);

  const thoughts: Loose[] = config.thinkingConfig?.includeThoughts ? [{ text: THOUGHT, thought: true }] : [];
  const said: Loose[] =
    scene.kind === "tool"
      ? [{ functionCall: { name: scene.call.name, args: scene.call.arguments }, thoughtSignature: SIGNATURE }]
      : scene.pieces.map((text) => ({ text }));
  const reply = (parts: Loose[], last: boolean) => ({
    candidates: [{ content: { role: "model", parts }, ...(last ? { finishReason: "STOP" } : {}), index: 0 }],
    usageMetadata: { promptTokenCount: USAGE.input, candidatesTokenCount: USAGE.output, totalTokenCount: USAGE.input + USAGE.output },
    modelVersion: model,
    responseId: "gemini-fake",
  });
  if (form === "whole")
    return Response.json(reply([...thoughts, ...(scene.kind === "text" ? [{ text: scene.pieces.join("") }] : said)], true));
  const parts = [...thoughts, ...said];
  const replies = parts.map((part, at) => reply([part], at === parts.length - 1));
  return form === "events" ? events(replies.map((data) => ({ data }))) : Response.json(replies);
}

function fault(status: number, message = `The fake vendor answers ${status}.`): Response {
  const name = { 400: "INVALID_ARGUMENT", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED" }[status] ?? "INTERNAL";
  return Response.json({ error: { code: status, message, status: name } }, { status });
}
