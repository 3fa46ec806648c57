import { expect, test } from "bun:test";
import { refusedPushUrl } from "./push-address.ts";

test.each([
  ["https://hooks.invalid/", true],
  ["https://10.0.0.1/", false],
  ["https://[::1]/", false],
  ["http://hooks.invalid/", false],
])("with names left to a proxy, notifications may be sent to %s: %p", async (url, allowed) => {
  const refused = await refusedPushUrl(url, { allowPrivate: false, isLeftToProxy: () => true });
  expect(refused === null).toBe(allowed);
});

test("a host that cannot be resolved is refused if names are not left to a proxy", async () => {
  expect(await refusedPushUrl("https://hooks.invalid/", { allowPrivate: false, isLeftToProxy: () => false })).not.toBeNull();
});
