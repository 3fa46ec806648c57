import { expect, test } from "bun:test";
import { waitUntilShipped } from "./wait-until-shipped.ts";

test("rows that are in the database are there, others are not, and a database that is away is not waited for", async () => {
  expect(await waitUntilShipped(Promise.resolve())).toBe(true);
  expect(await waitUntilShipped(Promise.reject(new Error("the shipper has stopped")))).toBe(false);
  expect(await waitUntilShipped(new Promise(() => undefined), 1)).toBe(false);
});
