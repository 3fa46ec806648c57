import { readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { parseArgs } from "node:util";
import { reasonOf } from "../kernel/errors.ts";
import { yamlOf } from "../runtime/yaml.ts";
import type { CommandIo } from "./command-io.ts";
import { FORMAT } from "./configuration/document.ts";
import { KINDS } from "./configuration/kinds.ts";
import type { Environment } from "./configuration/secrets.ts";
import type { Imported } from "./imports/imported.ts";
import { importLitellm } from "./imports/litellm.ts";
import type { KnownFacts } from "./imports/litellm-catalog.ts";
import { importModelList } from "./imports/openrouter.ts";
import { importPortkey, vendorsByName } from "./imports/portkey.ts";

const USAGE = `Usage:
  gatehouse import litellm CONFIG.yaml [--group NAME] [--output FILE | --dry-run]
  gatehouse import portkey CONFIG.json [--group NAME] [--provider NAME=VENDOR]... [--output FILE | --dry-run]
  gatehouse import openrouter MODELS.json [--group NAME] [--url BASE_URL] [--output FILE | --dry-run]

Converts another gateway's configuration into a file for \`gatehouse config apply\`, and lists what has no equivalent. Nothing is
sent anywhere and no secret is copied: the file names the variables that hold them. Other variables that LiteLLM's file names,
for addresses and regions, are read here.

  --group NAME   the resource group that gets the models (default: imported)
  --output FILE  where to write the file (default: standard output)
  --dry-run      write no file; only report what it would contain and what has no equivalent
  --provider NAME=VENDOR
                 the vendor of a Portkey integration or virtual key: openai-prod=openai
  --url URL      where an OpenAI-compatible list of models comes from (default: https://openrouter.ai/api/v1)
`;

/** `gatehouse import ...`. Resolves with the exit code; never throws. */
export async function importCommand(argv: string[], env: Environment, known: KnownFacts, io: CommandIo): Promise<number> {
  try {
    const { values, positionals } = parseArgs({
      args: argv,
      options: {
        group: { type: "string", default: "imported" },
        output: { type: "string" },
        provider: { type: "string", multiple: true, default: [] },
        url: { type: "string", default: "https://openrouter.ai/api/v1" },
        "dry-run": { type: "boolean", default: false },
        help: { type: "boolean", default: false },
      },
      allowPositionals: true,
    });
    if (values.help) {
      await io.stdout(USAGE);
      return 0;
    }
    const [from, path, ...rest] = positionals;
    if (path === undefined || rest.length > 0) throw new Error(`cannot understand "import ${positionals.join(" ")}"\n${USAGE}`);
    const text = readFileSync(path, "utf8");
    const options = { ...values, name: basename(path).replace(/\.[^.]*$/, ""), directory: dirname(path) };
    const imported = await read(from ?? "", text, options, env, known);
    const file = { format: FORMAT, ...imported.file(KINDS.map(({ section }) => section)) };
    const written = `${headOf(from ?? "", imported)}${yamlOf(file)}`;
    if (values["dry-run"]) {
      io.stderr(summaryOf(imported, undefined));
      return 0;
    }
    if (values.output === undefined) await io.stdout(written);
    else writeFileSync(values.output, written);
    io.stderr(summaryOf(imported, values.output));
    return 0;
  } catch (error) {
    io.stderr(`gatehouse import: ${reasonOf(error)}\n`);
    return 1;
  }
}

interface ImportOptions {
  readonly group: string;
  readonly url: string;
  readonly provider: readonly string[];
  readonly name: string;
  readonly directory: string;
}

async function read(from: string, text: string, options: ImportOptions, env: Environment, known: KnownFacts): Promise<Imported> {
  const { group, url, name, directory, provider } = options;
  if (from === "litellm") return importLitellm(text, group, env, known, (included) => readFileSync(resolve(directory, included), "utf8"));
  if (from === "portkey") return importPortkey(text, group, name, known, vendorsByName(provider));
  if (from === "openrouter") return importModelList(text, group, url, known);
  throw new Error(`cannot import from "${from}"\n${USAGE}`);
}

function headOf(from: string, { variables }: Imported): string {
  const needed = [...variables].map(([name, standsAt]) => `#   ${name}: ${standsAt}\n`).join("");
  return `# Imported from ${from}. See what it would change: gatehouse config plan FILE\n${needed === "" ? "" : `# Set these variables where it is applied:\n${needed}`}`;
}

function summaryOf(imported: Imported, output: string | undefined): string {
  const counts = KINDS.filter(({ section }) => imported.count(section) > 0).map(({ section }) => `${imported.count(section)} ${section}`);
  const notes = imported.notes.map((note) => `  - ${note}\n`).join("");
  const next = output === undefined ? "" : `Next: gatehouse config plan ${output}\n`;
  return `${counts.join(", ")}\n${notes === "" ? "Everything in it has an equal here.\n" : `Without an equivalent, or to be done by hand:\n${notes}`}${next}`;
}
