import { createHash, type Hash } from "node:crypto";
import { sha256Hex } from "../../kernel/secrets.ts";
import type { Call } from "../call.ts";
import { hasTag } from "./add-tag.ts";
import type { OutputForm } from "../../wire/output-form.ts";
import { redact } from "./redaction.ts";
import { redactedTexts } from "./streamed-preview.ts";

export type StoreBodies = "full" | "redacted" | "none";

/** Stored body preview cap (interface 8.7). */
const PREVIEW_BYTES = 64 * 1024;
/** Redaction sees so much more of a body than is kept of it: half an address or a token is not known for what it is. */
const LOOKED_AHEAD = 4 * 1024;
/** What of a body in pieces is kept until it has ended: by one byte more than is looked at it is known that more came. */
const HEAD_BYTES = PREVIEW_BYTES + LOOKED_AHEAD + 1;

const decoder = new TextDecoder();

/**
 * What the call's row may keep of bodies. Answers of the portal are personal, and hold tokens. What is replayed is somebody's content
 * in a row that does not name them: no erasure would find it, and its days would be counted anew.
 */
export function storedBodies(call: Pick<Call, "audit" | "scope" | "row">): StoreBodies {
  if (hasTag(call, "replay")) return "none";
  return call.audit.proxyType === "portal" || call.audit.proxyType === "oauth" ? "none" : (call.scope?.tenant.storeBodies ?? "none");
}

/** The preview a tenant's `store_bodies` allows of a whole body. */
export function previewOf(content: string | Uint8Array, mode: StoreBodies): string | null {
  if (mode === "none") return null;
  const most = PREVIEW_BYTES + (mode === "redacted" ? LOOKED_AHEAD : 0);
  const isCut = content.length > most;
  const begun = isCut ? (typeof content === "string" ? content.slice(0, most) : content.subarray(0, most)) : content;
  const text = typeof begun === "string" ? begun : decoder.decode(begun);
  if (mode === "full") return capped(text);
  return cappedRedacted(text, isCut);
}

/** `isCut`: more came behind `text`, so that its end is there only to be looked at. */
function cappedRedacted(text: string, isCut: boolean): string {
  const redacted = redact(text);
  return capped(isCut ? redacted.slice(0, -LOOKED_AHEAD) : redacted);
}

/** The cap is in bytes and most text is ASCII: only text that may exceed it is measured. */
function capped(text: string): string {
  return text.length * 3 <= PREVIEW_BYTES ? text : capBytes(text);
}

function capBytes(text: string): string {
  const bytes = Buffer.from(text.slice(0, PREVIEW_BYTES));
  return text.length <= PREVIEW_BYTES && bytes.byteLength <= PREVIEW_BYTES
    ? text
    : decoder.decode(bytes.subarray(0, PREVIEW_BYTES)).replace(/\uFFFD+$/, "");
}

/** The content of an answer sent in pieces: its size, its hash, its beginning and its last piece, without keeping the rest. */
export class SentContent {
  /** Of all but the beginning, which is hashed in one piece when it is over: most answers are no longer. */
  private hash: Hash | null = null;
  private readonly head: Uint8Array[] = [];
  private headBytes = 0;
  private readonly keepsHead: boolean;
  bytes = 0;
  last: Uint8Array | null = null;

  /** A stream that stays open for hours must not hold its beginning for nothing. */
  constructor(keepsHead: boolean) {
    this.keepsHead = keepsHead;
  }

  add(piece: Uint8Array): void {
    if (piece.byteLength > 0) this.last = piece;
    this.addBeside(piece);
  }

  /** What goes out between the pieces of the answer. */
  addBeside(piece: Uint8Array): void {
    this.bytes += piece.byteLength;
    const room = this.keepsHead ? HEAD_BYTES - this.headBytes : 0;
    if (room > 0) {
      // A copy where not all of it is kept: a picture in one piece has megabytes.
      this.head.push(piece.byteLength <= room ? piece : piece.slice(0, room));
      this.headBytes += Math.min(room, piece.byteLength);
    }
    if (piece.byteLength <= room) return;
    this.hash ??= createHash("sha256").update(Buffer.concat(this.head));
    this.hash.update(piece.subarray(room));
  }

  /** Call once: it closes the hash. `form`: how an answer of a model tells its texts. */
  close(mode: StoreBodies, form?: OutputForm): { hash: string; preview: string | null } {
    const head = Buffer.concat(this.head);
    return { hash: this.hash?.digest("hex") ?? sha256Hex(head), preview: mode === "none" ? null : this.preview(head, mode, form) };
  }

  private preview(head: Buffer, mode: StoreBodies, form: OutputForm | undefined): string | null {
    if (mode !== "redacted" || form === undefined) return previewOf(head, mode);
    const most = PREVIEW_BYTES + LOOKED_AHEAD;
    return cappedRedacted(redactedTexts(head.subarray(0, most), form), this.bytes > most);
  }
}
