import { z } from "zod";
import { pageQuery, recordId, timestamp } from "./conventions.ts";

/** Replays of AI Systems (interface 4.9): suites of pinned calls, runs of them through the current rules, and the promotion gate. */

export const REPLAY_RUN_STATES = ["queued", "running", "passed", "failed", "errored", "cancelled"] as const;
export const REPLAY_CASE_STATES = ["pass", "fail", "flaky", "error", "skipped"] as const;
export const GATE_VERDICTS = ["passed", "failed", "inconclusive", "stale", "not_run", "no_suite"] as const;

const rowId = z.string().regex(/^[0-9A-HJKMNP-TV-Z]{26}$/, "must be the id of a row of the ledger");
const texts = z.array(z.string().min(1).max(400)).max(20);

const expectation = {
  verdict: z.enum(["answered", "refused"]).describe("whether the rules allowed the answer"),
  code: z.string().max(100).nullable().describe("code of a refusal; null: any"),
  tool_calls: z.array(z.string().max(200)).max(50).nullable().describe("names of the tools that the answer calls; null: any"),
  required_texts: texts.describe("texts that must be in the answer"),
  forbidden_texts: texts.describe("texts that must not be in the answer"),
  rubric: z
    .string()
    .trim()
    .min(1)
    .max(4000)
    .nullable()
    .describe("criteria in plain language that the tenant's judge model applies to the answer; null: none"),
};

const replayExpectation = z.strictObject(expectation).meta({ id: "ReplayExpectation" });

const pinned = z.strictObject({
  row_id: rowId.describe("the recorded call, whose request is replayed"),
  must: z.boolean().optional().describe("whether the gate fails if this case fails; default: true"),
  reaches_tools: z.boolean().optional().describe("whether a tool call is sent to its server; otherwise it stops before that"),
  expect: z.strictObject(expectation).partial().optional().describe("members left out stay as recorded"),
});

export const replaySuiteFreeze = z
  .strictObject({
    size: z.number().int().min(0).max(300).optional().describe("number of cases from recent traffic, some of each kind; default: 40"),
    days: z.number().int().min(1).max(90).optional().describe("days to look back; default: 14"),
    threshold: z.number().min(0.5).max(1).optional().describe("share of cases that must pass; default: 0.95"),
    repeats: z.number().int().min(1).max(5).optional().describe("how often each case is repeated; default: 3"),
    cases: z.array(pinned).max(100).optional().describe("calls pinned by name, in addition to those from traffic"),
  })
  .meta({ id: "ReplaySuiteFreeze" });

const replayCase = z
  .strictObject({
    id: z.string(),
    row_id: z.string(),
    kind: z.enum(["model", "tool"]),
    stratum: z.string().describe("its kind: the model or tool, the surface, and how it ended"),
    content_digest: z.string().describe("SHA-256 of the stored request"),
    exact: z.boolean().describe("false if the request is stored, and therefore replayed, redacted"),
    must: z.boolean(),
    reaches_tools: z.boolean(),
    expect: replayExpectation,
  })
  .meta({ id: "ReplayCase" });

const replaySuite = z
  .strictObject({
    id: recordId,
    version: z.number().int(),
    digest: z.string(),
    threshold: z.number(),
    repeats: z.number().int(),
    cases: z.array(replayCase),
    created_by: z.string().nullable(),
    created_at: timestamp,
  })
  .meta({ id: "ReplaySuite" });

const replayTotals = z.strictObject({
  cases: z.number().int(),
  passed: z.number().int(),
  failed: z.number().int(),
  flaky: z.number().int(),
  errors: z.number().int(),
  skipped: z.number().int().describe("whose request is no longer stored"),
  must_failed: z.number().int(),
  must_skipped: z.number().int(),
});

const shownRun = {
  id: recordId,
  ai_system_id: recordId,
  suite_id: recordId,
  suite_version: z.number().int(),
  state: z.enum(REPLAY_RUN_STATES),
  contract_digest: z.string().nullable().describe("of the configuration it ran under; null until it began"),
  models: z.array(z.string()).describe("the models that answered, with the versions reported by their providers"),
  totals: replayTotals.nullable(),
  cost_usd: z.number().nullable(),
  error: z.string().nullable(),
  requested_by: z.string().nullable(),
  created_at: timestamp,
  started_at: timestamp.nullable(),
  ended_at: timestamp.nullable(),
};

export const replayRun = z.strictObject(shownRun).meta({ id: "ReplayRun" });

const replayResult = z.strictObject({
  case_id: z.string(),
  state: z.enum(REPLAY_CASE_STATES),
  reasons: z.array(z.string()),
  rows: z.array(z.string()).describe("IDs of the ledger rows of its calls"),
});
export const replayRunWithResults = z.strictObject({ ...shownRun, results: z.array(replayResult) }).meta({ id: "ReplayRunWithResults" });

export const replayGate = z
  .strictObject({
    verdict: z.enum(GATE_VERDICTS),
    reasons: z.array(z.string()).describe("why it is not passed"),
    contract_digest: z.string().nullable().describe("of the contract in question"),
    run_id: recordId.nullable(),
    pass_rate: z.number().nullable(),
    lower_bound: z.number().nullable().describe("of the pass rate, at 95 % (Wilson)"),
    coverage: z.number().nullable().describe("share of the cases that could be replayed"),
  })
  .meta({ id: "ReplayGate" });

export const replayQuery = z.strictObject({
  contract: z.coerce
    .number()
    .int()
    .min(1)
    .optional()
    .describe("version whose gate is requested; default: the newest that is not in force, otherwise the active one"),
});

export const replayState = z
  .strictObject({
    ai_system_id: recordId,
    suite: replaySuite.nullable(),
    last_run: replayRun.nullable(),
    contract_version: z.number().int().nullable(),
    gate: replayGate,
  })
  .meta({ id: "ReplayState" });

export const replayRunRequest = z.strictObject({}).meta({ id: "ReplayRunRequest" });
export const replayRunQuery = z.strictObject({ ...pageQuery.shape });

export type ReplayExpectation = z.output<typeof replayExpectation>;
export type ReplaySuiteFreeze = z.output<typeof replaySuiteFreeze>;
export type ReplayCase = z.output<typeof replayCase>;
export type ReplaySuite = z.output<typeof replaySuite>;
export type ReplayTotals = z.output<typeof replayTotals>;
export type ReplayRun = z.output<typeof replayRun>;
export type ReplayResult = z.output<typeof replayResult>;
export type ReplayRunWithResults = z.output<typeof replayRunWithResults>;
export type ReplayGate = z.output<typeof replayGate>;
export type ReplayState = z.output<typeof replayState>;
export type ReplayRunState = (typeof REPLAY_RUN_STATES)[number];
