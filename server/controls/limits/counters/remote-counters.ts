import { ShortLivedMap } from "../../../kernel/collections/short-lived-map.ts";
import type { Admission } from "../admission/admission-answer.ts";
import type { Actual, Counters, Demand, Plan, Reservation } from "./counters.ts";
import type { ServedProcess } from "./served-counters.ts";

/** What is needed of the channel to the process that counts. */
interface Asking {
  ask(name: string, value: unknown): Promise<unknown>;
  tell(name: string, value: unknown): void;
}

type CounterRequest = readonly [id: string, plan: number, demand: Demand, probe: boolean];
type Transferred = readonly [from: readonly string[], id: string, plan: number, demand: Demand];

const RETRY_DELAY_MS = 25;

/**
 * Client of the counters in the first process of the machine. Each plan is sent once and then referred to by number.
 * If that process is gone every request is refused, and this process ends too.
 */
export class RemoteCounters implements Counters {
  readonly lookAgainMs = RETRY_DELAY_MS;
  private readonly to: Asking;
  private readonly plans = new WeakMap<Plan, number>();
  /** Tells the other side to forget a plan that nothing here refers to any more. */
  private readonly forgotten: FinalizationRegistry<number>;
  private reportedVersion = 0;
  private readonly open = new ShortLivedMap<string, true>();

  constructor(to: Asking) {
    this.to = to;
    this.forgotten = new FinalizationRegistry((number) => to.tell("counters.forget", number));
  }

  async admit(id: string, plan: Plan, demand: Demand, probe: boolean): Promise<Admission> {
    const found = (await this.to.ask("counters.admit", [id, this.numberOf(plan), demand, probe] satisfies CounterRequest)) as Admission;
    if (found.kind === "admitted" && !probe) this.open.set(id, true);
    return found;
  }

  async transfer(from: readonly Reservation[], { id, plan, demand }: Reservation): Promise<Admission> {
    const ids = from.map((one) => one.id);
    const found = (await this.to.ask("counters.transfer", [ids, id, this.numberOf(plan), demand] satisfies Transferred)) as Admission;
    if (found.kind === "admitted") this.open.set(id, true);
    return found;
  }

  async part({ id }: Reservation, actual: Actual): Promise<void> {
    if (this.open.has(id)) await this.to.ask("counters.part", [id, actual]);
  }

  async settle({ id }: Reservation, actual: Actual): Promise<readonly number[]> {
    if (!this.open.delete(id)) return [];
    return (await this.to.ask("counters.settle", [id, actual])) as readonly number[];
  }

  async warm(plan: Plan, spent: ReadonlyMap<number, number>): Promise<void> {
    await this.to.ask("counters.warm", [this.numberOf(plan), spent]);
  }

  sealed({ id }: Pick<Reservation, "id" | "plan">): void {
    this.to.tell("counters.sealed", id);
  }

  /** The counting process does this for all. */
  resolve(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  private numberOf(plan: Plan): number {
    let number = this.plans.get(plan);
    if (number === undefined) {
      number = ++this.reportedVersion;
      this.plans.set(plan, number);
      this.forgotten.register(plan, number);
      const { tenantId, scopes, windows, buckets } = plan;
      this.to.tell("counters.plan", [
        number,
        { tenantId, scopes, windows, buckets, ...(plan.unpaced === undefined ? {} : { unpaced: plan.unpaced }) } satisfies Plan,
      ]);
    }
    return number;
  }
}

/** The handlers for the requests of one process that uses `RemoteCounters`. */
export function counterAnswerers(served: ServedProcess) {
  const plans = new Map<number, Plan>();
  const planOf = (number: number): Plan => {
    const plan = plans.get(number);
    if (plan === undefined) throw new Error(`plan ${number} was never told`);
    return plan;
  };
  return {
    "counters.plan": ([number, plan]: readonly [number, Plan]) => void plans.set(number, plan),
    "counters.forget": (number: number) => void plans.delete(number),
    "counters.admit": ([id, plan, demand, probe]: CounterRequest) => served.admit(id, planOf(plan), demand, probe),
    "counters.transfer": ([from, id, plan, demand]: Transferred) => served.transfer(from, { id, plan: planOf(plan), demand }),
    "counters.part": ([id, actual]: readonly [string, Actual]) => served.part(id, actual),
    "counters.settle": ([id, actual]: readonly [string, Actual]) => served.settle(id, actual),
    "counters.warm": ([plan, spent]: readonly [number, ReadonlyMap<number, number>]) => served.warm(planOf(plan), spent),
    "counters.sealed": (id: string) => served.sealed(id),
  };
}
