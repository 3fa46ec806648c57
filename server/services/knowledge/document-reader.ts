import type { RunBounded } from "../../kernel/bounded-run.ts";
import { type Section, UnreadableDocument } from "./reading/document-text.ts";

/** The sections of a document of one of the kinds there are. Rejects with `UnreadableDocument`. */
export type ReadDocument = (kind: string, content: Uint8Array) => Promise<readonly Section[]>;

const SECONDS = 60;
const MIB = 1024 * 1024;
/** Of addresses, of which the engine takes most before anything is read; with fewer it compiles nothing, and takes many times as long. */
const MEMORY = 3_072 * MIB;
const MOST_SAID = 128 * MIB;

const WHY = {
  time: `It takes longer than ${SECONDS} seconds to read.`,
  memory: "It takes more memory to read than a document may.",
  output: `It holds more than ${MOST_SAID / MIB} MiB of text.`,
  crash: "Reading it failed: it may be damaged.",
} as const;

/** Reads each document on a process of its own, without a network or an environment to speak of: a document is an attacker. */
export function documentReader(run: RunBounded): ReadDocument {
  const program = new URL("./reading/reading-process.ts", import.meta.url);
  return async (kind, content) => {
    const ended = await run({ program, argument: kind, input: content, seconds: SECONDS, memoryBytes: MEMORY, outputBytes: MOST_SAID });
    if (ended.kind !== "done") throw new UnreadableDocument(WHY[ended.kind]);
    const said = JSON.parse(new TextDecoder().decode(ended.output)) as { sections?: readonly Section[]; reason?: string };
    if (said.sections === undefined) throw new UnreadableDocument(said.reason ?? "Reading it failed.");
    return said.sections;
  };
}

/** Reads a PDF document of whoever; a text says why it cannot be read. */
export function pdfReader(run: RunBounded): (content: Uint8Array) => Promise<readonly Section[] | string> {
  const read = documentReader(run);
  return async (content) => {
    try {
      return await read("pdf", content);
    } catch (error) {
      if (error instanceof UnreadableDocument) return error.message;
      throw error;
    }
  };
}
