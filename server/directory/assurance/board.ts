import type { AiSystemOnBoard, AiSystemQuery, Gap } from "@gatehouse/contracts/ai-systems";
import { usdFromMicros } from "../../kernel/money.ts";
import { type AiSystemRow, aiSystemStore, type SystemTraffic, trafficOf } from "../../store/ai-systems.ts";
import { openFindings } from "../../store/drift-findings.ts";
import type { Page, Paged } from "../../store/paging.ts";
import type { Directory } from "../writes/write.ts";
import { readAiSystem } from "./ai-systems.ts";
import { contractOnBoard, waitsForApproval } from "./contracts.ts";
import { requirementsOf } from "./lifecycle-requirements.ts";

const DAY_MS = 86_400_000;

/** The systems of a tenant with their traffic, and what their governance lacks. */
export async function readFleetBoard(
  directory: Directory,
  tenantId: string,
  query: AiSystemQuery,
  page: Page,
): Promise<Paged<AiSystemOnBoard>> {
  const { items, total } = await aiSystemStore.page(directory.db, tenantId, query, page);
  const now = directory.clock.now();
  const traffic = await trafficOf(
    directory.db,
    tenantId,
    items.map(({ id }) => id),
    new Date(now - DAY_MS),
  );
  const shown: AiSystemOnBoard[] = [];
  for (const row of items)
    shown.push(
      await onBoard(
        directory,
        row,
        traffic.find(({ id }) => id === row.id),
        new Date(now),
      ),
    );
  return { items: shown, total };
}

async function onBoard(directory: Directory, row: AiSystemRow, traffic: SystemTraffic | undefined, now: Date): Promise<AiSystemOnBoard> {
  const contract = await contractOnBoard(directory, row);
  const open = await openFindings(directory.db, row.tenant_id, row.id);
  const { calls = 0, errors = 0, micros = 0, unpriced = 0 } = traffic ?? {};
  return {
    ...readAiSystem(row),
    contract,
    calls,
    errors,
    cost_usd: calls > 0 && unpriced >= calls ? null : usdFromMicros(micros),
    last_called_hour: traffic?.last_hour?.toISOString() ?? null,
    open_findings: Object.values(open).reduce((sum, count) => sum + count, 0),
    gaps: await gapsOf(directory, row, contract, calls, now),
  };
}

const IN_USE = new Set(["in_service", "restricted"]);

/** What the governance of a system lacks. `calls`: how often it was called lately. */
export async function gapsOf(
  directory: Directory,
  row: AiSystemRow,
  contract: AiSystemOnBoard["contract"],
  calls: number,
  now: Date,
): Promise<Gap[]> {
  if (row.lifecycle_state === "retired") return [];
  const gaps: Gap[] = [];
  for (const state of ["assessed", "approved"] as const) {
    for (const { id, title, met, detail } of await requirementsOf(directory.db, row, state, now))
      if (!met) gaps.push({ id, title: `Missing: ${title.charAt(0).toLowerCase()}${title.slice(1)}`, detail });
  }
  if (contract === null)
    gaps.push({
      id: "no_contract",
      title: "No contract is in force",
      detail: "Mint a contract, have somebody else approve it, and promote it.",
    });
  else if (!contract.conforms)
    gaps.push({
      id: "contract_drift",
      title: "The configuration is not what its contract says",
      detail: "Compare the contract with `live`: put back what changed, or mint a new version.",
    });
  if (await waitsForApproval(directory.db, row.tenant_id, row.id))
    gaps.push({
      id: "approval_waits",
      title: "A contract waits for approval",
      detail: "Somebody other than its author reviews and approves or rejects it.",
    });
  if (calls > 0 && !IN_USE.has(row.lifecycle_state) && row.lifecycle_state !== "suspended")
    gaps.push({
      id: "called_before_service",
      title: "It is called and not in service",
      detail: "Take it through its lifecycle to in_service, or suspend it.",
    });
  return gaps;
}
