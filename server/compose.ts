import { join } from "node:path";
import type { BlobStore } from "./store/files/blobs.ts";
import { blobBucket } from "./store/files/blob-bucket.ts";
import { openBlobDirectory } from "./store/files/blob-directory.ts";
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { openControlPlane } from "./compose/control-plane.ts";
import { connect } from "./compose/database.ts";
import { openWorkers } from "./compose/workers.ts";
import { openRuntime } from "./compose/runtime.ts";
import { alone, type SelfInGroup, type ProcessGroup } from "./group/process-group.ts";
import { emptyLeftJournals } from "./group/left-journals.ts";
import { withAppPages, withReference } from "./surfaces/pages/app-pages.ts";
import { gatewayOriginsOf } from "./directory/discovery/governance.ts";
import { firstStart, type FirstStart, laterStart } from "./directory/first-start.ts";
import { upstreamOf } from "./drivers.ts";
import { systemClock } from "./kernel/clock.ts";
import type { Configuration } from "./kernel/configuration/configuration.ts";
import type { Log } from "./kernel/log.ts";
import { type SecretBox, secretBox } from "./kernel/secrets.ts";
import { telemetry, type Telemetry } from "./kernel/telemetry/telemetry.ts";
import { checkpointTargets } from "./ledger/checkpoints/checkpoint-targets.ts";
import { openLedger } from "./ledger/ledger.ts";
import { openPlane, type Plane } from "./plane.ts";
import { runtimePlane } from "./runtime-plane.ts";
import { hashPassword } from "./runtime/passwords.ts";
import { type DataDirectory, openDataDirectory } from "./store/data-directory.ts";
import type { Database } from "./store/database.ts";
import { boundedAnswer, databaseFailure } from "./store/connections/database-state.ts";
import { migrate } from "./store/migrate.ts";
import { readAnyModelName } from "./store/records/policy-reads.ts";
import { storedNameKeys } from "./store/records/name-key-store.ts";
import { countSealed } from "./store/records/sealed-values.ts";
import { waitingWork } from "./store/records/waiting-work.ts";
import { WorkPoller } from "./workers/work-poller.ts";

/** A running gateway process. */
export interface Gateway {
  /** Null without the runtime role. */
  readonly runtimeUrl: string | null;
  readonly adminUrl: string;
  readonly dataDir: string;
  /** Where the database is, for display and without its password. */
  readonly database: string;
  readonly made: FirstStart["made"];
  readonly notSignedInYet: FirstStart["notSignedInYet"];
  /** A model for a first call; null if there is none. */
  readonly firstModel: string | null;
  /** Reports at `/readyz` that it is about to stop, but keeps serving. */
  leave(): void;
  /**
   * Drains and stops: calls in flight may finish within `drainSeconds`, every row is sealed, the database is shut down cleanly. Resolves with
   * why rows could not be sealed; null if they could.
   */
  stop(drainSeconds?: number): Promise<string | null>;
}

type Runtime = Awaited<ReturnType<typeof openRuntime>>;

/** For the last bytes of calls that were ended, once their rows are sealed. */
const AFTER_DRAIN_SECONDS = 5;
/** Stored secrets of each kind that a start tries: enough to tell whether this is the key they were encrypted with. */
const MAX_KEYS_TRIED = 1_000;

export interface ComposeHooks {
  /** Called with every SQL statement, so that tests can count them. */
  readonly onQuery?: (sql: string) => void;
  /** Replaces the ledger, so that a benchmark can measure its cost. */
  readonly openLedger?: typeof openLedger;
  /** The group this process belongs to; a group of one when left out. */
  readonly group?: ProcessGroup;
}

export async function compose(
  config: Configuration,
  env: Readonly<Record<string, string | undefined>>,
  log: Log,
  hooks: ComposeHooks = {},
): Promise<Gateway> {
  const clock = systemClock({
    setBack: (aheadMs) => log.warn("clock_set_back", { rows_ahead_seconds: Math.round(aheadMs / 1000) }),
    caughtUp: () => log.info("clock_caught_up"),
  });
  const group = hooks.group ?? alone();
  const directory = openDataDirectory(config.dataDir);
  // Closed in reverse order, also if a later step fails.
  const closers: (() => Promise<void> | void)[] = [() => directory.close()];
  try {
    // Open the ports first: a start that fails on a port must not create anything.
    const metrics = telemetry(group.number);
    const { adminPlane, runtimePlaneOpen } = openPlanes(config, group, log, metrics, closers);

    const { connection, url, description, close } = await connect(config, directory, log, hooks, group.size);
    closers.push(close);
    const { db } = connection;
    await migrate(db);
    const keys = keysOf(config, directory);
    const secrets = await secretsOf(config, keys, db);
    const upstream = upstreamOf(config, clock);

    const targets = checkpointTargets(config, db, log, metrics);
    closers.push(() => targets.close());
    const { auditSigningKey: signingKey, jwtSecret } = keys;
    const callsAt = config.publicUrl ?? runtimePlaneOpen?.url ?? null;
    const gatewayOrigins = gatewayOriginsOf(callsAt);
    const workPoller = new WorkPoller(() => waitingWork(db), { log, metrics });
    const shared = { targets, secrets, clock, upstream, log, metrics, signingKey, gatewayOrigins, workPoller };
    if (group.homeDir === null) await emptyLeftJournals(directory.path, group.size, config, { ...shared, db });
    const runtime = config.roles.includes("runtime")
      ? await openRuntime(config, {
          ...shared,
          openLedger: hooks.openLedger ?? openLedger,
          connection,
          journal: directory.journalPath,
          blobs: await blobsOf(config, directory, group),
          jwtSecret,
          group,
        })
      : null;
    if (runtime !== null) closers.push(() => runtime.close());
    const workers = openWorkers(config, { ...shared, db });
    closers.push(() => workers.close());

    const databaseAway = boundedAnswer(() => databaseFailure(db));
    let leaving = false;
    const notReady = async (calls: boolean): Promise<string | null> =>
      leaving
        ? "the process is about to stop"
        : runtime !== null && !runtime.ledger.accepting()
          ? "the audit journal takes no calls"
          : calls
            ? null
            : databaseAway();
    const control = openControlPlane(config, { ...shared, db, notReady, runtime, otherFigures: () => group.figures() });
    closers.push(() => control.close());
    await warnOfUnreadableKeys(db, secrets, log);

    const leave = () => {
      leaving = true;
      group.leave();
    };

    const answerAdmin = async (request: Request, info: { ip: string }) => {
      const response = await control.app.fetch(request, info);
      // If this process serves both planes, answer a write only once it is in force for the next call.
      if (runtime !== null && request.method !== "GET" && response.ok) await Promise.all([runtime.follower.caughtUp(), group.caughtUp()]);
      return response;
    };
    closers.push(async () => void (await group.stop(0)));
    if (runtime !== null) metrics.watchRealtime(() => runtime.services.realtime.open);
    if (group.number === 1) metrics.watchProcesses(() => group.others());
    await group.start({ ...keys, databaseUrl: url, runtimePort: runtimePlaneOpen?.port ?? null }, memberOf(runtime, metrics, leave));
    // Last, because a failed start, also of another process, must not have created secrets that are never shown.
    const started = await (group.homeDir === null ? firstStart : laterStart)({
      directory: { db, secrets, clock, hashPassword, fallbackJudge: config.judgeModel ?? null },
      bootstrapAdminPassword: config.bootstrapAdminPassword,
      quickstart: config.quickstart,
      env,
    });
    const [firstModel] = await Promise.all([started.models[0] ?? readAnyModelName(db), runtime?.warm(), group.caughtUp()]);
    await runtime?.takeOver();
    adminPlane?.answer(config.roles.includes("control") ? withAppPages("console", withReference(answerAdmin), { callsAt }) : answerAdmin);
    closers.push(() => adminPlane?.stop({ graceSeconds: 2 }));
    if (runtimePlaneOpen !== null && runtime !== null) {
      const { road, services } = runtime;
      const answerCalls = runtimePlane(road, services, { notReady }, config.allowedOrigins, metrics.answeredWithoutRow);
      runtimePlaneOpen.answer(withAppPages("portal", withReference(answerCalls), config));
    }

    return {
      runtimeUrl: runtimePlaneOpen?.url ?? null,
      adminUrl: adminPlane?.url ?? "",
      dataDir: directory.path,
      database: description,
      made: started.made,
      notSignedInYet: started.notSignedInYet,
      firstModel,
      leave,
      async stop(drainSeconds = config.drainSeconds) {
        const othersEnd = runtimePlaneOpen && runtime && (await drain(runtimePlaneOpen, runtime, group, drainSeconds));
        await closeAll(closers, log);
        const failed = runtime?.ledger.status().failed ?? null;
        return failed === null ? othersEnd : `the audit journal had failed (${failed})`;
      },
    };
  } catch (error) {
    await closeAll(closers, log);
    throw error;
  }
}

/** Resolves with how another process of the group ended, unless all of them sealed their rows. */
async function drain(plane: Plane, runtime: Runtime, group: ProcessGroup, drainSeconds: number): Promise<string | null> {
  runtime.services.portal.feed.endAll();
  runtime.services.realtime.leave();
  const [othersEnd] = await Promise.all([
    group.stop(drainSeconds),
    plane.stop({ graceSeconds: drainSeconds + AFTER_DRAIN_SECONDS }),
    runtime.drain(drainSeconds * 1000),
  ]);
  return othersEnd;
}

function openPlanes(
  config: Configuration,
  group: ProcessGroup,
  log: Log,
  metrics: Telemetry,
  closers: (() => Promise<void> | void)[],
): { readonly adminPlane: Plane | null; readonly runtimePlaneOpen: Plane | null } {
  const open = (wanted: boolean, where: Parameters<typeof openPlane>[1]): Plane | null => {
    if (!wanted) return null;
    const plane = openPlane(config, where, log, metrics.answeredWithoutRow);
    closers.push(() => plane.stop({ graceSeconds: 0 }));
    return plane;
  };
  return {
    // The first process of a group serves it for all.
    adminPlane: open(group.homeDir === null, { port: config.adminPort }),
    runtimePlaneOpen: open(config.roles.includes("runtime"), { port: config.runtimePort, sharing: group.port }),
  };
}

/** What the other processes of the group may ask of this one. */
function memberOf(runtime: Runtime | null, metrics: Telemetry, leave: () => void): SelfInGroup {
  return {
    figures: () => metrics.figures(),
    caughtUp: async () => void (await runtime?.follower.caughtUp()),
    shipped: async () => void (await runtime?.ledger.shipped()),
    leave,
  };
}

/** Where callers' files are stored: the configured bucket, else the data directory of the group. */
async function blobsOf(config: Configuration, directory: DataDirectory, { homeDir, number }: ProcessGroup): Promise<BlobStore> {
  if (config.blobBucket !== undefined) return blobBucket(config.blobBucket);
  return openBlobDirectory(join(homeDir ?? directory.path, "files"), homeDir === null ? "arriving" : `arriving-${number}`);
}

async function warnOfUnreadableKeys(db: Database, secrets: SecretBox, log: Log): Promise<void> {
  const counts = await countSealed(db, { own: secrets, all: secrets }, MAX_KEYS_TRIED);
  const lost = counts.filter(({ isBrief, unreadable }) => !isBrief && unreadable > 0);
  if (lost.length > 0)
    log.error("stored_keys_unreadable", {
      keys: lost.reduce((sum, { unreadable }) => sum + unreadable, 0),
      first: lost[0]?.firstUnreadable,
      reason: "GW_SECRET_KEY is not the one they were stored under",
    });
}

/** With the keys beside the secret key, and the keys of names that outlast it. */
async function secretsOf(config: Configuration, { secretKey }: Keys, db: Database): Promise<SecretBox> {
  const [master, next, previous] = [secretKey, config.secretKeyNext, config.secretKeyPrevious].map((text) =>
    text === undefined ? undefined : Buffer.from(text, "base64"),
  ) as [Buffer, Buffer | undefined, Buffer | undefined];
  return secretBox(master, { next, previous, names: await storedNameKeys(db, secretBox(master, { next, previous })) });
}

async function closeAll(closers: readonly (() => Promise<void> | void)[], log: Log): Promise<void> {
  for (const close of closers.toReversed()) {
    try {
      await close();
    } catch (error) {
      log.error("stop_failed", { error: error as Error });
    }
  }
}

interface Keys {
  readonly secretKey: string;
  readonly jwtSecret: string;
  readonly auditSigningKey: string;
}

/** From the configuration, else generated once and stored in the data directory. */
function keysOf(config: Configuration, directory: DataDirectory): Keys {
  return {
    secretKey: config.secretKey ?? directory.secret("secret-key", () => randomBytes(32).toString("base64")),
    jwtSecret: config.jwtSecret ?? directory.secret("jwt-secret", () => randomBytes(32).toString("base64url")),
    auditSigningKey:
      config.auditSigningKey ??
      directory.secret("audit-signing-key.pem", () =>
        generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
      ),
  };
}
