import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { StoredAnswers, StoredVector } from "../../../directory/semantic-cache/stored-answers.ts";
import { VectorIndex } from "./vector-index.ts";
import { cosine, quantised } from "./vectors.ts";
import { WeighedMap } from "./weighed-map.ts";

describe("a weighted LRU map", () => {
  test("never exceeds its maximum weight, and drops the least recently used entries", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.constantFrom(..."abcdefgh"), fc.integer({ min: 1, max: 12 }), fc.boolean())), (steps) => {
        const map = new WeighedMap<number>(20);
        let model: [string, number][] = [];
        for (const [key, weight, read] of steps) {
          if (read) {
            const at = model.find(([name]) => name === key);
            expect(map.get(key)).toBe(at?.[1] as number);
            if (at !== undefined) model = [...model.filter((entry) => entry !== at), at];
            continue;
          }
          map.set(key, weight, weight);
          model = [...model.filter(([name]) => name !== key), [key, weight]];
          while (model.reduce((sum, [, heavy]) => sum + heavy, 0) > 20) model.shift();
          expect(map.size).toBe(model.length);
        }
      }),
    );
  });

  test("does not store an entry heavier than the maximum, and drops the previous value of its key", () => {
    const map = new WeighedMap<string>(10);
    map.set("a", "old", 1);
    map.set("a", "new", 11);
    expect(map.get("a")).toBeUndefined();
  });
});

describe("a vector in 8-bit components", () => {
  const vector = fc
    .array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 64, maxLength: 64 })
    .filter((values) => values.some((value) => Math.abs(value) > 0.01));
  const exact = (a: readonly number[], b: readonly number[]) =>
    a.reduce((sum, value, i) => sum + value * (b[i] as number), 0) / (Math.hypot(...a) * Math.hypot(...b));

  test("keeps its direction", () => {
    fc.assert(
      fc.property(vector, vector, (a, b) => {
        expect(Math.abs(cosine(quantised(a), quantised(b)) - exact(a, b))).toBeLessThan(0.02);
        expect(cosine(quantised(a), quantised(a))).toBeGreaterThan(0.999_999);
      }),
    );
  });

  test("has no similarity to a vector of another length or without a direction", () => {
    expect([cosine(quantised([1, 0]), quantised([1])), cosine(quantised([0, 0]), quantised([1, 0]))]).toEqual([0, 0]);
  });
});

describe("the vector index", () => {
  const of = { tenantId: "acme", configId: "c", generation: "g" };
  const entry = (id: string, values: number[], until = 1_000_000): StoredVector => ({ id, vector: quantised(values), until });

  /** A database that records its queries. */
  function database(rows: StoredVector[]) {
    const asked: string[] = [];
    const vectors: StoredAnswers["vectors"] = async (_of, space, after, limit) => {
      asked.push(`${space}>${after}`);
      return rows
        .filter(({ id }) => id > after)
        .toSorted((a, b) => (a.id < b.id ? 1 : -1))
        .slice(0, limit);
    };
    return { asked, stored: { vectors } as StoredAnswers };
  }

  test("returns the nearest vector above the threshold that has not expired", async () => {
    const { stored } = database([entry("1", [1, 0]), entry("2", [1, 0.2]), entry("3", [1, 0.05], 5)]);
    const spaces = new VectorIndex(stored, () => 10);
    expect((await spaces.nearest(of, "s", quantised([1, 0.19]), 0.9))?.found.id).toBe("2");
    expect((await spaces.nearest(of, "s", quantised([1, 0.05]), 0.9))?.found.id).toBe("1");
    expect(await spaces.nearest(of, "s", quantised([0, 1]), 0.9)).toBeNull();
  });

  test("finds what another process stored within a second, and queries the database no more often", async () => {
    const rows = [entry("1", [1, 0])];
    let now = 10;
    const { stored, asked } = database(rows);
    const spaces = new VectorIndex(stored, () => now);
    const find = async () => (await spaces.nearest(of, "s", quantised([0, 1]), 0.9))?.found.id ?? null;
    expect(await find()).toBeNull();
    rows.push(entry("2", [0, 1]));
    expect([await find(), asked.length]).toEqual([null, 1]);
    now += 1_000;
    expect([await find(), asked.length]).toEqual(["2", 2]);
    spaces.add(of, "s", entry("3", [0.1, 1]));
    expect([await find(), asked.length]).toEqual(["2", 2]);
  });

  test("keeps generations, tenants and spaces apart", async () => {
    const { stored, asked } = database([]);
    const spaces = new VectorIndex(stored, () => 10);
    for (const [where, name] of [
      [of, "s"],
      [{ ...of, generation: "h" }, "s"],
      [{ ...of, tenantId: "beta" }, "s"],
      [of, "t"],
      [of, "s"],
    ] as const)
      await spaces.nearest(where, name, quantised([1]), 0.9);
    expect(asked).toHaveLength(4);
  });
});
