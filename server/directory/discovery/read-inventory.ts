import { invalidFields } from "../../kernel/errors.ts";
import { type Inventory, InvalidInventory } from "./inventory-item.ts";
import { readAgentInventory } from "./read-agent-inventory.ts";
import { readCyclonedx } from "./read-cyclonedx.ts";
import { readMdmCsv } from "./read-mdm-csv.ts";

export type InventoryFormat = "cyclonedx" | "agent_inventory" | "mdm_csv";

export function readInventory(format: InventoryFormat, bytes: Uint8Array, now: Date): Inventory {
  const wrong = (message: string) => invalidFields("invalid_body", [{ field: "file", message }]);
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw wrong("is not UTF-8");
  }
  try {
    if (format === "mdm_csv") return readMdmCsv(text, now);
    const document: unknown = JSON.parse(text.replace(/^\uFEFF/, ""));
    return format === "cyclonedx" ? readCyclonedx(document) : readAgentInventory(document);
  } catch (error) {
    if (error instanceof InvalidInventory) throw wrong(error.message);
    if (error instanceof SyntaxError) throw wrong("is not JSON");
    throw error;
  }
}
