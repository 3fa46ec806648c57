import type { GuardrailSurface } from "@gatehouse/contracts/guardrails";
import { reasonOf, type Refusal, refuse } from "../kernel/errors.ts";
import { sha256Hex } from "../kernel/secrets.ts";
import type { TextSlot } from "../wire/inbound.ts";
import type { Action, ActionHold } from "./action.ts";
import type { Call } from "./call.ts";
import type { Gates } from "./gates.ts";

/** What a service gets once every gate has passed its action: the upstream, and the inspection of what it returns. */
export interface Passage<Upstream> {
  readonly kind: "pass";
  readonly upstream: Upstream;
  /** The approval that covers the action; null if none was needed. */
  readonly approvalId: string | null;
  /** Inspects the texts of an answer before its caller gets them. */
  inspect(surface: GuardrailSurface, slots: readonly TextSlot[]): Promise<Refusal | null>;
}

export interface OutletParts<Upstream> {
  readonly gates: Gates;
  readonly upstream: Upstream;
  /** Writes the begin marker before the call is sent. Throws if calls can no longer be recorded. */
  readonly begin: (call: Call) => void;
}

/**
 * Access to an upstream. A service never holds the upstream itself: it is handed out for one call, once the gates have passed the action.
 * The service calls `depart` before it sends anything.
 */
export class Outlet<Upstream> {
  readonly gates: Gates;
  private readonly parts: OutletParts<Upstream>;

  constructor(parts: OutletParts<Upstream>) {
    this.parts = parts;
    this.gates = parts.gates;
  }

  /** For operations without effects: a list, a handshake, a preview of an action. */
  look(call: Call): Passage<Upstream> {
    return this.passage(call, null);
  }

  /** For actions the caller wants performed. */
  async open(call: Call, action: Action): Promise<Passage<Upstream> | ActionHold | Refusal> {
    const decision = await this.gates.beforeAction(call, action);
    switch (decision.kind) {
      case "refuse":
        return decision.refusal;
      case "pass":
        return this.passage(call, decision.approvalId);
      case "hold":
        return decision;
    }
  }

  /** Records on the row where the call goes, and writes its begin marker. Returns a refusal if that fails. */
  depart(call: Call, url: string, body: string | Uint8Array | null): Refusal | null {
    return recordTarget(call, url, body, this.parts);
  }

  private passage(call: Call, approvalId: string | null): Passage<Upstream> {
    return {
      kind: "pass",
      upstream: this.parts.upstream,
      approvalId,
      inspect: (surface, slots) => this.gates.inspect(call, surface, slots),
    };
  }
}

/** Records on the row where the call goes, and writes its begin marker. Returns a refusal if that fails. */
export function recordTarget(
  call: Call,
  url: string,
  body: string | Uint8Array | null,
  { begin }: { readonly begin: (call: Call) => void },
): Refusal | null {
  call.row.target_url = url.split("?")[0] as string;
  if (body !== null) {
    call.requestContent = body;
    call.row.request_content_hash = sha256Hex(body);
  }
  try {
    begin(call);
    return null;
  } catch (error) {
    return refuse("audit_unavailable", undefined, { reason: reasonOf(error) });
  }
}
