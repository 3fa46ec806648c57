import { z } from "zod";
import { queryFlag, recordId, timestamp } from "./conventions.ts";

/** Statements over the ledger: a closed list of claims that an AI System's rows can prove, each as "n of m" with the rows behind it. */

export const STATEMENTS = {
  "notice.before_first_turn": "Conversations had the AI notice before their first answer",
  "calls.identified": "Calls name the key, person or workload that made them",
  "content.hashed": "Calls with content have its digest under the chain's hash",
  "ledger.anchored": "Rows are under a signed checkpoint",
  "autonomy.live": "Levels of autonomy were those of the configuration in force",
  "suspension.held": "Calls made while the system was suspended were refused",
  "approval.before_action": "Actions that had to be approved were, before they happened",
  "guardrails.looked": "Calls with content were looked at by a guardrail",
  "guardrails.whole": "Calls were looked at by every guardrail there is for them",
  "guardrails.block_held": "Calls that a guardrail blocked got no answer",
  "policies.denial_held": "Actions that an argument policy denied did not happen",
  "residency.allowed": "Calls of models went to regions that the tenant allows",
  "tools.definition_known": "Calls of tools have the digest of the definition they were made under",
  "models.version_known": "Answers of models have the identifier that their provider gave them",
  "cost.known": "Answers of models have a price",
} as const;

export type StatementName = keyof typeof STATEMENTS;
export const STATEMENT_NAMES = Object.keys(STATEMENTS) as [StatementName, ...StatementName[]];

export const statementWindow = z.strictObject({
  from: timestamp.optional().describe("default: 30 days before the end"),
  to: timestamp.optional().describe("default: now"),
});

export const ledgerStatement = z
  .strictObject({
    id: z.enum(STATEMENT_NAMES),
    title: z.string(),
    met: z.number().int(),
    of: z.number().int().describe("0: there was nothing to count"),
    rows: z.array(z.string()).describe("the first hundred rows or handles that do not meet it"),
  })
  .meta({ id: "LedgerStatement" });

export const ledgerStatements = z
  .strictObject({ ai_system_id: recordId, from: timestamp, to: timestamp, statements: z.array(ledgerStatement) })
  .meta({ id: "LedgerStatements" });

export const statementRowsQuery = z.strictObject({
  ...statementWindow.shape,
  met: queryFlag.optional().describe("whether to list those that meet it or those that do not; default: false"),
  after: z.string().max(100).optional().describe("the last row or handle of the page before"),
});

export const statementRows = z
  .strictObject({
    statement: z.enum(STATEMENT_NAMES),
    met: z.boolean(),
    rows: z.array(z.string()).describe("at most 200 ledger row IDs or conversation handles, in order"),
    next: z.string().nullable().describe("`after` of the next page; null where this is the last"),
  })
  .meta({ id: "StatementRows" });

export type LedgerStatement = z.output<typeof ledgerStatement>;
export type LedgerStatements = z.output<typeof ledgerStatements>;
export type StatementRows = z.output<typeof statementRows>;
