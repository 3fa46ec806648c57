import { CLIENTS, type ConfigFile, MODEL_SERVERS } from "./clients.ts";
import type { DeviceFiles } from "./files.ts";
import { modelEndpoint } from "./model-endpoint.ts";
import { itemsIn, type Members, membersOf, parseConfig } from "./parse-config.ts";
import type { Places } from "./places.ts";
import { type ServerFacts, serverFacts } from "./server-facts.ts";

export interface FoundServer {
  readonly client: string;
  readonly name: string;
  readonly scope: ConfigFile["scope"];
  /** Hashed before they are reported; neither leaves the device in plain text. */
  readonly location: string;
  readonly configuration: string;
  readonly facts: ServerFacts;
}

export interface FoundClient {
  readonly client: string;
  readonly name: string;
  readonly configuration: string;
  readonly modelEndpoint: string | null;
}

export interface Scan {
  readonly clients: readonly FoundClient[];
  readonly servers: readonly FoundServer[];
}

interface Opened {
  readonly path: string;
  readonly text: string;
  readonly config: unknown;
  readonly file: ConfigFile;
}

function opened(files: DeviceFiles, config: ConfigFile): Opened[] {
  const { below, path } = config;
  const paths = below === undefined ? [path] : files.below(path, below.depth).filter((found) => below.named.test(lastPart(found)));
  return paths.flatMap((found) => {
    const text = files.read(found);
    return text === null ? [] : [{ path: found, text, config: parseConfig(config.syntax, text), file: config }];
  });
}

const lastPart = (path: string): string => /[^/\\]+$/.exec(path)?.[0] ?? "";

const MAX_PARTS = 10_000;

/** The JSON of a value; null if it is too large, because YAML aliases can repeat a part many times or refer to themselves. */
function boundedText(value: unknown): string | null {
  let left = MAX_PARTS;
  const text = (part: unknown): string => {
    if (--left < 0) return "";
    if (Array.isArray(part)) return `[${part.map(text).join(",")}]`;
    if (typeof part !== "object" || part === null) return JSON.stringify(part) ?? "null";
    return `{${Object.entries(part)
      .map(([name, member]) => `${JSON.stringify(name)}:${text(member)}`)
      .join(",")}}`;
  };
  const written = text(value);
  return left < 0 ? null : written;
}

/** The servers under a member path, each with its name; in a list, each entry holds its own name. `*` matches every member. */
function entriesAt(config: unknown, [first, ...rest]: readonly string[]): { name: string; path: string; entry: unknown }[] {
  if (first === "*")
    return Object.entries(membersOf(config)).flatMap(([name, member]) =>
      entriesAt(member, rest).map((found) => ({ ...found, path: `${name}\n${found.path}` })),
    );
  const member = membersOf(config)[first ?? ""];
  if (rest.length > 0) return entriesAt(member, rest);
  if (Array.isArray(member))
    return itemsIn(member).flatMap((entry) => {
      const { name } = membersOf(entry);
      return typeof name === "string" ? [{ name, path: "", entry }] : [];
    });
  return Object.entries(membersOf(member)).map(([name, entry]) => ({ name, path: "", entry }));
}

function serversIn(client: string, { path, text, config, file }: Opened, gatewayOrigins: ReadonlySet<string>): FoundServer[] {
  return file.servers.flatMap((at) =>
    entriesAt(config, at).flatMap(({ name, path: within, entry }) => {
      // An unreadable entry must not hide the others.
      const facts = serverFacts(entry, gatewayOrigins);
      if (facts === null || name === "") return [];
      return [{ client, name, scope: file.scope, location: `${path}\n${within}`, configuration: boundedText(entry) ?? text, facts }];
    }),
  );
}

/** The project folders that Claude Code has recorded. */
function knownProjects({ join, home }: Places, files: DeviceFiles): string[] {
  const text = files.read(join(home, ".claude.json"));
  const { projects } = membersOf(text === null ? null : parseConfig("json", text)) as Members;
  return Object.keys(membersOf(projects));
}

/** Scans the configuration of all clients in one home. */
export function scanHome(files: DeviceFiles, places: Places, gatewayOrigins: ReadonlySet<string>, projects: readonly string[] = []): Scan {
  const folders = [...new Set([...projects, ...knownProjects(places, files)])];
  const clients: FoundClient[] = [];
  const servers: FoundServer[] = [];
  for (const { client, name, files: own, project } of CLIENTS) {
    const configs = [...own(places), ...(project === undefined ? [] : folders.flatMap((folder) => project(places.join, folder)))];
    const byPath = new Map(configs.flatMap((config) => opened(files, config)).map((found) => [found.path, found]));
    const found = [...byPath.values()];
    servers.push(...found.flatMap((one) => serversIn(client, one, gatewayOrigins)));
    if (found.some(({ file }) => file.scope !== "project"))
      clients.push({
        client,
        name,
        configuration: found.map(({ text }) => text).join("\n"),
        modelEndpoint: modelEndpoint(
          client,
          found.map(({ config }) => config),
          gatewayOrigins,
        ),
      });
  }
  for (const { client, name, folder } of MODEL_SERVERS)
    if (files.isFolder(places.join(places.home, folder))) clients.push({ client, name, configuration: "", modelEndpoint: null });
  return { clients, servers };
}
