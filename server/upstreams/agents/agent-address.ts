import type { AgentBinding, AgentVersion } from "../../wire/a2a/agent-requests.ts";

/** An agent's address, protocol and credentials. */
export interface AgentAddress {
  readonly authType: "none" | "api_key" | "bearer" | "oauth_client";
  readonly credentials: {
    readonly value?: string | undefined;
    readonly header?: string | undefined;
    readonly token_url?: string | undefined;
    readonly client_id?: string | undefined;
    readonly client_secret?: string | undefined;
    readonly scope?: string | undefined;
  };
  readonly timeoutMs: number;
  /** Null: the agent's card was not found yet. */
  readonly reached: {
    readonly endpoint: string;
    readonly version: AgentVersion;
    readonly binding: AgentBinding;
    readonly tenant: string | null;
  } | null;
}
