import { totalmem } from "node:os";
import { openBatches } from "./batch.ts";
import { fileJobs, openFiles } from "./files.ts";
import { openControls } from "./controls.ts";
import { openWatchedLedger } from "./ledger.ts";
import { openFollower } from "./follower.ts";
import { openLimits } from "./limits.ts";
import { openObserving } from "./observed.ts";
import { openReplays } from "./replay.ts";
import { openStoredResponses } from "./responses.ts";
import { openVideos } from "./videos.ts";
import { openSkills } from "./skills.ts";
import { openPortal } from "./portal.ts";
import { compileStoredPolicy } from "../controls/argument-policies/stored-policy.ts";
import { compileGuardrails } from "../controls/guardrails/surface-guard.ts";
import { Notices } from "../controls/notices/notices.ts";
import { CredentialCache } from "../directory/credential-cache.ts";
import { EndUserCache } from "../directory/end-user-cache.ts";
import type { UsageTruth } from "../directory/limits/usage-truth.ts";
import { ConversationNotices } from "../directory/notices/conversation-notices.ts";
import { PortalTokens } from "../directory/people/portal/portal-tokens.ts";
import { StoredAnswers } from "../directory/semantic-cache/stored-answers.ts";
import { RememberedPassages } from "../directory/knowledge/memory/remembered-passages.ts";
import { ReturnedAddresses } from "../directory/web-search/returned-addresses.ts";
import { NamedTenants } from "../directory/named-tenants.ts";
import { WorkloadTokens } from "../directory/identity/workload-tokens.ts";
import { Snapshots } from "../directory/snapshots.ts";
import { guardrailEngines, type upstreamOf } from "../drivers.ts";
import type { Clock } from "../kernel/clock.ts";
import { coalesced } from "../kernel/scheduling/coalesced.ts";
import type { Configuration } from "../kernel/configuration/configuration.ts";
import { bodyShare } from "../kernel/configuration/group-size.ts";
import type { Job } from "../kernel/scheduling/job.ts";
import type { Log } from "../kernel/log.ts";
import type { SecretBox } from "../kernel/secrets.ts";
import type { Telemetry } from "../kernel/telemetry/telemetry.ts";
import type { CheckpointTargets } from "../ledger/checkpoints/checkpoint-targets.ts";
import { journalScrubber } from "../ledger/erasure.ts";
import type { Ledger, openLedger } from "../ledger/ledger.ts";
import { sweepIdleRuns } from "../ledger/runs/sweep.ts";
import { waitUntilShipped } from "../ledger/shipping/wait-until-shipped.ts";
import type { AdmissionParts } from "../road/admission/admit.ts";
import { BackgroundCalls } from "../road/own-calls/background-calls.ts";
import { governAnswers, governedBy } from "../road/govern.ts";
import { OpenCalls } from "../road/open-calls.ts";
import { RefusedCredentials } from "../road/record/refused-credentials.ts";
import { UnauthenticatedCalls } from "../road/record/unauthenticated-calls.ts";
import { Outlet } from "../road/outlet.ts";
import { EndedAccess } from "../road/ended-access.ts";
import type { RoadParts } from "../road/road-parts.ts";
import { Road } from "../road/road.ts";
import type { Services } from "../routes.ts";
import { collectorInlet } from "../services/discovery/collector-inlet.ts";
import { spanClaims } from "../ledger/queries/span-claims.ts";
import { traceIngest } from "../services/ingest/trace-ingest.ts";
import type { CacheParts } from "../services/models/caches/cache-store.ts";
import { ItemCache } from "../services/models/caches/item-cache.ts";
import { SignatureCache } from "../services/models/caches/signature-cache.ts";
import { media } from "../services/models/media/media.ts";
import { FileRoom } from "../road/request/file-room.ts";
import { openModels } from "../services/models/model-service.ts";
import { runAccess } from "../services/runs/run-access.ts";
import { openKnowledge } from "../services/knowledge/knowledge-service.ts";
import { openConnectors } from "../services/knowledge/sync-connectors.ts";
import { openAgents } from "../services/agents/agent-service.ts";
import { htmlReader } from "../services/knowledge/reading/read-html.ts";
import { openWebSearch } from "../services/web-search/web-search-service.ts";
import { openTools } from "../services/tools/tool-service.ts";
import type { ProcessGroup } from "../group/process-group.ts";
import type { BlobStore } from "../store/files/blobs.ts";
import type { DatabaseConnection } from "../store/database.ts";
import { readStoredSignatures, writeStoredSignatures } from "../store/responses/stored-signatures.ts";
import { sourceOpener } from "../upstreams/knowledge-sources/open-source.ts";
import { agentSend } from "../upstreams/agents/agent-send.ts";
import { issuerDocuments } from "../upstreams/identity/issuer-documents.ts";
import { askProvider } from "../upstreams/web-search/ask-provider.ts";
import { pageFetch } from "../upstreams/web-search/fetch-page.ts";
import { toolServerSend } from "../upstreams/tool-servers/send.ts";
import { withSseServers } from "../upstreams/tool-servers/sse-servers.ts";
import { pdfReader } from "../services/knowledge/document-reader.ts";
import { objectStore } from "../runtime/object-store.ts";
import { runBounded } from "../runtime/bounded-process.ts";
import { ArrivingBodies } from "../wire/http/arriving-bodies.ts";
import { RealtimeSessions } from "../surfaces/realtime/realtime-sessions.ts";
import { type WorkPoller, runJobs } from "../workers/work-poller.ts";

const USE_INTERVAL_MS = 30_000;
const RUN_SWEEP_INTERVAL_MS = 30_000;
const JOURNAL_SCRUBBED_MS = 5_000;
const ANSWERS_PRUNED_MS = 60_000;
const UNAUTHENTICATED_INTERVAL_MS = 1_000;

export interface RuntimeParts {
  readonly targets: CheckpointTargets;
  readonly openLedger: typeof openLedger;
  readonly upstream: ReturnType<typeof upstreamOf>;
  readonly connection: DatabaseConnection;
  readonly secrets: SecretBox;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Telemetry;
  readonly journal: string;
  /** Where callers' files are stored. */
  readonly blobs: BlobStore;
  readonly signingKey: string;
  readonly jwtSecret: string;
  readonly group: ProcessGroup;
  readonly workPoller: WorkPoller;
  /** The addresses at which clients reach this plane. */
  readonly gatewayOrigins: readonly string[];
}

/** Opens everything that calls need and starts the background jobs. The result serves the runtime plane until `close`. */
export async function openRuntime(config: Configuration, parts: RuntimeParts) {
  const { connection, secrets, clock, log, upstream } = parts;
  const { db } = connection;
  const ledger = await openWatchedLedger(config, parts);
  const admission = openAdmission(config, parts);
  const { credentials, snapshots } = admission;
  const tenants = new NamedTenants(db, clock);
  const shipped = shippedBy(ledger, parts);
  const limits = openLimits(config, parts, shipped);
  const observing = openObserving(config, parts);
  const calls = new OpenCalls({ ledger, limits: limits.limits, clock, log, observe: observing.observe });
  const [begin, nest] = [calls.begin.bind(calls), calls.nest.bind(calls)] as const;
  const storedAnswers = new StoredAnswers(db, clock);
  const keeping = keptParts(parts);
  const [signatures, items] = [new SignatureCache(keeping), new ItemCache(keeping)] as const;
  const { room, bodies } = roomForBodies(config, parts);
  const models = openModels({ ...modelParts(config, upstream), begin, nest, limits: limits.limits, signatures, storedAnswers, room, log });
  const embed = models.models.embed.bind(models.models);
  const remembered = rememberedPassages(config, parts);
  const knowledge = openKnowledge({ ...{ db, snapshots, nest, runBounded, clock, log, remembered }, send: embed });
  const { controls, gates, standingControls, cleared, actions, judge } = openControls({
    ...{ admission, db, secrets, clock, log, limits: limits.limits },
    engines: guardrailEngines(upstream.outbound, clock),
    askModel: models.ask,
    findPassages: knowledge.find,
    judgeModel: config.judgeModel ?? null,
    upstreamTimeoutMs: config.upstreamTimeoutMs,
    knowledge: (tenantId) => follower.knowledge(tenantId),
  });
  const outletTo: Services["outletTo"] = (reached) => new Outlet({ gates, begin, upstream: reached });
  const portal = openPortal(config, { ...parts, admission, shipped });
  const { directory, feed } = portal;
  const files = await openFiles(config, parts, snapshots);
  const skills = openSkills(db, files.files, log);
  const webSearch = openWebSearch({ ...webSearchParts(parts), gates });
  const tools = await openTools({
    ...admission,
    ...toolParts(config, parts),
    ...{ gates, begin, directory, outletTo, skills, knowledge: { find: knowledge.find, cleared }, ownServer: webSearch.server },
    caughtUp: () => follower.caughtUp(),
  });
  const ended = new EndedAccess({ ...admission, calls, snapshots, log });
  const follower = openFollower(connection, log, { ...admission, tenants, tools, ended, feed });
  await follower.start();
  const notices = new Notices({ conversations: new ConversationNotices(db, clock, log), db });
  const refused = new RefusedCredentials(limits.alerts, clock);
  const strangers = new UnauthenticatedCalls({ ...{ tenants, refused, ledger, clock, log }, rowsPerMinute: config.strangerRowsPerMinute });
  const { upstreamTimeoutMs, maxBodyBytes } = config;
  const callParts = { ...admission, calls, govern: governedBy(controls), log, upstreamTimeoutMs, unrecorded: unrecordedIn(parts) };
  const road = new Road({ ...callParts, strangers, admitted: (call) => notices.refer(call), bodies, maxBodyBytes });
  await feed.start();
  const background = new BackgroundCalls({ ...callParts, give: governAnswers(controls), standing: standingControls });
  const costs = { calls: background, budgets: limits.limits.jobs };
  const agents = openAgents({ ...admission, ...agentParts(config, parts), ...costs, directory, gates, outletTo });
  const jobParts = { background, connection, calls, snapshots, files: files.files, clock, log };
  const asking = { ledger, budgets: limits.limits.jobs, providers: upstream.providers, timeoutMs: upstreamTimeoutMs };
  const { videos, responses, ...lasting } = openLasting({ ...jobParts, ...asking });
  const batch = openBatches({ ...jobParts, ledger, upstream, models: models.models, items, responses });
  const services: Services = {
    models: models.models,
    ...{ items, responses },
    outletTo,
    tools: tools.tools,
    agents: agents.agents,
    ...openRecordServices(parts, { ledger, shipped, truth: limits.truth }),
    ...files,
    ...{ batches: batch.batches, videos, realtime: new RealtimeSessions(road, models.models, gates) },
    portal: portal.service(notices, tools.tools.appResource),
  };
  const replays = openReplays({
    ...{ clock, log, calls, controls, actions, directory, snapshots, items, responses },
    ask: models.ask,
    judgeModel: config.judgeModel ?? null,
    models: models.direct,
    tools: tools.tools,
    timeoutMs: config.upstreamTimeoutMs,
    caughtUp: () => follower.caughtUp(),
  });
  const jobs: Job[] = [
    { name: "write_key_uses", everyMs: USE_INTERVAL_MS, run: () => credentials.writeUses() },
    { name: "write_stranger_rows", everyMs: UNAUTHENTICATED_INTERVAL_MS, run: () => strangers.write() },
    { name: "prune_semantic_cache", everyMs: ANSWERS_PRUNED_MS, run: () => storedAnswers.prune() },
    { name: "scrub_journal", everyMs: JOURNAL_SCRUBBED_MS, run: await journalScrubber(db, ledger) },
  ];
  const sources = { root: config.knowledgeDir, store: config.knowledgeBucket === undefined ? null : objectStore(config.knowledgeBucket) };
  const connectors = openConnectors({ directory, openSource: sourceOpener({ ...sources, outbound: upstream.outbound }), log });
  jobs.push(...observing.jobs, ...limits.jobs, ...tools.jobs, ...agents.jobs, ...webSearch.jobs, ...knowledge.jobs, ...connectors.jobs);
  jobs.push(...batch.jobs, ...lasting.jobs, ...replays.jobs, ...(await storedJobs(parts)));
  const workers = runJobs(jobs, parts.workPoller);
  return {
    road,
    services,
    ...{ follower, ledger, knowledge: knowledge.road, skills, judging: { snapshots, judge, clock } },
    takeOver: () => Promise.all([lasting.takeOver(), batch.takeOver()]),
    /** Resolves when what the first calls need is in memory, as far as it could be read. */
    // Catch up first: a change that arrives during the preload would cause a second read.
    warm: () => follower.caughtUp().then(() => warmed(snapshots, log)),
    /** Accepts no more calls and lets those in flight end, aborting them after `graceMs`. */
    async drain(graceMs: number): Promise<void> {
      batch.stop();
      replays.stop();
      await road.drain(graceMs);
      await batch.settled();
      await lasting.stop();
      await models.settled();
    },
    async close(): Promise<void> {
      replays.stop();
      await Promise.all([connectors.stop(), agents.stop(), workers.stop()]);
      await strangers.write("all").catch((error: Error) => log.error("row_not_sealed", { error }));
      await limits.close();
      await observing.close();
      await Promise.all([signatures.flush(), items.flush(), lasting.flush()]);
      await credentials.writeUses().catch((error: Error) => log.warn("key_uses_lost", { error }));
      await Promise.all([follower.stop(), portal.close(), tools.close(), agents.close(), remembered.close()]);
      await skills.close();
      await ledger.close();
    },
  };
}

/** Work that continues at providers after the call that started it has ended. */
function openLasting(parts: Parameters<typeof openVideos>[0] & Parameters<typeof openStoredResponses>[0]) {
  const [films, stored] = [openVideos(parts), openStoredResponses(parts)] as const;
  return {
    ...{ videos: films.videos, responses: stored.responses, flush: stored.flush },
    jobs: [...films.jobs, ...stored.jobs],
    takeOver: () => Promise.all([films.takeOver(), stored.takeOver()]),
    stop: () => Promise.all([films.stop(), stored.stop()]),
  };
}

function rememberedPassages(config: Configuration, { connection }: RuntimeParts): RememberedPassages {
  const databaseUrl = connection.connectionConfig.connectionString ?? "";
  return new RememberedPassages({ databaseUrl, mostBytes: config.knowledgeMemoryBytes });
}

/** Files inlined into outbound bodies may take as much memory as bodies still arriving. */
function roomForBodies({ maxBodyBytes }: Configuration, { group }: RuntimeParts) {
  const mostBytes = bodyShare(memoryBytes(), group.size, maxBodyBytes);
  return { room: new FileRoom(mostBytes), bodies: new ArrivingBodies({ mostBytes }) };
}

/** The process's memory limit, or the machine's memory if it has none. */
const memoryBytes = () => Math.min(process.constrainedMemory() || Number.POSITIVE_INFINITY, totalmem());

/** Resolves when every row sealed so far, by any process of this machine, is in the database. */
const shippedBy = (ledger: Ledger, { group }: Pick<RuntimeParts, "group">) =>
  coalesced(() => Promise.all([ledger.shipped(), group.shipped()]).then(() => undefined));

function unrecordedIn({ metrics }: RuntimeParts): RoadParts["unrecorded"] {
  return (reason) => {
    metrics.answeredWithoutRow(reason);
    if (reason === "audit_unavailable") metrics.callUnrecorded();
  };
}

function openAdmission(config: Configuration, { connection, secrets, clock, log, jwtSecret, upstream }: RuntimeParts): AdmissionParts {
  return {
    credentials: new CredentialCache(connection.db, clock),
    users: new EndUserCache(connection.db, clock),
    workloads: new WorkloadTokens(connection.db, issuerDocuments(upstream.outbound), clock),
    tokens: new PortalTokens({ secret: jwtSecret, expirySeconds: config.jwtExpirySeconds, clock }),
    snapshots: new Snapshots(connection.db, secrets, compileStoredPolicy, log, compileGuardrails),
    secrets,
    clock,
  };
}

/** Further dependencies of the tool service. */
function toolParts(config: Configuration, { connection, upstream, log, gatewayOrigins }: RuntimeParts) {
  return {
    ...{ connection, log, gatewayOrigins },
    send: withSseServers(toolServerSend(upstream.outbound)),
    origins: { allowed: config.allowedOrigins.toolServers, loopback: config.loopback && config.publicUrl === undefined },
    publicUrl: config.publicUrl ?? null,
    allowPrivate: config.allowPrivateUpstreams,
    statelessProbe: config.mcpStatelessProbe,
  };
}

/** Dependencies of web search. Search providers were approved by an administrator, so they may be private; pages may not. */
function webSearchParts({ connection: { db }, clock, log, upstream }: RuntimeParts): Omit<Parameters<typeof openWebSearch>[0], "gates"> {
  return {
    clock,
    addresses: new ReturnedAddresses({ db, clock, log }),
    ask: askProvider(upstream.outbound),
    fetch: pageFetch({ outbound: upstream.media, now: () => clock.now() }),
    reader: htmlReader,
    readPdf: pdfReader(runBounded),
  };
}

/** Further dependencies of the agent service. */
function agentParts(config: Configuration, { upstream, log, gatewayOrigins }: RuntimeParts) {
  const { publicUrl = null, allowPrivateUpstreams: allowPrivate } = config;
  return { send: agentSend(upstream.outbound), log, publicUrl, gatewayOrigins, allowPrivate, isLeftToProxy: upstream.isLeftToProxy };
}

/** Dependencies of the model service: its providers, and the client that fetches media URLs in requests. */
function modelParts(config: Configuration, upstream: RuntimeParts["upstream"]) {
  return {
    ...upstream,
    timeoutMs: config.upstreamTimeoutMs,
    media: media((url, abort, timeoutMs) => upstream.media.fetch(url, { method: "GET", headers: { accept: "*/*" }, abort, timeoutMs })),
  };
}

/** Services that read from or write to the ledger. */
function openRecordServices(
  { connection: { db }, secrets, clock, log, gatewayOrigins }: RuntimeParts,
  { ledger, shipped, truth }: { readonly ledger: Ledger; readonly truth: UsageTruth; shipped(): Promise<void> },
) {
  const reading = { db, secrets, clock, log, shipped: () => waitUntilShipped(shipped()) };
  return {
    runs: runAccess({ ...reading, truth }),
    traces: traceIngest({ ...reading, ledger, claims: spanClaims(db) }),
    collectors: collectorInlet({ db, clock }, gatewayOrigins),
  };
}

function keptParts({ connection: { db }, clock, secrets, log }: RuntimeParts): CacheParts {
  return {
    now: () => clock.now(),
    store: { write: (rows) => writeStoredSignatures(db, rows), read: (tenantId, names) => readStoredSignatures(db, tenantId, names) },
    secrets,
    log,
  };
}

async function storedJobs(parts: RuntimeParts): Promise<Job[]> {
  const { connection, clock } = parts;
  return [
    { name: "sweep_runs", everyMs: RUN_SWEEP_INTERVAL_MS, run: () => sweepIdleRuns(connection.db, clock) },
    ...(await fileJobs(parts)),
  ];
}

function warmed(snapshots: Snapshots, log: Log): Promise<void> {
  return snapshots.preload().catch((error: Error) => log.debug("policies_not_preloaded", { error }));
}
