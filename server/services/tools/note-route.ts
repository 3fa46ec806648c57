import type { Call } from "../../road/call.ts";
import { type ToolRoute, toolsOf } from "../../road/target.ts";
import { knownTool } from "./definitions/listed-tools.ts";
import type { ToolParts } from "./tool-parts.ts";

/** Records on the row which server is meant, and the tool's last known definition. */
export function noteRoute({ row }: Call, route: ToolRoute, parts: Pick<ToolParts, "memory">): void {
  const [target] = route.targets;
  const only = route.virtual === null || route.capability !== null ? target : undefined;
  if (route.virtual !== null) row.custom_metadata = { ...(row.custom_metadata as object | undefined), virtual_server_id: route.virtual.id };
  row.server_id = only?.server.id ?? route.virtual?.id ?? null;
  if (only === undefined) return;
  row.server_version = only.server.serverVersion;
  if (route.capability?.type === "tool")
    row.tool_definition_hash = knownTool(parts.memory, only.server, route.capability.name)?.hash ?? null;
}

/** Records the same for a call that a control refused after its route was known, and that was therefore not dispatched. */
export function noteRouteOfRefused(call: Call, parts: Pick<ToolParts, "memory">): void {
  const route = toolsOf(call);
  if (route !== null && route.own !== "skills" && call.row.server_version === undefined) noteRoute(call, route, parts);
}
