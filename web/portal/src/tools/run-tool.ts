import { ApiError } from "@gatehouse/web-kit/api-error.ts";
import { nextFeedEvent } from "../live-feed.ts";
import { portalApi } from "../portal-client.ts";
import { isPlainObject, type PlainObject, mcpRequest } from "./mcp-request.ts";

export interface HeldApproval {
  readonly id: string;
  readonly expiresAt: string | null;
}

export type ToolEnd =
  | { readonly kind: "answered"; readonly result: PlainObject }
  | { readonly kind: "refused"; readonly reason: "rejected" | "expired"; readonly note: string | null };

interface ToolRun {
  readonly serverId: string;
  readonly tool: string;
  /** JSON, sent unchanged. */
  readonly argumentsText: string;
  readonly runId: string | null;
  /** An approval requested earlier, before the page was left. */
  readonly approval?: HeldApproval;
  readonly signal: AbortSignal;
  readonly onHeld: (approval: HeldApproval) => void;
}

const POLL_INTERVAL_MS = 20_000;

/** The approval a refused call waits for; null for any other error. */
function heldBy(error: unknown): HeldApproval | null {
  if (!(error instanceof ApiError) || !isPlainObject(error.body) || !isPlainObject(error.body.error)) return null;
  const { data } = error.body.error;
  if (!isPlainObject(data) || data.code !== "approval_required" || typeof data.approval_id !== "string") return null;
  return { id: data.approval_id, expiresAt: typeof data.expires_at === "string" ? data.expires_at : null };
}

/** Calls a tool under the gateway's rules: if the call needs approval, waits for it and then makes the call once. */
export async function runTool(run: ToolRun): Promise<ToolEnd> {
  const { serverId, tool, signal } = run;
  const call = (token: string | null) =>
    mcpRequest({
      serverId,
      method: "tools/call",
      params: { name: tool },
      argumentsText: run.argumentsText,
      headers: { ...(run.runId === null ? {} : { "x-gw-run-id": run.runId }), ...(token === null ? {} : { "x-approval-token": token }) },
      signal,
    });
  let held = run.approval ?? null;
  if (held === null)
    try {
      return { kind: "answered", result: await call(null) };
    } catch (error) {
      held = heldBy(error);
      if (held === null) throw error;
    }
  run.onHeld(held);
  const decided = await decision(held.id, signal);
  if (decided.token === null)
    return { kind: "refused", reason: decided.status === "rejected" ? "rejected" : "expired", note: decided.note };
  return { kind: "answered", result: await call(decided.token) };
}

interface Decision {
  readonly status: string;
  readonly token: string | null;
  readonly note: string | null;
}

/** Checks at each event from the gateway, and at an interval in case events are lost. */
async function decision(id: string, signal: AbortSignal): Promise<Decision> {
  for (;;) {
    const feedEvent = nextFeedEvent(POLL_INTERVAL_MS, signal);
    const decided = await decidedNow(id, signal).catch((error: unknown) => {
      // A failed poll does not end the wait: the call is still pending.
      if (error instanceof ApiError && (error.status === 0 || error.status >= 502)) return null;
      throw error;
    });
    if (decided !== null) return decided;
    await feedEvent;
    signal.throwIfAborted();
  }
}

async function decidedNow(id: string, signal: AbortSignal): Promise<Decision | null> {
  const { status, approval_token: token } = await portalApi.call("GET /v1/portal/approvals/{id}/poll", { path: { id }, signal });
  if (status === "pending") return null;
  if (status === "approved") return { status, token: token ?? null, note: null };
  const { resolution_note: note } = await portalApi.call("GET /v1/portal/approvals/{id}", { path: { id }, signal });
  return { status, token: null, note };
}
