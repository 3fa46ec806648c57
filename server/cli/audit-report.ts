import type { Verdict, Verification, VerificationFinding } from "@gatehouse/ledger-format/verdict";
import type { MarkedFinding } from "../ledger/chains/chains.ts";
import type { CommandIo } from "./command-io.ts";

export async function print(io: CommandIo, lines: AsyncIterable<string>): Promise<number> {
  for await (const line of lines) await io.stdout(line);
  return 0;
}

export function exitCode(verdict: Verdict): number {
  if (verdict === "intact") return 0;
  return verdict === "unanchored" ? 1 : 2;
}

/** Findings from a file carry no acknowledgements. */
type Reported = Omit<Verification, "findings"> & { readonly findings: readonly (VerificationFinding & Partial<MarkedFinding>)[] };

function findingInWords({ chain_seq: seq, row_id: row, verdict, detail, id, ...known }: Reported["findings"][number]): string {
  const line = `  row ${seq}${row === null ? "" : ` (${row})`}: ${verdict}: ${detail}\n    finding ${id}\n`;
  if (known.acknowledged_at == null) return line;
  return `${line}    acknowledged by ${known.acknowledged_by ?? "nobody known"} on ${known.acknowledged_at}: ${known.note}\n`;
}

export function report(result: Reported): string {
  const findings = result.findings.map(findingInWords);
  const unlisted = result.findings_total - result.findings.length;
  return [
    `chain         ${result.chain_id}\n`,
    `verdict       ${result.verdict}\n`,
    `rows          ${result.rows_checked} checked${result.rows_withheld > 0 ? `, ${result.rows_withheld} withheld (place in the chain checked only)` : ""}\n`,
    `checkpoints   ${result.checkpoints_checked} checked\n`,
    `head          ${result.head === null ? "none" : `${result.head.chain_seq} ${result.head.row_hash}`}\n`,
    `pending       ${result.pending_anchor} row(s) wait for the next checkpoint\n`,
    ...(result.pruned_through === null
      ? []
      : [`pruned        rows up to ${result.pruned_through} were dropped by retention; the checkpoint over them holds their place\n`]),
    `bodies        ${result.bodies_expired} expired, ${result.bodies_erased} erased\n`,
    ...(findings.length > 0 ? [`findings      ${result.findings_total}\n`, ...findings] : []),
    ...(unlisted > 0 ? [`  and ${unlisted} more\n`] : []),
  ].join("");
}
