import { asList, asRecord, endpointsOf, type Inventory, InvalidInventory, MAX_ITEMS, truncatedText } from "./inventory-item.ts";

const VERSIONS = ["1.5", "1.6", "1.7"];
const PROPERTY = "gw:asset_type";
const SERVICE_TYPES = ["mcp_server", "agent"] as const;

/** The format has no type for tool servers and agents: our own property takes precedence, then the service's own description. */
function serviceType(service: Readonly<Record<string, unknown>>): (typeof SERVICE_TYPES)[number] | null {
  for (const property of asList(service.properties).map(asRecord)) {
    const typeOfService = SERVICE_TYPES.find((type) => type === property?.value);
    if (property?.name === PROPERTY && typeOfService !== undefined) return typeOfService;
  }
  const describedBy = [service.name, service.group, service.description, ...asList(service.tags)];
  const words = describedBy
    .filter((one) => typeof one === "string")
    .join(" ")
    .toLowerCase();
  if (/\bmcp\b|model context protocol/.test(words)) return "mcp_server";
  return /\bagents?\b|\ba2a\b/.test(words) ? "agent" : null;
}

/** Reads a CycloneDX JSON document: its models (an ML-BOM), and the services that are tool servers or agents. */
export function readCyclonedx(document: unknown): Inventory {
  const bom = asRecord(document);
  if (bom?.bomFormat !== "CycloneDX") throw new InvalidInventory("is no CycloneDX document in JSON");
  if (!VERSIONS.some((version) => version === bom.specVersion)) throw new InvalidInventory(`must be CycloneDX ${VERSIONS.join(", ")}`);
  const inventory: Inventory = { items: [], skipped: [] };
  const left: { kind: "component" | "service"; value: unknown }[] = [];
  const put = (kind: "component" | "service", values: unknown) => {
    for (const value of asList(values)) left.push({ kind, value });
  };
  put("component", bom.components);
  put("service", bom.services);
  put("component", [asRecord(bom.metadata)?.component]);
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const part = asRecord(next.value);
    if (part === null) continue;
    put("component", part.components);
    put("service", part.services);
    const type = next.kind === "service" ? serviceType(part) : part.type === "machine-learning-model" ? ("model" as const) : null;
    if (type === null) continue;
    const name = truncatedText(part.name);
    if (name === null) {
      inventory.skipped.push({ item: truncatedText(part["bom-ref"]) ?? "", reason: "has no name, or a longer one than 200 characters" });
      continue;
    }
    if (inventory.items.length >= MAX_ITEMS) throw new InvalidInventory(`holds more than ${MAX_ITEMS} assets`);
    const group = truncatedText(part.group) ?? truncatedText(asRecord(part.provider ?? part.supplier)?.name);
    inventory.items.push({
      asset_type: type,
      name,
      version: truncatedText(part.version, 100),
      endpoints: endpointsOf(asList(part.endpoints)),
      attributes: {
        ...(group === null ? {} : { group }),
        ...(typeof part.authenticated === "boolean" ? { authenticated: part.authenticated } : {}),
        ...(typeof part["x-trust-boundary"] === "boolean" ? { crosses_trust_boundary: part["x-trust-boundary"] } : {}),
      },
      key: [group, name],
      device_id: null,
      device_name: null,
      seen_at: null,
    });
  }
  return inventory;
}
