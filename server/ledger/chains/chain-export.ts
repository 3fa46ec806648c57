import { linkOf } from "@gatehouse/ledger-format/sealed-row";
import { type AuditRow, FIELD_NAMES, type FieldName } from "@gatehouse/ledger-format/fields";
import { type ExportLine, printExportLine } from "@gatehouse/ledger-format/export";
import { possibleHashes, rowMark } from "@gatehouse/ledger-format/canonical";
import { ADMIN_CHAIN } from "@gatehouse/ledger-format/admin-entry";
import type { Database } from "../../store/database.ts";
import { exportAdminChain } from "./admin-chain.ts";
import { type ChainEntry, readChainSnapshot } from "./chain-snapshot.ts";
import { noSuchChain } from "./chains.ts";
import { listSigningKeys } from "../checkpoints/signing-keys.ts";

/** Fields left out of the export: call content, which has a permission of its own. */
const CONTENT: readonly FieldName[] = ["request_body_preview", "response_body_preview", "request_headers", "response_headers"];

const EXPORTED = FIELD_NAMES.filter((name) => !CONTENT.includes(name));

function exportedLine(entry: ChainEntry): ExportLine {
  if (entry.type === "checkpoint" || entry.type === "pruned") return entry;
  if (!entry.withheld) return { type: "row", row: withoutNulls(entry.row) };
  const possible = entry.type === "proven" ? [entry.row.row_hash as string] : possibleHashes(entry.row);
  return { type: "link", ...linkOf(entry.row, possible, () => rowMark(entry.row)) };
}

function withoutNulls(row: AuditRow): AuditRow {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null));
}

/** The chain as JSON lines for the offline verifier. The first `next()` throws `Refused` if there is no such chain. */
export async function* exportChain(
  db: Database,
  chainId: string,
  options: { readonly tenantId?: string | undefined } = {},
): AsyncGenerator<string> {
  if (chainId === ADMIN_CHAIN) {
    yield* exportAdminChain(db, options.tenantId);
    return;
  }
  const keys = await listSigningKeys(db);
  for await (const { chain, entries } of readChainSnapshot(db, chainId, options.tenantId)) {
    yield printExportLine(chain);
    for (const key of keys) yield printExportLine({ type: "key", ...key });
    for await (const batch of entries({ columns: EXPORTED, tenantId: options.tenantId })) {
      for (const entry of batch) yield printExportLine(exportedLine(entry));
    }
    return;
  }
  throw noSuchChain();
}
