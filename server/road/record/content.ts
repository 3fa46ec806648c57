import { createHash, type Hash } from "node:crypto";
import { sha256Hex } from "../../kernel/secrets.ts";
import type { Call } from "../call.ts";
import { hasTag } from "./add-tag.ts";
import type { OutputForm } from "../../wire/output-form.ts";
import { redact } from "./redaction.ts";
import { redactedTexts } from "./streamed-preview.ts";

export type StoreBodies = "full" | "redacted" | "none";

/** Size limit of stored body previews (interface 8.7). */
const PREVIEW_BYTES = 64 * 1024;
/** Extra bytes that redaction inspects beyond the preview, because half an address or token is not recognisable. */
const LOOKAHEAD = 4 * 1024;
/** Bytes kept of a streamed body: one more than is inspected, to tell that the body was longer. */
const HEAD_BYTES = PREVIEW_BYTES + LOOKAHEAD + 1;

const decoder = new TextDecoder();

/**
 * What the row may store of the bodies. Portal answers are personal and contain tokens. A replay contains someone's content in a row that
 * does not name them: erasure would not find it, and its retention would start anew.
 */
export function storedBodies(call: Pick<Call, "audit" | "scope" | "row">): StoreBodies {
  if (hasTag(call, "replay")) return "none";
  return call.audit.proxyType === "portal" || call.audit.proxyType === "oauth" ? "none" : (call.scope?.tenant.storeBodies ?? "none");
}

/** The preview of a whole body that the tenant's `store_bodies` allows; null for none. `hidden`: as that of a call. */
export function previewOf(content: string | Uint8Array, mode: StoreBodies, hidden: Call["hidden"] = asItIs): string | null {
  if (mode === "none") return null;
  const most = PREVIEW_BYTES + (mode === "redacted" ? LOOKAHEAD : 0);
  const isCut = content.length > most;
  const begun = isCut ? (typeof content === "string" ? content.slice(0, most) : content.subarray(0, most)) : content;
  // Before anything is redacted by shape, because a value of which a part is redacted would not be found.
  const text = hidden(typeof begun === "string" ? begun : decoder.decode(begun));
  if (mode === "full") return capped(text);
  return cappedRedacted(text, isCut);
}

const asItIs = (text: string): string => text;

/** `isCut`: the body was longer, so the end of `text` was only needed for recognition and is dropped. */
function cappedRedacted(text: string, isCut: boolean): string {
  const redacted = redact(text);
  return capped(isCut ? redacted.slice(0, -LOOKAHEAD) : redacted);
}

/** The limit is in bytes and most text is ASCII: measure only text that may exceed it. */
function capped(text: string): string {
  return text.length * 3 <= PREVIEW_BYTES ? text : capBytes(text);
}

function capBytes(text: string): string {
  const bytes = Buffer.from(text.slice(0, PREVIEW_BYTES));
  return text.length <= PREVIEW_BYTES && bytes.byteLength <= PREVIEW_BYTES
    ? text
    : decoder.decode(bytes.subarray(0, PREVIEW_BYTES)).replace(/\uFFFD+$/, "");
}

/** Collects size, hash, beginning and last piece of an answer sent in pieces, without keeping the rest. */
export class SentContent {
  /** Null until the answer outgrows the kept beginning, which is hashed at once: most answers are shorter. */
  private hash: Hash | null = null;
  private readonly head: Uint8Array[] = [];
  private headBytes = 0;
  private readonly keepsHead: boolean;
  bytes = 0;
  last: Uint8Array | null = null;

  /** A stream that stays open for hours must not keep its beginning unless a preview is stored. */
  constructor(keepsHead: boolean) {
    this.keepsHead = keepsHead;
  }

  add(piece: Uint8Array): void {
    if (piece.byteLength > 0) this.last = piece;
    this.addBeside(piece);
  }

  /** Adds bytes sent between the pieces of the answer, such as keep-alives. */
  addBeside(piece: Uint8Array): void {
    this.bytes += piece.byteLength;
    const room = this.keepsHead ? HEAD_BYTES - this.headBytes : 0;
    if (room > 0) {
      // Copy a partial piece, so that the rest of it (an image can have megabytes) is not kept alive.
      this.head.push(piece.byteLength <= room ? piece : piece.slice(0, room));
      this.headBytes += Math.min(room, piece.byteLength);
    }
    if (piece.byteLength <= room) return;
    this.hash ??= createHash("sha256").update(Buffer.concat(this.head));
    this.hash.update(piece.subarray(room));
  }

  /** Call once: it finalises the hash. `form`: how a model's answer encodes its texts. */
  close(mode: StoreBodies, form?: OutputForm, hidden?: Call["hidden"]): { hash: string; preview: string | null } {
    const head = Buffer.concat(this.head);
    return { hash: this.hash?.digest("hex") ?? sha256Hex(head), preview: mode === "none" ? null : this.preview(head, mode, form, hidden) };
  }

  private preview(head: Buffer, mode: StoreBodies, form: OutputForm | undefined, hidden: Call["hidden"]): string | null {
    if (mode !== "redacted" || form === undefined) return previewOf(head, mode, hidden);
    const most = PREVIEW_BYTES + LOOKAHEAD;
    const begun = head.subarray(0, most);
    const kept = hidden === undefined ? begun : Buffer.from(hidden(decoder.decode(begun)));
    return cappedRedacted(redactedTexts(kept, form), this.bytes > most);
  }
}
