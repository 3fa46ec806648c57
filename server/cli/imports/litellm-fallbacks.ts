import { FALLBACK_CONDITIONS, type FallbackCondition } from "@gatehouse/contracts/routing-groups";
import { isConfigEntry, type ConfigEntry } from "../configuration/value.ts";
import type { Imported } from "./imported.ts";
import type { PlacedDeployment } from "./litellm-catalog.ts";

/** The fallbacks of public names after one condition; those of `*` apply to all names without their own. */
type FallbackLists = Readonly<Record<FallbackCondition, ReadonlyMap<string, readonly string[]>>>;

/** A deployment that takes over calls to another public name, and when. */
export interface Spare {
  readonly deployment: PlacedDeployment;
  readonly on: readonly FallbackCondition[];
}

/** LiteLLM's names of the lists. */
const LISTS: Readonly<Record<FallbackCondition, string>> = {
  failure: "fallbacks",
  context_window: "context_window_fallbacks",
  content_filter: "content_policy_fallbacks",
};
export const FALLBACK_SETTINGS: readonly string[] = [...Object.values(LISTS), "default_fallbacks"];

/** Either section may have each list; LiteLLM's router takes the one of `router_settings` if that names any. */
export function readFallbacks(router: ConfigEntry, litellm: ConfigEntry, into: Imported): FallbackLists {
  const listIn = (name: string) => {
    const [first, second] = [router[name], litellm[name]].map((given) => (Array.isArray(given) ? given : []));
    if (first !== undefined && first.length > 0 && second !== undefined && second.length > 0)
      into.note(`litellm_settings.${name}: was left out, for LiteLLM uses those of router_settings`);
    return first === undefined || first.length === 0 ? (second ?? []) : first;
  };
  const namesIn = (list: readonly unknown[], place: string) =>
    list.filter((other) => {
      if (typeof other !== "string") into.note(`${place}: an entry that is more than a model's name has no equivalent and was left out`);
      return typeof other === "string";
    });
  const read = (condition: FallbackCondition) => {
    const name = LISTS[condition];
    const usual = condition === "failure" ? namesIn(listIn("default_fallbacks"), "default_fallbacks") : [];
    const found = new Map<string, readonly string[]>(usual.length > 0 ? [["*", usual]] : []);
    for (const one of listIn(name))
      for (const [of, others] of Object.entries(isConfigEntry(one) ? one : {}))
        if (Array.isArray(others)) found.set(of, namesIn(others, `${name}: ${of}`));
    return found;
  };
  return { failure: read("failure"), context_window: read("context_window"), content_filter: read("content_filter") };
}

export function noteFallbacksOfNobody(lists: FallbackLists, isThere: (name: string) => boolean, into: Imported): void {
  for (const condition of FALLBACK_CONDITIONS)
    for (const [name, others] of lists[condition])
      if (name !== "*" && !isThere(name))
        into.note(`${LISTS[condition]}: "${name}" is no model, so its fallbacks (${others.join(", ")}) were left out`);
}

/** The fallbacks of `name`, which stands for the model `target`; `find`: the deployments of another name. `use`: the mode they must serve. */
export function sparesOf(
  { name, target, use }: { readonly name: string; readonly target: string; readonly use: string | undefined },
  lists: FallbackLists,
  find: (name: string) => readonly PlacedDeployment[] | undefined,
  into: Imported,
): Spare[] {
  const spares = new Map<PlacedDeployment, FallbackCondition[]>();
  for (const condition of FALLBACK_CONDITIONS) {
    const list = lists[condition];
    for (const other of list.get(name) ?? list.get(target) ?? list.get("*") ?? []) {
      if (other === name || other === target) continue;
      const found = find(other);
      if (found === undefined) into.note(`${LISTS[condition]}: "${other}" is no model, so it is none for "${name}"`);
      const fit = found?.filter(({ modes }) => use !== undefined && modes.includes(use)) ?? [];
      if (found !== undefined && fit.length < found.length)
        into.note(`${LISTS[condition]}: "${other}" does not serve ${use ?? "a mode of routing groups"}, so it is none for "${name}"`);
      for (const one of fit) spares.set(one, [...(spares.get(one) ?? []), condition]);
    }
  }
  return [...spares].map(([deployment, on]) => ({ deployment, on }));
}

/** The public names among spares that take over after `condition`, in order. */
export function namesAfter(condition: FallbackCondition, spares: readonly Spare[]): string[] {
  return [...new Set(spares.filter(({ on }) => on.includes(condition)).map(({ deployment }) => deployment.publicName))];
}

/** Members with weight 0 are asked by chance, so several that serve only refused requests lose their order. */
export function noteLostOrder(name: string, spares: readonly Spare[], into: Imported): void {
  const only = spares.filter(({ on }) => !on.includes("failure"));
  for (const condition of FALLBACK_CONDITIONS) {
    const names = namesAfter(condition, only);
    if (names.length > 1)
      into.note(`${LISTS[condition]}: those of "${name}" (${names.join(", ")}) are asked by chance and not in their order`);
  }
}
