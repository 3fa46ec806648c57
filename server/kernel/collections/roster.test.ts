import { expect, test } from "bun:test";
import { ShortLivedMap } from "./short-lived-map.ts";
import { type OnRoster, Roster } from "./roster.ts";

interface Item extends OnRoster {
  readonly name: number;
}

test("a roster contains what was added and not removed, in any order of removal", () => {
  const roster = new Roster<Item>();
  const there = new Set<Item>();
  const gone: Item[] = [];
  for (let n = 0; n < 2_000; n++) {
    const item = { name: n, place: -1 };
    roster.add(item);
    there.add(item);
    for (let left = n % 3; left > 0; left--) {
      const [any] = [...there].slice((n * 7) % there.size);
      if (any === undefined) break;
      roster.delete(any);
      roster.delete(any);
      there.delete(any);
      gone.push(any);
    }
  }
  expect(roster.size).toBe(there.size);
  expect(new Set(roster.all())).toEqual(there);
  expect([...there].every((item) => roster.has(item))).toBe(true);
  expect(gone.some((item) => roster.has(item))).toBe(false);
});

test("a short-lived map keeps every live entry while it is rebuilt", () => {
  const map = new ShortLivedMap<string, number>();
  map.set("stays", -1);
  for (let n = 0; n < 10_000; n++) {
    map.set(`passes ${n}`, n);
    if (n >= 50) expect(map.delete(`passes ${n - 50}`)).toBe(true);
  }
  expect(map.size).toBe(51);
  expect([map.get("stays"), map.get("passes 9999"), map.has("passes 1")]).toEqual([-1, 9_999, false]);
  expect(map.entries()[0]).toEqual(["stays", -1]);
});
