import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { haveValkey, startValkey, type TestValkey } from "../../../tests/support/processes/valkey.ts";
import { until } from "../../../tests/support/until.ts";
import { openValkey, type Valkey } from "../../runtime/valkey.ts";
import { AddressThrottle } from "./address-throttle.ts";
import { LoginThrottle } from "./login-throttle.ts";
import type { PagePlane } from "./page-sessions.ts";
import { sharedFailures } from "./shared-failures.ts";

/** Throttles of several machines that count failed sign-ins together in Valkey. */

const NOW = 1_000_000;
const clock = { now: () => NOW, micros: () => NOW * 1000 };
const opened: Valkey[] = [];
let valkey: TestValkey | undefined;

beforeAll(async () => {
  if (haveValkey) valkey = await startValkey();
});
afterAll(async () => {
  for (const client of opened) client.close();
  await valkey?.stop();
});

let accounts = 0;
const newAccount = () => `account-${++accounts}`;

/** The throttle of a plane of another machine. `keys`: what it stores under; `events`: whether the store was away. */
function machine(url = valkey?.url ?? "", plane: PagePlane = "portal") {
  const client = openValkey(url);
  opened.push(client);
  const keys: string[] = [];
  const events: string[] = [];
  const shared = sharedFailures({
    plane,
    run(script, names, args) {
      keys.push(...names);
      return client.run(script, names, args);
    },
    nameOf: (text) => new Bun.CryptoHasher("sha256").update(text).digest("hex"),
    away: () => events.push("away"),
    back: () => events.push("back"),
  });
  const throttle = new LoginThrottle(clock, shared);
  const uses = new AddressThrottle(clock, shared.uses);
  const attempt = (account: string, address: string, right: boolean) => throttle.attempt(account, address, async () => right);
  return { attempt, uses, keys, events };
}

if (haveValkey) {
  describe("machines that share Valkey", () => {
    test("allow five failures of an account from one address together, then make all of them wait", async () => {
      const [one, other] = [machine(), machine()];
      const account = newAccount();
      for (const { attempt } of [one, other, one, other, one]) expect(await attempt(account, "192.0.2.1", false)).toEqual({ ran: true });
      for (const { attempt } of [one, other]) {
        const refused = await attempt(account, "192.0.2.1", true);
        expect(refused).toEqual({ ran: false, retryAfter: expect.any(Number) });
        expect((refused as { retryAfter: number }).retryAfter).toBeGreaterThan(500);
        expect((refused as { retryAfter: number }).retryAfter).toBeLessThanOrEqual(600);
      }
      expect(await other.attempt(newAccount(), "192.0.2.1", true)).toEqual({ ran: true });
    });

    test("forget the failures of an account after a success on any of them", async () => {
      const [one, other] = [machine(), machine()];
      const account = newAccount();
      for (const { attempt } of [one, one, one, one]) await attempt(account, "192.0.2.2", false);
      expect(await other.attempt(account, "192.0.2.2", true)).toEqual({ ran: true });
      for (const { attempt } of [one, one, one, one]) expect(await attempt(account, "192.0.2.2", false)).toEqual({ ran: true });
    });

    test("close an account to strangers after a hundred failures, but not to an address its owner signed in from elsewhere", async () => {
      const [one, other] = [machine(), machine()];
      const account = newAccount();
      await one.attempt(account, "198.51.100.1", true);
      for (let stranger = 0; stranger < 100; stranger++)
        await (stranger % 2 === 0 ? one : other).attempt(account, `10.1.${stranger}.1`, false);
      expect(await one.attempt(account, "203.0.113.1", true)).toMatchObject({ ran: false });
      expect(await other.attempt(account, "198.51.100.1", true)).toEqual({ ran: true });
    });

    test("do not count failures at one plane against those who sign in at the other from the same address", async () => {
      const [portal, console] = [machine(), machine(undefined, "admin")];
      for (let guess = 0; guess < 100; guess++) await portal.attempt(newAccount(), "192.0.2.6", false);
      expect(await portal.attempt(newAccount(), "192.0.2.6", true)).toMatchObject({ ran: false });
      expect(await console.attempt(newAccount(), "192.0.2.6", true)).toEqual({ ran: true });
    });

    test("count what clients do without signing in together, for each plane on its own", async () => {
      const [one, other, console] = [machine(), machine(), machine(undefined, "admin")];
      const from = "198.51.100.7";
      for (let i = 0; i < 60; i++) expect(await (i % 2 === 0 ? one : other).uses.take("saml_response", from)).toBeNull();
      for (const { uses } of [one, other]) expect(await uses.take("saml_response", from)).toBeWithin(1, 61);
      expect([await one.uses.take("sign_on", from), await console.uses.take("saml_response", from)]).toEqual([null, null]);
      await other.uses.giveBack("saml_response", from);
      expect([await one.uses.take("saml_response", from), await other.uses.take("saml_response", from)]).toEqual([
        null,
        expect.any(Number),
      ]);
      expect(one.keys.at(-1)).toMatch(/^gw:\{logins\}:portal:saml_response:[0-9a-f]{64}$/);
    });

    test("store neither account names nor addresses", async () => {
      const { attempt, keys } = machine();
      await attempt("a password in the wrong field", "192.0.2.3", false);
      await attempt("a password in the wrong field", "192.0.2.3", true);
      expect(keys.length).toBeGreaterThan(4);
      for (const key of keys) expect(key).toMatch(/^gw:\{logins\}:portal:(?:trusted|pair|address|account):[0-9a-f]{64}$/);
    });

    test("each count for themselves while Valkey is away, and together again afterwards", async () => {
      const own = await startValkey();
      const [one, other] = [machine(own.url), machine(own.url)];
      const account = newAccount();
      for (const { attempt } of [one, one, one, other, other]) await attempt(account, "192.0.2.4", false);
      expect(await other.attempt(account, "192.0.2.4", true)).toMatchObject({ ran: false });
      await own.kill();
      for (const failure of [4, 5]) expect([failure, await one.attempt(account, "192.0.2.4", false)]).toEqual([failure, { ran: true }]);
      expect(await one.attempt(account, "192.0.2.4", true)).toMatchObject({ ran: false });
      expect(await other.attempt(account, "192.0.2.4", false)).toEqual({ ran: true });
      expect([one.events, other.events]).toEqual([["away"], ["away"]]);

      const restarted = await startValkey(Number(new URL(own.url).port));
      for (const { attempt, events } of [one, other])
        await until(
          () => attempt(newAccount(), "192.0.2.5", true).then(() => events.at(-1)),
          (last) => last === "back",
        );
      const another = newAccount();
      for (const { attempt } of [one, other, one, other, one]) expect(await attempt(another, "192.0.2.4", false)).toEqual({ ran: true });
      expect(await other.attempt(another, "192.0.2.4", true)).toMatchObject({ ran: false });
      await restarted.stop();
    });
  });
}

test("a store that answers and takes no failures, as one without memory, leaves each machine to count for itself", async () => {
  const events: string[] = [];
  const failures = sharedFailures({
    plane: "portal",
    run: async (script) => (script.includes("INCR") ? Promise.reject(new Error("OOM command not allowed")) : [0, 0, 0]),
    nameOf: (text) => text,
    away: () => events.push("away"),
    back: () => events.push("back"),
  });
  const throttle = new LoginThrottle(clock, failures);
  const account = newAccount();
  const attempt = () => throttle.attempt(account, "192.0.2.7", async () => false);
  for (let guess = 0; guess < 5; guess++) expect(await attempt()).toEqual({ ran: true });
  expect(await attempt()).toEqual({ ran: false, retryAfter: 600 });
  const uses = new AddressThrottle(clock, failures.uses);
  for (let i = 0; i < 60; i++) expect(await uses.take("registration", "192.0.2.7")).toBeNull();
  expect(await uses.take("registration", "192.0.2.7")).toBe(600);
  expect(events).toEqual(["away"]);
});
