import { type Column, DataTable } from "@gatehouse/web-kit/data-table.tsx";
import { formatNumber, formatRelative } from "@gatehouse/web-kit/formats.ts";
import { Panel } from "@gatehouse/web-kit/page.tsx";
import { ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { adminApi } from "../admin-client.ts";
import type { AdminApiSchemas } from "../api/admin-api-schemas.generated.ts";

type Device = AdminApiSchemas["DiscoveryDevice"];

const columns: Column<Device>[] = [
  { id: "device", header: "Device", width: "minmax(9rem, 2fr)", cell: (device) => device.device_name ?? device.device_id },
  { id: "clients", header: "Clients", width: "minmax(5rem, 1fr)", align: "end", cell: ({ client_count: count }) => formatNumber(count) },
  {
    id: "servers",
    header: "Tool servers",
    width: "minmax(6rem, 1fr)",
    align: "end",
    cell: ({ mcp_server_count: count }) => formatNumber(count),
  },
  {
    id: "ungoverned",
    header: "Bypasses the gateway",
    width: "minmax(7rem, 1fr)",
    align: "end",
    cell: ({ ungoverned_count: count }) => formatNumber(count),
  },
  { id: "seen", header: "Last seen", width: "minmax(7rem, 1fr)", cell: ({ last_seen: seen }) => formatRelative(seen) },
];

/** The devices seen most recently. */
export function Devices(): ReactNode {
  const found = useQuery({
    queryKey: ["discovery", "devices"],
    queryFn: () => adminApi.call("GET /v1/admin/discovery/devices", { query: { page_size: 200 } }),
  });
  if (found.isPending) return <Skeleton label="Loading" />;
  if (found.isError) return <ErrorState error={found.error} title="The devices could not be read" requestLabel="Request" />;
  if (found.data.devices.length === 0) return null;
  return (
    <Panel title="Devices">
      <DataTable label="Devices" columns={columns} rows={found.data.devices} rowKey={({ device_id: id }) => id} total={found.data.total} />
    </Panel>
  );
}
