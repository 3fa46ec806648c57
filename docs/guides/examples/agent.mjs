import { createServer } from "node:http";

/** An agent that says back what it is told, in A2A 1.0: node agent.mjs PORT */
const port = Number(process.argv[2] ?? 9106);
const url = `http://127.0.0.1:${port}`;
const card = {
  name: "Parrot",
  description: "Says back what it is told.",
  version: "1.0.0",
  supportedInterfaces: [{ url, protocolBinding: "HTTP+JSON", protocolVersion: "1.0" }],
  capabilities: { streaming: false },
  defaultInputModes: ["text/plain"],
  defaultOutputModes: ["text/plain"],
  skills: [{ id: "parrot", name: "Parrot", description: "Says it back.", tags: ["demo"] }],
};
const tasks = new Map();

createServer(async (request, response) => {
  const answer = (value, status = 200) => response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
  if (request.url === "/.well-known/agent-card.json") return answer(card);
  let body = "";
  for await (const piece of request) body += piece;
  if (request.url !== "/message:send") {
    const task = tasks.get(request.url.slice("/tasks/".length).split("?")[0]);
    return task ? answer(task) : answer({ error: { code: 404, status: "NOT_FOUND", details: [{ reason: "TASK_NOT_FOUND" }] } }, 404);
  }
  const { message } = JSON.parse(body);
  const task = {
    id: crypto.randomUUID(),
    contextId: message.contextId ?? crypto.randomUUID(),
    status: { state: "TASK_STATE_COMPLETED", timestamp: new Date().toISOString() },
    artifacts: [{ artifactId: "said", parts: message.parts }],
  };
  tasks.set(task.id, task);
  answer({ task });
}).listen(port, "127.0.0.1");
