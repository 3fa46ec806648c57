import { resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { compose, type Gateway } from "./compose.ts";
import { firstProcess, ProcessGroupError } from "./group/first-process.ts";
import { memberProcess, type MemberSettings } from "./group/member-process.ts";
import { groupSize } from "./kernel/configuration/group-size.ts";
import { channelToParent } from "./runtime/process-channel.ts";
import { backupCommand } from "./cli/backup.ts";
import { resetFactorCommand } from "./cli/reset-2fa.ts";
import { resetPasswordCommand } from "./cli/reset-password.ts";
import { rotateSecretKeyCommand } from "./cli/rotate-secret-key.ts";
import { rotateSecretKeyByOperator } from "./directory/credentials/rotate-secret-key.ts";
import { resetFactorByOperator } from "./directory/people/reset-factor-by-operator.ts";
import { resetPasswordByOperator } from "./directory/people/reset-password-by-operator.ts";
import { restoreCommand } from "./cli/restore.ts";
import { auditCommand } from "./cli/audit.ts";
import { configCommand } from "./cli/config.ts";
import { importCommand } from "./cli/import.ts";
import type { KnownFacts } from "./cli/imports/litellm-catalog.ts";
import { endWithReader, written } from "./cli/standard-output.ts";
import { verifyCommand } from "./cli/verify.ts";
import { doctorCommand } from "./cli/doctor.ts";
import { ChainUnproven } from "./ledger/journal/chain-unproven.ts";
import { JournalDamaged } from "./ledger/journal/journal-contents.ts";
import { type Configuration, readConfiguration } from "./kernel/configuration/configuration.ts";
import { ConfigurationError } from "./kernel/configuration/read-variable.ts";
import { jsonLog } from "./kernel/log.ts";
import { readSecretFiles } from "./kernel/configuration/secret-files.ts";
import { onParentExit } from "./runtime/parent-process.ts";
import { giveBackUnusedCode } from "./runtime/unused-code.ts";
import { ListenError } from "./runtime/serve.ts";
import { catalogMembers } from "./directory/models/catalog/fill.ts";
import { logUnhandledRejections } from "./runtime/unhandled-rejections.ts";
import { unreadCollectorSettings } from "./kernel/configuration/unread-collector-settings.ts";
import { welcome } from "./welcome.ts";
import { DataDirectoryError } from "./store/data-directory.ts";
import { EmbeddedPostgresError } from "./store/embedded/error.ts";
import { MigrationError } from "./store/migrate.ts";

/** Reasons not to start that need no stack trace: one line, exit code 1. */
const EXPECTED = [
  ConfigurationError,
  ListenError,
  DataDirectoryError,
  EmbeddedPostgresError,
  MigrationError,
  ProcessGroupError,
  JournalDamaged,
  ChainUnproven,
];

/** What a start leaves to do has been done by then. */
const SETTLED_MS = 10_000;
const afterStart = () => void setTimeout(giveBackUnusedCode, SETTLED_MS).unref();

async function start(): Promise<void> {
  const config = readConfiguration(process.env);
  const log = jsonLog(config.logLevel);
  logUnhandledRejections(log);
  const unread = unreadCollectorSettings(process.env);
  if (unread !== null) log.warn("collector_settings_unread", { detail: unread });
  const stopped = stopSignal(config);
  const size = groupSize(config);
  const group = size === 1 ? {} : { group: firstProcess({ size, homeDir: resolve(config.dataDir), env: process.env, log }) };
  const gateway = await compose(config, process.env, log, group);
  process.stdout.write(welcome(gateway, config));
  afterStart();
  await stop(gateway, await stopped);
}

/** A further process of a gateway, started and stopped by the first one. */
async function member(): Promise<void> {
  const channel = channelToParent();
  const settings = (await channel.ask("settings")) as MemberSettings;
  const config = readConfiguration(settings.env);
  const log = jsonLog(config.logLevel);
  logUnhandledRejections(log);
  const stopRequest = Promise.withResolvers<StopRequest>();
  const stopped = Promise.race([stopSignal(config), stopRequest.promise]);
  const group = memberProcess(channel, settings, (drain) => stopRequest.resolve({ notice: 0, drain }));
  const gateway = await compose(config, {}, log, { group });
  channel.tell("ready");
  afterStart();
  const { notice, drain } = await stopped;
  gateway.leave();
  await delay(notice * 1000);
  process.exit((await gateway.stop(drain)) === null ? 0 : 1);
}

/** Short, because a gateway restarted right after its launcher was killed finds the data directory locked until then. */
const ORPHAN_DRAIN_SECONDS = 0.5;

interface StopRequest {
  /** Seconds during which calls are still accepted. */
  readonly notice: number;
  /** Seconds that calls in flight may take after that. */
  readonly drain: number;
}

/**
 * Resolves with the first request to stop. A second Ctrl-C exits at once. Only SIGTERM gives notice, because only it comes from
 * environments with a load balancer.
 */
function stopSignal({ drainSeconds: drain, drainNoticeSeconds }: Configuration): Promise<StopRequest> {
  return new Promise((resolveStop) => {
    let isStopRequested = false;
    const ask = (request: StopRequest) => {
      isStopRequested = true;
      resolveStop(request);
    };
    process.on("SIGINT", () => (isStopRequested ? process.exit(130) : ask({ notice: 0, drain })));
    process.on("SIGTERM", () => ask({ notice: drainNoticeSeconds, drain }));
    process.on("SIGHUP", () => ask({ notice: 0, drain }));
    onParentExit(() => ask({ notice: 0, drain: Math.min(drain, ORPHAN_DRAIN_SECONDS) }));
  });
}

async function stop(gateway: Gateway, { notice, drain }: StopRequest): Promise<void> {
  gateway.leave();
  if (notice > 0) {
    process.stdout.write(`Draining: new calls are still accepted for ${notice} s.\n`);
    await delay(notice * 1000);
  }
  process.stdout.write("Stopping: calls in progress may finish.\n");
  const failed = await gateway.stop(drain);
  process.stdout.write(
    failed === null
      ? "Stopped. Every call has its audit row.\n"
      : `Stopped, but ${failed}: the next start writes the rows that calls in progress lack.\n`,
  );
  process.exit(0);
}

const knownFacts: KnownFacts = (place, name, given) => catalogMembers(place, name, given, new Date());

async function main([command = "start", ...rest]: string[]): Promise<void> {
  const io = { stdout: written, stderr: (text: string) => void process.stderr.write(text) };
  if (command !== "start") endWithReader();
  readSecretFiles(process.env);
  if (command === "audit") process.exit(await auditCommand(rest, io));
  if (command === "config") process.exit(await configCommand(rest, process.env, io));
  if (command === "import") process.exit(await importCommand(rest, process.env, knownFacts, io));
  if (command === "verify") process.exit(await verifyCommand(rest, Date.now(), io));
  if (command === "backup") process.exit(await backupCommand(rest, process.env, io));
  if (command === "restore") process.exit(await restoreCommand(rest, process.env, io));
  if (command === "reset-2fa") process.exit(await resetFactorCommand(rest, process.env, resetFactorByOperator, io));
  if (command === "reset-password") process.exit(await resetPasswordCommand(rest, process.env, resetPasswordByOperator, io));
  if (command === "rotate-secret-key") process.exit(await rotateSecretKeyCommand(rest, process.env, rotateSecretKeyByOperator, io));
  if (command === "doctor") process.exit(await doctorCommand(rest, process.env, io));
  if (command === "member") return member();
  await start();
}

main(process.argv.slice(2)).catch((error: Error) => {
  const expected = EXPECTED.some((kind) => error instanceof kind);
  process.stderr.write(`gatehouse: ${expected ? error.message : (error.stack ?? error.message)}\n`);
  process.exit(1);
});
