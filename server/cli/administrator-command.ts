import { parseArgs } from "node:util";
import { reasonOf } from "../kernel/errors.ts";
import type { Database } from "../store/database.ts";
import { openAuditDatabase } from "./audit-database.ts";
import type { CommandIo } from "./command-io.ts";

/** A command that helps an administrator whom no other one can help. */
interface AdministratorCommand {
  readonly name: string;
  readonly usage: string;
  /** Resolves with what to print; null if there is no such administrator. A null tenant means system administrators. */
  readonly help: (db: Database, tenantId: string | null, username: string) => Promise<string | null>;
}

/** Runs the command. Resolves with the exit code; never throws. */
export async function administratorCommand(
  { name, usage, help }: AdministratorCommand,
  argv: string[],
  env: Readonly<Record<string, string | undefined>>,
  io: CommandIo,
): Promise<number> {
  try {
    const { values, positionals } = parseArgs({
      args: argv,
      options: {
        tenant: { type: "string" },
        "database-url": { type: "string" },
        "data-dir": { type: "string" },
        help: { type: "boolean", default: false },
      },
      allowPositionals: true,
    });
    if (values.help) {
      await io.stdout(usage);
      return 0;
    }
    const [username, ...rest] = positionals;
    if (username === undefined || rest.length > 0) throw new Error(`say whose\n${usage}`);
    // A named data directory means its own database, whatever the environment says.
    const url = values["database-url"] ?? (values["data-dir"] === undefined ? env["DATABASE_URL"] : undefined);
    const database = await openAuditDatabase({ url, dataDir: values["data-dir"] ?? env["GW_DATA_DIR"] ?? "./data" });
    try {
      const { tenant = null } = values;
      const text = await help(database.db, tenant, username);
      const whose = tenant === null ? "system administrator" : `administrator of the tenant ${tenant}`;
      if (text === null) throw new Error(`there is no ${whose} with the name ${username}`);
      await io.stdout(text);
    } finally {
      await database.close();
    }
    return 0;
  } catch (error) {
    io.stderr(`gatehouse ${name}: ${reasonOf(error)}\n`);
    return 1;
  }
}
