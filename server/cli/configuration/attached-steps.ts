import type { ConfigApi } from "./admin-api.ts";
import {
  ATTACHED_BINDINGS,
  ATTACHED_DOCUMENTS,
  attachedAt,
  type AttachedBindings,
  type AttachedDocument,
  attachedEntry,
  attachedTaken,
  readAttachedAnswer,
  readAttached,
  readBindings,
} from "./attached.ts";
import type { Current } from "./current.ts";
import { isAllOf, secretComparison } from "./differences.ts";
import type { ConfigurationFile } from "./document.ts";
import type { DocumentStep } from "./document-step.ts";
import { membersTaken, propertiesOf } from "./members.ts";
import type { KnownNames } from "./plan.ts";
import { valuesAt } from "./places.ts";
import { type Environment, withSecrets } from "./secrets.ts";
import { faultsOf } from "./value-faults.ts";
import { type ConfigEntry, isConfigEntry, isSame, type ConfigValue } from "./value.ts";

interface Planning {
  readonly current: Current;
  readonly api: ConfigApi;
  readonly env: Environment;
  readonly known: KnownNames;
  readonly wrong: string[];
}

/** The attached documents and bindings that differ from the file. Problems are added to `wrong`. */
export async function attachedSteps(file: ConfigurationFile, planning: Planning): Promise<DocumentStep[]> {
  const steps: DocumentStep[] = [];
  for (const one of ATTACHED_DOCUMENTS)
    for (const [name, given] of file.attached.get(one.section) ?? [])
      if (given[one.member] !== undefined) steps.push(...(await documentStep(one, name, given[one.member] ?? null, planning)));
  for (const one of ATTACHED_BINDINGS)
    for (const [name, given] of file.attached.get(one.section) ?? [])
      if (given[one.member] !== undefined) steps.push(...(await bindingSteps(one, name, given[one.member] ?? null, planning)));
  return steps;
}

async function documentStep(one: AttachedDocument, name: string, wanted: ConfigValue, planning: Planning): Promise<DocumentStep[]> {
  const { current, api, env, wrong } = planning;
  const about = `${one.section} "${name}": ${one.member}`;
  const id = current.names.idOf(one.section, name);
  // A document that cannot be deleted has values even if nobody configured it.
  const read = one.isRemovable === true ? readAttached : readAttachedAnswer;
  const answer = id === undefined ? null : await read(api, one, id);
  if (answer !== null) current.names.addGone(one, answer);
  const taken = attachedTaken(one, current.document);
  const found = answer === null ? null : attachedEntry(one, answer, taken, current.names);
  const at = (names: Current["names"]) => required(names, one.section, name);
  if (wanted === null && one.isRemovable === true)
    return found === null ? [] : [{ about, before: found, after: null, send: (names) => api.ask("DELETE", attachedAt(one, at(names))) }];
  if (!isConfigEntry(wanted)) {
    wrong.push(`${about} must be a mapping`);
    return [];
  }
  const faults = faultsIn(one, about, wanted, taken, planning);
  wrong.push(...faults);
  if (faults.length > 0) return [];
  const { entry, unset } = withSecrets(wanted, env);
  if (found === null || answer?.[`has_${one.secret ?? ""}`] !== true)
    wrong.push(...unset.map((variable) => `${about}: ${variable} is not set`));
  const { [one.secret ?? ""]: secret, ...shown } = entry;
  const isAsWanted = found !== null && Object.entries(shown).every(([member, value]) => isAllOf(value, found[member] ?? null));
  const comparison = secret === undefined ? "same" : secretComparison(secret, one.secret ?? "", answer ?? {});
  if (isAsWanted && comparison === "same") return [];
  const step: DocumentStep = {
    about,
    before: found,
    after: shown,
    isSecretAlone: isAsWanted,
    isSeen: !isAsWanted || comparison === "other",
    updatedAt: answer?.["updated_at"],
    async send(names) {
      const recordId = at(names);
      const kept = one.write === "PUT" ? keptMembers(one, await readAttachedAnswer(api, one, recordId), current.document, secret) : {};
      const named = names.identified(one, entry);
      const body = { ...kept, ...named, ...(one.idMember === undefined ? {} : { [one.idMember]: recordId }) };
      return api.ask(one.write, attachedAt(one, recordId).replace(/\?.*/, ""), body);
    },
  };
  return [step];
}

/** Members that the file does not name and a replacing write would delete; they are kept. */
function keptMembers(
  one: AttachedDocument,
  answer: ConfigEntry | null,
  document: ConfigEntry,
  secret: ConfigValue | undefined,
): ConfigEntry {
  const taken = membersTaken(document, one.write, one.path.replace(/\?.*/, ""));
  // The absence of a secret before is no reason not to set one now.
  const isKept = ([member, value]: [string, ConfigValue]) => taken.has(member) && (secret == null || value !== "none");
  return Object.fromEntries(Object.entries(answer ?? {}).filter(isKept));
}

function faultsIn(
  one: AttachedDocument,
  about: string,
  wanted: ConfigEntry,
  taken: ReadonlySet<string>,
  { current, known }: Planning,
): string[] {
  const body = propertiesOf(current.document, one.write, one.path.replace(/\?.*/, ""));
  const unknown = Object.keys(wanted).filter((member) => !taken.has(member));
  const names = Object.entries(one.references ?? {}).flatMap(([place, section]) =>
    valuesAt(wanted, place)
      .filter(([, name]) => !known(section, name))
      .map(([at, name]) => `${at} names "${name}", which is none of ${section}`),
  );
  const values = Object.entries(wanted)
    .filter(([member]) => member !== one.secret)
    .flatMap(([member, value]) => faultsOf(current.document, body[member], value, member));
  return [...unknown.map((member) => `${member} is not known here`), ...names, ...values].map((fault) => `${about}: ${fault}`);
}

async function bindingSteps(one: AttachedBindings, name: string, wanted: ConfigValue, planning: Planning): Promise<DocumentStep[]> {
  const { current, api, known, wrong } = planning;
  const about = `${one.section} "${name}": ${one.member}`;
  if (!Array.isArray(wanted) || wanted.some((item) => typeof item !== "string")) {
    wrong.push(`${about} must be a list of names`);
    return [];
  }
  const after = [...new Set(wanted as readonly string[])].toSorted();
  for (const item of after) if (!known(one.to, item)) wrong.push(`${about} names "${item}", which is none of ${one.to}`);
  const id = current.names.idOf(one.section, name);
  const before = id === undefined ? [] : await readBindings(api, one, id, current.names);
  const send = (method: "POST" | "DELETE", items: readonly string[]) => async (names: Current["names"]) => {
    const path = attachedAt(one, required(names, one.section, name));
    return items.length === 0 ? {} : api.ask(method, path, { [one.body]: items.map((item) => required(names, one.to, item)) });
  };
  const added = send(
    "POST",
    after.filter((item) => !before.includes(item)),
  );
  const removed = send(
    "DELETE",
    before.filter((item) => !after.includes(item)),
  );
  if (isSame(before, after)) return [];
  return [
    {
      about,
      before,
      after,
      async send(names) {
        await added(names);
        return removed(names);
      },
    },
  ];
}

function required(names: Current["names"], section: string, name: string): string {
  const id = names.idOf(section, name);
  if (id === undefined) throw new Error(`there is no "${name}" among ${section}`);
  return id;
}
