import type { Log } from "../../../kernel/log.ts";
import type { Admission } from "../admission/admission-answer.ts";
import { type Actual, type Counters, type Demand, type Plan, type Reservation, type RowsOf } from "./counters.ts";
import { callHeldFor, isHeldBeside, partOf, ROWS_WITHIN_MS } from "./doubtful-calls.ts";
import type { InProcessCounters } from "./in-process.ts";
import { endsWithCall } from "./window-amounts.ts";

/** Releases are not signalled to other processes, so waiting calls retry at this interval. */
const RETRY_DELAY_MS = 25;

/** Left behind by a dead process: a hold, or counted usage whose row may not be sealed. */
interface Doubtful {
  readonly reservation: Reservation;
  /** Null: the call was not settled. */
  readonly counted: Actual | null;
  readonly since: number;
}

interface ServedOptions {
  readonly counters: InProcessCounters;
  /** Milliseconds; monotonic. */
  readonly now: () => number;
  readonly log: Log;
  readonly rowsWithinMs?: number;
}

/** Requests from another process of the machine. */
export interface ServedProcess {
  admit(id: string, plan: Plan, demand: Demand, probe: boolean): Admission;
  transfer(from: readonly string[], to: Reservation): Admission;
  part(id: string, actual: Actual): void;
  settle(id: string, actual: Actual): readonly number[];
  warm(plan: Plan, spent: ReadonlyMap<number, number>): void;
  sealed(id: string): void;
  /** That process is gone: releases its concurrency slots; its usage is what its rows will say. */
  left(): void;
}

/**
 * Serves this process's counters to the others on the machine. Each operation runs synchronously, which makes it
 * atomic across processes. A dead process's concurrency slots are released at once; its quota holds remain until the
 * rows that its successor recovers show what was used.
 */
export class ServedCounters implements Counters {
  readonly lookAgainMs = RETRY_DELAY_MS;
  private readonly options: ServedOptions;
  private readonly doubtful = new Map<string, Doubtful>();

  constructor(options: ServedOptions) {
    this.options = options;
  }

  admit(id: string, plan: Plan, demand: Demand, probe: boolean): Admission {
    const { counters } = this.options;
    const found = counters.admit(id, plan, demand, probe);
    if (found.kind !== "cold") return found;
    const fresh = found.windows.filter((index) => endsWithCall(plan.windows[index] as Plan["windows"][number]));
    if (fresh.length === 0) return found;
    counters.warm(plan, new Map(fresh.map((index) => [index, 0])));
    return counters.admit(id, plan, demand, probe);
  }

  transfer(from: readonly Reservation[], to: Reservation): Admission {
    return this.options.counters.transfer(from, to);
  }

  part(reservation: Reservation, actual: Actual): void {
    this.options.counters.part(reservation, actual);
  }

  settle(reservation: Reservation, actual: Actual): readonly number[] {
    return this.options.counters.settle(reservation, actual);
  }

  warm(plan: Plan, spent: ReadonlyMap<number, number>): void {
    this.options.counters.warm(plan, spent);
  }

  /** These counts die with the process, so there is nothing to confirm. */
  sealed(): void {}

  serve(): ServedProcess {
    const { counters, now } = this.options;
    const open = new Map<string, Reservation>();
    /** Settled, but not known to be sealed. */
    const settled = new Map<string, { readonly reservation: Reservation; readonly actual: Actual }>();
    return {
      admit: (id, plan, demand, probe) => {
        const found = this.admit(id, plan, demand, probe);
        if (found.kind === "admitted" && !probe) open.set(id, { id, plan, demand });
        return found;
      },
      transfer(from, to) {
        const holding = from.map((id) => open.get(id)).filter((one) => one !== undefined);
        const found = counters.transfer(holding, to);
        if (found.kind === "admitted") open.set(to.id, to);
        return found;
      },
      part(id, actual) {
        const reservation = open.get(id);
        if (reservation !== undefined) counters.part(reservation, actual);
      },
      settle(id, actual) {
        const reservation = open.get(id);
        if (reservation === undefined) return [];
        open.delete(id);
        settled.set(id, { reservation, actual });
        return counters.settle(reservation, actual);
      },
      warm: (plan, spent) => counters.warm(plan, spent),
      sealed: (id) => void settled.delete(id),
      left: () => {
        const since = now();
        for (const [id, reservation] of open) {
          counters.vacate(reservation);
          this.doubtful.set(id, { reservation, counted: null, since });
        }
        for (const [id, { reservation, actual }] of settled) this.doubtful.set(id, { reservation, counted: actual, since });
        open.clear();
        settled.clear();
      },
    };
  }

  async resolve(rowsOf: RowsOf): Promise<void> {
    const { now, log, rowsWithinMs = ROWS_WITHIN_MS } = this.options;
    const byTenant = Map.groupBy(this.doubtful.entries(), ([, { reservation }]) => reservation.plan.tenantId);
    for (const [tenantId, entries] of byTenant) {
      const rows = await rowsOf(tenantId, [...new Set(entries.map(([id]) => callHeldFor(id)))]);
      for (const [id, doubt] of entries) {
        const row = partOf(rows.get(callHeldFor(id)), id);
        if (row === undefined && now() - doubt.since <= rowsWithinMs) continue;
        this.doubtful.delete(id);
        if (row === undefined) log.warn("limits_released", { tenant_id: tenantId, call_id: callHeldFor(id) });
        const requests = row === undefined || row.requests === 0 ? 0 : 1;
        const used = isHeldBeside(id) ? undefined : row;
        this.restate(doubt, { requests, input: used?.tokens ?? 0, output: 0, micros: used?.micros ?? 0 });
      }
    }
  }

  close(): Promise<void> {
    return this.options.counters.close();
  }

  private restate({ reservation, counted }: Doubtful, actual: Actual): void {
    if (counted === null) this.options.counters.settle(reservation, actual);
    else this.options.counters.restate(reservation, counted, actual);
  }
}
