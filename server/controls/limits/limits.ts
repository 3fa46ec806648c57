import { BoundedMap } from "../../directory/bounded-map.ts";
import type { GroupScope, ModelEntry } from "../../directory/snapshot.ts";
import { type Refusal, refuse, isRefusal } from "../../kernel/errors.ts";
import { arrivalOf, type Attempt, type Call } from "../../road/call.ts";
import type { CallLimits, NestedBounds } from "../../road/call-limits.ts";
import type { RequestControl } from "../../road/control.ts";
import { type Decision, decisionOf, PASS, refused } from "../../road/decision.ts";
import type { RequestView } from "../../road/view.ts";
import { usedByAttempt, demandOfFailedAttempts, usedByLastAttempt, usedByCall } from "./actual-use.ts";
import type { Admitted } from "./admission/admission-answer.ts";
import { JobHolds } from "./job-holds.ts";
import { prepareAdmission } from "./admission/prepare-admission.ts";
import { boundAnswer, type LimitedCall, ofOwnCall, type RoutedReservation, servedByNoModel } from "./limited-call.ts";
import { InputCounts } from "./plans/input-counts.ts";
import type { LimitsParts } from "./limits-parts.ts";
import { type Actual, type Plan, type Reservation, NOTHING_USED } from "./counters/counters.ts";
import { heldOf, usedOf } from "./counters/window-amounts.ts";
import { setConsumptionHeaders } from "./consumption.ts";
import { ThresholdAlerts } from "./threshold-alerts.ts";
import { unpricedRefusal } from "./limit-refusals.ts";
import { SuspendedReservations } from "./counters/suspended-reservations.ts";
import { PlanCache } from "./plans/plan-cache.ts";
import { type CallPlan, leavingRoom, memberPlan, nestedInRun, nestedPlan, planFor, withoutRateLimits } from "./plans/plan.ts";
import { principalOf } from "../../road/principal.ts";
import { ToolCallCaps } from "./tool-call-caps.ts";
import { pricedToolCall } from "./priced-tool-call.ts";
import { runBounds } from "./run-bounds.ts";
import { hasCeilings, RunCeilings } from "./run-ceilings.ts";
import { Warming } from "./counters/warming.ts";
import { AdmissionGate } from "./admission/admission-gate.ts";
import { highestCost, demandOf, worstCaseOfNested } from "./plans/worst-case.ts";
import { type AgentRoute, modelOf, routeOf, toolsOf, isStoredResult } from "../../road/target.ts";
import { agentPlan, agentPlanInRun, budgetPlan } from "./plans/agent-plan.ts";
import { joinPending } from "./counters/join-pending.ts";
import { LeftCalls } from "./counters/left-calls.ts";

/**
 * Limits of the caller's group and all groups above it, and ceilings of the model and the run, checked and taken
 * atomically. A call's hold lasts until `settle` replaces it with actual usage. For a call to a routing group the
 * member is not known yet; limits on one member are taken by `enter`.
 */
export class Limits implements RequestControl, CallLimits {
  readonly name = "limits";
  private readonly plans = new PlanCache();
  private readonly reservations = new WeakMap<Call, Reservation>();
  private readonly routed = new WeakMap<Call, RoutedReservation>();
  /** The admission state of calls that hold something. */
  private readonly arrivals = new WeakMap<Call, LimitedCall>();
  private readonly suspended: SuspendedReservations;
  /** Reservations settled in shared counters, to be confirmed once the call's row is sealed. */
  private readonly settled = new WeakMap<Call, readonly Reservation[]>();
  private readonly gate: AdmissionGate;
  private readonly counts: InputCounts;
  private readonly warming: Warming;
  private readonly alerts: ThresholdAlerts;
  readonly toolCallCaps: ToolCallCaps;
  readonly left: LeftCalls;
  readonly jobs: JobHolds;
  private readonly runs: RunCeilings;
  private readonly parts: LimitsParts;
  private readonly settling = new Set<Promise<unknown>>();

  constructor(parts: LimitsParts) {
    this.parts = parts;
    this.suspended = new SuspendedReservations(parts.counters);
    this.warming = new Warming(parts.counters, parts.truth);
    this.alerts = new ThresholdAlerts(parts.alerts);
    this.runs = new RunCeilings(parts.truth, parts.clock, new BoundedMap(100_000));
    const { warming, alerts: crossings } = this;
    this.counts = new InputCounts(parts.countTokens);
    this.gate = new AdmissionGate({
      ...parts,
      counts: this.counts,
      warming,
      crossings,
      now: () => parts.clock.micros() / 1000,
      grantPlace: (call) => this.grantPlace(call),
      reservationOf: (call) => this.reservations.get(call),
      heldByJobs: (key) => this.jobs.holdsOf(key),
    });
    const reservationsOf = (call: Call) =>
      [this.reservations.get(call), this.suspended.reacquired(call), this.routed.get(call)?.reservation].filter((one) => one != null);
    const [planOf, released] = [this.planOf.bind(this), this.gate.released.bind(this.gate)] as const;
    const budgetsOf = (scope: GroupScope, at: number) =>
      this.plans.of(scope, "budgets", at, () => this.kept(scope, "budgets", budgetPlan(scope, at)));
    this.jobs = new JobHolds({ ...parts, warming, planOf, budgetsOf, reservationsOf, released });
    this.toolCallCaps = new ToolCallCaps(this.gate, planOf);
    const [settle, sealed] = [this.settleHeld.bind(this), this.sealed.bind(this)] as const;
    const { gate, reservations, arrivals, suspended } = this;
    const planOfLeft = (call: Call, model: ModelEntry) =>
      nestedInRun(planOf(call.scope as GroupScope, model, arrivalOf(call), nestedPlan), call.row.root_task_id ?? null, runBounds(call));
    this.left = new LeftCalls({ counters: parts.counters, gate, reservations, arrivals, suspended, settle, sealed, planOf: planOfLeft });
  }

  decide(call: Call, view: RequestView): Decision | Promise<Decision> {
    const { scope } = call;
    const model = modelOf(call);
    if (scope === null) return PASS;
    if (call.target.kind === "tool") return this.decideTool(call, view, scope);
    if (call.target.kind === "agent") return this.decideAgent(call, view, scope, call.target);
    if (model === null || isStoredResult(view.target)) return PASS;
    const base = this.planOf(scope, model, arrivalOf(call), planFor);
    return hasCeilings(call) ? this.decideInRun(call, view, leavingRoom(call, base)) : this.decideBy(call, view, leavingRoom(call, base));
  }

  /** Calls that use no capability of the server (lists, handshakes) are not counted. */
  private decideTool(call: Call, view: RequestView, scope: GroupScope): Decision | Promise<Decision> {
    const target = toolsOf(call)?.targets[0];
    const requestedTarget = view.target;
    if (target === undefined || requestedTarget.kind !== "tool" || (requestedTarget.capability === null && requestedTarget.method !== null))
      return PASS;
    const { maxPayloadBytes } = target.limits;
    if (maxPayloadBytes !== null && ((call.row.request_size_bytes as number | null | undefined) ?? 0) > maxPayloadBytes)
      return refused(refuse("tool_payload_too_large"));
    if (requestedTarget.method === null && call.method === "GET") return PASS;
    const priced = pricedToolCall(call, scope, target.server);
    return this.passUnpriced(call, view, priced.inRun(this.planBy(call, scope, priced.key, priced.plan)), priced.micros);
  }

  /** Requests about existing tasks are not counted. */
  private decideAgent(call: Call, view: RequestView, scope: GroupScope, { agent }: AgentRoute): Decision | Promise<Decision> {
    if (view.target.kind !== "agent" || !view.target.sends) return PASS;
    const base = this.planBy(call, scope, `agents ${agent.id}`, (...by) => agentPlan(scope, agent, ...by));
    // The cost is unknown, so the minimum is held: a budget that is used up admits nothing more.
    return this.passUnpriced(call, view, agentPlanInRun(base, call), 1);
  }

  private planBy(call: Call, scope: GroupScope, key: string, make: (principal: string, at: number) => CallPlan): CallPlan {
    const at = arrivalOf(call);
    return this.plans.of(scope, `${key} ${principalOf(call)}`, at, () => this.kept(scope, key, make(principalOf(call), at)));
  }

  /** Admits a call that no model serves. */
  private passUnpriced(call: Call, view: RequestView, plan: CallPlan, micros: number): Decision | Promise<Decision> {
    const pass = () => {
      if (plan.scopes.length === 0) return PASS;
      const limited = servedByNoModel(call, view, plan, micros);
      const passed = this.gate.pass(limited, (found) => this.admitted(limited, found));
      return passed instanceof Promise ? passed.then(decisionOf) : decisionOf(passed);
    };
    if (!hasCeilings(call)) return pass();
    return this.runs
      .reachedBy(call)
      .catch((error: unknown) => this.gate.away(call, error))
      .then((reached) => (reached === null ? pass() : refused(reached)));
  }

  private async decideInRun(call: Call, view: RequestView, base: CallPlan): Promise<Decision> {
    const found = await this.runs.planIn(call, base).catch((error: unknown) => this.gate.away(call, error));
    return isRefusal(found) ? refused(found) : this.decideBy(call, view, found);
  }

  private decideBy(call: Call, view: RequestView, plan: CallPlan): Decision | Promise<Decision> {
    const route = routeOf(call);
    const members =
      route?.group == null
        ? []
        : route.members.map(({ model }) => this.planOf(call.scope as GroupScope, model, arrivalOf(call), memberPlan));
    if (plan.scopes.length === 0 && members.every(({ scopes }) => scopes.length === 0)) return PASS;
    const limited = prepareAdmission(call, view, modelOf(call) as ModelEntry, plan, members);
    if (isRefusal(limited)) return refused(limited);
    if (members.length > 0)
      this.routed.set(call, { arriving: limited, reservation: null, attemptsBefore: 0, again: [], coveredAttempts: 0, tries: 0 });
    const passed = plan.scopes.length === 0 ? null : this.gate.pass(limited, (found) => this.admitted(limited, found));
    return passed instanceof Promise ? passed.then(decisionOf) : decisionOf(passed);
  }

  /**
   * Takes the limits on one member of the call's routing group before it is tried, and settles the previous member's. A
   * refusal means that this member may not serve the call, but another may.
   */
  enter(call: Call, model: ModelEntry): Refusal | null | Promise<Refusal | null> {
    const again = this.resume(call, null);
    if (again === null) return this.enterMember(call, model);
    return again instanceof Promise ? again.then((refusal) => refusal ?? this.enterMember(call, model)) : again;
  }

  private enterMember(call: Call, model: ModelEntry): Refusal | null | Promise<Refusal | null> {
    this.suspended.dispatched(call);
    const routed = this.routed.get(call);
    if (routed === undefined) return null;
    this.leaveMember(call, routed, usedByAttempt);
    const covered = this.coverFailed(call, routed);
    if (covered === null) return this.takeMember(call, routed, model);
    return covered instanceof Promise ? covered.then((refusal) => refusal ?? this.takeMember(call, routed, model)) : covered;
  }

  /** The call's hold covers one attempt; before a further one, the usage of failed attempts is held as well. */
  private coverFailed(call: Call, routed: RoutedReservation): Refusal | null | Promise<Refusal | null> {
    if (call.attempts.length === routed.coveredAttempts) return null;
    const demand = demandOfFailedAttempts(call.attempts.slice(routed.coveredAttempts));
    const plan = withoutRateLimits(routed.arriving.plan);
    if (!plan.windows.some((window) => heldOf(window, demand) > 0)) return null;
    const limited: LimitedCall = {
      ...routed.arriving,
      id: `${call.id}/again/${routed.again.length}`,
      view: null,
      plan,
      worst: null,
      demand,
      ahead: { ms: 0, lender: null },
    };
    return this.gate.pass(limited, () => {
      routed.again.push({ id: limited.id, plan, demand });
      routed.coveredAttempts = call.attempts.length;
    });
  }

  private takeMember(call: Call, routed: RoutedReservation, model: ModelEntry): Refusal | null | Promise<Refusal | null> {
    const plan = this.planOf(call.scope as GroupScope, model, arrivalOf(call), memberPlan);
    if (plan.scopes.length === 0) return null;
    const limited: LimitedCall = {
      ...routed.arriving,
      id: `${call.id}/${call.attempts.length}/${routed.tries++}`,
      model,
      plan,
      worst: null,
    };
    return this.gate.pass(limited, ({ spent }) => {
      routed.reservation = { id: limited.id, plan, demand: limited.demand };
      routed.attemptsBefore = call.attempts.length;
      this.adjust(plan, spent, (i) => (plan.windows[i]?.measure === "requests" ? 1 : 0));
    });
  }

  /**
   * Holds what one of the gateway's own calls, made on behalf of `parent`, may use: tokens and cost under the hard limits of its
   * group and all groups above it. `outputTokens`: the maximum its request sets, if any. The call goes ahead of waiting calls;
   * if nothing else is left, `parent` releases its hold until the call has passed. A refusal means that it must not be made.
   */
  enterNested(
    call: Call,
    parent: Call,
    { bodyBytes, outputTokens, waitMs, parentWaits }: NestedBounds,
  ): Refusal | null | Promise<Refusal | null> {
    const { scope } = call;
    const model = modelOf(call);
    if (scope === null || model === null) return null;
    const bounds = runBounds({ scope, ...(parent.delegation === undefined ? {} : { delegation: parent.delegation }) });
    const base = this.planOf(scope, model, arrivalOf(call), nestedPlan);
    // A run of one call is in no usage total; what is counted for it ends with the call that began the count.
    const alone =
      call.row.trace_continuity === "minted" && this.reservations.get(parent)?.plan.scopes.some(({ kind }) => kind === "run") !== true;
    const plan = nestedInRun(base, call.row.root_task_id as string, bounds, alone);
    if (plan.windows.length === 0 && plan.buckets.length === 0) return null;
    const worst = worstCaseOfNested(model, arrivalOf(call), bodyBytes, outputTokens);
    if (plan.needsPrice && highestCost(model, worst) === null) return unpricedRefusal(model);
    const demand = demandOf(model, worst, worst.outputTokens);
    const ahead = { ms: waitMs ?? this.parts.waitMs, lender: parentWaits ? parent : null };
    const limited = ofOwnCall(call, model, plan, { demand, outputTokens: worst.outputTokens, ahead });
    return this.gate.pass(limited, () => {
      this.reservations.set(call, { id: call.id, plan, demand });
    });
  }

  /**
   * Acquires again what the call released for the gateway's own calls; does nothing if it released nothing. With `view`,
   * an open output length is bounded by what is left now.
   */
  resume(call: Call, view: RequestView | null): Refusal | null | Promise<Refusal | null> {
    if (!this.suspended.isSuspended(call)) return null;
    const first = this.arrivals.get(call) as LimitedCall;
    const limited: LimitedCall = {
      ...first,
      id: `${call.id}/held`,
      view,
      plan: withoutRateLimits(first.plan),
      worst: view === null ? null : first.worst,
      ahead: { ms: this.parts.waitMs, lender: null },
    };
    return this.gate.pass(limited, () => {
      this.suspended.hold(call, { id: limited.id, plan: limited.plan, demand: limited.demand });
      boundAnswer(limited);
    });
  }

  /** A member that was entered but never called has used nothing. */
  private leaveMember(call: Call, routed: RoutedReservation, usedBy: (last: Attempt) => Actual): void {
    const { reservation } = routed;
    if (reservation === null) return;
    routed.reservation = null;
    const last = call.attempts.length > routed.attemptsBefore ? call.attempts.at(-1) : undefined;
    void this.settleHeld(call, reservation, last === undefined ? NOTHING_USED : usedBy(last));
  }

  private planOf(scope: GroupScope, model: ModelEntry, at: number, make: typeof planFor): CallPlan {
    const key = make === planFor ? model.id : `${make.name} ${model.id}`;
    return this.plans.of(scope, key, at, () => this.kept(scope, key, make(scope, model, at)));
  }

  /** Windows are the same for all users, so one plan per group and target is enough to reconcile them. */
  private kept(scope: GroupScope, key: string, plan: CallPlan): CallPlan {
    this.warming.keep(`${scope.groupId} ${key}`, plan, scope.tenant);
    return plan;
  }

  private admitted(limited: LimitedCall, found: Admitted): void {
    const { call, plan, demand, worst } = limited;
    const reservation: Reservation = { id: call.id, plan, demand };
    this.reservations.set(call, reservation);
    if (worst !== null) {
      this.arrivals.set(call, limited);
      this.suspended.hold(call, reservation);
    }
    boundAnswer(limited);
    setConsumptionHeaders(call, plan, found);
    this.adjust(plan, found.spent, (i) => (plan.windows[i]?.measure === "requests" ? 1 : 0));
  }

  /** Releases what a call holds; usage is counted if its answer is in. False if the call still needs its hold. */
  private grantPlace(call: Call): boolean | Promise<boolean> {
    const used = call.row.llm_total_tokens == null ? null : usedByCall(call);
    const member = this.routed.get(call)?.reservation ?? null;
    const ofMember =
      used === null || member === null ? undefined : this.parts.counters.part(member, usedByLastAttempt(used, call.attempts));
    const lent = this.suspended.suspend(call, used);
    return ofMember instanceof Promise ? Promise.all([lent, ofMember]).then(([given]) => given) : lent;
  }

  /**
   * Replaces a call's hold with its usage as recorded on its row. Called once for every call that ends, before its row
   * is sealed; does nothing for a call that holds nothing. Null if done synchronously; otherwise a promise that never
   * rejects and does not wait for unreachable counters.
   */
  settle(call: Call): Promise<void> | null {
    const reservation = this.reservations.get(call);
    const routed = this.routed.get(call);
    const actual = usedByCall(call);
    if (routed !== undefined) this.leaveMember(call, routed, () => usedByLastAttempt(actual, call.attempts));
    const tools = this.toolCallCaps.settle(call, (held) => this.settleHeld(call, held, { ...NOTHING_USED, requests: 1 }));
    if (reservation === undefined) return joinPending([...tools, this.left.settled(call, actual)]);
    this.reservations.delete(call);
    this.learnCount(call, actual.input);
    const again = this.suspended.reacquired(call);
    this.suspended.ended(call);
    const covered = routed?.again.splice(0) ?? [];
    if (again === null && covered.length === 0) return joinPending([...tools, this.settleHeld(call, reservation, actual)]);
    // The hold acquired again gets the usage; the original one only keeps its request counted.
    const first =
      again === null
        ? [this.settleHeld(call, reservation, actual)]
        : [this.settleHeld(call, again, actual), this.settleHeld(call, reservation, { ...NOTHING_USED, requests: actual.requests })];
    return joinPending([...tools, ...first, ...covered.map((held) => this.settleHeld(call, held, NOTHING_USED))]);
  }

  /** Learns the actual input of such a call, except after several attempts, whose shares cannot be told apart. */
  private learnCount(call: Call, inputTokens: number): void {
    const arrived = this.arrivals.get(call);
    if (arrived !== undefined && call.attempts.length <= 1) this.counts.learnCount(call, arrived, inputTokens);
  }

  private settleHeld(call: Call, reservation: Reservation, actual: Actual): Promise<void> | null {
    const settled = this.parts.counters.settle(reservation, actual);
    if (settled instanceof Promise) this.settled.set(call, [...(this.settled.get(call) ?? []), reservation]);
    if (!(settled instanceof Promise)) {
      this.afterSettling(reservation, actual, settled);
      return null;
    }
    const work: Promise<void> = settled
      .then((spent) => this.afterSettling(reservation, actual, spent))
      .catch((error: Error) => this.parts.log.warn("limits_not_settled", { call_id: call.id, error }))
      .finally(() => this.settling.delete(work));
    this.settling.add(work);
    return work;
  }

  /** Confirms settled reservations, now that the call's row is sealed. */
  sealed(call: Call): void {
    const held = this.settled.get(call);
    if (held !== undefined) for (const reservation of held) this.parts.counters.sealed(reservation);
  }

  /** Corrects what dead processes counted but did not record. */
  resolve(): Promise<void> {
    return this.parts.counters.resolve((tenantId, ids) => this.parts.truth.calls(tenantId, ids));
  }

  /** Reconciles the counters with recorded usage, of other processes or of this one before a restart. */
  reconcile(): Promise<void> {
    return this.warming.reconcile(this.parts.clock.micros() / 1000);
  }

  /** Resolves when all ended calls are settled. */
  async close(): Promise<void> {
    await Promise.allSettled(this.settling);
    await this.parts.counters.close();
  }

  private afterSettling(reservation: Reservation, actual: Actual, spent: readonly number[]): void {
    const { plan } = reservation;
    this.gate.released(reservation);
    if (spent.length > 0) this.adjust(plan, spent, (i) => usedOf((plan.windows[i] as Plan["windows"][number]).measure, actual));
  }

  private adjust(plan: Plan, spent: readonly number[], change: (index: number) => number): void {
    for (let i = 0; i < plan.windows.length; i++) if (change(i) !== 0) this.alerts.used(plan, i, spent[i] as number);
  }
}
