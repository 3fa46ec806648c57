import { CsvError, parse } from "csv-parse/sync";
import { type Inventory, InvalidInventory, MAX_ITEMS, truncatedText } from "./inventory-item.ts";

/** Column names used by the exports of device managers. */
const COLUMNS = {
  device: ["device id", "device", "serial number", "udid", "hostname", "computer name", "device name"],
  device_name: ["device name", "computer name", "hostname"],
  application: ["application", "application name", "app", "app name", "name", "software", "display name"],
  version: ["version", "application version", "app version", "bundle version"],
  last_seen: ["last seen", "last check-in", "last inventory update", "last contact", "last reported"],
} as const;

/** AI clients, by the start of the application's name; a device's other applications are ignored. */
const CLIENTS: readonly (readonly [RegExp, string])[] = [
  [/^claude code\b/, "claude_code"],
  [/^claude\b/, "claude_desktop"],
  [/^cursor\b/, "cursor"],
  [/^windsurf\b/, "windsurf"],
  [/^zed\b/, "zed"],
  [/^(?:visual studio code|code|vscode)\b/, "vscode"],
  [/^(?:codex|openai codex)\b/, "codex"],
  [/^gemini cli\b/, "gemini_cli"],
  [/^chatgpt\b/, "chatgpt"],
  [/^(?:microsoft )?copilot\b/, "copilot"],
  [/^github copilot\b/, "copilot"],
  [/^lm studio\b/, "lm_studio"],
  [/^ollama\b/, "ollama"],
  [/^goose\b/, "goose"],
  [/^perplexity\b/, "perplexity"],
  [/^kiro\b/, "kiro"],
  [/^antigravity\b/, "antigravity"],
  [/^amazon q\b/, "amazon_q"],
];

const clientOf = (application: string): string | undefined => {
  const name = application.toLowerCase().replace(/\.(?:app|exe)$/, "");
  return CLIENTS.find(([pattern]) => pattern.test(name))?.[1];
};

function columnsOf(header: readonly string[]): Record<keyof typeof COLUMNS, number> {
  const names = header.map((name) =>
    name
      .trim()
      .toLowerCase()
      .replaceAll(/[_\s]+/g, " "),
  );
  const at = (column: keyof typeof COLUMNS) => names.findIndex((name) => COLUMNS[column].some((known) => known === name));
  const first = (column: keyof typeof COLUMNS) => COLUMNS[column].map((name) => names.indexOf(name)).find((index) => index >= 0) ?? -1;
  const found = {
    device: first("device"),
    device_name: first("device_name"),
    application: first("application"),
    version: at("version"),
    last_seen: at("last_seen"),
  };
  if (found.device < 0) throw new InvalidInventory("has no column for the device, such as device_id");
  if (found.application < 0) throw new InvalidInventory("has no column for the application, such as application");
  return found;
}

/** Spreadsheet programs write semicolons in locales with decimal commas; some exports use tabs. */
const DELIMITERS = [",", ";", "\t"] as const;

/** Determined from the header line, whose names contain no delimiters. */
function delimiterOf(text: string): string {
  const header = /^[^\r\n]*/.exec(text)?.[0] ?? "";
  const times = (one: string) => header.split(one).length;
  return DELIMITERS.reduce((most, one) => (times(one) > times(most) ? one : most));
}

function rowsIn(text: string): string[][] {
  try {
    return parse(text, {
      bom: true,
      delimiter: delimiterOf(text),
      relax_column_count: true,
      skip_empty_lines: true,
      max_record_size: 64 * 1024,
    });
  } catch (error) {
    if (error instanceof CsvError) throw new InvalidInventory(`is no CSV: ${error.message.slice(0, 200)}`);
    throw error;
  }
}

/** Reads installed applications from a device manager's CSV export with a header line. Only AI clients are kept. */
export function readMdmCsv(text: string, now: Date): Inventory {
  const [header, ...rows] = rowsIn(text);
  if (header === undefined) throw new InvalidInventory("is empty");
  const columns = columnsOf(header);
  const inventory: Inventory = { items: [], skipped: [] };
  for (const [index, row] of rows.entries()) {
    const cell = (column: keyof typeof COLUMNS) => row[columns[column]];
    const item = `line ${index + 2}`;
    const application = truncatedText(cell("application"));
    const device = truncatedText(cell("device"), 100);
    if (application === null || device === null) {
      inventory.skipped.push({ item, reason: "has no device or no application" });
      continue;
    }
    const client = clientOf(application);
    if (client === undefined) {
      inventory.skipped.push({ item, reason: "is no AI client" });
      continue;
    }
    if (inventory.items.length >= MAX_ITEMS) throw new InvalidInventory(`holds more than ${MAX_ITEMS} AI clients`);
    const seen = Date.parse(cell("last_seen") ?? "");
    inventory.items.push({
      asset_type: "local_ai_client",
      name: application,
      version: truncatedText(cell("version"), 100),
      endpoints: [],
      attributes: { client },
      key: [device, client],
      device_id: device,
      device_name: truncatedText(cell("device_name")),
      // A timestamp from a clock that is ahead must not hide later sightings.
      seen_at: Number.isNaN(seen) || seen < 0 ? null : new Date(Math.min(seen, now.getTime())),
    });
  }
  return inventory;
}
