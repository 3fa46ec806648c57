import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { FIELD_NAMES, type FieldName } from "@gatehouse/ledger-format/fields";
import { SURFACE_NAMES, type SurfaceName } from "../tests/support/formats/filled-fields.ts";

const OUTPUT_FILE = fileURLToPath(new URL("filled-fields.json", import.meta.url));
const TEXT: readonly SurfaceName[] = ["chat completions", "responses", "completions", "messages", "Gemini"];

type Filled = Readonly<Record<FieldName, readonly SurfaceName[]>>;

/** Which kinds of calls fill which field, as recorded from the rows of the tests. */
export function keptFilledFields(): Filled {
  return JSON.parse(readFileSync(OUTPUT_FILE, "utf8")) as Filled;
}

/** Stores what a test run recorded (`FILLED_FIELDS=<file> npm test`). */
export function renewFilledFields(file: string): void {
  if (!existsSync(file)) throw new Error(`FILLED_FIELDS: there is no ${file}: run the tests with it first`);
  const seen = new Map<FieldName, Set<SurfaceName>>(FIELD_NAMES.map((name) => [name, new Set()]));
  for (const line of readFileSync(file, "utf8").trimEnd().split("\n")) {
    const { surface, fields } = JSON.parse(line) as { surface: SurfaceName; fields: FieldName[] };
    for (const name of fields) seen.get(name)?.add(surface);
  }
  const ordered = [...seen].map(([name, surfaces]) => [name, SURFACE_NAMES.filter((surface) => surfaces.has(surface))]);
  writeFileSync(OUTPUT_FILE, `${JSON.stringify(Object.fromEntries(ordered), null, 2)}\n`);
}

/** Fields set on rows of any kind, long after their calls. */
const AFTERWARDS: Partial<Record<FieldName, string>> = { bodies_pruned_at: "retention", erased_at: "erasure" };

/** One cell of the page. */
export function filledBy(name: FieldName, surfaces: readonly SurfaceName[]): string {
  const afterwards = AFTERWARDS[name];
  if (afterwards !== undefined) return afterwards;
  if (surfaces.length === 0) return "nothing yet";
  if (surfaces.length === SURFACE_NAMES.length) return "every call";
  const missing = SURFACE_NAMES.filter((one) => !surfaces.includes(one));
  if (missing.length <= 3) return `every call but ${missing.join(", ")}`;
  const text = TEXT.every((one) => surfaces.includes(one));
  return [...(text ? ["text"] : []), ...surfaces.filter((one) => !text || !TEXT.includes(one))].join(", ");
}
