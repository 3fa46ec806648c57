import type { GuardrailSurface } from "@gatehouse/contracts/guardrails";
import { BoundedMap } from "../../directory/bounded-map.ts";
import { type Refusal, refuse } from "../../kernel/errors.ts";
import { ACTION_PASSES, type Action, type ActionDecision, type ActionDefinition } from "../../road/action.ts";
import { inTurns } from "../../kernel/scheduling/in-turns.ts";
import type { Call } from "../../road/call.ts";
import { contentWorkOf } from "../../road/policy/content-work.ts";
import { guardedAt } from "../../road/request/content-surface.ts";
import type { ActionControl } from "../../road/control.ts";
import type { Inspector } from "../../road/gates.ts";
import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";
import type { TextSlot } from "../../wire/inbound.ts";
import { digestOf } from "../../wire/mcp/tool-definitions.ts";
import { inspectContent } from "./content.ts";
import { askEngines, type EngineParts } from "./engines.ts";
import { GuardRun } from "./guard-run.ts";
import { type SurfaceGuard, surfaceGuard } from "./surface-guard.ts";
import { type DefinitionReview, reviewDefinition } from "./tool-definition.ts";

/** Definitions reviewed concurrently, because engines may be asked about each. */
const AT_ONCE = 8;
const REVIEWS = 20_000;

/** Guardrails on what is sent to and received from upstreams other than models, and on tool definitions. */
export class GuardrailInspector implements Inspector, ActionControl {
  readonly name = "guardrails";
  /** By guard version and definition digest, so that unchanged tools under unchanged guardrails are not reviewed again. */
  private readonly reviews = new BoundedMap<string, DefinitionReview>(REVIEWS);
  private readonly parts: EngineParts;

  constructor(parts: EngineParts) {
    this.parts = parts;
  }

  async inspect(call: Call, surface: GuardrailSurface, slots: readonly TextSlot[]): Promise<Refusal | null> {
    const guard = guardOf(call, surface);
    return guard === null ? null : inspectContent(call, new GuardRun(guard, contentWorkOf(call)), slots, this.parts);
  }

  inspectPiece(call: Call, surface: GuardrailSurface, slots: readonly TextSlot[]): Promise<Refusal | null> {
    return this.inspect(call, surface, slots);
  }

  /** Nothing to do: every piece was inspected. */
  noteText(): void {}

  /** Each text as it may be sent on; null for a blocked one. */
  async cleared(call: Call, surface: GuardrailSurface, texts: readonly string[]): Promise<readonly (string | null)[]> {
    const guard = guardOf(call, surface);
    if (guard === null) return texts;
    return Promise.all(
      texts.map(async (text) => {
        const run = new GuardRun(guard, contentWorkOf(call));
        const inspection = inTurns(run.text(text), run.work);
        const inspected = inspection instanceof Promise ? await inspection : inspection;
        run.noteInspected();
        if (run.blocked === null && guard.engines.length > 0) await askEngines(this.parts, run, call, "input", inspected);
        run.report(call, false);
        return run.blocked === null ? inspected : null;
      }),
    );
  }

  inspects(call: Call, surface: GuardrailSurface): boolean {
    return guardOf(call, surface) !== null;
  }

  enforces(call: Call, surface: GuardrailSurface): boolean {
    return guardOf(call, surface)?.enforces === true;
  }

  judgesWhole(call: Call, surface: GuardrailSurface): boolean {
    return (guardOf(call, surface)?.engines.length ?? 0) > 0;
  }

  /** The definitions without blocked ones and with redactions applied; null if nothing changes. */
  async offered(call: Call, definitions: readonly JsonValue[]): Promise<JsonValue[] | null> {
    const guard = guardOf(call, "mcp_registration");
    if (guard === null) return null;
    const run = new GuardRun(guard);
    const offered: JsonValue[] = [];
    let changed = false;
    for (let at = 0; at < definitions.length; at += AT_ONCE) {
      const some = definitions.slice(at, at + AT_ONCE);
      const reviews = await Promise.all(some.map((one) => (isObject(one) ? this.review(call, guard, digestOf(one), one) : null)));
      for (const [index, definition] of some.entries()) {
        const review = reviews[index] ?? null;
        if (review !== null) run.recall(review);
        if (review?.verdict?.action === "block") {
          changed = true;
          continue;
        }
        if (review?.definition != null) changed = true;
        offered.push(review?.definition ?? definition);
      }
    }
    run.report(call, false);
    return changed ? offered : null;
  }

  /** Refuses an action whose definition is blocked or cannot be inspected. */
  async before(call: Call, { definition }: Action): Promise<ActionDecision> {
    const guard = definition === null ? null : guardOf(call, "mcp_registration");
    if (guard === null || definition === null) return ACTION_PASSES;
    const run = new GuardRun(guard);
    const review = await this.reviewOf(call, guard, definition);
    if (review === null) run.noteInspectionFailed();
    // Redactions in a description do not concern the call itself.
    else run.recall(review.verdict?.action === "redact" ? { ...review, verdict: null, personal: false, warned: [] } : review);
    run.report(call);
    const verdict = run.blocked;
    if (verdict === null) return ACTION_PASSES;
    const extra = { guardrail: verdict.source?.name ?? null, check: verdict.check, direction: "input" };
    if (review === null) {
      const message =
        "The definition of the tool is not known, so the guardrails of this resource group could not look at it. List the " +
        "server's tools first.";
      return { kind: "refuse", refusal: refuse("guardrail_blocked", message, { extra, reason: "the definition is not known" }) };
    }
    const message = verdict.failed
      ? "The definition of the tool could not be checked by the guardrail, so the tool was blocked."
      : `The definition of the tool was blocked by a guardrail (${verdict.check}).`;
    return { kind: "refuse", refusal: refuse("guardrail_blocked", message, { extra }) };
  }

  private async reviewOf(call: Call, guard: SurfaceGuard, { hash, load }: ActionDefinition): Promise<DefinitionReview | null> {
    if (hash === null) return null;
    const known = this.reviews.get(keyOf(guard, hash));
    if (known !== undefined) return known;
    const definition = await load();
    return definition === null ? null : this.review(call, guard, hash, definition);
  }

  private async review(call: Call, guard: SurfaceGuard, hash: string, definition: JsonObject): Promise<DefinitionReview> {
    const key = keyOf(guard, hash);
    const known = this.reviews.get(key);
    if (known !== undefined) return known;
    const made = await reviewDefinition(call, guard, definition, this.parts);
    // Failures are not cached, since a retry may succeed.
    if (made.verdict?.failed !== true && !made.degraded) this.reviews.set(key, made);
    return made;
  }
}

function guardOf({ scope, audit }: Call, surface: GuardrailSurface): SurfaceGuard | null {
  return scope === null ? null : surfaceGuard(scope, guardedAt(audit.proxySubtype, surface));
}

const keyOf = (guard: SurfaceGuard, hash: string) => `${guard.version} ${hash}`;
