import { ADMIN_PASSWORD } from "../gateway.ts";
import { PATIENCE_MS } from "../patience.ts";
import { nextLook } from "../until.ts";

/** A signed-in administrator's client of the admin API. */
export interface AdminClient {
  request(method: string, path: string, body?: unknown): Promise<{ status: number; body: any }>;
  /** Throws unless the answer is 2xx. */
  get(path: string): Promise<any>;
  post(path: string, body: unknown): Promise<any>;
  readonly token: string;
}

export async function signIn(
  adminUrl: string,
  credentials: { username: string; password: string; tenant_id?: string } = { username: "admin", password: ADMIN_PASSWORD },
  level: "system" | "tenant" = "system",
): Promise<AdminClient> {
  const login = await fetch(`${adminUrl}/v1/admin-users/${level}/login`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(credentials),
  });
  if (!login.ok) throw new Error(`login: ${login.status} ${await login.text()}`);
  const { access_token: token } = (await login.json()) as { access_token: string };
  const request = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(adminUrl + path, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { "content-type": "application/json" }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      body: text === "" ? null : response.headers.get("content-type")?.includes("json") ? JSON.parse(text) : text,
    };
  };
  const must = async (method: string, path: string, body?: unknown) => {
    const answer = await request(method, path, body);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  return { token, request, get: (path) => must("GET", path), post: (path, body) => must("POST", path, body) };
}

/** Signs in a second administrator: nobody may approve calls of a key they created. */
export async function signInAsApprover(adminUrl: string, admin: AdminClient): Promise<AdminClient> {
  const account = { tenant_id: "default", username: "approver-of-calls", password: ADMIN_PASSWORD };
  await admin.post("/v1/admin/admin-users", { ...account, role: "admin" });
  return signIn(adminUrl, account, "tenant");
}

export interface Served {
  readonly groupId: string;
  readonly apiKey: string;
  readonly apiKeyId: string;
  /** Gateway model IDs by name. */
  readonly models: Record<string, string>;
}

/** Creates a provider at `baseUrl`, models granted to a new group, and a key of that group. */
export async function serveModels(
  admin: AdminClient,
  baseUrl: string,
  models: readonly (string | { name: string; [field: string]: unknown })[],
  options: { group?: string; providerKey?: string; apiKey?: string } = {},
): Promise<Served> {
  const tenant = { tenant_id: "default" };
  const providerKey = options.providerKey ?? "fake";
  await admin.post("/v1/admin/providers", {
    ...tenant,
    provider_key: providerKey,
    name: providerKey,
    api_format: "openai",
    base_url: baseUrl,
    api_key: options.apiKey ?? "sk-upstream-secret-0001",
  });
  const group = await admin.post("/v1/admin/resource-groups", { ...tenant, name: options.group ?? "team", group_type: "team" });
  const ids: Record<string, string> = {};
  for (const model of models) {
    const given = typeof model === "string" ? { name: model } : model;
    const created = await admin.post("/v1/admin/llms", {
      ...tenant,
      model_name: given.name,
      mode: "chat",
      provider: providerKey,
      enabled: true,
      group_ids: [group.id],
      ...given,
    });
    ids[given.name] = created.id;
  }
  const key = await admin.post(`/v1/admin/resource-groups/${group.id}/api-keys`, {
    name: `${options.group ?? "team"} key`,
    access_mode: "shared",
  });
  return { groupId: group.id, apiKey: key.key_value, apiKeyId: key.id, models: ids };
}

/** Waits until the database contains a matching row, and resolves to it. */
export async function rowOf(admin: AdminClient, filters: Record<string, unknown>): Promise<any> {
  const rows = await rowsOf(admin, filters, 1);
  return rows[0];
}

export async function rowsOf(admin: AdminClient, filters: Record<string, unknown>, atLeast: number): Promise<any[]> {
  for (const begun = Date.now(); ; await nextLook(begun)) {
    const { rows } = await admin.post("/v1/admin/proxy-logs/query", { filters, page_size: 200 });
    if (rows.length >= atLeast) return rows;
    if (Date.now() > begun + PATIENCE_MS)
      throw new Error(`the ledger holds ${rows.length} rows of ${JSON.stringify(filters)}, not ${atLeast}`);
  }
}

/** Headers with which callers can make claims about a call on any surface; the row's fields record them. */
export const CLAIMS = {
  "x-gw-run-id": "claimed run",
  "x-gw-turn-id": "turn",
  "x-gw-turn-seq": "3",
  "x-gw-step-id": "step",
  "x-gw-step-name": "plan",
  "x-gw-session-id": "conversation",
  "x-correlation-id": "correlated",
  "x-request-id": "of the client",
  traceparent: `00-${"a1".repeat(16)}-${"b2".repeat(8)}-01`,
} as const;
export const CLAIMED = {
  trace_continuity: "client_asserted",
  turn_id: "turn",
  turn_seq: 3,
  step_id: "step",
  step_name: "plan",
  correlation_id: "correlated",
  request_id: "of the client",
  trace_id: "a1".repeat(16),
  span_id: "b2".repeat(8),
} as const;
