import { expect, test } from "bun:test";
import { LoginThrottle, usernameKey } from "./login-throttle.ts";

function throttle() {
  let now = 1_000_000;
  const held = new LoginThrottle({ now: () => now, micros: () => now * 1000 });
  return {
    attempt: (account: string, address: string, right: boolean) => held.attempt(account, address, async () => right),
    advance: (ms: number) => (now += ms),
  };
}

test("five failed logins on an account from one address block that pair for ten minutes", async () => {
  const { attempt, advance } = throttle();
  for (let failure = 0; failure < 5; failure++) expect(await attempt("a", "1", false)).toEqual({ ran: true });
  expect(await attempt("a", "1", true)).toEqual({ ran: false, retryAfter: 600 });
  expect(await attempt("b", "1", true)).toEqual({ ran: true });
  advance(600_001);
  expect(await attempt("a", "1", true)).toEqual({ ran: true });
});

test("a successful login resets the count of failures", async () => {
  const { attempt } = throttle();
  for (const right of [false, false, false, false, true, false, false, false, false])
    expect(await attempt("a", "1", right)).toEqual({ ran: true });
  expect(await attempt("a", "1", true)).toEqual({ ran: true });
});

test("failures from many addresses block an account for unknown addresses, not for one it has logged in from", async () => {
  const { attempt } = throttle();
  await attempt("a", "home", true);
  for (let address = 0; address < 100; address++) await attempt("a", `stranger-${address}`, false);
  expect(await attempt("a", "new place", true)).toMatchObject({ ran: false });
  expect(await attempt("a", "home", true)).toEqual({ ran: true });
});

test("an address that tries many accounts is blocked for all accounts", async () => {
  const { attempt } = throttle();
  for (let account = 0; account < 100; account++) await attempt(`account-${account}`, "1", false);
  expect(await attempt("another", "1", true)).toMatchObject({ ran: false });
  expect(await attempt("another", "2", true)).toEqual({ ran: true });
});

test("an attempt that throws does not block later attempts", async () => {
  const held = new LoginThrottle({ now: () => 0, micros: () => 0 });
  expect(held.attempt("a", "1", async () => Promise.reject(new Error("database away")))).rejects.toThrow("database away");
  expect(await held.attempt("a", "1", async () => true)).toEqual({ ran: true });
});

test("addresses of one IPv6 network count as one address, those of another network as another", async () => {
  const { attempt } = throttle();
  for (let host = 1; host <= 5; host++) await attempt("a", `2001:db8::${host}`, false);
  expect(await attempt("a", "2001:db8::6", true)).toMatchObject({ ran: false });
  expect(await attempt("a", "2001:db8:0:1::6", true)).toEqual({ ran: true });
});

test.each([
  ["Jo\u0308rg", "jörg"],
  ["ADMİN", "admin"],
  ["\u212Aelvin", "kelvin"],
  ["ΣΣ", "σσ"],
  ["\u{10400}", "\u{10428}"],
])("spellings of a username count as one account: %s is %s", (written, name) => expect(usernameKey(written)).toBe(name));

test("an attempt queues with its network, or under its own turn if the account has logged in from there before", async () => {
  const held = new LoginThrottle({ now: () => 0, micros: () => 0 });
  const turns: unknown[] = [];
  const attempt = (account: string, address: string) => held.attempt(account, address, async (turn) => turns.push(turn) > 0);
  for (const [account, address] of [
    ["a", "2001:db8::1"],
    ["b", "2001:db8::2"],
    ["a", "2001:db8::1"],
    ["a", "192.0.2.1"],
  ] as const)
    await attempt(account, address);
  expect(turns).toMatchObject([{ known: false }, { known: false }, { known: true }, { known: false }]);
  const [first, second, again, elsewhere] = turns as { of: string }[];
  expect([second?.of === first?.of, again?.of === first?.of, elsewhere?.of === first?.of]).toEqual([true, false, false]);
});
