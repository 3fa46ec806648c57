import { parseArgs } from "node:util";
import { reasonOf } from "../kernel/errors.ts";
import type { Database } from "../store/database.ts";
import { openAuditDatabase } from "./audit-database.ts";
import type { CommandIo } from "./command-io.ts";

const USAGE = `Usage:
  gatehouse reset-2fa USERNAME [--tenant ID] [--database-url URL | --data-dir DIR]

Switches the second factor of an administrator off and ends their sessions, where no other administrator can do so in the console.
Without --tenant: of the system administrator with this name. The admin log gets an entry. The gateway may run meanwhile.
`;

/** Resets a second factor. Null if there is no such administrator; a null tenant means system administrators. */
export type ResetFactor = (
  db: Database,
  tenantId: string | null,
  username: string,
) => Promise<{ readonly outcome: "reset" | "had_none"; readonly username: string } | null>;

const OUTCOME_TEXTS = {
  reset: (name: string) =>
    `The second factor of ${name} is off and their sessions are ended. They sign in with their password and can set it up again.`,
  had_none: (name: string) => `${name} has no second factor. Nothing was changed.`,
};

/** `gatehouse reset-2fa`. Resolves with the exit code; never throws. */
export async function resetFactorCommand(
  argv: string[],
  env: Readonly<Record<string, string | undefined>>,
  reset: ResetFactor,
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
      await io.stdout(USAGE);
      return 0;
    }
    const [username, ...rest] = positionals;
    if (username === undefined || rest.length > 0) throw new Error(`say whose\n${USAGE}`);
    // A named data directory means its own database, whatever the environment says.
    const url = values["database-url"] ?? (values["data-dir"] === undefined ? env["DATABASE_URL"] : undefined);
    const database = await openAuditDatabase({ url, dataDir: values["data-dir"] ?? env["GW_DATA_DIR"] ?? "./data" });
    try {
      const { tenant = null } = values;
      const done = await reset(database.db, tenant, username);
      const whose = tenant === null ? "system administrator" : `administrator of the tenant ${tenant}`;
      if (done === null) throw new Error(`there is no ${whose} with the name ${username}`);
      await io.stdout(`${OUTCOME_TEXTS[done.outcome](done.username)}\n`);
    } finally {
      await database.close();
    }
    return 0;
  } catch (error) {
    io.stderr(`gatehouse reset-2fa: ${reasonOf(error)}\n`);
    return 1;
  }
}
