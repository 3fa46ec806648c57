import type { GuardrailSurface } from "@gatehouse/contracts/guardrails";
import { reasonOf, type Refusal, refuse } from "../kernel/errors.ts";
import { sha256Hex } from "../kernel/secrets.ts";
import type { TextSlot } from "../wire/inbound.ts";
import type { Action, ActionHold } from "./action.ts";
import type { Call } from "./call.ts";
import type { Gates } from "./gates.ts";

/** What an action gets once every gate let it pass: the upstream itself, and the inspection of what comes back. */
export interface Passage<Upstream> {
  readonly kind: "pass";
  readonly upstream: Upstream;
  /** The approval that covers the action; null where none was needed. */
  readonly approvalId: string | null;
  /** Every text of an answer goes by here before its caller gets it. */
  inspect(surface: GuardrailSurface, slots: readonly TextSlot[]): Promise<Refusal | null>;
}

export interface OutletParts<Upstream> {
  readonly gates: Gates;
  readonly upstream: Upstream;
  /** The begin marker: written before the call leaves. Throws when calls can no longer be recorded. */
  readonly begin: (call: Call) => void;
}

/**
 * The way out to an upstream. A service never holds the upstream itself: it is handed out for one call, behind the gates
 * that what is to be done has to pass. Whoever asks it writes the call's begin marker first (`depart`).
 */
export class Outlet<Upstream> {
  readonly gates: Gates;
  private readonly parts: OutletParts<Upstream>;

  constructor(parts: OutletParts<Upstream>) {
    this.parts = parts;
    this.gates = parts.gates;
  }

  /** For what does nothing: a list, a handshake, a look at what an action would do. */
  look(call: Call): Passage<Upstream> {
    return this.passage(call, null);
  }

  /** For what the caller wants done. */
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

  /** Says on the row where the call is about to go, and writes its begin marker; a refusal when that could not be recorded. */
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

/** Records on the row where the call goes, and writes its begin marker; a refusal when that could not be recorded. */
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
