import { asList, asRecord, endpointsOf, type Inventory, InvalidInventory, MAX_ITEMS, truncatedText } from "./inventory-item.ts";

/** The entries of a file: cards or descriptions in an array, a single one, or under `agents` or `servers`. */
function entriesOf(document: unknown): { type: "agent" | "mcp_server"; value: unknown }[] {
  if (Array.isArray(document)) return document.map((value) => ({ type: "agent", value }));
  const file = asRecord(document);
  if (file === null) throw new InvalidInventory("must be a JSON object or array");
  const agents = asList(file.agents).map((value) => ({ type: "agent" as const, value }));
  // The MCP registry wraps each server.json file in `server`.
  const servers = asList(file.servers).map((value) => ({ type: "mcp_server" as const, value: asRecord(value)?.server ?? value }));
  if (agents.length + servers.length > 0 || "agents" in file || "servers" in file) return [...agents, ...servers];
  if ("remotes" in file || "packages" in file) return [{ type: "mcp_server", value: file }];
  if ("name" in file) return [{ type: "agent", value: file }];
  throw new InvalidInventory("names no agents and no servers");
}

/** Reads agents from A2A cards or plain descriptions, and tool servers from server.json files. */
export function readAgentInventory(document: unknown): Inventory {
  const inventory: Inventory = { items: [], skipped: [] };
  const entries = entriesOf(document);
  if (entries.length > MAX_ITEMS) throw new InvalidInventory(`holds more than ${MAX_ITEMS} assets`);
  for (const [index, { type, value }] of entries.entries()) {
    const entry = asRecord(value);
    const name = truncatedText(entry?.name);
    if (entry === null || name === null) {
      inventory.skipped.push({ item: String(index), reason: "has no name, or a longer one than 200 characters" });
      continue;
    }
    const interfaces = [...asList(entry.supportedInterfaces), ...asList(entry.additionalInterfaces), ...asList(entry.remotes)];
    const endpoints = endpointsOf([entry.url, entry.card_url, entry.endpoint, ...interfaces.map((one) => asRecord(one)?.url)]);
    const provider = truncatedText(asRecord(entry.provider)?.organization) ?? truncatedText(entry.provider);
    inventory.items.push({
      asset_type: type,
      name,
      version: truncatedText(entry.version, 100),
      endpoints,
      attributes: provider === null ? {} : { provider },
      key: [name, endpoints[0] ?? null],
      device_id: null,
      device_name: null,
      seen_at: null,
    });
  }
  return inventory;
}
