import { generateKeyPairSync } from "node:crypto";
import { GENESIS_HASH, rowHash } from "./canonical.ts";
import type { ChainFacts } from "./chain-facts.ts";
import { CHECKPOINT_KEY_NAME, checkpointDigest, checkpointText, signCheckpoint, type Checkpoint, type TrustedKey } from "./checkpoint.ts";
import type { ExportLine } from "./export.ts";
import type { AuditRow } from "./fields.ts";
import type { HashFormat } from "./hash-formats.ts";
import { noteSigner, type NoteSigner } from "./signed-note.ts";
import type { Verification } from "./verdict.ts";
import { createVerifier, type VerifierOptions } from "./verify.ts";

/** Chains for tests: sealed like a writer's, then open to tampering. */

export const CHAIN_ID = "01JQ0000000000000000000000";
export const WRITTEN_AT = "2026-11-21T10:00:00.000000Z";

export function newSigner(): NoteSigner {
  return noteSigner(CHECKPOINT_KEY_NAME, generateKeyPairSync("ed25519").privateKey.export({ format: "pem", type: "pkcs8" }));
}

export function trust(signer: NoteSigner, window: { validFrom?: string; validTo?: string } = {}): TrustedKey {
  const { name, keyId, publicKey } = signer;
  return { name, keyId, publicKey, validFrom: window.validFrom ?? null, validTo: window.validTo ?? null };
}

export type Entry = Extract<ExportLine, { type: "row" | "link" | "checkpoint" | "pruned" }>;

export interface TestChain {
  chain: ChainFacts;
  entries: Entry[];
  keys: TrustedKey[];
  signer: NoteSigner;
}

export function sealed(row: AuditRow, seq: number, prevHash: string, chainId = CHAIN_ID, format: HashFormat = "v2"): AuditRow {
  const whole: AuditRow = { created_at: WRITTEN_AT, ...row, chain_id: chainId, chain_seq: seq, prev_hash: prevHash };
  return { ...whole, row_hash: rowHash(whole, format, prevHash) };
}

/** A chain of the given rows with a checkpoint after every `every` rows, and one at the end unless `open`. */
export function testChain(
  contents: readonly AuditRow[],
  options: { every?: number; open?: boolean; chainId?: string; format?: HashFormat; signer?: NoteSigner } = {},
): TestChain {
  const { every = 3, open = false, chainId = CHAIN_ID, format = "v2", signer = newSigner() } = options;
  const entries: Entry[] = [];
  let head = GENESIS_HASH;
  let previous: string | null = null;
  let covered = 0;
  for (const [index, content] of contents.entries()) {
    const seq = index + 1;
    const row = sealed({ id: `${chainId.slice(-4)}${String(seq).padStart(6, "0")}`, ...content }, seq, head, chainId, format);
    head = row.row_hash as string;
    entries.push({ type: "row", row });
    if (seq % every !== 0 && (open || seq !== contents.length)) continue;
    const checkpoint: Checkpoint = { chainId, chainSeq: seq, rowHash: head, time: WRITTEN_AT, firstSeq: covered + 1, previous };
    entries.push({ type: "checkpoint", chain_seq: seq, note: signCheckpoint(checkpoint, signer) });
    previous = checkpointDigest(checkpointText(checkpoint));
    covered = seq;
  }
  const chain: ChainFacts = {
    chain_id: chainId,
    first_seq: 1,
    head_seq: contents.length,
    head_hash: head,
    last_checkpoint_seq: covered === 0 ? null : covered,
    updated_at: null,
  };
  return { chain, entries, keys: [trust(signer)], signer };
}

export function feed(chain: TestChain, options: Partial<VerifierOptions> = {}): Verification {
  const verifier = createVerifier({ chain: chain.chain, keys: chain.keys, now: WRITTEN_AT, ...options });
  for (const entry of chain.entries) {
    if (entry.type === "row") verifier.row(entry.row);
    else if (entry.type === "link") verifier.link(entry);
    else if (entry.type === "checkpoint") verifier.checkpoint(entry);
    else verifier.pruned(entry);
  }
  return verifier.end();
}

export function rowAt(chain: TestChain, seq: number): AuditRow {
  const found = chain.entries.find((entry) => entry.type === "row" && entry.row.chain_seq === seq);
  if (found?.type !== "row") throw new Error(`the chain has no row ${seq}`);
  return found.row;
}

/** Verdict and position of every finding, such as `altered@5`. */
export function places(result: Verification): string[] {
  return result.findings.map((finding) => `${finding.verdict}@${finding.chain_seq}`);
}
