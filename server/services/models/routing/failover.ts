import type { RoutingGroupEntry, RoutingMember } from "../../../directory/models/routing-group-entry.ts";
import type { ModelEntry } from "../../../directory/snapshot.ts";
import { ERRORS, reasonOf, type Refusal, refuse, isRefusal } from "../../../kernel/errors.ts";
import { sha256Hex } from "../../../kernel/secrets.ts";
import { isAnswered, LeftInBatch } from "../../../road/own-calls/batched.ts";
import { type Attempt, abortReason, arrivalOf, isAbandoned, type Call } from "../../../road/call.ts";
import { costOfAttempt } from "../../../road/metering/cost.ts";
import type { ModelTarget, Route } from "../../../road/target.ts";
import { noteRequest } from "../../../road/record/finish.ts";
import type { Answer } from "../../../road/answer.ts";
import { noteUpstreamModel } from "../../../road/record/upstream-model.ts";
import { noteSettings } from "../../../road/record/settings.ts";
import { withRequestedServing } from "../../../wire/serving.ts";
import { hasNoCounts } from "../../../wire/usage.ts";
import { requestedTierOf, attempt, type AttemptParts, providerOf, targetOf } from "./attempt.ts";
import type { AttemptResult, FailedAttempt } from "./attempt-result.ts";
import { CallMembers } from "./call-members.ts";
import { chooseMember } from "./choose.ts";
import { droppedHeader } from "../requests/dropped-parameters.ts";
import { linkedAbort } from "../linked-abort.ts";
import type { ModelRequest, PreparedRequest } from "../requests/model-request.ts";
import type { CircuitRules, MemberHealth } from "./member-health.ts";
import { residencyOf } from "./residency.ts";
import { pause } from "./pause.ts";
import { failureOfRefusedAnswer, OUTCOMES_TAKEN_OVER, type RefusedAttempt } from "./refused-attempt.ts";
import type { Failure } from "./upstream-failure.ts";

/** The dependencies of failover besides those of an attempt. */
export interface FailoverParts extends AttemptParts {
  /**
   * Writes the begin marker: before the call leaves, and again before each further attempt. Throws if calls can no longer be recorded; the
   * call must not leave then.
   */
  readonly begin: (call: Call) => void;
  readonly timeoutMs: number;
  readonly health: MemberHealth;
  /** Takes limits set for a single member of a routing group; a refusal sends the call to another member. */
  readonly limits: { enter(call: Call, model: ModelEntry): Refusal | null | Promise<Refusal | null> };
  /** A random number from 0 to below 1. */
  readonly random: () => number;
}

/** One attempt at a member. */
interface AttemptedMember {
  readonly model: ModelEntry;
  readonly prepared: PreparedRequest;
  /** The attempt on the call's record. */
  readonly told: Attempt;
  /** False if the caller was gone before anything was sent. */
  readonly isSent: boolean;
}

/** Nearly every provider charges half its price in a batch. */
const BATCH_PRICE_FACTOR = 0.5;
/** Longest wait for a member to become available, milliseconds; callers' clients time out if it takes much longer. */
const MAX_WAIT_MS = 10_000;

/** The model target that the access control gave a call. Throws if there is none. */
export function targetOfCall({ target }: Call): ModelTarget {
  if (target.kind !== "model") throw new Error("a call was dispatched that no control had resolved");
  return target;
}

/**
 * Failover of one call over the members of its route: makes attempts until one serves it or no candidate is left. `run` may be called only
 * once.
 */
export class Failover {
  private readonly call: Call;
  private readonly request: ModelRequest;
  private readonly route: Route;
  private readonly parts: FailoverParts;
  private readonly rules: CircuitRules;
  private readonly timeoutMs: number;
  private candidates: CallMembers;
  private retriesLeft: number;
  /** The provider's refusal to answer, until another member is asked instead. */
  private refused: RefusedAttempt | null = null;
  /** Outcome of the first failed attempt; recorded on the row once another member is tried. */
  private firstFailure: string | null = null;
  /** Whether an attempt failed since the last wait, so that the next one waits first. */
  private failedSince = false;

  constructor(call: Call, request: ModelRequest, route: Route, parts: FailoverParts) {
    this.call = call;
    this.request = request;
    this.route = route;
    this.parts = parts;
    const { group } = route;
    this.candidates = new CallMembers(route.members, parts.health);
    this.retriesLeft = group?.retries ?? 0;
    this.timeoutMs = group?.timeoutSeconds == null ? parts.timeoutMs : group.timeoutSeconds * 1000;
    this.rules = {
      allowedFails: group?.allowedFails ?? 0,
      windowMs: (group?.cooldownWindowSeconds ?? 0) * 1000,
      cooldownMs: (group?.cooldownSeconds ?? 0) * 1000,
    };
  }

  async run(): Promise<Answer | Refusal> {
    const refusal = this.settleResidency();
    if (refusal !== null) return refusal;
    let last: Failure | null = null;
    for (;;) {
      const member = await this.next(last);
      if (member === null) return last === null ? this.noneHealthy() : this.ending(last);
      if (this.isTooLong(member.model)) {
        this.skipped(member.model, OUTCOMES_TAKEN_OVER.context_window);
        this.candidates.refused(member.model, "context_window");
        continue;
      }
      const result = await this.tryMember(member.model);
      if (isRefusal(result)) {
        // The member cannot serve the request, but another might; the caller sees this refusal only if none can.
        this.candidates.spent.add(member.model);
        // An earlier attempt's failure tells the caller more than a member's refusal of the format.
        if (last === null || this.call.attempts.length === 0 || (last.refusedFor === undefined && ERRORS[result.code].status !== 400))
          last = { outcome: result.code, answer: result, again: "elsewhere", coolMs: null };
        if (result.code === "audit_unavailable") return result;
        continue;
      }
      if ("answer" in result) return result.answer;
      last = result.failure;
      const { refusedFor } = last;
      const [lastAttempt] = this.call.attempts.slice(-1);
      if (lastAttempt !== undefined && this.request.lastTry?.(lastAttempt) === true) return this.ending(last);
      if (last.again === "nowhere" || isAbandoned(abortReason(this.call))) return this.ending(last);
      if (last.again === "elsewhere") this.candidates.spent.add(member.model);
      if (refusedFor !== undefined) this.candidates.refused(member.model, refusedFor);
      else if (this.retriesLeft-- <= 0) return this.ending(last);
    }
  }

  private settleResidency(): Refusal | null {
    const { call, route } = this;
    const tenant = call.scope?.tenant;
    if (tenant === undefined) throw new Error("a call was dispatched without a scope");
    const { askedRegion = null } = this.request;
    const inRegion =
      tenant.allowedRegions.size === 0
        ? route.members
        : askedRegion !== null && !tenant.allowedRegions.has(String(askedRegion))
          ? []
          : route.members.filter(({ model }) => residencyOf(tenant, model, this.parts.providers) === "allowed");
    const able = inRegion.filter(({ model }) => this.request.mayBeServedBy?.(model) === true);
    this.candidates = new CallMembers(able.length > 0 ? able : inRegion, this.parts.health);
    if (inRegion.length > 0) return null;
    call.row.residency_class = "blocked";
    call.row.proxy_subtype = "residency_violation";
    return refuse("residency_violation");
  }

  /** The next member to try; null if there is none that could be tried now. */
  private async next(last: Failure | null): Promise<RoutingMember | null> {
    const { group } = this.route;
    if (group === null) return last === null && this.candidates.spent.size === 0 ? (this.candidates.members[0] ?? null) : null;
    if (this.failedSince && group.retryAfterSeconds > 0) await pause(group.retryAfterSeconds * 1000, this.call.abort.signal);
    this.failedSince = false;
    const member = this.choose(group) ?? (last === null ? null : await this.soonest());
    // Synchronously after the choice, so that concurrent calls see each other.
    if (member !== null) this.parts.health.began(member.model.id);
    return member;
  }

  /** Whether the model certainly cannot read the request, and another member may. */
  private isTooLong(model: ModelEntry): boolean {
    const { contextWindow } = model;
    return (
      contextWindow != null && this.candidates.hasOtherFor(model, "context_window") && this.request.isLongerThan?.(contextWindow) === true
    );
  }

  /** What the caller gets of the last failure. A refused answer that no other member replaced is one that was served. */
  private ending({ answer }: Failure): Answer | Refusal {
    const { refused } = this;
    if (refused === null || refused.answer !== answer) return answer;
    Object.assign(refused.told, { outcome: "served", usage: null, costMicros: null } satisfies Partial<Attempt>);
    targetOfCall(this.call).model = refused.model;
    this.call.answerReusable = refused.reusable;
    return answer;
  }

  private choose(group: RoutingGroupEntry): RoutingMember | null {
    const { health, random } = this.parts;
    const left = this.candidates.left();
    const now = left.filter(({ model }) => health.available(model.id));
    const fresh = now.filter(({ model }) => !this.candidates.tried.has(model));
    const member = chooseMember(group.strategy, fresh.length > 0 ? fresh : now, health, random, arrivalOf(this.call));
    if (member !== null) return member;
    const resort = health.lastResort(left.map(({ model }) => model.id));
    return left.find(({ model }) => model.id === resort) ?? null;
  }

  /** If all members are cooling down, waits for the first to become available, unless that takes too long. */
  private async soonest(): Promise<RoutingMember | null> {
    const { health } = this.parts;
    const soonest = this.candidates.left().toSorted((a, b) => health.availableInMs(a.model.id) - health.availableInMs(b.model.id))[0];
    const waitMs = soonest === undefined ? Number.POSITIVE_INFINITY : health.availableInMs(soonest.model.id);
    if (soonest === undefined || waitMs > MAX_WAIT_MS) return null;
    await pause(waitMs, this.call.abort.signal);
    return this.call.abort.signal.aborted ? null : soonest;
  }

  private noneHealthy(): Refusal {
    const waits = this.candidates.left().map(({ model }) => this.parts.health.availableInMs(model.id));
    return refuse("no_healthy_member", undefined, {
      headers: { "retry-after": String(Math.max(1, Math.ceil(Math.min(...waits) / 1000))) },
    });
  }

  private async tryMember(model: ModelEntry): Promise<AttemptResult | Refusal> {
    this.candidates.tried.add(model);
    targetOfCall(this.call).model = model;
    try {
      const ready = await this.readied(model);
      if (isRefusal(ready)) {
        this.skipped(model, ready.code);
        return ready;
      }
      const { batched } = this.call;
      if (batched?.kind === "leaving") {
        this.call.priceFactor = model.batchPriceFactor ?? BATCH_PRICE_FACTOR;
        batched.departed = { modelId: model.id, operation: ready.operation, body: ready.body };
        throw new LeftInBatch();
      }
      return await this.ask(model, ready);
    } catch (error) {
      this.noteNotAttempted(model);
      throw error;
    }
  }

  /** The prepared request, with limits taken and the begin marker written; a refusal if it may not be sent. */
  private async readied(model: ModelEntry): Promise<PreparedRequest | Refusal> {
    const { call, request, parts } = this;
    const prepared = await request.prepare(call, model);
    if (isRefusal(prepared)) return prepared;
    const overLimit = await parts.limits.enter(call, model);
    return overLimit ?? this.departure(model, prepared) ?? prepared;
  }

  /** The member was not asked. */
  private skipped(model: ModelEntry, reason: string): void {
    this.candidates.tried.add(model);
    this.firstFailure ??= reason;
    this.noteNotAttempted(model);
  }

  private noteNotAttempted(model: ModelEntry): void {
    if (this.route.group === null) return;
    this.parts.health.unanswered(model.id);
    this.parts.health.inconclusive(model.id);
  }

  private async ask(model: ModelEntry, prepared: PreparedRequest): Promise<AttemptResult> {
    const { call, request, parts, route } = this;
    // Nothing is sent for a caller that is gone already.
    const isSent = !call.abort.signal.aborted || prepared.outlivesCaller === true;
    const skipped: Attempt = {
      model: model.name,
      provider: model.provider.providerKey,
      outcome: "served",
      status: null,
      durationMs: 0,
      usage: null,
      costMicros: null,
    };
    call.attempts.push(skipped);
    call.requestHeadersSent = droppedHeader(prepared);
    const grouped = route.group !== null;
    const linked = grouped ? linkedAbort(call) : null;
    const { answerReusable } = call;
    const startedAt = performance.now();
    const asked = attempt(
      call,
      {
        model,
        prepared,
        abort: prepared.outlivesCaller === true ? new AbortController() : (linked?.abort ?? call.abort),
        timeoutMs: this.timeoutMs,
        holdHead: grouped,
        watchesRefusals: this.candidates.hasOtherFor(model, "content_filter"),
        inputCharacters: request.inputCharacters,
        ...(request.usageOfSending && { usageOfSending: request.usageOfSending }),
      },
      parts,
    );
    noteRequest(call);
    const result = await asked;
    skipped.durationMs = Math.round(performance.now() - startedAt);
    if ("answer" in result) {
      skipped.status = result.answer.status;
      Object.assign(result.answer.headers, call.requestHeadersSent);
      if (result.isRefusal !== true || !this.candidates.hasOtherFor(model, "content_filter")) {
        if (grouped) this.answered(model, skipped.durationMs, result.answer);
        return result;
      }
      this.refused = { model, told: skipped, answer: result.answer, reusable: call.answerReusable };
      call.answerReusable = answerReusable;
    }
    const attempted = "answer" in result ? failureOfRefusedAnswer(result) : result;
    const failure = this.directed(model, attempted.failure);
    const failed = { ...attempted, failure };
    this.failedSince = failure.refusedFor === undefined;
    linked?.release();
    if (grouped) parts.health.unanswered(model.id);
    this.failed({ model, prepared, told: skipped, isSent }, failed);
    return failed;
  }

  /** A failure for which another member is named and available goes there; any other is handled by its kind. */
  private directed(model: ModelEntry, failure: Failure): Failure {
    const { refusedFor } = failure;
    if (refusedFor === undefined || !this.candidates.hasOtherFor(model, refusedFor)) return { ...failure, refusedFor: undefined };
    return { ...failure, outcome: OUTCOMES_TAKEN_OVER[refusedFor], again: "elsewhere", coolMs: null };
  }

  private answered(model: ModelEntry, latencyMs: number, answer: Answer): void {
    const { health } = this.parts;
    health.measured(model.id, latencyMs);
    const ended = (errorType: string | null) => {
      health.ended(model.id);
      // A stream that the provider broke off counts against it like any other failure; one that a policy withheld does not.
      if (errorType === null || !errorType.startsWith("upstream_")) health.answered(model.id);
      else health.failed(model.id, this.rules);
    };
    if (answer.kind === "whole") ended(null);
    else this.call.whenEnded.push(ended);
  }

  /** The reason why the caller stopped waiting, if that ended the attempt; such an attempt does not count against the provider. */
  private abandoned(outcome: string): string | null {
    const reason = abortReason(this.call);
    return reason !== null && reason !== "upstream_timeout" && (outcome === "upstream_unreachable" || outcome === "upstream_interrupted")
      ? reason
      : null;
  }

  private failed({ model, prepared, told, isSent }: AttemptedMember, { failure, usage, status, left, unsent }: FailedAttempt): void {
    const { call, parts, route } = this;
    const abandoned = this.abandoned(failure.outcome);
    told.outcome = abandoned ?? failure.outcome;
    told.status = status;
    // No usage is reported for an abandoned attempt, but the provider bills its input. Without this estimate, disconnecting would be free,
    // and slow or broken attempts would escape every budget.
    const mayBeBilled = isSent && unsent !== true && (abandoned !== null || left === true);
    const sent = mayBeBilled ? (this.request.usageOfSending?.() ?? null) : null;
    const used = sent !== null && (usage === null || hasNoCounts(usage)) ? sent : usage;
    told.usage = used === null ? null : withRequestedServing(used, requestedTierOf(call, prepared));
    told.costMicros = told.usage === null ? null : costOfAttempt(call, told.usage);
    this.firstFailure ??= told.outcome;
    if (route.group === null) return;
    if (failure.again === "nowhere" || failure.refusedFor !== undefined || call.abort.signal.aborted) parts.health.inconclusive(model.id);
    else if (failure.coolMs === null) parts.health.failed(model.id, this.rules);
    else parts.health.cool(model.id, failure.coolMs);
  }

  /** Records on the row where the call is about to go; a refusal if that failed. */
  private departure(model: ModelEntry, prepared: PreparedRequest): Refusal | null {
    const { call, parts } = this;
    const provider = providerOf(parts.providers, model);
    if (isRefusal(provider)) return provider;
    // The row has said so since the line was sent in a batch.
    if (isAnswered(call)) return null;
    this.refused = null;
    const { row } = call;
    row.llm_model_used = model.name;
    row.llm_provider = model.provider.providerKey;
    // An earlier attempt's ID is from another provider.
    row.upstream_request_id = null;
    noteUpstreamModel(row, model);
    row.target_url = provider.url(targetOf(model), prepared.operation, prepared.stream, prepared.of);
    row.region_routed_to = model.provider.region;
    row.residency_class = call.scope === null ? "not_evaluated" : residencyOf(call.scope.tenant, model, parts.providers);
    row.request_content_hash = sha256Hex(prepared.body);
    call.requestContent = prepared.body;
    noteSettings(row, prepared.sent);
    row.llm_used_fallback ??= false;
    if (this.isFallback(model)) {
      row.llm_used_fallback = true;
      row.llm_fallback_reason ??= this.firstFailure ?? "no_healthy_member";
    }
    // Sent in a batch with other lines, whose state is in the database, so that no marker is needed.
    if (call.batched !== undefined) return null;
    try {
      parts.begin(call);
      return null;
    } catch (error) {
      return refuse("audit_unavailable", undefined, { reason: reasonOf(error) });
    }
  }

  /** Any member but the first tried; or a spare, which comes first only while no other member is available. */
  private isFallback(model: ModelEntry): boolean {
    const [first] = this.candidates.tried;
    if (model !== first) return true;
    const active = this.candidates.members.filter(({ weight }) => weight > 0);
    return active.length > 0 && active.every((member) => member.model !== model);
  }
}
