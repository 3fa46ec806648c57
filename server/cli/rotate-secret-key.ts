import { parseArgs } from "node:util";
import { reasonOf } from "../kernel/errors.ts";
import { pendingMigrations } from "../store/migrate.ts";
import type { Database } from "../store/database.ts";
import { countSealed, type Boxes } from "../store/records/sealed-values.ts";
import { openAuditDatabase } from "./audit-database.ts";
import type { CommandIo } from "./command-io.ts";
import { boxesOf, secretKeysOf } from "./secret-keys.ts";

const USAGE = `Usage:
  gatehouse rotate-secret-key [--database-url URL | --data-dir DIR]

Encrypts every stored secret under GW_SECRET_KEY that is still under GW_SECRET_KEY_PREVIOUS. The gateways may run meanwhile, with both
settings. It may be broken off and run again. Exits with 0 (nothing is under the previous key any more), 1 (something is), 3 (could not run).
`;

/** Re-encrypts everything. Resolves with how many values, by kind. */
export type RotateKey = (db: Database, boxes: Boxes, previous: Uint8Array) => Promise<ReadonlyMap<string, number>>;

/** `gatehouse rotate-secret-key`. Resolves with the exit code; never throws. */
export async function rotateSecretKeyCommand(
  argv: string[],
  env: Readonly<Record<string, string | undefined>>,
  rotate: RotateKey,
  io: CommandIo,
): Promise<number> {
  try {
    const { values } = parseArgs({
      args: argv,
      options: { "database-url": { type: "string" }, "data-dir": { type: "string" }, help: { type: "boolean", default: false } },
    });
    if (values.help) {
      await io.stdout(USAGE);
      return 0;
    }
    const dataDir = values["data-dir"] ?? env["GW_DATA_DIR"] ?? "./data";
    const keys = secretKeysOf(env, dataDir);
    if (keys === null) throw new Error("there is no secret key: give the new one as GW_SECRET_KEY");
    const { own, previous } = keys;
    if (previous === undefined) throw new Error("give the key that GW_SECRET_KEY replaced as GW_SECRET_KEY_PREVIOUS");
    if (Buffer.compare(own, previous) === 0)
      throw new Error("GW_SECRET_KEY and GW_SECRET_KEY_PREVIOUS are the same: GW_SECRET_KEY must be the new key");
    // A named data directory means its own database, whatever the environment says.
    const url = values["database-url"] ?? (values["data-dir"] === undefined ? env["DATABASE_URL"] : undefined);
    const database = await openAuditDatabase({ url, dataDir });
    try {
      if ((await pendingMigrations(database.db)).length > 0)
        throw new Error("the database is that of another release: start a gateway of this release first");
      return await rotateIn(database.db, boxesOf({ own, previous }), previous, rotate, io);
    } finally {
      await database.close();
    }
  } catch (error) {
    io.stderr(`gatehouse rotate-secret-key: ${reasonOf(error)}\n`);
    return 3;
  }
}

async function rotateIn(db: Database, boxes: Boxes, previous: Uint8Array, rotate: RotateKey, io: CommandIo): Promise<number> {
  const done = await rotate(db, boxes, previous);
  for (const [kind, values] of done) await io.stdout(`encrypted again   ${String(values).padStart(6)}  ${kind}\n`);
  const counts = await countSealed(db, boxes);
  const left = counts.filter(({ other }) => other > 0);
  for (const { kind, other } of left) await io.stdout(`previous key      ${String(other).padStart(6)}  ${kind}\n`);
  const lost = counts.filter(({ unreadable, isBrief }) => unreadable > 0 && !isBrief);
  for (const { kind, unreadable, firstUnreadable } of lost)
    await io.stdout(`neither key opens ${String(unreadable).padStart(6)}  ${kind}, first that of ${firstUnreadable}\n`);
  if (left.length > 0) {
    await io.stdout("Some were written meanwhile by a process with the previous key. Restart it with the new one, and run this again.\n");
    return 1;
  }
  await io.stdout("Nothing is under the previous key any more. Restart the gateways without GW_SECRET_KEY_PREVIOUS.\n");
  return 0;
}
