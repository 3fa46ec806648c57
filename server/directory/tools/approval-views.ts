import { idsRequestedByAccounts } from "../../store/approvals/approval-conflicts.ts";
import type { ApprovalRow } from "../../store/approvals/approvals.ts";
import type { Database } from "../../store/database.ts";
import { mayResolve, readApproval, type ViewedApproval, type Viewer } from "./approvals.ts";

/** An approval as seen by each viewer who may see it, by viewer ID; equal views share one object. */
export async function approvalViews(
  db: Database,
  row: ApprovalRow,
  viewers: readonly Viewer[],
  now: number,
): Promise<ReadonlyMap<string, ViewedApproval>> {
  const read = readApproval(row, now);
  const resolvers = viewers.filter((viewer) => mayResolve(row, viewer)).map(({ requesterId }) => requesterId);
  const filter =
    resolvers.length === 0 || read.status !== "pending"
      ? []
      : await idsRequestedByAccounts(db, row.tenant_id, [row.id], "portal", resolvers);
  const askers = new Set(filter.map(({ accountId }) => accountId));
  const [approving, rejecting, looking] = [
    { ...read, may_resolve: true, may_approve: true },
    { ...read, may_resolve: true, may_approve: false },
    { ...read, may_resolve: false, may_approve: false },
  ];
  const views = new Map<string, ViewedApproval>();
  if (viewers.some(({ requesterId }) => requesterId === row.requester_id)) views.set(row.requester_id, looking);
  for (const id of resolvers) views.set(id, askers.has(id) ? rejecting : approving);
  return views;
}
