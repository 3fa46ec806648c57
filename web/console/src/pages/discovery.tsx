import { PageFrame } from "@gatehouse/web-kit/page.tsx";
import type { ReactNode } from "react";
import { Collectors } from "../discovery/collectors.tsx";
import { Devices } from "../discovery/devices.tsx";
import { GatewayAddresses } from "../discovery/gateway-addresses.tsx";
import { FoundAssets } from "../discovery/found-assets.tsx";
import { InventoryImport } from "../discovery/inventory-import.tsx";
import { Registry } from "../discovery/registry.tsx";
import { Allowed } from "../records/allowed.tsx";
import { PRODUCT } from "../product.ts";

/** AI that bypasses the gateway, as reported by collectors and inventories. */
export function DiscoveryPage(): ReactNode {
  return (
    <PageFrame
      product={PRODUCT}
      title="Discovery"
      lead="AI clients, tool servers, agents and models found on your devices, and whether they go through the gateway."
    >
      <div className="grid gap-4">
        <FoundAssets />
        <Devices />
        <Registry />
        <Collectors />
        <Allowed operation="PATCH /v1/admin/discovery/settings">
          <GatewayAddresses />
        </Allowed>
        <Allowed operation="POST /v1/admin/discovery/ingest-adapters/cyclonedx">
          <InventoryImport />
        </Allowed>
      </div>
    </PageFrame>
  );
}
