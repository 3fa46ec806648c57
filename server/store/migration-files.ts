import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

export const MIGRATIONS_DIRECTORY = fileURLToPath(new URL("./migrations/", import.meta.url));

/** Digest by migration name. */
export type Migrations = Map<string, string>;

export async function migrationFileNames(): Promise<string[]> {
  return (await readdir(MIGRATIONS_DIRECTORY)).filter((name) => name.endsWith(".sql")).sort();
}

export async function digestsOfMigrations(files: readonly string[]): Promise<Migrations> {
  const digestOf = async (name: string) =>
    createHash("sha256")
      .update(await readFile(MIGRATIONS_DIRECTORY + name, "utf8"))
      .digest("hex");
  return new Map(await Promise.all(files.map(async (name) => [name, await digestOf(name)] as const)));
}
