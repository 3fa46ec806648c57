import { expect, test } from "bun:test";
import type { GroupScope, ModelEntry } from "../../directory/snapshot.ts";
import { portalModels } from "./portal-models.ts";

test("the portal shows a model at the prices currently in force", () => {
  const changed = Date.UTC(2026, 10, 21);
  const dated = (from: number, input: number) => ({ from, prices: { input, output: null }, tiers: [] });
  const model = {
    id: "m",
    name: "m",
    provider: {},
    priceSchedule: [dated(Number.NEGATIVE_INFINITY, 2_000_000), dated(changed, 500_000)],
  } as unknown as ModelEntry;
  const scope = {
    granted: new Set(["m"]),
    hiddenInPortal: new Set(),
    tenant: { models: new Map([["m", model]]), routingGroups: new Map() },
  } as unknown as GroupScope;
  const shown = (at: number) =>
    portalModels(scope, at).map(({ input_cost_per_million_tokens: input, output_cost_per_million_tokens: output }) => [input, output]);
  expect([shown(changed - 1), shown(changed)]).toEqual([[[2, null]], [[0.5, null]]]);
});
