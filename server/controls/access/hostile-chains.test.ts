import { expect, test } from "bun:test";
import fc from "fast-check";
import type { GroupScope, TenantSnapshot } from "../../directory/snapshot.ts";
import { RequestHeaders } from "../../kernel/http/request-headers.ts";
import { secretBox } from "../../kernel/secrets.ts";
import type { Call } from "../../road/call.ts";
import {
  givenDelegation,
  CHAIN_HEADER,
  type DelegationChain,
  delegationHeaders,
  MAX_HOPS,
  SIGNATURE_HEADER,
} from "../../road/record/delegation.ts";
import type { RequestView } from "../../road/view.ts";
import { agentAccess } from "./agent-access.ts";

const NOW = Date.UTC(2026, 10, 23);
const MAX_DEPTH = 5;
const secrets = secretBox(new Uint8Array(32).fill(1));
const foreign = secretBox(new Uint8Array(32).fill(2));
const NAMES = Array.from({ length: MAX_HOPS + 2 }, (_, index) => `agent-${index}`);

/** Every agent has its own group's credentials and a grant that lets everybody call it. */
const agents = new Map(
  NAMES.map((name) => [
    name,
    { id: name, cardName: name, enabled: true, resourceGroupId: name, reached: { skills: [] }, skillsAllowed: null },
  ]),
);
const grants = new Map(
  NAMES.map((name) => [
    name,
    [
      {
        id: `grant of ${name}`,
        groupIds: new Set(["all"]),
        skillIds: null,
        decision: "allow",
        maxDepth: MAX_DEPTH,
        outdated: false,
        enabled: true,
      },
    ],
  ]),
);
const tenant = {
  id: "acme",
  agents: { byCardName: agents, grants, byGroup: new Map([...agents].map(([name, agent]) => [name, agent])) },
} as unknown as TenantSnapshot;
const scopeOf = (groupId: string) =>
  ({
    groupId,
    tenant,
    chain: [
      { id: groupId, name: groupId },
      { id: "all", name: "all" },
    ],
    grantingGroups: new Set([groupId, "all"]),
    autonomy: null,
  }) as unknown as GroupScope;

function chainOf(names: readonly string[], at = NOW / 1000): DelegationChain {
  const hops = names.map((agent, index) => ({ agent, group: "all", depth: index + 1, at, task: `t${index}` }));
  return { root: "root", kind: "external_api", hops };
}

/** The outcome of a message that `by` sends to `to` with these headers, and what is recorded on the row. */
function sent(
  headers: Record<string, string>,
  by: string,
  to: string,
): { readonly reason: string | null; readonly row: Record<string, unknown> } {
  const scope = scopeOf(by);
  const found = givenDelegation(new RequestHeaders(new Headers(headers)), { tenant, scope, secrets, now: NOW });
  if (found.kind !== "verified") return { reason: found.kind === "failed" ? found.reason : found.kind, row: {} };
  const call = { id: "call", scope, delegation: found.chain, row: {} as Record<string, unknown>, target: { kind: "none" } };
  const target = { kind: "agent", tenantId: "acme", cardName: to, sends: true, skill: null };
  const decision = agentAccess.decide(call as unknown as Call, { target } as unknown as RequestView) as { refusal?: { code: string } };
  return { reason: decision.refusal?.code ?? null, row: call.row };
}

const turned = fc.nat(NAMES.length - 1).map((first) => [...NAMES.slice(first), ...NAMES.slice(0, first)]);
const KINDS = ["forged", "tampered", "reordered", "replayed", "stale", "too deep", "looping"] as const;

test("10,000 forged, reordered, replayed, too deep or looping delegation chains are each refused with the reason", () => {
  const reasons = new Map<string, Set<string | null>>(KINDS.map((kind) => [kind, new Set()]));
  const judge = (kind: (typeof KINDS)[number], names: readonly string[], length: number, place: number) => {
    const path = names.slice(0, length);
    const holder = path.at(-1) as string;
    const [next, other] = names.slice(-2) as [string, string];
    const good = delegationHeaders(secrets, "acme", chainOf(path));
    switch (kind) {
      case "forged":
        return sent(
          { ...good, [SIGNATURE_HEADER]: delegationHeaders(foreign, "acme", chainOf(path))[SIGNATURE_HEADER] as string },
          holder,
          next,
        );
      case "tampered": {
        // Another chain's path under this chain's signature.
        const text = delegationHeaders(secrets, "acme", chainOf([...path.slice(0, place % length), next, ...path.slice(place % length)]))[
          CHAIN_HEADER
        ];
        return sent({ ...good, [CHAIN_HEADER]: text as string }, holder, other);
      }
      case "reordered": {
        const { hops, ...rest } = chainOf([...path, next]);
        const from = place % length;
        const wrong = [...hops.slice(0, from), hops[from + 1], hops[from], ...hops.slice(from + 2)] as typeof hops;
        return sent(delegationHeaders(secrets, "acme", { ...rest, hops: wrong }), next, other);
      }
      case "replayed":
        return sent(good, next, other);
      case "stale":
        return sent(delegationHeaders(secrets, "acme", chainOf(path, NOW / 1000 - 86_401 - place)), holder, next);
      case "too deep":
        return sent(
          delegationHeaders(secrets, "acme", chainOf(names.slice(0, MAX_DEPTH + (place % (MAX_HOPS - MAX_DEPTH + 1))))),
          names[MAX_DEPTH + (place % (MAX_HOPS - MAX_DEPTH + 1)) - 1] as string,
          next,
        );
      case "looping":
        return sent(good, holder, path[place % length] as string);
    }
  };
  let seen = 0;
  fc.assert(
    fc.property(
      fc.constantFrom(...KINDS),
      turned,
      fc.integer({ min: 1, max: MAX_DEPTH - 1 }),
      fc.nat(1_000),
      (kind, names, length, place) => {
        seen++;
        const { reason, row } = judge(kind, names, length, place);
        expect(reason).not.toBeNull();
        if (kind === "too deep" || kind === "looping") expect(row).toMatchObject({ agent_authz_decision: "deny" });
        reasons.get(kind)?.add(reason);
      },
    ),
    { numRuns: 10_000 },
  );
  expect(seen).toBe(10_000);
  expect(Object.fromEntries([...reasons].map(([kind, found]) => [kind, [...found]]))).toEqual({
    forged: ["the signature does not fit"],
    tampered: ["the signature does not fit"],
    reordered: ["not readable"],
    replayed: ["given to another agent"],
    stale: ["too old"],
    "too deep": ["delegation_too_deep"],
    looping: ["delegation_loop"],
  });
});

test("a valid delegation chain is accepted", () => {
  const path = NAMES.slice(0, MAX_DEPTH - 1);
  const { reason, row } = sent(delegationHeaders(secrets, "acme", chainOf(path)), path.at(-1) as string, NAMES[20] as string);
  expect([reason, row.agent_authz_decision, row.delegation_depth]).toEqual([null, "allow", MAX_DEPTH]);
});
