import { openCheckpoint } from "@gatehouse/ledger-format/checkpoint";
import type { Clock } from "../kernel/clock.ts";
import { ulid } from "../kernel/ids.ts";
import type { Log } from "../kernel/log.ts";
import { appendAdminLog } from "../store/ledger/admin-log.ts";
import { pruneBodies, pruneRuns, reduceRows, tenantRetentions } from "../store/ledger/audit-retention.ts";
import { ensurePartitions, partitionsBefore } from "../store/ledger/audit-partitions.ts";
import { dropPrefixes, droppablePrefixes, type DroppablePrefix } from "../store/ledger/chain-prefixes.ts";
import { isAnyLegalHold, isUnderLegalHold } from "../store/tenants/legal-holds.ts";
import { forgetDeletedTenant, purgeableTenants } from "../store/tenants/deleted-tenants.ts";
import { pruneAlerts } from "../store/policies/alerts.ts";
import { pruneApprovals } from "../store/approvals/approval-upkeep.ts";
import type { Database } from "../store/database.ts";
import { forgetConversationNotices } from "../store/people/notices.ts";
import { pruneProvisioningLog } from "../store/provisioning/provisioning-log.ts";
import { forgetExpiredNotifications, pruneNotifications } from "../store/people/notifications.ts";
import { pruneUsage } from "../store/usage/usage-retention.ts";
import { listSigningKeys, trustedKeys } from "./checkpoints/signing-keys.ts";

const DAY_MS = 86_400_000;

/**
 * Applies every tenant's retention to rows, bodies, runs, approvals and messages to users, and creates partitions for the coming months.
 * Rows past `log_days` are reduced to the hashed fields; months past it for every tenant are dropped, up to a signed checkpoint. What is
 * left of a deleted tenant is removed along with its last rows. Under a legal hold nothing is removed of a tenant, and no month of
 * any tenant is dropped, for its rows are in it. Idempotent, and safe in two processes at once.
 */
export async function applyRetention(db: Database, clock: Clock, log: Log): Promise<void> {
  const now = new Date(clock.now());
  const before = (days: number): Date => new Date(now.getTime() - days * DAY_MS);
  await ensurePartitions(db, now);
  const tenants = await tenantRetentions(db);
  for (const tenant of tenants) {
    if (await isUnderLegalHold(db, tenant.id)) continue;
    const bodies = await pruneBodies(db, tenant.id, before(tenant.body_days), now);
    const reduced = await reduceRows(db, tenant.id, before(tenant.log_days), now);
    const runs = await pruneRuns(db, tenant.id, before(tenant.run_days));
    const approvals = await pruneApprovals(db, tenant.id, { bodies: before(tenant.body_days), calls: before(tenant.log_days) });
    await pruneUsage(db, tenant.id, now);
    const prunedCount = await pruneReported(db, tenant.id, before(tenant.log_days));
    if (bodies + reduced + runs + approvals + prunedCount > 0)
      log.info("retention_applied", {
        tenant_id: tenant.id,
        bodies_pruned: bodies,
        rows_reduced: reduced,
        runs_pruned: runs,
        approvals_pruned: approvals,
        told_pruned: prunedCount,
      });
  }
  await forgetExpiredNotifications(db, now);
  if (tenants.length > 0) await dropMonths(db, before(Math.max(...tenants.map((tenant) => tenant.log_days))), now, log);
  for (const id of await purgeableTenants(db, now)) {
    await db.transaction().execute((trx) => forgetDeletedTenant(trx, id));
    log.info("gone_tenant_forgotten", { tenant_id: id });
  }
}

/** Notifications, alerts, the provisioning log and records of AI notices. */
async function pruneReported(db: Database, tenantId: string, before: Date): Promise<number> {
  return (
    (await pruneNotifications(db, tenantId, before)) +
    (await pruneAlerts(db, tenantId, before)) +
    (await pruneProvisioningLog(db, tenantId, before)) +
    (await forgetConversationNotices(db, tenantId, before))
  );
}

/** Drops the partitions of months that ended before `before`, and records each chain's drop in the admin log. */
async function dropMonths(db: Database, before: Date, now: Date, log: Log): Promise<void> {
  const boundary = new Date(Date.UTC(before.getUTCFullYear(), before.getUTCMonth(), 1));
  const keys = trustedKeys(await listSigningKeys(db));
  await db.transaction().execute(async (trx) => {
    const partitions = await partitionsBefore(trx, boundary);
    if (partitions.length === 0 || (await isAnyLegalHold(trx))) return;
    const prefixes = (await droppablePrefixes(trx, boundary)).filter((prefix) => holds(prefix));
    await dropPrefixes(trx, partitions, prefixes, boundary);
    const entries = prefixes.map((prefix) => ({
      id: ulid(),
      tenant_id: null,
      at: now,
      action: "retention_drop",
      resource: "audit-chains",
      resource_id: prefix.chain_id,
      actor_id: null,
      actor_username: "gatehouse",
      actor_role: null,
      before: null,
      after: JSON.stringify({ through_seq: prefix.through_seq, row_hash: prefix.row_hash, checkpoint_no: prefix.checkpoint_no }),
      client_ip: null,
      request_id: null,
    }));
    await appendAdminLog(trx, entries);
    log.info("audit_months_dropped", { partitions: partitions.join(","), chains: prefixes.length });
  });

  /** Rows not covered by a valid checkpoint may be evidence of tampering, and are kept. */
  function holds(prefix: DroppablePrefix): boolean {
    const { checkpoint, invalid } = openCheckpoint(prefix.note, keys);
    const good =
      invalid === null &&
      checkpoint?.chainId === prefix.chain_id &&
      checkpoint.chainSeq === prefix.through_seq &&
      checkpoint.rowHash === prefix.row_hash;
    if (!good)
      log.error("audit_prefix_not_dropped", {
        chain_id: prefix.chain_id,
        chain_seq: prefix.through_seq,
        reason: invalid ?? "the checkpoint is not over the row that stands there",
      });
    return good;
  }
}
