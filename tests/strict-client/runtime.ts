import createClient from "openapi-fetch";
import type { paths } from "./runtime-types.d.ts";

/** A third-party client of the runtime plane, written only from its OpenAPI document: no cast, no `any`. */

interface Given {
  readonly runtimeUrl: string;
  readonly apiKey: string;
  readonly username: string;
  readonly password: string;
}

function must<T>({ data, error, response }: { data?: T; error?: unknown; response: Response }): T {
  if (data === undefined) throw new Error(`${response.url}: ${response.status} ${JSON.stringify(error)}`);
  return data;
}

export async function useRuntime({
  runtimeUrl,
  apiKey,
  username,
  password,
}: Given): Promise<Readonly<Record<string, string | number | boolean>>> {
  const models = createClient<paths>({ baseUrl: runtimeUrl, headers: { authorization: `Bearer ${apiKey}` } });
  const list = must(await models.GET("/v1/proxy/llm/models"));
  const model = list.data[0]?.id ?? "";
  const chat = must(
    await models.POST("/v1/proxy/llm/chat/completions", { body: { model, messages: [{ role: "user", content: "hello" }] } }),
  );
  const message = must(
    await models.POST("/v1/messages", {
      params: { header: { "anthropic-version": "2023-06-01" } },
      body: { model, max_tokens: 64, messages: [{ role: "user", content: "hello" }] },
    }),
  );
  const generated = must(
    await models.POST("/v1beta/models/{call}:generateContent", {
      params: { path: { call: model } },
      body: { contents: [{ role: "user", parts: [{ text: "hello" }] }] },
    }),
  );
  const response = must(await models.POST("/v1/proxy/llm/responses", { body: { model, input: "hello" } }));
  const missing = await models.POST("/v1/proxy/llm/chat/completions", {
    body: { model: "no such model", messages: [{ role: "user", content: "x" }] },
  });
  const refusal = missing.error?.error;

  const stranger = createClient<paths>({ baseUrl: runtimeUrl });
  must(await stranger.POST("/v1/portal/auth/register", { body: { username, password } }));
  const login = must(await stranger.POST("/v1/portal/auth/login", { body: { username, password } }));
  if (!("access_token" in login)) throw new Error("a second factor is asked for");
  const portal = createClient<paths>({ baseUrl: runtimeUrl, headers: { authorization: `Bearer ${login.access_token}` } });
  const profile = must(await portal.GET("/v1/portal/auth/profile"));
  const notifications = must(await portal.GET("/v1/portal/notifications", { params: { query: { page_size: 5 } } }));
  const approvals = must(await portal.GET("/v1/portal/approvals", { params: { query: { status: "all" } } }));
  const health = must(await stranger.GET("/healthz"));
  return {
    model,
    chat: chat.choices[0]?.message.content ?? "",
    message: message.content[0]?.text ?? "",
    gemini: generated.candidates?.[0]?.content?.parts?.[0]?.text ?? "",
    response: response.output.length,
    refusal: typeof refusal === "string" ? refusal : "",
    username: profile.username,
    unread: notifications.total,
    approvals: approvals.approvals.length,
    health: health.status,
  };
}
