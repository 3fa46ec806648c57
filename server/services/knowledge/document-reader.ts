import type { RunBounded } from "../../kernel/scheduling/bounded-run.ts";
import { type Section, UnreadableDocument } from "./reading/document-text.ts";
import type { SplitPassage } from "./split-document.ts";

/** Reads the sections of a document. Rejects with `UnreadableDocument`. */
export type ReadDocument = (kind: string, content: Uint8Array) => Promise<readonly Section[]>;

/** Reads a document and splits it into passages. Rejects with `UnreadableDocument`. */
export type ReadPassages = (kind: string, content: Uint8Array) => Promise<readonly SplitPassage[]>;

const SECONDS = 60;
const MIB = 1024 * 1024;
/** Limits address space, most of which the engine reserves at start. With less it disables its JIT compiler and runs many times slower. */
const MEMORY = 3_072 * MIB;
const MAX_OUTPUT_BYTES = 128 * MIB;

const WHY = {
  time: `It takes longer than ${SECONDS} seconds to read.`,
  memory: "It takes more memory to read than a document may.",
  output: `It holds more than ${MAX_OUTPUT_BYTES / MIB} MiB of text.`,
  crash: "Reading it failed: it may be damaged.",
} as const;

/** Reads each document in a process of its own, without network access and with a minimal environment: documents are untrusted. */
export function documentReader(run: RunBounded): ReadDocument {
  const program = new URL("./reading/reading-process.ts", import.meta.url);
  return async (kind, content) => {
    const { sections, reason } = await readWith<{ sections: readonly Section[] }>(run, program, kind, content);
    if (sections === undefined) throw new UnreadableDocument(reason ?? FAILED);
    return sections;
  };
}

/** Also splits the document in that process, so that intermediate data never reaches the process that serves calls. */
export function passageReader(run: RunBounded): ReadPassages {
  const program = new URL("./reading/splitting-process.ts", import.meta.url);
  return async (kind, content) => {
    const { passages, reason } = await readWith<{ passages: readonly SplitPassage[] }>(run, program, kind, content);
    if (passages === undefined) throw new UnreadableDocument(reason ?? FAILED);
    return passages;
  };
}

const FAILED = "Reading it failed.";

async function readWith<What>(
  run: RunBounded,
  program: URL,
  kind: string,
  content: Uint8Array,
): Promise<Partial<What> & { reason?: string }> {
  const ended = await run({
    program,
    argument: kind,
    input: content,
    seconds: SECONDS,
    memoryBytes: MEMORY,
    outputBytes: MAX_OUTPUT_BYTES,
  });
  if (ended.kind !== "done") throw new UnreadableDocument(WHY[ended.kind]);
  return JSON.parse(new TextDecoder().decode(ended.output)) as Partial<What> & { reason?: string };
}

/** Reads an untrusted PDF document. A string is the reason why it cannot be read. */
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
