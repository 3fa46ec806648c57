import { type Refusal, refuse } from "../../kernel/errors.ts";
import type { InTurns } from "../../kernel/scheduling/in-turns.ts";
import { distinctNames, replaceLeaves } from "../../wire/json/json-leaves.ts";
import type { AuditRow } from "@gatehouse/ledger-format/fields";
import type { Call } from "../../road/call.ts";
import { warnCaller } from "../../road/policy/policy-warnings.ts";
import { ContentWork, TOO_MUCH_WORK } from "../../road/policy/content-work.ts";
import { isKnownClean, noteClean } from "./clean-texts.ts";
import type { GuardrailAction, GuardrailCheck } from "./text/finding.ts";
import { type GuardedFinding, HoldBack } from "./answers/hold-back.ts";
import type { WriteInstead } from "./answers/write-instead.ts";
import { isSeenClean } from "./redact.ts";
import type { SurfaceGuard } from "./surface-guard.ts";
import { SURFACES } from "../../road/request/content-surface.ts";
import type { GuardSource, TextGuard } from "./text-guard.ts";

/** The result of a guardrail. */
export interface GuardrailResult {
  readonly source: GuardSource | null;
  readonly check: GuardrailCheck;
  readonly action: GuardrailAction;
  /** Whether it blocks because the check failed. */
  readonly failed: boolean;
}

/** The outcome of a run, cached for the same text. */
export interface GuardOutcome {
  readonly verdict: GuardrailResult | null;
  readonly personal: boolean;
  readonly degraded: boolean;
  /** Names of the guardrails that warned. */
  readonly warned: readonly string[];
  /** Source of the first rule or engine that inspected anything; undefined if none did. */
  readonly watcher: GuardSource | null | undefined;
}

const WEIGHT: Readonly<Record<GuardrailAction, number>> = { warn: 0, redact: 1, block: 2 };

/** Takes one call through the guardrails of one surface: changes texts and keeps the most severe result. */
export class GuardRun {
  readonly surface: SurfaceGuard;
  /** Budget for inspection; those who inspect in steps report their work to it. */
  readonly work: ContentWork;
  private heaviest: GuardrailResult | null = null;
  private readonly warned = new Set<string>();
  private personal = false;
  private degraded = false;
  private skipped = false;
  private watcher: GuardOutcome["watcher"] = undefined;

  private readonly writeInstead: WriteInstead | null;

  constructor(surface: SurfaceGuard, work = new ContentWork(), writeInstead: WriteInstead | null = null) {
    this.surface = surface;
    this.work = work;
    this.writeInstead = writeInstead;
  }

  /** A run of other rules for the same call. */
  beside(surface: SurfaceGuard): GuardRun {
    return new GuardRun(surface, this.work, this.writeInstead);
  }

  /** Guards one text in pieces, which continues `before`. */
  hold(before: string, guard: TextGuard = this.surface.guard): HoldBack {
    return new HoldBack(guard, before, this.writeInstead);
  }

  /** The verdict that ends the call; null while it may continue. */
  get blocked(): GuardrailResult | null {
    return this.heaviest?.action === "block" ? this.heaviest : null;
  }

  get action(): GuardrailAction | null {
    return this.heaviest?.action ?? null;
  }

  /** Inspects a text and returns it as it may be sent. If the run has blocked, the result must not be sent. */
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
   * Inspects each text within JSON by itself; the result is still JSON. Text that is not JSON is inspected as it is.
   * `known`: results for texts inspected before.
   */
  *json(json: string, guard: TextGuard = this.surface.guard, known = new Map<string, string>()): InTurns<string> {
    if (guard.rules.length === 0 || json === "") return json;
    const leaves: string[] = [];
    const same = replaceLeaves(json, (leaf) => {
      leaves.push(leaf);
      return leaf;
    });
    if (same === null) return yield* this.text(json, guard);
    const messages: string[] = [];
    let changed = false;
    for (const leaf of leaves) {
      let out = known.get(leaf) ?? (isKnownClean(guard, leaf) ? leaf : undefined);
      if (out === undefined) {
        out = yield* this.text(leaf, guard);
        if (this.blocked !== null) return json;
        known.set(leaf, out);
      }
      if (out !== leaf) changed = true;
      messages.push(out);
    }
    if (!changed) return json;
    let next = 0;
    const name = distinctNames(leaves);
    return (
      replaceLeaves(json, (leaf, isName) => {
        const out = messages[next++] ?? leaf;
        return isName && out !== leaf ? name(leaf, out) : out;
      }) ?? json
    );
  }

  /** Passes the next piece of a text to its `hold`; returns what may be sent. */
  push(hold: HoldBack, piece: string, last: boolean): InTurns<string> {
    this.work.grant(piece.length);
    return this.pushed(hold, piece, last);
  }

  /** Findings to redact in a text joined from several, left to right without overlap; they count like any finding. */
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

  /** Turns the last redaction into a block, because the text cannot be changed. */
  blockWhatIsRedacted(): void {
    if (this.heaviest !== null) this.weigh({ ...this.heaviest, action: "block" });
  }

  /** Records the findings of a text that has ended. */
  close(hold: HoldBack): void {
    this.note(hold.findings, hold.blocked, hold.failed);
  }

  /** Adds an engine's verdict, or that it failed and the call continues. */
  engine(verdict: GuardrailResult | "degraded"): void {
    if (verdict === "degraded") {
      this.degraded = true;
      return;
    }
    if (!verdict.failed) this.watchedBy(verdict.source);
    if (verdict.check === "pii" && !verdict.failed) this.personal = true;
    this.weigh(verdict);
  }

  /** Notes that something was inspected. */
  watchedBy(source: GuardSource | null): void {
    if (this.watcher === undefined) this.watcher = source;
  }

  /** Notes that the rules of the surface have inspected everything. */
  noteInspected(): void {
    const [first] = this.surface.guard.rules;
    if (first !== undefined && !this.skipped) this.watchedBy(first.source ?? null);
  }

  get outcome(): GuardOutcome {
    return { verdict: this.heaviest, personal: this.personal, degraded: this.degraded, warned: [...this.warned], watcher: this.watcher };
  }

  /** Adds the outcome of another run of the same surface. */
  recall({ verdict, personal, degraded, warned, watcher }: GuardOutcome): void {
    for (const name of warned) this.warned.add(name);
    if (watcher !== undefined) this.watchedBy(watcher);
    if (personal) this.personal = true;
    if (degraded) this.degraded = true;
    if (verdict !== null) this.weigh(verdict);
  }

  /** There is nothing to inspect although there should be: blocks if any rule or engine could, otherwise skips. */
  noteInspectionFailed(): void {
    if (!this.surface.enforces) return this.skip();
    const rule = this.surface.guard.rules.find(({ action }) => action !== "warn");
    this.weigh({
      source: rule?.source ?? this.surface.engines[0]?.source ?? null,
      check: rule?.detector.check ?? "toxic_content",
      action: "block",
      failed: true,
    });
  }

  /** Notes that a guardrail was skipped because it had nothing to inspect. */
  skip(): void {
    this.skipped = true;
  }

  /**
   * Records the result on the row, unless that has an equally or more severe one from another surface. A changed answer
   * must not be reused for other callers. `ends`: whether a block ends the call or only removes part of the answer.
   */
  report(call: Pick<Call, "row" | "answerReusable" | "answerHeaders">, ends = true): void {
    const { row } = call;
    this.warn(call);
    if (SURFACES[this.surface.surface].direction === "output" && (this.heaviest !== null || this.degraded)) call.answerReusable = false;
    this.reportWatched(row);
    if (this.personal) row.pii_detected = true;
    if (this.degraded) row.guardrails_degraded = true;
    if (this.skipped) row.guardrails_skipped = true;
    const verdict = this.heaviest;
    if (verdict === null) return;
    if (verdict.action === "block" && ends) row.guardrail_blocked = true;
    const recordedAction = row.guardrail_action as GuardrailAction | null | undefined;
    if (recordedAction != null && WEIGHT[recordedAction] >= WEIGHT[verdict.action]) return;
    row.guardrail_config_id = verdict.source?.id ?? null;
    row.guardrail_check = verdict.check;
    row.guardrail_action = verdict.action;
  }

  /** Names the warning guardrails to the caller, while the answer's headers are not sent. */
  warn(call: Pick<Call, "answerHeaders">): void {
    for (const name of this.warned) warnCaller(call, name);
  }

  /** Records that an inspection took place, which is all there is to record if nothing was found. */
  private reportWatched(row: AuditRow): void {
    if (this.watcher === undefined) return;
    row.guardrail_blocked ??= false;
    if (this.surface.guard.rules.some(({ detector }) => detector.check === "pii")) row.pii_detected ??= false;
    if (row.guardrail_action == null) row.guardrail_config_id ??= this.watcher?.id ?? null;
  }

  /** The refusal that ends a blocked call (interface 7.3); null if not blocked. */
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
    const hold = this.hold("", guard);
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

  /** Runs the work step by step until the budget is exhausted. */
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

  /** The budget is exhausted, so the rest is unknown: blocks, or degrades if all rules only warn. */
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
