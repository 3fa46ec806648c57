import type { GuardrailSurface } from "@gatehouse/contracts/guardrails";
import type { Refusal } from "../kernel/errors.ts";
import type { JsonValue } from "../kernel/json-value.ts";
import type { TextSlot } from "../wire/inbound.ts";
import { ACTION_PASSES, type Action, type ActionDecision } from "./action.ts";
import { admit, type AdmissionParts, type RouteCallers } from "./admission/admit.ts";
import type { Call } from "./call.ts";
import type { ActionControl, StandingControl } from "./control.ts";
import type { RequestView } from "./view.ts";

/** Looks at content on its way to and from an upstream. */
export interface Inspector {
  /**
   * Looks at every text, and puts in its place what may go on. A refusal ends the call. What is found is told on the row.
   */
  inspect(call: Call, surface: GuardrailSurface, slots: readonly TextSlot[]): Promise<Refusal | null>;
  /** The same of a piece of a text that flows on. Whoever only watches is told of the whole, by `heard`. */
  inspectPiece(call: Call, surface: GuardrailSurface, slots: readonly TextSlot[]): Promise<Refusal | null>;
  /** What the pieces of a text came to, once nothing more comes. */
  heard(call: Call, surface: GuardrailSurface, text: string): void;
  /** Definitions as the caller may be offered them; null: as they came. */
  offered(call: Call, definitions: readonly JsonValue[]): Promise<JsonValue[] | null>;
  /** Whether anything looks at content of this kind: if not, it need not be taken apart. */
  looksAt(call: Call, surface: GuardrailSurface): boolean;
  /** Whether content that cannot be read must be withheld, because something that can change or end the call has not seen it. */
  enforces(call: Call, surface: GuardrailSurface): boolean;
  /** Whether it goes by what a text says as a whole, and not by values in it: a piece of one tells it nothing. */
  judgesWhole(call: Call, surface: GuardrailSurface): boolean;
}

export interface GateParts extends AdmissionParts {
  /** In the order an action passes them. */
  readonly actions: readonly ActionControl[];
  /** In the order content passes them. */
  readonly inspectors: readonly Inspector[];
  /** Of the request controls those that decide who may use what. */
  readonly standing: readonly StandingControl[];
}

/**
 * What services ask in the middle of a call: whether an action may be done, whether content may pass, whether the caller would still be
 * admitted. An upstream is only handed out behind these checks (`outlet.ts`).
 */
export class Gates {
  private readonly parts: GateParts;

  constructor(parts: GateParts) {
    this.parts = parts;
  }

  /**
   * Argument policies, guardrails and semantic policies on the definition, approval: the first that does not let the action pass decides.
   */
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

  heard(call: Call, surface: GuardrailSurface, text: string): void {
    for (const inspector of this.parts.inspectors) inspector.heard(call, surface, text);
  }

  private async firstRefusal(
    call: Call,
    surface: GuardrailSurface,
    inspect: (inspector: Inspector) => Promise<Refusal | null>,
  ): Promise<Refusal | null> {
    for (const inspector of this.parts.inspectors) {
      if (!inspector.looksAt(call, surface)) continue;
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

  looksAt(call: Call, surface: GuardrailSurface): boolean {
    return this.parts.inspectors.some((inspector) => inspector.looksAt(call, surface));
  }

  enforces(call: Call, surface: GuardrailSurface): boolean {
    return this.parts.inspectors.some((inspector) => inspector.enforces(call, surface));
  }

  judgesWhole(call: Call, surface: GuardrailSurface): boolean {
    return this.parts.inspectors.some((inspector) => inspector.judgesWhole(call, surface));
  }

  /**
   * Why a caller who was let in would not be now; null when it would. What is found out is not told on the call's row. `tokensAt`: when a
   * token has to be good, milliseconds since the epoch; now where left out.
   */
  async readmit(
    call: Call,
    admits: RouteCallers,
    view: RequestView,
    tokensAt?: number,
  ): Promise<{ readonly refusal: Refusal | null; readonly now: Call }> {
    const now: Call = { ...call, row: { ...call.row }, answerHeaders: {} };
    const refusal = await admit(now, admits, this.parts, tokensAt);
    // Whoever was let in stays so until the directory can be asked.
    if (refusal !== null) return { refusal: refusal.code === "directory_unavailable" ? null : refusal, now };
    for (const control of this.parts.standing) {
      const decision = await control.decide(now, view);
      if (decision.kind === "refuse") return { refusal: decision.refusal, now };
    }
    return { refusal: null, now };
  }
}
