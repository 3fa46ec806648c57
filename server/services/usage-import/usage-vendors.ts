import type { ImportVendor } from "@gatehouse/contracts/usage-import";
import type { UsageVendor } from "../../upstreams/usage/usage-vendor.ts";

export type UsageVendors = Readonly<Record<ImportVendor, UsageVendor>>;
