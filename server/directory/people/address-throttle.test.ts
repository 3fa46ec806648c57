import { expect, test } from "bun:test";
import { AddressThrottle } from "./address-throttle.ts";

let now = 1_000_000;
const newThrottle = () => new AddressThrottle({ now: () => now, micros: () => now * 1000 });

test("sixty registrations within ten minutes block the address, and no other, until the ten minutes are over", async () => {
  const throttle = newThrottle();
  const register = (from: string) => throttle.take("registration", from);
  for (let i = 0; i < 60; i++) expect(await register("1")).toBeNull();
  expect([await register("1"), await register("2")]).toEqual([600, null]);
  now += 599_001;
  // Refused attempts do not extend the window.
  expect(await register("1")).toBe(1);
  now += 999;
  expect(await register("1")).toBeNull();
});

test("addresses of one IPv6 network count as one address", async () => {
  const throttle = newThrottle();
  for (let host = 1; host <= 60; host++) expect(await throttle.take("registration", `2001:db8::${host}`)).toBeNull();
  expect([await throttle.take("registration", "2001:db8::61"), await throttle.take("registration", "2001:db8:0:1::1")]).toEqual([
    600,
    null,
  ]);
});

test("one kind of use does not count for another, and one that is given back does not count at all", async () => {
  const throttle = newThrottle();
  for (let i = 0; i < 60; i++) await throttle.take("saml_response", "1");
  expect([await throttle.take("saml_response", "1"), await throttle.take("sign_on", "1")]).toEqual([60, null]);
  await throttle.giveBack("saml_response", "1");
  expect([await throttle.take("saml_response", "1"), await throttle.take("saml_response", "1")]).toEqual([null, 60]);
});
