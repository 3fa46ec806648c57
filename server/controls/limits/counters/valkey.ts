import { uuid } from "../../../kernel/ids.ts";
import type { Log } from "../../../kernel/log.ts";
import { NotSentError } from "../../../kernel/http/not-sent.ts";
import { ShortLivedMap } from "../../../kernel/collections/short-lived-map.ts";
import type { Admission } from "../admission/admission-answer.ts";
import { admissionOf, type AdmitReply } from "../admission/admit-reply.ts";
import { type Actual, type Counters, type Demand, NOTHING_USED, type Plan, type Reservation, type RowsOf } from "./counters.ts";
import { callHeldFor, partOf, ROWS_WITHIN_MS } from "./doubtful-calls.ts";
import { LateSettlements } from "./late-settlements.ts";
import { planText } from "../plans/plan-text.ts";
import { SETTLES_MS, StoreWatch } from "./store-watch.ts";
import { ADMIT, DOUBTFUL, HOLD_BACK, RENEW, RESOLVE, SETTLE, TRANSFER, WARM } from "./valkey-scripts.ts";

/** The client, which must run scripts atomically. */
export interface ScriptRunner {
  run(script: string, keys: readonly string[], args: readonly string[]): Promise<unknown>;
  close(): void;
}

export interface ValkeyCountersOptions {
  readonly valkey: ScriptRunner;
  /** Milliseconds; monotonic. */
  readonly now: () => number;
  readonly log: Log;
  /** How long holds outlive their process. */
  readonly leaseMs?: number;
  readonly renewMs?: number;
  /** How long after its lease ended a dead process may still return and ship its rows. */
  readonly rowsWithinMs?: number;
  /** How long every process has to put back its holds in an emptied store. */
  readonly settlesMs?: number;
  /** Resolves once the usage totals include everything counted here. */
  readonly recorded?: () => Promise<void>;
}

interface Open {
  readonly id: string;
  readonly plan: Plan;
  readonly demand: Demand;
  /** Its hold is released. */
  parted: boolean;
  owner: string;
  generation: string;
}

/** This process's state for one tenant. */
interface Held {
  readonly id: string;
  readonly open: ShortLivedMap<string, Open>;
  /** The owner name that its holds are stored under. */
  owner: string;
  /** Generation of the store's content; it changes when the store is emptied. */
  generation: string | null;
  /** When the lease was last renewed. */
  leasedAt: number;
  /** Settled calls whose rows are sealed, to be reported. */
  sealed: string[];
  reportTimer: ReturnType<typeof setTimeout> | null;
  usedAt: number;
}

const RETRY_DELAY_MS = 25;
const IDLE_MS = 600_000;
/** Rows of settled calls are sealed within this time; the lease is renewed at least that long. */
const SEALED_WITHIN_MS = 30_000;
const SETTLEMENT_FLUSH_MS = 50;

/**
 * Counters in Valkey, shared by a fleet. Each process stores its holds under an owner name with a lease, and they
 * expire with it. An emptied store is reloaded from the usage totals, and calls that a hard limit could refuse wait
 * until every process has put back its holds.
 */
export class ValkeyCounters implements Counters {
  readonly lookAgainMs = RETRY_DELAY_MS;
  private readonly tenants = new Map<string, Held>();
  private readonly late: LateSettlements;
  private readonly plans = new WeakMap<Plan, string>();
  private readonly options: ValkeyCountersOptions;
  private readonly leaseMs: number;
  /** Remaining lease after two missed renewals. */
  private readonly quietLeftMs: number;
  private readonly timer: ReturnType<typeof setInterval>;
  private readonly watch: StoreWatch;
  private closed = false;

  constructor(options: ValkeyCountersOptions) {
    this.options = options;
    this.leaseMs = options.leaseMs ?? 20_000;
    const renewMs = options.renewMs ?? 5_000;
    this.quietLeftMs = Math.max(0, this.leaseMs - 2 * renewMs);
    this.timer = setInterval(() => void this.renewAll(), renewMs);
    this.timer.unref();
    this.watch = new StoreWatch({
      run: options.valkey.run.bind(options.valkey),
      log: options.log,
      putBack: (setBack) => this.holdAllAgain(setBack),
      recorded: options.recorded ?? (() => Promise.resolve()),
      holdBack: (ms) => this.holdBack(ms),
      settlesMs: options.settlesMs ?? SETTLES_MS,
    });
    this.late = new LateSettlements(() => this.watch.isAway());
  }

  admit(id: string, plan: Plan, demand: Demand, probe: boolean): Promise<Admission> {
    return this.take(ADMIT, { id, plan, demand }, probe, []);
  }

  async transfer(from: readonly Reservation[], to: Reservation): Promise<Admission> {
    const { open } = this.tenant(to.plan.tenantId);
    const holding = from.map(({ id }) => open.get(id)).filter((one) => one !== undefined);
    const found = await this.take(TRANSFER, to, false, holding);
    if (found.kind === "admitted") for (const one of holding) one.parted = true;
    return found;
  }

  /** `from`: reservations that the new one replaces, if any. */
  private async take(script: string, { id, plan, demand }: Reservation, probe: boolean, from: readonly Open[]): Promise<Admission> {
    const tenant = this.tenant(plan.tenantId);
    if (tenant.open.size > 0 && this.options.now() - tenant.leasedAt > this.leaseMs) await this.holdUnderNewName(tenant);
    const { owner } = tenant;
    const sentAt = this.options.now();
    let reply: AdmitReply;
    try {
      reply = (await this.run(script, tenant, [
        this.planText(plan),
        owner,
        text(sentAt),
        id,
        text(demand.tokens),
        text(demand.micros),
        text(demand.toolCalls),
        probe ? "1" : "0",
        text(this.leaseMs),
        heldText(tenant),
        text(this.quietLeftMs),
        ...this.heldTexts(from),
      ])) as AdmitReply;
    } catch (error) {
      // The store may have admitted it even though the reply was lost: settle it with no usage.
      if (!probe && !(error instanceof NotSentError)) {
        const taken = { id, plan, demand, parted: false, owner, generation: "" };
        this.late.add(() => this.sendSettle(taken, NOTHING_USED));
      }
      throw error;
    }
    tenant.leasedAt = Math.max(tenant.leasedAt, sentAt);
    const found = admissionOf(reply, plan, probe);
    if (found.kind === "admitted" && !probe) {
      const generation = String(reply[1]);
      tenant.open.set(id, { id, plan, demand, parted: false, owner, generation });
      if (tenant.generation !== generation) this.renewed(tenant, generation);
    }
    return found;
  }

  async part({ id, plan }: Reservation, actual: Actual): Promise<void> {
    const held = this.tenant(plan.tenantId).open.get(id);
    if (held === undefined || held.parted) return;
    await this.sendSettle(held, actual, true);
    held.parted = true;
  }

  async settle({ id, plan }: Reservation, actual: Actual): Promise<readonly number[]> {
    const { open } = this.tenant(plan.tenantId);
    const held = open.get(id);
    if (held === undefined) return [];
    open.delete(id);
    try {
      return await this.sendSettle(held, actual);
    } catch {
      // The process keeps its lease, and so its holds, until then.
      this.late.add(() => this.sendSettle(held, actual));
      return [];
    }
  }

  async warm(plan: Plan, spent: ReadonlyMap<number, number>, at: number): Promise<void> {
    const tenant = this.tenant(plan.tenantId);
    await this.run(WARM, tenant, [
      this.planText(plan),
      tenant.owner,
      text(at),
      uuid(),
      text(await this.watch.settlesIn()),
      ...[...spent].flatMap(([index, amount]) => [text(index), text(amount)]),
    ]);
  }

  /** Reported with the tenant's next script, or soon after: until then the call's usage is in doubt if this process dies. */
  sealed({ id, plan }: Pick<Reservation, "id" | "plan">): void {
    const tenant = this.tenants.get(plan.tenantId);
    if (tenant === undefined) return;
    tenant.sealed.push(id);
    if (tenant.reportTimer !== null || this.closed) return;
    tenant.reportTimer = setTimeout(() => {
      tenant.reportTimer = null;
      if (tenant.sealed.length > 0) void this.renew(tenant);
    }, SETTLEMENT_FLUSH_MS);
    tenant.reportTimer.unref();
  }

  async resolve(rowsOf: RowsOf): Promise<void> {
    for (const tenant of this.tenants.values()) {
      const found = (await this.run(DOUBTFUL, tenant, ["{}", ""])) as string[];
      if (found.length === 0) continue;
      const entries: { owner: string; id: string; deadMs: number }[] = [];
      for (let i = 0; i < found.length; i += 3)
        entries.push({ owner: found[i] as string, id: found[i + 1] as string, deadMs: Number(found[i + 2]) });
      const rows = await rowsOf(
        tenant.id,
        entries.map(({ id }) => callHeldFor(id)),
      );
      for (const { owner, id, deadMs } of entries) {
        const row = partOf(rows.get(callHeldFor(id)), id);
        if (row !== undefined)
          await this.run(RESOLVE, tenant, ["{}", owner, id, "1", text(row.tokens), text(row.micros), text(row.requests)]);
        else if (deadMs > (this.options.rowsWithinMs ?? ROWS_WITHIN_MS)) {
          await this.run(RESOLVE, tenant, ["{}", owner, id, "0", "0", "0", "0"]);
          this.options.log.warn("limits_released", { tenant_id: tenant.id, call_id: callHeldFor(id) });
        }
      }
    }
  }

  /** Whether Valkey is unreachable. */
  isAway(): boolean {
    return this.watch.isAway();
  }

  async close(): Promise<void> {
    this.closed = true;
    clearInterval(this.timer);
    this.watch.close();
    await this.late.close();
    await this.renewAll();
    this.options.valkey.close();
  }

  private run(script: string, tenant: Pick<Held, "id">, args: readonly string[]): Promise<unknown> {
    return this.options.valkey.run(script, [`gw:{${tenant.id}}:`], args);
  }

  private tenant(id: string): Held {
    let tenant = this.tenants.get(id);
    if (tenant === undefined) {
      const open = new ShortLivedMap<string, Open>();
      tenant = { id, open, owner: uuid(), generation: null, leasedAt: this.options.now(), sealed: [], reportTimer: null, usedAt: 0 };
      this.tenants.set(id, tenant);
    }
    tenant.usedAt = this.options.now();
    return tenant;
  }

  private async sendSettle(held: Open, actual: Actual, parting = false): Promise<number[]> {
    const { id, plan, owner, generation } = held;
    const demand = held.parted ? HELD_NOTHING : held.demand;
    const tenant = this.tenant(plan.tenantId);
    const reply = (await this.run(SETTLE, tenant, [
      this.planText(plan),
      owner,
      text(this.options.now()),
      id,
      text(demand.tokens),
      text(demand.micros),
      generation,
      text(actual.requests),
      text(actual.input),
      text(actual.output),
      text(actual.micros),
      owner === tenant.owner ? heldText(tenant) : "",
      parting ? "1" : "0",
      text(held.demand.toolCalls),
    ])) as unknown[];
    return reply.map(Number);
  }

  /** Notes the store's generation; if it has changed, the store was emptied and this process puts back its holds. */
  private renewed(tenant: Held, generation: string): void {
    const known = tenant.generation;
    tenant.generation = generation;
    if (known === null) return;
    const lost = tenant.open.values().filter((open) => open.generation !== generation);
    void this.holdAgain(tenant, lost).catch((error: Error) =>
      this.options.log.warn("limits_not_held_again", { tenant_id: tenant.id, error }),
    );
  }

  /**
   * Puts back all holds after the store lost them. A store that was set back has outdated holds, so the current ones go
   * under a new owner name.
   */
  private async holdAllAgain(setBack: boolean): Promise<void> {
    for (const tenant of this.tenants.values()) {
      if (setBack) {
        await this.holdUnderNewName(tenant);
        continue;
      }
      tenant.generation = null;
      await this.holdAgain(tenant, tenant.open.values());
    }
  }

  private async holdBack(ms: number): Promise<void> {
    for (const tenant of this.tenants.values())
      await this.run(HOLD_BACK, tenant, ["{}", tenant.owner, text(this.options.now()), uuid(), text(ms)]);
  }

  /** The lease expired while this process was stalled; holds under the old owner name no longer count. */
  private async holdUnderNewName(tenant: Held): Promise<void> {
    this.options.log.warn("limits_lease_lost", { tenant_id: tenant.id });
    const before = tenant.owner;
    tenant.owner = uuid();
    tenant.leasedAt = this.options.now();
    await this.holdAgain(tenant, tenant.open.values(), before);
  }

  private async holdAgain(tenant: Held, lost: readonly Open[], before = tenant.owner): Promise<void> {
    if (lost.length === 0) return;
    for (const open of lost) {
      open.owner = tenant.owner;
      open.generation = tenant.generation ?? "";
    }
    await this.run(RENEW, tenant, ["{}", tenant.owner, text(this.leaseMs), "", before, ...this.heldTexts(lost)]);
  }

  /** Reservations in the format that the scripts read. */
  private heldTexts(held: readonly Open[]): string[] {
    return held.flatMap(({ id, plan, demand, parted }) => {
      const { tokens, micros } = parted ? HELD_NOTHING : demand;
      return [id, text(tokens), text(micros), text(demand.toolCalls), this.planText(plan)];
    });
  }

  private async renewAll(): Promise<void> {
    for (const tenant of this.tenants.values()) {
      const unusedMs = this.options.now() - tenant.usedAt;
      if (tenant.open.size === 0 && tenant.sealed.length === 0 && unusedMs > SEALED_WITHIN_MS) {
        if (unusedMs > IDLE_MS) this.tenants.delete(tenant.id);
        continue;
      }
      await this.renew(tenant);
    }
  }

  private async renew(tenant: Held): Promise<void> {
    const asked = this.options.now();
    try {
      const kept = await this.run(RENEW, tenant, ["{}", tenant.owner, text(this.leaseMs), heldText(tenant), tenant.owner]);
      if (kept === 0) await this.holdUnderNewName(tenant);
      else tenant.leasedAt = Math.max(tenant.leasedAt, asked);
    } catch (error) {
      this.options.log.warn("limits_lease_not_renewed", { tenant_id: tenant.id, error: error as Error });
    }
  }

  private planText(plan: Plan): string {
    let known = this.plans.get(plan);
    if (known === undefined) {
      known = planText(plan, this.options.now());
      this.plans.set(plan, known);
    }
    return known;
  }
}

const HELD_NOTHING: Demand = { tokens: 0, micros: 0, toolCalls: 0 };

/** Returns the IDs to report and clears the list. */
function heldText(tenant: Held): string {
  if (tenant.sealed.length === 0) return "";
  const ids = tenant.sealed.join(",");
  tenant.sealed = [];
  return ids;
}

const text = (value: number): string => String(Math.round(value));
