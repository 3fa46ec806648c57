import { ClientFactory, JsonRpcTransportFactory, RestTransportFactory, DefaultAgentCardResolver, type Client } from "@a2a-js/sdk/client";
import { ClientFactory as OldClientFactory, JsonRpcTransportFactory as OldJsonRpc, type Client as OldClient } from "a2a-js-sdk-03/client";
import type { AdminClient } from "../../support/worlds/admin.ts";

/** `fetch` with the caller's key. */
export const withKey = (apiKey: string, headers: Record<string, string> = {}): typeof fetch =>
  ((input: string | URL | Request, init?: RequestInit) => {
    const all = new Headers(init?.headers ?? (input instanceof Request ? input.headers : undefined));
    for (const [name, value] of Object.entries({ "x-api-key": apiKey, ...headers })) all.set(name, value);
    return fetch(input as string, { ...init, headers: all });
  }) as typeof fetch;

/** The official v1.0 client for the agent's card, using one of its bindings. */
export async function newClient(base: string, apiKey: string, binding: "HTTP+JSON" | "JSONRPC" = "HTTP+JSON"): Promise<Client> {
  const fetchImpl = withKey(apiKey);
  const transports = binding === "JSONRPC" ? [new JsonRpcTransportFactory({ fetchImpl })] : [new RestTransportFactory({ fetchImpl })];
  const factory = new ClientFactory({ transports, cardResolver: new DefaultAgentCardResolver({ fetchImpl }) });
  return factory.createFromUrl(`${base}/`);
}

/** The official v0.3 client, which fetches the card from its dialect's path. */
export async function oldClient(base: string, apiKey: string): Promise<OldClient> {
  const fetchImpl = withKey(apiKey);
  const card = (await (await fetchImpl(`${base}/.well-known/agent.json`)).json()) as never;
  return new OldClientFactory({ transports: [new OldJsonRpc({ fetchImpl })] }).createFromAgentCard(card);
}

export async function registerAgent(
  admin: AdminClient,
  cardName: string,
  baseUrl: string,
  rest: Record<string, unknown> = {},
): Promise<any> {
  return admin.post("/v1/admin/agents", { tenant_id: "default", card_name: cardName, name: cardName, base_url: baseUrl, ...rest });
}

export async function grantAgent(
  admin: AdminClient,
  agentId: string,
  groupIds: readonly string[],
  rest: Record<string, unknown> = {},
): Promise<any> {
  return admin.post("/v1/admin/agent-grants", { tenant_id: "default", agent_id: agentId, group_ids: groupIds, ...rest });
}

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: any;
}

/** A request as sent by a client without an SDK. */
export async function call(
  base: string,
  apiKey: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answered> {
  const response = await fetch(`${base}${path}`, {
    method,
    headers: {
      "x-api-key": apiKey,
      "a2a-version": "1.0",
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.includes("json") === true;
  return { status: response.status, headers: response.headers, text, body: isJson && text !== "" ? JSON.parse(text) : null };
}

export const message = (text: string, more: Record<string, unknown> = {}) => ({
  message: { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text }], ...more },
});

/** The events in a stream's data. */
export const eventsIn = (text: string): any[] =>
  text
    .split("\n")
    .filter((line) => line.startsWith("data:"))
    .map((line) => JSON.parse(line.slice(5)));

/** The text of an artifact, assembled from a task and the updates after it. */
export function artifactText(events: readonly any[], artifactId: string): string {
  let text = "";
  const partsOf = (artifact: any) => artifact.parts.map((part: any) => part.text).join("");
  for (const event of events) {
    if (event.task !== undefined)
      text = (event.task.artifacts ?? [])
        .filter((one: any) => one.artifactId === artifactId)
        .map(partsOf)
        .join("");
    const update = event.artifactUpdate;
    if (update?.artifact.artifactId === artifactId)
      text = update.append === true ? text + partsOf(update.artifact) : partsOf(update.artifact);
  }
  return text;
}
