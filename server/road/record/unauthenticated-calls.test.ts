import { expect, test } from "bun:test";
import type { AuditRow } from "@gatehouse/ledger-format/fields";
import type { NamedTenants } from "../../directory/named-tenants.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Log } from "../../kernel/log.ts";
import { openCall } from "./open.ts";
import { UnauthenticatedCalls } from "./unauthenticated-calls.ts";

const MINUTE = 60_000;

function setting(rowsPerMinute = 3) {
  const sealed: AuditRow[] = [];
  const begun: AuditRow[] = [];
  const time = { now: 1_000 * MINUTE };
  const clock = { now: () => time.now, micros: () => time.now * 1000 } as Clock;
  const strangers = new UnauthenticatedCalls({
    tenants: {
      exist: () => true,
      known: (id: string) => (id === "acme" ? true : undefined),
      knownProfile: () => true,
    } as unknown as NamedTenants,
    refused: { note: () => undefined },
    ledger: { begin: (row) => void begun.push({ ...row }), seal: async (row) => void sealed.push(row), accepting: () => true },
    clock,
    log: {} as Log,
    rowsPerMinute,
  });
  const call = (ip: string, headers: Record<string, string> = {}) =>
    strangers.turnAway(openCall(new Request("http://g/v1/x", { headers }), ip, { proxyType: "llm", proxySubtype: "x" }, clock));
  return { strangers, call, sealed, begun, time };
}

test("calls of one address over the limit are refused until the next minute, and recorded in one row with their number", async () => {
  const { strangers, call, sealed, begun, time } = setting();
  const answers = Array.from({ length: 10 }, () => call("192.0.2.1"));
  expect(answers.map((refusal) => refusal?.code ?? null)).toEqual([...Array(3).fill(null), ...Array(7).fill("too_many_strangers")]);
  expect(answers[9]?.headers).toEqual({ "retry-after": "60" });
  expect(call("192.0.2.2")).toBeNull();
  // What a killed process would leave behind.
  expect(begun).toMatchObject([{ client_ip: "192.0.2.1", proxy_subtype: "strangers", success: false }]);
  await strangers.write();
  expect(sealed).toEqual([]);
  time.now += MINUTE;
  expect(call("192.0.2.1")).toBeNull();
  expect(sealed).toMatchObject([
    { client_ip: "192.0.2.1", proxy_subtype: "strangers", http_status_code: 429, tenant_id: null, custom_metadata: { calls: 7 } },
  ]);
  await strangers.write("all");
  expect(sealed).toHaveLength(1);
});

test("IPv6 addresses are counted by their /64 prefix", async () => {
  const { strangers, call, sealed } = setting();
  for (let i = 0; i < 5; i++) call(`2001:db8:0:7::${i}`);
  expect(call("2001:db8:0:8::1")).toBeNull();
  await strangers.write("all");
  expect(sealed).toMatchObject([{ client_ip: "2001:db8:0:7::/64", custom_metadata: { calls: 2 } }]);
});

test("refused calls that name a tenant are recorded for that tenant, separately from others of the same address", async () => {
  const { strangers, call, sealed } = setting(1);
  for (let i = 0; i < 3; i++) call("192.0.2.1", { "x-tenant-id": "acme" });
  for (let i = 0; i < 3; i++) call("192.0.2.2", i === 2 ? {} : { "x-tenant-id": "acme" });
  await strangers.write("all");
  expect(
    sealed.map((row) => [row.client_ip, row.tenant_id, (row.custom_metadata as { calls: number }).calls, row.compliance_tags]),
  ).toEqual([
    ["192.0.2.1", "acme", 2, []],
    ["192.0.2.2", "acme", 1, []],
    ["192.0.2.2", null, 1, null],
  ]);
});

test("beyond a limit, further addresses are counted together, so that they do not fill the memory", async () => {
  const { strangers, call, sealed } = setting(1);
  for (let i = 0; i < 30_000; i++) call(`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`);
  await strangers.write("all");
  expect(sealed).toMatchObject([{ client_ip: null, custom_metadata: { calls: 19_999 } }]);
});
