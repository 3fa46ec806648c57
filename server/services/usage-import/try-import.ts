import type { Directory } from "../../directory/writes/write.ts";
import { DAY_MS, UsageRefused } from "../../upstreams/usage/usage-vendor.ts";
import { importAccess } from "./import-access.ts";
import type { UsageVendors } from "./usage-vendors.ts";

export type TryImport = (tenantId: string, providerId: string) => Promise<{ ok: boolean; detail: string; duration_ms: number }>;

/** Reads yesterday's figures from the vendor and stores nothing. */
export function tryImport(directory: Pick<Directory, "db" | "secrets" | "clock">, vendors: UsageVendors): TryImport {
  return async (tenantId, providerId) => {
    const started = performance.now();
    const outcome = (ok: boolean, detail: string) => ({ ok, detail, duration_ms: Math.round(performance.now() - started) });
    const found = await importAccess(directory, vendors, tenantId, providerId);
    if (typeof found === "string") return outcome(false, found);
    const { vendor, access } = found;
    const today = new Date(Math.floor(directory.clock.now() / DAY_MS) * DAY_MS);
    const window = { from: new Date(today.getTime() - DAY_MS), to: today };
    try {
      let items = 0;
      for (const source of vendor.sources) items += (await vendor.page(access, source, window, null)).items.length;
      return outcome(true, `The vendor answered with ${items} figures of yesterday.`);
    } catch (error) {
      if (error instanceof UsageRefused) return outcome(false, error.message);
      throw error;
    }
  };
}
