import type { AuditRow } from "@gatehouse/ledger-format/fields";
import type { EndUserIdentity } from "../directory/end-user-cache.ts";
import type { TenantMissing } from "../directory/people/portal/portal-logins.ts";
import type { PortalToken } from "../directory/people/portal/portal-token.ts";
import type { GroupScope, TenantSnapshot } from "../directory/snapshot.ts";
import { type Refusal, refuse } from "../kernel/errors.ts";
import type { MicroUsd } from "../kernel/money.ts";
import type { OnRoster } from "../kernel/collections/roster.ts";
import type { RequestHeaders } from "../kernel/http/request-headers.ts";
import type { Usage } from "../wire/usage.ts";
import type { Batched } from "./own-calls/batched.ts";
import type { DelegationChain } from "./record/delegation.ts";
import type { ResolvedTarget } from "./target.ts";

/** How the audit row classifies a route's calls. */
export interface AuditClass {
  readonly proxyType: "llm" | "mcp" | "virtual_mcp" | "skill" | "oauth" | "a2a" | "portal" | "batch";
  readonly proxySubtype: string;
}

export interface Identity {
  readonly tenantId: string;
  /** The key of runs and sessions: the API key's ID, or the user's ID if they presented their own token. */
  readonly credentialId: string;
  readonly credentialName: string;
  readonly userId: string | null;
  readonly username: string | null;
  /** When the user authenticated, in milliseconds since the epoch, if a token says so. */
  readonly since?: number;
  /** The OAuth grant, if a client presented the broker's token for it. */
  readonly grantId?: string;
  /** The resource group that a user's key opens even if the user is not a member of it. */
  readonly keyGroupId?: string;
  /** The skills the key is limited to; all skills of the group when left out. */
  readonly skillIds?: readonly string[];
  /** The trusted external issuer of the token presented. Such a caller has neither an API key nor an account in the gateway. */
  readonly workloadProviderId?: string;
}

/**
 * The state of one call along the road: who calls, under which policy, in which run, and the audit record so far. The fields below `row`
 * are set in the order of the road's steps.
 */
export interface Call extends OnRoster {
  readonly id: string;
  readonly audit: AuditClass;
  readonly method: string;
  /** As the caller sent it, including the query. */
  readonly url: string;
  readonly headers: RequestHeaders;
  readonly path: string;
  readonly ip: string;
  /** Monotonic time of arrival in milliseconds, for the duration. */
  readonly arrivedAt: number;
  /** Aborted when the caller disconnects or loses access, or when the gateway stops; ends whatever the call waits for. */
  readonly abort: AbortController;
  /** The refusal to send after an `access_ended` abort, if another than the default. */
  endedBy?: Refusal;
  readonly row: AuditRow;
  /** Headers of every answer to this call. */
  readonly answerHeaders: Record<string, string>;

  identity: Identity | null;
  /** The end user, if the call came with a token or key of theirs. */
  user: EndUserIdentity | null;
  /** The token presented; null if the call came with a key. */
  token: PortalToken | null;
  tenant: TenantSnapshot | null;
  /** Why `tenant` is null, on routes that admit anyone who names a tenant. */
  tenantMissing?: TenantMissing;
  scope: GroupScope | null;
  /** The upstream it may go to, once access is granted. */
  target: ResolvedTarget;
  /** The agents the run passed through before this call, from the signed delegation chain. */
  delegation?: DelegationChain;
  /** Set for a line of a batch that its provider runs. */
  batched?: Batched;
  /** Factor on the model's prices; 1 when left out. */
  priceFactor?: number;
  /** Whether the begin marker is written. */
  begun: boolean;
  /** All attempts at providers, in order. */
  readonly attempts: Attempt[];
  /** Response headers that describe the upstream request, for an answer whose headers are sent before the upstream answers. */
  requestHeadersSent?: Readonly<Record<string, string>>;
  /** Each is called once before the row is closed, however the call ended, to record what is known only then. */
  readonly beforeRecord: (() => void)[];
  /** Resolves once what later calls need from this answer is stored for all processes, or storing it failed; never rejects. */
  keeping?: Promise<unknown>;
  /** Each is called once when the call has ended, with the row's error type (null on success). */
  readonly whenEnded: ((errorType: string | null) => void)[];
  /** The body stream, on routes that govern before they read the whole body; may be read only once. */
  arriving?: ReadableStream<Uint8Array>;
  /** Bytes of files and other texts that the gateway inserted in place of references; 0 when left out. */
  putInBytes?: number;
  /** Source of the request preview: first the body received, then the body sent upstream. */
  requestContent: string | Uint8Array | null;
  /** The body before passages of knowledge bases were inserted, which vary from call to call; left out if none were. */
  requestContentSent?: string | Uint8Array | null;
  /** The content the row's request fields were last written from; undefined if they were not written yet. */
  notedContent: string | Uint8Array | null | undefined;
  /** False once a control changed the answer, warned about it or could not inspect it; such an answer is not cached for other calls. */
  answerReusable: boolean;
  /** The text of an answer without the values that were put back into it for the caller only; the text as it is when left out. */
  hidden?: (text: string) => string;
}

/** One attempt at one provider, as recorded on the audit row. */
export interface Attempt {
  readonly model: string;
  readonly provider: string;
  /** `served`, or the error code. */
  outcome: string;
  /** The provider's HTTP status; null if none arrived. */
  status: number | null;
  durationMs: number;
  /** What a failed attempt used, if the provider reported it. */
  usage: Usage | null;
  costMicros: MicroUsd | null;
}

/** Counts bytes that the gateway added to the caller's request. */
export function noteAddedBytes(call: Call, bytes: number): void {
  call.putInBytes = (call.putInBytes ?? 0) + bytes;
}

/** Why the call's abort signal was raised. */
export type AbortReason = "client_disconnected" | "gateway_interrupted" | "upstream_timeout" | "access_ended";

export function abortReason(call: Call): AbortReason | null {
  if (!call.abort.signal.aborted) return null;
  const reason: unknown = call.abort.signal.reason;
  if (reason === "gateway_interrupted" || reason === "client_disconnected" || reason === "access_ended") return reason;
  // The HTTP client aborts with an error of its own if the response headers take too long.
  return "upstream_timeout";
}

/** The refusal for a call whose access ended; null for any other call. */
export function endingRefusal(call: Call): Refusal | null {
  return abortReason(call) === "access_ended" ? (call.endedBy ?? refuse("access_ended")) : null;
}

/** Whether nobody is waiting for the answer any more, as opposed to an answer that timed out. */
export function isAbandoned(reason: AbortReason | null): boolean {
  return reason !== null && reason !== "upstream_timeout";
}

/** When the call arrived, in milliseconds since the Unix epoch. It decides which limit windows and prices apply. */
export function arrivalOf({ row }: Call): number {
  return Date.parse(row.timestamp as string);
}
