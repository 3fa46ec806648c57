import { expect, test } from "bun:test";
import { RegistrationThrottle } from "./registration-throttle.ts";

test("sixty registrations within ten minutes block the address, and no other, until the ten minutes are over", () => {
  let now = 1_000_000;
  const throttle = new RegistrationThrottle({ now: () => now, micros: () => now * 1000 });
  for (let i = 0; i < 60; i++) expect(throttle.enter("1")).toBeNull();
  expect([throttle.enter("1"), throttle.enter("2")]).toEqual([600, null]);
  now += 599_001;
  // Refused attempts do not extend the window.
  expect(throttle.enter("1")).toBe(1);
  now += 999;
  expect(throttle.enter("1")).toBeNull();
});

test("addresses of one IPv6 network count as one address", () => {
  const throttle = new RegistrationThrottle({ now: () => 0, micros: () => 0 });
  for (let host = 1; host <= 60; host++) expect(throttle.enter(`2001:db8::${host}`)).toBeNull();
  expect([throttle.enter("2001:db8::61"), throttle.enter("2001:db8:0:1::1")]).toEqual([600, null]);
});
