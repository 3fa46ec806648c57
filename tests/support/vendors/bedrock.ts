import { EventStreamCodec } from "@smithy/eventstream-codec";
import { argumentPieces, SIGNATURE, sceneOf, THOUGHT, USAGE, VECTORS } from "./scene.ts";
import { has, listOf, type Loose } from "./loose.ts";

const frames = new EventStreamCodec(
  (bytes) => (typeof bytes === "string" ? bytes : new TextDecoder().decode(bytes)),
  (text) => new TextEncoder().encode(text),
);

/** Amazon Bedrock's runtime: Converse, ConverseStream, and InvokeModel of an embedding model. */
export function answerBedrock(path: string, body: Loose): Response {
  const [, encoded = "", method] = /\/model\/([^/]+)\/([\w-]+)$/.exec(path) ?? [];
  const model = decodeURIComponent(encoded);
  if (method === "invoke") return Response.json({ embedding: VECTORS[0], inputTextTokenCount: 3 });
  if (method !== "converse" && method !== "converse-stream") return fault(404);

  const last = listOf(listOf(body.messages).at(-1)?.content);
  const toolResult = last.some((block) => block.toolResult !== undefined);
  const thinks = body.additionalModelRequestFields?.thinking !== undefined;
  if (thinks && toolResult) {
    const [first] = listOf(listOf(body.messages).at(-2)?.content);
    if (first?.reasoningContent?.reasoningText?.signature !== SIGNATURE)
      return fault(400, "Expected reasoning with its signature before the tool use.");
  }
  const scene = sceneOf(
    {
      model,
      tools: listOf(body.toolConfig?.tools).length > 0,
      toolResult,
      structured: body.outputConfig?.textFormat?.type === "json_schema",
      picture: has(body.messages, "image"),
    },
    body,
  );
  if (scene.kind === "fault") return fault(scene.status);

  const blocks: Loose[] = [
    ...(thinks ? [{ reasoningContent: { reasoningText: { text: THOUGHT, signature: SIGNATURE } } }] : []),
    scene.kind === "tool"
      ? { toolUse: { toolUseId: "tooluse_fake1", name: scene.call.name, input: scene.call.arguments } }
      : { text: scene.pieces.join("") },
  ];
  const stopReason = scene.kind === "tool" ? "tool_use" : "end_turn";
  const usage = { inputTokens: USAGE.input, outputTokens: USAGE.output, totalTokens: USAGE.input + USAGE.output };
  const metrics = { latencyMs: 5 };
  if (method === "converse")
    return Response.json(
      { output: { message: { role: "assistant", content: blocks } }, stopReason, usage, metrics },
      { headers: { "x-amzn-requestid": "req-bedrock" } },
    );

  const told = [
    frame("messageStart", { role: "assistant" }),
    ...blocks.flatMap((block, contentBlockIndex) => [
      // A text block has no start event.
      ...(block.toolUse === undefined
        ? []
        : [
            frame("contentBlockStart", {
              contentBlockIndex,
              start: { toolUse: { toolUseId: block.toolUse.toolUseId, name: block.toolUse.name } },
            }),
          ]),
      ...deltasOf(block, scene.kind === "text" ? scene.pieces : []).map((delta) =>
        frame("contentBlockDelta", { contentBlockIndex, delta }),
      ),
      frame("contentBlockStop", { contentBlockIndex }),
    ]),
    frame("messageStop", { stopReason }),
    frame("metadata", { usage, metrics }),
  ];
  return new Response(Buffer.concat(told), { headers: { "content-type": "application/vnd.amazon.eventstream" } });
}

function deltasOf(block: Loose, pieces: readonly string[]): Loose[] {
  if (block.toolUse !== undefined)
    return argumentPieces({ name: block.toolUse.name, arguments: block.toolUse.input }).map((input) => ({ toolUse: { input } }));
  if (block.reasoningContent !== undefined)
    return [{ reasoningContent: { text: THOUGHT } }, { reasoningContent: { signature: SIGNATURE } }];
  return pieces.map((text) => ({ text }));
}

function frame(name: string, payload: Loose): Uint8Array {
  const text = (value: string) => ({ type: "string" as const, value });
  return frames.encode({
    headers: { ":message-type": text("event"), ":event-type": text(name), ":content-type": text("application/json") },
    body: new TextEncoder().encode(JSON.stringify(payload)),
  });
}

function fault(status: number, message = `The fake vendor answers ${status}.`): Response {
  const type =
    { 400: "ValidationException", 404: "ResourceNotFoundException", 429: "ThrottlingException" }[status] ?? "InternalServerException";
  return Response.json({ message }, { status, headers: { "x-amzn-errortype": type } });
}
