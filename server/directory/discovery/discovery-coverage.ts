import type { DiscoveredType, DiscoveryCoverage, GovernanceStatus } from "@gatehouse/contracts/discovery";
import type { Database, Trx } from "../../store/database.ts";
import { countCoverage } from "../../store/discovery/discovered-assets.ts";

const NONE = { total: 0, governed: 0, partially_governed: 0, ungoverned: 0, dismissed: 0 };

export async function discoveryCoverageOf(db: Database | Trx, tenantId: string): Promise<DiscoveryCoverage> {
  const { counts, devices } = await countCoverage(db, tenantId);
  const types = new Map<string, typeof NONE>();
  const all = { ...NONE };
  let gone = 0;
  for (const { asset_type: type, status, governance_status: governance, count } of counts) {
    const counted = Number(count);
    if (status !== "active") gone += counted;
    else
      for (const sums of [all, types.get(type) ?? types.set(type, { ...NONE }).get(type) ?? all]) {
        sums.total += counted;
        sums[governance as GovernanceStatus] += counted;
      }
  }
  const judged = all.total - all.dismissed;
  return {
    ...all,
    gone,
    devices,
    governed_pct: judged === 0 ? null : Math.round((all.governed / judged) * 1000) / 10,
    by_type: [...types].map(([type, sums]) => ({ asset_type: type as DiscoveredType, ...sums })),
  };
}
