import type { GroupScope, ModelEntry } from "../../directory/snapshot.ts";
import { arrivalOf, type Call } from "../../road/call.ts";
import type { BudgetedJob, JobBudgets } from "../../road/call-limits.ts";
import type { Counters, Reservation } from "./counters.ts";
import { heldOf } from "./reckoning.ts";
import { modelOf } from "../../road/target.ts";
import { type CallPlan, nestedInRun, nestedPlan } from "./plan.ts";
import { runBounds } from "./run-bounds.ts";
import type { Warming } from "./warming.ts";

interface JobHoldParts {
  readonly counters: Counters;
  readonly warming: Warming;
  readonly planOf: (scope: GroupScope, model: ModelEntry, at: number, make: typeof nestedPlan) => CallPlan;
  /** What calls hold. */
  readonly reservationsOf: (call: Call) => readonly Reservation[];
  readonly released: (reservation: Reservation) => void;
}

/** Windows that nobody counted yet are brought up once; a second time something is wrong with the counters. */
const TRIES = 3;

/**
 * What jobs hold of budgets from the call that began them until it is known what they cost. A hold is never a reason to
 * refuse anything: its job is under way.
 */
export class JobHolds implements JobBudgets {
  private readonly parts: JobHoldParts;
  private readonly held = new Map<string, Reservation>();
  /** How many of them hold some of a window, by its key. */
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
    const { planOf, reservationsOf } = this.parts;
    const { micros, tokens } = job;
    const plan = nestedInRun(planOf(job.scope, job.model, job.at, nestedPlan), job.rootTaskId, runBounds(from ?? job));
    if (plan.windows.length === 0 && plan.buckets.length === 0) return;
    const ofCall = from === null ? [] : reservationsOf(from);
    const reservation = { id, plan, demand: { tokens, micros, toolCalls: 0 } };
    const held = await this.admit(reservation, job, ofCall);
    if (!held) await this.admit({ ...reservation, demand: { tokens: 0, micros: 0, toolCalls: 0 } }, job, ofCall);
  }

  /** Takes the place of what its call holds. False: there is no room for it. */
  private async admit(reservation: Reservation, { scope, at }: BudgetedJob, ofCall: readonly Reservation[]): Promise<boolean> {
    const { counters, warming } = this.parts;
    const { id, plan } = reservation;
    for (let tries = 0; tries < TRIES; tries++) {
      const found = counters.transfer(ofCall, reservation);
      const admission = found instanceof Promise ? await found : found;
      if (admission.kind === "admitted") {
        this.held.set(id, reservation);
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
    const reservation = this.held.get(id);
    if (reservation === undefined) return;
    this.held.delete(id);
    this.count(reservation, -1);
    const settled = this.parts.counters.settle(reservation, { requests: 1, input, output, micros });
    if (settled instanceof Promise) await settled;
    this.parts.counters.sealed(reservation);
    this.parts.released(reservation);
  }
}
