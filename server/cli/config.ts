import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { reasonOf } from "../kernel/errors.ts";
import type { CommandIo } from "./command-io.ts";
import { ConfigApi } from "./configuration/admin-api.ts";
import { applyPlan } from "./configuration/apply-plan.ts";
import { readCurrent } from "./configuration/current.ts";
import { readConfigurationFile } from "./configuration/document.ts";
import { documentSteps } from "./configuration/documents.ts";
import { exportConfiguration } from "./configuration/export.ts";
import { KeysFile } from "./configuration/keys-file.ts";
import { planOf } from "./configuration/plan.ts";
import { type Environment, plainSecrets } from "./configuration/secrets.ts";
import { printPlan } from "./configuration/print-plan.ts";

const USAGE = `Usage:
  gatehouse config export [--all] [--output FILE]
  gatehouse config plan FILE [--prune]
  gatehouse config apply FILE [--prune] [--keys-file FILE | --dry-run]

Keeps the whole configuration of a tenant in one file: export writes it, plan shows what would change, apply changes it.
A second apply changes nothing. Members that the file does not name stay unchanged; --prune also deletes the records that a
section of the file does not name. Values of new API keys are shown only once and are added to --keys-file.
apply --dry-run is the same as plan.

  --url URL        the control plane (http://127.0.0.1:8081, or GATEHOUSE_ADMIN_URL)
  --tenant ID      the tenant (default, or GATEHOUSE_TENANT)
  GATEHOUSE_ADMIN_TOKEN, or GATEHOUSE_ADMIN_USERNAME (admin) and GATEHOUSE_ADMIN_PASSWORD, are the credentials.

plan exits with 0 if nothing would change and with 2 if something would; every command exits with 1 if it fails.
`;

const OPTIONS = {
  url: { type: "string" },
  tenant: { type: "string" },
  output: { type: "string" },
  all: { type: "boolean", default: false },
  prune: { type: "boolean", default: false },
  "dry-run": { type: "boolean", default: false },
  "keys-file": { type: "string" },
  help: { type: "boolean", default: false },
} as const;

/** `gatehouse config ...`. Resolves with the exit code; never throws. */
export async function configCommand(argv: string[], env: Environment, io: CommandIo): Promise<number> {
  let keys: KeysFile | null = null;
  try {
    const { values, positionals } = parseArgs({ args: argv, options: OPTIONS, allowPositionals: true });
    const [action, path, ...rest] = positionals;
    if (values.help) {
      await io.stdout(USAGE);
      return 0;
    }
    const isKnown = (action === "export" && path === undefined) || ((action === "plan" || action === "apply") && path !== undefined);
    if (!isKnown || rest.length > 0) throw new Error(`cannot understand "config ${positionals.join(" ")}"\n${USAGE}`);
    const api = new ConfigApi({
      url: values.url ?? env["GATEHOUSE_ADMIN_URL"] ?? "http://127.0.0.1:8081",
      tenantId: values.tenant ?? env["GATEHOUSE_TENANT"] ?? "default",
      token: env["GATEHOUSE_ADMIN_TOKEN"] ?? null,
      username: env["GATEHOUSE_ADMIN_USERNAME"] ?? "admin",
      password: env["GATEHOUSE_ADMIN_PASSWORD"] ?? null,
    });
    await api.signIn();
    const warn = (warning: string) => io.stderr(`gatehouse config: warning: ${warning}\n`);
    if (path === undefined) {
      const text = await exportConfiguration(api, values.all, warn);
      if (values.output === undefined) await io.stdout(text);
      else writeFileSync(values.output, text);
      return 0;
    }
    const file = readConfigurationFile(readFileSync(path, "utf8"));
    for (const warning of plainSecrets(file)) warn(warning);
    const isPlan = action === "plan" || values["dry-run"];
    if (!isPlan && values["keys-file"] !== undefined) keys = new KeysFile(values["keys-file"]);
    for await (const { name, lost } of keys?.fetchBegun(api) ?? [])
      io.stderr(
        lost === null
          ? `gatehouse config: the value of api_keys "${name}", which an apply before asked for, is in the file of keys now\n`
          : `gatehouse config: warning: an apply before asked for api_keys "${name}", and its value cannot be had any more (${lost}): ` +
              "where the key is there, rotate it\n",
      );
    const current = await readCurrent(api);
    const wrong: string[] = [];
    const steps = planOf(file, current, { env, prune: values.prune, warn }, wrong);
    const documents = await documentSteps(file, current, api, env, wrong);
    if (wrong.length > 0) throw new Error(wrong.join("\n"));
    return isPlan ? await printPlan(steps, documents, io) : await applyPlan(steps, documents, api, current, keys, io);
  } catch (error) {
    io.stderr(`gatehouse config: ${reasonOf(error)}\n`);
    return 1;
  } finally {
    keys?.release();
  }
}
