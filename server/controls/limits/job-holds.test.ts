import { afterAll, beforeAll, expect, test } from "bun:test";
import { demand, NOON, plan, warmed, window } from "../../../tests/support/records/counter-parts.ts";
import { haveValkey, startValkey, type TestValkey } from "../../../tests/support/processes/valkey.ts";
import type { GroupScope, ModelEntry } from "../../directory/snapshot.ts";
import { jsonLog } from "../../kernel/log.ts";
import type { Call } from "../../road/call.ts";
import { openValkey } from "../../runtime/valkey.ts";
import type { Counters, Reservation } from "./counters/counters.ts";
import { InProcessCounters } from "./counters/in-process.ts";
import { JobHolds } from "./job-holds.ts";
import { counterAnswerers, RemoteCounters } from "./counters/remote-counters.ts";
import { ServedCounters } from "./counters/served-counters.ts";
import { ValkeyCounters } from "./counters/valkey.ts";
import type { Warming } from "./counters/warming.ts";

/** Two processes that share counters; `afterEach` is called after each step of the first one. */
interface Home {
  readonly name: string;
  make(afterEach: () => Promise<void>): { readonly own: Counters; readonly other: Counters };
}

let valkey: TestValkey | undefined;
const opened: Counters[] = [];

const homes: Home[] = [
  {
    name: "the first process of a machine",
    make(afterEach) {
      const now = () => NOON;
      const served = new ServedCounters({ counters: new InProcessCounters(now), now, log: jsonLog("error") });
      const remote = (after: () => Promise<void>) => {
        const answerers = counterAnswerers(served.serve()) as Record<string, (value: unknown) => unknown>;
        return new RemoteCounters({
          async ask(name, value) {
            const answer = answerers[name]?.(structuredClone(value));
            await after();
            return answer;
          },
          tell: (name, value) => void answerers[name]?.(structuredClone(value)),
        });
      };
      return { own: remote(afterEach), other: remote(async () => {}) };
    },
  },
  ...(haveValkey
    ? [
        {
          name: "Valkey",
          make(afterEach: () => Promise<void>) {
            const open = (after: () => Promise<void>) => {
              const runner = openValkey(valkey?.url ?? "");
              const run: typeof runner.run = async (...by) => {
                const answer = await runner.run(...by);
                await after();
                return answer;
              };
              const valkeyCounters = new ValkeyCounters({
                valkey: { run, close: () => runner.close() },
                ...{ now: () => NOON, log: jsonLog("error"), settlesMs: 0 },
              });
              opened.push(valkeyCounters);
              return valkeyCounters;
            };
            return { own: open(afterEach), other: open(async () => {}) };
          },
        },
      ]
    : []),
];

beforeAll(async () => {
  if (haveValkey) valkey = await startValkey();
});
afterAll(async () => {
  await Promise.all(opened.map((counters) => counters.close()));
  await valkey?.stop();
});

test.each(homes.map((home) => [home.name, home] as const))(
  "counters in %s: a call's hold passes to its job, and never to a call of another process in between",
  async (_name, home) => {
    let between = async () => {};
    const { own, other } = home.make(() => between());
    const of = { ...plan(`t-${home.name.length}`, { windows: [window("w", "micros", 10)] }), needsPrice: true, needsBound: true };
    await warmed(own, of, NOON);
    const held: Reservation = { id: "call", plan: of, demand: demand(0, 6) };
    expect((await own.admit(held.id, of, held.demand, false)).kind).toBe("admitted");
    const jobs = new JobHolds({
      counters: own,
      warming: { policiesOf: () => undefined } as unknown as Warming,
      planOf: () => of,
      budgetsOf: () => of,
      reservationsOf: () => [held],
      released: () => {},
    });
    const found: string[] = [];
    between = async () => void found.push((await other.admit(`rival ${found.length}`, of, demand(0, 6), false)).kind);
    const call = { scope: null } as unknown as Call;
    const job = { scope: {} as GroupScope, model: {} as ModelEntry, rootTaskId: null, micros: 6, tokens: 0, at: NOON };
    await jobs.hold("job", job, call);
    expect(new Set(found)).toEqual(new Set(["held"]));
    between = async () => {};
    // The call has ended; its job continues and costs less than its worst case.
    await own.settle(held, { requests: 1, input: 0, output: 0, micros: 0 });
    expect((await other.admit("rival", of, demand(0, 6), true)).kind).toBe("held");
    await jobs.settle("job", 4);
    expect(await other.admit("rival", of, demand(0, 6), true)).toMatchObject({ kind: "admitted", spent: [4] });
  },
);
