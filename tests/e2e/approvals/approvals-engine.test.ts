import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { sql } from "kysely";
import {
  approveApproval,
  expireApprovalRows,
  getApproval,
  getViewedApproval,
  listApprovals,
  listViewedApprovals,
  pollApproval,
  redeemApproval,
  rejectApproval,
  requestApproval,
  type ApprovalDemand,
  type Viewer,
} from "../../../server/directory/tools/approvals.ts";
import { Refused } from "../../../server/kernel/errors.ts";
import { approvalDemand } from "../../support/records/approvals.ts";
import { LONG_TEST_MS } from "../../support/patience.ts";
import { controlPlane, movableClock, newTenant, type ControlPlane, type Send } from "../admin/admin-harness.ts";

const clock = movableClock();
/** Races for approvals, with every kind of caller trying at once for each. */
const RACES = Number(process.env.APPROVAL_RACES ?? 50);
const page = { limit: 50, offset: 0 };
const boss = { name: "boss", viewer: null, account: null };
let plane: ControlPlane;
let send: Send;
let group: string;
let member: string;
let calls = 0;

beforeAll(async () => {
  plane = await controlPlane({ clock });
  const acme = await newTenant(plane, "acme");
  send = acme.send;
  await newTenant(plane, "beta");
  group = (await acme.send("POST", "/v1/admin/resource-groups", { name: "g" })).body.id;
  member = (
    await acme.send("POST", "/v1/admin/end-users", { username: "approver", password: "a long enough password", primary_group_id: group })
  ).body.user.id;
});
afterAll(() => plane.close());

const demand = (rest: Partial<ApprovalDemand> = {}) => approvalDemand("acme", group, { argumentsDigest: `digest-${calls++}`, ...rest });

function redemption(asked: ApprovalDemand) {
  const { tenantId, requesterId, requesterGroupId, serverId, capabilityName, argumentsDigest, definitionDigest } = asked;
  return {
    tenantId,
    requesterId,
    requesterGroupId,
    serverId,
    capabilityName,
    argumentsDigest,
    definitionDigest,
    callId: `call-${calls++}`,
  };
}

async function approved(asked: ApprovalDemand) {
  const { id } = await requestApproval(plane.directory, asked);
  return { id, token: (await approveApproval(plane.directory, asked.tenantId, id, boss, null)).approval_token };
}

describe("an approval token", () => {
  test("is redeemed by exactly one of many concurrent attempts", async () => {
    for (let round = 0; round < Math.min(RACES, 50); round++) {
      const asked = demand();
      const { id, token } = await approved(asked);
      const outcomes = await Promise.all(Array.from({ length: 20 }, () => redeemApproval(plane.directory, token, redemption(asked))));
      expect(outcomes.filter((outcome) => outcome !== null)).toEqual([id]);
      expect(await redeemApproval(plane.directory, token, redemption(asked))).toBeNull();
    }
  });

  test("is refused for any other caller, group, server, tool, arguments or definition, and stays valid for its own call", async () => {
    const asked = demand();
    const { id, token } = await approved(asked);
    const others = [
      { tenantId: "beta" },
      { requesterId: "key-2" },
      { requesterGroupId: crypto.randomUUID() },
      { serverId: "mcp-2" },
      { capabilityName: "delete_one" },
      { argumentsDigest: "digest-other" },
      { definitionDigest: "definition-other" },
    ];
    for (const other of others) expect(await redeemApproval(plane.directory, token, { ...redemption(asked), ...other })).toBeNull();
    const forged = [`${token.slice(0, -1)}${token.endsWith("0") ? "1" : "0"}`, token.toUpperCase(), "", "gw_apr_", `${token} `];
    for (const wrong of forged) expect(await redeemApproval(plane.directory, wrong, redemption(asked))).toBeNull();
    expect(await redeemApproval(plane.directory, token, redemption(asked))).toBe(id);
  });

  test(
    `is redeemed at most once in ${RACES} races with other callers, altered calls and replays, and not when expired`,
    async () => {
      const other = () => crypto.randomUUID();
      const changes: ((asked: ApprovalDemand, token: string) => readonly [Partial<ReturnType<typeof redemption>>, string])[] = [
        (_asked, token) => [{ argumentsDigest: `digest-${other()}` }, token],
        (_asked, token) => [{ requesterId: other() }, token],
        (_asked, token) => [{ requesterGroupId: other() }, token],
        (_asked, token) => [{ serverId: `mcp-${other()}` }, token],
        (asked, token) => [{ capabilityName: `${asked.capabilityName} ` }, token],
        (_asked, token) => [{ tenantId: "beta" }, token],
        (_asked, token) => [{}, token.replace(/.$/, (last) => (last === "0" ? "1" : "0"))],
        (_asked, token) => [{}, `${token.slice(0, 39)}_${"f".repeat(64)}`],
      ];
      const race = async (round: number) => {
        const asked = demand({ timeoutSeconds: 900 });
        const { id, token } = await approved(asked);
        const strangers = [0, 1, 2].map((at) => changes[(round + at * 3) % changes.length]?.(asked, token) ?? ([{}, ""] as const));
        const own = Array.from({ length: 3 }, () => redeemApproval(plane.directory, token, redemption(asked)));
        const foreign = strangers.map(([rest, shown]) => redeemApproval(plane.directory, shown, { ...redemption(asked), ...rest }));
        expect((await Promise.all(foreign)).filter((outcome) => outcome !== null)).toEqual([]);
        expect((await Promise.all(own)).filter((outcome) => outcome !== null)).toEqual([id]);
        expect(await redeemApproval(plane.directory, token, redemption(asked))).toBeNull();
      };
      // Several races at once, so that approvals also contend in the database; then the same with expired approvals.
      for (let round = 0; round < RACES; round += 10)
        await Promise.all(Array.from({ length: Math.min(10, RACES - round) }, (_, at) => race(round + at)));
      const late = await Promise.all(
        Array.from({ length: Math.min(RACES, 200) }, async () => {
          const asked = demand({ timeoutSeconds: 60 });
          return { asked, ...(await approved(asked)) };
        }),
      );
      clock.advance(60_000);
      for (const { asked, token } of late) expect(await redeemApproval(plane.directory, token, redemption(asked))).toBeNull();
    },
    LONG_TEST_MS + RACES * 200,
  );

  test("of one approval cannot be combined with that of another approval for the same call", async () => {
    const asked = demand();
    const first = await approved(asked);
    const second = await approved(asked);
    expect(second.id).not.toBe(first.id);
    const [id, nonce] = [second.token.split("_")[2], first.token.split("_")[3]];
    expect(await redeemApproval(plane.directory, `gw_apr_${id}_${nonce}`, redemption(asked))).toBeNull();
    expect(await redeemApproval(plane.directory, first.token, redemption(asked))).toBe(first.id);
    expect(await redeemApproval(plane.directory, second.token, redemption(asked))).toBe(second.id);
  });

  test("expires after the timeout, which starts again with the approval", async () => {
    const asked = demand({ timeoutSeconds: 60 });
    const { id } = await requestApproval(plane.directory, asked);
    clock.advance(59_000);
    const { approval_token: token } = await approveApproval(plane.directory, "acme", id, boss, null);
    clock.advance(61_000);
    expect(await redeemApproval(plane.directory, token, redemption(asked))).toBeNull();
    expect((await getApproval(plane.directory, "acme", id)).status).toBe("expired");
  });
});

describe("an approval request", () => {
  test("for the same call returns the pending request", async () => {
    const asked = demand();
    const made = await Promise.all(Array.from({ length: 10 }, () => requestApproval(plane.directory, asked)));
    expect(new Set(made.map(({ id }) => id)).size).toBe(1);
  });

  test("is resolved once, by whoever comes first", async () => {
    const { id } = await requestApproval(plane.directory, demand());
    const outcomes = await Promise.allSettled([
      approveApproval(plane.directory, "acme", id, boss, null),
      rejectApproval(plane.directory, "acme", id, boss, "no"),
      approveApproval(plane.directory, "acme", id, boss, null),
    ]);
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });

  test("is created or resolved only if its notifications can be stored", async () => {
    const { db } = plane.directory;
    const told = async (id: string) =>
      (
        await sql<{
          who: string;
        }>`SELECT end_user_id::text AS who FROM notifications WHERE metadata->>'approval_id' = ${id} ORDER BY id`.execute(db)
      ).rows.map(({ who }) => who);
    const untold = async (work: () => Promise<unknown>) => {
      await sql`ALTER TABLE notifications RENAME TO notifications_away`.execute(db);
      await expect(work()).rejects.toThrow();
      await sql`ALTER TABLE notifications_away RENAME TO notifications`.execute(db);
    };
    const asker = (
      await sql<{
        id: string;
      }>`INSERT INTO end_users (id, tenant_id, username, password_hash) VALUES (${crypto.randomUUID()}, 'acme', 'asker', '-') RETURNING id::text`.execute(
        db,
      )
    ).rows[0]?.id as string;
    const asked = demand({ requesterType: "user", requesterId: asker });
    await untold(() => requestApproval(plane.directory, asked));
    const { id } = await requestApproval(plane.directory, asked);
    expect(await told(id)).toEqual([member]);
    await untold(() => rejectApproval(plane.directory, "acme", id, boss, null));
    expect((await rejectApproval(plane.directory, "acme", id, boss, null)).status).toBe("rejected");
    expect(await told(id)).toEqual([member, asker]);
  });

  test("that expired cannot be approved and is requested anew; the expiry job may run twice", async () => {
    const asked = demand({ timeoutSeconds: 1 });
    const { id } = await requestApproval(plane.directory, asked);
    clock.advance(2_000);
    expect(approveApproval(plane.directory, "acme", id, boss, null)).rejects.toMatchObject({ refusal: { code: "approval_not_pending" } });
    const next = await requestApproval(plane.directory, asked);
    expect(next.id).not.toBe(id);
    expect((await listApprovals(plane.directory, "acme", "pending", page)).items.some((item) => item.id === id)).toBe(false);
    expect((await listApprovals(plane.directory, "acme", "expired", page)).items.some((item) => item.id === id)).toBe(true);
    await expireApprovalRows(plane.database.db);
    await expireApprovalRows(plane.database.db);
  });

  test("that expired is notified to the requester once, whether it was unresolved or unused", async () => {
    const asker = (await send("POST", "/v1/admin/end-users", { username: "patient", password: "a long enough password" })).body.user.id;
    const byAsker = { requesterType: "user", requesterId: asker } as const;
    const unresolved = await requestApproval(plane.directory, demand(byAsker));
    const unused = await approved(demand(byAsker));
    const byKey = await requestApproval(plane.directory, demand());
    await sql`UPDATE approvals SET expires_at = now() - interval '1 second' WHERE id IN (${unresolved.id}, ${unused.id}, ${byKey.id})`.execute(
      plane.database.db,
    );
    for (let i = 0; i < 2; i++) await expireApprovalRows(plane.database.db);
    const told = await plane.database.db
      .selectFrom("notifications")
      .select(["title", "body", "metadata", "notification_type"])
      .where("end_user_id", "=", asker)
      .where("notification_type", "<>", "approval_resolved")
      .orderBy("body")
      .execute();
    const call = { requester_display: expect.any(String), capability_name: "delete_all", server_name: "tools" };
    expect(told).toEqual([
      {
        notification_type: "approval_expired",
        title: "Expired: delete_all",
        body: "Nobody resolved the call of delete_all on tools in time.",
        metadata: { ...call, approval_id: unresolved.id, status: "expired", resolved: false, resolved_by: null },
      },
      {
        notification_type: "approval_expired",
        title: "Expired: delete_all",
        body: "boss approved the call of delete_all on tools, which was not made in time.",
        metadata: { ...call, approval_id: unused.id, status: "expired", resolved: true, resolved_by: "boss" },
      },
    ]);
  });

  test("is created anew when the approver groups have changed", async () => {
    const [before, now] = [crypto.randomUUID(), crypto.randomUUID()];
    const asked = demand({ approverGroupIds: [before, group] });
    const { id } = await requestApproval(plane.directory, asked);
    expect((await requestApproval(plane.directory, { ...asked, approverGroupIds: [group, before] })).id).toBe(id);
    const next = await requestApproval(plane.directory, { ...asked, approverGroupIds: [group, now] });
    expect([next.id === id, next.status, (await getApproval(plane.directory, "acme", id)).status]).toEqual([false, "pending", "expired"]);
    const former = { name: "former", viewer: { requesterId: "user-9", groupIds: [before] }, account: null };
    for (const one of [id, next.id])
      await expect(approveApproval(plane.directory, "acme", one, former, null)).rejects.toBeInstanceOf(Refused);
    expect(
      (await approveApproval(plane.directory, "acme", next.id, { ...former, viewer: { ...former.viewer, groupIds: [now] } }, null)).status,
    ).toBe("approved");
  });

  test("is visible to its requester and its approvers, and to nobody else", async () => {
    const approvers = crypto.randomUUID();
    const asked = demand({ requesterId: "user-1", approverGroupIds: [approvers] });
    const { id } = await requestApproval(plane.directory, asked);
    const asker: Viewer = { requesterId: "user-1", groupIds: [group, approvers] };
    const approver: Viewer = { requesterId: "user-2", groupIds: [approvers] };
    const colleague: Viewer = { requesterId: "user-3", groupIds: [group] };
    const find = (viewer: Viewer, tenant = "acme") =>
      getViewedApproval(plane.directory, tenant, id, viewer).then(
        () => true,
        () => false,
      );
    expect(await Promise.all([find(asker), find(approver), find(colleague), find(approver, "beta")])).toEqual([true, true, false, false]);
    expect((await listViewedApprovals(plane.directory, "acme", colleague, "all", page)).items.some((item) => item.id === id)).toBe(false);
    expect(approveApproval(plane.directory, "acme", id, { name: "me", viewer: asker, account: null }, null)).rejects.toMatchObject({
      refusal: { code: "forbidden" },
    });
    await approveApproval(plane.directory, "acme", id, { name: "two", viewer: approver, account: null }, "fine");
    const bystander: Viewer = { requesterId: "user-4", groupIds: [approvers] };
    expect((await pollApproval(plane.directory, "acme", id, bystander)).approval_token).toBeUndefined();
    const { approval_token: granted } = await pollApproval(plane.directory, "acme", id, approver);
    const { approval_token: token } = await pollApproval(plane.directory, "acme", id, asker);
    expect(await redeemApproval(plane.directory, token ?? "", redemption(asked))).toBe(id);
    expect(granted).toBe(token as string);
    for (const viewer of [asker, approver])
      expect((await pollApproval(plane.directory, "acme", id, viewer)).approval_token).toBeUndefined();
  });
});

test("erasing an end user keeps the name of an administrator with the same name in approvals", async () => {
  const name = "owner-of-acme";
  const twin = (await send("POST", "/v1/admin/end-users", { username: name, password: "a long enough password" })).body.user.id;
  const [byAdmin, byTwin, before] = [
    await requestApproval(plane.directory, demand()),
    await requestApproval(plane.directory, demand()),
    await requestApproval(plane.directory, demand()),
  ];
  expect((await send("POST", `/v1/admin/approvals/${byAdmin.id}/approve`, { note: "fine" })).body.resolved_by).toBe(name);
  for (const { id } of [byTwin, before])
    await rejectApproval(plane.directory, "acme", id, { name, viewer: { requesterId: twin, groupIds: [group] }, account: null }, "no");
  await sql`UPDATE approvals SET resolver_id = '' WHERE id = ${before.id}`.execute(plane.database.db);
  expect((await send("POST", "/v1/admin/data-erasure", { subject: { gateway_user_username: name } })).body).toMatchObject({
    account_erased: true,
    approvals_erased: 2,
  });
  const left = await Promise.all([byAdmin, byTwin, before].map(async ({ id }) => (await send("GET", `/v1/admin/approvals/${id}`)).body));
  expect(left.map((one) => [one.resolved_by, one.resolution_note])).toEqual([
    [name, "fine"],
    ["erased", null],
    ["erased", null],
  ]);
});
