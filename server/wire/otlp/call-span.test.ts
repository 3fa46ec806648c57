import { expect, test } from "bun:test";
import { spanOfCall } from "./call-span.ts";

test("what a call cost is a double, whole or not: the type of an attribute does not change from span to span", () => {
  const costOf = (usd: number) => {
    const facts = { id: "01M8FHJQWRTX0YDGZVSGTPDZ8H", timestamp: "2026-11-27T22:21:26.000000Z", llm_estimated_cost_usd: usd };
    const { attributes } = spanOfCall(facts as never) as { attributes: { key: string; value: object }[] };
    return attributes.find(({ key }) => key === "gatehouse.cost.usd")?.value;
  };
  expect([0, 2, 0.25].map(costOf)).toEqual([{ doubleValue: 0 }, { doubleValue: 2 }, { doubleValue: 0.25 }]);
});
