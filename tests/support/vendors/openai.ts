import { type RequestedFeatures, argumentPieces, events, type Scene, SIGNATURE, sceneOf, THOUGHT, TOOL, USAGE, VECTORS } from "./scene.ts";
import { has, listOf, type Loose } from "./loose.ts";

/** OpenAI's API, and Azure's, whose paths have the same endings. */
export function answerOpenai(path: string, body: Loose): Response {
  if (path.endsWith("/embeddings")) return embeddings(body);
  if (path.endsWith("/responses")) return responses(body);
  if (path.endsWith("/chat/completions")) return chat(body);
  if (path.endsWith("/completions")) return completions(body);
  return fault(404);
}

function fault(status: number): Response {
  const code = { 400: "fake_bad_request", 404: "unknown_url", 429: "rate_limit_exceeded" }[status] ?? "server_error";
  return Response.json(
    {
      error: {
        message: `The fake vendor answers ${status}.`,
        type: status < 500 ? "invalid_request_error" : "server_error",
        param: null,
        code,
      },
    },
    { status },
  );
}

const chatUsage = { prompt_tokens: USAGE.input, completion_tokens: USAGE.output, total_tokens: USAGE.input + USAGE.output };

function askedOfChat(body: Loose): RequestedFeatures {
  const messages = listOf(body.messages);
  return {
    model: body.model,
    tools: listOf(body.tools).length > 0,
    toolResult: messages.at(-1)?.role === "tool",
    structured: body.response_format?.type === "json_schema",
    picture: has(messages, "image_url"),
  };
}

function chat(body: Loose): Response {
  const scene = sceneOf(askedOfChat(body), body);
  if (scene.kind === "fault") return fault(scene.status);
  const asked = scene.kind === "tool" ? scene.call : TOOL;
  const calls = [{ id: "call_openai_1", type: "function", function: { name: asked.name, arguments: JSON.stringify(asked.arguments) } }];
  const head = { id: "chatcmpl-fake", created: 1763712000, model: body.model };
  const finish = scene.kind === "tool" ? "tool_calls" : "stop";
  if (!body.stream) {
    const message =
      scene.kind === "tool"
        ? { role: "assistant", content: null, refusal: null, tool_calls: calls }
        : { role: "assistant", content: scene.pieces.join(""), refusal: null };
    return Response.json({
      ...head,
      object: "chat.completion",
      choices: [{ index: 0, message, logprobs: null, finish_reason: finish }],
      usage: chatUsage,
    });
  }
  const chunk = (delta: unknown, finish_reason: string | null = null) => ({
    data: { ...head, object: "chat.completion.chunk", choices: [{ index: 0, delta, logprobs: null, finish_reason }], usage: null },
  });
  const call = { index: 0, id: calls[0]?.id, type: "function", function: { name: asked.name, arguments: "" } };
  const deltas =
    scene.kind === "tool"
      ? [
          chunk({ role: "assistant", content: null, tool_calls: [call] }),
          ...argumentPieces(asked).map((text) => chunk({ tool_calls: [{ index: 0, function: { arguments: text } }] })),
        ]
      : [chunk({ role: "assistant", content: "" }), ...scene.pieces.map((content) => chunk({ content }))];
  const usage = body.stream_options?.include_usage
    ? [{ data: { ...head, object: "chat.completion.chunk", choices: [], usage: chatUsage } }]
    : [];
  return events([...deltas, chunk({}, finish), ...usage], "data: [DONE]\n\n");
}

function completions(body: Loose): Response {
  const scene = sceneOf({ model: body.model, tools: false, toolResult: false, structured: false, picture: false }, body);
  if (scene.kind !== "text") return fault(scene.kind === "fault" ? scene.status : 500);
  const head = { id: "cmpl-fake", object: "text_completion", created: 1763712000, model: body.model };
  const choice = (text: string, finish_reason: string | null) => ({ text, index: 0, logprobs: null, finish_reason });
  if (!body.stream) return Response.json({ ...head, choices: [choice(scene.pieces.join(""), "stop")], usage: chatUsage });
  const usage = body.stream_options?.include_usage ? [{ data: { ...head, choices: [], usage: chatUsage } }] : [];
  return events(
    [
      ...scene.pieces.map((text) => ({ data: { ...head, choices: [choice(text, null)] } })),
      { data: { ...head, choices: [choice("", "stop")] } },
      ...usage,
    ],
    "data: [DONE]\n\n",
  );
}

function embeddings(body: Loose): Response {
  const count = Array.isArray(body.input) ? body.input.length : 1;
  const data = Array.from({ length: count }, (_, index) => {
    const vector = VECTORS[index % VECTORS.length] as number[];
    return {
      object: "embedding",
      index,
      embedding: body.encoding_format === "base64" ? Buffer.from(new Float32Array(vector).buffer).toString("base64") : vector,
    };
  });
  return Response.json({ object: "list", data, model: body.model, usage: { prompt_tokens: 6, total_tokens: 6 } });
}

function askedOfResponses(body: Loose): RequestedFeatures {
  const items = listOf(body.input);
  return {
    model: body.model,
    tools: listOf(body.tools).length > 0,
    toolResult: items.at(-1)?.type === "function_call_output",
    structured: body.text?.format?.type === "json_schema",
    picture: has(items, "input_image"),
  };
}

function responses(body: Loose): Response {
  const scene = sceneOf(askedOfResponses(body), body);
  if (scene.kind === "fault") return fault(scene.status);
  const output = outputOf(scene, body.reasoning !== undefined && body.reasoning !== null);
  const usage = {
    input_tokens: USAGE.input,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: USAGE.output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: USAGE.input + USAGE.output,
  };
  const head = {
    id: "resp_fake",
    object: "response",
    created_at: 1763712000,
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    model: body.model,
    parallel_tool_calls: true,
    temperature: 1,
    tool_choice: "auto",
    tools: listOf(body.tools),
    top_p: 1,
  };
  const completed = { ...head, status: "completed", output, usage };
  if (!body.stream) return Response.json(completed);
  const started = { ...head, status: "in_progress", output: [], usage: null };
  const told = [
    { type: "response.created", response: started },
    { type: "response.in_progress", response: started },
    ...output.flatMap((item, at) => itemEvents(item, at, scene)),
    { type: "response.completed", response: completed },
  ];
  return events(told.map((data, at) => ({ event: data.type, data: { ...data, sequence_number: at } })));
}

function outputOf(scene: Scene, reasons: boolean): Loose[] {
  const reasoning = reasons
    ? [{ type: "reasoning", id: "rs_fake", summary: [{ type: "summary_text", text: THOUGHT }], encrypted_content: SIGNATURE }]
    : [];
  if (scene.kind === "tool") {
    const { name } = scene.call;
    const called = { call_id: "call_openai_1", name, arguments: JSON.stringify(scene.call.arguments), status: "completed" };
    return [...reasoning, { type: "function_call", id: "fc_fake", ...called }];
  }
  return [
    ...reasoning,
    {
      type: "message",
      id: "msg_fake",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: scene.kind === "text" ? scene.pieces.join("") : "", annotations: [], logprobs: [] }],
    },
  ];
}

function itemEvents(item: Loose, output_index: number, scene: Scene): Loose[] {
  const place = { item_id: item.id, output_index };
  const done = { type: "response.output_item.done", output_index, item };
  const added = (given: Loose) => ({ type: "response.output_item.added", output_index, item: { ...item, ...given } });
  if (item.type === "reasoning") {
    const part = { ...place, summary_index: 0 };
    return [
      added({ summary: [] }),
      { type: "response.reasoning_summary_part.added", ...part, part: { type: "summary_text", text: "" } },
      { type: "response.reasoning_summary_text.delta", ...part, delta: THOUGHT },
      { type: "response.reasoning_summary_text.done", ...part, text: THOUGHT },
      { type: "response.reasoning_summary_part.done", ...part, part: { type: "summary_text", text: THOUGHT } },
      done,
    ];
  }
  if (item.type === "function_call") {
    const pieces = argumentPieces({ name: item.name, arguments: JSON.parse(item.arguments) }).map((delta) => ({
      type: "response.function_call_arguments.delta",
      ...place,
      delta,
    }));
    return [
      added({ arguments: "", status: "in_progress" }),
      ...pieces,
      { type: "response.function_call_arguments.done", ...place, name: item.name, arguments: item.arguments },
      done,
    ];
  }
  const part = { ...place, content_index: 0 };
  const pieces = scene.kind === "text" ? scene.pieces : [];
  return [
    added({ content: [], status: "in_progress" }),
    { type: "response.content_part.added", ...part, part: { type: "output_text", text: "", annotations: [], logprobs: [] } },
    ...pieces.map((delta) => ({ type: "response.output_text.delta", ...part, delta, logprobs: [] })),
    { type: "response.output_text.done", ...part, text: pieces.join(""), logprobs: [] },
    { type: "response.content_part.done", ...part, part: item.content[0] },
    done,
  ];
}
