import type { GuardrailSurface } from "@gatehouse/contracts/guardrails";
import type { Refusal } from "../kernel/errors.ts";
import type { JsonValue } from "../kernel/json-value.ts";
import type { TextSlot } from "../wire/inbound.ts";
import { ACTION_PASSES, type Action, type ActionDecision } from "./action.ts";
import { admit, type AdmissionParts, type RouteCallers } from "./admission/admit.ts";
import type { Call } from "./call.ts";
import type { ActionControl, StandingControl } from "./control.ts";
import type { RequestView } from "./view.ts";

/** Inspects content on its way to and from an upstream. */
export interface Inspector {
  /** Inspects every text and replaces it with what may continue. A refusal ends the call. Findings are recorded on the row. */
  inspect(call: Call, surface: GuardrailSurface, slots: readonly TextSlot[]): Promise<Refusal | null>;
  /** `inspect` for a piece of a streamed text. Guardrails that only monitor get the whole text through `noteText`. */
  inspectPiece(call: Call, surface: GuardrailSurface, slots: readonly TextSlot[]): Promise<Refusal | null>;
  /** Reports the whole text of a stream after its last piece. */
  noteText(call: Call, surface: GuardrailSurface, text: string): void;
  /** Tool definitions as the caller may be offered them; null if they are unchanged. */
  offered(call: Call, definitions: readonly JsonValue[]): Promise<JsonValue[] | null>;
  /** Whether anything inspects content of this kind. If not, it need not be parsed. */
  inspects(call: Call, surface: GuardrailSurface): boolean;
  /** Whether unreadable content must be withheld, because a guardrail that can change or end the call has not inspected it. */
  enforces(call: Call, surface: GuardrailSurface): boolean;
  /** Whether any guardrail judges the text as a whole rather than values in it, so that it cannot work on pieces. */
  judgesWhole(call: Call, surface: GuardrailSurface): boolean;
}

export interface GateParts extends AdmissionParts {
  /** In the order in which an action passes them. */
  readonly actions: readonly ActionControl[];
  /** In the order in which content passes them. */
  readonly inspectors: readonly Inspector[];
  /** The request controls that decide access. */
  readonly standing: readonly StandingControl[];
}

/**
 * The checks a service makes in the middle of a call: whether an action may run, whether content may pass, whether the caller would still
 * be admitted. Upstreams are handed out only behind these checks (`outlet.ts`).
 */
export class Gates {
  private readonly parts: GateParts;

  constructor(parts: GateParts) {
    this.parts = parts;
  }

  /** Runs argument policies, guardrails and semantic policies on the definition, then approval. The first that does not pass decides. */
  async beforeAction(call: Call, action: Action): Promise<ActionDecision> {
    let passed = ACTION_PASSES;
    for (const control of this.parts.actions) {
      const decided = control.before(call, action);
      const decision = decided instanceof Promise ? await decided : decided;
      if (decision.kind !== "pass") return decision;
      if (decision.approvalId !== null) passed = decision;
    }
    return passed;
  }

  inspect(call: Call, surface: GuardrailSurface, slots: readonly TextSlot[]): Promise<Refusal | null> {
    return this.firstRefusal(call, surface, (inspector) => inspector.inspect(call, surface, slots));
  }

  inspectPiece(call: Call, surface: GuardrailSurface, slots: readonly TextSlot[]): Promise<Refusal | null> {
    return this.firstRefusal(call, surface, (inspector) => inspector.inspectPiece(call, surface, slots));
  }

  noteText(call: Call, surface: GuardrailSurface, text: string): void {
    for (const inspector of this.parts.inspectors) inspector.noteText(call, surface, text);
  }

  private async firstRefusal(
    call: Call,
    surface: GuardrailSurface,
    inspect: (inspector: Inspector) => Promise<Refusal | null>,
  ): Promise<Refusal | null> {
    for (const inspector of this.parts.inspectors) {
      if (!inspector.inspects(call, surface)) continue;
      const refusal = await inspect(inspector);
      if (refusal !== null) return refusal;
    }
    return null;
  }

  async offered(call: Call, definitions: readonly JsonValue[]): Promise<JsonValue[] | null> {
    let changed: JsonValue[] | null = null;
    for (const inspector of this.parts.inspectors) changed = (await inspector.offered(call, changed ?? definitions)) ?? changed;
    return changed;
  }

  inspects(call: Call, surface: GuardrailSurface): boolean {
    return this.parts.inspectors.some((inspector) => inspector.inspects(call, surface));
  }

  enforces(call: Call, surface: GuardrailSurface): boolean {
    return this.parts.inspectors.some((inspector) => inspector.enforces(call, surface));
  }

  judgesWhole(call: Call, surface: GuardrailSurface): boolean {
    return this.parts.inspectors.some((inspector) => inspector.judgesWhole(call, surface));
  }

  /**
   * Why the caller would no longer be admitted; null if they would be. Nothing is written to the call's row. `tokensAt`: the time at which
   * tokens must be valid, in milliseconds since the epoch; now when left out.
   */
  async readmit(
    call: Call,
    admits: RouteCallers,
    view: RequestView,
    tokensAt?: number,
  ): Promise<{ readonly refusal: Refusal | null; readonly now: Call }> {
    const now: Call = { ...call, row: { ...call.row }, answerHeaders: {} };
    const refusal = await admit(now, admits, this.parts, tokensAt);
    // Admission stands while the directory cannot be asked.
    if (refusal !== null) return { refusal: refusal.code === "directory_unavailable" ? null : refusal, now };
    for (const control of this.parts.standing) {
      const decision = await control.decide(now, view);
      if (decision.kind === "refuse") return { refusal: decision.refusal, now };
    }
    return { refusal: null, now };
  }
}
