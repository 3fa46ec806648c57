import { type Refusal, refuse } from "../../kernel/errors.ts";
import type { InTurns } from "../../kernel/scheduling/in-turns.ts";
import { distinctNames, replaceLeaves } from "../../wire/json/json-leaves.ts";
import type { AuditRow } from "@gatehouse/ledger-format/fields";
import type { Call } from "../../road/call.ts";
import { warnCaller } from "../../road/policy-warnings.ts";
import { ContentWork, TOO_MUCH_WORK } from "../../road/content-work.ts";
import { isKnownClean, noteClean } from "./clean-texts.ts";
import type { GuardrailAction, GuardrailCheck } from "./text/finding.ts";
import { type GuardedFinding, HoldBack } from "./answers/hold-back.ts";
import { isSeenClean } from "./redact.ts";
import type { SurfaceGuard } from "./surface-guard.ts";
import { SURFACES } from "../../road/content-surface.ts";
import type { GuardSource, TextGuard } from "./text-guard.ts";

/** The result of a guardrail. */
export interface GuardrailResult {
  readonly source: GuardSource | null;
  readonly check: GuardrailCheck;
  readonly action: GuardrailAction;
  /** Whether it blocks because it could not look. */
  readonly failed: boolean;
}

/** The outcome of a run, kept for the same text. */
export interface GuardOutcome {
  readonly verdict: GuardrailResult | null;
  readonly personal: boolean;
  readonly degraded: boolean;
  /** Names of the guardrails that only warn. */
  readonly warned: readonly string[];
  /** Whose rules or engine looked first; undefined where nobody has. */
  readonly watcher: GuardSource | null | undefined;
}

const WEIGHT: Readonly<Record<GuardrailAction, number>> = { warn: 0, redact: 1, block: 2 };

/** One call's way through the guardrails of one surface: changes texts, remembers what weighs most. */
export class GuardRun {
  readonly surface: SurfaceGuard;
  /** What looking may cost; whoever does it in turns tells it what it took. */
  readonly work: ContentWork;
  private heaviest: GuardrailResult | null = null;
  private readonly warned = new Set<string>();
  private personal = false;
  private degraded = false;
  private skipped = false;
  private watcher: GuardOutcome["watcher"] = undefined;

  constructor(surface: SurfaceGuard, work = new ContentWork()) {
    this.surface = surface;
    this.work = work;
  }

  /** The verdict that ends the call; null while it may go on. */
  get blocked(): GuardrailResult | null {
    return this.heaviest?.action === "block" ? this.heaviest : null;
  }

  get action(): GuardrailAction | null {
    return this.heaviest?.action ?? null;
  }

  /** The text as it may go on. Once the run has blocked, what it returns must not. */
  *text(text: string, guard: TextGuard = this.surface.guard): InTurns<string> {
    if (guard.rules.length === 0 || text === "" || isKnownClean(guard, text)) return text;
    this.work.grant(text.length);
    if (!isSeenClean(guard, text)) return yield* this.followed(text, guard);
    noteClean(guard, text);
    this.watchWork();
    yield;
    return text;
  }

  /**
   * JSON text with each text in it guarded by itself; it stays JSON. Text that is no JSON is guarded as it is. `known`: what
   * came of texts that were looked at before.
   */
  *json(json: string, guard: TextGuard = this.surface.guard, known = new Map<string, string>()): InTurns<string> {
    if (guard.rules.length === 0 || json === "") return json;
    const leaves: string[] = [];
    const same = replaceLeaves(json, (leaf) => {
      leaves.push(leaf);
      return leaf;
    });
    if (same === null) return yield* this.text(json, guard);
    const said: string[] = [];
    let changed = false;
    for (const leaf of leaves) {
      let out = known.get(leaf) ?? (isKnownClean(guard, leaf) ? leaf : undefined);
      if (out === undefined) {
        out = yield* this.text(leaf, guard);
        if (this.blocked !== null) return json;
        known.set(leaf, out);
      }
      if (out !== leaf) changed = true;
      said.push(out);
    }
    if (!changed) return json;
    let next = 0;
    const name = distinctNames(leaves);
    return (
      replaceLeaves(json, (leaf, isName) => {
        const out = said[next++] ?? leaf;
        return isName && out !== leaf ? name(leaf, out) : out;
      }) ?? json
    );
  }

  /** Takes the next piece of a text that `hold` follows. */
  *push(hold: HoldBack, piece: string, last: boolean): InTurns<string> {
    this.work.grant(piece.length);
    return yield* this.pushed(hold, piece, last);
  }

  /** What is found in a text that is put together from others, to be redacted there; it counts like any finding. From left to right. */
  *across(text: string, guard: TextGuard): InTurns<readonly GuardedFinding[]> {
    if (text === "" || isKnownClean(guard, text)) return [];
    const hold = new HoldBack(guard);
    yield* this.push(hold, text, true);
    this.close(hold);
    const { findings } = hold;
    if (findings.length === 0 && !hold.failed) noteClean(guard, text);
    let reach = 0;
    return findings.filter(({ action, start, end }) => {
      if (action !== "redact" || start < reach) return false;
      reach = end;
      return true;
    });
  }

  /** What was redacted last cannot be said differently, so it ends the call. */
  blockWhatIsRedacted(): void {
    if (this.heaviest !== null) this.weigh({ ...this.heaviest, action: "block" });
  }

  /** Remembers what a text that has ended came to. */
  close(hold: HoldBack): void {
    this.note(hold.findings, hold.blocked, hold.failed);
  }

  /** What an engine said, or that it failed and the call goes on all the same. */
  engine(verdict: GuardrailResult | "degraded"): void {
    if (verdict === "degraded") {
      this.degraded = true;
      return;
    }
    if (!verdict.failed) this.watchedBy(verdict.source);
    if (verdict.check === "pii" && !verdict.failed) this.personal = true;
    this.weigh(verdict);
  }

  /** Somebody has looked. */
  watchedBy(source: GuardSource | null): void {
    if (this.watcher === undefined) this.watcher = source;
  }

  /** The rules of the surface have seen what there was to see. */
  looked(): void {
    const [first] = this.surface.guard.rules;
    if (first !== undefined && !this.skipped) this.watchedBy(first.source ?? null);
  }

  get outcome(): GuardOutcome {
    return { verdict: this.heaviest, personal: this.personal, degraded: this.degraded, warned: [...this.warned], watcher: this.watcher };
  }

  /** Takes over what another run of the same surface came to. */
  recall({ verdict, personal, degraded, warned, watcher }: GuardOutcome): void {
    for (const name of warned) this.warned.add(name);
    if (watcher !== undefined) this.watchedBy(watcher);
    if (personal) this.personal = true;
    if (degraded) this.degraded = true;
    if (verdict !== null) this.weigh(verdict);
  }

  /** What would have been looked at is not there: it blocks where any rule or engine would, and is skipped where all only warn. */
  cannotLook(): void {
    if (!this.surface.enforces) return this.skip();
    const rule = this.surface.guard.rules.find(({ action }) => action !== "warn");
    this.weigh({
      source: rule?.source ?? this.surface.engines[0]?.source ?? null,
      check: rule?.detector.check ?? "toxic_content",
      action: "block",
      failed: true,
    });
  }

  /** A guardrail was left out because there was nothing it could look at. */
  skip(): void {
    this.skipped = true;
  }

  /**
   * Records the result on the row; that of another surface of the same call stays where it weighs more. An answer that was touched
   * is nobody else's. `ends`: whether a block ends the call, or only leaves a part of the answer out.
   */
  tell(call: Pick<Call, "row" | "answerReusable" | "answerHeaders">, ends = true): void {
    const { row } = call;
    this.warn(call);
    if (SURFACES[this.surface.surface].direction === "output" && (this.heaviest !== null || this.degraded)) call.answerReusable = false;
    this.tellWatch(row);
    if (this.personal) row.pii_detected = true;
    if (this.degraded) row.guardrails_degraded = true;
    if (this.skipped) row.guardrails_skipped = true;
    const verdict = this.heaviest;
    if (verdict === null) return;
    if (verdict.action === "block" && ends) row.guardrail_blocked = true;
    const told = row.guardrail_action as GuardrailAction | null | undefined;
    if (told != null && WEIGHT[told] >= WEIGHT[verdict.action]) return;
    row.guardrail_config_id = verdict.source?.id ?? null;
    row.guardrail_check = verdict.check;
    row.guardrail_action = verdict.action;
  }

  /** Names to the caller what warned, as long as the answer has not left. */
  warn(call: Pick<Call, "answerHeaders">): void {
    for (const name of this.warned) warnCaller(call, name);
  }

  /** That somebody looked, which is all there is to tell where nothing was found. */
  private tellWatch(row: AuditRow): void {
    if (this.watcher === undefined) return;
    row.guardrail_blocked ??= false;
    if (this.surface.guard.rules.some(({ detector }) => detector.check === "pii")) row.pii_detected ??= false;
    if (row.guardrail_action == null) row.guardrail_config_id ??= this.watcher?.id ?? null;
  }

  /** The refusal a blocked call ends with (interface 7.3). */
  refusal(): Refusal | null {
    const verdict = this.blocked;
    if (verdict === null) return null;
    const { direction } = SURFACES[this.surface.surface];
    const what = direction === "input" ? "request" : "answer";
    const message = verdict.failed
      ? `The ${what} could not be checked by the guardrail, so it was blocked.`
      : `The ${what} was blocked by a guardrail (${verdict.check}).`;
    return refuse("guardrail_blocked", message, {
      extra: { guardrail: verdict.source?.name ?? null, check: verdict.check, direction },
      ...(verdict.failed ? { reason: this.work.exhausted ? TOO_MUCH_WORK : "the check failed" } : {}),
    });
  }

  private *followed(text: string, guard: TextGuard): InTurns<string> {
    const hold = new HoldBack(guard);
    const out = yield* this.pushed(hold, text, true);
    this.close(hold);
    if (hold.findings.length === 0 && !hold.failed) noteClean(guard, text);
    return out;
  }

  private *pushed(hold: HoldBack, piece: string, last: boolean): InTurns<string> {
    const { stride } = hold;
    let out = "";
    let at = 0;
    for (; piece.length - at > stride && hold.blocked === null; at += stride)
      out += yield* this.watched(hold, hold.pushing(piece.slice(at, at + stride)));
    const rest = piece.slice(at);
    out += yield* this.watched(hold, last ? hold.ending(rest) : hold.pushing(rest));
    if (hold.blocked !== null) this.note([], hold.blocked, false);
    return out;
  }

  /** Does the work as far as the budget reaches. */
  private *watched(hold: HoldBack, work: InTurns<string>): InTurns<string> {
    for (;;) {
      const step = work.next();
      this.watchWork(hold);
      yield;
      if (step.done === true) return step.value;
    }
  }

  private watchWork(hold?: HoldBack): void {
    if (!this.work.exhausted) return;
    hold?.expire();
    if (this.blocked === null) this.expire();
  }

  /** Looking took too much: what is left cannot be known. */
  private expire(): void {
    const rule = this.surface.guard.rules.find(({ action }) => action !== "warn");
    if (rule === undefined) this.degraded = true;
    else this.weigh({ source: rule.source ?? null, check: rule.detector.check, action: "block", failed: true });
  }

  private note(findings: readonly GuardedFinding[], blocked: GuardedFinding | null, failed: boolean): void {
    if (failed && blocked?.failed !== true) this.degraded = true;
    for (const finding of findings) {
      if (finding.check === "pii" && finding.failed !== true) this.personal = true;
      if (finding.action !== "block")
        this.weigh({ source: finding.source ?? null, check: finding.check, action: finding.action, failed: false });
    }
    if (blocked === null) return;
    if (blocked.check === "pii" && blocked.failed !== true) this.personal = true;
    this.weigh({ source: blocked.source ?? null, check: blocked.check, action: "block", failed: blocked.failed === true });
  }

  private weigh(verdict: GuardrailResult): void {
    if (verdict.action === "warn" && verdict.source !== null) this.warned.add(verdict.source.name);
    if (this.heaviest === null || WEIGHT[verdict.action] > WEIGHT[this.heaviest.action]) this.heaviest = verdict;
  }
}
