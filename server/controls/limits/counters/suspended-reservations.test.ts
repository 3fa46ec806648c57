import { expect, test } from "bun:test";
import type { Call } from "../../../road/call.ts";
import type { Plan, Reservation } from "./counters.ts";
import { InProcessCounters } from "./in-process.ts";
import { SuspendedReservations } from "./suspended-reservations.ts";

const NOON = Date.UTC(2026, 10, 21, 12);
const plan: Plan = {
  tenantId: "t",
  scopes: [],
  buckets: [],
  windows: [
    {
      key: "w",
      scope: 0,
      measure: "micros",
      limit: 100,
      hard: true,
      warnAt: null,
      startsAt: 0,
      resetsAt: NOON * 2,
      limitType: "daily_budget",
      truth: null,
      epoch: 0,
    },
  ],
};
const used = (micros: number) => ({ requests: 1 as const, input: 0, output: 0, micros });

/** A call holding `micros`, as it is after admission. */
function holding(micros: number) {
  const counters = new InProcessCounters(() => NOON);
  counters.warm(plan, new Map([[0, 0]]));
  const call = { id: "call" } as Call;
  const lending = new SuspendedReservations(counters);
  const take = (id: string): Reservation => {
    const reservation = { id, plan, demand: { tokens: 0, micros, toolCalls: 0 } };
    expect(counters.admit(id, plan, reservation.demand, false).kind).toBe("admitted");
    lending.hold(call, reservation);
    return reservation;
  };
  const first = take("call");
  const room = () => {
    let least = 0;
    for (let most = 100; least < most;) {
      const middle = Math.ceil((least + most) / 2);
      if (counters.admit("probe", plan, { tokens: 0, micros: middle, toolCalls: 0 }, true).kind === "admitted") least = middle;
      else most = middle - 1;
    }
    return least;
  };
  return { counters, call, lending, first, take, room };
}

test("a hold suspended before the call is sent frees its room, and can be taken again", () => {
  const { call, lending, take, room } = holding(60);
  expect([room(), lending.isSuspended(call)]).toEqual([40, false]);
  expect(lending.suspend(call, null)).toBe(true);
  expect([room(), lending.isSuspended(call), lending.suspend(call, null)]).toEqual([100, true, false]);
  const again = take("call/held");
  expect([room(), lending.isSuspended(call), lending.reacquired(call)]).toEqual([40, false, again]);
  // Once more, for the next of the gateway's own calls.
  expect([lending.suspend(call, null), room(), lending.reacquired(call)]).toEqual([true, 100, null]);
});

test("a call sent to a provider can suspend its hold only once its answer is in, whose usage then counts", () => {
  const { counters, call, lending, first, room } = holding(60);
  lending.dispatched(call);
  expect([lending.suspend(call, null), room()]).toEqual([false, 40]);
  expect([lending.suspend(call, used(25)), room(), lending.isSuspended(call)]).toEqual([true, 75, false]);
  expect([lending.suspend(call, used(25)), room()]).toEqual([false, 75]);
  counters.settle(first, used(25));
  expect(room()).toBe(75);
});

test("a call that has ended or holds no money cannot suspend a hold", () => {
  const { call, lending, room } = holding(60);
  lending.ended(call);
  expect([lending.suspend(call, null), room(), lending.isSuspended(call)]).toEqual([false, 40, false]);
  const idle = { id: "idle" } as Call;
  lending.hold(idle, { id: "idle", plan, demand: { tokens: 0, micros: 0, toolCalls: 3 } });
  expect([lending.suspend(idle, null), lending.isSuspended(idle)]).toEqual([false, false]);
});
