import type { TrustedKey } from "./checkpoint.ts";
import { CHECKPOINT_KEY_NAME } from "./checkpoint.ts";
import { type SavedCheckpoint, savedAnchors } from "./anchors.ts";
import { type ExportLine, NotAnExport, parseExportLine } from "./export.ts";
import { provenLine } from "./proven-line.ts";
import { noteKey } from "./signed-note.ts";
import type { Verification } from "./verdict.ts";
import { createVerifier, type Verifier } from "./verify.ts";

export interface ExportVerification extends Verification {
  /** IDs of the keys that checkpoints were verified with. */
  readonly key_ids: string[];
  /** Whether the keys came from the export itself: a forger of the export could have put in their own. */
  readonly keys_from_export: boolean;
  /** Time of the export; the verdict is as of then. */
  readonly exported_at: string;
}

export interface ExportVerifierOptions {
  /** Public keys (32 bytes each) from a trusted source. If any are given, keys in the export only narrow their validity periods. */
  readonly publicKeys?: readonly Uint8Array[];
  readonly maxFindings?: number;
  /** Checkpoints saved elsewhere: the export must contain the rows covered by those older than the export. */
  readonly saved?: readonly SavedCheckpoint[];
}

/**
 * Verifies an export in constant memory. `lines` are single lines, or texts of whole lines as from `wholeLines`. Throws `NotAnExport` with
 * the line number.
 */
export async function verifyExport(
  lines: Iterable<string> | AsyncIterable<string>,
  options: ExportVerifierOptions = {},
): Promise<ExportVerification> {
  const outside = options.publicKeys ?? [];
  const keys: TrustedKey[] = outside.map((bytes) => ({ ...noteKey(CHECKPOINT_KEY_NAME, bytes), validFrom: null, validTo: null }));
  let chain: Extract<ExportLine, { type: "chain" }> | undefined;
  let verifier: Verifier | undefined;
  let exportedAt = "";
  let number = 0;
  if (Symbol.asyncIterator in lines) for await (const text of lines) takeAll(text);
  else for (const text of lines) take(text);
  if (chain === undefined) throw new NotAnExport("the file is empty");
  verifier ??= verifierOf(chain);
  return { ...verifier.end(), key_ids: keys.map((key) => key.keyId), keys_from_export: outside.length === 0, exported_at: exportedAt };

  function takeAll(text: string): void {
    for (let at = 0; at < text.length;) {
      const proven = verifier === undefined ? null : provenLine(text, at);
      if (proven !== null) {
        number += 1;
        verifier?.proven(proven.row);
        at = proven.end;
        continue;
      }
      const end = text.indexOf("\n", at);
      take(text.slice(at, end < 0 ? undefined : end));
      at = end < 0 ? text.length : end + 1;
    }
  }

  function take(text: string): void {
    number += 1;
    if (text === "" || text === "\r") return;
    try {
      const line = parseExportLine(text);
      if (line.type === "chain") {
        if (chain !== undefined) throw new NotAnExport("it begins a second chain");
        exportedAt = line.exported_at;
        chain = line;
        return;
      }
      if (chain === undefined) throw new NotAnExport("the chain line must come first");
      if (line.type === "key") {
        admitKey(keys, line, outside.length === 0);
        return;
      }
      verifier ??= verifierOf(chain);
      if (line.type === "row") verifier.row(line.row);
      else if (line.type === "entry") verifier.entry(line.entry);
      else if (line.type === "link") verifier.link(line);
      else if (line.type === "checkpoint") verifier.checkpoint(line);
      else verifier.pruned(line);
    } catch (error) {
      if (error instanceof NotAnExport) throw new NotAnExport(`line ${number}: ${error.message}`);
      throw error;
    }
  }

  /** Created at the first line after the keys, because saved checkpoints are verified with them. */
  function verifierOf(facts: Extract<ExportLine, { type: "chain" }>): Verifier {
    const knownHeads = savedAnchors(options.saved ?? [], facts.chain_id, keys, facts.exported_at);
    return createVerifier({
      chain: facts,
      keys,
      now: facts.exported_at,
      knownHeads,
      ...(options.maxFindings === undefined ? {} : { maxFindings: options.maxFindings }),
    });
  }
}

function admitKey(
  keys: TrustedKey[],
  line: { readonly name: string; readonly public_key: string; readonly valid_from: string | null; readonly valid_to: string | null },
  trusted: boolean,
): void {
  const bytes = Buffer.from(line.public_key, "base64");
  // Not an Ed25519 key, so it cannot have signed anything.
  if (bytes.byteLength !== 32) return;
  const key = { ...noteKey(line.name, bytes), validFrom: line.valid_from, validTo: line.valid_to };
  const known = keys.findIndex((other) => other.publicKey === key.publicKey);
  if (known >= 0) keys[known] = { ...key, name: keys[known]?.name ?? key.name };
  else if (trusted) keys.push(key);
}
