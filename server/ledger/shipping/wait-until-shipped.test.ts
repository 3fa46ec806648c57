import { expect, test } from "bun:test";
import { waitUntilShipped } from "./wait-until-shipped.ts";

test("the wait succeeds once the rows are in the database, and fails if shipping stops or takes too long", async () => {
  expect(await waitUntilShipped(Promise.resolve())).toBe(true);
  expect(await waitUntilShipped(Promise.reject(new Error("the shipper has stopped")))).toBe(false);
  expect(await waitUntilShipped(new Promise(() => undefined), 1)).toBe(false);
});
