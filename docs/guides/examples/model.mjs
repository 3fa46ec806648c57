// A scripted model for the guides, in OpenAI's format. It is no language model: node docs/guides/examples/model.mjs [port]
import { createServer } from "node:http";

/** Asked as a judge, it finds that a text breaks the rule when the rule's last word stands in it. */
function verdict(system, user) {
  const rule = /<rule-(\w+)>\s*(.*?)\s*<\/rule-\1>/s.exec(user)?.[2] ?? "";
  const text = /<text-(\w+)>\s*(.*?)\s*<\/text-\1>/s.exec(user)?.[2] ?? "";
  const word = /(\w+)\W*$/.exec(rule)?.[1] ?? rule;
  const check = /"check": "(\w+)"/.exec(system)?.[1];
  return JSON.stringify({ check, reason: "by its words", verdict: text.includes(word) ? "violation" : "compliant" });
}

/** Offered a tool, it calls the first one with the last message as arguments; else it says the last message again. */
function answer({ messages, tools }) {
  const last = messages.at(-1).content;
  if (last.includes("<rule-")) return { content: verdict(messages[0].content, last) };
  if (tools === undefined) return { content: last };
  return { content: null, tool_calls: [{ id: "call_1", type: "function", function: { name: tools[0].function.name, arguments: last } }] };
}

createServer(async (request, response) => {
  let text = "";
  for await (const piece of request) text += piece;
  const message = { role: "assistant", ...answer(JSON.parse(text)) };
  const choice = { index: 0, message, finish_reason: message.tool_calls ? "tool_calls" : "stop" };
  const usage = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 };
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ id: "scripted", object: "chat.completion", created: 0, model: "scripted", choices: [choice], usage }));
}).listen(Number(process.argv[2] ?? 9101), "127.0.0.1");
