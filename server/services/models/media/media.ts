import { type Refusal, refuse, isRefusal } from "../../../kernel/errors.ts";
import type { ConversationRequest, Turn } from "../../../wire/conversation/request.ts";
import type { FilePart, ImagePart, TextPart, UserPart } from "../../../wire/conversation/conversation-parts.ts";
import { noRoom } from "./shown-files.ts";
import { readUpTo } from "../../../wire/http/read-up-to.ts";

/** Reserves memory for this many bytes until the call ends; false if there is none left. */
export type HoldBytes = (bytes: number) => boolean;

/** Fetches the URLs in a request, for providers that need the bytes. */
export interface Media {
  /** The request with every linked image and file replaced by its bytes. */
  inlined(request: ConversationRequest, signal: AbortSignal, hold: HoldBytes): Promise<ConversationRequest | Refusal>;
}

export type FetchMedia = (url: string, abort: AbortController, timeoutMs: number) => Promise<Response>;

const MAX_BYTES = 20 * 1024 * 1024;
/** For everything one request links to: URLs are short, and what they lead to may be compressed. */
const MAX_PER_REQUEST = 64 * 1024 * 1024;
const TIMEOUT_MS = 20_000;

/** What one request may still fetch. */
interface Room {
  bytes: number;
  readonly hold: HoldBytes;
}

class NoRoom extends Error {}

/** Passes pieces on as long as memory can be reserved for them. */
function withRoom(body: ReadableStream<Uint8Array>, { hold }: Room): ReadableStream<Uint8Array> {
  const held = new TransformStream<Uint8Array, Uint8Array>({
    transform(piece, controller) {
      if (hold(piece.byteLength)) controller.enqueue(piece);
      else controller.error(new NoRoom());
    },
  });
  return body.pipeThrough(held);
}

/** `fetchMedia` must check addresses and follow no redirects. */
export function media(fetchMedia: FetchMedia): Media {
  return {
    async inlined(request, signal, hold) {
      if (!request.turns.some(({ role, parts }) => role === "user" && (parts as readonly UserPart[]).some(hasAddress))) return request;
      const turns: Turn[] = [];
      const room: Room = { bytes: MAX_PER_REQUEST, hold };
      for (const turn of request.turns) {
        if (turn.role !== "user") {
          turns.push(turn);
          continue;
        }
        const parts: UserPart[] = [];
        for (const part of turn.parts) {
          const inlined = await inlinePart(part, signal, fetchMedia, room);
          if (isRefusal(inlined)) return inlined;
          parts.push(inlined);
        }
        turns.push({ role: "user", parts });
      }
      return { ...request, turns };
    },
  };
}

function hasAddress(part: UserPart): boolean {
  if (part.kind === "tool_result") return part.content.some(hasAddress);
  return (part.kind === "image" || part.kind === "file") && "url" in part.source;
}

async function inlinePart(part: UserPart, signal: AbortSignal, fetchMedia: FetchMedia, room: Room): Promise<UserPart | Refusal> {
  if (part.kind === "tool_result") {
    const content: (TextPart | ImagePart | FilePart)[] = [];
    for (const inner of part.content) {
      const inlined = await inlinePart(inner, signal, fetchMedia, room);
      if (isRefusal(inlined)) return inlined;
      content.push(inlined as TextPart | ImagePart | FilePart);
    }
    return { ...part, content };
  }
  if ((part.kind !== "image" && part.kind !== "file") || !("url" in part.source)) return part;
  const fetched = await fetchBytes(part.source.url, signal, fetchMedia, room);
  if (isRefusal(fetched)) return fetched;
  return { ...part, source: { base64: Buffer.from(fetched.bytes).toString("base64") }, mediaType: part.mediaType ?? fetched.mediaType };
}

async function fetchBytes(
  url: string,
  signal: AbortSignal,
  fetchMedia: FetchMedia,
  room: Room,
): Promise<{ bytes: Uint8Array; mediaType: string | null } | Refusal> {
  const unreadable = (why: string) => refuse("media_unavailable", undefined, { fields: [{ field: url.slice(0, 200), message: why }] });
  if (signal.aborted) return unreadable("was not waited for");
  const abort = new AbortController();
  const follow = () => abort.abort(signal.reason);
  signal.addEventListener("abort", follow, { once: true });
  const timer = setTimeout(() => abort.abort("media_timeout"), TIMEOUT_MS);
  try {
    if (!/^https?:\/\//i.test(url)) return unreadable("is not an http address");
    const response = await fetchMedia(url, abort, TIMEOUT_MS);
    if (!response.ok || response.body === null) return unreadable(`answered ${response.status}`);
    const bytes = await readUpTo(withRoom(response.body, room), Math.min(MAX_BYTES, room.bytes));
    if (bytes === null) return unreadable("is larger than 20 MiB, or comes to more than 64 MiB with those before it");
    room.bytes -= bytes.byteLength;
    return { bytes, mediaType: mediaTypeOf(response.headers.get("content-type")) };
  } catch (error) {
    return error instanceof NoRoom ? noRoom() : unreadable("could not be fetched");
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", follow);
  }
}

/** Null if the store does not know the type: then it is told from the bytes. */
function mediaTypeOf(header: string | null): string | null {
  const mediaType = header?.split(";")[0]?.trim() ?? "";
  return mediaType === "" || /^(?:application|binary)\/octet-stream$/i.test(mediaType) ? null : mediaType;
}
