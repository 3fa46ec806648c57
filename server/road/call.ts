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
import type { Batched } from "./batched.ts";
import type { DelegationChain } from "./record/delegation.ts";
import type { ResolvedTarget } from "./target.ts";

/** How the audit row files a route's calls. */
export interface AuditClass {
  readonly proxyType: "llm" | "mcp" | "virtual_mcp" | "skill" | "oauth" | "a2a" | "portal" | "batch";
  readonly proxySubtype: string;
}

export interface Identity {
  readonly tenantId: string;
  /** What runs and sessions are keyed to: the API key, or the user where a token of their own was shown. */
  readonly credentialId: string;
  readonly credentialName: string;
  readonly userId: string | null;
  readonly username: string | null;
  /** When the user showed who they are, milliseconds since the epoch, where a token says so. */
  readonly since?: number;
  /** What a client was granted in their name, when that is what it showed. */
  readonly grantId?: string;
  /** The resource group that a user's key opens whether the user is in it or not. */
  readonly keyGroupId?: string;
  /** The skills its key opens; all of its group where left out. */
  readonly skillIds?: readonly string[];
  /** The provider whose token was shown, an issuer that the tenant trusts: no key and no account of the gateway's stands behind it. */
  readonly workloadProviderId?: string;
}

/**
 * What is handed along the path of a call: who calls, under which policy, in which run, and the audit record being filled.
 * The parts below `row` are set in the order the road passes them.
 */
export interface Call extends OnRoster {
  readonly id: string;
  readonly audit: AuditClass;
  readonly method: string;
  /** As the caller sent it, query included. */
  readonly url: string;
  readonly headers: RequestHeaders;
  readonly path: string;
  readonly ip: string;
  /** Monotonic milliseconds of arrival, for the duration. */
  readonly arrivedAt: number;
  /** Ends whatever the call is waiting for: the caller is gone or let in no more, or the gateway stops. */
  readonly abort: AbortController;
  /** What `abort` with `access_ended` tells the caller, where it is not that their access ended. */
  endedBy?: Refusal;
  readonly row: AuditRow;
  /** Headers every answer to this call carries. */
  readonly answerHeaders: Record<string, string>;

  identity: Identity | null;
  /** The end user who calls, with a token or a key of their own. */
  user: EndUserIdentity | null;
  /** The token they came with; null of a key. */
  token: PortalToken | null;
  tenant: TenantSnapshot | null;
  /** Why there is no `tenant`, on routes that admit whoever names one. */
  tenantMissing?: TenantMissing;
  scope: GroupScope | null;
  /** Where it may go, once access has been granted. */
  target: ResolvedTarget;
  /** The agents the run went through before this call, as the gateway itself once wrote it down. */
  delegation?: DelegationChain;
  /** Of a line of a batch that its provider runs. */
  batched?: Batched;
  /** What part of its model's prices holds for it; all where left out. */
  priceFactor?: number;
  /** Whether its begin marker is written. */
  begun: boolean;
  /** Every attempt at a provider, in order. */
  readonly attempts: Attempt[];
  /** What the answer's head says of how the upstream was asked, where it leaves before the upstream has answered. */
  askedHeaders?: Readonly<Record<string, string>>;
  /** Called once, however the call ended, before its row is closed: to say on it what is known only then. */
  readonly beforeRecord: (() => void)[];
  /** Resolves when what later calls need of this one's answer is where every process finds it, or cannot be put there; never rejects. */
  keeping?: Promise<unknown>;
  /** Called once when the call has ended: with the error type of its row, null when it succeeded. */
  readonly whenEnded: ((errorType: string | null) => void)[];
  /** The body as it comes, on routes that are not read whole before they are governed; read at most once. */
  arriving?: ReadableStream<Uint8Array>;
  /** Bytes of texts that the request names and the gateway put in their places; none where left out. */
  putInBytes?: number;
  /** What the request preview begins: the body received, then the body that left. */
  requestContent: string | Uint8Array | null;
  /** The same before passages of knowledge bases were put into it, which differ from call to call; left out where none were. */
  askedContent?: string | Uint8Array | null;
  /** What the row tells of the request so far: the content it has a preview of; undefined while it tells nothing. */
  notedContent: string | Uint8Array | null | undefined;
  /** False once a control changed the answer, warned of it or could not look at it: then nobody else is given it. */
  answerReusable: boolean;
}

/** One try at one provider, as the audit row tells it. */
export interface Attempt {
  readonly model: string;
  readonly provider: string;
  /** What it came to: `served`, or the code of its failure. */
  outcome: string;
  /** The provider's HTTP status; null when none arrived. */
  status: number | null;
  durationMs: number;
  /** What a failed attempt had used before it failed, where the provider reported it. */
  usage: Usage | null;
  costMicros: MicroUsd | null;
}

/** Counts bytes that the gateway added to the request beside what the caller sent. */
export function noteAddedBytes(call: Call, bytes: number): void {
  call.putInBytes = (call.putInBytes ?? 0) + bytes;
}

/** Why the call's abort signal was raised. */
export type AbortReason = "client_disconnected" | "gateway_interrupted" | "upstream_timeout" | "access_ended";

export function abortReason(call: Call): AbortReason | null {
  if (!call.abort.signal.aborted) return null;
  const reason: unknown = call.abort.signal.reason;
  if (reason === "gateway_interrupted" || reason === "client_disconnected" || reason === "access_ended") return reason;
  // The seam to the network ends a call with an error of its own when its head takes too long.
  return "upstream_timeout";
}

/** The refusal for a call that must not continue; null while it may continue, and for a call that ends by itself. */
export function endingRefusal(call: Call): Refusal | null {
  return abortReason(call) === "access_ended" ? (call.endedBy ?? refuse("access_ended")) : null;
}

/** Whether nobody waits for the answer any more, as opposed to an answer that did not come in time. */
export function isAbandoned(reason: AbortReason | null): boolean {
  return reason !== null && reason !== "upstream_timeout";
}

/** When the call arrived, milliseconds since the Unix epoch: the moment whose windows and prices hold for it. */
export function arrivalOf({ row }: Call): number {
  return Date.parse(row.timestamp as string);
}
