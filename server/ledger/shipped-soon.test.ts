import { expect, test } from "bun:test";
import { shippedSoon } from "./shipped-soon.ts";

test("rows that are in the database are there, others are not, and a database that is away is not waited for", async () => {
  expect(await shippedSoon(Promise.resolve())).toBe(true);
  expect(await shippedSoon(Promise.reject(new Error("the shipper has stopped")))).toBe(false);
  expect(await shippedSoon(new Promise(() => undefined), 1)).toBe(false);
});
