/** Answers in which a model calls tools, in each provider's format. */

const json = (value: object) => `data: ${JSON.stringify(value)}\n\n`;
const event = (value: { type: string; [field: string]: unknown }) => `event: ${value.type}\n${json(value)}`;
const times = <T>(n: number, make: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => make(i));

const chatCall = (i: number) => ({ id: `call_${i}`, type: "function", function: { name: "look", arguments: `{"at":${i}}` } });
const functionCall = (i: number) => ({
  id: `fc_${i}`,
  type: "function_call",
  call_id: `call_${i}`,
  name: "look",
  arguments: `{"at":${i}}`,
  status: "completed",
});
const toolUse = (i: number) => ({ type: "tool_use", id: `toolu_${i}`, name: "look", input: { at: i } });
const usage = { input_tokens: 1, output_tokens: 9 };
const response = (status: string, output: object[]) => ({
  id: "r",
  object: "response",
  created_at: 1,
  model: "m",
  status,
  output,
  usage: { ...usage, total_tokens: 10 },
});
const candidate = (parts: object[], more: object = {}) => ({
  candidates: [{ index: 0, content: { role: "model", parts }, ...more }],
  usageMetadata: { promptTokenCount: 1 },
});

/** An answer with this many tool calls for the provider's path, both whole and as a stream. */
export function answerOf(path: string, calls: number): { readonly whole: object; readonly frames: string } {
  if (path.includes("/chat/completions")) {
    const chunk = (delta: object, finish_reason: string | null = null) =>
      json({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason }] });
    const cut = (i: number) => {
      const { id, type, function: called } = chatCall(i);
      const [name, first, rest] = [called.name, called.arguments.slice(0, 1), called.arguments.slice(1)];
      return (
        chunk({ tool_calls: [{ index: i, id, type, function: { name, arguments: first } }] }) +
        chunk({ tool_calls: [{ index: i, function: { arguments: rest } }] })
      );
    };
    const message = { role: "assistant", content: null, tool_calls: times(calls, chatCall) };
    return {
      whole: {
        id: "c",
        object: "chat.completion",
        created: 1,
        model: "m",
        choices: [{ index: 0, message, finish_reason: "tool_calls" }],
        usage: { prompt_tokens: 1, completion_tokens: 9, total_tokens: 10 },
      },
      frames: `${chunk({ role: "assistant" })}${times(calls, cut).join("")}${chunk({}, "tool_calls")}data: [DONE]\n\n`,
    };
  }
  if (path.includes("/responses")) {
    let sequence_number = 1;
    const next = (type: string, more: object) => event({ type, sequence_number: sequence_number++, ...more });
    const item = (i: number) =>
      next("response.output_item.added", { output_index: i, item: { ...functionCall(i), arguments: "", status: "in_progress" } }) +
      next("response.function_call_arguments.delta", { output_index: i, item_id: `fc_${i}`, delta: functionCall(i).arguments }) +
      next("response.function_call_arguments.done", {
        output_index: i,
        item_id: `fc_${i}`,
        name: "look",
        arguments: functionCall(i).arguments,
      }) +
      next("response.output_item.done", { output_index: i, item: functionCall(i) });
    const output = times(calls, functionCall);
    return {
      whole: response("completed", output),
      frames:
        next("response.created", { response: response("in_progress", []) }) +
        times(calls, item).join("") +
        next("response.completed", { response: response("completed", output) }),
    };
  }
  if (path.includes("/messages")) {
    const message = { id: "a", type: "message", role: "assistant", model: "m", stop_sequence: null, usage };
    const block = (index: number) =>
      event({ type: "content_block_start", index, content_block: { ...toolUse(index), input: {} } }) +
      event({ type: "content_block_delta", index, delta: { type: "input_json_delta", partial_json: `{"at":${index}}` } }) +
      event({ type: "content_block_stop", index });
    return {
      whole: { ...message, content: times(calls, toolUse), stop_reason: "tool_use" },
      frames:
        event({ type: "message_start", message: { ...message, content: [], stop_reason: null } }) +
        times(calls, block).join("") +
        event({ type: "message_delta", delta: { stop_reason: "tool_use" }, usage }) +
        event({ type: "message_stop" }),
    };
  }
  const part = (i: number) => ({ functionCall: { name: "look", args: { at: i } } });
  const frames = [...times(calls, (i) => candidate([part(i)])), candidate([], { finishReason: "STOP" })];
  return {
    whole: candidate(times(calls, part), { finishReason: "STOP" }),
    frames: path.includes("alt=sse") ? frames.map(json).join("") : JSON.stringify(frames),
  };
}
