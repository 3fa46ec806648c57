import { existsSync, readdirSync } from "node:fs";
import type { Case } from "./case.ts";

const folder = new URL("./", import.meta.url);

/** Every subfolder with a case.ts is a case. */
async function allCases(): Promise<Map<string, Case>> {
  const names = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(new URL(`${entry.name}/case.ts`, folder)))
    .map((entry) => entry.name)
    .sort(new Intl.Collator("en", { numeric: true }).compare);
  return new Map(
    await Promise.all(
      names.map(async (name) => [name, ((await import(new URL(`${name}/case.ts`, folder).href)) as { default: Case }).default] as const),
    ),
  );
}

/** The named cases, or all comparisons that do not run by name only. Throws on an unknown name. */
export async function selectCases(names: readonly string[]): Promise<Map<string, Case>> {
  const all = await allCases();
  const unknown = names.filter((name) => !all.has(name));
  if (unknown.length > 0) throw new Error(`${unknown.join(", ")}: no such case; there are ${[...all.keys()].join(", ")}`);
  return new Map(
    [...all].filter(([name, it]) => (names.length === 0 ? it.kind === "comparison" && !("byName" in it) : names.includes(name))),
  );
}
