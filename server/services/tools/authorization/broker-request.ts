import type { GroupScope } from "../../../directory/snapshot.ts";

/** One request to the broker, read. */
export interface BrokerRequest {
  readonly operation: BrokerOperation;
  readonly serverId: string;
  /** Null at the tool server's own addresses. */
  readonly idpId: string | null;
  /** Behind the operation: the id of one record. */
  readonly recordId: string | null;
  readonly query: URLSearchParams;
  /** Of a form. */
  readonly form: URLSearchParams;
  /** Of a JSON body; null when there is none or it is no object. */
  readonly json: Readonly<Record<string, unknown>> | null;
  /** Of the caller, where a key was presented. */
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

/** What the broker answers, in words; the surface writes it. */
export type BrokerAnswer =
  | { readonly kind: "json"; readonly status: number; readonly body: unknown; readonly public?: true }
  /** What an issuer answered, as it came. */
  | { readonly kind: "passed"; readonly status: number; readonly text: string }
  /** `asData` for a page of ours that sends the browser there itself. */
  | { readonly kind: "redirect"; readonly to: string; readonly cookie?: string; readonly asData?: true }
  | { readonly kind: "page"; readonly title: string; readonly text: string; readonly cookie?: string }
  | ConsentPage;

/** Asks the person at the browser whether they mean it. */
export interface ConsentPage {
  readonly kind: "consent";
  /** Who wants to reach the server. */
  readonly asker: string;
  /** Where the browser will be sent in the end; null for a link that ends here. */
  readonly returnsTo: string | null;
  readonly serverName: string;
  readonly scopes: readonly string[];
  readonly provider: string;
  /** Whether the person must prove that the API key named is theirs. */
  readonly key: { readonly name: string | null; readonly required: boolean };
  readonly request: string;
  readonly action: string;
  readonly cookie: string;
  /** What was wrong with the answer given before. */
  readonly problem: string | null;
}
