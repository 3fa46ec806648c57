import type { GroupScope } from "../../../directory/snapshot.ts";

/** A parsed request to the broker. */
export interface BrokerRequest {
  readonly operation: BrokerOperation;
  readonly serverId: string;
  /** Null at the tool server's own addresses. */
  readonly idpId: string | null;
  /** The ID of a single record in the path after the operation. */
  readonly recordId: string | null;
  readonly query: URLSearchParams;
  /** From a form body. */
  readonly form: URLSearchParams;
  /** The JSON body; null if there is none or it is not an object. */
  readonly json: Readonly<Record<string, unknown>> | null;
  /** The caller's scope; null if no credential was presented. */
  readonly scope: GroupScope | null;
}

export type BrokerOperation =
  | "resource_metadata"
  | "server_metadata"
  | "client_metadata"
  | "authorize"
  | "decide"
  | "callback"
  | "token"
  | "revoke"
  | "register"
  | "list_tokens"
  | "delete_token";

/** The broker's answer, independent of HTTP; the surface writes it. */
export type BrokerAnswer =
  | { readonly kind: "json"; readonly status: number; readonly body: unknown; readonly public?: true }
  /** An issuer's answer, passed through unchanged. */
  | { readonly kind: "passed"; readonly status: number; readonly text: string }
  /** `asData`: for a page of the gateway's that navigates there itself. */
  | { readonly kind: "redirect"; readonly to: string; readonly cookie?: string; readonly asData?: true }
  | { readonly kind: "page"; readonly title: string; readonly text: string; readonly cookie?: string }
  | ConsentPage;

/** A page that asks the person at the browser for consent. */
export interface ConsentPage {
  readonly kind: "consent";
  /** The application that wants to reach the server. */
  readonly asker: string;
  /** Where the browser is sent in the end; null for a connect link, which ends here. */
  readonly returnsTo: string | null;
  readonly serverName: string;
  readonly scopes: readonly string[];
  readonly provider: string;
  /** Whether the person must prove ownership of the named API key. */
  readonly key: { readonly name: string | null; readonly required: boolean };
  readonly request: string;
  readonly action: string;
  readonly cookie: string;
  /** What was wrong with the previous answer. */
  readonly problem: string | null;
}
