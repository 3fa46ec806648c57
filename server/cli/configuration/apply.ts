import type { ConfigApi } from "./admin-api.ts";
import type { Current } from "./current.ts";
import type { KeysFile } from "./keys-file.ts";
import type { Kind } from "./kinds.ts";
import { apartName } from "./entry-name.ts";
import type { Step } from "./plan.ts";
import { secretTextsOf } from "./secrets.ts";
import { type ConfigEntry, isConfigEntry } from "./value.ts";

export interface Applied {
  readonly step: Step;
  /** False if the gateway found nothing to change. */
  readonly changed: boolean;
}

/** Carries out one step. Later steps can refer to what it creates; values of API keys go to `keys`. */
export async function carryOut(step: Step, api: ConfigApi, current: Current, keys: KeysFile | null): Promise<Applied> {
  const { kind } = step;
  if (step.action === "delete") {
    await api.ask("DELETE", `${kind.path}/${encodeURIComponent(step.id)}`);
    return { step, changed: true };
  }
  // A change sends only the members that differ, so only their names are resolved.
  const sent = step.action === "create" ? step.entry : onlyMembers(step.entry, [...kind.key, ...changedMembers(kind, step)]);
  const entry = current.names.identified(kind, sent);
  if (step.action === "create") {
    const { path, body } = creation(kind, entry);
    const isKey = kind.section === "api_keys" && keys !== null;
    const made = isKey ? await keys.make(step.name, api, path, body) : await api.ask("POST", path, body);
    current.names.add(kind.section, step.name, String(made["id"]));
    current.names.also(kind.section, apartName(kind, step.entry), String(made["id"]));
    const { alongside } = kind;
    if (alongside !== undefined && current.names.idOf(alongside.section, alongside.name) === undefined)
      current.names.add(alongside.section, alongside.name, String(made[alongside.id]));
    return { step, changed: true };
  }
  const changes = Object.fromEntries(changedMembers(kind, step).map((member) => [member, entry[member] ?? null]));
  const id = step.id ?? current.names.idOf(kind.section, step.name) ?? "";
  const before = await api.ask("GET", `${kind.path}/${encodeURIComponent(id)}`);
  const kept = kind.change === "PUT" ? onlyMembers(before, [...(current.changeable.get(kind.section) ?? [])]) : {};
  const after = await api.ask(kind.change ?? "PATCH", `${kind.path}/${encodeURIComponent(id)}`, { ...kept, ...changes });
  return { step, changed: before["updated_at"] !== after["updated_at"] };
}

function creation(kind: Kind, entry: ConfigEntry): { readonly path: string; readonly body: ConfigEntry } {
  if (kind.below !== undefined) {
    const { [kind.below.member]: owner, ...own } = entry;
    const isBelow = typeof owner === "string";
    return { path: isBelow ? kind.below.path.replace("{id}", encodeURIComponent(owner)) : kind.path, body: own };
  }
  const put = /\{(\w+)\}/.exec(kind.createPath ?? "")?.[1];
  if (put === undefined) return { path: kind.path, body: entry };
  const { [put]: id, ...body } = entry;
  return { path: (kind.createPath ?? "").replace(`{${put}}`, encodeURIComponent(String(id))), body };
}

/** Includes available secrets: the gateway accepts a new address only together with the key to be sent there. */
function changedMembers(kind: Kind, { entry, differences }: Extract<Step, { action: "change" }>): string[] {
  const changed = differences.map(({ member }) => topOf(member));
  const isWhole = (secret: string): boolean => {
    const given = entry[secret];
    return isConfigEntry(given) ? secretTextsOf(kind, secret).some((text) => given[text] !== undefined) : typeof given === "string";
  };
  return [...new Set([...changed, ...(kind.secrets ?? []).filter(isWhole)])];
}

function topOf(place: string): string {
  return place.split(".")[0] ?? place;
}

function onlyMembers(entry: ConfigEntry, members: readonly string[]): ConfigEntry {
  return Object.fromEntries(Object.entries(entry).filter(([member]) => members.includes(member)));
}
