import { accessSync, constants, readdirSync, statSync } from "node:fs";
import { dirname, resolve, sep } from "node:path";
import type { Configuration } from "../kernel/configuration/configuration.ts";
import { serve } from "../runtime/serve.ts";
import { type DoctorFinding, finding } from "./finding.ts";

/** A running gateway occupies the configured ports, so the address is tried with another port. */
export async function examineHost({ host }: Pick<Configuration, "host">): Promise<DoctorFinding> {
  const nobody = () => new Response(null, { status: 404 });
  try {
    await serve({ hostname: host, port: 0, fetch: nobody, onError: nobody }).stop({ graceSeconds: 0 });
    return finding("ok", "address", `GW_HOST ${host} can be listened on`);
  } catch (error) {
    return finding("wrong", "address", (error as Error).message.replace(`${host}:0 `, `GW_HOST ${host} `));
  }
}

/** A start does not check the folder, but its connectors would fail. */
export function* examineKnowledge({ knowledgeDir }: Pick<Configuration, "knowledgeDir">): Generator<DoctorFinding> {
  if (knowledgeDir === undefined) return;
  const found = statSync(knowledgeDir, { throwIfNoEntry: false });
  if (found === undefined) return yield finding("wrong", "knowledge folder", `${knowledgeDir} is not there`);
  if (!found.isDirectory()) return yield finding("wrong", "knowledge folder", `${knowledgeDir} is no folder`);
  const closed = (place: string) => !may(place, constants.R_OK | constants.X_OK);
  if (closed(knowledgeDir)) return yield finding("wrong", "knowledge folder", `${knowledgeDir} cannot be read`);
  const folders = readdirSync(knowledgeDir, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const unreadable = folders.find(({ name }) => closed(resolve(knowledgeDir, name)));
  yield unreadable === undefined
    ? finding("ok", "knowledge folder", `${knowledgeDir} can be read, and has folders of ${folders.length} tenant(s)`)
    : finding("wrong", "knowledge folder", `${resolve(knowledgeDir, unreadable.name)} cannot be read`);
}

/** Why no checkpoint can be appended to this file; null if it can. */
export function whyNotAppended(file: string): string | null {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found !== undefined && !found.isFile()) return `${file} is no file`;
  if (found !== undefined) return may(file, constants.R_OK | constants.W_OK) ? null : `${file} cannot be read and written`;
  const folder = dirname(resolve(file));
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
    return `${folder} is not there, and is not made for the checkpoint file`;
  return may(folder, constants.W_OK | constants.X_OK) ? null : `${folder} cannot be written`;
}

export function isBelow(folder: string, path: string): boolean {
  return `${resolve(path)}${sep}`.startsWith(`${resolve(folder)}${sep}`);
}

function may(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}
