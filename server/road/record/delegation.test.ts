import { expect, test } from "bun:test";
import fc from "fast-check";
import type { GroupScope, TenantSnapshot } from "../../directory/snapshot.ts";
import { RequestHeaders } from "../../kernel/http/request-headers.ts";
import { secretBox } from "../../kernel/secrets.ts";
import {
  givenDelegation,
  CHAIN_HEADER,
  type DelegationChain,
  delegationHeaders,
  KEY_HEADER,
  MAX_HOPS,
  SIGNATURE_HEADER,
} from "./delegation.ts";

const NOW = Date.UTC(2026, 10, 23);
const secrets = secretBox(new Uint8Array(32).fill(1));
const agentsOf = (group: string | null) => new Map(["a", "b"].map((cardName) => [cardName, { cardName, resourceGroupId: group }]));
const tenantOf = (id: string, group: string | null = "g") => ({ id, agents: { byCardName: agentsOf(group) } }) as unknown as TenantSnapshot;
const scopeOf = (groupId: string) => ({ groupId }) as GroupScope;

function chainOf(length: number, at = NOW / 1000): DelegationChain {
  const hops = Array.from({ length }, (_, index) => ({
    agent: index % 2 === 0 ? "a" : "b",
    group: "g",
    depth: index + 1,
    at,
    task: `t${index}`,
  }));
  return { root: "root", kind: "external_api", hops };
}

function brought(headers: Record<string, string>, { tenant = tenantOf("acme"), group = "g", now = NOW } = {}) {
  return givenDelegation(new RequestHeaders(new Headers(headers)), { tenant, scope: scopeOf(group), secrets, now });
}

test("a delegation chain is accepted unchanged from the agent it was given to, for a day", () => {
  for (const length of [1, 2, MAX_HOPS]) {
    const chain = chainOf(length);
    expect(brought(delegationHeaders(secrets, "acme", chain))).toEqual({ kind: "verified", chain });
  }
  const headers = delegationHeaders(secrets, "acme", chainOf(1));
  expect(brought(headers, { now: NOW + 86_000_000 }).kind).toBe("verified");
  expect(brought(headers, { now: NOW + 87_000_000 })).toMatchObject({ kind: "failed", reason: "too old" });
  expect(brought(headers, { now: NOW - 120_000 })).toMatchObject({ kind: "failed", reason: "from the future" });
  expect(brought(headers, { group: "another" })).toMatchObject({ kind: "failed", reason: "given to another agent" });
  expect(brought(headers, { tenant: tenantOf("other") })).toMatchObject({ kind: "failed", reason: "signed with another key" });
  expect(brought(delegationHeaders(secrets, "acme", chainOf(MAX_HOPS + 1)))).toMatchObject({ kind: "failed", reason: "not readable" });
  expect(brought({})).toEqual({ kind: "none" });
});

test("hops out of order are rejected, whoever signed them", () => {
  const { hops, ...rest } = chainOf(3);
  const [one, two, three] = hops as [DelegationChain["hops"][number], DelegationChain["hops"][number], DelegationChain["hops"][number]];
  for (const wrong of [[], [two, one, three], [one, three], [one, { ...two, at: one.at - 5 }], [one, one]])
    expect(brought(delegationHeaders(secrets, "acme", { ...rest, hops: wrong }))).toMatchObject({ kind: "failed", reason: "not readable" });
});

test("a chain with any change is rejected", () => {
  const good = delegationHeaders(secrets, "acme", chainOf(3));
  const names = [CHAIN_HEADER, SIGNATURE_HEADER, KEY_HEADER];
  fc.assert(
    fc.property(fc.constantFrom(...names), fc.nat(), fc.constantFrom(..."ABCxyz019_-"), (name, place, letter) => {
      const text = good[name] as string;
      const at = place % text.length;
      const changed = text.slice(0, at) + letter + text.slice(at + 1);
      const { kind } = brought({ ...good, [name]: changed });
      // Some bits of the last base64 character carry no data.
      const isSame = name === SIGNATURE_HEADER && Buffer.from(changed, "base64url").equals(Buffer.from(text, "base64url"));
      expect(kind).toBe(changed === text || isSame ? "verified" : "failed");
    }),
    { numRuns: 2_000 },
  );
  for (const name of names) {
    const { [name]: _left, ...torn } = good;
    expect(brought(torn).kind).toBe("dropped");
  }
});
