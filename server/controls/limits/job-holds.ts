import type { GroupScope, ModelEntry } from "../../directory/snapshot.ts";
import { arrivalOf, type Call } from "../../road/call.ts";
import type { BudgetedJob, JobBudgets } from "../../road/call-limits.ts";
import { type Actual, type Counters, NOTHING_USED, type Reservation } from "./counters/counters.ts";
import { heldOf } from "./counters/window-amounts.ts";
import { modelOf } from "../../road/target.ts";
import { type CallPlan, nestedInRun, nestedPlan } from "./plans/plan.ts";
import { runBounds } from "./run-bounds.ts";
import type { Warming } from "./counters/warming.ts";

interface JobHoldParts {
  readonly counters: Counters;
  readonly warming: Warming;
  readonly planOf: (scope: GroupScope, model: ModelEntry, at: number, make: typeof nestedPlan) => CallPlan;
  /** For jobs that no model serves. */
  readonly budgetsOf: (scope: GroupScope, at: number) => CallPlan;
  /** The reservations of a call. */
  readonly reservationsOf: (call: Call) => readonly Reservation[];
  readonly released: (reservation: Reservation) => void;
}

/** Cold windows are loaded once; if they are still cold afterwards, something is wrong with the counters. */
const TRIES = 3;

/** What jobs hold in budgets, from the call that started them until their cost is known. Never refuses: the job is already running. */
export class JobHolds implements JobBudgets {
  private readonly parts: JobHoldParts;
  private readonly held = new Map<string, { readonly reservation: Reservation; readonly groupId: string }>();
  /** Number of jobs that hold part of a window, by its key. */
  private readonly windows = new Map<string, number>();

  constructor(parts: JobHoldParts) {
    this.parts = parts;
  }

  async takeOver(id: string, call: Call): Promise<{ readonly micros: number; readonly tokens: number }> {
    const demands = this.parts.reservationsOf(call).map(({ demand }) => demand);
    const micros = Math.max(0, ...demands.map((demand) => demand.micros));
    const tokens = Math.max(0, ...demands.map((demand) => demand.tokens));
    const model = modelOf(call);
    if (call.scope !== null && model !== null && micros + tokens > 0) {
      const rootTaskId = call.row.root_task_id ?? null;
      await this.hold(id, { scope: call.scope, model, rootTaskId, micros, tokens, at: arrivalOf(call) }, call);
    }
    return { micros, tokens };
  }

  async hold(id: string, job: BudgetedJob, from: Call | null): Promise<void> {
    const { planOf, budgetsOf, reservationsOf } = this.parts;
    const { micros, tokens, scope, model, at } = job;
    const base = model === null ? budgetsOf(scope, at) : planOf(scope, model, at, nestedPlan);
    const plan = nestedInRun(base, job.rootTaskId, runBounds(from ?? job));
    if (plan.windows.length === 0 && plan.buckets.length === 0) return;
    const ofCall = from === null ? [] : reservationsOf(from);
    const reservation = { id, plan, demand: { tokens, micros, toolCalls: 0 } };
    const held = await this.admit(reservation, job, ofCall);
    if (!held) await this.admit({ ...reservation, demand: { tokens: 0, micros: 0, toolCalls: 0 } }, job, ofCall);
  }

  /** Replaces what the job's call holds. False if there is no room. */
  private async admit(reservation: Reservation, { scope, at }: BudgetedJob, ofCall: readonly Reservation[]): Promise<boolean> {
    const { counters, warming } = this.parts;
    const { id, plan } = reservation;
    for (let tries = 0; tries < TRIES; tries++) {
      const found = counters.transfer(ofCall, reservation);
      const admission = found instanceof Promise ? await found : found;
      if (admission.kind === "admitted") {
        this.held.set(id, { reservation, groupId: scope.groupId });
        this.count(reservation, 1);
        return true;
      }
      if (admission.kind !== "cold") return false;
      await warming.warm(scope.tenant, plan, admission.windows, at);
    }
    return false;
  }

  holdsOf(key: string): boolean {
    return this.windows.has(key);
  }

  private count({ plan, demand }: Reservation, change: 1 | -1): void {
    for (const window of plan.windows) {
      if (heldOf(window, demand) === 0) continue;
      const left = (this.windows.get(window.key) ?? 0) + change;
      if (left <= 0) this.windows.delete(window.key);
      else this.windows.set(window.key, left);
    }
  }

  async settle(id: string, micros: number, { input, output } = { input: 0, output: 0 }): Promise<void> {
    const held = this.held.get(id);
    if (held === undefined) return;
    this.held.delete(id);
    this.count(held.reservation, -1);
    const kept = await this.keptAfterMove(held.reservation, held.groupId);
    if (kept !== held.reservation) await this.end(held.reservation, NOTHING_USED);
    await this.end(kept, { requests: 1, input, output, micros });
    this.parts.released(held.reservation);
  }

  /** Drops the windows of groups that the job's group was moved out of: the cost counts where the group is now. */
  private async keptAfterMove(reservation: Reservation, groupId: string): Promise<Reservation> {
    const { plan, demand } = reservation;
    const policies = this.parts.warming.policiesOf(plan.tenantId);
    if (policies?.node(groupId) === undefined) return reservation;
    const windows = plan.windows.filter((window) => {
      const scope = plan.scopes[window.scope];
      return scope === undefined || scope.kind === "run" || policies.isAtOrBelow(groupId, scope.groupId);
    });
    if (windows.length === plan.windows.length) return reservation;
    const kept = { id: `${reservation.id}/moved`, plan: { ...plan, windows }, demand };
    try {
      const found = this.parts.counters.transfer([reservation], kept);
      const admission = found instanceof Promise ? await found : found;
      return admission.kind === "admitted" ? kept : reservation;
    } catch {
      return reservation;
    }
  }

  private async end(reservation: Reservation, actual: Actual): Promise<void> {
    const settled = this.parts.counters.settle(reservation, actual);
    if (settled instanceof Promise) await settled;
    this.parts.counters.sealed(reservation);
  }
}
