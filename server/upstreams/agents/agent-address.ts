import type { AgentBinding, AgentVersion } from "../../wire/a2a/agent-requests.ts";

/** Where an agent is, what it speaks, and how the gateway shows itself to it. */
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
  /** Null: nobody has found its card. */
  readonly reached: {
    readonly endpoint: string;
    readonly version: AgentVersion;
    readonly binding: AgentBinding;
    readonly tenant: string | null;
  } | null;
}
