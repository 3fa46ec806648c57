import { yamlOf } from "../../runtime/yaml.ts";
import type { ConfigApi } from "./admin-api.ts";
import { readCurrent, readGroupDocuments } from "./current.ts";
import { FORMAT } from "./document.ts";
import { KINDS } from "./kinds.ts";
import { secretReferences } from "./secrets.ts";
import { type ConfigEntry, isConfigEntry, type ConfigValue } from "./value.ts";

const HEAD = `# The configuration of a tenant: what \`gatehouse config apply\` makes.
# Members are those of the admin API; where one holds the id of a record, here is its name. Secrets are named, not held:
# { from_env: NAME } is what the variable holds when this is applied, and stays as it is where the variable is not set.
`;

/** Everything that configures a tenant, as a file. Members that are null or empty are left out, unless `all` is asked for. */
export async function exportConfiguration(api: ConfigApi, all: boolean): Promise<string> {
  const current = await readCurrent(api);
  const file: Record<string, ConfigValue> = { format: FORMAT };
  if (current.tenant !== null) file["tenant"] = all ? current.tenant : said(current.tenant);
  if (current.notice !== null) file["notice"] = current.notice;
  for (const kind of KINDS) {
    const entries: ConfigEntry[] = [];
    for (const { entry, name, id, record } of current.records.get(kind.section) ?? []) {
      const documents = kind.section === "resource_groups" ? await readGroupDocuments(api, id, current.names) : {};
      const shown = all ? entry : said(entry);
      entries.push({
        ...Object.fromEntries(kind.key.map((member) => [member, entry[member] ?? null])),
        ...shown,
        ...secretReferences(kind, name, record),
        ...documents,
      });
    }
    if (entries.length > 0) file[kind.section] = entries;
  }
  return `${HEAD}${yamlOf(file)}`;
}

function said(entry: ConfigEntry): ConfigEntry {
  return Object.fromEntries(
    Object.entries(entry).filter(
      ([, value]) =>
        !(value === null || (Array.isArray(value) && value.length === 0) || (isConfigEntry(value) && Object.keys(value).length === 0)),
    ),
  );
}
