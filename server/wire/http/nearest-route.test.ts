import { expect, test } from "bun:test";
import { GOVERNED_ROUTES } from "../../routes.ts";
import { nearestRoute } from "./nearest-route.ts";

const LLM = "/v1/proxy/llm";

test.each([
  ["POST", "/chat/completions", `${LLM}/chat/completions`, LLM],
  ["POST", "/v1/chat/completions", `${LLM}/chat/completions`, LLM],
  ["POST", `${LLM}/v1/chat/completions`, `${LLM}/chat/completions`, LLM],
  ["POST", `${LLM}/chat/completion`, `${LLM}/chat/completions`, null],
  ["POST", `${LLM}/chat/completions/`, `${LLM}/chat/completions`, null],
  ["POST", "/v1/completions", `${LLM}/completions`, LLM],
  ["POST", "/v1/batches", `${LLM}/batches`, LLM],
  ["GET", "/v1/batches/batch_1", `${LLM}/batches/batch_1`, LLM],
  ["POST", "/anthropic/v1/messages/batches", "/v1/messages/batches", ""],
  ["POST", "/v1/responses", `${LLM}/responses`, LLM],
  ["POST", "/v1/embeddings", `${LLM}/embeddings`, LLM],
  ["POST", "/v1/v1/messages", "/v1/messages", ""],
  ["POST", `${LLM}/v1/messages`, "/v1/messages", ""],
  ["POST", "/messages", "/v1/messages", "/v1"],
  ["POST", "/anthropic/v1/messages/count_tokens", "/v1/messages/count_tokens", ""],
  ["POST", `${LLM}/v1beta/models/gemini-2.5-flash:generateContent`, "/v1beta/models/gemini-2.5-flash:generateContent", ""],
  ["POST", "/mcp/mcp-01", "/v1/proxy/mcp/mcp-01", "/v1/proxy"],
  ["POST", "/auth/login", "/v1/portal/auth/login", "/v1/portal"],
])("the nearest route to %s %s is %s", (method, path, near, base) => {
  expect(nearestRoute({ method, path }, GOVERNED_ROUTES)).toEqual({ path: near, base });
});

test.each([
  "/",
  "/wp-login.php",
  "/.env",
  `/${"a/".repeat(300)}messages`,
  "/v1/admin/whoami",
  `${LLM}/fine_tuning/jobs`,
  `${LLM}/realtime/sessions`,
  "/v1/agents",
])("no route is near %s", (path) => {
  expect(nearestRoute({ method: "GET", path }, GOVERNED_ROUTES)).toBeNull();
});
