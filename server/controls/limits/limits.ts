import type { AlertWriter } from "../../directory/limits/alert-writer.ts";
import { BoundedMap } from "../../directory/bounded-map.ts";
import type { UsageTruth } from "../../directory/limits/usage-truth.ts";
import type { GroupScope, ModelEntry } from "../../directory/snapshot.ts";
import type { Clock } from "../../kernel/clock.ts";
import { reasonOf, type Refusal, refuse, isRefusal } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/log.ts";
import { arrivalOf, type Attempt, type Call } from "../../road/call.ts";
import type { RequestControl } from "../../road/control.ts";
import { type Decision, PASS, refused } from "../../road/decision.ts";
import { governanceOf } from "../../road/parameter-governance.ts";
import type { RequestView } from "../../road/view.ts";
import { noteClamped } from "../../road/record/clamped.ts";
import { attempted, demandOfFailed, ofLastAttempt, recorded } from "./actual-use.ts";
import type { Arriving, Routed } from "./arriving.ts";
import { type Actual, type Admission, type Counters, type Plan, type Reservation, heldOf, NOTHING_USED, usedOf } from "./counters.ts";
import { announce, Crossings } from "./crossings.ts";
import { denialRefusal, quotaRefusal, rateOf, unpricedRefusal } from "./limit-refusals.ts";
import { Lending } from "./lending.ts";
import { KeptPlans } from "./kept-plans.ts";
import { type CallPlan, memberPlan, nestedPlan, planFor, unpaced, withRun } from "./plan.ts";
import { principalOf } from "../../road/principal.ts";
import { toolPlan } from "./tool-plan.ts";
import { newToolResults } from "../../road/tool-results.ts";
import { RunCeilings } from "./run-ceilings.ts";
import { Warming } from "./warming.ts";
import { WaitingLines } from "./waiting-lines.ts";
import { affordable, dearest, demandOf, withoutOutput, worstCaseOf, worstCaseOfNested } from "./worst-case.ts";

export interface LimitsParts {
  readonly counters: Counters;
  readonly truth: UsageTruth;
  readonly alerts: Pick<AlertWriter, "raise">;
  readonly clock: Clock;
  readonly log: Log;
  /** What happens to rate limits when the counters cannot be reached; quotas and hard budgets always refuse then. */
  readonly whenAway: "closed" | "open";
  /** Longest wait of a call for calls in flight to be settled. */
  readonly waitMs: number;
}

/** What bounds a call of the gateway's own. */
export interface NestedBounds {
  readonly bodyBytes: number;
  readonly outputTokens: number | null;
  /** Longest wait for calls in flight; null: as long as a caller's call. */
  readonly waitMs: number | null;
  /** Whether the call it is made for waits for it. */
  readonly lends: boolean;
}

/**
 * The limits of the caller's group and of every group above it, and the ceilings of the model and the run, checked and
 * taken in one step. What a call holds is on `call.reservation` until `settle` puts in its place what was really used.
 * Of a call to a routing group the member is not known then: what is set for a member alone is taken by `enter`.
 */
export class Limits implements RequestControl {
  readonly name = "limits";
  private readonly plans = new KeptPlans();
  private readonly routed = new WeakMap<Call, Routed>();
  /** Of the calls that hold something, how they came to the gate. */
  private readonly arrivals = new WeakMap<Call, Arriving>();
  private readonly lending: Lending;
  /** What was settled elsewhere, to be confirmed once the call's row is sealed. */
  private readonly settled = new WeakMap<Call, readonly Reservation[]>();
  private readonly lines: WaitingLines;
  private readonly warming: Warming;
  private readonly crossings: Crossings;
  private readonly runs: RunCeilings;
  private readonly parts: LimitsParts;
  private readonly settling = new Set<Promise<unknown>>();

  constructor(parts: LimitsParts) {
    this.parts = parts;
    this.lines = new WaitingLines(parts.counters.lookAgainMs);
    this.lending = new Lending(parts.counters);
    this.warming = new Warming(parts.counters, parts.truth);
    this.crossings = new Crossings(parts.alerts);
    this.runs = new RunCeilings(parts.truth, parts.clock, new BoundedMap(100_000));
  }

  decide(call: Call, view: RequestView): Decision | Promise<Decision> {
    const { scope, model } = call;
    if (scope === null) return PASS;
    if (call.tools !== null) return this.decideTool(call, view, scope);
    if (model === null) return PASS;
    const base = this.planOf(scope, model, arrivalOf(call), planFor);
    const ceilings = scope.tenant.policies.effective(scope.groupId, "run_ceilings");
    if (ceilings.size > 0) return this.decideInRun(call, view, base);
    return this.decideBy(call, view, base);
  }

  /** A call that names nothing of the server (a list, a handshake) is not counted. */
  private decideTool(call: Call, view: RequestView, scope: GroupScope): Decision | Promise<Decision> {
    const target = call.tools?.targets[0];
    if (target === undefined || view.tool === null || (view.tool.capability === null && view.tool.method !== null)) return PASS;
    const { maxPayloadBytes } = target.limits;
    if (maxPayloadBytes !== null && ((call.row.request_size_bytes as number | null | undefined) ?? 0) > maxPayloadBytes)
      return refused(refuse("tool_payload_too_large"));
    if (view.tool.method === null && call.request.method === "GET") return PASS;
    const serverId = target.server.id;
    const principal = principalOf(call);
    const at = arrivalOf(call);
    const plan = this.plans.of(scope, `tools ${serverId} ${principal}`, at, () => {
      const made = toolPlan(scope, target.server, principal, at);
      // Its windows are everybody's: one plan of a group and server stands for those of all its users.
      this.warming.keep(`${scope.groupId} tools ${serverId}`, made, scope.tenant);
      return made;
    });
    const pass = () => {
      if (plan.scopes.length === 0) return PASS;
      const arriving: Arriving = {
        id: call.id,
        call,
        view,
        model: null,
        plan,
        worst: null,
        toolCalls: 0,
        outputTokens: 0,
        demand: { tokens: 0, micros: 0, toolCalls: 0 },
        ahead: null,
      };
      const passed = this.pass(arriving, (spent) => this.admitted(arriving, spent));
      return passed instanceof Promise ? passed.then(decision) : decision(passed);
    };
    if (scope.tenant.policies.effective(scope.groupId, "run_ceilings").size === 0) return pass();
    return this.runs
      .reachedBy(call)
      .catch((error: unknown) => this.away(call, error))
      .then((reached) => (reached === null ? pass() : refused(reached)));
  }

  private async decideInRun(call: Call, view: RequestView, base: CallPlan): Promise<Decision> {
    const found = await this.runs.planIn(call, base).catch((error: unknown) => this.away(call, error));
    return isRefusal(found) ? refused(found) : this.decideBy(call, view, found);
  }

  private decideBy(call: Call, view: RequestView, plan: CallPlan): Decision | Promise<Decision> {
    const members =
      call.route?.group == null
        ? []
        : call.route.members.map(({ model }) => this.planOf(call.scope as GroupScope, model, arrivalOf(call), memberPlan));
    if (plan.scopes.length === 0 && members.every(({ scopes }) => scopes.length === 0)) return PASS;
    const arriving = this.arrive(call, view, call.model as ModelEntry, plan, members);
    if (isRefusal(arriving)) return refused(arriving);
    if (members.length > 0)
      this.routed.set(call, { arriving, reservation: null, attemptsBefore: 0, again: [], coveredAttempts: 0, tries: 0 });
    const passed = plan.scopes.length === 0 ? null : this.pass(arriving, (spent) => this.admitted(arriving, spent));
    return passed instanceof Promise ? passed.then(decision) : decision(passed);
  }

  /**
   * Takes what is set for one member of the call's routing group, before the member is tried; what the member before it
   * held is settled. A refusal means that this member may not serve the call; another may.
   */
  enter(call: Call, model: ModelEntry): Refusal | null | Promise<Refusal | null> {
    const again = this.resume(call, null);
    if (again === null) return this.enterMember(call, model);
    return again instanceof Promise ? again.then((refusal) => refusal ?? this.enterMember(call, model)) : again;
  }

  private enterMember(call: Call, model: ModelEntry): Refusal | null | Promise<Refusal | null> {
    this.lending.leaves(call);
    const routed = this.routed.get(call);
    if (routed === undefined) return null;
    this.leaveMember(call, routed, attempted);
    const covered = this.coverFailed(call, routed);
    if (covered === null) return this.takeMember(call, routed, model);
    return covered instanceof Promise ? covered.then((refusal) => refusal ?? this.takeMember(call, routed, model)) : covered;
  }

  /** What a call holds covers one attempt: for another, what those before it used is held as well. */
  private coverFailed(call: Call, routed: Routed): Refusal | null | Promise<Refusal | null> {
    if (call.attempts.length === routed.coveredAttempts) return null;
    const demand = demandOfFailed(call.attempts.slice(routed.coveredAttempts));
    const plan = unpaced(routed.arriving.plan);
    if (!plan.windows.some((window) => heldOf(window, demand) > 0)) return null;
    const arriving: Arriving = {
      ...routed.arriving,
      id: `${call.id}/again/${routed.again.length}`,
      view: null,
      plan,
      worst: null,
      demand,
      ahead: { ms: 0, lender: null },
    };
    return this.pass(arriving, () => {
      routed.again.push({ id: arriving.id, plan, demand });
      routed.coveredAttempts = call.attempts.length;
    });
  }

  private takeMember(call: Call, routed: Routed, model: ModelEntry): Refusal | null | Promise<Refusal | null> {
    const plan = this.planOf(call.scope as GroupScope, model, arrivalOf(call), memberPlan);
    if (plan.scopes.length === 0) return null;
    const arriving: Arriving = { ...routed.arriving, id: `${call.id}/${call.attempts.length}/${routed.tries++}`, model, plan, worst: null };
    return this.pass(arriving, (spent) => {
      routed.reservation = { id: arriving.id, plan, demand: arriving.demand };
      routed.attemptsBefore = call.attempts.length;
      this.tell(plan, spent, (i) => (plan.windows[i]?.measure === "requests" ? 1 : 0));
    });
  }

  /**
   * Takes what a call of the gateway's own, made on behalf of `parent`, may come to: tokens and dollars, of its group and
   * every group above, where they may not be passed. `outputTokens`: what its request asks for at most, where it says.
   * It goes before callers' calls that wait, and where nothing else is left `parent` gives up what it holds until it has
   * passed. A refusal means that it must not be made.
   */
  enterNested(
    call: Call,
    parent: Call,
    { bodyBytes, outputTokens, waitMs, lends }: NestedBounds,
  ): Refusal | null | Promise<Refusal | null> {
    const { scope, model } = call;
    if (scope === null || model === null) return null;
    const ceilings = scope.tenant.policies.effective(scope.groupId, "run_ceilings");
    const base = this.planOf(scope, model, arrivalOf(call), nestedPlan);
    // A run of one call is in nobody's totals; what is counted of it ends with the call that began to count.
    const alone = call.row.trace_continuity === "minted" && parent.reservation?.plan.scopes.some(({ kind }) => kind === "run") !== true;
    const plan =
      ceilings.size === 0
        ? base
        : unpaced(withRun(base, call.row.root_task_id as string, { id: scope.groupId, name: scope.groupName }, ceilings, alone));
    if (plan.windows.length === 0 && plan.buckets.length === 0) return null;
    const worst = worstCaseOfNested(model, arrivalOf(call), bodyBytes, outputTokens);
    if (plan.needsPrice && dearest(model, worst) === null) return unpricedRefusal(model);
    const demand = demandOf(model, worst, worst.outputTokens, 0);
    const arriving: Arriving = {
      id: call.id,
      call,
      view: null,
      model,
      plan,
      worst: null,
      toolCalls: 0,
      outputTokens: worst.outputTokens,
      demand,
      ahead: { ms: waitMs ?? this.parts.waitMs, lender: lends ? parent : null },
    };
    return this.pass(arriving, () => {
      call.reservation = { id: call.id, plan, demand };
    });
  }

  /**
   * Takes again what the call gave up for calls of the gateway's own; does nothing for one that gave up nothing. With its
   * view, an answer whose length the caller left open is given what is left now.
   */
  resume(call: Call, view: RequestView | null): Refusal | null | Promise<Refusal | null> {
    if (!this.lending.hasLent(call)) return null;
    const first = this.arrivals.get(call) as Arriving;
    const arriving: Arriving = {
      ...first,
      id: `${call.id}/held`,
      view,
      plan: unpaced(first.plan),
      worst: view === null ? null : first.worst,
      ahead: { ms: this.parts.waitMs, lender: null },
    };
    return this.pass(arriving, () => {
      this.lending.holds(call, { id: arriving.id, plan: arriving.plan, demand: arriving.demand });
      this.bound(arriving);
    });
  }

  /** A member that was entered and then not asked has used nothing. */
  private leaveMember(call: Call, routed: Routed, usedBy: (last: Attempt) => Actual): void {
    const { reservation } = routed;
    if (reservation === null) return;
    routed.reservation = null;
    const last = call.attempts.length > routed.attemptsBefore ? call.attempts.at(-1) : undefined;
    void this.settleHeld(call, reservation, last === undefined ? NOTHING_USED : usedBy(last));
  }

  /** Null once it has passed; what it then holds was given to `held`. */
  private pass(arriving: Arriving, held: (spent: readonly number[]) => void): Refusal | null | Promise<Refusal | null> {
    const key = this.lines.empty || arriving.ahead !== null ? null : this.lineOf(arriving);
    const outcome = this.tryOnce(arriving, key !== null);
    // The usual way: everything is in memory, nobody waits, nothing is awaited.
    if (key === null && !(outcome instanceof Promise) && outcome.kind === "admitted") {
      held(outcome.spent);
      return null;
    }
    return this.passSlowly(arriving, held, outcome, key);
  }

  private planOf(scope: GroupScope, model: ModelEntry, at: number, make: typeof planFor): CallPlan {
    const key = make === planFor ? model.id : `${make === memberPlan ? "member" : "nested"} ${model.id}`;
    return this.plans.of(scope, key, at, () => {
      const plan = make(scope, model, at);
      this.warming.keep(`${scope.groupId} ${key}`, plan, scope.tenant);
      return plan;
    });
  }

  private arrive(call: Call, view: RequestView, model: ModelEntry, plan: CallPlan, members: readonly CallPlan[]): Arriving | Refusal {
    const any = (has: (one: CallPlan) => boolean) => has(plan) || members.some(has);
    const toolCalls = any(({ windows }) => windows.some(({ measure }) => measure === "tool_calls")) ? newToolResults(view) : 0;
    // What a cap counts stands on the row: the counters of the next process begin with it.
    if (toolCalls > 0) call.row.custom_metadata = { ...(call.row.custom_metadata as object | null | undefined), tool_results: toolCalls };
    const counting = call.audit.proxySubtype.endsWith("count_tokens");
    if (counting || !any(({ needsBound }) => needsBound))
      return {
        id: call.id,
        call,
        view,
        model,
        plan,
        worst: null,
        toolCalls,
        outputTokens: 0,
        demand: { tokens: 0, micros: 0, toolCalls },
        ahead: null,
      };
    const rules = governanceOf(call, model);
    const embeds = view.model?.modes.includes("embedding") === true;
    const bounded = worstCaseOf(model, view, {
      at: arrivalOf(call),
      bodyBytes: (call.row.request_size_bytes as number | undefined) ?? 0,
      addedBytes: embeds ? 0 : rules.addedBytes + Buffer.byteLength(model.systemPrompt ?? ""),
      outputCeiling: rules.maxOutputTokens,
    });
    const worst = embeds ? withoutOutput(bounded) : bounded;
    if (any(({ needsPrice }) => needsPrice) && dearest(model, worst) === null)
      return unpricedRefusal(model, dearest(model, { ...worst, searches: 0 }) === null ? undefined : "a search");
    return {
      id: call.id,
      call,
      view,
      model,
      plan,
      worst,
      toolCalls,
      outputTokens: worst.outputTokens,
      demand: demandOf(model, worst, worst.outputTokens, toolCalls),
      ahead: null,
    };
  }

  private tryOnce({ id, plan, demand }: Arriving, probe: boolean): Admission | Promise<Admission> {
    return this.parts.counters.admit(id, plan, demand, probe);
  }

  /** A line of calls that wait for one of this call's windows, which it must not overtake. */
  private lineOf({ plan, demand }: Arriving): string | null {
    return plan.windows.find((window) => heldOf(window, demand) > 0 && this.lines.has(window.key))?.key ?? null;
  }

  private async passSlowly(
    arriving: Arriving,
    held: (spent: readonly number[]) => void,
    first: Admission | Promise<Admission>,
    behind: string | null,
  ): Promise<Refusal | null> {
    const { call, plan, ahead } = arriving;
    const until = performance.now() + (ahead?.ms ?? this.parts.waitMs);
    let lender = ahead?.lender ?? null;
    let ticket: ReturnType<WaitingLines["join"]> | null = null;
    let probed = behind !== null;
    let pending = first;
    try {
      for (;;) {
        const outcome = pending instanceof Promise ? await pending : pending;
        if (outcome.kind === "admitted" && !probed) {
          held(outcome.spent);
          return null;
        }
        if (outcome.kind === "cold") {
          await this.warming.warm((call.scope as GroupScope).tenant, plan, outcome.windows, arrivalOf(call));
        } else if (outcome.kind === "denied") {
          if (!this.shrink(arriving, outcome)) return this.denied(arriving, outcome);
        } else if (lender !== null) {
          const lent = lender;
          lender = null;
          const given = this.lend(lent);
          if (given instanceof Promise ? await given : given) {
            // Before anybody who waits hears of it.
            pending = this.tryOnce(arriving, probed);
            if (lent.reservation !== null) this.released(lent.reservation);
            continue;
          }
        } else {
          const key = outcome.kind === "held" ? outcome.key : (behind as string);
          if (this.lines.full) return this.heldRefusal(arriving, key);
          const joined = ticket === null || ticket.key !== key;
          if (joined) {
            if (ticket !== null) this.lines.leave(ticket);
            ticket = this.lines.join(key, ahead !== null);
          }
          const turn = this.lines.turn(ticket as NonNullable<typeof ticket>, call.abort.signal, until - performance.now());
          // What was released before there was a line was not heard of: the first looks once more at once.
          if (joined) this.lines.released(key);
          if ((await turn) === "gone") return this.heldRefusal(arriving, key);
          probed = false;
        }
        pending = this.tryOnce(arriving, probed);
      }
    } catch (error) {
      return this.away(call, error, plan);
    } finally {
      if (ticket !== null) this.lines.leave(ticket);
    }
  }

  /** An answer whose length the caller left open is given as much as the quota still covers, if that is worth a call. */
  private shrink(arriving: Arriving, { denial }: Admission & { kind: "denied" }): boolean {
    const { worst, plan, model, toolCalls } = arriving;
    if (worst === null || model === null || !worst.outputIsOurs || denial.by !== "window") return false;
    const window = plan.windows[denial.index] as Plan["windows"][number];
    if (window.measure !== "tokens" && window.measure !== "micros") return false;
    const output = affordable(model, worst, window.measure, window.limit - denial.spent);
    if (output === null || output >= arriving.outputTokens) return false;
    arriving.outputTokens = output;
    arriving.demand = demandOf(model, worst, output, toolCalls);
    return true;
  }

  private admitted(arriving: Arriving, spent: readonly number[]): void {
    const { call, plan, demand, worst } = arriving;
    call.reservation = { id: call.id, plan, demand };
    if (worst !== null) {
      this.arrivals.set(call, arriving);
      this.lending.holds(call, call.reservation);
    }
    this.bound(arriving);
    announce(call, plan, spent);
    this.tell(plan, spent, (i) => (plan.windows[i]?.measure === "requests" ? 1 : 0));
  }

  /** Writes the longest answer that is held for into a request that leaves it open. */
  private bound({ call, worst, view, outputTokens }: Arriving): void {
    if (worst === null || view === null || (!worst.outputMustBeSet && outputTokens >= worst.outputTokens)) return;
    view.maxTokens = Math.max(1, Math.floor(outputTokens / view.candidates));
    if (outputTokens < worst.outputTokens) noteClamped(call, "max_tokens");
  }

  /** Gives up what a call holds, for what its answer used if that is in. False: it needs what it holds. */
  private lend(call: Call): boolean | Promise<boolean> {
    const used = call.row.llm_total_tokens == null ? null : recorded(call);
    const member = this.routed.get(call)?.reservation ?? null;
    const ofMember = used === null || member === null ? undefined : this.parts.counters.part(member, ofLastAttempt(used, call.attempts));
    const lent = this.lending.lend(call, used);
    return ofMember instanceof Promise ? Promise.all([lent, ofMember]).then(([given]) => given) : lent;
  }

  private released({ plan, demand }: Reservation): void {
    if (!this.lines.empty) for (const window of plan.windows) if (heldOf(window, demand) > 0) this.lines.released(window.key);
  }

  private denied({ call, plan }: Arriving, { denial }: Admission & { kind: "denied" }): Refusal {
    const now = this.now();
    if (denial.by === "window") {
      const window = plan.windows[denial.index] as Plan["windows"][number];
      this.crossings.refused(plan, denial.index, denial.spent);
      call.row.pre_action_state = {
        kind: "usage_limit",
        limit_type: window.limitType,
        group_id: (plan.scopes[window.scope] as Plan["scopes"][number]).groupId,
        current: String(denial.spent),
        limit: String(window.limit),
      };
    } else call.row.pre_action_state = { kind: "rate_limit", by: denial.by, ...rateOf(plan, denial) };
    return denialRefusal(plan, denial, now);
  }

  private heldRefusal({ call, plan }: Arriving, key: string): Refusal {
    const index = Math.max(
      0,
      plan.windows.findIndex((window) => window.key === key),
    );
    const { limitType, scope, limit } = plan.windows[index] as Plan["windows"][number];
    call.row.pre_action_state = {
      kind: "usage_limit",
      limit_type: limitType,
      group_id: (plan.scopes[scope] as Plan["scopes"][number]).groupId,
      held: true,
      limit: String(limit),
    };
    return quotaRefusal(plan, index, (plan.windows[index] as Plan["windows"][number]).limit, this.now(), true);
  }

  /** The counters or the totals behind them cannot be reached. Null: the call goes uncounted, as the setting allows. */
  private away(call: Call, error: unknown): Refusal;
  private away(call: Call, error: unknown, plan: Plan): Refusal | null;
  private away(call: Call, error: unknown, plan?: Plan): Refusal | null {
    this.parts.log.warn("limits_unavailable", { call_id: call.id, error: error as Error });
    const open = this.parts.whenAway === "open" && plan !== undefined && !plan.windows.some(({ hard }) => hard);
    return open ? null : refuse("limits_unavailable", undefined, { headers: { "retry-after": "1" }, reason: reasonOf(error) });
  }

  /**
   * Puts what a call used, as its row tells it, in the place of what it held. Called once for every call that ends,
   * however it ends, before its row is sealed; does nothing for a call that holds nothing. Null when it is done; what
   * it gives else never rejects, and does not wait for counters that are away.
   */
  settle(call: Call): Promise<void> | null {
    const { reservation } = call;
    const routed = this.routed.get(call);
    const actual = recorded(call);
    if (routed !== undefined) this.leaveMember(call, routed, () => ofLastAttempt(actual, call.attempts));
    if (reservation === null) return null;
    call.reservation = null;
    const again = this.lending.takenAgain(call);
    this.lending.ended(call);
    const covered = routed?.again.splice(0) ?? [];
    if (again === null && covered.length === 0) return this.settleHeld(call, reservation, actual);
    // What was taken again stands for what the call used, what it held at first for its being there.
    const first =
      again === null
        ? [this.settleHeld(call, reservation, actual)]
        : [this.settleHeld(call, again, actual), this.settleHeld(call, reservation, { ...NOTHING_USED, requests: actual.requests })];
    const all = [...first, ...covered.map((held) => this.settleHeld(call, held, NOTHING_USED))];
    return all.every((one) => one === null) ? null : Promise.all(all).then(() => undefined);
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

  /** The row of a settled call is sealed. */
  sealed(call: Call): void {
    const held = this.settled.get(call);
    if (held !== undefined) for (const reservation of held) this.parts.counters.sealed(reservation);
  }

  /** Puts right what processes that died counted and did not record. */
  resolve(): Promise<void> {
    return this.parts.counters.resolve((tenantId, ids) => this.parts.truth.calls(tenantId, ids));
  }

  /** Holds counters to the truth: what other processes, or this one before a restart, used. */
  reconcile(): Promise<void> {
    return this.warming.reconcile(this.now());
  }

  /** Resolves when everything that ended is settled. */
  async close(): Promise<void> {
    await Promise.allSettled(this.settling);
    await this.parts.counters.close();
  }

  private afterSettling(reservation: Reservation, actual: Actual, spent: readonly number[]): void {
    const { plan } = reservation;
    this.released(reservation);
    if (spent.length > 0) this.tell(plan, spent, (i) => usedOf((plan.windows[i] as Plan["windows"][number]).measure, actual));
  }

  private tell(plan: Plan, spent: readonly number[], change: (index: number) => number): void {
    for (let i = 0; i < plan.windows.length; i++) if (change(i) !== 0) this.crossings.used(plan, i, spent[i] as number);
  }

  private now(): number {
    return this.parts.clock.micros() / 1000;
  }
}

const decision = (refusal: Refusal | null): Decision => (refusal === null ? PASS : refused(refusal));
