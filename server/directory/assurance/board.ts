import type { AiSystemOnBoard, AiSystemQuery } from "@gatehouse/contracts/ai-systems";
import { usdFromMicros } from "../../kernel/money.ts";
import { type AiSystemRow, aiSystemStore, type SystemTraffic, trafficOf } from "../../store/assurance/ai-systems.ts";
import { openFindings } from "../../store/assurance/drift-findings.ts";
import type { Page, Paged } from "../../store/records/paging.ts";
import type { Directory } from "../writes/write.ts";
import { readAiSystem } from "./ai-systems.ts";
import { contractOnBoard } from "./contracts.ts";
import { gapsOf } from "./fleet-gaps.ts";

const DAY_MS = 86_400_000;

/** The tenant's systems with their traffic and gaps in governance. */
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
  const { calls = 0, errors = 0, requests = 0, micros = 0, unpriced = 0 } = traffic ?? {};
  return {
    ...readAiSystem(row),
    contract,
    calls,
    errors,
    cost_usd: requests > 0 && unpriced >= requests ? null : usdFromMicros(micros),
    last_called_hour: traffic?.last_hour?.toISOString() ?? null,
    open_findings: Object.values(open).reduce((sum, count) => sum + count, 0),
    gaps: await gapsOf(directory, row, contract, calls, now),
  };
}
