import { DEFAULT_RETENTION } from "@gatehouse/contracts/tenants";
import type { ConfigApi } from "./admin-api.ts";
import { attachedSteps } from "./attached-steps.ts";
import { type Current, readDocument } from "./current.ts";
import type { ConfigurationFile } from "./document.ts";
import { GROUP_DOCUMENTS, ITEM_DOCUMENTS } from "./group-documents.ts";
import { membersTaken, propertiesOf } from "./members.ts";
import type { DocumentStep } from "./document-step.ts";
import type { Names } from "./names.ts";
import { type KnownNames, knownNames } from "./plan.ts";
import type { Environment } from "./secrets.ts";
import { TENANT_DOCUMENTS } from "./tenant-documents.ts";
import { faultsOf } from "./value-faults.ts";
import { type ConfigEntry, isConfigEntry, isSame, isSpelledAlike, type ConfigValue, withoutNothing } from "./value.ts";

/** The documents that differ from the file. Problems are added to `wrong`. */
export async function documentSteps(
  file: ConfigurationFile,
  current: Current,
  api: ConfigApi,
  env: Environment,
  wrong: string[],
): Promise<DocumentStep[]> {
  const known = knownNames(file, current);
  const steps = [...tenantSteps(file, { current, api, known, wrong }), ...tenantDocumentSteps(file, current, api, wrong)];
  for (const [group, documents] of file.groupDocuments) steps.push(...(await groupSteps(group, documents, known, current, api, wrong)));
  const attached = await attachedSteps(file, { current, api, env, known, wrong });
  return [...steps.filter(({ before, after }) => !isSpelledAlike(before, after)), ...attached];
}

const JUDGE = "default_judge_model_id";

interface Planning {
  readonly current: Current;
  readonly api: ConfigApi;
  readonly known: KnownNames;
  readonly wrong: string[];
}

function tenantSteps({ tenant }: ConfigurationFile, { current, api, known, wrong }: Planning): DocumentStep[] {
  if (tenant === null) return [];
  if (current.tenant === null) {
    wrong.push("tenant: only an administrator of the system may read and change it");
    return [];
  }
  const body = propertiesOf(current.document, "PATCH", "/v1/admin/tenants/{id}");
  for (const [member, value] of Object.entries(tenant)) {
    if (!current.tenantMembers.has(member)) wrong.push(`tenant.${member}: is not known here`);
    wrong.push(...faultsOf(current.document, body[member], value, `tenant.${member}`));
    if (member === JUDGE && typeof value === "string" && !known("llms", value))
      wrong.push(`tenant.${member}: names "${value}", which is none of llms`);
  }
  return Object.entries(tenant).map(([member, value]) => {
    // Replaced as a whole; members left out get the gateway's defaults.
    const after = member === "data_retention" && isConfigEntry(value) ? { ...DEFAULT_RETENTION, ...value } : value;
    return {
      about: `tenant: ${member}`,
      before: current.tenant?.[member] ?? null,
      after,
      send: (names) =>
        api.ask("PATCH", `/v1/admin/tenants/${encodeURIComponent(api.tenantId)}`, {
          [member]: member === JUDGE && typeof after === "string" ? required(names, "llms", after) : after,
        }),
    };
  });
}

/** Members that the file leaves out of a document stay as they are. */
function tenantDocumentSteps(file: ConfigurationFile, current: Current, api: ConfigApi, wrong: string[]): DocumentStep[] {
  return TENANT_DOCUMENTS.flatMap(({ member: about, write, path, empty }) => {
    const wanted = file.tenantDocuments.get(about);
    if (wanted === undefined) return [];
    const taken = membersTaken(current.document, write, path);
    for (const member of Object.keys(wanted)) if (!taken.has(member)) wrong.push(`${about}.${member}: is not known here`);
    const body = propertiesOf(current.document, write, path);
    for (const [member, value] of Object.entries(wanted))
      wrong.push(...faultsOf(current.document, body[member], value, `${about}.${member}`));
    const found = current.tenantDocuments.get(about);
    const before = found === undefined ? null : Object.fromEntries(Object.keys(wanted).map((member) => [member, found[member] ?? null]));
    return [{ about, before, after: wanted, send: () => api.ask(write, path, { ...empty, ...found, ...wanted }) }];
  });
}

async function groupSteps(
  group: string,
  documents: ConfigEntry,
  known: KnownNames,
  current: Current,
  api: ConfigApi,
  wrong: string[],
): Promise<DocumentStep[]> {
  const groupId = current.names.idOf("resource_groups", group);
  const about = `resource_groups "${group}"`;
  const steps: DocumentStep[] = [];
  let models: Promise<ConfigEntry[]> | null = null;
  const modelsThere = () =>
    (models ??= groupId === undefined ? Promise.resolve([]) : api.all(`/v1/admin/resource-groups/${groupId}/llm-models`, "llm_models"));
  const add = async (
    label: string,
    tail: (names: Names) => string,
    schemaTail: string,
    one: { path: string; body: string; member: string },
    after: ConfigValue,
  ): Promise<void> => {
    if (!isConfigEntry(after)) return void wrong.push(`${about}: ${label} must be a mapping`);
    const body = propertiesOf(current.document, "PATCH", `/v1/admin/resource-groups/{id}/${schemaTail}`);
    wrong.push(...faultsOf(current.document, body[one.body], after, label).map((fault) => `${about}: ${fault}`));
    const path = (names: Names) => `/v1/admin/resource-groups/${required(names, "resource_groups", group)}/${tail(names)}`;
    // A group, model or server that does not exist yet has no documents.
    const before = groupId === undefined ? {} : await existing(() => path(current.names), one, api);
    if (isSame(withoutNothing(before), withoutNothing(after))) return;
    steps.push({ about: `${about}: ${label}`, before, after, send: (names) => api.ask("PATCH", path(names), { [one.body]: after }) });
  };
  for (const one of GROUP_DOCUMENTS) {
    const after = documents[one.member];
    if (after !== undefined) await add(one.member, () => one.path, one.path, one, after);
  }
  for (const of of new Set(ITEM_DOCUMENTS.map((one) => one.of))) {
    const items = documents[of] ?? {};
    if (!isConfigEntry(items)) {
      wrong.push(`${about}: ${of} must be a mapping of their names`);
      continue;
    }
    for (const [item, given] of Object.entries(items)) {
      const documentsOf = ITEM_DOCUMENTS.filter((one) => one.of === of);
      if (!known(of, item)) wrong.push(`${about}: ${of} names "${item}", which is none of ${of}`);
      for (const [member, after] of Object.entries(isConfigEntry(given) ? given : {})) {
        const one = documentsOf.find((document) => document.member === member);
        if (one !== undefined)
          await add(
            `${of} "${item}" ${member}`,
            (names) => `${one.segment}/${required(names, of, item)}/${one.path}`,
            `${one.segment}/{${one.param}}/${one.path}`,
            one,
            after,
          );
        else if (of === "llms" && member === "portal_visible" && typeof after !== "boolean")
          wrong.push(`${about}: ${of} "${item}" ${member} must be true or false`);
        else if (of === "llms" && member === "portal_visible") steps.push(visibility(group, item, after, await modelsThere(), api));
        else wrong.push(`${about}: ${of} "${item}" ${member} is not known here`);
      }
    }
  }
  return steps;
}

function visibility(group: string, model: string, after: ConfigValue, there: readonly ConfigEntry[], api: ConfigApi): DocumentStep {
  return {
    about: `resource_groups "${group}": llms "${model}" portal_visible`,
    before: there.find(({ name }) => name === model)?.["portal_visible"] ?? null,
    after,
    send: (names) =>
      api.ask(
        "PATCH",
        `/v1/admin/resource-groups/${required(names, "resource_groups", group)}/llm-models/${required(names, "llms", model)}/portal-visibility`,
        { portal_visible: after },
      ),
  };
}

async function existing(path: () => string, one: { path: string; body: string; member: string }, api: ConfigApi): Promise<ConfigEntry> {
  try {
    return await readDocument(api, path(), one);
  } catch (error) {
    if (error instanceof NotThere || (error as { status?: number }).status === 404) return {};
    throw error;
  }
}

class NotThere extends Error {}

function required(names: Names, section: string, name: string): string {
  const id = names.idOf(section, name);
  if (id === undefined) throw new NotThere(`there is no "${name}" among ${section}`);
  return encodeURIComponent(id);
}
