import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Log } from "../kernel/log.ts";
import { newPassword } from "../kernel/secrets.ts";
import { type FileLock, LockedError, lockFile } from "../runtime/file-lock.ts";
import type { DataDirectory } from "./data-directory.ts";
import { findBinaries } from "./embedded/binaries.ts";
import { stopOrphan } from "./embedded/cluster-process.ts";
import { DATABASE, makeCluster, SUPERUSER } from "./embedded/cluster.ts";
import { EmbeddedPostgresError } from "./embedded/error.ts";
import { findHome, type Home, SYSTEM_DIRECTORY } from "./embedded/home.ts";
import { boundLogFile } from "./embedded/log-file.ts";
import { type Postmaster, startPostmaster } from "./embedded/postmaster.ts";
import { settingArguments } from "./embedded/settings.ts";
import { makeSocketDirectory } from "./embedded/socket-directory.ts";

export interface EmbeddedPostgres {
  /** libpq URL of the database, as its owner. Stays the same when PostgreSQL is restarted after a crash. */
  readonly url: string;
  /** The directory of the cluster and its log: in the data directory, or below /var/lib/gatehouse. */
  readonly home: string;
  stop(): Promise<void>;
}

export interface EmbeddedOptions {
  readonly directory: DataDirectory;
  readonly log: Log;
  /** PostgreSQL settings that override our own (throwaway clusters of tests go without fsync). */
  readonly settings?: Readonly<Record<string, string>>;
}

const PASSWORD = "postgresql-password";
const LOCK_WAIT_MS = 1_500;
const FIRST_RESTART_MS = 50;
const MAX_RESTART_MS = 5_000;

/**
 * Runs our own PostgreSQL on a unix socket and restarts it after a crash, until stopped. It ends with this process; one left over from an
 * earlier process is ended first. Throws an error of one line if it cannot start.
 */
export async function startEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const home = findHome(options.directory.path);
  // Two data directories can point to one home (if one is a copy), which the data directory's own lock would not detect.
  const lock = takeLock(home);
  try {
    return await startIn(home, lock, options);
  } catch (error) {
    lock.release();
    throw error;
  }
}

function takeLock(home: Home): FileLock {
  try {
    return lockFile(join(home.path, "lock"), { waitMs: LOCK_WAIT_MS });
  } catch (error) {
    if (!(error instanceof LockedError)) throw error;
    throw new EmbeddedPostgresError(
      `the database in ${home.path} is in use by ${error.pid === undefined ? "another process" : `process ${error.pid}`}`,
    );
  }
}

async function startIn(home: Home, lock: FileLock, { directory, log, settings = {} }: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const binaries = findBinaries(home.account, home.account === undefined ? home.path : SYSTEM_DIRECTORY);
  if (existsSync(home.cluster) && !directory.hasSecret(PASSWORD)) {
    throw new EmbeddedPostgresError(
      `the database in ${home.path} was made with a password that is gone: put ${join(directory.secretsPath, PASSWORD)} back`,
    );
  }
  const password = directory.secret(PASSWORD, newPassword);
  makeCluster(home, binaries, password);

  const socket = makeSocketDirectory(home);
  const args = settingArguments(socket.path, settings);
  const logFile = boundLogFile(home.log);
  let stopping = false;
  const start = async (): Promise<Postmaster> => {
    if (await stopOrphan(home.cluster)) log.info("embedded_postgres_orphan_stopped");
    socket.clear();
    return startPostmaster(home, binaries, args);
  };
  let current: Postmaster | undefined = await start();
  const stopWaiting = new AbortController();

  const keepRunning = async (): Promise<void> => {
    let wait = FIRST_RESTART_MS;
    while (!stopping) {
      if (current !== undefined) {
        await current.exited;
        if (stopping) return;
        log.error("embedded_postgres_died", { restart_in_ms: wait });
      }
      await delay(wait, undefined, { signal: stopWaiting.signal }).catch(() => {});
      if (stopping) return;
      wait = Math.min(wait * 2, MAX_RESTART_MS);
      current = undefined;
      try {
        current = await start();
        log.info("embedded_postgres_restarted", { pid: current.pid });
        wait = FIRST_RESTART_MS;
      } catch (error) {
        log.error("embedded_postgres_restart_failed", { error: error as Error, next_in_ms: wait });
      }
    }
  };

  const running = keepRunning();

  return {
    url: `postgres://${SUPERUSER}:${encodeURIComponent(password)}@localhost/${DATABASE}?host=${encodeURIComponent(socket.path)}`,
    home: home.path,
    async stop() {
      if (stopping) return running;
      stopping = true;
      stopWaiting.abort();
      await current?.stop();
      await running;
      // A restart may have been under way when we were asked to stop.
      await current?.stop();
      logFile.end();
      socket.remove();
      lock.release();
    },
  };
}
