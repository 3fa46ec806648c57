import type { Anchor } from "./chain-facts.ts";
import { openCheckpoint, type TrustedKey } from "./checkpoint.ts";
import { NotAnExport, parseExportLine } from "./export.ts";

export interface SavedCheckpoint {
  readonly line: number;
  readonly note: string;
  readonly chainId: string;
}

const BEGINNING = '{"type":"checkpoint",';

/** Whether the line is a partial checkpoint, left by a process that died while writing or by a full disk. */
function isTorn(line: string): boolean {
  if (!BEGINNING.startsWith(line) && !line.startsWith(BEGINNING)) return false;
  try {
    JSON.parse(line);
    return false;
  } catch {
    return true;
  }
}

/** Parses the checkpoints in a checkpoint file or an earlier export; torn lines are skipped. Throws `NotAnExport` with the line number. */
export function savedCheckpoints(text: string): SavedCheckpoint[] {
  const kept: SavedCheckpoint[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    if (line === "") continue;
    try {
      const parsed = parseExportLine(line);
      const note = parsed.type === "checkpoint" ? parsed.note : parsed.type === "pruned" ? parsed.checkpoint : null;
      if (note === null) continue;
      const { checkpoint } = openCheckpoint(note, []);
      if (checkpoint === null) throw new NotAnExport("its note is no checkpoint");
      kept.push({ line: index + 1, note, chainId: checkpoint.chainId });
    } catch (error) {
      if (!(error instanceof NotAnExport)) throw error;
      if (!isTorn(line)) throw new NotAnExport(`line ${index + 1}: ${error.message}`);
    }
  }
  return kept;
}

/**
 * The chain positions that saved checkpoints anchor, limited to checkpoints no later than `until` (ISO 8601 UTC) if given. The furthest
 * reveals truncation, the others reveal rows rewritten below it. Throws if a checkpoint is signed by none of the keys.
 */
export function savedAnchors(kept: readonly SavedCheckpoint[], chainId: string, keys: readonly TrustedKey[], until?: string): Anchor[] {
  const anchors: Anchor[] = [];
  for (const { line, note } of kept.filter((one) => one.chainId === chainId)) {
    const { checkpoint, invalid } = openCheckpoint(note, keys);
    if (invalid !== null || checkpoint === null) throw new Error(`the checkpoint kept in line ${line} does not hold: ${invalid}`);
    if (until === undefined || checkpoint.time <= until) anchors.push({ chainSeq: checkpoint.chainSeq, rowHash: checkpoint.rowHash });
  }
  return anchors;
}
