import { isSameSecret, type SecretBox } from "../../../kernel/secrets.ts";

/*
 * IDs of events as given to callers without a session. A server that keeps no sessions knows its callers only by the credential that they
 * share, so an ID is bound to caller and server: nobody can resume the stream of somebody else.
 */

const text = new TextDecoder();
const encoder = new TextEncoder();

function passedEventId(secrets: SecretBox, owner: string, upstreamId: string): string {
  const id = Buffer.from(upstreamId).toString("base64url");
  return `${id}.${secrets.proofs("mcp-event", `${owner}\n${id}`)[0]}`;
}

/** The tool server's own event ID, as a header takes its bytes; null if it was not given to this caller. */
export function upstreamEventId(secrets: SecretBox, owner: string, token: string): string | null {
  const [id = "", mac, ...rest] = token.split(".");
  if (mac === undefined || rest.length > 0) return null;
  if (!secrets.proofs("mcp-event", `${owner}\n${id}`).some((proof) => isSameSecret(mac, proof))) return null;
  return Buffer.from(id, "base64url").toString("latin1");
}

/** Binds the event IDs in frames to the caller. An empty ID stays: it makes a client forget its place. */
export function boundEventIds(secrets: SecretBox, owner: string): (frames: Uint8Array) => Uint8Array {
  return (frames) => {
    if (Buffer.from(frames.buffer, frames.byteOffset, frames.byteLength).indexOf("id:") < 0) return frames;
    const lines = text.decode(frames).split(/(\r\n|\n|\r)/);
    return encoder.encode(lines.map((line) => bound(line)).join(""));
  };

  function bound(line: string): string {
    if (!line.startsWith("id:")) return line;
    const id = line.slice(line.startsWith("id: ") ? 4 : 3);
    return id === "" ? line : `id: ${passedEventId(secrets, owner, id)}`;
  }
}
