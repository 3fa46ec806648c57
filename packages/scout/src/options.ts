import { parseArgs } from "node:util";

export const HELP = `Usage: gatehouse scout [key | service] --gateway URL --collector ID --key-id ID [options]

Finds tool servers in the configuration files of AI clients and reports them to a gateway: names, kinds, counts and origins of
addresses. It never sends values or names of variables and headers, arguments, paths, user names or contents of files.
It starts nothing and changes nothing outside its own folder.

  key                  print this device's ID and public key, to be registered with the gateway
  service              print a service definition for this system, with the options given

  --gateway URL        the runtime plane of the gateway, for example https://gateway.example
  --collector ID       the collector's ID, as it was registered
  --key-id ID          the ID that the gateway gave the key
  --once               report once and exit; without it, report repeatedly
  --every MINUTES      how often to report; at least 5, default 60
  --dry-run            print the exact bytes that would be sent, and send nothing
  --device-name NAME   also report this name of the device
  --hash-names         report keyed hashes instead of names of tool servers
  --project FOLDER     also look in this project folder; may be given more than once
  --all-users          look in the home directories of all users; for root
  --state FOLDER       where the device's key is kept
  --help               print this text
`;

const MINUTES_MIN = 5;
const MINUTES_DEFAULT = "60";

export interface Options {
  readonly command: "run" | "key" | "service";
  readonly gateway: string;
  readonly collector: string;
  readonly keyId: string;
  readonly once: boolean;
  readonly everyMinutes: number;
  readonly dryRun: boolean;
  readonly deviceName: string | null;
  readonly hashNames: boolean;
  readonly projects: readonly string[];
  readonly allUsers: boolean;
  readonly state: string | null;
}

/** Null if help was requested. Throws with a readable message for invalid options. */
export function readOptions(args: readonly string[]): Options | null {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      gateway: { type: "string" },
      collector: { type: "string" },
      "key-id": { type: "string" },
      once: { type: "boolean" },
      every: { type: "string" },
      "dry-run": { type: "boolean" },
      "device-name": { type: "string" },
      "hash-names": { type: "boolean" },
      project: { type: "string", multiple: true },
      "all-users": { type: "boolean" },
      state: { type: "string" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help === true) return null;
  const [command = "run", ...more] = positionals;
  if (more.length > 0 || !["run", "key", "service"].includes(command)) throw new Error(`there is no command ${positionals.join(" ")}`);
  const everyMinutes = Number(values.every ?? MINUTES_DEFAULT);
  if (!Number.isInteger(everyMinutes) || everyMinutes < MINUTES_MIN)
    throw new Error(`--every must be whole minutes, at least ${MINUTES_MIN}`);
  const needed = (name: "gateway" | "collector" | "key-id"): string => {
    const value = values[name];
    if (value === undefined && command !== "key") throw new Error(`--${name} is required`);
    return value ?? "";
  };
  const gateway = needed("gateway").replace(/\/+$/, "");
  if (command !== "key" && !/^https?:\/\/[^/@?#\s]+$/i.test(gateway))
    throw new Error("--gateway must be an address such as https://gateway.example");
  if (values["all-users"] === true && process.getuid?.() !== 0) throw new Error("--all-users is for root");
  return {
    command: command as Options["command"],
    gateway,
    collector: needed("collector"),
    keyId: needed("key-id"),
    once: values.once === true,
    everyMinutes,
    dryRun: values["dry-run"] === true,
    deviceName: values["device-name"] ?? null,
    hashNames: values["hash-names"] === true,
    projects: values.project ?? [],
    allUsers: values["all-users"] === true,
    state: values.state ?? null,
  };
}
