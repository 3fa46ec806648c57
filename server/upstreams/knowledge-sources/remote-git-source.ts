import { rm } from "node:fs/promises";
import { Readable } from "node:stream";
import { cancelQuietly } from "../../kernel/http/cancel-quietly.ts";
import { codedReason } from "../../kernel/http/network-reason.ts";
import { OutboundDenied } from "../../runtime/destinations.ts";
import { type Outbound, OutboundTimeout } from "../../runtime/outbound.ts";
import { temporaryPlace } from "../temporary-place.ts";
import { msOfRetryAfter } from "../../wire/http/retry-after.ts";
import { git, gitSource } from "./git-source.ts";
import { DELIMITER, FLUSH, packetLine, packetsOf } from "./packet-lines.ts";
import { type KnowledgeSource, type SourcePlace, SourceUnavailable } from "./source.ts";

const HEAD_MS = 30_000;
const WHOLE_MS = 300_000;
const MAX_BYTES = 256 * 1024 * 1024;
const DAY_MS = 24 * 3_600_000;
const PLACE = "gatehouse-git-";
const PACK = 1;
const FAULT = 3;

/**
 * The files at HEAD of a remote repository, fetched without history. The git program gets neither network nor credentials: its protocol
 * (version 2) is implemented here, over the outbound client that checks addresses.
 */
export async function remoteGitSource(out: Outbound, { location, credential, signal }: SourcePlace): Promise<KnowledgeSource> {
  const abort = new AbortController();
  const stop = () => abort.abort(signal.reason);
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  const timer = setTimeout(() => abort.abort(new OutboundTimeout("it took too long")), WHOLE_MS);
  const place = await temporaryPlace(PLACE);
  const close = () => rm(place, { recursive: true, force: true });
  try {
    const repository = new RemoteRepository(out, location.replace(/\/+$/, ""), credential, abort);
    await repository.greet();
    const commit = await repository.head();
    await git(place, ["init", "-q", "--bare", "."]);
    await unpack(place, repository.pack(commit));
    const source = await gitSource(place, commit);
    return { ...source, close };
  } catch (error) {
    // Git may have stopped reading before the download ended.
    stop();
    await close();
    throw unavailableFor(error);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
  }
}

/** Rejects with the download's own error if there was one; git would only report a truncated pack. */
async function unpack(place: string, pack: AsyncIterable<Uint8Array>): Promise<void> {
  let torn: unknown = null;
  const pieces = async function* () {
    try {
      yield* pack;
    } catch (error) {
      torn = error;
      throw error;
    }
  };
  try {
    await git(place, ["index-pack", "--stdin", `--max-input-size=${MAX_BYTES}`], Readable.from(pieces()), WHOLE_MS);
  } catch (error) {
    throw torn ?? error;
  }
}

function unavailableFor(error: unknown): SourceUnavailable {
  if (error instanceof SourceUnavailable) return error;
  if (error instanceof OutboundDenied) return new SourceUnavailable("Its address is in a private range, which this gateway does not call.");
  if (error instanceof OutboundTimeout) return new SourceUnavailable("It does not answer in time.");
  return new SourceUnavailable(`It could not be reached, or what it answers is nothing of Git${codedReason(error)}.`);
}

class RemoteRepository {
  private readonly out: Outbound;
  private readonly address: string;
  private readonly credential: string | null;
  private readonly abort: AbortController;

  constructor(out: Outbound, address: string, credential: string | null, abort: AbortController) {
    this.out = out;
    this.address = address;
    this.credential = credential;
    this.abort = abort;
  }

  async greet(): Promise<void> {
    const answer = await this.ask("GET", "/info/refs?service=git-upload-pack", null);
    for await (const packet of packetsOf(answer)) if (textOf(packet) === "version 2") return;
    throw new SourceUnavailable("It does not speak version 2 of Git's protocol.");
  }

  /** The commit at HEAD. */
  async head(): Promise<string> {
    const requestLines = [packetLine("command=ls-refs\n"), DELIMITER, packetLine("ref-prefix HEAD\n"), FLUSH];
    let commit: string | null = null;
    for await (const packet of packetsOf(await this.ask("POST", "/git-upload-pack", requestLines.join("")))) {
      const found = /^([0-9a-f]{40}) HEAD(?: |$)/.exec(textOf(packet));
      if (found !== null) commit = found[1] as string;
    }
    if (commit === null) throw new SourceUnavailable("There is nothing in it yet.");
    return commit;
  }

  /** The pack with the files of a commit. */
  async *pack(commit: string): AsyncGenerator<Uint8Array> {
    const wanted = ["no-progress", "ofs-delta", "deepen 1", `want ${commit}`, "done"].map((line) => packetLine(`${line}\n`));
    const requestLines = [packetLine("command=fetch\n"), DELIMITER, ...wanted, FLUSH];
    let begun = false;
    for await (const packet of packetsOf(await this.ask("POST", "/git-upload-pack", requestLines.join("")))) {
      if (!begun) {
        begun = textOf(packet) === "packfile";
        continue;
      }
      if (typeof packet === "string") continue;
      if (packet[0] === FAULT) throw new SourceUnavailable("It could not pack its files.");
      if (packet[0] !== PACK) continue;
      yield packet.subarray(1);
    }
  }

  private async ask(method: "GET" | "POST", path: string, body: string | null): Promise<AsyncIterable<Uint8Array>> {
    const { credential } = this;
    const shown = credential === null || credential.includes(":") ? credential : `x-access-token:${credential}`;
    const response = await this.out.fetch(this.address + path, {
      method,
      headers: {
        "git-protocol": "version=2",
        "user-agent": "git/2 (gatehouse)",
        ...(body === null ? {} : { "content-type": "application/x-git-upload-pack-request" }),
        ...(shown === null ? {} : { authorization: `Basic ${Buffer.from(shown).toString("base64")}` }),
      },
      ...(body === null ? {} : { body }),
      abort: this.abort,
      timeoutMs: HEAD_MS,
    });
    if (response.ok && response.body !== null) return bounded(response.body as unknown as AsyncIterable<Uint8Array>);
    await cancelQuietly(response.body);
    const wait = msOfRetryAfter(response.headers, Date.now(), DAY_MS) ?? 0;
    throw new SourceUnavailable(REFUSED[response.status] ?? `It answers with status ${response.status}.`, wait);
  }
}

/** Throws once the answer exceeds the size limit. */
async function* bounded(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const piece of pieces) {
    bytes += piece.byteLength;
    if (bytes > MAX_BYTES) throw new SourceUnavailable(`What it answers comes to more than ${MAX_BYTES / 1024 / 1024} MiB.`);
    yield piece;
  }
}

const MOVED = "It is at another address now: it is not followed there.";
const REFUSED: Readonly<Record<number, string>> = {
  301: MOVED,
  302: MOVED,
  307: MOVED,
  308: MOVED,
  401: "It asks for a credential, or does not take the one it was shown.",
  403: "It does not let the gateway in with the credential it was shown.",
  404: "There is no repository at its address, or none for this credential.",
  429: "It is asked too often, and wants to be left alone for a while.",
};

const textOf = (packet: Uint8Array | string) => (typeof packet === "string" ? "" : Buffer.from(packet).toString("utf8").trimEnd());
