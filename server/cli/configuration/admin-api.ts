import { reasonOf } from "../../kernel/errors.ts";
import { isConfigEntry, type ConfigEntry } from "./value.ts";

export type AdminMethod = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** An error response of the admin API, in its own words. */
export class AdminApiError extends Error {
  readonly status: number;
  readonly code: string | null;
  /** For a conflict: the ID of the existing record. */
  readonly existingId: string | null;

  constructor(method: AdminMethod, path: string, status: number, body: ConfigEntry | null) {
    const fields = Array.isArray(body?.["fields"]) ? body["fields"].filter(isConfigEntry) : [];
    const problems = fields.map(({ field, message }) => `${String(field)}: ${String(message)}`).join("; ");
    const detail = problems !== "" ? problems : typeof body?.["detail"] === "string" ? body["detail"] : "no reason was given";
    super(`${method} ${path.replace(/\?.*/, "")} was answered ${status}: ${detail}`);
    this.name = "AdminApiError";
    this.status = status;
    const textOf = (member: string) => (typeof body?.[member] === "string" ? body[member] : null);
    this.code = textOf("code");
    this.existingId = textOf("existing_id");
  }
}

export interface AdminAccess {
  readonly url: string;
  readonly tenantId: string;
  /** From a sign-in; null to sign in with `username` and `password`. */
  readonly token: string | null;
  readonly username: string;
  readonly password: string | null;
}

const PAGE = 200;

/** Client of a gateway's admin API for one tenant, for managing its configuration. */
export class ConfigApi {
  private readonly access: AdminAccess;
  private token: string | null;

  constructor(access: AdminAccess) {
    this.access = access;
    this.token = access.token;
  }

  get tenantId(): string {
    return this.access.tenantId;
  }

  /** Identifies the gateway and tenant. */
  get place(): string {
    return `${this.access.url.replace(/\/+$/, "")} ${this.access.tenantId}`;
  }

  async signIn(): Promise<void> {
    if (this.token !== null) return;
    const { username, password, tenantId } = this.access;
    if (password === null)
      throw new Error("sign in with GATEHOUSE_ADMIN_TOKEN, or with GATEHOUSE_ADMIN_USERNAME and GATEHOUSE_ADMIN_PASSWORD");
    const path = "/v1/admin-users/login";
    const answer = await this.send("POST", path, { username, password, tenant_id: tenantId });
    const token = answer.body?.["access_token"];
    if (answer.status === 200 && typeof token !== "string")
      throw new Error("this account signs in with a second factor: give GATEHOUSE_ADMIN_TOKEN instead of a password");
    if (typeof token !== "string") throw new AdminApiError("POST", path, answer.status, answer.body);
    this.token = token;
  }

  /** Throws AdminApiError for any error response. A request with the same idempotency key `once` is carried out once. */
  async ask(method: AdminMethod, path: string, body?: ConfigEntry, once?: string): Promise<ConfigEntry> {
    const answer = await this.send(method, path, body, once);
    if (answer.status >= 300) throw new AdminApiError(method, path, answer.status, answer.body);
    return answer.body ?? {};
  }

  /** Every item of a list, over all its pages. */
  async all(path: string, member: string): Promise<ConfigEntry[]> {
    const found: ConfigEntry[] = [];
    for (let page = 1; ; page++) {
      const answer = await this.ask("GET", `${path}?page=${page}&page_size=${PAGE}`);
      const items = Array.isArray(answer[member]) ? answer[member].filter(isConfigEntry) : [];
      found.push(...items);
      if (items.length < PAGE) return found;
    }
  }

  private async send(
    method: AdminMethod,
    path: string,
    body?: ConfigEntry,
    once?: string,
  ): Promise<{ status: number; body: ConfigEntry | null }> {
    const { url, tenantId } = this.access;
    const unreached = (error: unknown): never => {
      throw new Error(`${method} ${path.replace(/\?.*/, "")}: ${url} did not answer: ${reasonOf(error)}`, { cause: error });
    };
    const response = await fetch(`${url.replace(/\/+$/, "")}${path}`, {
      method,
      headers: {
        "x-tenant-id": tenantId,
        ...(this.token === null ? {} : { authorization: `Bearer ${this.token}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(once === undefined ? {} : { "idempotency-key": once }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }).catch(unreached);
    const text = await response.text().catch(unreached);
    try {
      const parsed: unknown = text === "" ? null : JSON.parse(text);
      return { status: response.status, body: isConfigEntry(parsed) ? parsed : null };
    } catch {
      throw new Error(
        `${method} ${url}${path.replace(/\?.*/, "")} was answered ${response.status} with something that is no JSON: is this the control plane?`,
      );
    }
  }
}
