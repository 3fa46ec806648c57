import { expect, test } from "bun:test";
import fc from "fast-check";
import { controlLivenessIn } from "./liveness.ts";

const statuses = ["live", "quiet", "stale", "silent"];

test("liveness gets worse with every call without an inspection, and one inspection makes the control live again", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 20, max: 10_000 }),
      fc.double({ min: 0.01, max: 1, noNaN: true }),
      fc.nat(5_000),
      (looked, share, since) => {
        const of = (calls: number) =>
          statuses.indexOf(controlLivenessIn({ looked, calls: Math.round(looked / share) + calls, since_last: calls }).status);
        expect(of(since + 1)).toBeGreaterThanOrEqual(of(since));
        expect(of(0)).toBe(0);
      },
    ),
  );
});

test("a control that inspects a share of the calls is never reported silent; one that stops is detected", () => {
  let state = 7;
  const random = () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return state / 0x7fffffff;
  };
  for (const share of [0.02, 0.3, 0.97]) {
    const signs = { looked: 0, calls: 0, since_last: 0 };
    let alarms = 0;
    for (let call = 0; call < 333_333; call++) {
      signs.calls++;
      if (random() < share) Object.assign(signs, { looked: signs.looked + 1, since_last: 0 });
      else signs.since_last++;
      if (controlLivenessIn(signs).status === "silent") alarms++;
    }
    expect(alarms).toBe(0);
    let until = 0;
    for (; controlLivenessIn(signs).status !== "silent"; until++)
      Object.assign(signs, { calls: signs.calls + 1, since_last: signs.since_last + 1 });
    expect(until).toBeLessThanOrEqual(Math.max(20, Math.ceil(Math.log(1e-9) / Math.log(1 - Math.min(share, 0.9))) + 60));
  }
});

test("too few inspections give the status unknown", () => {
  expect(controlLivenessIn({ looked: 19, calls: 10_000, since_last: 9_000 }).status).toBe("unknown");
});
