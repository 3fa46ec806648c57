import { canonicalJson } from "@gatehouse/ledger-format/admin-entry";
import type { ReplayCase, ReplayExpectation, ReplaySuite, ReplaySuiteFreeze } from "@gatehouse/contracts/ai-replay";
import { POLICY_REFUSALS } from "../../kernel/errors.ts";
import { uuid } from "../../kernel/ids.ts";
import { sha256Hex } from "../../kernel/secrets.ts";
import { insertSuite, newestSuite, type ReplaySuiteRow } from "../../store/assurance/replay-suites.ts";
import { callsById, type RecordedCall, recordedCalls } from "../../store/assurance/replay.ts";
import { invalidField } from "../writes/records.ts";
import { sealRecord, systemAlone } from "../writes/sealed-record.ts";
import type { Write } from "../writes/write.ts";
import { lockedSystem, refuseRetired } from "./ai-systems.ts";
import { recordedRequest, type RecordedRequest } from "./recorded-request.ts";
import { stratified } from "./stratified-sample.ts";

const SUITE_SCHEMA = "ai.gw/replay-suite/v1";
const SIZE = 40;
const DAYS = 14;
const THRESHOLD = 0.95;
const REPEATS = 3;
const DAY_MS = 86_400_000;
/** How many recent calls cases are sampled from. */
const SAMPLED_CALLS = 5_000;
/** Refusals that depend on usage or capacity at that moment, and so would not recur in a replay. */
const OF_THE_MOMENT = /^(?:rate_limit|usage_limit|concurrency_limit|run_ceiling|too_many|tool_call_limit|run_finalized|ai_system_)/;

interface StoredSuite {
  readonly threshold: number;
  readonly repeats: number;
  readonly cases: readonly ReplayCase[];
}

export function readSuite(row: ReplaySuiteRow): ReplaySuite {
  const { threshold, repeats, cases } = JSON.parse(row.content) as StoredSuite;
  const { id, version, digest, created_by } = row;
  // Suites frozen before rubrics existed have none.
  const read = cases.map((one) => ({ ...one, expect: { ...one.expect, rubric: one.expect.rubric ?? null } }));
  return { id, version, digest, threshold, repeats, cases: read, created_by, created_at: row.created_at.toISOString() };
}

/** The recorded outcome as the expected one, if it does not depend on when the call is made; otherwise null. */
function recordedExpectation(row: RecordedCall): ReplayExpectation | null {
  const open = { tool_calls: null, required_texts: [], forbidden_texts: [], rubric: null };
  if (row.agent_authz_decision === "approval_required") return { verdict: "refused", code: "approval_required", ...open };
  if (row.success === true) return { verdict: "answered", code: null, ...open };
  const code = row.error_type ?? "";
  if (!(POLICY_REFUSALS as readonly string[]).includes(code) || OF_THE_MOMENT.test(code)) return null;
  return { verdict: "refused", code, ...open };
}

const stratumOf = (request: RecordedRequest, { verdict, code }: ReplayExpectation): string =>
  [
    ...(request.kind === "model" ? [request.model, request.format] : [request.serverId, request.tool]),
    verdict === "answered" ? "answered" : (code ?? "refused"),
  ].join(" / ");

interface Candidate {
  readonly row: RecordedCall;
  readonly request: RecordedRequest;
  readonly expect: ReplayExpectation;
  readonly stratum: string;
}

function candidateOf(row: RecordedCall): Candidate | null {
  const request = recordedRequest(row);
  const expect = recordedExpectation(row);
  return request === null || expect === null ? null : { row, request, expect, stratum: stratumOf(request, expect) };
}

function caseOf({ row, request, expect, stratum }: Candidate, id: number): ReplayCase {
  const content = row.request_body_preview ?? "";
  const digest = sha256Hex(content);
  return {
    id: `case-${id}`,
    row_id: row.id,
    kind: request.kind,
    stratum,
    content_digest: digest,
    exact: digest === row.request_content_hash,
    // What policy refused must stay refused.
    must: expect.verdict === "refused",
    reaches_tools: false,
    expect,
  };
}

/** Freezes a suite from recent traffic and the calls named in `cases`. Sealed in the admin log. */
export async function freezeSuite(write: Write, tenantId: string, systemId: string, body: ReplaySuiteFreeze): Promise<ReplaySuite> {
  refuseRetired(await lockedSystem(write, tenantId, systemId));
  const { size = SIZE, days = DAYS, threshold = THRESHOLD, repeats = REPEATS, cases: pinned = [] } = body;
  const named = await callsById(
    write.trx,
    tenantId,
    systemId,
    pinned.map((one) => one.row_id),
  );
  const cases = pinned.map((one, at): ReplayCase => {
    const row = named.find(({ id }) => id === one.row_id);
    const candidate = row === undefined ? null : candidateOf(row);
    if (candidate === null)
      throw invalidField(`cases.${at}.row_id`, "names no call of this AI System whose request is kept whole and can be asked again");
    const frozen = caseOf(candidate, at + 1);
    const expect = { ...frozen.expect, ...one.expect };
    return { ...frozen, must: one.must ?? true, reaches_tools: one.reaches_tools ?? false, expect };
  });
  const since = new Date(write.now.getTime() - days * DAY_MS);
  const recent = size === 0 ? [] : await recordedCalls(write.trx, tenantId, systemId, since, SAMPLED_CALLS);
  const candidates = recent
    .filter(({ id }) => !cases.some((one) => one.row_id === id))
    .flatMap((row) => candidateOf(row) ?? [])
    .map((one) => ({ ...one, content: one.row.request_body_preview ?? "" }));
  for (const one of stratified(candidates, size)) cases.push(caseOf(one, cases.length + 1));
  if (cases.length === 0)
    throw invalidField("days", "reaches no call whose request is kept and can be asked again: see store_bodies of data_retention");
  return stored(write, tenantId, systemId, { threshold, repeats, cases });
}

async function stored(write: Write, tenantId: string, systemId: string, suite: StoredSuite): Promise<ReplaySuite> {
  const version = ((await newestSuite(write.trx, tenantId, systemId))?.version ?? 0) + 1;
  const content = canonicalJson({ schema: SUITE_SCHEMA, ai_system_id: systemId, version, ...suite });
  const row = {
    ...{ id: uuid(), tenant_id: tenantId, ai_system_id: systemId, version, content },
    digest: sha256Hex(content),
    created_by: write.actor.username,
    created_at: write.now,
  };
  await insertSuite(write.trx, row);
  sealRecord(write, {
    tenantId,
    system: systemAlone(systemId),
    action: "freeze",
    resource: "replay-suites",
    resource_id: row.id,
    context: { record_type: "ai.gw.replay-suite", version, cases: suite.cases.length, threshold: suite.threshold },
    references: [{ type: "ai.gw.replay-suite", digest_alg: "SHA-256", digest: row.digest, purpose: "suite_content" }],
  });
  return readSuite(row);
}
