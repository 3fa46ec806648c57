import { describe, expect, test } from "bun:test";
import { MemberHealth } from "./member-health.ts";

const RULES = { allowedFails: 2, windowMs: 1_000, cooldownMs: 5_000 };

function at(): { health: MemberHealth; pass(ms: number): void } {
  let now = 0;
  return { health: new MemberHealth(() => now), pass: (ms) => void (now += ms) };
}

describe("the circuit breaker of a routing group member", () => {
  test("opens for the cooldown after one failure more than allowed", () => {
    const { health, pass } = at();
    for (let i = 0; i < 2; i++) health.failed("m", RULES);
    expect(health.available("m")).toBe(true);
    health.failed("m", RULES);
    expect(health.available("m")).toBe(false);
    expect(health.availableInMs("m")).toBe(5_000);
    pass(5_000);
    expect(health.available("m")).toBe(true);
  });

  test("does not count failures outside the window or of other members", () => {
    const { health, pass } = at();
    for (let i = 0; i < 2; i++) health.failed("m", RULES);
    pass(1_001);
    health.failed("m", RULES);
    health.failed("other", RULES);
    expect(health.available("m")).toBe(true);
  });

  test("lets one call try after the cooldown, whose failure opens it again and whose success closes it", () => {
    const { health, pass } = at();
    health.cool("m", 1_000);
    pass(1_000);
    expect(health.available("m")).toBe(true);
    health.began("m");
    expect(health.available("m")).toBe(false);
    health.failed("m", RULES);
    expect(health.availableInMs("m")).toBe(5_000);
    pass(5_000);
    health.began("m");
    health.answered("m");
    expect(health.available("m")).toBe(true);
    health.failed("m", RULES);
    expect(health.available("m")).toBe(true);
  });

  test("lets the next call try after an inconclusive one", () => {
    const { health, pass } = at();
    health.cool("m", 10);
    pass(10);
    health.began("m");
    health.inconclusive("m");
    expect(health.available("m")).toBe(true);
  });

  test("when all members are open, picks the one that served last, unless its provider asked for a pause", () => {
    const { health, pass } = at();
    for (const id of ["a", "b", "c"]) {
      pass(1);
      health.began(id);
      health.answered(id);
      for (let i = 0; i < 3; i++) health.failed(id, RULES);
    }
    expect(health.lastResort(["a", "b", "c"])).toBe("c");
    health.cool("c", 1_000);
    expect(health.lastResort(["a", "b", "c"])).toBe("b");
    expect(health.lastResort(["c"])).toBeNull();
    expect(health.lastResort(["nobody asked it yet"])).toBe("nobody asked it yet");
  });

  test("counts calls in progress and averages the latency of answers", () => {
    const { health } = at();
    expect(health.latencyMs("m")).toBeNull();
    health.began("m");
    health.began("m");
    health.unanswered("m");
    expect(health.inFlight("m")).toBe(1);
    health.measured("m", 100);
    health.measured("m", 200);
    expect(health.latencyMs("m")).toBe(120);
  });

  test("counts the time that callers have been waiting as latency, until they stop waiting", () => {
    const { health, pass } = at();
    health.measured("m", 100);
    health.began("m");
    health.began("m");
    pass(300);
    expect(health.latencyMs("m")).toBe(300);
    health.unanswered("m");
    expect(health.latencyMs("m")).toBe(300);
    health.measured("m", 100);
    expect([health.latencyMs("m"), health.inFlight("m")]).toEqual([100, 1]);
    health.ended("m");
    expect(health.inFlight("m")).toBe(0);
  });
});
