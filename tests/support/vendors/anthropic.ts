import { argumentPieces, COUNTED, events, SIGNATURE, sceneOf, THOUGHT, USAGE } from "./scene.ts";
import { has, listOf, type Loose } from "./loose.ts";

/** Anthropic's Messages API. It refuses what the vendor refuses: no version, no max_tokens, thinking without its signature. */
export function answerAnthropic(address: string, body: Loose, headers: Record<string, string>): Response {
  // Anthropic's own clients pass `beta` in the query.
  const [path = ""] = address.split("?");
  if (headers["anthropic-version"] === undefined) return fault(400, "anthropic-version: header is required");
  if (path.endsWith("/count_tokens")) return Response.json({ input_tokens: COUNTED });
  if (!path.endsWith("/messages")) return fault(404);
  if (typeof body.max_tokens !== "number") return fault(400, "max_tokens: Field required");

  const last = listOf(listOf(body.messages).at(-1)?.content);
  const toolResult = last.some(({ type }) => type === "tool_result");
  const thinks = body.thinking !== undefined && body.thinking.type !== "disabled";
  if (thinks && toolResult) {
    const [first] = listOf(listOf(body.messages).at(-2)?.content);
    if (first?.type !== "thinking" || first.thinking !== THOUGHT || first.signature !== SIGNATURE)
      return fault(400, "Expected `thinking` with its signature before `tool_use`");
  }
  const scene = sceneOf(
    {
      model: body.model,
      tools: listOf(body.tools).length > 0,
      toolResult,
      structured: body.output_config?.format?.type === "json_schema",
      picture: has(body.messages, "image"),
    },
    body,
  );
  if (scene.kind === "fault") return fault(scene.status);

  const blocks: Loose[] = [
    ...(thinks ? [{ type: "thinking", thinking: THOUGHT, signature: SIGNATURE }] : []),
    scene.kind === "tool"
      ? { type: "tool_use", id: "toolu_fake1", name: scene.call.name, input: scene.call.arguments }
      : { type: "text", text: scene.pieces.join("") },
  ];
  const usage = { input_tokens: USAGE.input, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: USAGE.output };
  const head = { id: "msg_fake", type: "message", role: "assistant", model: body.model, stop_sequence: null };
  const stop_reason = scene.kind === "tool" ? "tool_use" : "end_turn";
  if (!body.stream) return Response.json({ ...head, content: blocks, stop_reason, usage }, { headers: { "request-id": "req_anthropic" } });

  const told: Loose[] = [
    { type: "message_start", message: { ...head, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } } },
    { type: "ping" },
    ...blocks.flatMap((block, index) => [
      { type: "content_block_start", index, content_block: { ...block, ...EMPTY[block.type as keyof typeof EMPTY] } },
      ...deltasOf(block, scene.kind === "text" ? scene.pieces : []).map((delta) => ({ type: "content_block_delta", index, delta })),
      { type: "content_block_stop", index },
    ]),
    { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: USAGE.output } },
    { type: "message_stop" },
  ];
  return events(told.map((data) => ({ event: data.type, data })));
}

const EMPTY = { thinking: { thinking: "", signature: "" }, tool_use: { input: {} }, text: { text: "" } };

function deltasOf(block: Loose, pieces: readonly string[]): Loose[] {
  if (block.type === "thinking")
    return [
      { type: "thinking_delta", thinking: THOUGHT },
      { type: "signature_delta", signature: SIGNATURE },
    ];
  if (block.type === "tool_use")
    return ["", ...argumentPieces({ name: block.name, arguments: block.input })].map((partial_json) => ({
      type: "input_json_delta",
      partial_json,
    }));
  return pieces.map((text) => ({ type: "text_delta", text }));
}

function fault(status: number, message = `The fake vendor answers ${status}.`): Response {
  const type =
    { 400: "invalid_request_error", 404: "not_found_error", 429: "rate_limit_error", 529: "overloaded_error" }[status] ?? "api_error";
  return Response.json({ type: "error", error: { type, message }, request_id: "req_anthropic" }, { status });
}
