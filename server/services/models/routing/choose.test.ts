import { describe, expect, test } from "bun:test";
import type { RoutingMember } from "../../../directory/models/routing-group-entry.ts";
import type { ModelEntry } from "../../../directory/snapshot.ts";
import { chooseMember } from "./choose.ts";
import { MemberHealth } from "./member-health.ts";

const NOW = Date.UTC(2026, 10, 21);
const dated = (from: number, price: number | null) => ({
  from,
  prices: { input: price, output: price, cacheRead: null, cacheWrite: null, cacheWriteHour: null },
  tiers: [],
});
const member = (id: string, weight: number, price: number | null = null, ...changes: ReturnType<typeof dated>[]): RoutingMember => ({
  weight,
  model: { id, name: id, modes: ["chat"], priceSchedule: [dated(Number.NEGATIVE_INFINITY, price), ...changes] } as unknown as ModelEntry,
});

/** How often each member was chosen, with uniform random numbers. */
function share(
  strategy: Parameters<typeof chooseMember>[0],
  members: readonly RoutingMember[],
  health = new MemberHealth(),
): Record<string, number> {
  const counts: Record<string, number> = {};
  for (let i = 0; i < 1000; i++) {
    const id = chooseMember(strategy, members, health, () => (i + 0.5) / 1000, NOW)?.model.id ?? "none";
    counts[id] = (counts[id] ?? 0) + 1;
  }
  return counts;
}

describe("routing strategy", () => {
  test("simple-shuffle follows the weights, and uses members of weight 0 only if there are no others", () => {
    expect(share("simple-shuffle", [member("a", 3), member("b", 1), member("spare", 0)])).toEqual({ a: 750, b: 250 });
    expect(share("simple-shuffle", [member("spare", 0), member("other", 0)])).toEqual({ spare: 500, other: 500 });
    expect(share("simple-shuffle", [])).toEqual({ none: 1000 });
  });

  test("ordered takes the first member", () => {
    expect(share("ordered", [member("a", 3), member("b", 2)])).toEqual({ a: 1000 });
  });

  test("least-busy takes the member with the fewest calls in progress", () => {
    const health = new MemberHealth();
    health.began("a");
    expect(share("least-busy", [member("a", 1), member("b", 1)], health)).toEqual({ b: 1000 });
  });

  test("latency-based takes the fastest member, after trying unmeasured ones", () => {
    const health = new MemberHealth();
    health.measured("a", 50);
    health.measured("b", 20);
    expect(share("latency-based", [member("a", 1), member("b", 1)], health)).toEqual({ b: 1000 });
    expect(share("latency-based", [member("a", 1), member("b", 1), member("new", 1)], health)).toEqual({ new: 1000 });
  });

  test("latency-based measures an idle member again after a minute, by one call, and forgets its old latency", () => {
    let now = 0;
    const health = new MemberHealth(() => now);
    const members = [member("a", 1), member("b", 1)];
    health.measured("a", 40_000);
    health.measured("b", 500);
    now = 59_000;
    health.measured("b", 500);
    expect(share("latency-based", members, health)).toEqual({ b: 1000 });
    now = 61_000;
    expect(share("latency-based", members, health)).toEqual({ a: 1000 });
    health.began("a");
    expect(share("latency-based", members, health)).toEqual({ b: 1000 });
    health.measured("a", 100);
    expect(share("latency-based", members, health)).toEqual({ a: 1000 });
  });

  test("cost-based takes the cheapest member, and unpriced ones last", () => {
    expect(share("cost-based", [member("a", 1, 5), member("b", 1, 3), member("unpriced", 1)])).toEqual({ b: 1000 });
    expect(share("cost-based", [member("unpriced", 1)])).toEqual({ unpriced: 1000 });
    // Current prices count, not past or future ones.
    expect(share("cost-based", [member("a", 1, 9, dated(NOW - 1, 2)), member("b", 1, 3), member("c", 1, 4, dated(NOW + 1, 1))])).toEqual({
      a: 1000,
    });
  });

  test.each([
    ["embedding", { input: 2 }, { input: 13 }],
    ["moderation", { input: 0 }, { input: 13 }],
    ["rerank", { searchUnit: 1_000 }, { searchUnit: 2_000 }],
    ["image", { image: 20 }, { imagePrices: [{ size: "1024x1024", cost: 40 }] }],
    ["video", { videoSecond: 100 }, { videoSecond: 400 }],
    ["audio_transcription", { audioSecond: 1 }, { audioSecond: 2 }],
    ["audio_speech", { spokenCharacter: 15 }, { spokenCharacter: 30 }],
  ])("cost-based compares what is billed for models of the mode %s", (mode, cheap, dear) => {
    const priced = (id: string, prices: object): RoutingMember => ({
      weight: 1,
      model: {
        id,
        modes: [mode],
        priceSchedule: [{ from: Number.NEGATIVE_INFINITY, prices: { input: null, output: null, ...prices }, tiers: [] }],
      } as unknown as ModelEntry,
    });
    expect(share("cost-based", [priced("unpriced", {}), priced("dear", dear), priced("cheap", cheap)])).toEqual({ cheap: 1000 });
    expect(share("cost-based", [priced("unpriced", {}), priced("dear", dear)])).toEqual({ dear: 1000 });
  });

  test("cost-based treats a model without an output price as unpriced", () => {
    const half = member("half", 1);
    const [prices] = half.model.priceSchedule;
    Object.assign(prices?.prices ?? {}, { input: 1 });
    expect(share("cost-based", [half, member("a", 1, 50)])).toEqual({ a: 1000 });
  });
});
