import { existsSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { DATABASE, SUPERUSER } from "../store/embedded/cluster.ts";
import { findHome } from "../store/embedded/home.ts";

/** A secret in the data directory that exists only with an embedded database. */
export const EMBEDDED_PASSWORD = "postgresql-password";

/** The URL of a running gateway's PostgreSQL, from PostgreSQL's own file; null if none runs. */
export function runningUrl(dataDir: string): string | null {
  const real = realpathSync(dataDir);
  try {
    const [pid, , , port, socket] = readFileSync(join(findHome(real).cluster, "postmaster.pid"), "utf8").split("\n");
    if (!socket || !existsSync(join(socket, `.s.PGSQL.${port}`))) return null;
    process.kill(Number(pid), 0);
    const password = readFileSync(join(real, "secrets", EMBEDDED_PASSWORD), "utf8").trim();
    return `postgres://${SUPERUSER}:${encodeURIComponent(password)}@localhost:${port}/${DATABASE}?host=${encodeURIComponent(socket)}`;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EPERM") throw error;
    return null;
  }
}
