import {
  type LedgerStatement,
  type LedgerStatements,
  STATEMENT_NAMES,
  type StatementName,
  type StatementRows,
  STATEMENTS,
} from "@gatehouse/contracts/ai-statements";
import { countStatements, rowsOfStatement, type StatementScope } from "../../store/ledger/ledger-statements.ts";
import { noticeBeforeFirstTurn } from "../../store/people/notices.ts";
import { invalidField, notFound } from "../writes/records.ts";
import type { Directory } from "../writes/write.ts";
import { foundSystem } from "./ai-systems.ts";

const DAY_MS = 86_400_000;
const WINDOW_DAYS = 30;
/** Bounded because every answer reads all rows of the window. */
const MAX_DAYS = 93;
const NAMED = 100;
const PAGE = 200;

interface GivenWindow {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

async function scopeOf({ db, clock }: Directory, tenantId: string, systemId: string, given: GivenWindow): Promise<StatementScope> {
  await foundSystem(db, tenantId, systemId);
  const to = given.to === undefined ? new Date(clock.now()) : new Date(given.to);
  const from = given.from === undefined ? new Date(to.getTime() - WINDOW_DAYS * DAY_MS) : new Date(given.from);
  if (from >= to) throw invalidField("from", "must be before to");
  // Row IDs cannot encode earlier times.
  if (from.getTime() < 0) throw invalidField("from", "must not be before 1970");
  if (to.getTime() - from.getTime() > MAX_DAYS * DAY_MS) throw invalidField("from", `must be at most ${MAX_DAYS} days before to`);
  return { tenantId, systemId, from, to };
}

/** Each statement, evaluated over the rows of the window. */
export async function statementsOver(db: Directory["db"], scope: StatementScope): Promise<LedgerStatement[]> {
  const counts = await countStatements(db, scope);
  const conversations = await conversationsIn(db, scope);
  const all: LedgerStatement[] = [];
  for (const id of STATEMENT_NAMES) {
    if (id === "notice.before_first_turn") {
      const late = conversations.filter(({ met }) => !met);
      const met = conversations.length - late.length;
      all.push({ id, title: STATEMENTS[id], met, of: conversations.length, rows: late.slice(0, NAMED).map(({ handle }) => handle) });
      continue;
    }
    const { met, of } = counts[id];
    const rows = met === of ? [] : await rowsOfStatement(db, scope, id, { met: false, after: null, limit: NAMED });
    all.push({ id, title: STATEMENTS[id], met, of, rows });
  }
  return all;
}

const conversationsIn = (db: Directory["db"], { tenantId, systemId, from, to }: StatementScope) =>
  noticeBeforeFirstTurn(db, tenantId, { from: from.toISOString(), to: to.toISOString(), systemId });

export async function readStatements(
  directory: Directory,
  tenantId: string,
  systemId: string,
  window: GivenWindow,
): Promise<LedgerStatements> {
  const scope = await scopeOf(directory, tenantId, systemId, window);
  return {
    ai_system_id: systemId,
    from: scope.from.toISOString(),
    to: scope.to.toISOString(),
    statements: await statementsOver(directory.db, scope),
  };
}

/** The rows behind a statement. Throws a `not_found` refusal for an unknown statement. */
export async function readStatementRows(
  directory: Directory,
  tenantId: string,
  systemId: string,
  name: string,
  { met: wanted, after, ...window }: GivenWindow & { readonly met?: "true" | "false" | undefined; readonly after?: string | undefined },
): Promise<StatementRows> {
  const scope = await scopeOf(directory, tenantId, systemId, window);
  if (!Object.hasOwn(STATEMENTS, name)) throw notFound("statement");
  const statement = name as StatementName;
  const met = wanted === "true";
  const found =
    statement === "notice.before_first_turn"
      ? (await conversationsIn(directory.db, scope))
          .filter((one) => one.met === met && one.handle > (after ?? ""))
          .map(({ handle }) => handle)
          .slice(0, PAGE + 1)
      : await rowsOfStatement(directory.db, scope, statement, { met, after: after ?? null, limit: PAGE + 1 });
  const rows = found.slice(0, PAGE);
  return { statement, met, rows, next: found.length > PAGE ? (rows.at(-1) ?? null) : null };
}
